package board

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// ink is how a piece of text looks. Five hues mean five things; each mark is a
// character of its own, so that nothing is lost without them.
type ink int

const (
	plain ink = iota
	bold
	dim
	work // in progress
	need // a person must act
	fail // it broke
	done // verified, merged, answered
	held // held from outside
)

// Look says what a terminal can show.
type Look struct {
	Colour bool
	ASCII  bool // only characters of ASCII, for terminals without UTF-8
}

// span is a piece of a line in one ink, line a whole one.
type (
	span struct {
		text string
		ink  ink
	}
	line []span
)

// style gives the colours of an ink, from the sixteen that every terminal has and
// its owner chose.
func (i ink) style() lipgloss.Style {
	s := lipgloss.NewStyle()
	switch i {
	case bold:
		return s.Bold(true)
	case dim:
		return s.Faint(true)
	case work:
		return s.Foreground(lipgloss.Blue)
	case need:
		return s.Foreground(lipgloss.Yellow)
	case fail:
		return s.Foreground(lipgloss.Red)
	case done:
		return s.Foreground(lipgloss.Green)
	case held:
		return s.Foreground(lipgloss.Magenta)
	}
	return s
}

// paint makes the text of a line that is sent to the terminal.
func (l Look) paint(ln line) string {
	var b strings.Builder
	for _, s := range ln {
		text := s.text
		if l.ASCII {
			text = ascii(text)
		}
		if l.Colour && s.ink != plain && strings.TrimSpace(text) != "" {
			text = s.ink.style().Render(text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// drawn are the characters with which the board draws, and what stands for them
// in ASCII. Each is one column wide on both sides.
var drawn = strings.NewReplacer(
	"─", "-", "│", "|", "┌", "+", "┬", "+", "┐", "+", "├", "+", "┼", "+", "┤", "+", "└", "+", "┴", "+", "┘", "+",
	"━", "=", "▌", ">", "▏", ":", "…", "~", "→", ">", "±", "*", "−", "-", "–", "-", "·", "-", "’", "'", "“", `"`, "”", `"`, "×", "x", "—", "-",
)

// ascii makes a text of ASCII, as wide as before: what stands for nothing becomes
// a question mark for each column.
func ascii(s string) string {
	s = drawn.Replace(s)
	if strings.IndexFunc(s, foreign) < 0 {
		return s
	}
	var b strings.Builder
	eachCluster(s, func(cluster string, width int) {
		if strings.IndexFunc(cluster, foreign) < 0 {
			b.WriteString(cluster)
			return
		}
		b.WriteString(strings.Repeat("?", width))
	})
	return b.String()
}

func foreign(r rune) bool { return r > '~' }
