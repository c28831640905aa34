package providers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadsInPlaceOfOthers: files that a newer version reads where there are no others
// are known; of a version that is not known only what all of them read. The rows of the
// newer version were seen with claude 2.1.332.
func TestReadsInPlaceOfOthers(t *testing.T) {
	registry, problems := Load("")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	claude, err := registry.Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	const users, usersToo = "~/.claude/CLAUDE.md", "~/.claude/AGENTS.md"
	const old, latest = "2.1.197", "2.1.332"
	for _, tt := range []struct {
		version string
		away    bool // the tree is not below the home
		other   bool // the configuration directory is not in the home
		there   string
		want    string
	}{
		{old, true, false, "AGENTS.md", ""},
		{"2.1.276", true, false, "AGENTS.md", ""},
		{"2.1.277", true, false, "AGENTS.md", "AGENTS.md"},
		{"", true, false, "AGENTS.md", ""},
		{"soon", true, false, "AGENTS.md", ""},
		{latest, true, false, "AGENTS.md", "AGENTS.md"},
		{latest, true, false, "AGENTS.md CLAUDE.md", "CLAUDE.md"},
		{latest, true, false, "AGENTS.md .claude/CLAUDE.md", ".claude/CLAUDE.md"},
		{latest, true, false, "AGENTS.md CLAUDE.local.md", "CLAUDE.local.md"},
		{latest, true, false, "AGENTS.md .claude/rules/one.md", "AGENTS.md .claude/rules/one.md"},
		{latest, true, false, "AGENTS.md " + users, "AGENTS.md " + users},
		{latest, true, false, usersToo, ""},
		{latest, true, false, ".claude/AGENTS.md .github/AGENTS.md", ".claude/AGENTS.md"},
		{latest, true, false, "AGENTS.md .claude/AGENTS.md " + usersToo, "AGENTS.md .claude/AGENTS.md"},
		{latest, false, false, usersToo, usersToo},
		{latest, false, true, usersToo, usersToo},
		{old, false, false, usersToo, ""},
		{latest, false, false, usersToo + " CLAUDE.md", "CLAUDE.md"},
		{latest, false, false, users + " AGENTS.md", users + " AGENTS.md"},
		{latest, false, true, users + " AGENTS.md", users},
		{latest, false, false, users + " " + usersToo + " AGENTS.md", users + " " + usersToo + " AGENTS.md"},
		{latest, false, true, users + " " + usersToo + " AGENTS.md", users},
		{latest, false, false, usersToo + " AGENTS.md .claude/AGENTS.md", usersToo + " AGENTS.md .claude/AGENTS.md"},
	} {
		at := InstructionPlaces{Version: tt.version, Home: t.TempDir(), Own: !tt.other}
		at.Tree = filepath.Join(at.Home, "work", "tree")
		if tt.away {
			at.Tree = t.TempDir()
		}
		at.Cwd = at.Tree
		var got []string
		for _, name := range strings.Fields(tt.there) {
			file := at.place(name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range strings.Fields(tt.there) {
			if claude.Reads(at, name) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%+v: it reads %v", tt, got)
		}
	}
}

// TestReads: what a CLI reads by itself is known file by file: alternatives,
// folders of rules, files of its configuration directory, and those in folders
// above.
func TestReads(t *testing.T) {
	claude := Preset{
		InstructionFiles:  []string{"~/.claude/CLAUDE.md", "CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/*.md"},
		InstructionsAbove: true, Account: Account{ConfigHome: ".claude"},
	}
	other := Preset{
		InstructionFiles: []string{"~/.config/other/AGENTS.md | ~/.claude/CLAUDE.md", "AGENTS.md | CLAUDE.md"},
		Account:          Account{ConfigHome: ".local/share"},
	}
	const users, private, agents = "~/.claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"
	for _, tt := range []struct {
		what   string
		preset Preset
		there  []string // of the home, and of the tree
		name   string
		home   bool // the configuration directory is not in it
		away   bool // the tree is not below the home
		many   bool // it is started above several projects
		want   bool
	}{
		{what: "its configuration directory", preset: claude, there: []string{users}, name: users, away: true, want: true},
		{what: "nothing there", preset: claude, name: users},
		{what: "another configuration directory", preset: claude, there: []string{users}, name: users, home: true, away: true},
		{what: "above it all the same", preset: claude, there: []string{users}, name: users, home: true, want: true},
		{what: "above several projects", preset: claude, there: []string{users}, name: users, home: true, many: true, want: true},
		{what: "no file of a project's names", preset: claude, there: []string{"~/.claude/AGENTS.md"}, name: "~/.claude/AGENTS.md"},
		{what: "a rule", preset: claude, there: []string{".claude/rules/go.md"}, name: ".claude/rules/go.md", want: true},
		{what: "of one of several projects", preset: claude, there: []string{"CLAUDE.md"}, name: "CLAUDE.md", many: true},
		{what: "not among them", preset: claude, there: []string{private}, name: private},
		{what: "not of its configuration directory", preset: other, there: []string{users}, name: users, home: true, away: true, want: true},
		{what: "the first of the user's", preset: other, there: []string{users, "~/.config/other/AGENTS.md"}, name: users},
		{what: "the first of the project's", preset: other, there: []string{agents, "CLAUDE.md"}, name: agents, want: true},
		{what: "not the second", preset: other, there: []string{agents, "CLAUDE.md"}, name: "CLAUDE.md"},
		{what: "the second without the first", preset: other, there: []string{"CLAUDE.md"}, name: "CLAUDE.md", want: true},
	} {
		at := InstructionPlaces{Home: t.TempDir(), Own: !tt.home}
		at.Tree = filepath.Join(at.Home, "cw", "agent")
		if tt.away {
			at.Tree = t.TempDir()
		}
		at.Cwd = filepath.Join(at.Tree, "not", "yet")
		for _, name := range tt.there {
			file := at.place(name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if tt.many {
			at.Tree = ""
		}
		if got := tt.preset.Reads(at, tt.name); got != tt.want {
			t.Errorf("%s: %s is read: %t", tt.what, tt.name, got)
		}
	}
}
