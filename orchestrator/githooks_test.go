package orchestrator

import (
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestHooksThatRun: one folder of hooks holds for all repositories of a process.
func TestHooksThatRun(t *testing.T) {
	t.Parallel()
	type project struct {
		policy cw.HooksPolicy
		dir    string
	}
	for name, tt := range map[string]struct {
		projects []project
		want     string
		notes    int
	}{
		"off":           {[]project{{cw.HooksOff, "/a/.git/hooks"}}, "", 0},
		"not said":      {[]project{{"", "/a/.git/hooks"}}, "", 0},
		"run":           {[]project{{cw.HooksRun, "/a/.git/hooks"}}, "/a/.git/hooks", 0},
		"none":          {[]project{{cw.HooksRun, ""}}, "", 0},
		"not there":     {[]project{{cw.HooksRun, ".husky/_"}}, ".husky/_", 1},
		"the same":      {[]project{{cw.HooksRun, "/a/hooks"}, {cw.HooksRun, "/a/hooks"}}, "/a/hooks", 0},
		"not the same":  {[]project{{cw.HooksRun, ".husky"}, {cw.HooksRun, "/b/.git/hooks"}}, "", 2},
		"of one alone":  {[]project{{cw.HooksRun, ".husky"}, {cw.HooksOff, ".husky"}}, "", 1},
		"only one has":  {[]project{{cw.HooksRun, ".husky"}, {cw.HooksRun, ""}}, "", 1},
		"of the second": {[]project{{cw.HooksOff, ""}, {cw.HooksRun, ".husky"}}, "", 1},
	} {
		st, opts := cw.RunState{}, options{Hooks: map[cw.ProjectID]gitHooks{}, around: &surroundings{files: map[cw.ProjectID]cw.ProjectFile{}}}
		for i, p := range tt.projects {
			id := cw.ProjectID(string(rune('a' + i)))
			st.Worktrees = append(st.Worktrees, cw.AgentWorktree{ProjectID: id, Path: "/nowhere"})
			opts.Hooks[id] = gitHooks{Dir: p.dir}
			opts.around.files[id] = cw.ProjectFile{Hooks: p.policy}
		}
		if got := hooksThatRun(st, opts); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
		if notes := hooksNotes(st, opts); len(notes) != tt.notes {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

// TestGitHooks: those of the repository are off and that is said to people and
// the agent; hooks: run lets them run.
func TestGitHooks(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.commit(".husky/pre-commit", "#!/bin/sh\n[ ! -e BAD ]\n")
	lab.Git(t, e.repo, "update-index", "--chmod=+x", ".husky/pre-commit")
	lab.Git(t, e.repo, "commit", "-q", "-m", "Hooks")
	lab.Git(t, e.repo, "checkout", "-q", "--", ".husky")
	lab.Git(t, e.repo, "config", "core.hooksPath", ".husky")
	bad := fakecli.Script{File: "BAD", Content: "x", Shell: "git add BAD; git commit -q -m Bad || git rm -q -f BAD", Signal: `{"status":"done","noChanges":"tried"}`}

	v := e.rest(e.mustSpawn(e.request(bad)).Alias)
	if v.Commits() != 1 || !strings.Contains(strings.Join(v.Warnings, "\n"), ".husky: pre-commit") {
		t.Errorf("off: %d commits, warnings %q", v.Commits(), v.Warnings)
	}
	if got := e.prompt(v, 1); !strings.Contains(got, "(`.husky`) do not run") {
		t.Error("the prompt does not say that they do not run")
	}

	e.withFile("hooks: run\n")
	v = e.rest(e.mustSpawn(e.request(bad)).Alias)
	if v.Commits() != 0 || strings.Contains(strings.Join(v.Warnings, "\n"), "hook") {
		t.Errorf("run: %d commits, warnings %q", v.Commits(), v.Warnings)
	}
	if got := e.prompt(v, 1); strings.Contains(got, "do not run") {
		t.Error("the prompt says that they do not run")
	}
}
