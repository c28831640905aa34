package orchestrator

import (
	"context"
	"fmt"
	"time"

	"cw/accounts"
	"cw/internal/cw"
)

const (
	// parkedMost is the longest wait between two looks at parked agents. A timer
	// stands still while the machine sleeps, and a clock may be set.
	parkedMost = time.Minute
	// putOffLeast is by how much the time until which an agent is parked must
	// change to be told anew.
	putOffLeast = time.Minute
)

// AccountsChanged says that somebody changed the accounts: added one, enabled
// one, logged in again. Parked agents are looked at, and what failed before
// counts no more.
func (o *Orchestrator) AccountsChanged() {
	o.mu.Lock()
	o.changed = time.Now()
	o.mu.Unlock()
	o.lookAtParked()
}

// lookAtParked wakes the loop that wakes parked agents.
func (o *Orchestrator) lookAtParked() {
	select {
	case o.parking <- struct{}{}:
	default: // it is to look already
	}
}

// wakeParked lets parked agents go on when an account is back, until ctx ends.
// The rows are the truth: it begins with a look, and sleeps until the first
// account should be back, or somebody says that something has changed.
func (o *Orchestrator) wakeParked(ctx context.Context) {
	for {
		next, err := o.wakeDue(ctx)
		if err != nil && ctx.Err() == nil {
			o.Log.Error("look at parked agents; it is tried again", "error", err)
		}
		var ring <-chan time.Time
		if !next.IsZero() {
			ring = time.After(max(0, min(time.Until(next), parkedMost)))
		}
		select {
		case <-ctx.Done():
			return
		case <-o.parking:
		case <-ring:
		}
	}
}

// wakeDue lets every parked agent go on for which there is an account, and tells
// when to look again; zero: nobody is parked.
func (o *Orchestrator) wakeDue(ctx context.Context) (next time.Time, err error) {
	next = time.Now().Add(parkedMost)
	parked, err := o.Store.ParkedAgents(ctx)
	if err != nil {
		return next, fmt.Errorf("list parked agents: %w", err)
	}
	if len(parked) == 0 {
		return time.Time{}, nil
	}
	if o.enoughDisk() != nil {
		return next, nil // they would only wait for that
	}
	for _, a := range parked {
		wakes, back, err := o.wakes(ctx, a)
		if err != nil {
			return next, err
		}
		if !wakes {
			next = earlier(next, back)
			continue
		}
		if err := o.hand(ctx, func(life context.Context) { o.goOn(life, a.ID) }); err != nil {
			return next, err
		}
	}
	return next, nil
}

// wakes looks whether there is an account for a parked agent, and takes none;
// else it tells when that may change; zero: nobody knows.
func (o *Orchestrator) wakes(ctx context.Context, a cw.Agent) (now bool, back time.Time, err error) {
	view, err := o.Store.AgentView(ctx, string(a.ID))
	if err != nil {
		return false, back, fmt.Errorf("read agent: %w", err)
	}
	next, first, err := o.dueBy(ctx, view, accounts.Need{Without: o.stillInVain(view)}, nil, accounts.Choose)
	if err != nil || next != nil {
		return next != nil, back, err
	}
	if first != nil {
		back = *first
		if err := o.putOff(ctx, view, back); err != nil {
			return false, back, err
		}
	}
	if at := view.RetryAt; at != nil && at.After(time.Now()) {
		back = earlier(back, *at)
	}
	return false, back, nil
}

// putOff stores and tells until when a parked agent waits, where that is not what
// was told: runs of others may find out that an account is at its limit for
// longer. What guesses differ by is no news.
func (o *Orchestrator) putOff(ctx context.Context, v cw.AgentView, back time.Time) error {
	if v.RetryAt != nil && back.Sub(*v.RetryAt).Abs() <= putOffLeast {
		return nil
	}
	ev := cw.NewEvent(cw.EventAgentParked, cw.Actor{Kind: cw.ActorCW}, cw.AgentParked{Name: v.Alias, Reason: v.Reason, RetryAt: &back, Text: v.Error}).About(v.ID, "")
	if err := o.Store.PutOff(ctx, v.ID, back, ev); err != nil {
		return fmt.Errorf("store until when an agent is parked: %w", err)
	}
	o.bell.Ring(v.ID)
	return nil
}

// stillInVain are the accounts that a parked agent need not try: those that were
// refused in its last runs, until it was to go on, or somebody changed something
// about accounts.
func (o *Orchestrator) stillInVain(v cw.AgentView) []cw.AccountID {
	if v.RetryAt != nil && !v.RetryAt.After(time.Now()) {
		return nil
	}
	o.mu.Lock()
	changed := o.changed
	o.mu.Unlock()
	if last := v.Runs[len(v.Runs)-1].EndedAt; last != nil && last.Before(changed) {
		return nil
	}
	return triedInVain(v.Runs)
}

// unpark chooses what a parked agent goes on with when it may; nil for nothing.
func (o *Orchestrator) unpark(ctx context.Context, v cw.AgentView) (*successor, error) {
	next, _, err := o.due(ctx, v, accounts.Need{Without: o.stillInVain(v)}, nil)
	return next, err
}

// unparkNow is unpark for a person who does not want to wait: whatever failed
// before is tried again. CodeRefused when there is no account.
func (o *Orchestrator) unparkNow(ctx context.Context, v cw.AgentView) (*successor, error) {
	next, back, err := o.due(ctx, v, accounts.Need{}, nil)
	switch {
	case err != nil || next != nil:
		return next, err
	case back == nil:
		return nil, cw.Errorf(cw.CodeRefused, "agent %s is parked, and there is no account that it could use", v.Alias).
			WithHint("cw account list and cw budget list tell why; it goes on by itself when an account is added or enabled, or a budget raised")
	}
	return nil, cw.Errorf(cw.CodeRefused, "agent %s is parked: every account is at its limit until %s", v.Alias, shownTime(*back)).
		WithHint("it goes on by itself then; cw agent send %s \"…\" gives it a text for that, cw account add another account", v.Alias)
}

// stopWaiting stops an agent that waits for an account or for answers: nothing of
// it runs.
func (o *Orchestrator) stopWaiting(ctx context.Context, v cw.AgentView) error {
	done, err := o.turns.take(ctx, v.ID)
	if err != nil {
		return err
	}
	defer done()
	ev := cw.NewEvent(cw.EventAgentStopped, cw.ActorOf(ctx), cw.AgentStopped{Name: v.Alias, Reason: cw.ReasonUser}).About(v.ID, "")
	err = o.Store.StopWaiting(ctx, v.ID, ev)
	o.bell.Ring(v.ID)
	if cw.ErrorCode(err) == cw.CodeRefused {
		return nil // it went on meanwhile, as the next look tells
	}
	return err
}
