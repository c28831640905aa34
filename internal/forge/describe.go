package forge

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
)

const (
	// titleMax is the greatest length of a title in characters. GitHub takes 256,
	// GitLab 255 with its mark for drafts.
	titleMax = 240
	// goalMax and summaryMax bound the goal and one task's summary, in bytes.
	goalMax    = 8 << 10
	summaryMax = 4 << 10
)

// Work is what a pull request is about.
type Work struct {
	Name  string // of the initiative
	Goal  string
	Tasks []cw.Task // all of the initiative's, in order
}

// Describe makes the title and the text of a pull request: the goal, and what
// was done in the words of who did it, at most cw.PullRequestBodyMax bytes.
// Those words are an agent's: they are shown as they were written, and mean
// nothing to the forge (see inert).
func Describe(w Work) (title, body string) {
	if runes := []rune(inert(visible(w.Name))); len(runes) > titleMax {
		title = string(runes[:titleMax-1]) + "…"
	} else {
		title = string(runes)
	}
	var b strings.Builder
	if goal := strings.TrimSpace(w.Goal); goal != "" && goal != strings.TrimSpace(w.Name) {
		fmt.Fprintf(&b, "%s\n\n", paragraphs(cut(goal, goalMax), ""))
	}
	var done []cw.Task
	for _, t := range w.Tasks {
		if t.Status == cw.TaskDone {
			done = append(done, t)
		}
	}
	if len(done) > 0 {
		b.WriteString("## What was done\n\n")
	}
	const rest = 200 // bytes for the last line
	for i, t := range done {
		item := fmt.Sprintf("- **%s**\n", cmp.Or(plain(t.Name), "a task"))
		if summary := strings.TrimSpace(t.Summary); summary != "" {
			item += fmt.Sprintf("\n  %s\n", paragraphs(cut(summary, summaryMax), "  "))
		}
		if b.Len()+len(item) > cw.PullRequestBodyMax-rest {
			fmt.Fprintf(&b, "- and %d more\n", len(done)-i)
			break
		}
		b.WriteString(item)
	}
	return title, strings.TrimSpace(b.String()) + "\n"
}

// paragraphs shows a text line by line as it was written, each but the first
// behind an indent.
func paragraphs(text, indent string) string {
	var b strings.Builder
	blank := false
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		line = plain(line)
		switch {
		case line == "":
			blank = true
			continue
		case b.Len() > 0 && blank:
			b.WriteString("\n\n" + indent)
		case b.Len() > 0:
			b.WriteString("\\\n" + indent) // a line end that stays one
		}
		b.WriteString(line)
		blank = false
	}
	return b.String()
}

// cut shortens a text to so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most-len("…")]
	for !utf8.ValidString(text) && len(text) > 0 {
		text = text[:len(text)-1]
	}
	return text + "…"
}
