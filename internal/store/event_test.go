package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cw/internal/cw"
)

func (b *bench) seqs(after int64, f cw.EventFilter, limit int) (numbers []int64, page EventPage) {
	b.t.Helper()
	page, err := b.EventsAfter(b.t.Context(), after, f, limit)
	b.must(err)
	for _, e := range page.Events {
		numbers = append(numbers, e.Seq)
	}
	return numbers, page
}

// What the rows give is what the filter selects, and a page tells how far it
// has looked.
func TestEventsAfter(t *testing.T) {
	b := newBench(t)
	types := []cw.EventType{cw.EventAgentSpawned, cw.EventAgentWarning, cw.EventMirrorRestored}
	var all []cw.Event
	for i := range 60 {
		e := event(types[i%3], fmt.Sprint(i)).About(cw.AgentID([]string{"", "a", "b"}[i/3%3]), "")
		e.InitiativeID = []cw.InitiativeID{"", "i", "j"}[i/9%3]
		all = append(all, e)
	}
	b.must(b.AddEvents(t.Context(), all...))
	for i := range all {
		all[i].Seq = int64(i + 1)
	}
	for _, f := range []cw.EventFilter{
		{}, {Types: types[:1]}, {Types: types[1:]}, {Agent: "a"}, {Initiative: "i"}, {Initiative: "none"},
		{Agent: "b", Initiative: "j"}, {Agent: "a", Initiative: "i", Types: types[:2]}, {Types: []cw.EventType{cw.EventAgentOutput}},
	} {
		var want []int64
		for _, e := range all {
			if f.Matches(e) {
				want = append(want, e.Seq)
			}
		}
		got, page := b.seqs(0, f, 0)
		same(t, fmt.Sprintf("%+v", f), got, want)
		same(t, "looked", page.Looked, int64(60))
		var bitByBit []int64
		for at := int64(0); at < 60; {
			some, page := b.seqs(at, f, 2)
			bitByBit, at = append(bitByBit, some...), page.Looked
		}
		same(t, fmt.Sprintf("%+v in pages of 2", f), bitByBit, want)
	}
	if _, page := b.seqs(70, cw.EventFilter{}, 0); page.Looked != 70 || page.First != 1 {
		t.Errorf("after the last: %+v", page)
	}
}

// TestDropEvents lets events grow old by the store's clock.
func TestDropEvents(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	db, err := Open(t.Context(), Options{Dir: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{DB: db, t: t}
	defer func() { b.must(db.Close()) }()
	day := func(n int, events int) {
		now = time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC)
		b.must(b.AddEvents(t.Context(), slices.Repeat([]cw.Event{event(cw.EventAgentWarning, "x")}, events)...))
	}
	drop := func(before int, want int, first, last int64) {
		t.Helper()
		n, err := b.DropEvents(t.Context(), time.Date(2026, 1, before, 0, 0, 0, 0, time.FixedZone("", 0)))
		b.must(err)
		f, l, err := b.EventBounds(t.Context())
		b.must(err)
		if n != want || f != first || l != last {
			t.Errorf("before day %d: dropped %d, kept %d to %d; want %d, %d to %d", before, n, f, l, want, first, last)
		}
	}
	drop(9, 0, 1, 0) // nothing there
	day(1, 3)
	day(2, 2*dropMax+1) // several transactions
	day(4, 2)
	drop(1, 0, 1, 2*dropMax+6) // at that very moment is not before it
	drop(2, 3, 4, 2*dropMax+6)
	drop(3, 2*dropMax+1, 2*dropMax+5, 2*dropMax+6)
	drop(9, 1, 2*dropMax+6, 2*dropMax+6) // the newest stays
	drop(9, 0, 2*dropMax+6, 2*dropMax+6)
	// The clock went back: what is newer keeps the older one after it.
	day(8, 1)
	day(3, 1)
	day(8, 1)
	drop(7, 1, 2*dropMax+7, 2*dropMax+9)
	if got, page := b.seqs(1, cw.EventFilter{}, 0); len(got) != 3 || page.First != 2*dropMax+7 {
		t.Errorf("left %v, first %d", got, page.First)
	}
}
