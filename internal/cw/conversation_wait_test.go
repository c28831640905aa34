package cw_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"cw/internal/cw"
)

func TestWaitCycle(t *testing.T) {
	t.Parallel()
	waits := []cw.Waiting{{From: "b", To: "c"}, {From: "c", To: "d"}, {From: "b", To: "d"}, {From: "x", To: "y"}, {From: "y", To: "x"}}
	for _, tt := range []struct {
		from, to cw.AgentID
		want     []cw.AgentID
	}{
		{"a", "a", []cw.AgentID{"a", "a"}},
		{"a", "b", nil},
		{"b", "c", nil},
		{"c", "b", []cw.AgentID{"c", "b", "c"}},
		{"d", "c", []cw.AgentID{"d", "c", "d"}},
		{"d", "b", []cw.AgentID{"d", "b", "d"}},
		{"e", "x", nil}, // others wait for each other, however that came
		{"d", "a", nil},
	} {
		if got := cw.WaitCycle(waits, tt.from, tt.to); !slices.Equal(got, tt.want) {
			t.Errorf("%s asks %s: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}

// TestWaitCycleGraphs: of 10,000 generated graphs of waiting agents, in each of
// which agents ask one after the other as long as they are let, none holds a
// circle, and nothing is refused that would close none. The model follows every
// way there is, by a matrix.
func TestWaitCycleGraphs(t *testing.T) {
	t.Parallel()
	refused, taken := 0, 0
	for seed := range uint64(10_000) {
		rnd := rand.New(rand.NewPCG(7, seed)) //nolint:gosec // it is to be repeated
		n := 2 + rnd.IntN(9)
		var waits []cw.Waiting
		reach := make([][]bool, n) // reach[i][j]: i waits for j, over any others
		for i := range reach {
			reach[i] = make([]bool, n)
		}
		name := func(i int) cw.AgentID { return cw.AgentID(strconv.Itoa(i)) }
		for range rnd.IntN(4 * n) {
			from, to := rnd.IntN(n), rnd.IntN(n)
			circle := cw.WaitCycle(waits, name(from), name(to))
			if closes := from == to || reach[to][from]; closes != (circle != nil) {
				t.Fatalf("seed %d: %d asks %d among %v: the circle is %q, the model says %v", seed, from, to, waits, circle, closes)
			}
			if circle != nil {
				refused++
				checkCircle(t, waits, circle, name(from), name(to))
				continue
			}
			taken++
			waits = append(waits, cw.Waiting{From: name(from), To: name(to)})
			for i := range n {
				for j := range n {
					if (i == from || reach[i][from]) && (j == to || reach[to][j]) {
						reach[i][j] = true
					}
				}
			}
		}
	}
	if refused < 10_000 || taken < 10_000 {
		t.Errorf("%d refused and %d taken: too few to show anything", refused, taken)
	}
}

// checkCircle checks that each agent named waits for the next one, and the first
// would.
func checkCircle(t *testing.T, waits []cw.Waiting, circle []cw.AgentID, from, to cw.AgentID) {
	t.Helper()
	if len(circle) < 2 || circle[0] != from || circle[1] != to || circle[len(circle)-1] != from {
		t.Fatalf("%s asks %s: %q is no circle", from, to, circle)
	}
	for i := 1; i+1 < len(circle); i++ {
		if !slices.ContainsFunc(waits, func(w cw.Waiting) bool { return w.From == circle[i] && w.To == circle[i+1] }) {
			t.Fatalf("%q: %s does not wait for %s", circle, circle[i], circle[i+1])
		}
	}
}

func TestChooseAsked(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, tt := range map[string]struct {
		agents []cw.Askable
		want   cw.AgentID
	}{
		"none":                 {nil, ""},
		"fewest open":          {[]cw.Askable{{AgentID: "a", Open: 2}, {AgentID: "b", Open: 1, AskedAt: now}, {AgentID: "c", Open: 3}}, "b"},
		"then the longest ago": {[]cw.Askable{{AgentID: "a", Open: 1, AskedAt: now}, {AgentID: "b", Open: 1, AskedAt: now.Add(-time.Hour)}}, "b"},
		"never is longest ago": {[]cw.Askable{{AgentID: "a", AskedAt: now.Add(-time.Hour)}, {AgentID: "b"}}, "b"},
		"then by name":         {[]cw.Askable{{AgentID: "a", Alias: "wild-fox"}, {AgentID: "b", Alias: "calm-fox"}}, "b"},
	} {
		got, ok := cw.ChooseAsked(tt.agents)
		if got.AgentID != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got.AgentID, ok, tt.want)
		}
	}
}

func TestReceptionBy(t *testing.T) {
	t.Parallel()
	const taken, queued, wakes, cancelled, refused = cw.ReceptionTaken, cw.ReceptionQueued, cw.ReceptionWakes, cw.ReceptionCancelled, cw.ReceptionRefused
	rows := map[cw.AgentStatus][3]cw.Reception{ // with neither, with queue, with wake
		cw.StatusPending:         {taken, taken, taken},
		cw.StatusStarting:        {taken, taken, taken},
		cw.StatusRunning:         {taken, taken, taken},
		cw.StatusIdle:            {cancelled, queued, wakes},
		cw.StatusWaitingForInput: {cancelled, queued, queued},
		cw.StatusParked:          {cancelled, queued, queued},
		cw.StatusCrashed:         {refused, refused, refused},
		cw.StatusStopped:         {refused, refused, refused},
	}
	for _, status := range cw.AgentStatuses() {
		want, ok := rows[status]
		if !ok {
			t.Errorf("nothing is said of %s", status)
		}
		got := [3]cw.Reception{cw.ReceptionBy(status, false, false, false), cw.ReceptionBy(status, false, true, false), cw.ReceptionBy(status, false, false, true)}
		if got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
		if removed := cw.ReceptionBy(status, true, true, true); removed != refused {
			t.Errorf("%s and removed: %s", status, removed)
		}
	}
	if both := cw.ReceptionBy(cw.StatusIdle, false, true, true); both != wakes {
		t.Errorf("idle, to queue and to wake: %s", both)
	}
}
