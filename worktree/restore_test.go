package worktree

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// rich is a repository with all that a worktree may begin with: a submodule, a
// link, a program, line ends, ignored files and included ones.
func rich(t testing.TB) string {
	repo := newRepo(t)
	write(t, repo, ".gitignore", "*.log\nbuild/\n.env*\nnode_modules/\n__pycache__/\n")
	write(t, repo, ".gitattributes", "*.txt text=auto\n*.id ident\n")
	write(t, repo, "win.txt", "one\ntwo\n")
	write(t, repo, "v.id", "$Id$\n")
	write(t, repo, "run.sh", "#!/bin/sh\n")
	_ = os.Chmod(filepath.Join(repo, "run.sh"), 0o755)
	_ = os.Symlink("src/a.txt", filepath.Join(repo, "link"))
	write(t, repo, includeFile, ".env\n")
	write(t, repo, ".env", "A=1\n")
	git(t, repo, "submodule", "--quiet", "add", newRepo(t), "lib")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-qm", "rich")
	write(t, repo, "README.md", "theirs\n")
	git(t, repo, "commit", "-qam", "theirs")
	git(t, repo, "branch", "theirs")
	git(t, repo, "reset", "-q", "--hard", "HEAD~1")
	return repo
}

// deed is something that an agent does to its worktree.
type deed struct {
	name  string
	unfit bool // leaves something that no commit holds
	do    func(a *agent, r *rand.Rand)
}

func junk(r *rand.Rand, size int) string {
	data := make([]byte, size)
	for i := range data {
		data[i] = "ab\r\n\x00\xffz"[r.IntN(7)]
	}
	return string(data)
}

// put writes a file where an earlier deed left room for it.
func put(a *agent, name, text string) {
	path := filepath.Join(a.path, name)
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	_ = os.WriteFile(path, []byte(text), 0o644)
}

