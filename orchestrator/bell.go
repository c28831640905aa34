package orchestrator

import (
	"sync"

	"cw/internal/cw"
)

// bell wakes those who wait for something new of an agent. A ring is only a
// hint: whoever hears it looks at the rows.
type bell struct {
	mu    sync.Mutex
	heard map[cw.AgentID]chan struct{} // guarded by mu; closed at the next ring
}

func newBell() *bell { return &bell{heard: map[cw.AgentID]chan struct{}{}} }

// Ring wakes everybody who waits for the agent.
func (b *bell) Ring(agent cw.AgentID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ch, ok := b.heard[agent]; ok {
		close(ch)
		delete(b.heard, agent)
	}
}

// Next gives a channel that is closed at the next ring. Take it before looking
// at the rows, so that no ring is missed.
func (b *bell) Next(agent cw.AgentID) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	ch, ok := b.heard[agent]
	if !ok {
		ch = make(chan struct{})
		b.heard[agent] = ch
	}
	return ch
}
