package orchestrator

import (
	"context"
	"sync"
)

// turns lets what changes an agent's places and runs happen one after the
// other: a resume, a clean-up, a removal and a restoring of the same agent never
// meet. Different agents do not wait for each other. Likewise agents of one
// initiative end one after the other, so that each knows what the others suggest.
// It orders the acts of this daemon alone; what holds across daemons are the
// conditions of the store.
type turns[K comparable] struct {
	mu   sync.Mutex
	held map[K]chan struct{} // guarded by mu; closed when the turn is over
}

func newTurns[K comparable]() *turns[K] { return &turns[K]{held: map[K]chan struct{}{}} }

// take waits for the turn of that one. done ends it and must be called once; it
// is nil when ctx ended first.
func (t *turns[K]) take(ctx context.Context, whose K) (done func(), err error) {
	for {
		t.mu.Lock()
		before, busy := t.held[whose]
		if !busy {
			over := make(chan struct{})
			t.held[whose] = over
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.held, whose)
				t.mu.Unlock()
				close(over)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
