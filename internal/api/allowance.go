package api

import (
	"sync"
	"time"
)

// Allowance lets something happen only so often, each caller counted alone. It
// is for what callers can cause as often as they like and what stays: lines of
// the log, stored events.
type Allowance struct {
	most  int
	every time.Duration
	mu    sync.Mutex
	spent map[string]spending // by caller
}

// spending is what one caller has had of its allowance.
type spending struct {
	since time.Time // of the first
	times int
}

// NewAllowance gives everybody so many times, and as many again when that time
// has gone by since the first.
func NewAllowance(most int, every time.Duration) *Allowance {
	return &Allowance{most: most, every: every, spent: map[string]spending{}}
}

// Take tells whether it may happen now, and counts it when it may. Who has
// taken nothing for a while is forgotten.
func (a *Allowance) Take(who string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for other, had := range a.spent {
		if now.Sub(had.since) >= a.every {
			delete(a.spent, other)
		}
	}
	had, known := a.spent[who]
	if !known {
		had.since = now
	}
	if had.times == a.most {
		return false
	}
	had.times++
	a.spent[who] = had
	return true
}
