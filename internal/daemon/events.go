package daemon

import (
	"context"
	"errors"
	"iter"
	"time"

	"cw/internal/cw"
	"cw/internal/event"
	"cw/internal/store"
)

const (
	// eventPage is how many stored events are taken at once. A reader that
	// stands still holds them, and there may be many readers.
	eventPage = 64
	// eventTick is the longest wait between two looks at the rows, which the hub
	// shortens, and the shortest between two marks.
	eventTick = 2 * time.Second
)

// events implements cw.EventService: stored events come from the rows, or from
// the hub's copy of the newest of them, always after the last number that was
// looked at. So there is no seam between replay and live, and a slow reader
// costs a number.
type events struct {
	store *store.DB
	hub   *event.Hub
}

// NewEvents gives the events of a store whose commits are published to the hub.
func NewEvents(db *store.DB, hub *event.Hub) cw.EventService { return events{store: db, hub: hub} }

// Events implements cw.EventService.
func (e events) Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error] {
	return func(yield func(cw.Event, error) bool) {
		r := eventReader{events: e, query: q, yield: yield, known: -1}
		if err := r.run(ctx); err != nil && !errors.Is(err, errEnough) {
			yield(cw.Event{}, err)
		}
	}
}

// errEnough says that the reader has had enough.
var errEnough = errors.New("the reader let go")

// eventReader reads events for one reader.
type eventReader struct {
	events
	query  cw.EventQuery
	filter cw.EventFilter
	yield  func(cw.Event, error) bool
	at     int64     // everything up to here was looked at
	known  int64     // the last number that the reader has; -1: none
	marked time.Time // when it got a mark
}

func (r *eventReader) run(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	sub := r.hub.Subscribe(r.filter)
	defer sub.Close()
	if err := r.mark(); err != nil { // of a tail: it begins with where it begins
		return err
	}
	for rows := true; ; { // at the beginning, and after each tick
		if err := r.catchUp(ctx, rows); err != nil {
			return err
		}
		if err := r.mark(); err != nil || !r.query.Follow {
			return err
		}
		if err := r.give(sub.Live()...); err != nil {
			return err
		}
		var err error
		if rows, err = awaitBell(ctx, sub); err != nil {
			return err
		}
	}
}

// begin finds the agent and the initiative that are asked for and the number to go on from.
func (r *eventReader) begin(ctx context.Context) error {
	q := r.query
	if err := q.Check(); err != nil {
		return err
	}
	var err error
	if r.filter, err = r.filterOf(ctx, q.Types, q.Agent, q.Initiative); err != nil {
		return err
	}
	r.filter.Also = q.Also
	first, last, err := r.store.EventBounds(ctx)
	switch {
	case err != nil:
		return err
	case q.Tail:
		r.at = last
	case q.After == 0:
		r.at, r.known = first-1, first-1
	case q.After > last:
		return cw.ErrEventsAhead(q.After, last)
	default:
		r.at, r.known = q.After, q.After
	}
	return nil
}

// filterOf finds the agent and the initiative that are asked for, "" for none.
func (e events) filterOf(ctx context.Context, types []cw.EventType, agent, initiative string) (f cw.EventFilter, err error) {
	f.Types = types
	if f.Initiative, err = e.initiative(ctx, initiative); err != nil || agent == "" {
		return f, err
	}
	a, err := e.store.AgentByRef(ctx, agent)
	f.Agent = a.ID
	return f, err
}

// EventLog implements cw.EventService.
func (e events) EventLog(ctx context.Context, q cw.EventLogQuery) (cw.EventLog, error) {
	limit, err := q.Check()
	if err != nil {
		return cw.EventLog{}, err
	}
	filter, err := e.filterOf(ctx, q.Types, q.Agent, q.Initiative)
	if err != nil {
		return cw.EventLog{}, err
	}
	list, err := e.store.EventsBefore(ctx, q, filter, limit)
	return cw.CutEventLog(list, limit), err
}

// initiative gives the id of an initiative that is called by its id or its slug;
// "" for "". An id that is none any more is taken as it is: events may be left of
// what a recovery could not save.
func (e events) initiative(ctx context.Context, ref string) (string, error) {
	if ref == "" {
		return "", nil
	}
	i, err := e.store.InitiativeByRef(ctx, ref)
	if cw.ErrorCode(err) == cw.CodeNotFound && cw.IsID(ref) {
		return ref, nil
	}
	return string(i.ID), err
}

// catchUp gives everything that is stored after at, and moves at. With rows it
// begins with those: the hub's copy cannot tell what it was not told.
func (r *eventReader) catchUp(ctx context.Context, rows bool) error {
	for {
		list, looked, recent := []cw.Event(nil), int64(0), false
		if !rows {
			list, looked, recent = r.hub.Recent(r.at, r.filter, eventPage)
		}
		if !recent {
			page, err := r.store.EventsAfter(ctx, r.at, r.filter, eventPage)
			if err != nil {
				return err
			}
			if page.First > r.at+1 { // retention overtook a reader that was slow
				return cw.ErrEventsGone(page.First)
			}
			list, looked = page.Events, page.Looked
		}
		full := len(list) == eventPage
		if err := r.give(list...); err != nil {
			return err
		}
		r.at = looked
		if !full {
			return nil
		}
	}
}

// give passes events on.
func (r *eventReader) give(list ...cw.Event) error {
	for i, e := range list {
		list[i] = cw.Event{} // its payload may go while the reader takes its time
		if !r.yield(e, nil) {
			return errEnough
		}
		r.known = max(r.known, e.Seq)
	}
	return nil
}

// mark tells the reader how far was looked, now and then.
func (r *eventReader) mark() error {
	if !r.query.Marks || r.at <= r.known || time.Since(r.marked) < eventTick {
		return nil
	}
	r.marked, r.known = time.Now(), r.at
	if !r.yield(cw.EventMark(r.at), nil) {
		return errEnough
	}
	return nil
}

// awaitBell waits for anything new; rows says that nothing came for a while,
// and that the rows are to be asked.
func awaitBell(ctx context.Context, sub *event.Subscription) (rows bool, err error) {
	tick := time.NewTimer(eventTick)
	defer tick.Stop()
	select {
	case <-ctx.Done():
		return false, errEnough
	case <-sub.Bell:
		return false, nil
	case <-tick.C:
		return true, nil
	}
}
