package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers"
)

const (
	// callsMax bounds how many calls of tools without a result are remembered.
	callsMax = 64
	// quietShare and quietMax say when a silence is noticed: after that part of
	// the patience, and not later than that. What the process tree has used by
	// then is what its later use is measured against.
	quietShare = 10
	quietMax   = 10 * time.Second
	// stopRule is the wish of a rule about silence, beside stopTerm and stopKill
	// of people.
	stopRule = "rule"
)

// silence is since when a run says nothing, and what it does meanwhile as far as
// its output told. It is folded from events with the times of their chunks, so
// that a daemon that takes up a run comes to the same.
type silence struct {
	Since time.Time     // its last output, or its start
	Calls []toolCall    // without a result yet, oldest first
	Wait  time.Duration // that the CLI announced before it tries again
}

type toolCall struct {
	id, tool string
	task     bool // it outlives the call that began it, and the turn
}

// after is the silence that begins with a piece of output.
func (s silence) after(events []cw.StreamEvent, at time.Time) silence {
	s.Since = at
	for _, ev := range events {
		s.Wait = 0
		switch ev.Kind {
		case cw.StreamRetry:
			s.Wait = ev.Delay
		case cw.StreamToolCall:
			s.Calls = append(s.Calls, toolCall{id: ev.ToolUseID, tool: ev.Tool})
			s.Calls = s.Calls[max(0, len(s.Calls)-callsMax):]
		case cw.StreamToolResult:
			s.Calls = slices.DeleteFunc(s.Calls, func(c toolCall) bool { return !c.task && c.id == ev.ToolUseID })
		case cw.StreamTaskBegan:
			s.Calls = append(s.Calls, toolCall{id: ev.ToolUseID, tool: ev.Tool, task: true})
			s.Calls = s.Calls[max(0, len(s.Calls)-callsMax):]
		case cw.StreamTaskEnded:
			s.Calls = slices.DeleteFunc(s.Calls, func(c toolCall) bool { return c.task && c.id == ev.ToolUseID })
		case cw.StreamInit, cw.StreamResult:
			s.Calls = slices.DeleteFunc(s.Calls, func(c toolCall) bool { return !c.task })
		}
	}
	return s
}

// tool is the tool that is known to run, "" for none.
func (s silence) tool() string {
	if len(s.Calls) == 0 {
		return ""
	}
	return s.Calls[len(s.Calls)-1].tool
}

// limit is how long it may last.
func (s silence) limit(p providers.Patience) time.Duration {
	if len(s.Calls) > 0 {
		return p.ToolSilence.Duration
	}
	return p.Silence.Duration
}

// deadline is when patience with it ends, and noticed when it is worth a first
// look; both are zero when it may last for ever.
func (s silence) deadline(p providers.Patience) (noticed, deadline time.Time) {
	limit := s.limit(p)
	if limit <= 0 || s.Since.IsZero() {
		return time.Time{}, time.Time{}
	}
	from := s.Since.Add(s.Wait)
	return from.Add(min(limit/quietShare, quietMax)), from.Add(limit)
}

// stall is what was done about the silence that lasts.
type stall struct {
	noticed bool
	cpu     time.Duration // of the process tree, when it was noticed
	told    bool
}

// stallPolicy decides what is done about a silence: one project that asks for it
// is enough, but the runs that follow stalls are counted. A run whose account is
// at its limit is ended in any case: it waits for what will not come, and can go
// on with another one.
func stallPolicy(projects []cw.Project, before int, atLimit bool) cw.StallPolicy {
	if atLimit {
		return cw.StallResume
	}
	resume := slices.ContainsFunc(projects, func(p cw.Project) bool { return p.Stall == cw.StallResume })
	if !resume || before >= cw.MaxStallRetry {
		return cw.StallEvent
	}
	return cw.StallResume
}

// watchSilence looks at a silence when it is noticed, tells it when patience with
// it ends, and gives the time for the next look; zero: none until there is
// output. end ends the run.
func (f *follower) watchSilence(ctx context.Context, now time.Time, end func()) (next time.Time) {
	if f.stall.told || f.stalled != nil {
		return time.Time{}
	}
	noticed, deadline := f.silence.deadline(f.limits)
	switch {
	case deadline.IsZero():
		return time.Time{}
	case now.Before(noticed) && !f.stall.noticed:
		return noticed
	case !f.stall.noticed:
		cpu, err := proc.CPUTime(f.handle)
		if err != nil {
			f.o.Log.Warn("look at the process tree", "agent", f.state.Agent.Alias, "error", err)
		}
		f.stall.noticed, f.stall.cpu = true, cpu
	}
	if now.Before(deadline) {
		return deadline
	}
	if next, excused := f.waitsForPeople(ctx, now); excused {
		return next
	}
	if err := f.tellStall(ctx, now, end); err != nil {
		if ctx.Err() == nil {
			f.o.Log.Error("tell that a run is silent; it is tried again", "agent", f.state.Agent.Alias, "error", err)
		}
		return now.Add(storeRetry)
	}
	return time.Time{}
}

