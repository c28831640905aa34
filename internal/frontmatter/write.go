package frontmatter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Write gives the canonical text of a document: keys in their order, lists with
// an entry a line, quotes only where they are needed. What Parse would refuse
// in a text, NUL and what is not UTF-8, becomes U+FFFD; line ends become \n.
// There is no head when there are no keys, unless the body would be taken for
// one. Keys must be different ones that Parse takes; limits are not looked at.
func Write(d Document) string {
	body := lineEnds(plainText(d.Body))
	if len(d.Fields) == 0 && headAt(body) < 0 && !strings.HasPrefix(body, bom) {
		return body
	}
	var w writer
	w.line(fence)
	w.fields(d.Fields, "")
	w.line(fence)
	return w.String() + body
}

// plainText replaces what no text holds.
func plainText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// writer collects the lines of a head.
type writer struct{ strings.Builder }

func (w *writer) line(parts ...string) {
	for _, p := range parts {
		w.WriteString(p)
	}
	w.WriteByte('\n')
}

func (w *writer) fields(fields []Field, in string) {
	for _, f := range fields {
		w.WriteString(in + oneLine(f.Key) + ":")
		w.value(f.Value, in+"  ")
	}
}

// value writes what follows a colon or a dash; in is how far lines below are
// set in.
func (w *writer) value(v Value, in string) {
	switch {
	case v.Kind == List && len(v.Items) == 0:
		w.line(" []")
	case v.Kind == Map && len(v.Fields) == 0:
		w.line(" {}")
	case v.Kind == List:
		w.line()
		for _, item := range v.Items {
			w.WriteString(in + "-")
			w.value(item, in+"  ")
		}
	case v.Kind == Map:
		w.line()
		w.fields(v.Fields, in)
	case v.Kind == Null:
		w.line(" null")
	case v.Kind == String && isBlock(v.Text):
		w.block(v.Text, in)
	case v.Kind == String:
		w.line(" ", oneLine(v.Text))
	default:
		w.line(" ", v.Text)
	}
}

// block writes a text of several lines as it is.
func (w *writer) block(text, in string) {
	text, ended := strings.CutSuffix(text, "\n")
	if ended {
		w.line(" |")
	} else {
		w.line(" |-")
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			line = in + line
		}
		w.line(line)
	}
}

// isBlock tells whether a text can stand as it is in lines of its own: several
// lines, of which the first and the last show how they are set in.
func isBlock(text string) bool {
	text, _ = strings.CutSuffix(text, "\n")
	odd := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	first, rest, several := strings.Cut(text, "\n")
	last := rest[strings.LastIndexByte(rest, '\n')+1:]
	return several && utf8.ValidString(text) && !strings.ContainsFunc(text, odd) &&
		first != "" && first[0] != ' ' && strings.TrimSpace(last) != ""
}

// oneLine writes a text on one line, in quotes when it needs them.
func oneLine(text string) string {
	text = plainText(text)
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPlain tells whether a text is itself without quotes: it begins with a
// letter, a digit or one of a few signs, nothing in it ends it early, and it
// reads as a text, not as a number, a date, a word for true or for nothing.
func isPlain(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	switch {
	case text == "", !unicode.IsLetter(first) && !unicode.IsDigit(first) && !strings.ContainsRune("./_($", first):
		return false
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return false
	case strings.HasPrefix(text, "..."): // at the begin of a line it ends the document
		return false
	case strings.Contains(text, ": "), strings.Contains(text, " #"), strings.HasSuffix(text, ":"), strings.HasSuffix(text, " "):
		return false
	}
	return (&yaml.Node{Kind: yaml.ScalarNode, Value: text}).ShortTag() == "!!str"
}
