package servicetest

import (
	"context"
	"slices"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

func checkEvents(t *testing.T, events []cw.Event) {
	t.Helper()
	last := int64(0)
	for _, e := range events {
		if !e.Type.Stored() || e.Seq <= last || e.At.IsZero() {
			t.Fatalf("event %+v after %d", e, last)
		}
		last = e.Seq
	}
}

func eventsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	all := collect(t, s.Events(ctx, cw.EventQuery{}))
	checkEvents(t, all)
	for i, e := range all {
		got := collect(t, s.Events(ctx, cw.EventQuery{After: e.Seq}))
		if diff := cmp.Diff(all[i+1:], append([]cw.Event{}, got...)); diff != "" {
			t.Fatalf("after %d: %s", e.Seq, diff)
		}
		got = collect(t, s.Events(ctx, cw.EventQuery{Types: []cw.EventType{e.Type, cw.EventMirrorRestored}}))
		want := slices.DeleteFunc(slices.Clone(all), func(o cw.Event) bool {
			return o.Type != e.Type && o.Type != cw.EventMirrorRestored
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("of type %s: %s", e.Type, diff)
		}
	}
	if got := collect(t, s.Events(ctx, cw.EventQuery{Tail: true})); len(got) != 0 {
		t.Errorf("the tail of what is there: %v", got)
	}
}

func eventsOfAgentCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	view, err := s.Agent(ctx, f.Agent)
	ok(t, err)
	want := slices.DeleteFunc(collect(t, s.Events(ctx, cw.EventQuery{})), func(e cw.Event) bool { return e.AgentID != view.ID })
	for _, ref := range []string{view.Alias, string(view.ID)} {
		if diff := cmp.Diff(want, collect(t, s.Events(ctx, cw.EventQuery{Agent: ref}))); diff != "" {
			t.Error(diff)
		}
	}
}

func eventsLiveCase(t *testing.T, f Fixture) {
	const more = 20
	ctx, cancel := context.WithCancel(soon(t))
	defer cancel()
	before := collect(t, f.Services.Events(ctx, cw.EventQuery{}))
	happening := make(chan struct{})
	go func() {
		defer close(happening)
		for range more {
			f.Happen()
		}
	}()
	defer func() { <-happening }()
	var got []cw.Event
	for e, err := range f.Services.Events(ctx, cw.EventQuery{Follow: true}) {
		ok(t, err)
		if e.Type.Stored() {
			got = append(got, e)
		}
		if len(got) == len(before)+more {
			break
		}
	}
	checkEvents(t, got)
	if diff := cmp.Diff(before, got[:len(before)]); diff != "" {
		t.Error(diff)
	}
}

func eventsGoneCase(t *testing.T, f Fixture) {
	for _, follow := range []bool{false, true} {
		err := failure(t, f.Services.Events(soon(t), cw.EventQuery{After: f.Gone, Follow: follow}))
		wantCode(t, "Events", err, cw.CodeGone)
	}
}

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
		"unknown, too": {Also: []cw.EventType{"agent:activities"}, Tail: true},
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

// eventsOfInitiativeCase: nothing of any other one, by id and by slug; a slug
// that is none is told at once.
func eventsOfInitiativeCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	v := initiative(t, f)
	if diff := cmp.Diff(
		collect(t, s.Events(ctx, cw.EventQuery{Initiative: string(v.ID)})), collect(t, s.Events(ctx, cw.EventQuery{Initiative: v.Slug})),
	); diff != "" {
		t.Errorf("by id and by slug: %s", diff)
	}
	for _, follow := range []bool{false, true} {
		err := failure(t, s.Events(ctx, cw.EventQuery{Initiative: "not-an-initiative", Follow: follow}))
		wantCode(t, "Events of no initiative", err, cw.CodeNotFound)
	}
	all := map[string]int{cw.NewID(): 0}
	for _, e := range collect(t, s.Events(ctx, cw.EventQuery{})) {
		if e.InitiativeID != "" {
			all[string(e.InitiativeID)]++
		}
	}
	for id, want := range all {
		got := collect(t, s.Events(ctx, cw.EventQuery{Initiative: id}))
		if n := count(got, func(e cw.Event) bool { return string(e.InitiativeID) == id }); n != len(got) || n < want {
			t.Errorf("initiative %s: %d events, %d of it, want %d", id, len(got), n, want)
		}
	}
}