// waitsForPeople tells whether a silence is excused because a call of the run
// waits for people, or did until a while ago, and when to look again then.
func (f *follower) waitsForPeople(ctx context.Context, now time.Time) (next time.Time, excused bool) {
	asked, err := f.o.Store.RunQuestions(ctx, f.state.Agent.ID, f.state.Run.ID)
	if err != nil {
		f.o.Log.Warn("look whether a run waits for people; it is tried again", "agent", f.state.Agent.Alias, "error", err)
		return now.Add(storeRetry), true
	}
	limit := f.silence.limit(f.limits)
	open, since := closedSince(asked)
	switch {
	case open:
		return now.Add(limit), true
	case !since.After(f.silence.Since):
		return time.Time{}, false
	}
	// The silence that counts begins with the answer.
	f.mu.Lock()
	f.silence.Since, f.silence.Wait, f.stall = since, 0, stall{}
	f.mu.Unlock()
	noticed, deadline := f.silence.deadline(f.limits)
	if now.Before(deadline) {
		return earlier(noticed, deadline), true
	}
	return time.Time{}, false
}

// closedSince tells whether one of a run's questions is open, and when the last
// of them was closed or its answer taken; zero: none was asked.
func closedSince(asked []cw.Question) (open bool, since time.Time) {
	for _, q := range asked {
		open = open || q.Status == cw.QuestionOpen
		for _, at := range []*time.Time{q.AnsweredAt, q.FetchedAt} {
			if at != nil && at.After(since) {
				since = *at
			}
		}
	}
	return open, since
}

// tellStall tells a silence once, whatever becomes of the daemon, and does what
// the policy says.
func (f *follower) tellStall(ctx context.Context, now time.Time, end func()) error {
	known, err := f.lastStall(ctx)
	if err != nil {
		return err
	}
	if known == nil || !known.Since.Equal(f.silence.Since) {
		if known, err = f.storeStall(ctx, now); err != nil {
			return err
		}
	}
	f.o.Fail.Hit("stall/told")
	if known.Policy == cw.StallResume {
		if _, err := f.o.Store.RequestStop(ctx, f.state.Run.ID, stopRule); err != nil {
			return fmt.Errorf("ask for the end of a silent run: %w", err)
		}
		f.o.Fail.Hit("stall/requested")
		f.stalled = stallEndOf(*known)
		end()
	}
	f.mu.Lock()
	f.stall.told = true
	f.mu.Unlock()
	f.tellActivity(now)
	return nil
}

// storeStall gathers the evidence of a silence and stores it.
func (f *follower) storeStall(ctx context.Context, now time.Time) (*cw.AgentStalled, error) {
	var projects []cw.Project
	for _, t := range f.state.Worktrees {
		p, err := f.o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return nil, fmt.Errorf("find project %s: %w", t.Project, err)
		}
		projects = append(projects, p)
	}
	tree, err := proc.LookAtTree(f.handle)
	if err != nil {
		f.o.Log.Warn("look at the process tree", "agent", f.state.Agent.Alias, "error", err)
	}
	e := cw.AgentStalled{
		Name: f.state.Agent.Alias, Since: f.silence.Since, Seconds: int(now.Sub(f.silence.Since).Seconds()),
		Tool: f.silence.tool(), LastTool: f.summary.LastTool,
		CPUSeconds: max(0, tree.CPU-f.stall.cpu).Seconds(),
		Processes:  tree.Processes, Connections: tree.Connections,
		Policy: stallPolicy(projects, f.state.Agent.StallRetries, f.atLimit()),
	}
	ev := cw.NewEvent(cw.EventAgentStalled, cw.Actor{Kind: cw.ActorCW}, e).About(f.state.Agent.ID, f.state.Run.ID)
	if err := f.o.Store.AddEvents(ctx, ev); err != nil {
		return nil, fmt.Errorf("store the silence: %w", err)
	}
	f.o.Log.Warn("a run is silent", "agent", e.Name, "seconds", e.Seconds, "tool", e.Tool, "cpuSeconds", e.CPUSeconds, "connections", e.Connections, "policy", e.Policy)
	return &e, nil
}

// atLimit tells whether the CLI said, in its stream or on its standard error,
// that the account is at its limit.
func (f *follower) atLimit() bool {
	if f.summary.Limit != nil {
		return true
	}
	preset, err := f.o.Presets.Get(providerOf(f.state.Run, f.state.Agent))
	if err != nil {
		return false
	}
	limit, _, _ := preset.JudgeStderr(tailOf(filepath.Join(f.state.Run.Dir, stderrFile), stderrTail), time.Now())
	return limit != nil
}

// lastStall is the last silence of this run that was told; nil for none.
func (f *follower) lastStall(ctx context.Context) (*cw.AgentStalled, error) {
	ev, found, err := f.o.Store.LastEvent(ctx, f.state.Agent.ID, cw.EventAgentStalled)
	if err != nil || !found || ev.RunID != f.state.Run.ID {
		return nil, err
	}
	var e cw.AgentStalled
	if err := json.Unmarshal(ev.Data, &e); err != nil {
		return nil, fmt.Errorf("read event %d: %w", ev.Seq, err)
	}
	return &e, nil
}

// beginSilence is the silence of a run that said nothing yet. A run that a rule
// has ended keeps why.
func (f *follower) beginSilence(ctx context.Context) error {
	f.silence.Since = f.state.Run.CreatedAt
	if !f.handle.StartedAt.IsZero() {
		f.silence.Since = f.handle.StartedAt
	}
	if f.state.Run.StopRequested != stopRule {
		return nil
	}
	known, err := f.lastStall(ctx)
	if known == nil {
		known = &cw.AgentStalled{} // its event is older than what is kept
	}
	f.stalled = stallEndOf(*known)
	return err
}

func stallEndOf(e cw.AgentStalled) *stallEnd {
	return &stallEnd{Minutes: e.Seconds / 60, Tool: e.Tool}
}

// stallEnd is why a rule ended the run.
func (f *follower) stallEnd() *stallEnd {
	if f.stalled == nil {
		return &stallEnd{}
	}
	return f.stalled
}
