package live

import (
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"cw/internal/cw"
)

// pressed makes what a terminal tells of a character, as one key of those that
// mean something.
func pressed(r rune) tea.Msg {
	for _, key := range []struct {
		sign rune
		code rune
		mod  tea.KeyMod
	}{
		{'\n', tea.KeyEnter, 0}, {'\x1b', tea.KeyEscape, 0}, {'\t', tea.KeyTab, 0}, {'\b', tea.KeyBackspace, 0}, {' ', tea.KeySpace, 0},
		{'\x01', tea.KeyHome, 0}, {'\x05', tea.KeyEnd, 0}, {'\x02', tea.KeyPgUp, 0}, {'\x06', tea.KeyPgDown, 0},
		{'\x15', 'u', tea.ModCtrl}, {'\x17', 'w', tea.ModCtrl}, {'\x10', tea.KeyUp, 0}, {'\x0e', tea.KeyDown, 0},
	} {
		if r == key.sign {
			k := tea.KeyPressMsg{Code: key.code, Mod: key.mod}
			if r == ' ' {
				k.Text = " "
			}
			return k
		}
	}
	return tea.KeyPressMsg{Code: r, Text: string(r)}
}

// FuzzKeys: whatever is pressed, pasted and made larger or smaller, in whatever
// order, the board is drawn with its size, and holds what is typed as it is.
func FuzzKeys(f *testing.F) {
	f.Add("1\n2\nox\n", "paste\nd", uint8(80), uint8(24))
	f.Add("/her\x1b\x1bjjxxs\x1b?\x1bm\x15\x17\b日\n", "\x1b[2J\u202e日本", uint8(30), uint8(8))
	f.Add("2\n\x01kf\x05\x02\x06q\x1b", "🏳️‍🌈", uint8(160), uint8(50))
	f.Add("1nayyd\n\n", "", uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, keys, pasted string, width, height uint8) {
		if len(keys) > 200 {
			return // each key is a screen
		}
		play(t, func(p *player) {
			a := p.spawn("brave-otter")
			p.spawn("calm-heron")
			p.house.SignalQuestions(a.Alias, colour(), cw.Question{Text: "Which name?"})
			p.house.Say(a.Alias, 1, "words\n"+strings.ToValidUTF8(pasted, "?")+"\n")
			p.house.tasks["t"] = cw.Task{ID: "t", Name: "Migrate", Type: cw.TaskCheckpointAction}
			p.house.waits = append(p.house.waits, cw.InboxItem{Key: "t", Kind: cw.InboxCheckpoint, TaskID: "t", Task: "Migrate", Text: pasted})
			p.take(tea.WindowSizeMsg{Width: int(width), Height: int(height)})
			p.look()
			synctest.Wait()
			for i, r := range keys {
				p.take(pressed(r))
				switch i % 8 {
				case 3:
					p.take(tea.PasteMsg{Content: pasted})
				case 5:
					p.take(tea.WindowSizeMsg{Width: int(height), Height: int(width)})
				case 7:
					p.take(tea.WindowSizeMsg{Width: int(width), Height: int(height)})
					p.look()
				}
				v := p.model.view
				lines := strings.Split(p.screen(), "\n")
				if v.Height == 0 {
					lines = nil
				}
				if len(lines) != v.Height {
					p.t.Fatalf("%d lines on a screen of %d", len(lines), v.Height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) != v.Width {
						p.t.Fatalf("%d columns on a screen of %d: %q", ansi.StringWidth(line), v.Width, line)
					}
				}
				if v.Prompt != nil && utf8.ValidString(keys) && utf8.ValidString(pasted) && !utf8.ValidString(v.Prompt.Text) {
					p.t.Fatalf("what was typed became %q", v.Prompt.Text)
				}
			}
		})
	})
}
