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

const (
	lfsOne = "version https://git-lfs.github.com/spec/v1\noid sha256:1111111111111111111111111111111111111111111111111111111111111111\nsize 1\n"
	lfsTwo = "version https://git-lfs.github.com/spec/v1\noid sha256:2222222222222222222222222222222222222222222222222222222222222222\nsize 2\n"
	lfsOld = "version https://git-lfs.github.com/spec/v1\noid sha256:0000000000000000000000000000000000000000000000000000000000000000\nsize 3\n"
)

func manyLines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestTryMerge(t *testing.T) {
	t.Parallel()
	ids := func(n string) string { return "mode 160000 " + strings.Repeat(n, 40) }
	tests := []struct {
		name               string
		base, ours, theirs map[string]string
		conflicts          map[string]string // path → kind
		text               string            // in the first
	}{
		{"apart", nil, map[string]string{"a": "a\n"}, map[string]string{"b": "b\n"}, nil, ""},
		{"the same", nil, map[string]string{"a": "a\n"}, map[string]string{"a": "a\n"}, nil, ""},
		{
			"contents", map[string]string{"f": manyLines(1, 20)},
			map[string]string{"f": manyLines(1, 9) + "ours\n" + manyLines(11, 20)}, map[string]string{"f": manyLines(1, 9) + "theirs\n" + manyLines(11, 20)},
			map[string]string{"f": "contents"}, "@@ line 7 @@\nline 7\nline 8\nline 9\n<<<<<<< ",
		},
		{"both added", nil, map[string]string{"f": "ours\n"}, map[string]string{"f": "theirs\n"}, map[string]string{"f": "contents"}, "ours\n=======\ntheirs\n"},
		{"binary", map[string]string{"f": "\x00a"}, map[string]string{"f": "\x00b"}, map[string]string{"f": "\x00c"}, map[string]string{"f": "binary"}, ""},
		{"deleted", map[string]string{"f": "f\n"}, map[string]string{"f": ""}, map[string]string{"f": "g\n"}, map[string]string{"f": "modify/delete"}, "deleted in"},
		{"renamed by one", map[string]string{"f": manyLines(1, 20)}, map[string]string{"f": "", "g": manyLines(1, 20)}, map[string]string{"f": manyLines(1, 21)}, nil, ""},
		{
			"renamed by both", map[string]string{"f": manyLines(1, 20)}, map[string]string{"f": "", "g": manyLines(1, 20)}, map[string]string{"f": "", "h": manyLines(1, 20)},
			map[string]string{"f": "rename/rename", "g": "rename/rename", "h": "rename/rename"}, "renamed to g",
		},
		{"renamed alike", map[string]string{"f": manyLines(1, 20)}, map[string]string{"f": "", "g": manyLines(1, 20)}, map[string]string{"f": "", "g": manyLines(1, 20)}, nil, ""},
		{"mode", map[string]string{"f": "f\n"}, map[string]string{"f": "mode 100755 f\n"}, map[string]string{"f": "g\n"}, nil, ""},
		{"link for a file", map[string]string{"f": "f\n"}, map[string]string{"f": "mode 120000 x"}, map[string]string{"g": "g\n"}, nil, ""},
		{"link against text", map[string]string{"f": "f\n"}, map[string]string{"f": "mode 120000 x"}, map[string]string{"f": "g\n"}, map[string]string{"f": "distinct modes"}, ""},
		{"case only", map[string]string{"f": manyLines(1, 20)}, map[string]string{"f": "", "F": manyLines(1, 20)}, map[string]string{"f": manyLines(1, 21)}, nil, ""},
		{"folder for a file", nil, map[string]string{"f": "f\n"}, map[string]string{"f/in": "in\n"}, map[string]string{"f": "file/directory"}, ""},
		{"submodule by one", map[string]string{"s": ids("1")}, map[string]string{"s": ids("2")}, map[string]string{"f": "f\n"}, nil, ""},
		{"submodule by both", map[string]string{"s": ids("1")}, map[string]string{"s": ids("2")}, map[string]string{"s": ids("3")}, map[string]string{"s": "submodule not initialized"}, ""},
		{"pointers of git-lfs", map[string]string{".gitattributes": "*.psd filter=lfs merge=lfs -text\n", "f.psd": lfsOld}, map[string]string{"f.psd": lfsOne}, map[string]string{"f.psd": lfsTwo}, map[string]string{"f.psd": "contents"}, "oid sha256:1111"},
		{"union", map[string]string{".gitattributes": "LOG merge=union\n", "LOG": "1\n"}, map[string]string{"LOG": "1\n2\n"}, map[string]string{"LOG": "1\n3\n"}, nil, ""},
		{"union below", map[string]string{"d/.gitattributes": "LOG merge=union\n", "d/LOG": "1\n"}, map[string]string{"d/LOG": "1\n2\n"}, map[string]string{"d/LOG": "1\n3\n"}, nil, ""},
		{"not to be merged", map[string]string{".gitattributes": "*.lock -merge\n", "a.lock": manyLines(1, 20)}, map[string]string{"a.lock": manyLines(1, 21)}, map[string]string{"a.lock": manyLines(0, 20)}, map[string]string{"a.lock": "binary"}, ""},
		{"a driver nobody has", map[string]string{".gitattributes": "f merge=evil\n", "f": "1\n"}, map[string]string{"f": "2\n"}, map[string]string{"f": "3\n"}, map[string]string{"f": "contents"}, "2\n=======\n3\n"},
		{"line ends", map[string]string{".gitattributes": "* text eol=crlf\n", "f": manyLines(1, 20)}, map[string]string{"f": manyLines(1, 21)}, map[string]string{"f": manyLines(0, 20)}, nil, ""},
		{"attributes are a link", map[string]string{".gitattributes": "mode 120000 /etc/passwd", "f": "1\n"}, map[string]string{"a": "2\n"}, map[string]string{"b": "3\n"}, nil, ""},
		{"long markers", map[string]string{".gitattributes": "f conflict-marker-size=20\n", "f": "1\n"}, map[string]string{"f": "2\n"}, map[string]string{"f": "<<<<<<< not mine\n3\n"}, map[string]string{"f": "contents"}, strings.Repeat("<", 20) + " "},
	}
	l := newLab(t)
	l.ensure()
	start := l.initiative("goal").begin()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			base := l.commitOn([]string{start}, test.base)
			ours, theirs := l.commitOn([]string{base}, test.ours), l.commitOn([]string{base}, test.theirs)
			req := l.mergeRequest(ours, theirs)
			got, err := l.m.TryMerge(ctx(t), req)
			if err != nil {
				t.Fatal(err)
			}
			again, err := l.m.TryMerge(ctx(t), req)
			if d := cmp.Diff(got, again); err != nil || d != "" {
				t.Errorf("another answer: %v\n%s", err, d)
			}
			kinds := map[string]string{}
			for _, c := range got.Conflicts {
				path, _, _ := strings.Cut(c.Path, "~")
				kinds[path] = c.Kind
			}
			if len(test.conflicts) == 0 {
				if parents := git(t, l.mirror(), "log", "-1", "--format=%P %an %ae %cn %at %ct %B", got.Commit); len(kinds) > 0 ||
					parents != ours+" "+theirs+" Ada ada@example.com Ada 1700000000 1700000000 Merge it\n" {
					t.Errorf("%q %v", parents, kinds)
				}
				if tree := git(t, l.mirror(), "rev-parse", got.Commit+"^{tree}"); tree != got.Tree {
					t.Errorf("tree %s, not %s", got.Tree, tree)
				}
				return
			}
			if d := cmp.Diff(test.conflicts, kinds); got.Commit != "" || d != "" {
				t.Errorf("commit %q\n%s", got.Commit, d)
			}
			if len(got.Conflicts) > 0 && !strings.Contains(got.Conflicts[0].Text, test.text) {
				t.Errorf("text %q", got.Conflicts[0].Text)
			}
			if test.name == "binary" && got.Conflicts[0].Text != "" {
				t.Errorf("text %q of a binary file", got.Conflicts[0].Text)
			}
		})
	}
	if got := l.takeRestored(); got != nil {
		t.Errorf("restored %v", got)
	}
}

