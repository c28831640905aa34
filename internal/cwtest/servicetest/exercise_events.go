package servicetest

import (
	"testing"

	"cw/internal/cw"
)

// eventsRefusedCase: what can never be answered is refused at once, also by who
// would wait for it for ever.
func eventsRefusedCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	last := int64(0)
	for _, e := range collect(t, s.Events(ctx, cw.EventQuery{})) {
		last = e.Seq
	}
	for name, q := range map[string]cw.EventQuery{
		"ahead":        {After: last + 1<<32},
		"far ahead":    {After: 1<<63 - 1},
		"unknown type": {Types: []cw.EventType{cw.EventAgentStopped, "agent:stoped"}},
		"live unknown": {Types: []cw.EventType{"agent:outputs"}, Tail: true},
	} {
		for _, follow := range []bool{false, true} {
			q.Follow = follow
			err := failure(t, s.Events(ctx, q))
			wantCode(t, name, err, cw.CodeInvalid)
			if cw.ErrorHint(err) == "" {
				t.Errorf("%s: %v says not what to do", name, err)
			}
		}
	}
	if got := collect(t, s.Events(ctx, cw.EventQuery{After: last})); len(got) > 0 && got[0].Seq <= last {
		t.Errorf("after the last one: %v", got)
	}
}

// eventsOfInitiativeCase: nothing of any other one.
func eventsOfInitiativeCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	all := map[string]int{"not-an-initiative": 0}
	for _, e := range collect(t, s.Events(ctx, cw.EventQuery{})) {
		if e.InitiativeID != "" {
			all[e.InitiativeID]++
		}
	}
	for id, want := range all {
		got := collect(t, s.Events(ctx, cw.EventQuery{Initiative: id}))
		if n := count(got, func(e cw.Event) bool { return e.InitiativeID == id }); n != len(got) || n < want {
			t.Errorf("initiative %s: %d events, %d of it, want %d", id, len(got), n, want)
		}
	}
}
