package instructions

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes files in a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOrder(t *testing.T) {
	t.Parallel()
	checkedIn := map[string]string{
		"CLAUDE.md": "one", ".claude/CLAUDE.md": "two", "AGENTS.md": " one\n", ".claude/AGENTS.md": "four", ".github/AGENTS.md": "five",
		".claude/rules/b.md": "b", ".claude/rules/a.md": "a", ".claude/rules/notes.txt": "no", ".claude/rules/deep/c.md": "no",
		"docs/AGENTS.md": "no",
	}
	home := tree(t, map[string]string{".claude/CLAUDE.md": "mine", ".claude/AGENTS.md": "", ".claude/rules/z.md": "no"})
	checkout := tree(t, map[string]string{"CLAUDE.local.md": "private", "CLAUDE.md": "changed, not committed"})
	got, notes := Discover(Places{Home: home, Projects: []ProjectPlaces{{Name: "shop", Tree: tree(t, checkedIn), Checkout: checkout}}}, nil)
	want := []File{
		{Kind: User, Name: "~/.claude/CLAUDE.md", Text: "mine"},
		{Kind: Project, Name: "CLAUDE.md", Text: "one"}, // AGENTS.md says the same
		{Kind: Project, Name: ".claude/CLAUDE.md", Text: "two"},
		{Kind: Project, Name: ".claude/AGENTS.md", Text: "four"},
		{Kind: Project, Name: ".github/AGENTS.md", Text: "five"},
		{Kind: Private, Name: "CLAUDE.local.md", Text: "private"},
		{Kind: Project, Name: ".claude/rules/a.md", Text: "a"},
		{Kind: Project, Name: ".claude/rules/b.md", Text: "b"},
	}
	if diff := cmp.Diff(want, got); diff != "" || notes != nil {
		t.Errorf("notes %q, (-want +got):\n%s", notes, diff)
	}
}

