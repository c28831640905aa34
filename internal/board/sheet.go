package board

import (
	"fmt"
	"strings"
)

// sheetMax bounds the lines of a sheet: a patch may have millions.
const sheetMax = 50_000

// Sheet is a text in front of the board, to be read: a patch, proposals, the keys.
type Sheet struct {
	Title string
	Keys  [][2]string // what may be done with it, beside reading

	lines []string
	patch bool
	top   int
}

// NewSheet makes a sheet of a text; a patch has its colours.
func NewSheet(title, text string, patch bool) *Sheet {
	s := &Sheet{Title: flat(title), patch: patch}
	for l := range strings.Lines(text) {
		if len(s.lines) == sheetMax {
			s.lines = append(s.lines, "… it is longer; the command shows all of it")
			break
		}
		s.lines = append(s.lines, rigid(strings.TrimRight(l, "\r\n")))
	}
	if len(s.lines) == 0 {
		s.lines = []string{"Nothing."}
	}
	return s
}

// Scroll moves by so many lines, down when by is positive.
func (s *Sheet) Scroll(by int) { s.top += by }

// settle keeps the sheet in sight.
func (s *Sheet) settle(rows int) { s.top = max(min(s.top, len(s.lines)-rows), 0) }

// place says which lines are in sight.
func (s *Sheet) place(rows int) string {
	return fmt.Sprintf("%d–%d of %d", min(s.top+1, len(s.lines)), min(s.top+rows, len(s.lines)), len(s.lines))
}

// line gives a line its ink.
func (s *Sheet) line(text string) line {
	look := plain
	switch {
	case !s.patch:
	case strings.HasPrefix(text, "diff "), strings.HasPrefix(text, "+++ "), strings.HasPrefix(text, "--- "):
		look = bold
	case strings.HasPrefix(text, "@@"):
		look = work
	case strings.HasPrefix(text, "+"):
		look = done
	case strings.HasPrefix(text, "-"):
		look = fail
	}
	return line{{" ", plain}, {text, look}}
}
