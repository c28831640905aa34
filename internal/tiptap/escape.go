package tiptap

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is where a line stands: it decides what must be escaped.
type place int

const (
	inParagraph place = iota
	inHeading
	inCell
)

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isPunct(r rune) bool { return r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)) }

// encode writes a character as an entity, which nothing but the reader of
// entities sees.
func encode(r rune) string { return fmt.Sprintf("&#%d;", r) }

// escapeText writes a text so that it is read as text. inTable and inLabel say
// what is around it.
func escapeText(s string, inTable, inLink bool) string {
	var out strings.Builder
	var before rune
	note := 0 // where a reference to a footnote ends
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		last := i+utf8.RuneLen(r) == len(s)
		if r == '[' && after == '^' && !inLink {
			note = max(note, i+noteRefLength(s[i:]))
		}
		if i < note {
			out.WriteRune(r)
			before = r
			continue
		}
		if special(r, before, after, last) || r == '|' && inTable || r == ']' && inLink || autoLinks(s, i, before, after) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
		before = r
	}
	return out.String()
}

// special tells whether a character between two others could mean something.
func special(r, before, after rune, last bool) bool {
	switch r {
	case '`', '*', '[', '~':
		return true
	case '\\':
		return last || isPunct(after)
	case '_':
		return !isWord(before) || !isWord(after)
	case '<':
		return last || unicode.IsLetter(after) || unicode.IsDigit(after) || strings.ContainsRune("/!?", after)
	case '&':
		return last || after == '#' || isWord(after)
	}
	return false
}

// autoLinks tells of a character without which an address would become a link.
func autoLinks(s string, i int, before, after rune) bool {
	switch s[i] {
	case ':':
		return strings.HasPrefix(s[i:], "://") && (strings.HasSuffix(s[:i], "http") || strings.HasSuffix(s[:i], "https") || strings.HasSuffix(s[:i], "ftp"))
	case '.':
		return strings.HasSuffix(s[:i], "www")
	case '@':
		return before != 0 && !unicode.IsSpace(before) && isWord(after)
	}
	return false
}

var numberMark = regexp.MustCompile(`^[0-9]{1,9}[.)](?:\s|$)`)

// escapeStart writes the beginning of a line so that no block begins there.
// The text is escaped already. The first line of a paragraph is no table's
// rule, nor the underline of a heading.
func escapeStart(s string, first bool) string {
	r := firstRune(s)
	switch {
	case s == "":
		return s
	case strings.ContainsRune("#+->", r), !first && strings.ContainsRune("=:|", r):
		return `\` + s
	case numberMark.MatchString(s):
		end := strings.IndexAny(s, ".)")
		return s[:end] + `\` + s[end:]
	}
	return s
}

// escapeInfo writes what stands behind a fence.
func escapeInfo(s string) string {
	var out strings.Builder
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if r == '\\' && (after == utf8.RuneError || isPunct(after)) || r == '&' {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// target writes where a link leads, with its brackets.
func target(href, title string) string {
	if href == "" && title == "" {
		return "()"
	}
	if title == "" {
		return "(" + href + ")"
	}
	return "(" + href + ` "` + title + `")`
}

// escapeTarget writes where a link leads so that it is read as it is.
func escapeTarget(href, title string, inTable bool) string {
	pointed := href == "" || strings.ContainsAny(href, " ()<>\u00a0") || strings.ContainsFunc(href, unicode.IsSpace)
	out := escapeSome(href, "<>", inTable)
	if pointed {
		out = "<" + out + ">"
	}
	if title != "" {
		out += ` "` + escapeSome(title, `"`, inTable) + `"`
	}
	return "(" + out + ")"
}

func escapeSome(s, chars string, inTable bool) string {
	var out strings.Builder
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch {
		case r == '\\' && (after == utf8.RuneError || isPunct(after)), strings.ContainsRune(chars, r), r == '|' && inTable:
			out.WriteByte('\\')
		case r == '&' && (after == '#' || isWord(after)):
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
