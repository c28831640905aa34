package orchestrator

import (
	"context"
	"fmt"
	"sync"
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

// holds tell when the worktrees of agents were said to be open, by this daemon's
// own clock. It stands still while the machine sleeps, as those do who would say
// so again, and nobody sets it. Its zero value is empty.
type holds struct {
	mu   sync.Mutex
	said map[cw.AgentID]time.Time
}

func (h *holds) say(agent cw.AgentID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.said == nil {
		h.said = map[cw.AgentID]time.Time{}
	}
	h.said[agent] = time.Now()
}

func (h *holds) forget(agent cw.AgentID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.said, agent)
}

// left is how much is left of a hold of that length.
func (h *holds) left(agent cw.AgentID, length time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	said, known := h.said[agent]
	if !known {
		return 0
	}
	return length - time.Since(said)
}

// hold says that the worktrees of an agent are open now, and gives until when
// they stay.
func (o *Orchestrator) hold(agent cw.AgentID) time.Time {
	o.holds.say(agent)
	return time.Now().Add(o.holdTime()).UTC().Truncate(time.Millisecond)
}

// holdLeft is for how long somebody has the worktrees of an agent open; 0 or
// less: for no longer. What is stored is a time of day, which holds over the
// death of a daemon and not over the sleep of a machine.
func (o *Orchestrator) holdLeft(a cw.Agent) time.Duration {
	if a.HeldUntil == nil {
		return 0
	}
	return max(time.Until(*a.HeldUntil), o.holds.left(a.ID, o.holdTime()))
}

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
		if left := o.holdLeft(a); left > 0 {
			next = earlier(next, time.Now().Add(left))
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
	o.holds.forget(agent)
	op := newOp(cw.OpCleanUp, agent)
	due, err := o.Store.EndHold(ctx, op, time.Now())
	if err != nil || !due {
		return err
	}
	o.Fail.Hit("hold/ended")
	return o.hand(ctx, func(life context.Context) { o.cleanUp(life, op) })
}
