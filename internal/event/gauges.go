package event

// Depth tells how many subscriptions there are, and how many live events wait
// in all of them.
func (h *Hub) Depth() (subscriptions, waiting int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		waiting += len(s.live)
	}
	return len(h.subs), waiting
}
