package orchestrator

import (
	"context"
	"fmt"
	"time"

	"cw/internal/cw"
)

// holdMost is the longest wait between two looks at held worktrees, for timers
// stand still while the machine sleeps.
const holdMost = time.Minute

// holdTime is how long a worktree stays that somebody opened.
func (o *Orchestrator) holdTime() time.Duration {
	if o.HoldFor > 0 {
		return o.HoldFor
	}
	return cw.HoldTime
}

// holdEnd is until when a worktree stays that is opened now.
func (o *Orchestrator) holdEnd() time.Time {
	return time.Now().Add(o.holdTime()).UTC().Truncate(time.Millisecond)
}

// held tells whether somebody has the worktrees of an agent open.
func held(a cw.Agent, now time.Time) bool { return a.HeldUntil != nil && a.HeldUntil.After(now) }

// lookAtHolds wakes the loop that ends holds.
func (o *Orchestrator) lookAtHolds() {
	select {
	case o.holding <- struct{}{}:
	default: // it is to look already
	}
}

// watchHolds cleans up what nobody has open any more, until ctx ends. It begins
// late: who has a worktree open could not say so while no daemon ran.
func (o *Orchestrator) watchHolds(ctx context.Context) {
	if !pause(ctx, o.holdTime()/5) {
		return
	}
	for {
		next, err := o.endHolds(ctx)
		if err != nil && ctx.Err() == nil {
			o.Log.Error("look at held worktrees; it is tried again", "error", err)
		}
		var ring <-chan time.Time
		if !next.IsZero() {
			ring = time.After(max(0, min(time.Until(next), holdMost)))
		}
		select {
		case <-ctx.Done():
			return
		case <-o.holding:
		case <-ring:
		}
	}
}

// endHolds ends the holds that are over, and tells when to look again; zero:
// nothing is held.
func (o *Orchestrator) endHolds(ctx context.Context) (next time.Time, err error) {
	agents, err := o.Store.HeldAgents(ctx)
	if err != nil {
		return time.Now().Add(holdMost), fmt.Errorf("find them: %w", err)
	}
	for _, a := range agents {
		if held(a, time.Now()) {
			next = earlier(next, *a.HeldUntil)
			continue
		}
		if err := o.endHold(ctx, a.ID); err != nil {
			return time.Now().Add(holdMost), fmt.Errorf("end the hold of %s: %w", a.Alias, err)
		}
	}
	return next, nil
}

// endHold ends the hold of an agent, and does the clean-up that was put off.
func (o *Orchestrator) endHold(ctx context.Context, agent cw.AgentID) error {
	done, err := o.turns.take(ctx, agent)
	if err != nil {
		return err
	}
	defer done()
	op := newOp(cw.OpCleanUp, agent)
	due, err := o.Store.EndHold(ctx, op, time.Now())
	if err != nil || !due {
		return err
	}
	o.Fail.Hit("hold/ended")
	return o.hand(ctx, func(life context.Context) { o.cleanUp(life, op) })
}
