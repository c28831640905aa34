package main

import (
	"testing"
	"time"

	"cw/internal/cw"
)

// TestInbox: what waits for a person is told by kind, with what waits for it and
// the command that deals with it, whatever agents wrote into it.
func TestInbox(t *testing.T) {
	t.Parallel()
	until := epoch.Add(3 * time.Hour)
	waiting := func(b *bench) {
		plans(b)
		b.fake.inbox = cw.Inbox{Items: []cw.InboxItem{
			{Key: "question:r", Kind: cw.InboxQuestion, Text: "Which key makes a delivery\x1b[2J unique?", Hint: "cw agent answer swift-lynx", Count: 2, Since: epoch.Add(-12 * time.Minute), Behind: 3, Agent: "swift-lynx", Task: "Unique\x1b]0;x\a keys", Initiative: "spring-sale"},
			{Key: "checkpoint:t", Kind: cw.InboxCheckpoint, Text: "Choose the colour", Hint: "cw task done t --comment \"what was decided\"", Count: 1, Since: epoch.Add(-time.Minute), Behind: 1, Task: "Choose the colour", Initiative: "spring-sale"},
			{Key: "limit:a", Kind: cw.InboxLimit, Text: "claude/team-2 is at its limit; 2 agents wait", Hint: "cw account list", Count: 2, Since: epoch, Until: &until, Agents: []string{"bold-ant", "quiet-badger"}},
			{Key: "crashed:a", Kind: cw.InboxCrashed, Text: "it ended without its signal, twice", Hint: "cw agent show shy-panda", Count: 1, Since: epoch.Add(-50 * time.Hour), Agent: "shy-panda"},
			{Key: "merge:m", Kind: cw.InboxMerge, Text: "the check fails", Hint: "cw task show u", Count: 1, Since: epoch, Task: "Count it"},
			{Key: "landing:i", Kind: cw.InboxLanding, Text: "every task is done: autumn can be landed", Hint: "cw merge autumn", Count: 1, Since: epoch, Initiative: "autumn"},
		}}
	}
	sessions(t, "inbox", []sessionCase{
		{"items", []string{"inbox"}, waiting, 0},
		{"of one", []string{"inbox", "spring-sale"}, waiting, 0},
		{"on terminal", []string{"inbox"}, func(b *bench) { waiting(b); b.outTTY = true }, 0},
		{"json", []string{"inbox", "--json"}, waiting, 0},
		{"empty", []string{"inbox"}, plans, 0},
		{"empty json", []string{"inbox", "--json"}, plans, 0},
		{"mistyped", []string{"inbox", "sprng-sale"}, waiting, 3},
		{"two", []string{"inbox", "a", "b"}, nil, 2},
	})
}
