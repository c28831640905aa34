package frontmatter

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const (
	fence = "---"
	bom   = "\ufeff" // editors' byte order mark
)

// Parse reads a text. Blank lines may precede its head; a text that does not
// begin with a head has none. *Error for what is no text, for a head that is
// not closed, too large or no YAML of plain keys and values, for anchors,
// aliases and tags, for a key that is there twice, in two spellings too, and
// for a body that is too long.
func Parse(data []byte) (Document, error) {
	text, err := Clean(data)
	if err != nil {
		return Document{}, err
	}
	at := headAt(text)
	if at < 0 {
		return withBody(Document{Line: 1}, text)
	}
	line := 1 + strings.Count(text[:at], "\n") // of the opening fence
	_, rest, _ := strings.Cut(text[at:], "\n")
	head, body, closed := cutHead(rest)
	switch {
	case !closed:
		return Document{}, errorAt(line, "the head begins here and no line of --- ends it")
	case len(head) > HeadMax:
		return Document{}, errorAt(line, "the head has %d bytes, at most %d are taken", len(head), HeadMax)
	}
	fields, err := parseHead(head, line)
	if err != nil {
		return Document{}, err
	}
	return withBody(Document{Fields: fields, Line: line + strings.Count(head, "\n") + 2}, body)
}

func withBody(d Document, body string) (Document, error) {
	if n := len(strings.TrimSpace(body)); n > BodyMax {
		return Document{}, errorAt(d.Line, "the text has %d bytes, at most %d are taken", n, BodyMax)
	}
	d.Body = body
	return d, nil
}

// Clean gives a text without byte order mark and with \n at the end of each
// line, however that was written. *Error when it is not UTF-8 or holds NUL.
func Clean(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte(bom))
	if at := notText(data); at >= 0 {
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		if data[at] == 0 {
			return "", errorAt(line, "there is a NUL byte, which no text holds")
		}
		return "", errorAt(line, "it is not UTF-8")
	}
	return lineEnds(string(data)), nil
}

// notText finds the first byte that no text holds; -1 for none.
func notText(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

func lineEnds(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// headAt finds where a head begins: at the first line that is not blank, when
// that is a fence. -1 for none.
func headAt(text string) int {
	blanks := len(text) - len(strings.TrimLeft(text, " \t\n"))
	at := strings.LastIndexByte(text[:blanks], '\n') + 1
	if first, _, _ := strings.Cut(text[at:], "\n"); isFence(first) {
		return at
	}
	return -1
}

// cutHead cuts what follows the opening fence at the closing one.
func cutHead(text string) (head, body string, closed bool) {
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, len(text))
		if isFence(line) {
			return text[:at], text[next:], true
		}
		at = next
	}
	return "", "", false
}

func isFence(line string) bool { return strings.TrimRight(line, " \t") == fence }
