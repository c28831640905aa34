package providers

import (
	"regexp"
	"strings"

	"cw/internal/cw"
)

// nearest gives the known name that is most like the given one, "" when there
// is none at all.
func nearest(name string, known []string) string {
	best, bestDistance := "", 1<<30
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the edit distance of the first 64 bytes.
func distance(a, b string) int {
	return cw.EditDistance(a[:min(len(a), 64)], b[:min(len(b), 64)])
}

// firstMatch gives the line of text in which the first pattern that matches is
// found, trimmed, or "".
func firstMatch(patterns []*regexp.Regexp, text string) string {
	for _, p := range patterns {
		at := p.FindStringIndex(text)
		if at == nil {
			continue
		}
		begin := strings.LastIndexByte(text[:at[0]], '\n') + 1
		end := len(text)
		if i := strings.IndexByte(text[at[1]:], '\n'); i >= 0 {
			end = at[1] + i
		}
		if line := strings.ToValidUTF8(strings.TrimSpace(text[begin:end]), "\uFFFD"); line != "" {
			return line
		}
	}
	return ""
}
