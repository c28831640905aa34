package servicetest

import (
	"slices"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// eventLogCase: the log is the stream read backwards, page by page.
func eventLogCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	all := collect(t, s.Events(ctx, cw.EventQuery{}))
	last := all[len(all)-1].Seq
	slices.Reverse(all)
	var got []cw.Event
	for q := (cw.EventLogQuery{Limit: 3, Before: last + 1}); ; {
		page, err := s.EventLog(ctx, q)
		ok(t, err)
		got = append(got, page.Items...)
		if q.Before = page.Older; page.Older == 0 {
			break
		}
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Error(diff)
	}
	some := all[len(all)/2]
	page, err := s.EventLog(ctx, cw.EventLogQuery{Limit: cw.PageMax, Before: last + 1, After: some.Seq, Types: []cw.EventType{some.Type}, Since: &some.At})
	ok(t, err)
	want := slices.DeleteFunc(slices.Clone(all), func(e cw.Event) bool { return e.Seq <= some.Seq || e.Type != some.Type })
	if diff := cmp.Diff(want, append([]cw.Event{}, page.Items...)); diff != "" {
		t.Errorf("filtered: %s", diff)
	}
	for _, q := range []cw.EventLogQuery{
		{Limit: -1}, {Limit: cw.PageMax + 1}, {Before: -1}, {After: -1}, {Types: []cw.EventType{cw.EventAgentOutput}},
	} {
		_, err := s.EventLog(ctx, q)
		wantCode(t, "a bad page of events", err, cw.CodeInvalid)
	}
	_, err = s.EventLog(ctx, cw.EventLogQuery{Types: []cw.EventType{"agent:spawnd"}})
	wantHint(t, "a type that is none", err, cw.CodeInvalid, "agent:spawned")
	_, err = s.EventLog(ctx, cw.EventLogQuery{Agent: unknown})
	wantCode(t, "events of nobody", err, cw.CodeNotFound)
}
