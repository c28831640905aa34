package worktree

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTree(t *testing.T) {
	t.Parallel()
	got, err := parseTree([]byte("100644 blob " + zeroOne + "\ta\tb\n\xff\x00160000 commit " + zeroOne + "\tlib\x00"))
	want := map[string]entry{"a\tb\n\xff": {modeFile, zeroOne}, "lib": {modeGitlink, zeroOne}}
	if err != nil || !cmp.Equal(want, got, cmp.AllowUnexported(entry{})) {
		t.Errorf("%v %v", got, err)
	}
	for _, bad := range []string{"x", "100644 blob " + zeroOne, "100644 blob short\ta", "blob " + zeroOne + "\ta"} {
		if _, err := parseTree([]byte(bad)); err == nil {
			t.Errorf("%q is understood", bad)
		}
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 blob " + zeroOne + "\ta\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		tree, err := parseTree(in)
		if err != nil {
			return
		}
		for name, e := range tree {
			if strings.Contains(name, "\x00") || !fullID().MatchString(e.id) {
				t.Errorf("%q %+v", name, e)
			}
		}
	})
}

// FuzzSnapshotNote: an agent can write any message; what is read from it names
// nothing outside of the mirror, and what we write comes back.
func FuzzSnapshotNote(f *testing.F) {
	f.Add("head: "+zeroOne+"\nbranch: refs/heads/x\nmissing: \"a\\n\"\n", "a\nb\xff")
	f.Add("branch: ../../x\nhead: -x\n", "")
	f.Fuzz(func(t *testing.T, text, path string) {
		n := parseSnapshotNote(text)
		if n.head != "" && !fullID().MatchString(n.head) || n.branch != "" && !safeRef(n.branch) || n.staged != "" && !fullID().MatchString(n.staged) {
			t.Errorf("%+v", n)
		}
		ours := snapshotNote{head: zeroOne, branch: "refs/heads/agent/x", staged: zeroOne, under: "a merge", missing: []string{path}}
		if got := parseSnapshotNote(ours.text()); got.head != ours.head || got.branch != ours.branch || got.under != ours.under || !cmp.Equal(got.missing, ours.missing) {
			t.Errorf("%+v, want %+v", got, ours)
		}
	})
}

func TestKnownCache(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"node_modules/": true, "a/node_modules/": true, "a/node_modules/b.js": true, "node_modules": false,
		"target/": true, "src/target.rs": false, "vendor/bundle/": true, "vendor/": false, "vendor/x/bundle/": false,
		"build/": false, "dist/": false, "a.pyc": true, ".DS_Store": true, "sub/.coverage": true, ".env": false, "a.log": false,
		".cache/x/y": true, "x.cache": false,
	} {
		if knownCache(path) != want {
			t.Errorf("%q: %v", path, !want)
		}
	}
}

func TestStagedOnly(t *testing.T) {
	t.Parallel()
	two := strings.Repeat("2", 40)
	out := "100644 " + zeroOne + " 0\tknown\x00100644 " + two + " 0\tnew\x00100755 " + two + " 2\tboth\x00160000 " + two + " 0\tlib\x00broken\x00"
	got := stagedOnly([]byte(out), map[string]bool{zeroOne: true})
	want := map[string]entry{"new": {modeFile, two}, "both~2": {modeExec, two}}
	if !cmp.Equal(want, got, cmp.AllowUnexported(entry{})) {
		t.Errorf("%v", got)
	}
}
