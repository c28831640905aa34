package store

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestResume follows another run from the intent to the running CLI.
func TestResume(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	until := time.Now().UTC().Add(time.Hour)
	f := finish(in, cw.StatusRunning, cw.StatusCrashed)
	f.Reason, f.Error, f.RetryAt, f.Result, f.NoChanges, f.LastSnippet = cw.ReasonUsageLimit, "at its limit", &until, "half", "none", "words"
	f.Retries = cw.Retries{Signal: 1, Commit: 2, Empty: 3, Stall: 4}
	_, err := b.FinishRun(t.Context(), f)
	b.must(err)
	same(t, "counters after the run", cw.RetriesOf(b.agent("brave-otter").Agent), f.Retries)

	told := len(b.toldEvents())
	next := nextRun(in.Agent.ID, 2, "go on")
	next.Retries, next.Options = cw.Retries{Empty: 1}, `{"env":{}}`
	b.must(b.IntendRun(t.Context(), next))
	v := b.agent("brave-otter")
	if v.OptionsJSON != next.Options {
		t.Errorf("options: %q", v.OptionsJSON)
	}
	if v.Status != cw.StatusStarting || v.SessionNumber != 2 || v.SessionID != "session-2" || v.Reason != "" || v.RetryAt != nil ||
		v.Error != "" || v.Result != "" || v.NoChanges != "" || v.LastSnippet != "words" || len(v.Runs) != 2 {
		t.Errorf("starting: %+v", v)
	}
	same(t, "counters of the next run", cw.RetriesOf(v.Agent), next.Retries)
	same(t, "events", b.toldTypes(told), []cw.EventType{cw.EventAgentResumed, cw.EventAgentStarting})
	state, err := b.RunState(t.Context(), next.Run.ID)
	b.must(err)
	if state.Op == nil || state.Op.ID != next.Op.ID || state.Op.Kind != cw.OpResume || state.Op.Status != cw.OpIntended ||
		state.Run.MessageID != next.Messages[0].ID || len(state.Worktrees) != 1 {
		t.Errorf("state: %+v", state)
	}

	b.must(b.SaveOpStep(t.Context(), next.Op.ID, "resume/prepared"))
	s := starting(in)
	s.RunID, s.OpID, s.Step = next.Run.ID, next.Op.ID, "resume/starting"
	told = len(b.toldEvents())
	for range 2 { // recovery comes again, with another token
		s.Token.ID, s.Token.Hash = cw.TokenID(cw.NewID()), cw.NewID()
		b.must(b.SaveStarting(t.Context(), s))
	}
	same(t, "events of SaveStarting", b.toldTypes(told), []cw.EventType(nil))
	messages, err := b.RunMessages(t.Context(), next.Run.ID)
	b.must(err)
	if len(messages) != 1 || messages[0].Body != "go on" || messages[0].DeliveredAt != nil {
		t.Errorf("texts of a starting run: %+v", messages)
	}
	b.must(b.SaveRunning(t.Context(), cw.Running{AgentID: in.Agent.ID, RunID: next.Run.ID, OpID: next.Op.ID, Handle: []byte("{}"), PID: 7}))
	if messages, err = b.RunMessages(t.Context(), next.Run.ID); err != nil || messages[0].DeliveredAt == nil {
		t.Errorf("texts of a running run: %+v, %v", messages, err)
	}
	if op := b.op(next.Op.ID); op.Status != cw.OpDone || b.agent("brave-otter").Status != cw.StatusRunning {
		t.Errorf("running: %+v", op)
	}
}

