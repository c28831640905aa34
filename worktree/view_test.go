package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestNothingOfTheMirrorIsRead writes drivers and hooks into the mirror right
// before each git starts, after cw has put the mirror right: an agent that does it
// in a loop hits that moment now and then. Nothing of it is executed.
func TestNothingOfTheMirrorIsRead(t *testing.T) {
	t.Parallel()
	a, evil, ran := trapLab(t)
	armed := false
	plant := withAttributes(func(a *agent, evil string) {
		text := read(t, filepath.Join(a.mirror(), fileConfig))
		if !strings.Contains(text, "evil") {
			text += fmt.Sprintf("[filter \"evil\"]\n\tsmudge = \"%[1]s; cat\"\n\tclean = \"%[1]s; cat\"\n[diff \"evil\"]\n\ttextconv = \"%[1]s\"\n[merge \"evil\"]\n\tdriver = \"%[1]s\"\n[core]\n\tfsmonitor = \"%[1]s\"\n\tattributesFile = \"%[2]s\"\n",
				evil, filepath.Join(a.mirror(), "info/attributes"))
		}
		write(t, a.mirror(), fileConfig, text)
		plantHooks(a, filepath.Join(a.mirror(), "hooks"), evil)
		write(t, a.mirror(), fileGlobalAttributes, "* filter=evil diff=evil merge=evil\n")
	})
	before := a.m.git.observe
	a.m.git.observe = func(c call) {
		if before != nil {
			before(c)
		}
		if armed {
			plant(a, evil)
		}
	}
	ran()
	armed = true
	other := a.request("calm-fox")
	otherLook := LookRequest{Project: a.p, AgentID: other.AgentID, Alias: other.Alias, Path: other.Path, BaseCommit: other.Base.Commit}
	operations := []operation{
		{"Add", func() error { _, err := a.m.Add(ctx(t), other); return err }},
		{"HandOver", func() error { _, err := a.m.HandOver(ctx(t), a.p, a.req.AgentID, a.req.Alias, ""); return err }},
		{"RemoveClean", func() error { _, _, err := a.m.RemoveClean(ctx(t), otherLook); return err }},
		{"Ensure again", func() error {
			_, err := a.m.Ensure(ctx(t), EnsureRequest{LookRequest: otherLook, Base: other.Base})
			return err
		}},
		{"Ensure without an admin folder", func() error {
			_ = os.RemoveAll(filepath.Join(a.mirror(), "worktrees", other.Alias))
			_, err := a.m.Ensure(ctx(t), EnsureRequest{LookRequest: otherLook, Base: other.Base})
			return err
		}},
		{"EnsureMirror", func() error {
			git(t, a.repo, "branch", "-f", "moved", git(t, a.repo, "commit-tree", "-m", time.Now().String(), "HEAD^{tree}"))
			_, err := a.m.EnsureMirror(ctx(t), a.p)
			return err
		}},
	}
	for _, op := range operations {
		if err := op.do(); err != nil {
			t.Errorf("%s: %v", op.name, err)
		}
		if hit := ran(); hit != "" {
			t.Errorf("%s executed %s", op.name, hit)
		}
	}
}

// TestNothingIsReadForSubmodules: the same for what git reads when a submodule is
// checked out: commands in the mirror's configuration, and the configuration of the
// submodule's own git directory.
func TestNothingIsReadForSubmodules(t *testing.T) {
	t.Parallel()
	lib, repo := newRepo(t), newRepo(t)
	write(t, lib, ".gitattributes", "* filter=evil\n")
	git(t, lib, "add", ".")
	git(t, lib, "commit", "-qm", "attributes")
	git(t, repo, "submodule", "--quiet", "add", lib, "libs/one")
	git(t, repo, "commit", "-qm", "with a submodule")
	l := newLabFor(t, repo)
	l.ensure()
	mark := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho x >> '"+mark+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	req := l.request("calm-fox")
	config := fmt.Sprintf("[filter \"evil\"]\n\tsmudge = \"%[1]s\"\n[core]\n\tfsmonitor = \"%[1]s\"\n[submodule \"libs/one\"]\n\tupdate = \"!%[1]s\"\n[uploadpack]\n\tpackObjectsHook = \"%[1]s\"\n", evil)
	before := l.m.git.observe
	l.m.git.observe = func(c call) {
		before(c)
		text, _ := os.ReadFile(filepath.Join(l.mirror(), fileConfig))
		if !strings.Contains(string(text), evil) {
			write(t, l.mirror(), fileConfig, string(text)+config)
		}
		admins, _ := filepath.Glob(filepath.Join(l.mirror(), "worktrees/*"))
		for _, admin := range admins {
			if module := filepath.Join(admin, "modules/libs/one"); bareDir(module) {
				text, _ := os.ReadFile(filepath.Join(module, fileConfig))
				write(t, module, fileConfig, string(text)+config)
			}
		}
	}
	a := l.addRequest(req)
	if exists(mark) {
		t.Error("what an agent wrote was executed")
	}
	if got := read(t, filepath.Join(a.path, "libs/one/README.md")); got != "hello\n" {
		t.Errorf("the submodule holds %q", got)
	}
}

