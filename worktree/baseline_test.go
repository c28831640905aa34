package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// setUp runs commands between BeginSetUp and EndSetUp.
func (a *agent) setUp(name string, commands func(dir string)) (notes []string) {
	a.t.Helper()
	if err := a.m.BeginSetUp(ctx(a.t), a.lookRequest(), name); err != nil {
		a.t.Fatal(err)
	}
	commands(a.path)
	for range 2 { // asked again it gives the same
		noted, told, err := a.m.EndSetUp(ctx(a.t), a.lookRequest(), name, nil)
		if err != nil {
			a.t.Fatal(err)
		}
		a.added.Included = noted
		notes = append(notes, told...)
	}
	if err := a.m.ForgetBaseline(ctx(a.t), a.lookRequest()); err != nil {
		a.t.Fatal(err)
	}
	return notes
}

// TestBaseline: what a set-up made or changed is no work as long as it stays so;
// what was there before is, whatever the set-up does to it.
func TestBaseline(t *testing.T) {
	t.Parallel()
	makes := func(t testing.TB) func(dir string) {
		return func(dir string) {
			write(t, dir, "made.txt", "made")
			write(t, dir, "made.log", "made") // ignored
			write(t, dir, "build/made", "made")
			write(t, dir, "README.md", "by the set-up\n")
			_ = os.Remove(filepath.Join(dir, "src/a.txt"))
		}
	}
	tests := []struct {
		name   string
		before func(a *agent)
		more   func(dir string) // the set-up does beside makes
		after  func(a *agent)
		dirty  []string // and ignored
		back   bool     // work was put back
	}{
		{name: "nothing"},
		{
			name:   "work beside it",
			before: func(a *agent) { write(a.t, a.path, "work.txt", "work"); write(a.t, a.path, "build/work", "work") },
			dirty:  []string{"build/", "work.txt"},
		},
		{
			name:   "work that it removes",
			before: func(a *agent) { write(a.t, a.path, "work.txt", "work"); write(a.t, a.path, "build/work", "work") },
			more: func(dir string) {
				_ = os.RemoveAll(filepath.Join(dir, "build"))
				_ = os.Remove(filepath.Join(dir, "work.txt"))
			},
			dirty: []string{"build/", "work.txt"}, back: true,
		},
		{
			name:   "work that it changes",
			before: func(a *agent) { write(a.t, a.path, "made.txt", "work"); write(a.t, a.path, "README.md", "work") },
			dirty:  []string{"README.md", "made.txt"}, back: true,
		},
		{
			name:  "changed after it",
			after: func(a *agent) { write(a.t, a.path, "README.md", "work"); write(a.t, a.path, "made.log", "work") },
			dirty: []string{"README.md", "made.log"},
		},
		{
			name:  "made executable after it",
			after: func(a *agent) { _ = os.Chmod(filepath.Join(a.path, "README.md"), 0o755) },
			dirty: []string{"README.md"},
		},
		{
			name:  "committed as it is",
			after: func(a *agent) { git(a.t, a.path, "add", "-A"); git(a.t, a.path, "commit", "-qm", "all") },
		},
		{
			name: "committed in another form and then changed back",
			after: func(a *agent) {
				a.commit("README.md", "another\n")
				write(a.t, a.path, "README.md", "by the set-up\n")
			},
			dirty: []string{"README.md"},
		},
		{
			name:  "an untracked file that was changed and committed",
			after: func(a *agent) { a.commit("made.txt", "work") },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newLab(t).add("brave-otter")
			if test.before != nil {
				test.before(a)
			}
			before := filesOnly(everything(t, a.path))
			notes := a.setUp("one", func(dir string) {
				makes(t)(dir)
				if test.more != nil {
					test.more(dir)
				}
			})
			if back := strings.Contains(strings.Join(notes, ""), "put back as before"); back != test.back {
				t.Errorf("notes %q", notes)
			}
			after := everything(t, a.path)
			for _, name := range test.dirty {
				if want, had := before[name]; had && test.after == nil && filesOnly(after)[name] != want {
					t.Errorf("%s is not as it was", name)
				}
			}
			if test.after != nil {
				test.after(a)
			}
			look := a.look()
			got := append(slices.Clone(look.Dirty), look.Ignored...)
			slices.Sort(got)
			if !slices.Equal(slices.Compact(got), test.dirty) {
				t.Errorf("work %q, want %q", got, test.dirty)
			}
			removed, why, err := a.m.RemoveClean(ctx(t), a.lookRequest())
			if err != nil || removed != (len(test.dirty) == 0) {
				t.Errorf("removed %v because %q, %v", removed, why, err)
			}
		})
	}
}

// TestBaselineOfKilledSetUp: the work that it removed is back before another
// set-up begins, and what it made by then is work.
func TestBaselineOfKilledSetUp(t *testing.T) {
	t.Parallel()
	a := newLab(t).add("brave-otter")
	write(t, a.path, "work.txt", "work")
	if err := a.m.BeginSetUp(ctx(t), a.lookRequest(), "one"); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(a.path, "work.txt"))
	write(t, a.path, "half.txt", "half")
	a.setUp("two", func(dir string) { write(t, dir, "made.txt", "made") })
	if look := a.look(); !slices.Equal(look.Dirty, []string{"half.txt", "work.txt"}) {
		t.Errorf("work %q", look.Dirty)
	}
	if refs := git(t, a.mirror(), "for-each-ref", "refs/cw/keep"); refs != "" {
		t.Errorf("left: %s", refs)
	}
	if err := a.m.BeginSetUp(ctx(t), a.lookRequest(), "three"); err != nil {
		t.Fatal(err)
	}
	write(t, a.path, "work.txt", "another")
	if notes, err := a.m.SettleBaseline(ctx(t), a.lookRequest()); err != nil || len(notes) != 1 || read(t, filepath.Join(a.path, "work.txt")) != "work" {
		t.Errorf("settled: %q, %v", notes, err)
	}
}

// TestCheckoutIsBaseline: what git shows as changed right after a checkout, since
// the line ends are not those that the attributes ask for, is no work.
func TestCheckoutIsBaseline(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	write(t, repo, "win.txt", "one\r\ntwo\r\n")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-qm", "windows")
	write(t, repo, ".gitattributes", "*.txt text\n")
	git(t, repo, "add", ".gitattributes")
	git(t, repo, "commit", "-qm", "attributes")
	a := newLabFor(t, repo).add("brave-otter")
	if look := a.look(); look.Work() || !strings.Contains(git(t, a.path, "status", "--porcelain"), "win.txt") {
		t.Errorf("%q", look.Dirty)
	}
	write(t, a.path, "new.txt", "x")
	snap := a.keep("one")
	a.purge(a.toTrash())
	a.added.Included = a.ensureFrom("", snap.Ref, fromSnapshot).Included
	if look := a.look(); !slices.Equal(look.Dirty, []string{"new.txt"}) {
		t.Errorf("made again: %q", look.Dirty)
	}
	write(t, a.path, "win.txt", "one\r\ntwo\r\nthree\r\n")
	if look := a.look(); !slices.Equal(look.Dirty, []string{"new.txt", "win.txt"}) {
		t.Errorf("changed: %q", look.Dirty)
	}
}