// TestIntendRunRefuses: each refusal names what stands in the way, and no part
// of the intent is stored.
func TestIntendRunRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	type agents struct{ idle, running, removed, leaving cw.AgentID }
	a := agents{
		idle: b.restingAgent("idle-ibis", cw.StatusIdle).Agent.ID, running: b.runningAgent("busy-bee").Agent.ID,
		removed: b.restingAgent("gone-goat", cw.StatusIdle).Agent.ID, leaving: b.restingAgent("late-lark", cw.StatusIdle).Agent.ID,
	}
	b.removeAgent(a.removed)
	b.must(b.IntendOp(t.Context(), settle(a.leaving, cw.OpRemove)))
	for _, c := range []struct {
		name, text string
		code       cw.Code
		agent      cw.AgentID
		change     func(*cw.RunIntent)
	}{
		{"another status", "is idle", cw.CodeRefused, a.idle, func(in *cw.RunIntent) { in.From = []cw.AgentStatus{cw.StatusStopped} }},
		{"no status", "is idle", cw.CodeRefused, a.idle, func(in *cw.RunIntent) { in.From = nil }},
		{"alive", "is running", cw.CodeRefused, a.running, func(in *cw.RunIntent) { in.From = cw.AgentStatuses() }},
		{"removed", "cw agent restore gone-goat", cw.CodeRefused, a.removed, func(*cw.RunIntent) {}},
		{"about to be removed", "its removal is not over", cw.CodeRefused, a.leaving, func(*cw.RunIntent) {}},
		{"an older number", "its next run is 2, not 1", cw.CodeRefused, a.idle, func(in *cw.RunIntent) { in.Run.SessionNumber = 1 }},
		{"a later number", "its next run is 2, not 3", cw.CodeRefused, a.idle, func(in *cw.RunIntent) { in.Run.SessionNumber = 3 }},
		{"nobody", "no agent", cw.CodeNotFound, "zzzzzzzzzzzz", func(*cw.RunIntent) {}},
		{"a known operation", "", cw.CodeRefused, a.idle, func(in *cw.RunIntent) { in.Op.ID = b.agentOps(a.idle)[0].ID }},
	} {
		in, before := nextRun(c.agent, 2, "go on"), b.dump()
		c.change(&in)
		refuses(t, b.IntendRun(t.Context(), in), c.code, c.text)
		same(t, "rows after "+c.name, b.dump(), before)
	}
}

// TestOneRunAtATime: the schema itself refuses a second run beside one that has
// not ended, and lets a check run beside it.
func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	b.addCheck(in.Agent.ID)
	err := b.change(t.Context(), "second run", func(tx *tx) error {
		return tx.addRun(in.Agent, nextRun(in.Agent.ID, 2))
	})
	refuses(t, err, cw.CodeRefused, "")
}

// TestConcurrentResume: of many who resume an agent at once exactly one does.
func TestConcurrentResume(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusIdle)
	b.queue(in.Agent.ID, "waits")
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			err := b.IntendRun(t.Context(), nextRun(in.Agent.ID, 2, fmt.Sprintf("text %d", i)))
			switch {
			case err == nil:
				won.Add(1)
			case cw.ErrorCode(err) != cw.CodeRefused:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	v := b.agent("brave-otter")
	if won.Load() != 1 || len(v.Runs) != 2 || len(b.openOps()) != 1 {
		t.Fatalf("%d won, %d runs, operations %+v", won.Load(), len(v.Runs), b.openOps())
	}
	if texts := b.runTexts(v.Runs[1].ID); len(texts) != 2 || texts[0] != "waits" {
		t.Errorf("texts: %q", texts)
	}
}

