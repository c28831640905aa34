package artifacts

import (
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

const (
	dismissedTextMax = 4 << 10   // bytes of one suggestion that is shown
	dismissedMax     = 256 << 10 // bytes of all; older ones are left out
)

// dismissedFile tells what people did not want, and why, the latest first.
func dismissedFile(proposals []cw.Proposal) string {
	var b strings.Builder
	b.WriteString("What people did not want, the latest first. Do not suggest it again.\n")
	var ids []string
	for n, p := range slices.Backward(proposals) {
		entry := dismissedEntry(p)
		if b.Len()+len(entry) > dismissedMax {
			fmt.Fprintf(&b, "\n%d older ones are left out.\n", n+1)
			break
		}
		b.WriteString(entry)
		if !slices.Contains(ids, p.TargetID) {
			ids = append(ids, p.TargetID)
		}
	}
	return canonical(b.String(), listField(keyIDs, ids))
}

func dismissedEntry(p cw.Proposal) string {
	why := strings.TrimSpace(p.Note)
	if why == "" {
		why = "no reason was given"
	}
	text := fmt.Sprintf("\n## %s %s %s: %s\n\nWhy: %s\n", p.Action, p.Target, p.TargetID, shown(p.Title), shorten(why, dismissedTextMax))
	if p.After == "" {
		return text
	}
	return text + "\n" + fenced(shorten(strings.TrimSpace(p.After), dismissedTextMax))
}

// fenced shows a text as it is: the fence is longer than any in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "markdown\n" + text + "\n" + fence + "\n"
}
