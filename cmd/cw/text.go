package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"cw/internal/inert"
)

// clean makes foreign text safe for a terminal; see inert.Clean.
func clean(s string) string { return inert.Clean(s) }

func unsafeRune(r rune) bool { return inert.Unsafe(r) }

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
func oneLine(s string) string { return inert.Line(s) }

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
