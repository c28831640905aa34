package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHooks: which hooks a commit in the user's checkout runs.
func TestHooks(t *testing.T) {
	t.Parallel()
	hook := func(t *testing.T, name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	const script = "#!/bin/sh\nexit 1\n"
	tests := []struct {
		name    string
		prepare func(t *testing.T, repo string)
		want    func(repo string) Hooks
	}{
		{"none", func(*testing.T, string) {}, func(string) Hooks { return Hooks{} }},
		{"in the git directory", func(t *testing.T, repo string) {
			hook(t, filepath.Join(repo, ".git/hooks/pre-commit"), script, 0o755)
			hook(t, filepath.Join(repo, ".git/hooks/commit-msg"), script, 0o755)
		}, func(repo string) Hooks {
			return Hooks{Dir: filepath.Join(repo, ".git/hooks"), Names: []string{"pre-commit", "commit-msg"}}
		}},
		{"none that git runs at a commit", func(t *testing.T, repo string) {
			hook(t, filepath.Join(repo, ".git/hooks/pre-commit.sample"), script, 0o755)
			hook(t, filepath.Join(repo, ".git/hooks/commit-msg"), script, 0o644)
			hook(t, filepath.Join(repo, ".git/hooks/pre-push"), script, 0o755)
		}, func(string) Hooks { return Hooks{} }},
		{"of git-lfs", func(t *testing.T, repo string) {
			hook(t, filepath.Join(repo, ".git/hooks/pre-commit"), "#!/bin/sh\ngit lfs pre-commit \"$@\"\n", 0o755)
		}, func(string) Hooks { return Hooks{} }},
		{"a folder of the checkout", func(t *testing.T, repo string) {
			git(t, repo, "config", "core.hooksPath", ".husky")
			hook(t, filepath.Join(repo, ".husky/pre-commit"), script, 0o755)
			hook(t, filepath.Join(repo, ".git/hooks/commit-msg"), script, 0o755) // git does not look there
		}, func(string) Hooks { return Hooks{Dir: ".husky", Names: []string{"pre-commit"}} }},
		{"named in full", func(t *testing.T, repo string) {
			git(t, repo, "config", "core.hooksPath", filepath.Join(repo, "tools", "hooks"))
			hook(t, filepath.Join(repo, "tools/hooks/pre-commit"), script, 0o755)
		}, func(string) Hooks { return Hooks{Dir: "tools/hooks", Names: []string{"pre-commit"}} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			tt.prepare(t, l.repo)
			if diff := cmp.Diff(tt.want(l.repo), l.m.Hooks(ctx(t), l.p, l.repo)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSettingUp: what a trusted set-up changes in the mirror is put back, and no
// tampering; what is changed afterwards is.
func TestSettingUp(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	var told []string
	l.m.onRestored = func(_ string, changed []string) { told = append(told, changed...) }
	over := l.m.SettingUp(ctx(t), l.p)
	git(t, a.path, "config", "core.hooksPath", ".husky")
	write(t, l.mirror(), "hooks/pre-commit", "#!/bin/sh\n")
	a.look()
	git(t, a.path, "config", "core.hooksPath", ".husky")
	over()
	if got, _ := tryGit(a.path, "config", "--get", "core.hooksPath"); got == ".husky" {
		t.Error("it was not put back")
	}
	if len(told) > 0 {
		t.Errorf("told %q", told)
	}
	git(t, a.path, "config", "core.hooksPath", ".husky")
	if _, err := l.m.EnsureMirror(ctx(t), l.p); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(told, fileConfig) {
		t.Errorf("afterwards, told %q", told)
	}
}
