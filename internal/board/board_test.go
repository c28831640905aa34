package board

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

var update = flag.Bool("update", false, "write the screens anew")

// TestScreens: what is drawn at each size, with each alphabet and in each state.
func TestScreens(t *testing.T) {
	for name, v := range map[string]View{
		"80x24": sample(80, 24), "140x40": sample(140, 40), "160x50": sample(160, 50), "40x10": sample(40, 10), "30x8": sample(30, 8),
		"small": sample(20, 5), "asking-80x24": asking(80, 24), "asking-140x40": asking(140, 40), "long-80x24": longAsking(80, 24), "long-140x40": longAsking(140, 40), "long-40x10": longAsking(40, 10), "opened-80x24": opened(80, 24),
		"sheet-80x24": sheet(80, 24), "lost-80x24": lost(80, 24), "failed-80x24": failed(80, 24), "failed-40x10": failed(40, 10), "evil-80x24": evil(80, 24), "evil-140x40": evil(140, 40),
		"empty-80x24": {Width: 80, Height: 24, Now: epoch, Sight: Sight{At: epoch}}, "empty-140x40": {Width: 140, Height: 40, Now: epoch},
	} {
		t.Run(name, func(t *testing.T) {
			compare(t, name, v)
			v.Look.ASCII = true
			compare(t, name+"-ascii", v)
		})
	}
	coloured := sample(80, 24)
	coloured.Look.Colour = true
	compare(t, "colour-80x24", coloured)
}

// TestDocumented: the screen in docs/top.md is one that is drawn.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/top.md")
	if err != nil {
		t.Fatal(err)
	}
	var screen strings.Builder
	for _, l := range Draw(sample(80, 24)) {
		screen.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	if !strings.Contains(string(doc), screen.String()) {
		t.Errorf("docs/top.md does not show this screen:\n%s", screen.String())
	}
}

// TestOpenedGone: who looks at an agent that is removed is not shown another one.
func TestOpenedGone(t *testing.T) {
	v := opened(80, 24)
	v.Agents = v.Agents[1:]
	v.Settle()
	if v.Opened || v.AgentID == "agent-brave-otter" {
		t.Errorf("%s is opened: %v", v.AgentID, v.Opened)
	}
}

// compare draws a view, looks at its measures and compares it with what is kept.
func compare(t *testing.T, name string, v View) {
	t.Helper()
	lines := Draw(v)
	checkMeasures(t, v, lines)
	got := strings.Join(lines, "|\n") + "|\n"
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// checkMeasures: each line has exactly the width of the screen, however a terminal
// counts, and holds nothing that it would obey.
func checkMeasures(t *testing.T, v View, lines []string) {
	t.Helper()
	if len(lines) != v.Height {
		t.Errorf("%d lines on a screen of %d", len(lines), v.Height)
	}
	for i, l := range lines {
		text := ansi.Strip(l)
		if g, w := ansi.GraphemeWidth.StringWidth(text), ansi.WcWidth.StringWidth(text); g != v.Width || w != v.Width {
			t.Errorf("line %d is %d and %d columns wide, not %d: %q", i+1, g, w, v.Width, text)
		}
		if !v.Look.Colour && l != text {
			t.Errorf("line %d holds a sequence: %q", i+1, l)
		}
		for _, r := range text {
			if hidden(r) || v.Look.ASCII && r > '~' {
				t.Errorf("line %d holds %U: %q", i+1, r, text)
			}
		}
	}
}

// FuzzMeasures: whatever agents write and however large the terminal is, each line
// has its width.
func FuzzMeasures(f *testing.F) {
	f.Add("plain", uint8(80), uint8(24), false)
	f.Add("\x1b[31m日本\u202e🙂", uint8(30), uint8(8), true)
	f.Add("🏳️‍🌈🇩🇪क्षe\u0301\u200d", uint8(200), uint8(50), false)
	f.Add("🏻\ufffd", uint8(80), uint8(24), false)
	f.Add("ा🏽x", uint8(160), uint8(50), false)
	f.Fuzz(func(t *testing.T, text string, width, height uint8, ascii bool) {
		v := asking(int(width), int(height))
		v.Look.ASCII = ascii
		for i := range v.Agents {
			v.Agents[i].Alias, v.Agents[i].Title, v.Agents[i].Error, v.Agents[i].Result = text, text, text, text
		}
		for i := range v.Inbox {
			v.Inbox[i].Text, v.Inbox[i].Agent = text, text
		}
		v.Asking.Questions[0].Text, v.Asking.Questions[0].Options[0].Label = text, text
		v.Log.Add(text)
		checkMeasures(t, v, Draw(v))
		v.Asking, v.Prompt = nil, &Prompt{Label: text, Text: text}
		checkMeasures(t, v, Draw(v))
		v.Prompt, v.Opened, v.Note = nil, true, Note{Text: text}
		checkMeasures(t, v, Draw(v))
		v.Sheet = NewSheet(text, text, true)
		checkMeasures(t, v, Draw(v))
	})
}

// TestMarksDiffer: no two marks of one list are the same, so that nothing is lost
// without colours, in both alphabets.
func TestMarksDiffer(t *testing.T) {
	differ := func(signs []sign) {
		marks, ascii := map[string]string{}, map[string]string{}
		for _, s := range signs {
			if other := marks[s.mark]; other != "" {
				t.Errorf("%s and %s are both %s", other, s.word, s.mark)
			}
			if other := ascii[s.ascii]; other != "" {
				t.Errorf("%s and %s are both %s", other, s.word, s.ascii)
			}
			if s.word == "" || wide(s.mark) != 1 || len(s.ascii) != 1 {
				t.Errorf("a mark of %q is not one column wide", s.word)
			}
			marks[s.mark], ascii[s.ascii] = s.word, s.word
		}
	}
	var states, kinds []sign
	for s := statePending; s <= stateError; s++ {
		states = append(states, s.sign())
	}
	for _, k := range cw.InboxKinds() {
		s, _ := kindSign(k)
		kinds = append(kinds, s)
	}
	differ(states)
	differ(kinds)
}
