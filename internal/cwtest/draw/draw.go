// Package draw chooses what a run of the tests tries of cases that take long: some of
// them, drawn anew in each run, or all of them with CW_LONG. It must not know what the
// cases are.
package draw

import (
	"math/rand/v2"
	"os"
	"slices"
)

// All reports whether every case is to be tried: CW_LONG is set.
func All() bool { return os.Getenv("CW_LONG") != "" }

// Third returns a third of the cases, rounded up, in any order, or all of them.
func Third[T any](cases []T) []T { return Some(cases, (len(cases)+2)/3) }

// Some returns n of the cases, or all when there are fewer, in any order, or all of them.
func Some[T any](cases []T, n int) []T {
	if All() {
		return cases
	}
	cases = slices.Clone(cases)
	rand.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	return cases[:min(n, len(cases))]
}
