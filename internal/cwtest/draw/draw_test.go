package draw

import (
	"slices"
	"testing"
)

// TestThird: it is a third, each case is drawn some time, and all are with CW_LONG.
func TestThird(t *testing.T) {
	t.Setenv("CW_LONG", "")
	cases := []int{0, 1, 2, 3}
	seen := map[int]bool{}
	for range 200 {
		got := Third(cases)
		if len(got) != 2 || got[0] == got[1] {
			t.Fatalf("%v", got)
		}
		seen[got[0]], seen[got[1]] = true, true
	}
	if len(seen) != 4 || !slices.Equal(cases, []int{0, 1, 2, 3}) {
		t.Errorf("drawn: %v; the cases are %v", seen, cases)
	}
	if got := Third([]int{}); len(got) != 0 {
		t.Errorf("%v of none", got)
	}
	t.Setenv("CW_LONG", "1")
	if got := Third(cases); !slices.Equal(got, cases) {
		t.Errorf("%v with CW_LONG", got)
	}
}
