package orchestrator

import (
	"context"
	"fmt"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
)

// refusedPatience is how long a CLI may try again with credentials that are
// refused: nothing but a new login ends that.
const refusedPatience = time.Minute

// trouble is a time in which a CLI reports nothing but retries. It is folded
// from events with the times of their chunks, so that a daemon that takes up a
// run comes to the same.
type trouble struct {
	Since time.Time // zero: there is none
	Text  string    // what it said last
	// Refused: all of them say that the credentials are refused.
	Refused bool
}

// after is the trouble after one more event. What is said beside retries ("it
// falls back to HTTPS") does not end it.
func (t trouble) after(ev cw.StreamEvent, at time.Time) trouble {
	switch ev.Kind {
	case cw.StreamRetry:
		refused := ev.Bucket == cw.BucketAuth
		if t.Since.IsZero() {
			t.Since, t.Refused = at, true
		}
		t.Refused = t.Refused && refused
		t.Text = ev.Text
		return t
	case cw.StreamWarning, cw.StreamInit:
		return t
	}
	return trouble{}
}

// deadline is when patience with it ends; zero when it never does.
func (t trouble) deadline(patience time.Duration) time.Time {
	if t.Refused && (patience <= 0 || patience > refusedPatience) {
		patience = refusedPatience
	}
	if patience <= 0 || t.Since.IsZero() {
		return time.Time{}
	}
	return t.Since.Add(patience)
}

// over tells whether patience had ended at that time.
func (t trouble) over(patience time.Duration, at time.Time) bool {
	deadline := t.deadline(patience)
	return !deadline.IsZero() && !at.Before(deadline)
}

// inVain is what people are told about a run that was ended for it.
func inVain(provider string, patience time.Duration, t trouble) string {
	return fmt.Sprintf("it only tried again for %s and got nowhere, so cw ended it%s. Look at the network, the proxy and the login of %s, then start it again; patience.retrying of the preset says how long cw waits",
		patience, colon(t.Text), provider)
}

// alarm rings at a time that moves, mostly to later ones.
type alarm struct {
	at   time.Time
	ring <-chan time.Time // nil: it is not set
}

// set sets the alarm to a time; zero: to none. One that is set to an earlier
// time stays: who hears it looks and sets it anew, which is cheaper than moving
// it with every piece of output.
func (a *alarm) set(at time.Time) {
	switch {
	case at.IsZero():
		a.ring = nil
	case a.ring == nil || at.Before(a.at):
		a.at, a.ring = at, time.After(time.Until(at))
	}
}

// watchPatience acts on patience that is over, and tells when to look again;
// zero: not before there is output. giveUp ends the run.
func (f *follower) watchPatience(ctx context.Context, now time.Time, giveUp func()) (next time.Time) {
	if f.gaveUp || f.stalled != nil || f.overspent {
		return time.Time{}
	}
	limit := f.limits.Retrying.Duration
	if f.trouble.over(limit, now) {
		f.gaveUp = true
		f.o.Log.Warn("end a run that only tries again", "agent", f.state.Agent.Alias, "since", f.trouble.Since, "says", f.trouble.Text)
		giveUp()
		return time.Time{}
	}
	return earlier(f.trouble.deadline(limit), f.watchSilence(ctx, now, giveUp))
}

// earlier gives the earlier of two times; zero is none.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// giveUp ends a run as a stop would, but nobody asked for it. The follower goes
// on to the end of the output.
func (f *follower) giveUp(ctx context.Context) {
	log := f.o.Log.With("agent", f.state.Agent.Alias, "run", f.state.Run.ID)
	_ = again(ctx, log, "end a run by rule", func(int) error {
		return proc.Stop(ctx, f.state.Run.Dir, f.handle, f.o.stopGrace(f.state.Agent.Provider))
	}) // what ctx interrupts the next daemon takes up
}

// gaveUpText tells why the run was ended by cw, "" when it was not: somebody
// ended it, patience was over, and nothing went on since.
func (f *follower) gaveUpText(obs proc.Observation) string {
	if obs.Exit == nil || obs.Exit.Stopped == "" || f.trouble.Since.IsZero() {
		return ""
	}
	limit := f.limits.Retrying.Duration
	if !f.gaveUp && !f.trouble.over(limit, obs.Exit.EndedAt) {
		return ""
	}
	if f.trouble.Refused {
		limit = refusedPatience
	}
	return inVain(f.state.Agent.Provider, limit, f.trouble)
}
