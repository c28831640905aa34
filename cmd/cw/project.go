package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

func newProjectCmd(a *app) *cobra.Command {
	return newGroupCmd("project", "The git repositories that cw works on",
		newProjectAddCmd(a, nil), newProjectListCmd(a, nil), newProjectShowCmd(a, nil), newProjectSetCmd(a, nil), newProjectTrustCmd(a, nil), newProjectRemoveCmd(a, nil))
}

// projectRef makes what is a path absolute: the daemon has another working
// directory. A name, an id or a URL stays.
func (a *app) projectRef(ref string) (string, error) {
	if cw.LooksRemote(ref) {
		return ref, nil
	}
	if ref == "." || ref == ".." || strings.ContainsRune(ref, filepath.Separator) {
		return a.abs(ref)
	}
	return ref, nil
}

// printProject shows one project, with more facts about it.
func (a *app) printProject(p cw.Project, more ...[2]string) {
	facts(a.out, "", append([][2]string{
		{"name", oneLine(p.Name)},
		{"id", string(p.ID)},
		{"path", oneLine(p.Path)},
		{"remote", oneLine(p.RemoteURL)},
		{"branches of agents", branchesFact(p)},
		{"mirror", oneLine(p.Mirror)},
		{"on silence", stallFact(p.Stall)},
		{"after a reboot", autoResumeFact(p.AutoResume)},
		{"falls back to", oneLine(strings.Join(p.Fallback, ", "))},
		{"agents make agents", agentSpawnFact(p.AgentSpawn)},
		{"added", p.CreatedAt.Local().Format("2006-01-02 15:04")},
	}, more...))
}

// branchesFact says where agents' branches of a remote repository are: nothing
// is pushed.
func branchesFact(p cw.Project) string {
	if !p.Remote() {
		return ""
	}
	return "in " + oneLine(p.GitDir) + "; git fetch gets them from there"
}

func stallFact(policy cw.StallPolicy) string {
	if policy == cw.StallResume {
		return "resume: agents are stopped and go on with a note"
	}
	return "event: you are told"
}

func agentSpawnFact(depth int) string {
	switch depth {
	case 0:
		return "no"
	case 1:
		return "those that you make may"
	}
	return fmt.Sprintf("%d levels deep", depth)
}

func autoResumeFact(on bool) string {
	if on {
		return "agents go on by themselves"
	}
	return "agents wait to be resumed"
}
