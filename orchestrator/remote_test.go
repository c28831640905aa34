package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/prompts"
	"cw/worktree"
)

// remote registers the engine's repository once more, by a URL.
func (e *engine) remote() cw.Project {
	e.t.Helper()
	p, err := e.AddProject(e.t.Context(), cw.ProjectRequest{URL: fileURL(e.repo)})
	must(e.t, err)
	return p
}

// TestSpawnOnRemote: an agent begins at what the remote has now, its branch is
// handed over in cw's clone, nothing is pushed, and the project does not go
// while work is only there.
func TestSpawnOnRemote(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	p := e.remote()
	e.commit("later.txt", "later\n")
	must(t, os.WriteFile(filepath.Join(e.repo, "untracked"), nil, 0o644))
	before := lab.Git(t, e.repo, "for-each-ref")
	req := e.request(does())
	req.Projects = []string{p.Name}
	v := e.rest(e.mustSpawn(req).Alias)
	w := v.Projects[0]
	if v.Status != cw.StatusIdle || v.Commits() != 1 || w.HandedOver != "refs/heads/"+v.Branch || w.FetchFrom != p.GitDir || len(v.Warnings) > 0 {
		t.Errorf("%s: %s, %d commits, handed over as %q in %q, warnings %q", v.Status, v.Error, v.Commits(), w.HandedOver, w.FetchFrom, v.Warnings)
	}
	if head := lab.Git(t, e.repo, "rev-parse", "HEAD"); v.BaseCommit != head || w.BaseBranch != "main" {
		t.Errorf("it began at %s of %q, and the remote is at %s", v.BaseCommit, w.BaseBranch, head)
	}
	if after := lab.Git(t, e.repo, "for-each-ref"); after != before {
		t.Errorf("the remote was changed:\n%s", after)
	}
	diff, err := e.Diff(t.Context(), v.Alias, cw.DiffRequest{})
	if err != nil || !strings.Contains(diff.Patch, "a.txt") {
		t.Errorf("diff %q, %v", diff.Patch, err)
	}
	e.mustRemove(v.Alias)
	_, err = e.RemoveProject(t.Context(), p.Name)
	if cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("removed with work that is nowhere else: %v", err)
	}
	lab.Git(t, e.repo, "fetch", "-q", w.FetchFrom, "agent/"+v.Alias)
	if got := lab.Git(t, e.repo, "rev-parse", "FETCH_HEAD"); got != v.HeadCommit {
		t.Errorf("fetched %s, not %s", got, v.HeadCommit)
	}
}

// TestSpawnOnLostRemote: work goes on from what is here, and says how old it is;
// a base that is not here is refused.
func TestSpawnOnLostRemote(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	p := e.remote()
	must(t, os.Rename(e.repo, e.repo+".away"))
	long := time.Now().Add(-3 * time.Hour)
	must(t, os.Chtimes(filepath.Join(p.GitDir, "cw-fetched"), long, long))
	req := e.request(does())
	req.Projects = []string{p.RemoteURL}
	v := e.rest(e.mustSpawn(req).Alias)
	if v.Status != cw.StatusIdle || v.Commits() != 1 || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "fetched 3 hours ago") {
		t.Errorf("%s: %s, %d commits, warnings %q", v.Status, v.Error, v.Commits(), v.Warnings)
	}
	req.Base, req.RequestKey = "not-here", ""
	if _, err := e.Spawn(t.Context(), req); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("a base that is not here: %v", err)
	}
	must(t, os.RemoveAll(p.GitDir))
	req.Base = ""
	if _, err := e.Spawn(t.Context(), req); cw.ErrorCode(err) != cw.CodeFailed {
		t.Errorf("neither remote nor clone: %v", err)
	}
}

// TestAddRemoteFails: a URL that does not work leaves nothing behind.
func TestAddRemoteFails(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	_, err := e.AddProject(t.Context(), cw.ProjectRequest{URL: fileURL(e.repo + ".none")})
	if cw.ErrorCode(err) != cw.CodeFailed {
		t.Errorf("%v", err)
	}
	e.wantNothing()
	if left, err := os.ReadDir(e.home.Repos()); err == nil && len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestAddRemoteAtOnce: many who add the same URL get one project and one clone.
func TestAddRemoteAtOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	var all sync.WaitGroup
	got := make([]cw.Project, 5)
	for i := range got {
		all.Go(func() {
			var err error
			if got[i], err = e.AddProject(t.Context(), cw.ProjectRequest{URL: fileURL(e.repo)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, p := range got {
		if p.ID != got[0].ID {
			t.Errorf("projects %s and %s", p.ID, got[0].ID)
		}
	}
	left, err := filepath.Glob(filepath.Join(e.home.Repos(), "*.remote.git"))
	if err != nil || len(left) != 1 || left[0] != got[0].GitDir {
		t.Errorf("clones %q, %v", left, err)
	}
}

// TestNetworkEnvOfAgents: what an agent calls its environment does not reach a
// git that has the user's credentials.
func TestNetworkEnvOfAgents(t *testing.T) {
	t.Parallel()
	env := map[string]string{"PATH": "/planted", "SSH_AUTH_SOCK": "/s"}
	if got := networkEnv(cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorAgent}), env); len(got) > 0 {
		t.Errorf("an agent gives %v", got)
	}
	if got := networkEnv(cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorPerson}), env); len(got) != 2 {
		t.Errorf("a person gives %v", got)
	}
}

// TestPromptOnRemote: what an agent would be told is shown before there was one.
func TestPromptOnRemote(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.commit(prompts.OverrideDir+"/role.extend.md", "You like tests.")
	e.commit("AGENTS.md", "Use make.")
	p := e.remote()
	v, err := e.Prompt(t.Context(), cw.PromptRequest{Mode: cw.ModeExecute, Goal: "x", Provider: "script", Projects: []string{p.Name}})
	if err != nil || !strings.Contains(v.Text, "You like tests.") || !strings.Contains(v.Text, "Use make.") {
		t.Errorf("%v:\n%s", err, v.Text)
	}
}

// TestManyOverrides: a folder full of files is one warning more than are looked
// at.
func TestManyOverrides(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	must(t, os.MkdirAll(filepath.Join(e.repo, prompts.OverrideDir), 0o755))
	for i := range 3 * prompts.OverridesMax {
		must(t, os.WriteFile(filepath.Join(e.repo, prompts.OverrideDir, fmt.Sprintf("n%d.md", i)), []byte("x"), 0o644))
	}
	lab.Git(t, e.repo, "add", "-f", ".cw")
	e.commit("x", "x")
	_, notes, err := e.overrides(t.Context(), worktree.TreeRequest{Checkout: e.repo, Commit: lab.Git(t, e.repo, "rev-parse", "HEAD")})
	if err != nil || len(notes) != prompts.OverridesMax+1 || !strings.Contains(notes[prompts.OverridesMax], "holds 300 files") {
		t.Errorf("%d notes, %v", len(notes), err)
	}
}

// fileURL returns the URL of a repository on this machine.
func fileURL(path string) string { return "file://" + strings.ReplaceAll(path, " ", "%20") }
