package worktree

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestChoosePacking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		have objectCount
		last int64
		want packing
	}{
		"a new mirror":           {objectCount{loose: 10, packs: 1}, 0, packNothing},
		"at the bounds":          {objectCount{loose: looseMost, packs: packsMost, bytes: growthFree}, 0, packNothing},
		"many loose objects":     {objectCount{loose: looseMost + 1}, 0, packRoll},
		"many packs":             {objectCount{packs: packsMost + 1}, 0, packRoll},
		"shared packs are free":  {objectCount{shared: make([]string, 3*packsMost)}, 0, packNothing},
		"it grew":                {objectCount{bytes: 1001 + growthFree}, 500, packPrune},
		"it grew not enough":     {objectCount{bytes: 1000 + growthFree}, 500, packNothing},
		"it grew and has packs":  {objectCount{bytes: 1001 + growthFree, packs: 99}, 500, packPrune},
		"it shrank, and is full": {objectCount{bytes: 5, loose: looseMost + 1}, 1 << 40, packRoll},
	} {
		if got := choosePacking(c.have, c.last); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// looseBlobs writes n loose objects that nothing names, and returns the id of
// the last.
func looseBlobs(t *testing.T, gitDir string, n int, at time.Time) (id string) {
	t.Helper()
	for i := range n {
		data := fmt.Appendf(nil, "blob %d\x00%d %s", len(fmt.Sprintf("%d %s", i, t.Name())), i, t.Name())
		sum := sha1.Sum(data)
		id = hex.EncodeToString(sum[:])
		var packed bytes.Buffer
		z, _ := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
		_, _ = z.Write(data)
		_ = z.Close()
		path := filepath.Join(gitDir, "objects", id[:2], id[2:])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, packed.Bytes(), 0o444); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// age makes all objects of a git directory look old.
func age(t *testing.T, gitDir string, at time.Time) {
	t.Helper()
	for _, pattern := range []string{"objects/??/*", "objects/pack/*"} {
		files, _ := filepath.Glob(filepath.Join(gitDir, pattern))
		for _, f := range files {
			if err := os.Chtimes(f, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (l *lab) pack() {
	l.t.Helper()
	if err := l.m.Pack(ctx(l.t), l.p); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) counted(dir string) objectCount {
	l.t.Helper()
	have, err := countObjects(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	return have
}

func packingIs(p packing) func(objectCount, int64) packing {
	return func(objectCount, int64) packing { return p }
}

func has(dir, id string) bool {
	_, err := tryGit(dir, "cat-file", "-e", id)
	return err == nil
}

// hard puts into a worktree what only the index or a reflog names, stashes among it,
// and returns the ids.
func (a *agent) hard() map[string]string {
	a.t.Helper()
	ids := map[string]string{"a commit": a.commit("committed.txt", "committed\n")}
	for _, text := range []string{"first\n", "second\n"} {
		write(a.t, a.path, "committed.txt", text)
		git(a.t, a.path, "stash", "-q")
	}
	ids["a stash"] = git(a.t, a.path, "rev-parse", "stash@{1}")
	write(a.t, a.path, "staged.txt", "staged, never committed\n")
	git(a.t, a.path, "add", "staged.txt")
	ids["a staged file"] = git(a.t, a.path, "rev-parse", ":staged.txt")
	git(a.t, a.path, "reset", "-q")
	git(a.t, a.path, "add", "staged.txt")
	ids["a commit that was reset"] = git(a.t, a.path, "commit-tree", "-m", "x", "-p", "HEAD", "HEAD^{tree}")
	git(a.t, a.path, "update-ref", "--create-reflog", "-m", "there", "HEAD", ids["a commit that was reset"])
	git(a.t, a.path, "update-ref", "-m", "and back", "HEAD", ids["a commit"])
	return ids
}

// TestPackRolls: a mirror with more files than its bound becomes one pack; not an
// object is lost, not even one that nothing names. The packs of the user's
// repository stay shared.
func TestPackRolls(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	git(t, repo, "gc", "-q")
	l := newLabFor(t, repo)
	a := l.add("brave-otter")
	ids := a.hard()
	long := time.Now().AddDate(-1, 0, 0)
	l.pack() // notes the size
	before := l.counted(l.mirror())
	l.pack()
	if got := l.counted(l.mirror()); got.loose != before.loose {
		t.Errorf("%d loose objects became %d below the bound", before.loose, got.loose)
	}
	ids["an object that nothing names"] = looseBlobs(t, l.mirror(), 10, long)
	l.m.packing = packingIs(packRoll)
	age(t, l.mirror(), long)
	l.pack()
	after := l.counted(l.mirror())
	if after.loose != 0 || after.packs != 1 || len(after.shared) != len(before.shared) || len(before.shared) == 0 {
		t.Errorf("after it: %d loose, %d packs, %d shared; %d were shared", after.loose, after.packs, len(after.shared), len(before.shared))
	}
	for what, id := range ids {
		if !has(l.mirror(), id) {
			t.Errorf("%s is lost", what)
		}
	}
	a.works()
}

// TestPackPrunes: a mirror that grew loses objects that nothing names and that are
// old, and nothing else.
func TestPackPrunes(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	git(t, repo, "gc", "-q")
	l := newLabFor(t, repo)
	a := l.add("brave-otter")
	ids := a.hard()
	snap := a.keep("left")
	l.pack()
	gone := looseBlobs(t, l.mirror(), 10, time.Now())
	age(t, l.mirror(), time.Now().AddDate(0, 0, -20))
	young := filepath.Join(t.TempDir(), "young")
	if err := os.WriteFile(young, []byte("young\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ids["a young object"] = git(t, l.mirror(), "hash-object", "-w", "--", young)
	ids["a snapshot"] = snap.Commit
	size := filepath.Join(guardDir(l.mirror()), packedFile)
	if err := os.WriteFile(size, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.m.packing = packingIs(packPrune)
	before := l.counted(l.mirror())
	l.pack()
	for what, id := range ids {
		if !has(l.mirror(), id) {
			t.Errorf("%s is lost", what)
		}
	}
	if has(l.mirror(), gone) {
		t.Error("an old object that nothing names is still there")
	}
	if after := l.counted(l.mirror()); len(after.shared) != len(before.shared) || len(after.shared) == 0 {
		t.Errorf("%d packs are shared, %d were", len(after.shared), len(before.shared))
	}
	if text := read(t, size); text == "0" {
		t.Error("the size after it was not noted")
	}
	a.works()
}

// works does all that an agent and cw do with a worktree.
func (a *agent) works() {
	a.t.Helper()
	if out := git(a.t, a.path, "status", "--porcelain"); out != "A  staged.txt" {
		a.t.Errorf("status is %q", out)
	}
	git(a.t, a.path, "fsck", "--connectivity-only", "--no-dangling")
	git(a.t, a.path, "commit", "-qm", "staged")
	a.commit("later.txt", "later\n")
	a.handOver()
	if look := a.look(); look.Commits != 3 || len(look.Dirty) != 0 {
		a.t.Errorf("look: %+v", look)
	}
	if restored := a.takeRestored(); len(restored) != 0 {
		a.t.Errorf("restored: %v", restored)
	}
}

// TestPackClone: the clone of a remote project is packed as well.
func TestPackClone(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	bare := filepath.Join(t.TempDir(), "far.git")
	git(t, l.repo, "clone", "-q", "--bare", l.repo, bare)
	l.isRemote("file://" + bare)
	l.fetchRemote()
	l.ensure()
	l.pack()
	clone, err := l.m.CloneDir(l.p)
	if err != nil {
		t.Fatal(err)
	}
	looseBlobs(t, clone, 10, time.Now())
	l.m.packing = packingIs(packRoll)
	l.pack()
	if have := l.counted(clone); have.loose != 0 {
		t.Errorf("the clone has %d loose objects", have.loose)
	}
	l.p.Mirror = "another.git" // made by nobody yet
	l.pack()
}
