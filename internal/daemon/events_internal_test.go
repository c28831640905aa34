package daemon

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
	"cw/internal/event"
	"cw/internal/store"
)

// newEvents is the event service over a store of its own.
func newEvents(t *testing.T) events {
	t.Helper()
	hub := event.NewHub()
	db, err := store.Open(context.Background(), store.Options{Dir: t.TempDir(), OnCommit: func(list []cw.Event) { hub.Publish(list...) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return events{store: db, hub: hub}
}

// happen stores n events.
func (e events) happen(t *testing.T, typ cw.EventType, n int) {
	t.Helper()
	list := slices.Repeat([]cw.Event{cw.NewEvent(typ, cw.Actor{Kind: cw.ActorCW}, struct{}{})}, n)
	if err := e.store.AddEvents(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
}

// reader pulls from a stream step by step.
func (e events) reader(t *testing.T, q cw.EventQuery) func() (cw.Event, error, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	next, stop := iter.Pull2(e.Events(ctx, q))
	t.Cleanup(func() { cancel(); stop() })
	return next
}

func wantSeq(t *testing.T, next func() (cw.Event, error, bool), seq int64, mark bool) {
	t.Helper()
	e, err, more := next()
	if err != nil || !more || e.Seq != seq || e.IsMark() != mark {
		t.Fatalf("got %+v, %v, more %v; want %d, a mark: %v", e, err, more, seq, mark)
	}
}

// A tail says at once where it begins, also in an empty store.
func TestTailBeginsWithAMark(t *testing.T) {
	t.Parallel()
	e := newEvents(t)
	q := cw.EventQuery{Tail: true, Follow: true, Marks: true}
	empty := e.reader(t, q)
	wantSeq(t, empty, 0, true)
	e.happen(t, cw.EventAgentWarning, 3)
	wantSeq(t, empty, 1, false)
	some := e.reader(t, q)
	wantSeq(t, some, 3, true)
	e.happen(t, cw.EventAgentWarning, 1)
	wantSeq(t, some, 4, false)
}

// A reader whose filter passes over everything learns how far it is, so that it
// can come back after retention took what it did not want.
func TestMarksSpareFilteredReaders(t *testing.T) {
	t.Parallel()
	e := newEvents(t)
	e.happen(t, cw.EventAgentStopped, 1)
	q := cw.EventQuery{Types: []cw.EventType{cw.EventAgentStopped}, Follow: true, Marks: true}
	next := e.reader(t, q)
	wantSeq(t, next, 1, false)
	e.happen(t, cw.EventAgentWarning, 300)
	wantSeq(t, next, 301, true) // after a while
	e.happen(t, cw.EventAgentStopped, 1)
	wantSeq(t, next, 302, false)
	if _, err := e.store.DropEvents(t.Context(), time.Now().Add(time.Hour)); err != nil { // all but the last
		t.Fatal(err)
	}
	q.After = 301
	wantSeq(t, e.reader(t, q), 302, false)
	q.After = 1
	if _, err, _ := e.reader(t, q)(); cw.ErrorCode(err) != cw.CodeGone {
		t.Errorf("after an event whose followers are gone: %v", err)
	}
}

// Retention that overtakes a slow reader is told to it, and not passed over.
func TestRetentionOvertakesAReader(t *testing.T) {
	t.Parallel()
	e := newEvents(t)
	e.happen(t, cw.EventAgentWarning, 3*eventPage)
	next := e.reader(t, cw.EventQuery{Follow: true})
	wantSeq(t, next, 1, false)
	if _, err := e.store.DropEvents(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for seq := int64(2); seq <= eventPage; seq++ { // what was taken is given
		wantSeq(t, next, seq, false)
	}
	if got, err, _ := next(); cw.ErrorCode(err) != cw.CodeGone {
		t.Errorf("then came %+v, %v", got, err)
	}
}

// Live events come to all, output and activity only to those who name them, and what is stored
// comes from the store although the hub was told of nothing.
func TestLiveEvents(t *testing.T) {
	t.Parallel()
	e := newEvents(t)
	plain := e.reader(t, cw.EventQuery{Tail: true, Follow: true, Marks: true})
	activity := e.reader(t, cw.EventQuery{Tail: true, Follow: true, Marks: true, Also: []cw.EventType{cw.EventAgentActivity}})
	output := e.reader(t, cw.EventQuery{Tail: true, Follow: true, Marks: true, Types: []cw.EventType{cw.EventAgentOutput}})
	wantSeq(t, plain, 0, true)
	wantSeq(t, activity, 0, true)
	wantSeq(t, output, 0, true)
	heard := make(chan cw.EventType, 3)
	for _, next := range []func() (cw.Event, error, bool){plain, activity, output} {
		go func() {
			got, _, _ := next() // an error has no type
			heard <- got.Type
		}()
	}
	// They subscribe when they are asked for more.
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				e.hub.Publish(cw.Event{Type: cw.EventAgentOutput}, cw.Event{Type: cw.EventAgentActivity}, cw.Event{Type: cw.EventPlanStepStarted})
			}
		}
	}()
	got := []cw.EventType{<-heard, <-heard, <-heard}
	slices.Sort(got)
	if !slices.Equal(got, []cw.EventType{cw.EventAgentActivity, cw.EventAgentOutput, cw.EventPlanStepStarted}) {
		t.Errorf("heard %v", got)
	}
}

// A hint that never came costs a moment, not an event: rows are the truth.
func TestRowsWithoutHints(t *testing.T) {
	t.Parallel()
	e := newEvents(t)
	e.happen(t, cw.EventAgentWarning, 2)
	deaf := events{store: e.store, hub: event.NewHub()}
	deaf.hub.Publish(cw.Event{Seq: 2, Type: cw.EventAgentWarning}) // the last that it heard of
	next := deaf.reader(t, cw.EventQuery{Follow: true, After: 1})
	wantSeq(t, next, 2, false)
	e.happen(t, cw.EventAgentWarning, 1)
	wantSeq(t, next, 3, false)
}

// Old events go at the start and every hour, by the clock, and the newest one
// stays for ever.
func TestRetention(t *testing.T) {
	t.Parallel()
	e := newEvents(t) // outside of the bubble: gorm has goroutines that never end
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		bounds := func(what string, first, last int64) {
			t.Helper()
			synctest.Wait()
			f, l, err := e.store.EventBounds(t.Context())
			if err != nil || f != first || l != last {
				t.Errorf("%s: %d to %d are kept, %v; want %d to %d", what, f, l, err, first, last)
			}
		}
		e.happen(t, cw.EventAgentWarning, 3)
		time.Sleep(10 * day)
		e.happen(t, cw.EventAgentWarning, 2)
		for _, keep := range []time.Duration{0, 30 * day} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			r := retention{store: e.store, keep: keep, now: time.Now, log: slog.New(slog.DiscardHandler)}
			go func() { ended <- r.Run(ctx) }()
			if keep == 0 {
				time.Sleep(19 * day)
			}
			bounds("young", 1, 5)
			if keep > 0 {
				time.Sleep(day + 2*retentionEvery)
				bounds("after a month", 4, 5)
				time.Sleep(300 * day)
				bounds("after a year", 5, 5)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// Events of an initiative are found by its id and its slug. A slug that is none
// is told; an id that is none any more finds what is left of it.
func TestEventsOfAnInitiative(t *testing.T) {
	t.Parallel()
	e := newEvents(t)
	ctx := t.Context()
	made, err := e.store.AddInitiative(ctx, cw.Initiative{ID: "saleaaaaaaaa", Name: "Sale"}, cw.Document{ID: "pageaaaaaaaa", Title: "Sale"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.store.AddEvents(ctx, cw.NewEvent(cw.EventAgentWarning, cw.Actor{Kind: cw.ActorCW}, nil).In("lostaaaaaaaa")); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string][]int64{"saleaaaaaaaa": {1, 2}, made.Slug: {1, 2}, "lostaaaaaaaa": {3}, "noneaaaaaaaa": nil} {
		var got []int64
		for ev, err := range e.Events(ctx, cw.EventQuery{Initiative: ref}) {
			if err != nil {
				t.Fatalf("%s: %v", ref, err)
			}
			got = append(got, ev.Seq)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: events %v, want %v", ref, got, want)
		}
	}
	if _, err, _ := e.reader(t, cw.EventQuery{Initiative: "sail", Follow: true})(); cw.ErrorCode(err) != cw.CodeNotFound || cw.ErrorHint(err) == "" {
		t.Errorf("a slug that is none: %v", err)
	}
}
