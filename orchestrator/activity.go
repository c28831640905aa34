package orchestrator

import (
	"context"
	"time"

	"cw/internal/cw"
)

// note folds parsed events, keeps what must survive the daemon at once, and
// tells when the agent does something else than before.
func (f *follower) note(ctx context.Context, events []cw.StreamEvent, at time.Time) {
	before := f.activity()
	f.fold(events, at)
	if f.activity().Differs(*before) {
		f.tellActivity()
	}
	f.notePlan(events)
	f.keepSessionID(ctx)
	f.keepWindows(ctx, events, at)
}

// tellActivity tells those who follow what the agent does now.
func (f *follower) tellActivity() {
	f.o.Publish(cw.NewEvent(cw.EventAgentActivity, cw.Actor{Kind: cw.ActorCW}, cw.AgentActivity{
		AgentID: f.state.Agent.ID, Activity: *f.activity(),
	}).About(f.state.Agent.ID, f.state.Run.ID).In(f.state.Agent.InitiativeID))
}

// fold takes what a piece of output says, also nothing: with it a silence ends.
func (f *follower) fold(events []cw.StreamEvent, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ev := range events {
		f.summary.Add(ev)
		f.trouble = f.trouble.after(ev, at)
	}
	f.silence, f.stall, f.lastAt = f.silence.after(events, at), stall{}, at
}

// activity tells what the agent does now.
func (f *follower) activity() *cw.Activity {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := &cw.Activity{State: cw.ActivityBusy, Tool: f.summary.LastTool}
	if !f.lastAt.IsZero() {
		at := f.lastAt
		a.LastAt = &at
	}
	if f.summary.Retry.Attempt > 0 {
		a.State, a.Attempt, a.Bucket = cw.ActivityRetrying, f.summary.Retry.Attempt, cw.BucketTransient
		if f.summary.Retry.Delay > 0 { // not every CLI tells it
			next := f.lastAt.Add(f.summary.Retry.Delay)
			a.NextRetry = &next
		}
	}
	if f.stall.told {
		a.State = cw.ActivityStalled
	}
	return a
}
