package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// oddNames are paths that git would take for something else, each with a path that
// it would name as well if it did.
func oddNames() []string {
	return []string{
		"-rf", "--stat", "a b/c d", "caf\xe9.txt", "ünï.txt", ":(glob)**", ":(exclude)x", ":!x", ":/q", "*", "[ab]", "?", "a", "b", "x", "\\a", "\"q\"", "tab\there", "line\nfeed",
		"a,b", "a&b=c", "a%20b", "~", "$HOME", "dir/-x", "dir/:(top)y", "dir/*", "dir/z",
	}
}

// changedIn are the paths of the files of a difference.
func changedIn(d cw.Diff) []string {
	out := []string{}
	for _, f := range d.Files {
		out = append(out, f.Path)
	}
	return out
}

// TestDiffOfPaths: paths are taken byte for byte, in commits and in the worktree,
// and also when the worktree is gone.
func TestDiffOfPaths(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	names := oddNames()
	if err := os.WriteFile(filepath.Join(a.path, "caf\xe9.txt"), nil, 0o600); err != nil {
		names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, "\xe9") }) // the system takes no such name
	}
	for _, n := range names {
		write(t, a.path, n, fmt.Sprintf("one %q\n", n))
	}
	git(t, a.path, "add", "-A")
	git(t, a.path, "commit", "-qm", "all")
	all, err := l.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{})
	if err != nil || len(all.Files) != len(names) {
		t.Fatalf("%v, %v", all.Files, err)
	}
	ask := func(paths ...string) cw.Diff {
		t.Helper()
		d, err := l.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{Paths: paths})
		if err != nil {
			t.Fatalf("%q: %v", paths, err)
		}
		return d
	}
	each := func(when string) {
		t.Helper()
		for _, n := range names {
			d := ask(n)
			if !slices.Equal(changedIn(d), []string{n}) || strings.Count(d.Patch, "diff --git") != 1 || d.Stat.Files != 1 || d.Files[0].Additions != 1 || len(d.Commits) != 1 {
				t.Errorf("%s, %q: %q, %+v\n%s", when, n, changedIn(d), d.Stat, d.Patch)
			}
		}
	}
	each("worktree")
	for _, tt := range []struct{ paths, want []string }{
		{[]string{"dir"}, []string{"dir/*", "dir/-x", "dir/:(top)y", "dir/z"}},
		{[]string{"dir/", "./a"}, []string{"a", "dir/*", "dir/-x", "dir/:(top)y", "dir/z"}},
		{[]string{"a b//c d", "dir/../b"}, []string{"a b/c d", "b"}},
		{[]string{"a", "a", "README.md"}, []string{"a"}},
		{[]string{"src"}, []string{}}, // it is there, and did not change
	} {
		if got := changedIn(ask(tt.paths...)); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q", tt.paths, got)
		}
	}
	if d := ask("a", "."); len(d.Files) != len(names) {
		t.Errorf("with the whole: %q", changedIn(d))
	}
	if d := ask("src"); d.Patch != "" || len(d.Commits) > 0 || d.Stat != (cw.Stat{}) {
		t.Errorf("of what did not change: %+v", d)
	}
	for _, n := range names {
		write(t, a.path, n, fmt.Sprintf("two %q\n", n))
	}
	write(t, a.path, "dir/:(glob)new", "n\n")
	for _, n := range names {
		if d := ask(n); !slices.Equal(d.Uncommitted, []string{n}) || strings.Count(d.WorkPatch, "diff --git") != 1 {
			t.Errorf("not committed, %q: %q\n%s", n, d.Uncommitted, d.WorkPatch)
		}
	}
	if d := ask("dir/:(glob)new"); !slices.Equal(d.Uncommitted, []string{"dir/:(glob)new"}) || d.Patch+d.WorkPatch != "" || len(d.Files) > 0 {
		t.Errorf("untracked: %+v", d)
	}
	git(t, a.path, "add", "-A")
	git(t, a.path, "commit", "-qm", "again")
	if removed, why, err := l.m.RemoveClean(ctx(t), a.lookRequest()); !removed || err != nil {
		t.Fatalf("%s, %v", why, err)
	}
	for _, n := range names {
		if d := ask(n); !slices.Equal(changedIn(d), []string{n}) || len(d.Commits) != 2 || !strings.Contains(d.Patch, "+two ") {
			t.Errorf("without a worktree, %q: %+v", n, d)
		}
	}
}

