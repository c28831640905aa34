package prompts

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text is data of any length that cannot open or close a block.
type text string

// inline is data of one line, as a Markdown code span, that cannot open or
// close a block. Empty stays empty, so that a template can test for it.
type inline string

// word is data as one word of a shell's command, inside a Markdown code span or
// block, that cannot open or close a block.
type word string

// escaper makes data harmless.
//
// Whatever in the data could be read as one of our tags gets its "<" written as
// "&lt;": `</task>` becomes `&lt;/task>`. What stands there as "&lt;" already
// gets one "amp;" more, so that the original can always be read back:
// `&lt;task>` becomes `&amp;lt;task>`. Everything else stays byte for byte.
type escaper struct {
	tags []string // names of all blocks of all modes
}

func newEscaper() escaper {
	var esc escaper
	for _, row := range Table() {
		esc.tags = append(esc.tags, row.Tag)
	}
	slices.Sort(esc.tags)
	esc.tags = slices.Compact(esc.tags)
	return esc
}

// text makes long data harmless.
func (e escaper) text(s string) text { return text(e.escape(s)) }

// inline makes one line of data harmless. What would not show as itself on one
// line (a line break, a control or invisible character, invalid UTF-8) is
// written as a Go string with quotes and escapes.
func (e escaper) inline(s string) inline {
	if s == "" {
		return ""
	}
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if !utf8.ValidString(s) || strings.ContainsFunc(s, hidden) || s[0] == '"' {
		s = strconv.Quote(s)
	}
	return inline(codeSpan(e.escape(s)))
}

// word makes data one word of a shell's command.
func (e escaper) word(s string) word {
	plain := func(r rune) bool { return r < utf8.RuneSelf && (inName(r) || r == '.') }
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return word(s)
	}
	return word(e.escape("'" + strings.ReplaceAll(s, "'", `'\''`) + "'"))
}

// escape marks every beginning of a forged tag.
func (e escaper) escape(s string) string {
	var b strings.Builder
	done := 0
	for at := 0; at < len(s); at++ {
		next := strings.IndexAny(s[at:], "<&")
		if next < 0 {
			break
		}
		at += next
		width := openerWidth(s[at:])
		if width == 0 || !e.startsTag(s[at+width:]) {
			continue
		}
		b.WriteString(s[done:at])
		if s[at] == '<' {
			b.WriteString("&lt;")
		} else {
			b.WriteString("&amp;")
		}
		done = at + 1
	}
	b.WriteString(s[done:])
	return b.String()
}

// openerWidth is the number of bytes of "<" or its escaped forms ("&lt;",
// "&amp;lt;", …) at the start of s, 0 when there is none.
func openerWidth(s string) int {
	if s[0] == '<' {
		return 1
	}
	rest := s[1:]
	for strings.HasPrefix(rest, "amp;") {
		rest = rest[len("amp;"):]
	}
	rest, found := strings.CutPrefix(rest, "lt;")
	if !found {
		return 0
	}
	return len(s) - len(rest)
}

// startsTag says whether s, which follows a "<", goes on as one of our tags. It
// is as lenient as the most lenient reader: any letter case, and slashes, white
// space and invisible characters before the name.
func (e escaper) startsTag(s string) bool {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r == '/' || !visible(r) })
	end := strings.IndexFunc(s, func(r rune) bool { return !inName(r) })
	if end < 0 {
		end = len(s)
	}
	if end == 0 {
		return false
	}
	for _, tag := range e.tags {
		if strings.EqualFold(s[:end], tag) {
			return true
		}
	}
	return false
}

func visible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.In(r, unicode.Z, unicode.Cf)
}

// inName says whether a rune can be part of a tag's name. A hyphen can, so that
// `<task-list>`, somebody else's tag, is left alone.
func inName(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// codeSpan writes s as a Markdown code span, with a fence longer than any run
// of backticks inside.
func codeSpan(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	tick := strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`")
	spaced := strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ")
	if tick || spaced {
		s = " " + s + " " // Markdown takes one space off when both ends have one
	}
	return fence + s + fence
}
