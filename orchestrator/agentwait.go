package orchestrator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"cw/internal/cw"
)

// waits knows which agents wait for the responses of which others, at this
// moment: after a restart their clients come back, and say so again.
type waits struct {
	// looking is held from a look at the questions that are stored to the note of
	// a new wait, and while a question is stored: of two agents that begin to wait
	// for each other at once, one sees the other.
	looking sync.Mutex

	mu sync.Mutex
	on map[cw.Waiting]int // guarded by mu; how often one waits for another
}

func newWaits() *waits { return &waits{on: map[cw.Waiting]int{}} }

// begin notes that one agent waits for another until end is called. When it would
// wait for itself, also by way of those who asked and have no answer yet, nothing
// is noted: then there is a circle, and no end.
func (w *waits) begin(from, to cw.AgentID, asked []cw.Waiting) (end func(), circle []cw.AgentID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if circle = w.circleOf(from, to, asked); circle != nil {
		return nil, circle
	}
	one := cw.Waiting{From: from, To: to}
	w.on[one]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.on[one]--; w.on[one] == 0 {
			delete(w.on, one)
		}
	}, nil
}

// during gives act who waits for responses; until it returns nobody begins to.
func (w *waits) during(act func([]cw.Waiting) error) error {
	w.looking.Lock()
	defer w.looking.Unlock()
	return act(w.all())
}

func (w *waits) all() []cw.Waiting {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.on))
}

// circle gives the agents that would wait for each other if one waited for
// another now; nil when there is none.
func (w *waits) circle(from, to cw.AgentID, asked []cw.Waiting) []cw.AgentID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.circleOf(from, to, asked)
}

// circleOf is circle with the lock held.
func (w *waits) circleOf(from, to cw.AgentID, asked []cw.Waiting) []cw.AgentID {
	all := append([]cw.Waiting{}, asked...)
	for one := range w.on {
		all = append(all, one)
	}
	return cw.WaitCycle(all, from, to)
}

// mayWait refuses that one agent waits for another who waits for it.
func (o *Orchestrator) mayWait(ctx context.Context, from, to cw.AgentID) error {
	asked, err := o.Store.ConversationWaits(ctx)
	if err != nil {
		return fmt.Errorf("look who waits for whom: %w", err)
	}
	return o.errCircle(ctx, o.waits.circle(from, to, asked))
}

// beginWait notes that one agent waits for another. CodeRefused when that one
// waits for it.
func (o *Orchestrator) beginWait(ctx context.Context, from, to cw.AgentID) (end func(), err error) {
	if o.Guards.Off("message-circle") {
		return func() {}, nil
	}
	o.waits.looking.Lock()
	defer o.waits.looking.Unlock()
	asked, err := o.Store.ConversationWaits(ctx)
	if err != nil {
		return nil, fmt.Errorf("look who waits for whom: %w", err)
	}
	end, circle := o.waits.begin(from, to, asked)
	return end, o.errCircle(ctx, circle)
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
