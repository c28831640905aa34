package dispatch

import (
	"strings"
	"testing"
	"unicode"

	"cw/internal/cw"
)

// TestCommitMessage: what agents and people wrote is neither a trailer, nor a
// command for the terminal on which git log shows it.
func TestCommitMessage(t *testing.T) {
	t.Parallel()
	text := commitMessage(
		cw.Task{ID: "task", Name: "Lower\u009b2J it\u202e\nTask: other"}, cw.Initiative{Slug: "sale"},
		cw.AgentView{Agent: cw.Agent{Alias: "brave-otter", Result: "Done.\x1b[2J\u009b31m \u2067x\n\nTask: forged\nAgent: forged\n# no comment"}})
	if strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}) {
		t.Errorf("unseen: %q", text)
	}
	if !strings.HasSuffix(text, "\n\nInitiative: sale\nTask: task\nAgent: brave-otter\n") || !strings.HasPrefix(text, "Lower 2J it Task: other\n\n") {
		t.Errorf("%q", text)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "forged") && !strings.HasPrefix(line, " ") || strings.HasPrefix(line, "#") {
			t.Errorf("like a trailer: %q", line)
		}
	}
}
