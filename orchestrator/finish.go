package orchestrator

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/internal/proc"
)

// snippetMax is the greatest length of an agent's last words in lists.
const snippetMax = 200

// finishOf puts the decision into the words of the store.
func finishOf(st cw.RunState, e evidence, v verdict, trees []cw.AgentWorktree) cw.Finish {
	now := time.Now().UTC()
	f := cw.Finish{
		AgentID: st.Agent.ID, RunID: st.Run.ID,
		From:   []cw.AgentStatus{cw.StatusStarting, cw.StatusRunning},
		Status: v.Status, Reason: v.Reason, RetryAt: v.RetryAt, Error: v.Error,
		Result: v.Result, NoChanges: v.NoChanges, Warnings: v.Warnings,
		LastSnippet: snippet(v, e), TermSignal: signalName(e.Exit.Signal),
		CostUSD: e.Cost.USD, CostSource: e.Cost.Source, Model: e.Summary.Model, Usage: e.Summary.Usage, Turns: e.Summary.Turns,
		ContextTokens: e.Summary.ContextTokens, ContextLimit: e.Summary.ContextLimit,
		UnknownLines: e.Unknown,
		EndedAt:      now, Worktrees: trees, Retries: v.Retries,
	}
	if e.Reserve != nil {
		f.Exhausted = e.Reserve.Exhausted
	}
	if st.Op != nil {
		f.OpID = st.Op.ID
	}
	if v.CleanUp {
		f.CleanUp = &cw.Op{
			ID: cw.OpID(cw.NewID()), Kind: cw.OpCleanUp, Status: cw.OpIntended,
			AgentID: st.Agent.ID, RunID: st.Run.ID, CreatedAt: now, UpdatedAt: now,
		}
	}
	if e.State == proc.StateExited && e.Exit.Signal == 0 && e.Exit.StartError == "" {
		code := e.Exit.Code
		f.ExitCode = &code
	}
	if e.Exit.EndedAt.Unix() > 0 {
		f.EndedAt = e.Exit.EndedAt.UTC()
	}
	if v.Result != "" {
		f.Assistant = &cw.Message{
			ID: cw.MessageID(cw.NewID()), AgentID: st.Agent.ID, RunID: st.Run.ID,
			Role: cw.RoleAssistant, Origin: "agent", Body: v.Result, CreatedAt: now,
		}
	}
	f.Questions = questionsOf(st, v.Questions, now)
	return f
}

// signalName is a signal's name, "" for none.
func signalName(n int) string {
	if n == 0 {
		return ""
	}
	return orDefault(unix.SignalName(unix.Signal(n)), fmt.Sprintf("signal %d", n))
}

func snippet(v verdict, e evidence) string {
	for _, text := range []string{v.Error, v.Result, e.Summary.LastText.String()} {
		text = strings.Join(strings.Fields(text), " ")
		if text != "" {
			return cut(text, snippetMax)
		}
	}
	return ""
}

// cut shortens text to at most n characters.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// questionsOf gives the agent's questions ids of cw's own and one group.
func questionsOf(st cw.RunState, asked []cw.SignalQuestion, now time.Time) []cw.Question {
	group := cw.RequestID(cw.NewID())
	out := make([]cw.Question, len(asked))
	for i, q := range asked {
		key := q.ID
		if key == "" {
			key = fmt.Sprintf("q%d", i+1)
		}
		out[i] = cw.Question{
			ID: cw.QuestionID(cw.NewID()), AgentID: st.Agent.ID, RunID: st.Run.ID, RequestID: group,
			Seq: i + 1, Key: key, Source: cw.AskedBySignal, Header: q.Header, Text: q.Text,
			Options: q.Options, MultiSelect: q.MultiSelect, Status: cw.QuestionOpen, CreatedAt: now,
		}
	}
	return out
}

// finishEvents tells the end of a run: one event for the status, one for each
// question and warning.
func finishEvents(st cw.RunState, f cw.Finish) []cw.Event {
	self := cw.Actor{Kind: cw.ActorCW}
	name := st.Agent.Alias
	var out []cw.Event
	add := func(t cw.EventType, payload any) {
		out = append(out, cw.NewEvent(t, self, payload).About(st.Agent.ID, st.Run.ID))
	}
	for _, w := range f.Warnings {
		add(cw.EventAgentWarning, cw.AgentWarning{Name: name, Warning: w})
	}
	for _, q := range f.Questions {
		add(cw.EventQuestionRequested, cw.QuestionRequested{QuestionID: q.ID, RequestID: q.RequestID, Name: name, Question: q.Text})
	}
	switch {
	case f.Next != nil: // it goes on: its events tell why
		out = append(out, f.Next.Events...)
		f.Next.Events = nil
	case f.Status == cw.StatusWaitingForInput:
		add(cw.EventAgentWaiting, cw.AgentWaiting{Name: name, RequestID: f.Questions[0].RequestID, Questions: len(f.Questions)})
	case f.Status == cw.StatusParked:
		add(cw.EventAgentParked, cw.AgentParked{Name: name, Reason: f.Reason, RetryAt: f.RetryAt, Text: f.Error})
	case f.Status == cw.StatusCrashed:
		add(cw.EventAgentCrashed, cw.AgentCrashed{Name: name, Reason: f.Reason, Error: f.Error, ExitCode: f.ExitCode, TermSignal: f.TermSignal, RetryAt: f.RetryAt})
	default:
		reason := f.Reason
		if f.Status == cw.StatusIdle {
			reason = cw.ReasonDone
		}
		add(cw.EventAgentStopped, stoppedPayload(name, reason, f))
	}
	return out
}

func stoppedPayload(name string, reason cw.Reason, f cw.Finish) cw.AgentStopped {
	p := cw.AgentStopped{Name: name, Reason: reason, NoChanges: f.NoChanges, ExitCode: f.ExitCode}
	for _, t := range f.Worktrees {
		p.Commits += t.Commits
	}
	if len(f.Worktrees) == 1 {
		p.HeadCommit = f.Worktrees[0].HeadCommit
	}
	return p
}
