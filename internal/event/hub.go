package event

import (
	"slices"
	"sync"

	"cw/internal/cw"
)

// QueueLength is how many live events may wait in one subscription. When there
// are more, the oldest go: live events are not kept anywhere.
const QueueLength = 256

// Hub passes events from publishers to subscriptions. It has no goroutine of
// its own and may be used by many at once.
type Hub struct {
	mu     sync.Mutex
	subs   map[*Subscription]struct{}
	window window
}

// NewHub makes a hub without subscriptions.
func NewHub() *Hub {
	return &Hub{subs: map[*Subscription]struct{}{}}
}

// Subscription is one reader's bell and queue. It holds nothing of stored
// events: they are read with Recent, or from the rows.
type Subscription struct {
	// Bell holds one ring when something that the filter selects was published
	// since the last one was taken.
	Bell <-chan struct{}

	hub    *Hub
	filter cw.EventFilter
	bell   chan struct{}
	live   []cw.Event // guarded by the hub's lock
}

// Subscribe starts a subscription: every event published from now on that the
// filter selects. The caller must Close it.
func (h *Hub) Subscribe(f cw.EventFilter) *Subscription {
	f.Types, f.Also = slices.Clone(f.Types), slices.Clone(f.Also)
	bell := make(chan struct{}, 1)
	s := &Subscription{Bell: bell, hub: h, filter: f, bell: bell}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[s] = struct{}{}
	return s
}

// Publish tells all subscriptions of the events and never blocks. Stored ones
// must come in the order of their numbers.
func (h *Hub) Publish(events ...cw.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		if e.Type.Stored() {
			h.window.add(e)
		}
	}
	for s := range h.subs {
		s.tell(events)
	}
}

// tell is called with the hub's lock held.
func (s *Subscription) tell(events []cw.Event) {
	ring := false
	for _, e := range events {
		if ring && e.Type.Stored() || !s.filter.Matches(e) {
			continue
		}
		ring = true
		if e.Type.Stored() {
			continue
		}
		if len(s.live) == QueueLength {
			s.live = slices.Delete(s.live, 0, 1)
		}
		s.live = append(s.live, e)
	}
	if !ring {
		return
	}
	select {
	case s.bell <- struct{}{}:
	default: // it was not taken yet
	}
}

// Recent gives at most limit stored events with a greater number than seq that
// the filter selects, and the number up to which it looked, out of the newest
// that were published. ok is false when they do not reach back to seq: then
// only the rows can tell.
func (h *Hub) Recent(seq int64, f cw.EventFilter, limit int) (events []cw.Event, looked int64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.window.after(seq, f, limit)
}

// Live takes the live events that wait, in the order in which they were
// published.
func (s *Subscription) Live() []cw.Event {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	live := s.live
	s.live = nil
	return live
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.subs, s)
}
