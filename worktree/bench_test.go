package worktree

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
)

// BenchmarkAdd stands beside its floor: one plain git worktree add with the
// same options. Run both with the same -benchtime=Nx: each worktree makes the
// next a little slower, for git too.
func BenchmarkAdd(b *testing.B) {
	l := newLab(b)
	l.ensure()
	l.m.git.observe = nil
	b.Run("git", func(b *testing.B) {
		plain := filepath.Join(b.TempDir(), "plain.git")
		git(b, "/", "clone", "-q", "--bare", l.repo, plain)
		for i := 0; b.Loop(); i++ {
			name := fmt.Sprintf("agent-%d", i)
			git(b, plain, "worktree", "add", "-q", "--no-track", "--lock", "--reason", "x", "-b", "agent/"+name, filepath.Join(b.TempDir(), name), "main")
		}
	})
	b.Run("cw", func(b *testing.B) {
		req := l.request("agent")
		dir := b.TempDir()
		for i := 0; b.Loop(); i++ {
			req.Alias, req.AgentID = fmt.Sprintf("agent-%d", i), cw.AgentID(cw.NewID())
			req.Path = filepath.Join(dir, req.Alias)
			if _, err := l.m.Add(ctx(b), req); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cw with sync", func(b *testing.B) {
		l := newLab(b)
		req := l.request("agent")
		dir := b.TempDir()
		for i := 0; b.Loop(); i++ {
			l.ensure()
			req.Alias, req.AgentID = fmt.Sprintf("agent-%d", i), cw.AgentID(cw.NewID())
			req.Path = filepath.Join(dir, req.Alias)
			if _, err := l.m.Add(ctx(b), req); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLook stands beside its floor: git status in the worktree, 5,000
// files in the repository.
func BenchmarkLook(b *testing.B) {
	repo := newRepo(b)
	fastImport(b, repo, 5000)
	l := newLabFor(b, repo)
	l.m.git.observe = nil
	a := l.add("brave-otter")
	git(b, a.path, "status")
	b.Run("git", func(b *testing.B) {
		for b.Loop() {
			git(b, a.path, "status", "--porcelain=v2", "-z")
		}
	})
	b.Run("cw", func(b *testing.B) {
		for b.Loop() {
			a.t = b
			a.look()
		}
	})
	a.t = b
	a.commit("x.txt", "x\n")
	b.Run("cw with commits", func(b *testing.B) {
		for b.Loop() {
			a.look()
		}
	})
}

// BenchmarkMerge stands beside its floor: git merge-tree and commit-tree in a
// repository of 5,000 files.
func BenchmarkMerge(b *testing.B) {
	repo := newRepo(b)
	fastImport(b, repo, 5000)
	l := newLabFor(b, repo)
	l.m.git.observe = nil
	start := l.initiative("goal").begin()
	ours := l.commitOn([]string{start}, map[string]string{"ours.txt": "ours\n"})
	theirs := l.commitOn([]string{start}, map[string]string{"theirs.txt": "theirs\n"})
	b.Run("git", func(b *testing.B) {
		for b.Loop() {
			tree := git(b, l.mirror(), "merge-tree", "--write-tree", ours, theirs)
			git(b, l.mirror(), "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-p", ours, "-p", theirs, "-m", "x", tree)
		}
	})
	b.Run("cw", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.m.TryMerge(ctx(b), l.mergeRequest(ours, theirs)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cw with its branch", func(b *testing.B) {
		i := l.initiative("other")
		at := i.begin()
		for b.Loop() {
			r, err := l.m.TryMerge(ctx(b), l.mergeRequest(ours, theirs))
			if err != nil {
				b.Fatal(err)
			}
			// There and back, so that each move is one.
			to := r.Commit
			if at == to {
				to = start
			}
			if err := l.m.MoveIntegration(ctx(b), l.p, i.id, i.branch, at, to); err != nil {
				b.Fatal(err)
			}
			at = to
		}
	})
}

// fastImport adds many files to a repository in one commit.
func fastImport(t testing.TB, repo string, files int) {
	t.Helper()
	var in bytes.Buffer
	in.WriteString("commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 4\nmany\nfrom refs/heads/main^0\n")
	for i := range files {
		text := strings.Repeat(fmt.Sprintf("line %d\n", i), 20)
		fmt.Fprintf(&in, "M 100644 inline d%d/e%d/f%d.txt\ndata %d\n%s\n", i%50, i%7, i, len(text), text)
	}
	m := New(Options{})
	gitDir := filepath.Join(repo, ".git")
	if _, err := m.git.run(ctx(t), inUserRepo(gitDir), in.Bytes(), "fast-import", "--quiet"); err != nil {
		t.Fatal(err)
	}
	git(t, repo, "reset", "-q", "--hard")
}
