package orchestrator

import (
	"math"
	"sync"
	"time"

	"cw/internal/cw"
)

// askRate lets each agent ask so often: as often as it likes until its minute is
// spent, and then as fast as the minute comes back. It is looked at before the
// store is, so that a flood of one agent takes no turn of the others there.
type askRate struct {
	mu    sync.Mutex
	spent map[cw.AgentID]askBucket // guarded by mu; agents that asked lately
}

// askBucket is what an agent has left.
type askBucket struct {
	left float64
	at   time.Time // of left
}

func newAskRate() *askRate { return &askRate{spent: map[cw.AgentID]askBucket{}} }

// take counts a question. CodeRefused, with when to try again.
func (r *askRate) take(agent cw.AgentID, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, b := range r.spent {
		if b.refilled(now).left >= cw.AsksPerMinute {
			delete(r.spent, other)
		}
	}
	b, known := r.spent[agent]
	if !known {
		b = askBucket{left: cw.AsksPerMinute, at: now}
	}
	b = b.refilled(now)
	if b.left < 1 {
		wait := int(math.Ceil((1 - b.left) * 60 / cw.AsksPerMinute))
		return cw.Errorf(cw.CodeRefused, "an agent may ask and message others %d times in a minute", cw.AsksPerMinute).
			WithHint("try again in %d s", wait)
	}
	b.left--
	r.spent[agent] = b
	return nil
}

// refilled is a bucket as it is at a later time.
func (b askBucket) refilled(now time.Time) askBucket {
	more := max(0, now.Sub(b.at)).Minutes() * cw.AsksPerMinute
	return askBucket{left: min(cw.AsksPerMinute, b.left+more), at: now}
}