// TestDiffOfNothing: a path that names nothing is told from one that did not
// change, with the nearest that did.
func TestDiffOfNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	a.commit("prices/rule.go", "1\n")
	write(t, a.path, "prices/new.go", "n\n")
	for path, hint := range map[string]string{
		"prices/rul.go": `did you mean "prices/rule.go"?`, "nowhere": "from the root of the repository", "prices/rule.go/x": "rule.go", "*": "--stat lists",
		":(top)README.md": "root", "-x": "root", "caf\xe9": "root", strings.Repeat("x/", 2000) + "x": "root", "prices/r\nx": "root",
	} {
		for _, paths := range [][]string{{path}, {"README.md", path, "prices"}} {
			_, err := l.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{Paths: paths, Stat: true})
			if cw.ErrorCode(err) != cw.CodeNotFound || !strings.Contains(err.Error(), "nothing is called") || !strings.Contains(cw.ErrorHint(err), hint) {
				t.Errorf("%.60q: %.200v (%s)", paths, err, cw.ErrorHint(err))
			}
		}
	}
	for _, paths := range [][]string{{""}, {"/etc"}, {".."}, {"../x"}, {"a/../../x"}, {"a\x00b"}, {strings.Repeat("x", cw.DiffPathLenMax+1)}, make([]string, cw.DiffPathsMax+1)} {
		if _, err := l.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{Paths: paths}); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("%.60q: %v", paths, err)
		}
		if _, err := l.m.DiffCommits(ctx(t), l.p, a.req.Base.Commit, a.req.Base.Commit, cw.DiffRequest{Paths: paths}); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("of commits, %.60q: %v", paths, err)
		}
	}
	if _, err := l.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{Against: "heads"}); cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(cw.ErrorHint(err), "did you mean head?") {
		t.Errorf("a side that is none: %v", err)
	}
	if _, err := l.m.Diff(ctx(t), a.lookRequest(), strings.Repeat("ab", 20), cw.DiffRequest{}); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("against a commit that is not there: %v", err)
	}
}

// TestDiffOfRenames: a file that was renamed is one change under both of its
// paths, and what git cannot count is told.
func TestDiffOfRenames(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	start := l.initiative("goal").begin()
	text := manyLines(1, 30)
	was := l.commitOn([]string{start}, map[string]string{"old/a": text, "gone": "1\n2\n", "bin": "\x00\x01"})
	now := l.commitOn([]string{was}, map[string]string{"old/a": "", "new/a": text + "more\n", "gone": "", "bin": "\x00\x02"})
	rename := cw.FileChange{Path: "new/a", From: "old/a", Additions: 1}
	for _, tt := range []struct {
		paths []string
		want  []cw.FileChange
	}{
		{nil, []cw.FileChange{{Path: "bin", Binary: true}, {Path: "gone", Deletions: 2}, rename}},
		{[]string{"old/a"}, []cw.FileChange{rename}},
		{[]string{"new"}, []cw.FileChange{rename}},
		{[]string{"new", "old"}, []cw.FileChange{rename}},
		{[]string{"gone", "bin"}, []cw.FileChange{{Path: "bin", Binary: true}, {Path: "gone", Deletions: 2}}},
	} {
		d, err := l.m.DiffCommits(ctx(t), l.p, was, now, cw.DiffRequest{Paths: tt.paths})
		if diff := cmp.Diff(tt.want, d.Files); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", tt.paths, err, diff)
		}
		if strings.Count(d.Patch, "diff --git") != len(tt.want) || strings.Contains(d.Patch, "rename from old/a") != slices.Contains(tt.want, rename) {
			t.Errorf("%q:\n%s", tt.paths, d.Patch)
		}
	}
}

// TestDiffAgainst: compared with a branch, work is what that has not, since both
// parted; what the branch got meanwhile, and what the work took over from it, is
// not.
func TestDiffAgainst(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	base := a.req.Base.Commit
	a.commit("mine.txt", "mine\n")
	theirs := l.commitOn([]string{base}, map[string]string{"theirs.txt": "theirs\n"})
	ask := func(against string) cw.Diff {
		t.Helper()
		d, err := l.m.Diff(ctx(t), a.lookRequest(), against, cw.DiffRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := ask(theirs); !slices.Equal(changedIn(d), []string{"mine.txt"}) || d.BaseCommit != base || len(d.Commits) != 1 {
		t.Errorf("before it took over: %+v", d)
	}
	git(t, a.path, "merge", "-q", "--no-edit", theirs)
	if d := ask(""); !slices.Equal(changedIn(d), []string{"mine.txt", "theirs.txt"}) || len(d.Commits) != 3 {
		t.Errorf("since its base: %+v", d)
	}
	if d := ask(theirs); !slices.Equal(changedIn(d), []string{"mine.txt"}) || d.BaseCommit != theirs || len(d.Commits) != 2 || strings.Contains(d.Patch, "theirs") {
		t.Errorf("after it took over: %+v", d)
	}
	head := git(t, a.path, "rev-parse", "HEAD")
	merged := l.commitOn([]string{theirs, head}, map[string]string{"mine.txt": "mine\n"})
	if d := ask(merged); len(d.Files)+len(d.Commits) > 0 || d.Patch != "" || d.BaseCommit != head || d.Commits == nil || d.Files == nil {
		t.Errorf("after it was merged: %+v", d)
	}
	if removed, why, err := l.m.RemoveClean(ctx(t), a.lookRequest()); !removed || err != nil {
		t.Fatalf("%s, %v", why, err)
	}
	if d := ask(theirs); !slices.Equal(changedIn(d), []string{"mine.txt"}) {
		t.Errorf("without a worktree: %+v", d)
	}
}
