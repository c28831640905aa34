package orchestrator

import (
	"context"
	"strings"
	"sync"

	"cw/internal/cw"
)

// waits knows which agents wait for the responses of which others, at this
// moment: after a restart their clients come back, and say so again.
type waits struct {
	mu sync.Mutex
	on map[cw.AgentID]map[cw.AgentID]int // guarded by mu; how often one waits for another
}

func newWaits() *waits { return &waits{on: map[cw.AgentID]map[cw.AgentID]int{}} }

// begin notes that one agent waits for another until end is called. With a
// circle it would wait for itself: then nothing is noted, and end is nil.
func (w *waits) begin(from, to cw.AgentID) (end func(), circle []cw.AgentID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if circle = w.way(from, to); circle != nil {
		return nil, circle
	}
	if w.on[from] == nil {
		w.on[from] = map[cw.AgentID]int{}
	}
	w.on[from][to]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.on[from][to]--; w.on[from][to] == 0 {
			delete(w.on[from], to)
		}
		if len(w.on[from]) == 0 {
			delete(w.on, from)
		}
	}, nil
}

// circle gives the agents that would wait for each other if one waited for
// another now; nil when there is none.
func (w *waits) circle(from, to cw.AgentID) []cw.AgentID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.way(from, to)
}

// way looks for the agent itself among those that the other one waits for. The
// lock is held.
func (w *waits) way(from, to cw.AgentID) []cw.AgentID {
	before := map[cw.AgentID]cw.AgentID{to: from}
	for queue := []cw.AgentID{to}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == from {
			return wayBack(before, from)
		}
		for next := range w.on[at] {
			if _, seen := before[next]; !seen {
				before[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// wayBack lists a circle as it is walked, the first agent at both ends.
func wayBack(before map[cw.AgentID]cw.AgentID, from cw.AgentID) []cw.AgentID {
	out := []cw.AgentID{from}
	for at := before[from]; at != from; at = before[at] {
		out = append([]cw.AgentID{at}, out...)
	}
	return append([]cw.AgentID{from}, out...)
}

// errCircle names a circle of agents that would wait for each other; nil for
// none.
func (o *Orchestrator) errCircle(ctx context.Context, circle []cw.AgentID) error {
	if circle == nil || o.Guards.Off("message-circle") {
		return nil
	}
	names := make([]string, len(circle))
	for i, id := range circle {
		names[i] = string(id)
		if a, err := o.Store.AgentByRef(ctx, string(id)); err == nil {
			names[i] = a.Alias
		}
	}
	return cw.Errorf(cw.CodeRefused, "these agents would wait for each other for ever: %s", strings.Join(names, " → ")).
		WithHint("use mode async, or end your run with what the other agent waits for")
}
