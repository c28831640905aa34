package api

import (
	"net/http"
	"sync"
	"time"

	"cw/internal/cw"
)

// Writes of one agent by one route that are taken in a while: more than work of
// an agent needs, and few enough that a loop of one neither fills the store nor
// takes the turns of others.
const (
	writesOfAgent = 120
	writesWhile   = time.Minute
	// answersOfAgent is the same for answers: how many questions an agent is asked is
	// up to the others, and an answer that is refused keeps one of them waiting.
	answersOfAgent = 10 * writesOfAgent
)

// mostWrites is how many calls of a route an agent has in a while.
func mostWrites(row Route) int {
	if row.ID == "answer-conversation" {
		return answersOfAgent
	}
	return writesOfAgent
}

// mayWrite counts a write of an agent, before its body is read. CodeTooMany when
// there were too many; people and dashboards are not counted.
func (s *Server) mayWrite(actor cw.Actor, row Route, now time.Time) error {
	most := mostWrites(row)
	if actor.Kind != cw.ActorAgent || row.Method == http.MethodGet || s.writes.TakeOf(most, string(actor.AgentID)+" "+row.ID, now) {
		return nil
	}
	return cw.Errorf(cw.CodeTooMany, "an agent may do this %d times in a minute (%s)", most, row.ID).
		WithHint("wait a minute, then go on with what is new since")
}

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
func (a *Allowance) Take(who string, now time.Time) bool { return a.TakeOf(a.most, who, now) }

// TakeOf is Take for a caller that has another number of times.
func (a *Allowance) TakeOf(most int, who string, now time.Time) bool {
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
	if had.times >= most {
		return false
	}
	had.times++
	a.spent[who] = had
	return true
}
