package crashlab

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cw/internal/cwtest/draw"
)

// TestFailpoints kills the daemon right after each named step. The next daemon must
// bring the agent to the end that it has when nothing is killed, and every invariant
// must hold. A step that is never reached fails the test. A step that several flows
// have is tried in one of them, drawn by the seed; with CW_LONG (make failpoints) it
// is tried in each. In a third of the flows the next daemon is also killed, at a later
// step, while it recovers.
func TestFailpoints(t *testing.T) {
	seed := seedOf(t)
	drawn := drawSteps(flows(), seed, draw.All())
	second := map[string][][]string{}
	for _, f := range draw.Third(flows()) {
		second[f.name] = pairs(f, seed)
	}
	for _, f := range flows() {
		t.Run(dashed(f.name), func(t *testing.T) {
			t.Parallel()
			want := undisturbed(t, f)
			for _, step := range drawn[f.name] {
				t.Run(dashed(step), func(t *testing.T) {
					t.Parallel()
					killed(t, f, want, step)
					results.reached(f.name, step)
				})
			}
			for _, pair := range second[f.name] {
				t.Run(dashed(pair[0]+" "+pair[1]), func(t *testing.T) {
					t.Parallel()
					killed(t, f, want, pair...)
					results.reached(f.name, pair...)
				})
			}
		})
	}
}

// drawSteps gives the steps to try in each flow: all of them, or each step in one of the
// flows that have it, and at least one step in each flow.
func drawSteps(all []flow, seed uint64, everywhere bool) map[string][]string {
	drawn, having := map[string][]string{}, map[string][]string{}
	for _, f := range all {
		for _, step := range f.steps {
			having[step] = append(having[step], f.name)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, step := range slices.Sorted(maps.Keys(having)) {
		names := having[step]
		if !everywhere {
			names = names[rng.IntN(len(names)):][:1]
		}
		for _, name := range names {
			drawn[name] = append(drawn[name], step)
		}
	}
	for _, f := range all {
		if len(drawn[f.name]) == 0 {
			drawn[f.name] = []string{f.steps[rng.IntN(len(f.steps))]}
		}
	}
	return drawn
}

// TestDrawSteps: each step is tried somewhere and each flow somehow, whatever is drawn.
func TestDrawSteps(t *testing.T) {
	all := flows()
	for seed := range uint64(50) {
		short, long := drawSteps(all, seed, false), drawSteps(all, seed, true)
		tried := map[string]bool{}
		for _, f := range all {
			if len(short[f.name]) == 0 || len(long[f.name]) != len(f.steps) {
				t.Errorf("seed %d, %s: %d steps, and %d of %d with all", seed, f.name, len(short[f.name]), len(long[f.name]), len(f.steps))
			}
			for _, step := range short[f.name] {
				tried[step] = true
			}
		}
		for _, f := range all {
			for _, step := range f.steps {
				if !tried[step] {
					t.Errorf("seed %d: %s is not tried", seed, step)
				}
			}
		}
	}
}

// pairsOfFlow is how many pairs of steps are tried in each flow.
const pairsOfFlow = 1

// pairs draws pairs of a step and a later one.
func pairs(f flow, seed uint64) (out [][]string) {
	own := fnv.New64a()
	_, _ = own.Write([]byte(f.name)) // it never fails
	rng := rand.New(rand.NewPCG(seed, own.Sum64()))
	last := len(f.steps) - 1
	for len(out) < min(pairsOfFlow, last) {
		first := rng.IntN(last)
		pair := []string{f.steps[first], f.steps[first+1+rng.IntN(last-first)]}
		if !slices.ContainsFunc(out, func(p []string) bool { return slices.Equal(p, pair) }) {
			out = append(out, pair)
		}
	}
	return out
}

// undisturbed drives a flow without a kill and gives its end.
func undisturbed(t *testing.T, f flow) end {
	t.Helper()
	c := newCourse(t)
	c.begin()
	f.drive(c)
	for _, p := range c.finish() {
		t.Errorf("%s", p)
	}
	return c.end()
}

// killed drives a flow whose daemons die at the given steps, one by one.
func killed(t *testing.T, f flow, want end, steps ...string) {
	t.Helper()
	c := newCourse(t, steps...)
	c.begin()
	f.drive(c)
	problems := c.finish()
	for _, p := range problems {
		t.Errorf("%s", p)
	}
	if got := c.end(); asJSON(got) != asJSON(want) {
		t.Errorf("the end is not what it is without a kill\n%s\nlog:\n%s", differences(asJSON(want), asJSON(got)), tail(c.DaemonLog()))
	}
}

// differences are the lines that only one of two texts has.
func differences(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, "want "+strings.TrimSpace(line))
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			out = append(out, "got  "+strings.TrimSpace(line))
		}
	}
	return strings.Join(out, "\n")
}

// dashed makes a name of a test without slashes, which part names there.
func dashed(s string) string { return strings.NewReplacer("/", "·", " ", "_").Replace(s) }
