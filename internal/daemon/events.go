package daemon

import (
	"context"
	"iter"
	"slices"
	"time"

	"cw/internal/cw"
	"cw/internal/event"
	"cw/internal/store"
)

const (
	// eventPage is how many stored events are read at once.
	eventPage = 256
	// eventTick is the longest wait between two looks at the rows; the hub
	// shortens it.
	eventTick = 2 * time.Second
)

// events implements cw.EventService: stored events come from the rows, always,
// and the hub only tells that there are new ones. So there is no seam between
// replay and live, and nothing is lost when the hub drops a slow reader.
type events struct {
	store *store.DB
	hub   *event.Hub
}

// Events implements cw.EventService.
func (e events) Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error] {
	return func(yield func(cw.Event, error) bool) {
		agent, at, err := e.begin(ctx, q)
		if err != nil {
			yield(cw.Event{}, err)
			return
		}
		sub := e.hub.Subscribe(event.Filter{Types: q.Types, Agent: agent})
		defer func() { sub.Close() }()
		for {
			more, err := e.page(ctx, q, agent, &at, yield)
			if err != nil {
				yield(cw.Event{}, err)
				return
			}
			if !more || !q.Follow {
				return
			}
			if sub.Overflowed() { // too slow for hints: start anew, the rows have it all
				sub.Close()
				sub = e.hub.Subscribe(event.Filter{Types: q.Types, Agent: agent})
			}
			if !awaitHint(ctx, sub, q, yield) {
				return
			}
		}
	}
}

// begin finds the agent that is asked for and the number to go on from.
func (e events) begin(ctx context.Context, q cw.EventQuery) (cw.AgentID, int64, error) {
	var id cw.AgentID
	if q.Agent != "" {
		a, err := e.store.AgentByRef(ctx, q.Agent)
		if err != nil {
			return "", 0, err
		}
		id = a.ID
	}
	if q.Tail {
		last, err := e.store.LastEventSeq(ctx)
		return id, last, err
	}
	first, err := e.store.FirstEventSeq(ctx)
	if err != nil {
		return "", 0, err
	}
	if q.After > 0 && first > q.After+1 {
		return "", 0, cw.Errorf(cw.CodeGone, "events before number %d are no longer kept", first).
			WithHint("read the state anew and go on from there")
	}
	return id, q.After, nil
}

// page yields what is stored after at, and moves at; false: the reader has had
// enough.
func (e events) page(ctx context.Context, q cw.EventQuery, agent cw.AgentID, at *int64, yield func(cw.Event, error) bool) (bool, error) {
	stored := slices.DeleteFunc(slices.Clone(q.Types), func(t cw.EventType) bool { return !t.Stored() })
	if len(q.Types) > 0 && len(stored) == 0 {
		return true, nil // only live events are wanted
	}
	for {
		list, err := e.store.EventsAfter(ctx, *at, stored, agent, eventPage)
		if err != nil {
			return false, err
		}
		for _, ev := range list {
			if !yield(ev, nil) {
				return false, nil
			}
			*at = ev.Seq
		}
		if len(list) < eventPage {
			return true, nil
		}
	}
}

// awaitHint waits for anything new and passes on live events that were asked
// for; false: the reader has had enough.
func awaitHint(ctx context.Context, sub *event.Subscription, q cw.EventQuery, yield func(cw.Event, error) bool) bool {
	tick := time.NewTimer(eventTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
			return true
		case ev, open := <-sub.C:
			if !open || ev.Type.Stored() {
				return true
			}
			if slices.Contains(q.Types, ev.Type) && !yield(ev, nil) {
				return false
			}
		}
	}
}