// TestCarriedTexts: what a run that never started was to say comes into the next
// one, before what is new, and so does what was queued meanwhile; what was
// delivered, and the agent's own words, do not come again.
func TestCarriedTexts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusIdle)
	b.exec("UPDATE messages SET delivered_at = created_at") // as the engine gives the first prompt
	b.queue(in.Agent.ID, "queued")
	second := nextRun(in.Agent.ID, 2, "the answers")
	b.must(b.IntendRun(t.Context(), second))
	b.queue(in.Agent.ID, "while it starts")
	same(t, "second run", b.runTexts(second.Run.ID), []string{"queued", "the answers"})
	if n := b.agent("brave-otter").QueuedMessages; n != 1 {
		t.Errorf("%d texts wait for a run, want the one that has none", n)
	}

	f := finishNext(second, cw.StatusStarting, cw.StatusCrashed)
	f.Reason, f.Assistant = cw.ReasonStartFailed, &cw.Message{Body: "its own word"}
	_, err := b.FinishRun(t.Context(), f)
	b.must(err)
	if op := b.op(second.Op.ID); op.Status != cw.OpFailed || op.Error != string(cw.ReasonStartFailed) {
		t.Errorf("the operation of a run that never started: %+v", op)
	}
	same(t, "the second run's own word is in no prompt", b.runTexts(second.Run.ID), []string{"queued", "the answers"})
	third := nextRun(in.Agent.ID, 3, "go on")
	b.must(b.IntendRun(t.Context(), third))
	same(t, "third run", b.runTexts(third.Run.ID), []string{"queued", "the answers", "while it starts", "go on"})
	state, err := b.RunState(t.Context(), third.Run.ID)
	b.must(err)
	if state.Run.MessageID != third.Messages[0].ID {
		t.Errorf("the run was started for %s", state.Run.MessageID)
	}
	b.must(b.SaveRunning(t.Context(), cw.Running{AgentID: in.Agent.ID, RunID: third.Run.ID, OpID: third.Op.ID, Handle: []byte("{}")}))
	_, err = b.FinishRun(t.Context(), finishNext(third, cw.StatusRunning, cw.StatusIdle))
	b.must(err)
	fourth := nextRun(in.Agent.ID, 4)
	b.must(b.IntendRun(t.Context(), fourth))
	same(t, "fourth run", b.runTexts(fourth.Run.ID), []string(nil))
	if n := b.agent("brave-otter").QueuedMessages; n != 0 {
		t.Errorf("%d texts wait", n)
	}
}

// finishNext ends a run that was resumed.
func finishNext(in cw.RunIntent, from, to cw.AgentStatus) cw.Finish {
	return cw.Finish{
		AgentID: in.AgentID, RunID: in.Run.ID, OpID: in.Op.ID, From: []cw.AgentStatus{from}, Status: to,
		Events: []cw.Event{event(cw.EventAgentStopped, "stopped")},
	}
}

// TestFinishWithNext ends a run and intends the next in one transaction, from a
// run that ran and from one that never did.
func TestFinishWithNext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	b.exec("UPDATE messages SET delivered_at = created_at")
	b.queue(in.Agent.ID, "queued")
	_, err := b.RequestStop(t.Context(), in.Run.ID, stopTerm)
	b.must(err)
	b.exec("UPDATE agents SET options_json = 'kept'")
	next := nextRun(in.Agent.ID, 2, "write the signal")
	b.exec(`UPDATE agents SET warnings = '["of an earlier run"]'`)
	f := finish(in, cw.StatusRunning, cw.StatusCrashed)
	f.Reason, f.Error, f.Result, f.Warnings = cw.ReasonNoSignal, "no signal", "its word", []string{"look here"}
	f.Assistant, f.Retries = &cw.Message{Body: "its word"}, cw.Retries{Signal: 1}
	f.CleanUp, f.Next = &cw.Op{ID: cw.OpID(cw.NewID())}, &next
	told := len(b.toldEvents())
	done, err := b.FinishRun(t.Context(), f)
	b.must(err)
	v := b.agent("brave-otter")
	if !done || v.Status != cw.StatusStarting || v.SessionNumber != 2 || v.SessionID != "session-2" || v.Error != "" || v.Reason != "" ||
		v.SignalRetries != 1 || !slices.Equal(v.Warnings, f.Warnings) || v.Settling {
		t.Errorf("agent: %+v", v)
	}
	if r := v.Runs[0]; r.EndedAt == nil || r.Outcome != cw.StatusCrashed || r.OutcomeReason != cw.ReasonNoSignal || r.Result != "its word" {
		t.Errorf("the run that ended: %+v", r)
	}
	if open := b.openOps(); len(open) != 1 || open[0].ID != next.Op.ID {
		t.Errorf("open: %+v", open)
	}
	same(t, "texts", b.runTexts(next.Run.ID), []string{"queued", "write the signal"})
	same(t, "events", b.toldTypes(told), []cw.EventType{cw.EventAgentStopped, cw.EventAgentResumed, cw.EventAgentStarting})

	before := b.dump()
	if done, err := b.FinishRun(t.Context(), f); done || err != nil {
		t.Errorf("once more: %v %v", done, err)
	}
	same(t, "rows after the second time", b.dump(), before)

	third := nextRun(in.Agent.ID, 3, "once more, from the start")
	f = finishNext(next, cw.StatusStarting, cw.StatusCrashed)
	f.Next = &third
	_, err = b.FinishRun(t.Context(), f)
	b.must(err)
	same(t, "texts", b.runTexts(third.Run.ID), []string{"queued", "write the signal", "once more, from the start"})
	if v := b.agent("brave-otter"); v.Status != cw.StatusStarting || v.SessionNumber != 3 || v.OptionsJSON != "kept" {
		t.Errorf("agent: %+v", v)
	}
}

