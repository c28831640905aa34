//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/worktree"
)

// repository is a repository of a user's with cw's mirror of it, and a plain
// bare clone for the floor.
type repository struct {
	r       *rig
	manager *worktree.Manager
	project cw.Project
	path    string
	plain   string
	base    worktree.Base
	dir     string // of the worktrees
}

// newRepository makes one with so many files.
func newRepository(r *rig, files int) *repository {
	r.Helper()
	dir := r.TempDir()
	x := &repository{r: r, path: filepath.Join(dir, "app"), plain: filepath.Join(dir, "plain.git"), dir: filepath.Join(dir, "worktrees")}
	lab.NewRepo(r, x.path)
	importFiles(r, x.path, files)
	lab.Git(r, dir, "clone", "-q", "--bare", x.path, x.plain)
	x.manager = worktree.New(worktree.Options{ReposDir: filepath.Join(dir, "repos")})
	info, err := x.manager.Inspect(r.Context(), x.path)
	r.must(err)
	x.project = cw.Project{ID: "aaaabbbbcccc", Name: "app", Path: info.Main, GitDir: info.CommonGitDir, Mirror: "app.git"}
	_, err = x.manager.EnsureMirror(r.Context(), x.project)
	r.must(err)
	x.base, err = x.manager.ResolveBase(r.Context(), x.path, "")
	r.must(err)
	return x
}

// importFiles adds files of 3 KB in one commit and one pack. They hold words
// in no order, which a pack makes about as small as it makes source code.
func importFiles(r *rig, repo string, files int) {
	r.Helper()
	var in bytes.Buffer
	in.WriteString("commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 4\nmany\nfrom refs/heads/main^0\n")
	words := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		text := wording(words, 3000)
		fmt.Fprintf(&in, "M 100644 inline d%d/e%d/f%d.txt\ndata %d\n%s\n", i%97, i%31, i, len(text), text)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = repo, &in
	if out, err := cmd.CombinedOutput(); err != nil {
		r.Fatalf("git fast-import: %v: %s", err, out)
	}
}

// wording gives lines of words from a small vocabulary.
func wording(r *rand.Rand, length int) string {
	var b strings.Builder
	for n := 1; b.Len() < length; n++ {
		fmt.Fprintf(&b, "w%x", r.Uint64N(1000)*2654435761)
		if n%8 == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// gitAdd is the floor: one git worktree add, with the branch it makes and the
// lock it takes.
func (x *repository) gitAdd(i int) time.Duration {
	name := fmt.Sprintf("plain-%d", i)
	return took(func() {
		lab.Git(x.r, x.plain, "worktree", "add", "-q", "--lock", "--reason", "x", "-b", "agent/"+name, filepath.Join(x.dir, name), "main")
	})
}

// add is cw's.
func (x *repository) add(i int) (worktree.AddRequest, time.Duration) {
	name := fmt.Sprintf("agent-%d", i)
	req := worktree.AddRequest{
		Project: x.project, Checkout: x.path, AgentID: cw.AgentID(cw.NewID()), Alias: name,
		Path: filepath.Join(x.dir, name), Base: x.base,
	}
	d := took(func() {
		_, err := x.manager.Add(x.r.Context(), req)
		x.r.must(err)
	})
	return req, d
}

// whole checks that a worktree holds what the base does.
func (x *repository) whole(path string, files int) {
	x.r.Helper()
	if out := lab.Git(x.r, path, "status", "--porcelain"); out != "" {
		x.r.Fatalf("the new worktree is not clean: %.300s", out)
	}
	if n := strings.Count(lab.Git(x.r, path, "ls-files"), "\n") + 1; n != files+1 {
		x.r.Fatalf("the new worktree has %d files, want %d", n, files+1)
	}
}

func tinyWorktree(r *rig) []figure {
	const files = 9
	x := newRepository(r, files)
	floor, ours := inTurn(r.rounds, x.gitAdd, func(i int) time.Duration { _, d := x.add(i); return d })
	x.whole(filepath.Join(x.dir, "agent-0"), files)
	return []figure{ratio("worktree of a repository of 10 files", ours, floor, "one `git worktree add`", 1.3)}
}

// largeWorktree removes nothing between the rounds: ext4 makes files several
// times slower for a while after as many were removed, for every tool.
func largeWorktree(r *rig) []figure {
	x := newRepository(r, r.files)
	floor, ours := inTurn(r.fewRounds, x.gitAdd, func(i int) time.Duration { _, d := x.add(i); return d })
	x.whole(filepath.Join(x.dir, "agent-0"), r.files)
	return []figure{ratio(fmt.Sprintf("worktree of %d files", r.files), ours, floor, "plain `git worktree add`", 0.75)}
}

func dirtyCheck(r *rig) []figure {
	x := newRepository(r, r.files)
	req, _ := x.add(0)
	lab.Git(r, req.Path, "status") // refreshes the index for both
	r.must(os.WriteFile(filepath.Join(req.Path, "new.txt"), []byte("new\n"), 0o644))
	status := func(int) time.Duration {
		return took(func() { lab.Git(r, req.Path, "status", "--porcelain=v2", "-z") })
	}
	look := func(int) time.Duration {
		return took(func() {
			l, err := x.manager.Look(r.Context(), worktree.LookRequest{
				Project: x.project, AgentID: req.AgentID, Alias: req.Alias, Path: req.Path, BaseCommit: x.base.Commit,
			})
			r.must(err)
			if len(l.Dirty) != 1 {
				r.Fatalf("dirty: %q", l.Dirty)
			}
		})
	}
	floor, ours := inTurn(max(1, r.rounds/3), status, look)
	return []figure{ratio(fmt.Sprintf("dirty check, %d files", r.files), ours, floor, "`git status --porcelain=v2 -z`", 1.15)}
}