func deeds() []deed {
	in := func(a *agent, name string) string { return filepath.Join(a.path, name) }
	try := func(a *agent, args ...string) { _, _ = tryGit(a.path, args...) }
	return []deed{
		{"changed", false, func(a *agent, r *rand.Rand) { put(a, "README.md", junk(r, r.IntN(3000))) }},
		{"changed to windows lines", false, func(a *agent, _ *rand.Rand) { put(a, "win.txt", "one\r\ntwo\r\n") }},
		{"ident expanded", false, func(a *agent, _ *rand.Rand) { put(a, "v.id", "$Id: 123 $\n") }},
		{"untracked", false, func(a *agent, r *rand.Rand) {
			put(a, fmt.Sprintf("new/d%d/f%d", r.IntN(3), r.IntN(9)), junk(r, r.IntN(500)))
		}},
		{"large", false, func(a *agent, r *rand.Rand) { put(a, "large.bin", junk(r, wholeMax+1+r.IntN(wholeMax))) }},
		{"exactly the limit", false, func(a *agent, r *rand.Rand) { put(a, "limit.bin", junk(r, wholeMax)) }},
		{"ignored", false, func(a *agent, r *rand.Rand) { put(a, "debug.log", junk(r, 99)) }},
		{"ignored folder", false, func(a *agent, r *rand.Rand) { put(a, "build/out/a.bin", junk(r, 99)) }},
		{"cache", false, func(a *agent, r *rand.Rand) { put(a, "node_modules/x/index.js", junk(r, 99)) }},
		{"deep cache", false, func(a *agent, r *rand.Rand) { put(a, "src/__pycache__/a.pyc", junk(r, 99)) }},
		{"included changed", false, func(a *agent, _ *rand.Rand) { put(a, ".env", "A=2\n") }},
		{"included deleted", false, func(a *agent, _ *rand.Rand) { _ = os.Remove(in(a, ".env")) }},
		{"committed", false, func(a *agent, r *rand.Rand) {
			put(a, "done.txt", junk(r, 50))
			try(a, "add", "done.txt")
			try(a, "commit", "-qm", "done")
		}},
		{"detached", false, func(a *agent, _ *rand.Rand) { try(a, "checkout", "-q", "--detach") }},
		{"detached and committed", false, func(a *agent, r *rand.Rand) {
			try(a, "checkout", "-q", "--detach")
			try(a, "commit", "-q", "--allow-empty", "-m", junk(r, 3))
		}},
		{"other branch", false, func(a *agent, r *rand.Rand) {
			try(a, "checkout", "-qb", fmt.Sprintf("mine-%s-%d", a.req.Alias, r.IntN(99)))
			try(a, "commit", "-q", "--allow-empty", "-m", "x")
		}},
		{"renamed branch", false, func(a *agent, _ *rand.Rand) { try(a, "branch", "-m", "renamed-"+a.req.Alias) }},
		{"mid merge", false, func(a *agent, _ *rand.Rand) {
			put(a, "README.md", "ours\n")
			try(a, "commit", "-qam", "ours")
			try(a, "merge", "-q", "refs/remotes/origin/theirs")
		}},
		{"mid rebase", false, func(a *agent, _ *rand.Rand) {
			put(a, "README.md", "ours too\n")
			try(a, "commit", "-qam", "ours too")
			try(a, "rebase", "-q", "refs/remotes/origin/theirs")
		}},
		{"stash", false, func(a *agent, _ *rand.Rand) { put(a, "src/a.txt", "stashed\n"); try(a, "stash", "-q") }},
		{"nested repository", true, func(a *agent, _ *rand.Rand) {
			_, _ = tryGit("/", "init", "-q", in(a, "nested"))
			put(a, "nested/inside", "x")
			_, _ = tryGit(in(a, "nested"), "commit", "-q", "--allow-empty", "-m", "x")
		}},
		{"repository in a tracked folder", true, func(a *agent, _ *rand.Rand) {
			if isDir(in(a, "src")) {
				_, _ = tryGit("/", "init", "-q", in(a, "src"))
			} else {
				put(a, "other/.git/HEAD", "x")
			}
		}},
		{"submodule changed", true, func(a *agent, r *rand.Rand) { put(a, "lib/README.md", junk(r, 20)) }},
		{"submodule with a new file", true, func(a *agent, _ *rand.Rand) { put(a, "lib/new.txt", "x") }},
		{"submodule committed", true, func(a *agent, _ *rand.Rand) {
			_, _ = tryGit(in(a, "lib"), "commit", "-q", "--allow-empty", "-m", "x")
		}},
		{"links", false, func(a *agent, r *rand.Rand) {
			for _, l := range [][2]string{{"loop", "loop"}, {".", "here"}, {"/etc/passwd", "out"}, {"nowhere", "dangling"}, {"../..", "new/up"}} {
				_ = os.MkdirAll(in(a, "new"), 0o755)
				_ = os.Symlink(l[0], in(a, l[1]))
			}
			_ = os.Remove(in(a, "link"))
			_ = os.Symlink(fmt.Sprint("elsewhere", r.IntN(9)), in(a, "link"))
		}},
		{"read-only folder", false, func(a *agent, r *rand.Rand) {
			name := fmt.Sprintf("ro%d", r.IntN(99))
			put(a, name+"/deep/file", "x")
			_ = os.Chmod(in(a, name+"/deep/file"), 0o444)
			_ = os.Chmod(in(a, name+"/deep"), 0o555)
			_ = os.Chmod(in(a, name), 0o555)
		}},
		{"strange names", false, func(a *agent, _ *rand.Rand) {
			for _, name := range []string{"\xff\xfe", "a\nb", "q\"uo\\te", " lead", "-rf", "git~1", "aux", "tab\t", "é", "a.b/c", "a/c", "a0", "..."} {
				put(a, "names/"+name, name)
			}
		}},
		{"empty file", false, func(a *agent, r *rand.Rand) { put(a, fmt.Sprintf("empty%d", r.IntN(9)), "") }},
		{"modes", false, func(a *agent, _ *rand.Rand) {
			_ = os.Chmod(in(a, "README.md"), 0o755)
			_ = os.Chmod(in(a, "run.sh"), 0o644)
			put(a, "tool", "x")
			_ = os.Chmod(in(a, "tool"), 0o755)
		}},
		{"staged and deleted", false, func(a *agent, r *rand.Rand) {
			put(a, "staged.txt", junk(r, 30)+"only staged")
			try(a, "add", "staged.txt")
			_ = os.Remove(in(a, "staged.txt"))
		}},
		{"staged and changed", false, func(a *agent, r *rand.Rand) {
			put(a, "src/a.txt", junk(r, 30))
			try(a, "add", "-A", "src")
			put(a, "src/a.txt", junk(r, 40))
		}},
		{"intent to add", false, func(a *agent, _ *rand.Rand) { put(a, "intent", "x"); try(a, "add", "-N", "intent") }},
		{"assumed unchanged", false, func(a *agent, _ *rand.Rand) {
			try(a, "update-index", "--assume-unchanged", "win.txt")
			put(a, "win.txt", "hidden change\n")
		}},
		{"deleted", false, func(a *agent, _ *rand.Rand) { _ = os.Remove(in(a, "README.md")); try(a, "rm", "-q", "run.sh") }},
		{"file for a folder", false, func(a *agent, _ *rand.Rand) { _ = os.RemoveAll(in(a, "src")); put(a, "src", "a file now") }},
		{"folder for a file", false, func(a *agent, _ *rand.Rand) { _ = os.RemoveAll(in(a, "v.id")); put(a, "v.id/x", "x") }},
		{"attributes", false, func(a *agent, _ *rand.Rand) {
			put(a, ".gitattributes", "* text eol=crlf filter=evil working-tree-encoding=UTF-16\n")
			put(a, "encoded.txt", "a\nb\r\n")
		}},
		{"empty folder", true, func(a *agent, _ *rand.Rand) { _ = os.MkdirAll(in(a, "hollow/inner"), 0o755) }},
		{"fifo", true, func(a *agent, r *rand.Rand) { _ = syscall.Mkfifo(in(a, fmt.Sprintf("pipe%d", r.IntN(9))), 0o644) }},
		{"git in capitals", true, func(a *agent, _ *rand.Rand) { put(a, "caps/.GIT", "x") }},
		{"linked .gitmodules", true, func(a *agent, _ *rand.Rand) {
			_ = os.MkdirAll(in(a, "mods"), 0o755)
			_ = os.Symlink("x", in(a, "mods/.gitmodules"))
		}},
	}
}