// TestFinishWithNextIsWhole: when the next run cannot be intended the run has
// not ended either.
func TestFinishWithNextIsWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	for name, change := range map[string]func(*cw.RunIntent){
		"its number": func(next *cw.RunIntent) { next.Run.SessionNumber = 5 },
		"its id":     func(next *cw.RunIntent) { next.Run.ID = in.Run.ID },
		"an event":   func(next *cw.RunIntent) { next.Events = append(next.Events, event(cw.EventAgentOutput, "live")) },
	} {
		next := nextRun(in.Agent.ID, 2, "go on")
		change(&next)
		f := finish(in, cw.StatusRunning, cw.StatusIdle)
		f.Next = &next
		before, told := b.dump(), len(b.toldEvents())
		if done, err := b.FinishRun(t.Context(), f); err == nil || done {
			t.Fatalf("%s: %v %v", name, done, err)
		}
		same(t, "rows after "+name, b.dump(), before)
		if len(b.toldEvents()) != told {
			t.Errorf("%s: events of a change that was rolled back were told", name)
		}
	}
}

// TestReadyAgents: who goes on by itself, and who does not.
func TestReadyAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ready := func() []string {
		ids, err := b.ReadyAgents(t.Context())
		b.must(err)
		var names []string
		for _, id := range ids {
			a, err := b.AgentByRef(t.Context(), string(id))
			b.must(err)
			names = append(names, a.Alias)
		}
		return names
	}
	answered := b.restingAgent("answered", cw.StatusWaitingForInput, "Which?")
	b.restingAgent("asking", cw.StatusWaitingForInput, "Which?")
	b.removeAgent(b.restingAgent("gone", cw.StatusWaitingForInput, "Which?").Agent.ID)
	half := b.restingAgent("half", cw.StatusWaitingForInput, "Which?", "When?")
	written := b.restingAgent("written", cw.StatusIdle)
	b.restingAgent("idle", cw.StatusIdle)
	crashed, stopped := b.restingAgent("crashed", cw.StatusCrashed), b.restingAgent("stopped", cw.StatusStopped)
	b.exec("UPDATE messages SET delivered_at = created_at")
	same(t, "before", ready(), []string(nil))

	b.answer(answered.Agent.Alias)
	b.answerOne(half.Agent.Alias, 0)
	for _, in := range []cw.SpawnIntent{written, crashed, stopped} {
		b.queue(in.Agent.ID, "go on")
	}
	same(t, "ready", ready(), []string{"answered", "written"})

	cleanUp := settle(written.Agent.ID, cw.OpCleanUp)
	b.must(b.IntendOp(t.Context(), cleanUp))
	same(t, "while it is cleaned up", ready(), []string{"answered", "written"})
	b.must(b.EndOp(t.Context(), cleanUp.ID, nil, ""))
	removal := settle(written.Agent.ID, cw.OpRemove)
	b.must(b.IntendOp(t.Context(), removal))
	same(t, "while it is removed", ready(), []string{"answered"})
	b.must(b.RemoveAgent(t.Context(), cw.Removal{AgentID: written.Agent.ID, OpID: removal.ID}))
	same(t, "removed", ready(), []string{"answered"})
	b.must(b.IntendRun(t.Context(), nextRun(answered.Agent.ID, 2, "answers")))
	same(t, "on its way", ready(), []string(nil))
}
