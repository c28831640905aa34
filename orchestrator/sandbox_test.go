package orchestrator

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
)

// dirsOf gives the folders that an agent's command was started with.
func dirsOf(t *testing.T, v cw.AgentView) []string {
	t.Helper()
	spec, err := proc.ReadSpec(v.Runs[0].Dir)
	must(t, err)
	var out []string
	for i, arg := range spec.Argv {
		if arg == "--add-dir" {
			out = append(out, spec.Argv[i+1])
		}
	}
	return out
}

// TestSandbox: an agent in a sandbox gets the folders of all its projects'
// mirrors, and the choice stays with it; without one it gets none.
func TestSandbox(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	other := filepath.Join(filepath.Dir(e.repo), "site")
	lab.NewRepo(t, other)
	e.fakeCodex("sandboxArgs:\n  - [--add-dir, \"{{writableDir}}\"]\n")
	done := fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`}

	req := e.request(done)
	req.Provider, req.Sandbox, req.Projects = "fakecodex", cw.SandboxWorkspace, []string{e.repo, other}
	v := e.rest(e.mustSpawn(req).Alias)
	dirs := dirsOf(t, v)
	for _, tree := range v.Projects {
		for _, what := range []string{"--absolute-git-dir", "--git-common-dir"} {
			dir := lab.Git(t, tree.Path, "rev-parse", "--path-format=absolute", what)
			if what == "--git-common-dir" {
				dir = filepath.Join(dir, "objects")
			}
			if !slices.Contains(dirs, dir) {
				t.Errorf("%s: %s is not in %q", tree.Project, dir, dirs)
			}
		}
	}
	if len(dirs) != 8 {
		t.Errorf("%d folders: %q", len(dirs), dirs)
	}
	st, err := e.db.RunState(t.Context(), v.Runs[0].ID)
	must(t, err)
	var kept options
	must(t, json.Unmarshal([]byte(st.Agent.OptionsJSON), &kept))
	if kept.Sandbox != cw.SandboxWorkspace {
		t.Errorf("kept for later runs: %q", kept.Sandbox)
	}

	req = e.request(done)
	req.Provider = "fakecodex"
	if dirs := dirsOf(t, e.rest(e.mustSpawn(req).Alias)); len(dirs) > 0 {
		t.Errorf("without a sandbox: %q", dirs)
	}

	req = e.request(done)
	req.Sandbox = cw.SandboxWorkspace
	if _, err := e.Spawn(t.Context(), req); cw.ErrorCode(err) != cw.CodeInvalid {
		t.Errorf("a provider without a sandbox: %v", err)
	}
}