// TestModulePlace: a submodule whose name or path leads elsewhere is refused.
func TestModulePlace(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	modules, tree := filepath.Join(root, "modules"), filepath.Join(root, "tree")
	for _, dir := range []string{"modules/lib/objects", "modules/deep/one/objects", "tree/libs"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, modules, "lib/HEAD", "x")
	write(t, modules, "deep/one/HEAD", "x")
	if err := os.Symlink("/", filepath.Join(tree, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		ok         bool
	}{
		{"lib", "libs/lib", true}, {"new", "new", true}, {"deep/two", "two", true}, {"other/one", "new/deep", true},
		{"../lib", "lib", false}, {"a/../../lib", "lib", false}, {"/lib", "lib", false}, {"", "lib", false}, {"a/./b", "lib", false},
		{"lib/hooks", "lib", false}, {"lib/a/b", "lib", false}, {"deep", "lib", false},
		{"new", "link/lib", false}, {"new", "../lib", false},
	} {
		err := modulePlace(modules, gitlink{name: c.name, path: c.path}, tree)
		if (err == nil) != c.ok {
			t.Errorf("name %q, path %q: %v", c.name, c.path, err)
		}
	}
}

// TestDeepened: git says that a repository is whole again by removing its file
// shallow, which is a link in the view.
func TestDeepened(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.add("brave-otter")
	dir, err := l.m.mirrorDir(l.p)
	if err != nil {
		t.Fatal(err)
	}
	x := &mirror{m: l.m, p: l.p, dir: dir}
	write(t, dir, fileShallow, "x\n")
	if err := x.settleView(); err != nil || !exists(filepath.Join(dir, fileShallow)) {
		t.Fatalf("shallow is gone though its link is there (%v)", err)
	}
	if err := os.Remove(filepath.Join(viewDir(dir), fileShallow)); err != nil {
		t.Fatal(err)
	}
	if err := x.settleView(); err != nil || exists(filepath.Join(dir, fileShallow)) {
		t.Errorf("shallow stays (%v)", err)
	}
}

// TestOddFiles puts a FIFO where git reads a file. No call waits at it, and other
// agents of the project go on.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	inMirror := []string{
		fileAlternates, fileShallow, filePackedRefs, "objects/pack/multi-pack-index", "objects/info/commit-graph", fileHead, fileConfig, "info/attributes",
		"worktrees/brave-otter/HEAD", "worktrees/brave-otter/index", "worktrees/brave-otter/gitdir", "worktrees/brave-otter/commondir", "worktrees/brave-otter/locked",
		"refs/heads/agent/odd", "objects/pack/pack-0000000000000000000000000000000000000000.idx",
	}
	for _, name := range inMirror {
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.m.git.patience = 50 * time.Millisecond
			a := l.add("brave-otter")
			a.commit("x", "x")
			path := filepath.Join(l.mirror(), name)
			_ = os.Remove(path)
			_ = os.MkdirAll(filepath.Dir(path), 0o700)
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			a.look()
			l.add("calm-fox")
			a.handOver()
			if isOdd(path) {
				t.Errorf("%s is still a FIFO", name)
			}
		})
	}
	for _, name := range []string{".gitattributes", ".gitignore", ".gitmodules", "lib/.gitignore"} {
		t.Run("worktree "+strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.m.git.patience = 50 * time.Millisecond
			a := l.add("brave-otter")
			write(t, a.path, "lib/x", "x")
			path := filepath.Join(a.path, name)
			_ = os.Remove(path) // the repository has a .gitignore
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			if look := a.look(); !slices.Contains(look.Dirty, "lib/x") || slices.Contains(look.Dirty, "lib/.gitignore") {
				t.Errorf("dirty %q", look.Dirty)
			}
			if _, err := a.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestClearOdd: in a worktree only what git reads for its content goes; a FIFO of
// the project stays.
func TestClearOdd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"pipe", "lib/.gitignore"} {
		_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("pipe", filepath.Join(dir, ".gitattributes")); err != nil {
		t.Fatal(err)
	}
	removed := clearOdd(ctx(t), []agentDir{{path: dir}})
	if want := dir + "/.gitattributes " + dir + "/lib/.gitignore"; strings.Join(removed, " ") != want {
		t.Errorf("removed %q", removed)
	}
	removed = clearOdd(ctx(t), []agentDir{{path: dir, shared: true}})
	if want := dir + "/pipe"; strings.Join(removed, " ") != want {
		t.Errorf("removed of a git directory %q", removed)
	}
}