func TestTryMergeShapes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	start := l.initiative("goal").begin()
	next := l.commitOn([]string{start}, map[string]string{"a": "a\n"})
	side := l.commitOn([]string{start}, map[string]string{"b": "b\n"})
	same := l.commitOn([]string{start}, map[string]string{"a": "a\n", "c": "c\n"})
	same = l.commitOn([]string{same}, map[string]string{"c": ""})
	merge := func(onto, head string, s cw.MergeStrategy) MergeResult {
		t.Helper()
		req := l.mergeRequest(onto, head)
		req.Strategy = s
		r, err := l.m.TryMerge(ctx(t), req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	parents := func(id string) string { return git(t, l.mirror(), "log", "-1", "--format=%P", id) }

	if r := merge(next, start, cw.MergeCommit); !r.UpToDate || r.Commit != next || r.Tree != git(t, l.mirror(), "rev-parse", next+"^{tree}") {
		t.Errorf("of an ancestor: %+v", r)
	}
	if r := merge(next, next, cw.MergeSquash); !r.UpToDate || r.Commit != next {
		t.Errorf("of itself: %+v", r)
	}
	if r := merge(start, next, cw.MergeCommit); !r.FastForward || r.UpToDate || parents(r.Commit) != start+" "+next {
		t.Errorf("forward: %+v", r)
	}
	if r := merge(next, side, cw.MergeSquash); r.FastForward || parents(r.Commit) != next {
		t.Errorf("squash: %+v", r)
	} else if again := merge(r.Commit, side, cw.MergeSquash); !again.UpToDate {
		t.Errorf("squashed again: %+v", again)
	}
	if r := merge(next, same, cw.MergeCommit); r.UpToDate || parents(r.Commit) != next+" "+same {
		t.Errorf("that changes nothing: %+v", r)
	}

	// Two merge bases that conflict with each other.
	x := l.commitOn([]string{start}, map[string]string{"f": "x\n"})
	y := l.commitOn([]string{start}, map[string]string{"f": "y\n"})
	one := l.commitOn([]string{x, y}, map[string]string{"f": "x\n"})
	two := l.commitOn([]string{y, x}, map[string]string{"f": "y\n"})
	if r := merge(one, two, cw.MergeCommit); len(r.Conflicts) != 1 || !strings.Contains(r.Conflicts[0].Text, "x\n=======\ny\n") {
		t.Errorf("criss-cross: %+v", r)
	}
}

func TestTryMergeRefuses(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	start := l.initiative("goal").begin()
	alone := git(t, l.mirror(), "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "alone", start+"^{tree}")
	tests := map[string]struct {
		change func(*MergeRequest)
		code   cw.Code
	}{
		"not there":      {func(r *MergeRequest) { r.Head = strings.Repeat("ab", 20) }, cw.CodeNotFound},
		"a tree":         {func(r *MergeRequest) { r.Head = git(t, l.mirror(), "rev-parse", start+"^{tree}") }, cw.CodeNotFound},
		"no relation":    {func(r *MergeRequest) { r.Head = alone }, cw.CodeRefused},
		"like an option": {func(r *MergeRequest) { r.Head = "--help" }, cw.CodeInternal},
		"strategy":       {func(r *MergeRequest) { r.Strategy = "octopus" }, cw.CodeInvalid},
		"no mirror":      {func(r *MergeRequest) { r.Project.Mirror = "other.git" }, cw.CodeNotFound},
	}
	for name, test := range tests {
		req := l.mergeRequest(start, start)
		test.change(&req)
		_, err := l.m.TryMerge(ctx(t), req)
		if cw.ErrorCode(err) != test.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	script := filepath.Join(t.TempDir(), "git")
	write(t, filepath.Dir(script), "git", "#!/bin/sh\necho git version 2.37.9\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := New(Options{ReposDir: l.m.repos, Git: script}).TryMerge(ctx(t), l.mergeRequest(start, start))
	wantCode(t, err, cw.CodeInvalid)
}

// TestConflictsAreBounded: many long conflicts give a short text.
func TestConflictsAreBounded(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	start := l.initiative("goal").begin()
	ours, theirs := map[string]string{}, map[string]string{}
	for i := range 40 {
		ours[fmt.Sprintf("f%02d", i)], theirs[fmt.Sprintf("f%02d", i)] = manyLines(1, 2000), manyLines(5000, 7000)
	}
	got, err := l.m.TryMerge(ctx(t), l.mergeRequest(l.commitOn([]string{start}, ours), l.commitOn([]string{start}, theirs)))
	if err != nil || len(got.Conflicts) != 40 {
		t.Fatalf("%d conflicts, %v", len(got.Conflicts), err)
	}
	sum := 0
	for _, c := range got.Conflicts {
		if len(c.Text) > conflictTextMax || c.Text != "" && !strings.HasSuffix(c.Text, "\n") {
			t.Errorf("%s has %d bytes", c.Path, len(c.Text))
		}
		sum += len(c.Text)
	}
	if sum > conflictsText || sum < conflictsText/2 {
		t.Errorf("%d bytes in all", sum)
	}
}

func TestHunks(t *testing.T) {
	t.Parallel()
	const onto, head = "aaaa", "bbbb"
	hunk := func(n int) string { return fmt.Sprintf("<<<<<<< aaaa\no%d\n=======\nt%d\n>>>>>>> bbbb\n", n, n) }
	tests := map[string][2]string{
		"none":            {"a\nb\n", ""},
		"at both ends":    {hunk(1), "@@ line 1 @@\n" + hunk(1)},
		"no line feed":    {"a\n" + strings.TrimSuffix(hunk(1), "\n"), "@@ line 1 @@\na\n" + hunk(1)},
		"far apart":       {manyLines(1, 5) + hunk(1) + manyLines(6, 20) + hunk(2), "@@ line 3 @@\n" + manyLines(3, 5) + hunk(1) + manyLines(6, 8) + "@@ line 23 @@\n" + manyLines(18, 20) + hunk(2)},
		"close":           {hunk(1) + manyLines(1, 4) + hunk(2), "@@ line 1 @@\n" + hunk(1) + manyLines(1, 4) + hunk(2)},
		"next":            {hunk(1) + hunk(2), "@@ line 1 @@\n" + hunk(1) + hunk(2)},
		"somebody else's": {"<<<<<<< HEAD\nx\n>>>>>>> mine\n", ""},
		"never ends":      {"<<<<<<< aaaa\nx\n", "@@ line 1 @@\n<<<<<<< aaaa\nx\n"},
		"binary":          {"\x00" + hunk(1), ""},
		"not UTF-8":       {"\xff\n" + hunk(1), "@@ line 1 @@\n�\n" + hunk(1)},
	}
	for name, test := range tests {
		if d := cmp.Diff(test[1], hunks([]byte(test[0]), onto, head)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

func FuzzParseMergeTree(f *testing.F) {
	tree := strings.Repeat("a", 40)
	f.Add([]byte(tree + "\x00"))
	f.Add([]byte(tree + "\x00100644 " + tree + " 1\tf\x00\x001\x00f\x00CONFLICT (contents)\x00text\n\x00"))
	f.Add([]byte(tree + "\x00\x009\x00f\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseMergeTree(data)
		if err != nil {
			return
		}
		for _, path := range o.conflicted {
			if !slices.ContainsFunc(o.list(), func(c cw.MergeConflict) bool { return c.Path == path }) && len(o.list()) < conflictsMax {
				t.Errorf("%q is not told", path)
			}
		}
	})
}

func TestDiffCommits(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	start := l.initiative("goal").begin()
	next := l.commitOn([]string{start}, map[string]string{"a": "a\n"})
	side := l.commitOn([]string{start}, map[string]string{"b": "b\nb\n"})
	d, err := l.m.DiffCommits(ctx(t), l.p, next, side, cw.DiffRequest{})
	if err != nil || d.BaseCommit != start || d.HeadCommit != side || d.Stat != (cw.Stat{Files: 1, Additions: 2}) ||
		len(d.Commits) != 1 || d.Commits[0].ID != side || !strings.Contains(d.Patch, "+b\n") || strings.Contains(d.Patch, "a/a") || d.Project != "app" {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = l.m.DiffCommits(ctx(t), l.p, next, side, cw.DiffRequest{Stat: true}); err != nil || d.Patch != "" || d.Stat.Files != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = l.m.DiffCommits(ctx(t), l.p, next, next, cw.DiffRequest{}); err != nil || d.Patch != "" || len(d.Commits) != 0 || d.Commits == nil {
		t.Errorf("%+v, %v", d, err)
	}
	_, err = l.m.DiffCommits(ctx(t), l.p, next, strings.Repeat("ab", 20), cw.DiffRequest{})
	wantCode(t, err, cw.CodeNotFound)
}

func TestCheckReserved(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	start := l.initiative("goal").begin()
	good := l.commitOn([]string{start}, map[string]string{".cw/prompts/x.md": "x\n", "src/.cw/input/x": "x\n", "x": "x\n"})
	bad := l.commitOn([]string{good}, map[string]string{".cw/output/signal.json": "{}", ".cw/input/a b": "1", ".cw/tmp/ä": "2"})
	undone := l.commitOn([]string{bad}, map[string]string{".cw/output/signal.json": "", ".cw/input/a b": "", ".cw/tmp/ä": ""})
	merged := l.commitOn([]string{good, undone}, nil)
	evil := l.commitOn([]string{good, start}, map[string]string{".cw/tmp/y": "y"})
	all := []string{".cw/input/a b", ".cw/output/signal.json", ".cw/tmp/ä"}
	for _, test := range []struct {
		name, base, head string
		want             []string
	}{
		{"none", start, good, nil},
		{"some", start, bad, all},
		{"taken back", start, undone, all},
		{"below a merge", start, merged, all},
		{"in a merge", start, evil, []string{".cw/tmp/y"}},
		{"of the base", undone, l.commitOn([]string{undone}, map[string]string{"x": "y\n"}), nil},
	} {
		got, err := l.m.CheckReserved(ctx(t), l.p, test.base, test.head)
		if d := cmp.Diff(test.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", test.name, err, d)
		}
	}
}

// TestContains: a commit holds itself and what it came from, and nothing else.
func TestContains(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	start := l.initiative("goal").begin()
	one, other := l.commitOn([]string{start}, map[string]string{"x": "1"}), l.commitOn([]string{start}, map[string]string{"y": "1"})
	both, missing := l.commitOn([]string{one, other}, nil), strings.Repeat("1", 40)
	for _, test := range []struct {
		commit, ancestor string
		want             bool
	}{
		{one, one, true}, {one, start, true}, {both, other, true}, {start, one, false}, {one, other, false}, {one, missing, false}, {missing, one, false},
	} {
		if got, err := l.m.Contains(ctx(t), l.p, test.commit, test.ancestor); got != test.want || err != nil {
			t.Errorf("%.9s in %.9s: %v, %v", test.ancestor, test.commit, got, err)
		}
	}
}

// TestShallow merges, compares and lands where history is cut off.
func TestShallow(t *testing.T) {
	t.Parallel()
	full := newRepo(t)
	for range 3 {
		git(t, full, "commit", "-q", "--allow-empty", "-m", "more")
	}
	dir := t.TempDir() + "/shallow"
	git(t, "/", "clone", "-q", "--depth=2", "file://"+full, dir)
	l := newLabFor(t, dir)
	start := l.initiative("goal").begin()
	next := l.commitOn([]string{start}, map[string]string{"a": "a\n"})
	side := l.commitOn([]string{start}, map[string]string{"b": "b\n"})
	r, err := l.m.TryMerge(ctx(t), l.mergeRequest(next, side))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := l.m.DiffCommits(ctx(t), l.p, start, r.Commit, cw.DiffRequest{}); err != nil || len(d.Commits) != 3 {
		t.Errorf("%+v, %v", d, err)
	}
	if out, err := l.m.Land(ctx(t), l.landRequest(r.Commit)); err != nil || out.Commits != 3 || git(t, dir, "rev-parse", "main") != r.Commit {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestTryMergeSHA256(t *testing.T) {
	t.Parallel()
	l := newLabFor(t, newRepo(t, "--object-format=sha256"))
	start := l.initiative("goal").begin()
	r, err := l.m.TryMerge(ctx(t), l.mergeRequest(l.commitOn([]string{start}, map[string]string{"a": "a\n"}), l.commitOn([]string{start}, map[string]string{"b": "b\n"})))
	if err != nil || len(r.Commit) != 64 {
		t.Errorf("%+v, %v", r, err)
	}
	if out, err := l.m.Land(ctx(t), l.landRequest(r.Commit)); err != nil || out.After != r.Commit || read(t, l.repo+"/b") != "b\n" {
		t.Errorf("%+v, %v", out, err)
	}
}