func TestSkipped(t *testing.T) {
	t.Parallel()
	shop := ProjectPlaces{Name: "shop", Tree: tree(t, map[string]string{"CLAUDE.md": "one", "AGENTS.md": "two"})}
	web := ProjectPlaces{Name: "web", Tree: tree(t, map[string]string{"CLAUDE.md": "three", "AGENTS.md": "two"})}
	skip := func(name string) bool { return name == "CLAUDE.md" }
	got, _ := Discover(Places{Projects: []ProjectPlaces{shop, web}}, skip)
	// Names tell projects apart where there are several; the same text comes once.
	if diff := cmp.Diff([]File{{Kind: Project, Name: "shop/AGENTS.md", Text: "two"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"CLAUDE.md":         strings.Repeat("é", FileMax), // twice what is taken
		".claude/CLAUDE.md": strings.Repeat("b", FileMax),
		"AGENTS.md":         strings.Repeat("c", FileMax-10),
		".claude/AGENTS.md": strings.Repeat("d", 100),
		".github/AGENTS.md": "late",
	}
	got, notes := Discover(Places{Projects: []ProjectPlaces{{Name: "shop", Tree: tree(t, files)}}}, nil)
	total := 0
	for _, f := range got {
		total += len(f.Text)
	}
	if len(got) != 5 || total > TotalMax {
		t.Fatalf("%d files with %d bytes", len(got), total)
	}
	if f := got[0]; len(f.Text) != FileMax || f.Cut != FileMax || strings.Contains(f.Text, "\uFFFD") {
		t.Errorf("the first has %d bytes, %d cut", len(f.Text), f.Cut)
	}
	if f := got[3]; f.Text != strings.Repeat("d", 10) || f.Cut != 90 {
		t.Errorf("what did not fit has %q, %d cut", f.Text, f.Cut)
	}
	if f := got[4]; f.Text != "" || f.Cut != 4 { // it is named all the same
		t.Errorf("what came too late has %q, %d cut", f.Text, f.Cut)
	}
	if len(notes) != 3 || !strings.Contains(notes[0], "CLAUDE.md has 65536 bytes; the first 32768 are used") {
		t.Errorf("notes %q", notes)
	}
}

func TestWhatIsNoFile(t *testing.T) {
	t.Parallel()
	outside := tree(t, map[string]string{"secret": "secret"})
	dir := tree(t, map[string]string{"docs/agents.md": "linked", ".claude/AGENTS.md/file": "a folder", ".claude/rules": "a file"})
	for name, target := range map[string]string{"AGENTS.md": "docs/agents.md", "CLAUDE.md": filepath.Join(outside, "secret")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	checkout := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(checkout, privateFile), 0o600); err != nil {
		t.Fatal(err)
	}
	home := tree(t, map[string]string{".claude/x": ""})
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(home, ".claude/CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	got, notes := Discover(Places{Home: home, Projects: []ProjectPlaces{{Name: "shop", Tree: dir, Checkout: checkout}}}, nil)
	want := []File{{Kind: User, Name: "~/.claude/CLAUDE.md", Text: "secret"}, {Kind: Project, Name: "AGENTS.md", Text: "linked"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	said := strings.Join(notes, "\n")
	for _, want := range []string{"CLAUDE.md could not be read", ".claude/AGENTS.md could not be read: it is not a regular file", "CLAUDE.local.md could not be read: it is not a regular file"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q:\n%s", want, said)
		}
	}
	if _, notes := Discover(Places{Projects: []ProjectPlaces{{Name: "gone", Tree: filepath.Join(outside, "none")}}}, nil); len(notes) != 1 {
		t.Errorf("a project without a tree: %q", notes)
	}
}

func TestNoText(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"CLAUDE.md": "a\x00b\xff\xfec", "AGENTS.md": " \n\t"})
	got, notes := Discover(Places{Projects: []ProjectPlaces{{Name: "shop", Tree: dir}}}, nil)
	if len(got) != 1 || got[0].Text != "ab?c" || notes != nil {
		t.Errorf("%+v, %q", got, notes)
	}
}

// TestNoTextIsCut: what is no text does not make a file longer than it is, so
// that what is cut is told.
func TestNoTextIsCut(t *testing.T) {
	t.Parallel()
	odd := strings.Repeat("a\xff", FileMax)
	dir := tree(t, map[string]string{"CLAUDE.md": odd[:FileMax], "AGENTS.md": "b" + odd[1:]})
	got, notes := Discover(Places{Projects: []ProjectPlaces{{Name: "shop", Tree: dir}}}, nil)
	if len(got) != 2 || got[0].Cut != 0 || len(got[0].Text) != FileMax || got[1].Cut != FileMax || len(notes) != 1 {
		t.Errorf("%d files, notes %q", len(got), notes)
		for _, f := range got {
			t.Errorf("%s: %d bytes, %d cut", f.Name, len(f.Text), f.Cut)
		}
	}
}

// TestReadAlready: the text of a file that the CLI reads by itself is not told
// again out of another file, before it or behind it: one is often a link to the
// other.
func TestReadAlready(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"AGENTS.md": "one\n", ".github/AGENTS.md": "two", ".claude/AGENTS.md": "one"})
	if err := os.Symlink("AGENTS.md", filepath.Join(dir, "CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	for _, itself := range []string{"CLAUDE.md", "AGENTS.md", ".claude/AGENTS.md"} {
		got, notes := Discover(Places{Projects: []ProjectPlaces{{Name: "shop", Tree: dir}}}, func(name string) bool { return name == itself })
		if diff := cmp.Diff([]File{{Kind: Project, Name: ".github/AGENTS.md", Text: "two"}}, got); diff != "" || notes != nil {
			t.Errorf("%s is read already: notes %q, (-want +got):\n%s", itself, notes, diff)
		}
	}
}

// TestPrivateCheckedIn: a repository cannot speak as the user, nor reach the
// user's files by a link of that name. A copy that cw made is the user's.
func TestPrivateCheckedIn(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(tree(t, map[string]string{"secret": "secret"}), "secret")
	link := func(dir string) string {
		if err := os.Symlink(secret, filepath.Join(dir, privateFile)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	file := map[string]string{privateFile: "words"}
	copied := func(name string) bool { return name == privateFile }
	for name, tt := range map[string]struct {
		places ProjectPlaces
		want   []File
		note   string
	}{
		"a file":          {ProjectPlaces{Tree: tree(t, file), Checkout: tree(t, file)}, []File{{Kind: Project, Name: privateFile, Text: "words"}}, ""},
		"a link":          {ProjectPlaces{Tree: link(t.TempDir()), Checkout: link(t.TempDir())}, nil, "could not be read"},
		"a copy":          {ProjectPlaces{Tree: tree(t, file), Checkout: tree(t, file), Copied: copied}, []File{{Kind: Private, Name: privateFile, Text: "words"}}, ""},
		"the user's link": {ProjectPlaces{Tree: t.TempDir(), Checkout: link(t.TempDir())}, []File{{Kind: Private, Name: privateFile, Text: "secret"}}, ""},
	} {
		got, notes := Discover(Places{Projects: []ProjectPlaces{tt.places}}, nil)
		if diff := cmp.Diff(tt.want, got); diff != "" || !strings.Contains(strings.Join(notes, "\n"), tt.note) {
			t.Errorf("%s: notes %q, (-want +got):\n%s", name, notes, diff)
		}
	}
}

// TestImports: what a file names that the CLI reads, it reads, too, and is not
// told; in what is told, a file that is looked for is named without its sign.
func TestImports(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"CLAUDE.md": "See @./AGENTS.md and `@.claude/CLAUDE.md`.\n```\n@.claude/AGENTS.md\n```", ".claude/CLAUDE.md": "me@CLAUDE.md\n@rules/a.md @../docs/x.md",
		"AGENTS.md": "two\n@.github/AGENTS.md\n@.claude/AGENTS.md.", ".claude/AGENTS.md": "three", ".github/AGENTS.md": "@~/.claude/CLAUDE.md", ".claude/rules/a.md": "a",
	})
	places := Places{Home: tree(t, map[string]string{".claude/CLAUDE.md": "mine"}), Projects: []ProjectPlaces{{Name: "shop", Tree: dir}}}
	for _, tt := range []struct {
		imports bool
		reads   string
		want    []string
	}{
		{true, "CLAUDE.md", []string{"mine", "me@CLAUDE.md\nrules/a.md @../docs/x.md", "three", "a"}},
		{false, "CLAUDE.md", []string{"mine", "me@CLAUDE.md\nrules/a.md @../docs/x.md", "two\n.github/AGENTS.md\n.claude/AGENTS.md.", "three", "~/.claude/CLAUDE.md", "a"}},
	} {
		places.Imports = tt.imports
		files, _ := Discover(places, func(name string) bool { return name == tt.reads })
		var got []string
		for _, f := range files {
			got = append(got, f.Text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("imports %t (-want +got):\n%s", tt.imports, diff)
		}
	}
}