// everything sums up a folder without any code of ours: type, mode and bytes
// of all that is in it.
func everything(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %d %x", len(data), sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			what += " -> " + target
		}
		all[rel] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// filesOnly leaves of that what a snapshot promises: content, link targets and
// the right to execute, outside caches and git directories.
func filesOnly(all map[string]string) map[string]string {
	out := map[string]string{}
	for name, what := range all {
		base := filepath.Base(name)
		if what[0] == 'd' || base == ".git" || strings.Contains(name, ".git/") || strings.Contains(name, "node_modules/") || strings.Contains(name, "__pycache__/") {
			continue
		}
		mode, rest, _ := strings.Cut(what, " ")
		out[name] = fmt.Sprint(mode[0] == 'L' || mode[0] == 'l', mode[3] == 'x', " ", rest)
	}
	return out
}

// standing is what git says of a worktree.
func standing(t testing.TB, a *agent) string {
	t.Helper()
	symbolic, _ := tryGit(a.path, "symbolic-ref", "-q", "HEAD")
	commit, _ := tryGit(a.path, "rev-parse", "-q", "--verify", "HEAD")
	return symbolic + " " + commit
}

func (a *agent) ensureRequest() EnsureRequest {
	return EnsureRequest{LookRequest: a.lookRequest(), Base: a.req.Base, Checkout: a.repo}
}

func (a *agent) trashPath() string { return filepath.Join(a.home, "trash", a.req.Alias+"-1") }

func (a *agent) toTrash() string {
	a.t.Helper()
	path, err := a.m.MoveToTrash(ctx(a.t), a.lookRequest(), a.trashPath())
	if err != nil {
		a.t.Fatal(err)
	}
	if exists(a.path) {
		a.t.Errorf("%s is still there", a.path)
	}
	return path
}

func (a *agent) ensureFrom(trash, keepRef, from string) Ensured {
	a.t.Helper()
	req := a.ensureRequest()
	req.Trash, req.KeepRef = trash, keepRef
	out, err := a.m.Ensure(ctx(a.t), req)
	if err != nil {
		a.t.Fatal(err)
	}
	if out.From != from {
		a.t.Errorf("from %s, want %s", out.From, from)
	}
	return out
}

func (a *agent) purge(trash string) {
	a.t.Helper()
	err := a.m.Purge(ctx(a.t), PurgeRequest{Project: a.p, AgentID: a.req.AgentID, Alias: a.req.Alias, Path: a.path, Trash: trash})
	if err != nil {
		a.t.Fatal(err)
	}
	if exists(trash) || exists(trash+".purging") {
		a.t.Errorf("%s is still there", trash)
	}
}

func (a *agent) keep(name string) Snapshot {
	a.t.Helper()
	snap, err := a.m.TakeSnapshot(ctx(a.t), a.lookRequest(), name)
	if err != nil {
		a.t.Fatal(err)
	}
	return snap
}

