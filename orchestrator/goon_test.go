package orchestrator

import (
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestNextRun: who goes on by itself, and why.
func TestNextRun(t *testing.T) {
	t.Parallel()
	asked := []cw.Question{{Text: "Which?", Status: cw.QuestionAnswered, Answer: "SQLite"}, {Text: "And?", Status: cw.QuestionWithdrawn}}
	withdrawn := asked[1:]
	for _, tt := range []struct {
		name string
		s    standing
		want cw.RunReason // "": it does not go on
	}{
		{"waits, all closed", standing{Status: cw.StatusWaitingForInput, Asked: asked}, cw.RunAnswers},
		{"waits, one open", standing{Status: cw.StatusWaitingForInput, Asked: asked, Open: 1}, ""},
		{"waits, a text besides", standing{Status: cw.StatusWaitingForInput, Asked: asked, Open: 1, Queued: 1}, ""},
		{"waits, all withdrawn", standing{Status: cw.StatusWaitingForInput, Asked: withdrawn}, ""},
		{"waits for nothing known", standing{Status: cw.StatusWaitingForInput}, ""},
		{"idle", standing{Status: cw.StatusIdle}, ""},
		{"waits, nobody answered in time", standing{Status: cw.StatusWaitingForInput, Asked: append(asked[1:2:2], cw.Question{Status: cw.QuestionWithdrawn, Reason: "nobody answered within SQLite"})}, cw.RunAnswers},
		{"idle, answers that no call took", standing{Status: cw.StatusIdle, Untold: asked}, "late"},
		{"idle, and one is open", standing{Status: cw.StatusIdle, Untold: asked, Open: 1}, ""},
		{"idle, nobody answered", standing{Status: cw.StatusIdle, Untold: withdrawn}, ""},
		{"runs, and its call takes them", standing{Status: cw.StatusRunning, Untold: asked}, ""},
		{"crashed, answers", standing{Status: cw.StatusCrashed, Untold: asked}, ""},
		{"idle, a text", standing{Status: cw.StatusIdle, Queued: 1}, cw.RunFollowUp},
		{"idle, a text, removed", standing{Status: cw.StatusIdle, Queued: 1, Removed: true}, ""},
		{"waits, all closed, removed", standing{Status: cw.StatusWaitingForInput, Asked: asked, Removed: true}, ""},
		{"idle, a question", standing{Status: cw.StatusIdle, Wakes: 1}, cw.RunWake},
		{"idle, a question, removed", standing{Status: cw.StatusIdle, Wakes: 1, Removed: true}, ""},
		{"idle, a text and a question", standing{Status: cw.StatusIdle, Queued: 1, Wakes: 1}, cw.RunFollowUp},
		{"waits, a question", standing{Status: cw.StatusWaitingForInput, Open: 1, Asked: asked, Wakes: 1}, ""},
		{"parked, a question", standing{Status: cw.StatusParked, Wakes: 1}, ""},
		{"crashed, a text", standing{Status: cw.StatusCrashed, Queued: 1, Asked: asked}, ""},
		{"stopped, a text", standing{Status: cw.StatusStopped, Queued: 1, Asked: asked}, ""},
		{"runs, a text", standing{Status: cw.StatusRunning, Queued: 1}, ""},
		{"starts, answers", standing{Status: cw.StatusStarting, Asked: asked}, ""},
	} {
		next, ok := nextRun(tt.s)
		if tt.want == "late" { // the text is made with the intent, as for every run
			if tt.want = cw.RunAnswers; len(next.Messages) != 0 || next.Reason != tt.want || len(next.Asked) != len(asked) {
				t.Errorf("%s: %+v", tt.name, next)
			}
			continue
		}
		if next.Reason != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, %v", tt.name, next.Reason, ok)
		}
		if tt.want == cw.RunAnswers && (len(next.Messages) != 1 || !strings.Contains(next.Messages[0].Body, "SQLite") || !strings.Contains(next.Messages[0].Body, "withdrawn")) {
			t.Errorf("%s: it is told %+v", tt.name, next.Messages)
		}
	}
}

// TestRefusedActs: what people may do with an agent in each status, and what
// they are told to do instead.
func TestRefusedActs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	view := func(s cw.AgentStatus, open int) cw.AgentView {
		return cw.AgentView{Agent: cw.Agent{Alias: "brave-otter", Status: s}, PendingQuestions: make([]cw.Question, open)}
	}
	removed := view(cw.StatusIdle, 0)
	removed.DeletedAt = &now
	for _, tt := range []struct {
		name                string
		view                cw.AgentView
		resume, send, quiet string // hints; "": it may. quiet: send with whenBusy refuse
	}{
		{"removed", removed, "agent restore", "agent restore", "agent restore"},
		{"pending", view(cw.StatusPending, 0), "agent send", "", "whenBusy"},
		{"starting", view(cw.StatusStarting, 0), "agent send", "", "whenBusy"},
		{"running", view(cw.StatusRunning, 0), "agent send", "", "whenBusy"},
		{"waiting", view(cw.StatusWaitingForInput, 2), "agent answer", "", "whenBusy"},
		{"waiting for nothing", view(cw.StatusWaitingForInput, 0), "", "", "whenBusy"},
		{"parked", view(cw.StatusParked, 0), "", "", "whenBusy"},
		{"idle", view(cw.StatusIdle, 0), "", "", ""},
		{"crashed", view(cw.StatusCrashed, 0), "", "agent resume", "agent resume"},
		{"stopped", view(cw.StatusStopped, 0), "", "agent resume", "agent resume"},
	} {
		for act, check := range map[string]struct {
			err  error
			hint string
		}{
			"resume": {mayResume(tt.view), tt.resume},
			"send":   {maySend(tt.view, cw.BusyQueue), tt.send},
			"quiet":  {maySend(tt.view, cw.BusyRefuse), tt.quiet},
		} {
			refused := cw.ErrorCode(check.err) == cw.CodeRefused && strings.Contains(cw.ErrorHint(check.err), check.hint)
			if (check.hint == "" && check.err != nil) || (check.hint != "" && !refused) {
				t.Errorf("%s, %s: %v, hint %q", tt.name, act, check.err, cw.ErrorHint(check.err))
			}
		}
	}
}

// TestHowEnded: what an agent is told of its last run.
func TestHowEnded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		agent cw.Agent
		want  string
	}{
		{cw.Agent{Status: cw.StatusStopped, Reason: cw.ReasonUser}, "a person stopped it"},
		{cw.Agent{Status: cw.StatusCrashed, Reason: cw.ReasonKilled, Error: "the CLI was ended by SIGKILL"}, "the CLI was ended by SIGKILL"},
		{cw.Agent{Status: cw.StatusIdle, Result: "added a"}, "you said that you were done: added a"},
		{cw.Agent{Status: cw.StatusIdle}, "you said that you were done"},
		{cw.Agent{Status: cw.StatusWaitingForInput}, ""},
	} {
		if got := howEnded(tt.agent); got != tt.want {
			t.Errorf("%s: %q", tt.agent.Status, got)
		}
	}
}
