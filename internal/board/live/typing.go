package live

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"cw/internal/board"
	"cw/internal/cw"
)

// typing is what becomes of a line that a person types.
type typing struct {
	done  func(text string) tea.Cmd
	empty bool                         // an empty line is taken, too
	each  func(text string, gone bool) // told of each change, and when it is given up
}

// read asks for a line at the bottom.
func (m *Model) read(label string, t typing) {
	m.typed = &t
	m.view.Prompt = &board.Prompt{Label: label}
}

// typing is a key while somebody types.
func (m *Model) typing(k tea.KeyPressMsg) tea.Cmd {
	text := m.view.Prompt.Text
	switch k.String() {
	case "esc":
		m.typingOver()
		return nil
	case "enter":
		return m.typingDone(text)
	case "backspace":
		_, size := lastRune(text)
		text = text[:len(text)-size]
	case "ctrl+u":
		text = ""
	case "ctrl+w":
		text = strings.TrimRightFunc(text, unicode.IsSpace)
		text = text[:strings.LastIndexFunc(text, unicode.IsSpace)+1]
	default:
		text += k.Text
	}
	m.write(text)
	return nil
}

// paste takes text from the clipboard, as it would be typed.
func (m *Model) paste(text string) tea.Cmd {
	if m.typed != nil {
		m.write(m.view.Prompt.Text + strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text))
	}
	return nil
}

func (m *Model) write(text string) {
	if len(text) > cw.AnswerMax {
		m.view.Note = board.Note{Text: "The line is full.", Bad: true}
		return
	}
	m.view.Prompt.Text = text
	if m.typed.each != nil {
		m.typed.each(text, false)
	}
}

func (m *Model) typingDone(text string) tea.Cmd {
	t := *m.typed
	if strings.TrimSpace(text) == "" && !t.empty {
		m.typingOver()
		return nil
	}
	m.typed, m.view.Prompt = nil, nil
	return t.done(text)
}

// typingOver gives a line up.
func (m *Model) typingOver() {
	if m.typed.each != nil {
		m.typed.each("", true)
	}
	m.typed, m.view.Prompt = nil, nil
}

func lastRune(s string) (rune, int) {
	if s == "" {
		return 0, 0
	}
	runes := []rune(s)
	last := runes[len(runes)-1]
	return last, len(string(last))
}

// filter narrows both lists while it is typed.
func (m *Model) filter() {
	before := m.view.Filter
	m.read("Filter:", typing{
		empty: true,
		done:  func(text string) tea.Cmd { m.view.Filter = strings.TrimSpace(text); return nil },
		each: func(text string, gone bool) {
			if m.view.Filter = strings.TrimSpace(text); gone {
				m.view.Filter = before
			}
		},
	})
}
