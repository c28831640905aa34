package worktree

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCommitDirs: the folders are those that git itself names, and a commit
// needs nothing else of the mirror to be writable.
func TestCommitDirs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	l.add("calm-otter")
	if err := os.RemoveAll(filepath.Join(l.mirror(), "logs")); err != nil {
		t.Fatal(err)
	}
	dirs, err := l.m.CommitDirs(l.p, "brave-otter")
	if err != nil {
		t.Fatal(err)
	}
	common := git(t, a.path, "rev-parse", "--path-format=absolute", "--git-common-dir")
	want := []string{git(t, a.path, "rev-parse", "--absolute-git-dir"), filepath.Join(common, "objects"), filepath.Join(common, "refs"), filepath.Join(common, "logs")}
	if diff := cmp.Diff(want, dirs); diff != "" {
		t.Error(diff)
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", dir, err)
		}
	}
	before := snapshot(t, l.mirror())
	write(t, a.path, "new.txt", "x\n")
	git(t, a.path, "add", ".")
	git(t, a.path, "commit", "-qm", "new")
	for _, path := range changes(before, snapshot(t, l.mirror())) {
		if !below(filepath.Join(l.mirror(), path), dirs) {
			t.Errorf("a commit changed %s, which is below none of %q", path, dirs)
		}
	}
}

func below(path string, dirs []string) bool {
	for _, dir := range dirs {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// TestCommitDirsAsksTheRecord: what an agent writes into its worktree's .git
// opens no other folder, and an agent without a worktree has none.
func TestCommitDirsAsksTheRecord(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	want, err := l.m.CommitDirs(l.p, "brave-otter")
	if err != nil {
		t.Fatal(err)
	}
	write(t, a.path, ".git", "gitdir: /etc\n")
	got, err := l.m.CommitDirs(l.p, "brave-otter")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	half, err := readRecord(l.mirror(), "brave-otter")
	if err != nil {
		t.Fatal(err)
	}
	half.Alias, half.Whole = "half-otter", false
	data, err := json.Marshal(half)
	if err != nil {
		t.Fatal(err)
	}
	write(t, recordsDir(l.mirror()), "half-otter.json", string(data))
	for _, alias := range []string{"half-otter", "calm-otter", "../brave-otter", ""} {
		if dirs, err := l.m.CommitDirs(l.p, alias); err == nil {
			t.Errorf("%q: %q", alias, dirs)
		}
	}
}
