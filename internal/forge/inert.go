package forge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cw/internal/cw"
)

// gap is a character without width. A forge that sees it between # and a number
// sees no reference.
const gap = "\u200b"

// What a forge acts on, in texts and in titles, which become the messages of
// commits. What is in front gets a gap behind it.
var (
	// sigils begin names of people, issues, requests, epics, milestones, labels and
	// snippets, and GitLab's [issue:1].
	sigils = cw.Pattern("[@#!&%~$\\[][^\\s\u200b]")
	// keys are names of issues in other words: GH-1, GL-1, and those of a tracker
	// that a repository is connected to.
	keys = cw.Pattern(`(?i:\bG[HL]-)[0-9]|\b[A-Z][A-Z0-9_]+-[0-9]`)
	// links may be those of issues.
	links = cw.Pattern(`://`)
	// command is a line by which GitLab is told to do something.
	command = cw.Pattern(`^/`)
	// number begins a list.
	number = cw.Pattern(`^([0-9]+)([.)])`)
)

// inert takes away what a line of text means to a forge: names of people and
// issues, links and commands. People see no difference.
func inert(line string) string {
	behind := func(match string) string {
		_, last := utf8.DecodeLastRuneInString(match)
		return match[:len(match)-last] + gap + match[len(match)-last:]
	}
	// What begins a name may be the end of what the one before it matched: ##1.
	for at := 0; ; {
		m := sigils().FindStringIndex(line[at:])
		if m == nil {
			break
		}
		line = line[:at+m[0]+1] + gap + line[at+m[0]+1:]
		at += m[0] + 1 + len(gap)
	}
	line = keys().ReplaceAllStringFunc(line, behind)
	line = links().ReplaceAllLiteralString(line, ":"+gap+"//")
	return command().ReplaceAllLiteralString(line, gap+"/")
}

// visible makes one line of a text, without characters that are not seen: they
// could hide what it says.
func visible(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return strings.Join(strings.Fields(text), " ")
}

// plain writes one line so that Markdown and HTML show it as it was written, and
// a forge does nothing.
func plain(line string) string {
	var b strings.Builder
	for i, r := range inert(visible(line)) {
		if strings.ContainsRune("\\`*_[]<>&~|#$", r) || i == 0 && strings.ContainsRune("+-=", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return number().ReplaceAllString(b.String(), `$1\$2`)
}
