package notify

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"cw/internal/cw"
)

// sourcePause is the time between two looks at events that cannot be read.
const sourcePause = 5 * time.Second

// Source is where events come from: cw.EventService.
type Source interface {
	Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error]
}

// reader reads the events of one hook, always after the last that it handled.
type reader struct {
	source Source
	types  []cw.EventType
	place  place
	log    *slog.Logger

	at     int64
	silent bool // the log has why the place cannot be written
}

// begin finds the event to go on after. A hook without a place begins with what
// comes next.
func (r *reader) begin(ctx context.Context) error {
	seq, known, err := r.place.read()
	if err != nil {
		r.log.Warn("notifications begin anew", "error", err)
	}
	if known {
		r.at = seq
		return nil
	}
	return r.skip(ctx)
}

// skip goes to the end of all events.
func (r *reader) skip(ctx context.Context) error {
	for e, err := range r.source.Events(ctx, cw.EventQuery{Tail: true, Follow: true, Marks: true}) {
		if err != nil {
			return err
		}
		r.handled(e.Seq)
		return nil
	}
	return ctx.Err()
}

// next waits for the next event. The error is ctx's.
func (r *reader) next(ctx context.Context) (cw.Event, error) {
	for {
		e, err := r.first(ctx)
		switch {
		case ctx.Err() != nil:
			return cw.Event{}, ctx.Err()
		case err == nil:
			return e, nil
		case cw.ErrorCode(err) == cw.CodeGone: // they waited for longer than events are kept
			r.log.Warn("some events are kept no longer, and nobody was told of them", "after", r.at)
			r.at = 0
			continue
		case cw.ErrorCode(err) == cw.CodeInvalid: // an older state came back
			r.log.Warn("notifications begin anew: the state is older than what was told", "after", r.at)
			err = r.skip(ctx)
		}
		if err != nil {
			r.log.Warn("read events for notifications", "error", err)
			if err := rest(ctx, sourcePause); err != nil {
				return cw.Event{}, err
			}
		}
	}
}

// first gives the first event after at, and waits for it.
func (r *reader) first(ctx context.Context) (cw.Event, error) {
	for e, err := range r.source.Events(ctx, cw.EventQuery{After: r.at, Types: r.types, Follow: true}) {
		return e, err
	}
	if err := ctx.Err(); err != nil {
		return cw.Event{}, err
	}
	return cw.Event{}, errors.New("the stream of events ended")
}

// waiting counts the events after at that are stored already, and gives the last
// of them.
func (r *reader) waiting(ctx context.Context) (last cw.Event, counts map[cw.EventType]int, total int, err error) {
	counts = map[cw.EventType]int{}
	for e, err := range r.source.Events(ctx, cw.EventQuery{After: r.at, Types: r.types}) {
		if err != nil {
			return last, counts, total, err
		}
		counts[e.Type]++
		total++
		last = e
	}
	return last, counts, total, nil
}

// handled notes that everything up to an event was told, or given up.
func (r *reader) handled(seq int64) {
	r.at = seq
	err := r.place.write(seq)
	if err != nil && !r.silent {
		r.log.Warn("after a restart somebody may be told twice", "error", err)
	}
	r.silent = err != nil
}

// rest waits; the error is ctx's.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
