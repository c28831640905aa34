package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

func newProjectCmd(a *app) *cobra.Command {
	return newGroupCmd("project", "The git repositories that cw works on",
		newProjectAddCmd(a, nil), newProjectListCmd(a, nil), newProjectShowCmd(a, nil), newProjectRemoveCmd(a, nil))
}

// projectRef makes what is a path absolute: the daemon has another working
// directory. A name or an id stays.
func (a *app) projectRef(ref string) (string, error) {
	if ref == "." || ref == ".." || strings.ContainsRune(ref, filepath.Separator) {
		return a.abs(ref)
	}
	return ref, nil
}

// printProject shows one project.
func (a *app) printProject(p cw.Project) {
	facts(a.out, "", [][2]string{
		{"name", oneLine(p.Name)},
		{"id", string(p.ID)},
		{"path", oneLine(p.Path)},
		{"remote", oneLine(p.RemoteURL)},
		{"mirror", oneLine(p.Mirror)},
		{"added", p.CreatedAt.Local().Format("2006-01-02 15:04")},
	})
}
