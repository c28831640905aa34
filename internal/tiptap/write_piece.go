package tiptap

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// piece is a part of a line that is being written. The marks of emphasis count
// only beside the right characters; where they stand beside a wrong one, that
// one is written as an entity.
type piece struct {
	kind  pieceKind
	s     string // of a text not escaped yet
	first bool   // the first character of the text is an entity
	last  bool   // the last one is
	link  bool   // the text is in a link
}

type pieceKind int

const (
	textPiece  pieceKind = iota
	fixedPiece           // written as it is
	openPiece            // of an emphasis
	closePiece
	breakPiece
)

// flank looks at what is beside the marks of emphasis.
func flank(pieces []piece) {
	for i := range pieces {
		switch pieces[i].kind {
		case openPiece:
			outer, inner := edge(pieces, i-1, false), edge(pieces, i+1, true)
			if util.IsSpaceRune(inner) {
				pieces[i+1].first = true
				inner = '&'
			}
			if outer == '~' && pieces[i].s == "~~" { // the reader takes it for a longer row
				pieces[i-1].last = true
			}
			if word(outer) && (util.IsPunctRune(inner) || pieces[i].s == "_") {
				pieces[i-1].last = true
			}
		case closePiece:
			inner, outer := edge(pieces, i-1, false), edge(pieces, i+1, true)
			if util.IsSpaceRune(inner) || inner == '~' && pieces[i].s == "~~" {
				pieces[i-1].last = true
				inner = ';'
			}
			if word(outer) && (util.IsPunctRune(inner) || pieces[i].s == "_") {
				pieces[i+1].first = true
			}
		case textPiece:
			next := i+1 < len(pieces)
			switch {
			case next && strings.HasSuffix(pieces[i].s, "!") && strings.HasPrefix(pieces[i+1].s, "["):
				pieces[i].last = true
			case next && strings.HasSuffix(pieces[i].s, `\`) && pieces[i+1].kind == breakPiece:
				pieces[i].last = true
			}
		}
	}
}

func word(r rune) bool { return !util.IsSpaceRune(r) && !util.IsPunctRune(r) }

// edge gives the character of a piece that is nearest; a blank beyond the ends
// of the line.
func edge(pieces []piece, i int, first bool) rune {
	if i < 0 || i >= len(pieces) || pieces[i].s == "" {
		return ' '
	}
	p := pieces[i]
	switch {
	case p.kind == breakPiece:
		return ' '
	case p.kind == textPiece && (first && p.first || !first && p.last):
		return '&'
	}
	if first {
		return firstRune(p.s)
	}
	return lastRune(p.s)
}

// join writes the pieces, each escaped for where it stands. A blank at an end
// of a line is an entity: it would be lost.
func join(pieces []piece, where place) string {
	var out strings.Builder
	firstLine := true
	for i, p := range pieces {
		if p.kind != textPiece {
			out.WriteString(p.s)
			firstLine = firstLine && p.kind != breakPiece
			continue
		}
		starts := i == 0 || pieces[i-1].kind == breakPiece
		ends := i == len(pieces)-1 || pieces[i+1].kind == breakPiece
		p.first = p.first || starts && (unicode.IsSpace(firstRune(p.s)) || firstRune(p.s) == byteOrderMark)
		p.last = p.last || ends && (unicode.IsSpace(lastRune(p.s)) || where == inHeading && lastRune(p.s) == '#')
		s := p.escaped(where == inCell)
		if starts && where == inParagraph {
			s = escapeStart(s, firstLine)
		}
		out.WriteString(s)
	}
	return out.String()
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func (p piece) escaped(inTable bool) string {
	s, before, after := p.s, "", ""
	if p.first {
		r, size := utf8.DecodeRuneInString(s)
		before, s = encode(r), s[size:]
	}
	if p.last && s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		after, s = encode(r), s[:len(s)-size]
	}
	return before + escapeText(s, inTable, p.link) + after
}
