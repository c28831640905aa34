package event

import (
	"slices"
	"sync"
	"sync/atomic"

	"cw/internal/cw"
)

// QueueLength is how many events may wait in one subscription before it is
// closed as overflowed.
const QueueLength = 256

// Filter selects the events of a subscription. The zero Filter selects all but
// agent:output, which is sent only to those who name it.
type Filter struct {
	Types []cw.EventType // empty: all but agent:output
	Agent cw.AgentID     // "": of any agent, and of none
}

// Matches tells whether the filter selects e.
func (f Filter) Matches(e cw.Event) bool {
	if f.Agent != "" && f.Agent != e.AgentID {
		return false
	}
	if len(f.Types) == 0 {
		return e.Type != cw.EventAgentOutput
	}
	return slices.Contains(f.Types, e.Type)
}

// Hub passes events from publishers to subscriptions. It has no goroutine of
// its own and may be used by many at once.
type Hub struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

// NewHub makes a hub without subscriptions.
func NewHub() *Hub {
	return &Hub{subs: map[*Subscription]struct{}{}}
}

// Subscription is one reader's queue of events.
type Subscription struct {
	// C delivers the events in the order in which they were published. It is
	// closed by Close and by an overflow; what is queued can still be read.
	C <-chan cw.Event

	hub        *Hub
	filter     Filter
	queue      chan cw.Event
	overflowed atomic.Bool
}

// Subscribe starts a subscription: every event published from now on that the
// filter selects. The caller must Close it.
func (h *Hub) Subscribe(f Filter) *Subscription {
	f.Types = slices.Clone(f.Types)
	queue := make(chan cw.Event, QueueLength)
	s := &Subscription{C: queue, hub: h, filter: f, queue: queue}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[s] = struct{}{}
	return s
}

// Publish hands the events to all subscriptions and never blocks: a
// subscription whose queue is full is closed and marked as overflowed. All
// subscriptions see all events in the same order.
func (h *Hub) Publish(events ...cw.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		for s := range h.subs {
			if s.filter.Matches(e) {
				h.deliver(s, e)
			}
		}
	}
}

// deliver is called with the lock held, so that a queue is never closed while
// somebody sends to it.
func (h *Hub) deliver(s *Subscription, e cw.Event) {
	select {
	case s.queue <- e:
	default:
		s.overflowed.Store(true)
		h.drop(s)
	}
}

func (h *Hub) drop(s *Subscription) {
	if _, ok := h.subs[s]; ok {
		delete(h.subs, s)
		close(s.queue)
	}
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.drop(s)
}

// Overflowed tells whether the subscription was closed because its reader did
// not keep up. It is final once C is closed.
func (s *Subscription) Overflowed() bool { return s.overflowed.Load() }
