package servicetest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// checkChunks: ids grow, and in each session the bytes follow each other.
func checkChunks(t *testing.T, chunks []cw.Chunk, fromStart bool) {
	t.Helper()
	next := map[int]int64{}
	last := int64(0)
	for i, c := range chunks {
		if c.ID <= last {
			t.Fatalf("chunk %d has id %d after %d", i, c.ID, last)
		}
		want, seen := next[c.SessionNumber]
		if (seen || fromStart) && c.Offset != want {
			t.Fatalf("session %d: offset %d, want %d", c.SessionNumber, c.Offset, want)
		}
		if len(c.Bytes) == 0 || len(c.Bytes) > cw.ChunkMax {
			t.Fatalf("chunk %d has %d bytes", c.ID, len(c.Bytes))
		}
		last, next[c.SessionNumber] = c.ID, c.End()
	}
}

func outputCase(t *testing.T, f Fixture) {
	all := collect(t, f.Services.Output(soon(t), f.Agent, cw.OutputQuery{}))
	checkChunks(t, all, true)
	if len(all) < 3 || all[0].SessionNumber == all[len(all)-1].SessionNumber {
		t.Fatalf("the fixture has %d chunks", len(all))
	}
	for _, c := range all {
		if c.AgentName != f.Agent {
			t.Errorf("chunk %d is of %q", c.ID, c.AgentName)
		}
	}
}

func outputResumedCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	all := collect(t, s.Output(ctx, f.Agent, cw.OutputQuery{}))
	for i, c := range all {
		got := collect(t, s.Output(ctx, f.Agent, cw.OutputQuery{AfterID: c.ID, Session: 99, Offset: 99}))
		if diff := cmp.Diff(all[i+1:], append([]cw.Chunk{}, got...)); diff != "" {
			t.Fatalf("after %d: %s", c.ID, diff)
		}
		got = collect(t, s.Output(ctx, f.Agent, cw.OutputQuery{Session: c.SessionNumber, Offset: c.Offset}))
		if diff := cmp.Diff(all[i:], got); diff != "" {
			t.Fatalf("from %d:%d: %s", c.SessionNumber, c.Offset, diff)
		}
		got = collect(t, s.Output(ctx, f.Agent, cw.OutputQuery{Session: c.SessionNumber, Only: true}))
		only := slices.DeleteFunc(slices.Clone(all), func(o cw.Chunk) bool { return o.SessionNumber != c.SessionNumber })
		if diff := cmp.Diff(only, got); diff != "" {
			t.Fatalf("only session %d: %s", c.SessionNumber, diff)
		}
	}
}

func outputEndsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	now := collect(t, s.Output(ctx, f.Agent, cw.OutputQuery{Until: cw.UntilNow}))
	rest := collect(t, s.Output(ctx, f.Agent, cw.OutputQuery{Until: cw.UntilRest}))
	if diff := cmp.Diff(now, rest); diff != "" {
		t.Errorf("until rest: %s", diff)
	}
	n := 0
	for range s.OutputEvents(ctx, f.Agent, cw.OutputQuery{Until: cw.UntilRest}) {
		n++
	}
	if n < 3 {
		t.Errorf("%d events until rest", n)
	}
}

func outputLiveCase(t *testing.T, f Fixture) {
	const more = 50
	ctx, cancel := context.WithCancel(soon(t))
	defer cancel()
	before := len(collect(t, f.Services.Output(ctx, f.Agent, cw.OutputQuery{})))
	saying := make(chan struct{})
	go func() { defer close(saying); f.Say(more) }()
	defer func() { <-saying }()
	var got []cw.Chunk
	for c, err := range f.Services.Output(ctx, f.Agent, cw.OutputQuery{Until: cw.UntilClosed}) {
		ok(t, err)
		if got = append(got, c); len(got) == before+more {
			break
		}
	}
	checkChunks(t, got, true)
	stored := collect(t, f.Services.Output(ctx, f.Agent, cw.OutputQuery{}))
	if diff := cmp.Diff(stored, got); diff != "" {
		t.Error(diff)
	}
}

func outputEventsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	all := collect(t, s.OutputEvents(ctx, f.Agent, cw.OutputQuery{}))
	if len(all) < 3 {
		t.Fatalf("the fixture has %d parsed events", len(all))
	}
	for i := 1; i < len(all); i++ {
		if slices.Compare(place(t, all[i-1]), place(t, all[i])) >= 0 || all[i].ChunkID < all[i-1].ChunkID {
			t.Fatalf("%s (chunk %d) comes after %s (chunk %d)", all[i].Position, all[i].ChunkID, all[i-1].Position, all[i-1].ChunkID)
		}
	}
	for _, c := range collect(t, s.Output(ctx, f.Agent, cw.OutputQuery{})) {
		got := collect(t, s.OutputEvents(ctx, f.Agent, cw.OutputQuery{AfterID: c.ID}))
		want := slices.DeleteFunc(slices.Clone(all), func(e cw.OutputEvent) bool { return e.ChunkID <= c.ID })
		if diff := cmp.Diff(want, append([]cw.OutputEvent{}, got...)); diff != "" {
			t.Fatalf("after chunk %d: %s", c.ID, diff)
		}
	}
}

// place reads a position: session, offset, number.
func place(t *testing.T, e cw.OutputEvent) []int64 {
	t.Helper()
	parts := strings.Split(e.Position, ":")
	out := make([]int64, len(parts))
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		ok(t, err)
		out[i] = n
	}
	if len(out) != 3 || out[0] != int64(e.Session) {
		t.Fatalf("position %q in session %d", e.Position, e.Session)
	}
	return out
}
