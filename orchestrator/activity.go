package orchestrator

import (
	"context"
	"strings"
	"time"

	"cw/internal/cw"
)

// note folds parsed events, keeps what must survive the daemon at once, and
// tells when the agent does something else than before.
func (f *follower) note(ctx context.Context, events []cw.StreamEvent, at time.Time) {
	f.fold(events, at)
	f.keepTelling(at)
	f.notePlan(events)
	f.keepSessionID(ctx)
	f.keepWindows(ctx, events, at)
}

// activityEvery is the shortest time between two events about what one agent does.
const activityEvery = 250 * time.Millisecond

// teller remembers what was told of an agent's activity.
type teller struct {
	told cw.Activity
	at   time.Time // when
	due  time.Time // when to look again, since it differs and was told just now; zero: not
}

// keepTelling tells those who follow when the agent does something else than was
// told, at most so often.
func (f *follower) keepTelling(now time.Time) {
	f.teller.due = time.Time{}
	switch due, does := f.teller.at.Add(activityEvery), f.activity(); {
	case does.LastAt == nil: // nothing is known yet
	case !does.Differs(f.teller.told):
	case now.Before(due):
		f.teller.due = due
	default:
		f.tellActivity(now)
	}
}

// tellActivity tells those who follow what the agent does now.
func (f *follower) tellActivity(now time.Time) {
	f.teller = teller{told: *f.activity(), at: now}
	f.o.Publish(cw.NewEvent(cw.EventAgentActivity, cw.Actor{Kind: cw.ActorCW}, cw.AgentActivity{
		AgentID: f.state.Agent.ID, Activity: f.teller.told,
	}).About(f.state.Agent.ID, f.state.Run.ID).In(f.state.Agent.InitiativeID))
}

// fold takes what a piece of output says, also nothing: with it a silence ends.
func (f *follower) fold(events []cw.StreamEvent, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ev := range events {
		f.summary.Add(ev)
		f.trouble = f.trouble.after(ev, at)
		f.doing = f.doing.After(ev, at)
	}
	f.silence, f.stall, f.lastAt = f.silence.after(events, at), stall{}, at
}

// activity tells what the agent does now.
func (f *follower) activity() *cw.Activity {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := &cw.Activity{State: cw.ActivityBusy, Tool: f.summary.LastTool, Verb: f.doing.Verb}
	a.Subject = strings.TrimPrefix(f.doing.Subject, f.state.Agent.AgentCwd+"/")
	if since := f.doing.Since; !since.IsZero() {
		a.Since = &since
	}
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
