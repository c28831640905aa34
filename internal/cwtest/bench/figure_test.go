//go:build linux

package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// figure is one measured thing beside its floor.
type figure struct {
	what  string // what is measured
	ours  string // it, in words with a unit
	floor string // what it is compared with, in the same way; "": nothing
	value float64
	goal  goal
	note  string // why it is as it is; "": nothing to say
}

// goal is a bound of a figure.
type goal struct {
	bound   float64 // 0: no goal, the figure is for information
	unit    string  // "×", "ms", "MB", "%", "s"
	atLeast bool    // the bound is the least; else the most
}

func (g goal) String() string {
	switch {
	case g.bound == 0:
		return "–"
	case g.atLeast:
		return "at least " + g.in(g.bound)
	default:
		return "at most " + g.in(g.bound)
	}
}

func (g goal) in(v float64) string { return strings.TrimSpace(round(v) + " " + g.unit) }

// verdict is "met" or "missed", or "" without a goal.
func (f figure) verdict() string {
	switch g := f.goal; {
	case g.bound == 0:
		return ""
	case g.atLeast == (f.value >= g.bound), f.value == g.bound:
		return "met"
	default:
		return "**missed**"
	}
}

// round gives three digits at most.
func round(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return trimZeros(fmt.Sprintf("%.1f", v))
	default:
		return trimZeros(fmt.Sprintf("%.2f", v))
	}
}

func trimZeros(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }

// inMS is a duration as milliseconds, for people.
func inMS(d time.Duration) string { return round(millis(d)) + " ms" }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// quantile gives the value below which the share q of the times lies.
func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func median(times []time.Duration) time.Duration { return quantile(times, 0.5) }

// ratio compares medians: how many times as long as the floor it takes.
func ratio(what string, ours, floor []time.Duration, floorName string, most float64) figure {
	a, b := median(ours), median(floor)
	return figure{
		what: what, ours: inMS(a), floor: fmt.Sprintf("%s: %s", floorName, inMS(b)),
		value: float64(a) / float64(max(b, 1)), goal: goal{bound: most, unit: "×"},
	}
}

// latency gives p50 and p99 as two figures; a bound of 0 is no goal.
func latency(what string, times []time.Duration, p50, p99 float64, floor string) []figure {
	of := func(name string, q, bound float64) figure {
		d := quantile(times, q)
		return figure{what: what + ", " + name, ours: inMS(d), floor: floor, value: millis(d), goal: goal{bound: bound, unit: "ms"}}
	}
	return []figure{of("p50", 0.5, p50), of("p99", 0.99, p99)}
}

// inTurn runs floor and ours alternately, so that what else the machine does
// hits both, and gives their times.
func inTurn(rounds int, floor, ours func(round int) time.Duration) (floors, own []time.Duration) {
	for i := range rounds {
		if i%2 == 0 { // who goes first must not matter either
			floors, own = append(floors, floor(i)), append(own, ours(i))
		} else {
			own = append(own, ours(i))
			floors = append(floors, floor(i))
		}
	}
	return floors, own
}

// took times one call.
func took(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin)
}
