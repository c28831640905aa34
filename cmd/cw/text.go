package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	escape = '\x1b'
	csi    = '\u009b' // the one-character forms of ESC [ and of the strings
)

// clean makes foreign text safe for a terminal: escape sequences go with what
// belongs to them, control characters and marks that turn the direction of
// text go, bytes that are not UTF-8 become U+FFFD. Tabs and line ends stay, a
// carriage return becomes a line end.
func clean(s string) string {
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
		case !unsafeRune(r):
			b.WriteRune(r)
		}
		s = rest
	}
	return b.String()
}

func needsCleaning(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, unsafeRune)
}

func unsafeRune(r rune) bool {
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

// escapeControls writes control characters of JSON text as \u escapes. JSON
// does so itself below U+0020; a terminal obeys U+007F to U+009F as well.
func escapeControls(json string) string {
	if !strings.ContainsFunc(json, func(r rune) bool { return r != '\n' && unsafeRune(r) }) {
		return json
	}
	var b strings.Builder
	for _, r := range json {
		if r != '\n' && unsafeRune(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// oneLine makes foreign text one clean line.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// cut shortens text to at most n characters, the last of which then is an
// ellipsis.
func cut(s string, n int) string {
	if n < 1 {
		return ""
	}
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:n-1]) + "…"
}

// shortCommit is the form of a commit that people read.
func shortCommit(id string) string { return id[:min(len(id), 9)] }

// elapsed is a duration as people read it: 7s, 3m05s, 2h10m, 4d.
func elapsed(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

// count writes a number with its noun: 1 commit, 2 commits.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// thousands writes a number of tokens: 950, 12.3k, 1.2M.
func thousands(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// size writes a number of bytes: 512 B, 3.4 MiB.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, exp := float64(n)/unit, 0
	for value >= unit && exp < 5 {
		value /= unit
		exp++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[exp])
}

// shellWord quotes a word for a POSIX shell when it needs it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("@%+=:,./_-", r))
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
