// Package inert makes text of others safe to show: a terminal does nothing but
// show it.
package inert

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	escape = '\x1b'
	csi    = '\u009b' // the one-character forms of ESC [ and of the strings
)

// Clean makes foreign text safe for a terminal: escape sequences go with what
// belongs to them, control characters and marks that turn the direction of
// text go, bytes that are not UTF-8 become U+FFFD. Tabs and line ends stay, a
// carriage return becomes a line end.
func Clean(s string) string {
	if !needsCleaning(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		if n := sequence(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		rest := s[n:]
		switch {
		case r == '\r':
			if !strings.HasPrefix(rest, "\n") {
				b.WriteByte('\n')
			}
		case !Unsafe(r):
			b.WriteRune(r)
		}
		s = rest
	}
	return b.String()
}

func needsCleaning(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, Unsafe)
}

// Unsafe tells whether a terminal may act on a character instead of showing it, or
// show what is beside it in another order. Tabs and line ends are safe.
func Unsafe(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	}
	// Marks that turn the direction of text make a line read as another one.
	return r == '\u200e' || r == '\u200f' || (r >= '\u202a' && r <= '\u202e') || (r >= '\u2066' && r <= '\u2069')
}

// sequence gives the length of the escape sequence at the start of s, or 0. A
// sequence that is cut off reaches to the end of its line.
func sequence(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == csi:
		return n + controlSequence(s[n:])
	case r == '\u0090' || r == '\u0098' || r >= '\u009d' && r <= '\u009f':
		return n + controlString(s[n:])
	case r != escape:
		return 0
	case len(s) == 1:
		return 1
	}
	switch s[1] {
	case '[':
		return 2 + controlSequence(s[2:])
	case ']', 'P', 'X', '^', '_':
		return 2 + controlString(s[2:])
	}
	// ESC, any number of intermediates, one final.
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x20 && c <= 0x2f:
		case c >= 0x30 && c <= 0x7e:
			return i + 1
		default:
			return i
		}
	}
	return len(s)
}

// controlSequence is the length of parameters, intermediates and final.
func controlSequence(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f: // not part of it
			return i
		}
	}
	return len(s)
}

// controlString is the length up to and with its end: BEL or ST.
func controlString(s string) int {
	for i, r := range s {
		switch {
		case r == '\a':
			return i + 1
		case r == '\u009c':
			return i + utf8.RuneLen(r)
		case r == escape:
			if strings.HasPrefix(s[i+1:], `\`) {
				return i + 2
			}
			return i
		case r == '\n':
			return i
		}
	}
	return len(s)
}

// Line makes foreign text one clean line.
func Line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }
