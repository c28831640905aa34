package parsers

import (
	"strings"

	"cw/internal/cw"
)

// linesParser reads plain text: every line is text, nothing is unknown. There
// is no result event: the last words stand in Summary.LastText.
type linesParser struct{}

// Line gives the line as text, with a line end, so that the texts of a run put
// together are its output.
func (*linesParser) Line(line []byte) []cw.StreamEvent {
	var text strings.Builder
	text.Grow(len(line) + 1) // output of this kind may be large: it is copied once
	text.Write(validUTF8(line))
	text.WriteByte('\n')
	return []cw.StreamEvent{{Kind: cw.StreamText, Text: text.String()}}
}

// Unknown is always 0.
func (*linesParser) Unknown() int { return 0 }