// TestNothingIsLost puts worktrees into generated states and takes them away
// and back, by the trash and by the snapshot.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	const shards = 2
	each := often(120)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	repo := rich(t)
	var states, whole, bytesKept atomic.Int64
	var mu sync.Mutex
	seen := map[string]int{}
	t.Cleanup(func() {
		t.Logf("%d states, %d of them whole in a commit, %d files compared", states.Load(), whole.Load(), bytesKept.Load())
		if t.Failed() {
			return
		}
		if int(states.Load()) != shards*each || int(whole.Load()) < shards*each/5 {
			t.Errorf("too few states")
		}
		for _, d := range deeds() {
			if seen[d.name] == 0 && each >= 120 {
				t.Errorf("%s was never tried", d.name)
			}
		}
	})
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			l := newLabFor(t, repo)
			l.ensure()
			random := rand.New(rand.NewPCG(seed, uint64(shard)))
			for i := range each {
				if t.Failed() {
					return
				}
				a := l.addRequest(l.request(fmt.Sprintf("agent-%d", i)))
				all := deeds()
				var names []string
				lib := everything(t, filepath.Join(a.path, "lib"))
				// Half of the states use only what a commit can hold.
				for range 1 + random.IntN(6) {
					d := all[random.IntN(len(all))]
					if d.unfit && i%2 == 0 {
						continue
					}
					d.do(a, random)
					names = append(names, d.name)
				}
				mu.Lock()
				for _, name := range names {
					seen[name]++
				}
				mu.Unlock()
				defer func() {
					if t.Failed() {
						t.Logf("state %d: %q", i, names)
					}
				}()
				w, n := lostNothing(t, a, lib)
				states.Add(1)
				bytesKept.Add(int64(n))
				if w {
					whole.Add(1)
				}
				if t.Failed() {
					return
				}
				_ = removeStubborn(a.path)
			}
		})
	}
}

// unfitFor tells, without any code of ours, whether the folder has something
// that no commit holds.
func unfitFor(t *testing.T, a *agent, all, lib map[string]string) bool {
	t.Helper()
	folders := map[string]bool{}
	for name := range all {
		folders[filepath.Dir(name)] = true
	}
	for name, what := range all {
		base := filepath.Base(name)
		switch {
		case strings.HasPrefix(name, "node_modules/"), strings.Contains(name, "__pycache__/"):
		case strings.EqualFold(base, ".git") && name != ".git" && name != "lib/.git",
			what[0] == 'p', what[0] == 'd' && !folders[name], what[0] == 'L' && base == ".gitmodules":
			return true
		}
	}
	head, _ := tryGit(filepath.Join(a.path, "lib"), "rev-parse", "HEAD")
	gitlink, _ := tryGit(a.path, "rev-parse", "-q", "--verify", "refs/remotes/origin/main:lib")
	return head != gitlink || changes(lib, everything(t, filepath.Join(a.path, "lib"))) != nil
}

func lostNothing(t *testing.T, a *agent, lib map[string]string) (whole bool, files int) {
	t.Helper()
	admin := filepath.Join(a.mirror(), "worktrees", filepath.Base(a.path))
	before, stood := everything(t, a.path), standing(t, a)
	index := read(t, filepath.Join(admin, "index")) // git, asked, has refreshed it
	unfit := unfitFor(t, a, before, lib)
	snap := a.keep("one")
	if read(t, filepath.Join(admin, "index")) != index {
		t.Error("the snapshot changed the index")
	}
	if d := changes(before, everything(t, a.path)); d != nil {
		t.Errorf("the snapshot changed %q", d)
	}
	trash := a.toTrash()
	a.ensureFrom(trash, snap.Ref, fromTrash)
	if d := changes(before, everything(t, a.path)); d != nil {
		t.Errorf("from the trash: %q differ", d)
	}
	if !bytes.Equal([]byte(index), []byte(read(t, filepath.Join(admin, "index")))) || standing(t, a) != stood {
		t.Errorf("from the trash: index or HEAD differ: %s, was %s", standing(t, a), stood)
	}
	trash = a.toTrash()
	whole, missing, err := a.m.SnapshotHolds(ctx(t), a.lookRequest(), trash, snap.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if whole != snap.Whole || whole == unfit || !slices.Equal(missing, snap.Missing) {
		t.Errorf("whole %v, snapshot says %v, want %v; missing %q and %q", whole, snap.Whole, !unfit, missing, snap.Missing)
	}
	if !whole {
		return false, len(before)
	}
	a.purge(trash)
	a.ensureFrom("", snap.Ref, fromSnapshot)
	want, got := filesOnly(before), filesOnly(everything(t, a.path))
	if _, had := want[".env"]; !had {
		delete(got, ".env") // one that was removed is no work, and comes again
	}
	if d := changes(want, got); d != nil {
		for _, name := range d {
			t.Errorf("from the snapshot: %q is %q, was %q", name, got[name], want[name])
		}
	}
	if standing(t, a) != stood {
		t.Errorf("from the snapshot: HEAD is %q, was %q", standing(t, a), stood)
	}
	return true, len(want)
}
