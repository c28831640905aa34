package api

import (
	"sync"

	"cw/internal/cw"
)

// Limits of streams that are open at the same time. Each holds some memory
// for as long as its reader does not read.
const (
	agentSeats     = 8   // of one agent, whichever of its processes opened them
	tokenSeats     = 100 // of one dashboard's token, so that others find some
	dashboardSeats = 200 // of all dashboards, so that the socket always has some
	allSeats       = 256 // of all callers
)

// seats counts open streams. Its zero value is empty.
type seats struct {
	mu         sync.Mutex
	all        int
	dashboards int
	byAgent    map[cw.AgentID]int
	byToken    map[string]int
}

// take gives the actor one more stream until release, which may be called more
// than once, or CodeTooMany when all are taken.
func (s *seats) take(actor cw.Actor) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case actor.Kind == cw.ActorAgent && s.byAgent[actor.AgentID] >= agentSeats:
		return nil, cw.Errorf(cw.CodeTooMany, "this agent has %d streams open already", agentSeats).
			WithHint("end a command that follows output, then try again")
	case actor.Kind == cw.ActorDashboard && s.byToken[actor.ID] >= tokenSeats:
		return nil, cw.Errorf(cw.CodeTooMany, "this token has %d streams open already", tokenSeats).
			WithHint("close dashboards, or let one stream carry the events of many agents, then try again")
	case actor.Kind == cw.ActorDashboard && s.dashboards >= dashboardSeats:
		return nil, cw.Errorf(cw.CodeTooMany, "dashboards have %d streams open already", dashboardSeats).
			WithHint("close dashboards, or let one stream carry the events of many agents, then try again")
	case s.all >= allSeats:
		return nil, cw.Errorf(cw.CodeTooMany, "%d streams are open already", allSeats).
			WithHint("end commands that follow output or events, then try again")
	}
	s.add(actor, 1)
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.add(actor, -1)
	}), nil
}

func (s *seats) add(actor cw.Actor, n int) {
	s.all += n
	switch actor.Kind {
	case cw.ActorDashboard:
		s.dashboards += n
		s.byToken = count(s.byToken, actor.ID, n)
	case cw.ActorAgent:
		s.byAgent = count(s.byAgent, actor.AgentID, n)
	}
}

// count adds to one of many counters; those at 0 go.
func count[K comparable](counters map[K]int, of K, n int) map[K]int {
	if counters == nil {
		counters = map[K]int{}
	}
	if counters[of] += n; counters[of] == 0 {
		delete(counters, of)
	}
	return counters
}
