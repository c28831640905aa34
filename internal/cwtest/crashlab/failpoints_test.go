package crashlab

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestFailpoints kills the daemon right after each named step of each flow. The
// next daemon must bring the agent to the end that it has when nothing is
// killed, and every invariant must hold. A step that is never reached fails the
// test.
func TestFailpoints(t *testing.T) {
	for _, f := range flows() {
		t.Run(dashed(f.name), func(t *testing.T) {
			t.Parallel()
			want := undisturbed(t, f)
			for _, step := range f.steps {
				t.Run(dashed(step), func(t *testing.T) {
					t.Parallel()
					killed(t, f, want, step)
					results.reached(f.name, step)
				})
			}
		})
	}
}

// pairsOfFlow is how many pairs of steps are tried in each flow.
const pairsOfFlow = 2

// TestSecondCrash kills the daemon at a step, and the next one at a later step,
// while it recovers. The pairs are drawn by the seed.
func TestSecondCrash(t *testing.T) {
	seed := seedOf(t)
	for _, f := range flows() {
		t.Run(dashed(f.name), func(t *testing.T) {
			t.Parallel()
			want := undisturbed(t, f)
			for _, pair := range pairs(f, seed) {
				t.Run(dashed(pair[0]+" "+pair[1]), func(t *testing.T) {
					t.Parallel()
					killed(t, f, want, pair...)
					results.reached(f.name, pair...)
				})
			}
		})
	}
}

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
