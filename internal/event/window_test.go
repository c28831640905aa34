package event

import (
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func filled(from, to int64, size int) *window {
	w := &window{}
	for seq := from; seq <= to; seq++ {
		w.add(cw.Event{Seq: seq, Type: cw.EventAgentWarning, Data: make([]byte, size)})
	}
	return w
}

func numbers(events []cw.Event) []int64 {
	out := []int64{}
	for _, e := range events {
		out = append(out, e.Seq)
	}
	return out
}

func TestWindow(t *testing.T) {
	t.Parallel()
	const most = windowEvents
	gap := filled(1, 5, 0)
	gap.add(cw.Event{Seq: 8, Type: cw.EventAgentWarning})
	again := filled(1, 5, 0)
	again.add(cw.Event{Seq: 3, Type: cw.EventAgentWarning})
	for _, c := range []struct {
		name       string
		w          *window
		seq        int64
		limit      int
		ok         bool
		looked     int64
		first, len int64
	}{
		{"empty", &window{}, 0, 9, false, 0, 0, 0},
		{"from its beginning", filled(11, 15, 0), 10, 9, true, 15, 11, 5},
		{"before its beginning", filled(11, 15, 0), 9, 9, false, 0, 0, 0},
		{"from the middle", filled(11, 15, 0), 13, 9, true, 15, 14, 2},
		{"from its end", filled(11, 15, 0), 15, 9, true, 15, 0, 0},
		{"rows are ahead", filled(11, 15, 0), 17, 9, true, 17, 0, 0},
		{"a part", filled(11, 15, 0), 11, 2, true, 13, 12, 2},
		{"exactly all", filled(11, 15, 0), 10, 5, true, 15, 11, 5},
		{"too many", filled(1, most+10, 0), 9, 9, false, 0, 0, 0},
		{"the newest of too many", filled(1, most+10, 0), 10, most, true, most + 10, 11, most},
		{"too long", filled(1, 10, windowBytes/4), 5, 9, false, 0, 0, 0},
		{"the newest of too long", filled(1, 10, windowBytes/4), 6, 9, true, 10, 7, 4},
		{"one is too long", filled(1, 10, windowBytes+1), 9, 9, false, 0, 0, 0},
		{"before a gap", gap, 5, 9, false, 0, 0, 0},
		{"after a gap", gap, 7, 9, true, 8, 8, 1},
		{"a number again", again, 4, 9, true, 4, 0, 0},
		{"before a number again", again, 1, 9, false, 0, 0, 0},
	} {
		events, looked, ok := c.w.after(c.seq, cw.EventFilter{}, c.limit)
		if ok != c.ok || looked != c.looked || int64(len(events)) != c.len || len(events) > 0 && events[0].Seq != c.first {
			t.Errorf("%s: %v, looked %d, ok %v", c.name, numbers(events), looked, ok)
		}
	}
}

// TestWindowIsTrue holds the window against a list of everything: what it gives
// is exactly what is there, or it says that it does not know.
func TestWindowIsTrue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, all, seq := &window{}, []cw.Event{}, int64(0)
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			seq += rapid.SampledFrom([]int64{1, 1, 1, 1, 1, 3}).Draw(t, "step")
			e := cw.Event{
				Seq: seq, Type: rapid.SampledFrom([]cw.EventType{cw.EventAgentWarning, cw.EventAgentStopped}).Draw(t, "type"),
				Data: make([]byte, rapid.SampledFrom([]int{1, windowBytes / 3}).Draw(t, "size")),
			}
			all = append(all, e)
			w.add(e)
		}
		f := rapid.SampledFrom([]cw.EventFilter{{}, {Types: []cw.EventType{cw.EventAgentStopped}}}).Draw(t, "filter")
		at, limit := rapid.Int64Range(0, seq+2).Draw(t, "after"), rapid.IntRange(1, 5).Draw(t, "limit")
		got, looked, ok := w.after(at, f, limit)
		if !ok {
			return
		}
		want := []int64{}
		for _, e := range all {
			if e.Seq > at && e.Seq <= looked && f.Matches(e) {
				want = append(want, e.Seq)
			}
		}
		if diff := cmp.Diff(want, numbers(got)); diff != "" || looked < at || len(got) < limit && looked < seq {
			t.Fatalf("after %d: looked %d of %d\n%s", at, looked, seq, diff)
		}
	})
}
