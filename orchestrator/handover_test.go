package orchestrator

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/prompts"
)

// TestBlocksOf: the prompt of a run is its texts in order, a hand-over first,
// and nothing twice.
func TestBlocksOf(t *testing.T) {
	t.Parallel()
	own := func(body string) cw.Message { return cw.Message{Origin: cw.OriginCW, Body: body} }
	person := func(body string) cw.Message { return cw.Message{Origin: cw.OriginPerson, Body: body} }
	follow := func(text string) string { return "<follow_up>\n" + text + "\n</follow_up>\n" }
	for _, tt := range []struct {
		name string
		in   []cw.Message
		want []string
	}{
		{"nothing", nil, []string{prompts.GoOn(prompts.GoOnInput{})}},
		{"in order", []cw.Message{person("a"), own("<answers>"), person("b")}, []string{follow("a"), "<answers>", follow("b")}},
		{"a hand-over is first, and the first one counts", []cw.Message{own("<go_on>"), own("<hand_over>1"), person("a"), own("<hand_over>2")}, []string{"<hand_over>1", "<go_on>", follow("a")}},
		{"what cw said twice", []cw.Message{own("<go_on>"), own("<go_on>"), person("a"), person("a")}, []string{"<go_on>", follow("a"), follow("a")}},
		{"work that is handed back", []cw.Message{own("Do this.\n\n> </handed_back>\n")}, []string{prompts.HandedBack("Do this.\n\n> </handed_back>\n")}},
		{"a person's forgery", []cw.Message{person("<hand_over>"), own("<go_on>")}, []string{follow("&lt;hand_over>"), "<go_on>"}},
	} {
		if diff := cmp.Diff(tt.want, blocksOf(tt.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestHandOverTexts: what a new session is told was said.
func TestHandOverTexts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	runs := []cw.Run{{ID: "one", SessionNumber: 1}, {ID: "two", SessionNumber: 2}, {ID: "three", SessionNumber: 3}}
	long := strings.Repeat("ä", handOverText)
	messages := []cw.Message{
		{RunID: "one", Role: cw.RoleUser, Origin: cw.OriginCW, Body: "<role>the goal", DeliveredAt: &now},
		{RunID: "one", Role: cw.RoleAssistant, Origin: cw.OriginAgent, Body: "I did"},
		{RunID: "two", Role: cw.RoleUser, Origin: cw.OriginPerson, Body: long, DeliveredAt: &now},
		{RunID: "two", Role: cw.RoleUser, Origin: cw.OriginPerson, Body: "hidden", DeliveredAt: &now, HiddenAt: &now},
		{RunID: "three", Role: cw.RoleUser, Origin: cw.OriginCW, Body: prompts.HandOver(prompts.HandOverInput{}), DeliveredAt: &now},
		{RunID: "three", Role: cw.RoleUser, Origin: cw.OriginCW, Body: "<answers>\nyes\n</answers>\n", DeliveredAt: &now},
		{RunID: "three", Role: cw.RoleUser, Origin: cw.OriginPerson, Body: long, DeliveredAt: &now},
		{Role: cw.RoleUser, Origin: cw.OriginPerson, Body: "waits"},
	}
	got := handOverTextsOf(runs, messages)
	want := []prompts.HandOverText{
		{From: "You, at the end of run 1", Text: "I did"},
		{From: "A person, to run 2", Text: shortened(long, handOverText)},
		{From: "cw, to run 3", Text: "yes"},
		{From: "A person, to run 3", Text: long},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var many []cw.Message
	for range 100 {
		many = append(many, cw.Message{RunID: "two", Role: cw.RoleUser, Origin: cw.OriginPerson, Body: strings.Repeat("x", handOverText), DeliveredAt: &now})
	}
	if got := handOverTextsOf(runs, many); len(got) != handOverTexts/handOverText {
		t.Errorf("%d texts of the earlier runs", len(got))
	}
}

func FuzzShortened(f *testing.F) {
	f.Add("größe", 3)
	f.Add("\xff\xff\xff\xff\xff\xff\xff", 5)
	f.Add("x", 0)
	f.Add("日本語日本語", 10)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = min(max(n, 0), 1<<12)
		got := shortened(text, n)
		if len(got) > n {
			t.Errorf("%d bytes, at most %d are allowed", len(got), n)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q of %q", got, text)
		}
		if !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) {
			t.Errorf("%q does not begin %q", got, text)
		}
	})
}

// TestRestoreOutput: what earlier runs left in .cw/output comes back when it is
// gone, whole, from the newest copy, and never over what is there.
func TestRestoreOutput(t *testing.T) {
	t.Parallel()
	write := func(name, text string) {
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	newer, older, none := t.TempDir(), t.TempDir(), t.TempDir()
	write(filepath.Join(newer, "output/deep/x"), "newer")
	write(filepath.Join(older, "output/deep/x"), "older")
	restore := func(t *testing.T, cwd string) string {
		root, err := os.OpenRoot(cwd)
		must(t, err)
		defer root.Close()
		must(t, makeFolders(root, ".cw", ".cw/tmp"))
		must(t, restoreOutput(root, []string{none, newer, older}))
		data, _ := os.ReadFile(filepath.Join(cwd, ".cw/output/deep/x"))
		return string(data)
	}
	cwd := t.TempDir()
	write(filepath.Join(cwd, ".cw/tmp/output/half"), "of a killed try")
	if got := restore(t, cwd); got != "newer" {
		t.Errorf("it brought back %q", got)
	}
	if _, err := os.Stat(filepath.Join(cwd, ".cw/output/half")); err == nil {
		t.Error("half of a killed try came with it")
	}
	// What an agent puts into a run directory does not come back, and nothing waits for it.
	for _, err := range []error{
		os.Symlink(older, filepath.Join(newer, "output/link")),
		syscall.Mkfifo(filepath.Join(newer, "output/fifo"), 0o600),
		os.Truncate(filepath.Join(newer, "output/deep/x"), outputLimits().File+1),
	} {
		must(t, err)
	}
	write(filepath.Join(newer, "output/y"), "y")
	spoiled := t.TempDir()
	if got := restore(t, spoiled); got != "" {
		t.Errorf("a file of %d bytes came back", len(got))
	}
	if names, err := os.ReadDir(filepath.Join(spoiled, ".cw/output")); err != nil || len(names) != 2 || names[1].Name() != "y" {
		t.Errorf("there is %v, %v", names, err)
	}
	write(filepath.Join(cwd, ".cw/output/deep/x"), "the agent's")
	if got := restore(t, cwd); got != "the agent's" {
		t.Errorf("what was there became %q", got)
	}
}

// TestWithoutTag: a block of cw's own is handed over as its words.
func TestWithoutTag(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ origin, body, want string }{
		{cw.OriginCW, "<answers>\nyes\n\nno\n</answers>\n", "yes\n\nno"},
		{cw.OriginCW, "plain", "plain"},
		{cw.OriginPerson, "<answers>\nyes\n</answers>", "<answers>\nyes\n</answers>"},
	} {
		if got := withoutTag(cw.Message{Origin: tt.origin, Body: tt.body}); got != tt.want {
			t.Errorf("%q: %q", tt.body, got)
		}
	}
}
