package api

import (
	"testing"
	"time"
)

// TestAllowance: so many times in a while, each caller alone, then again; who
// took nothing for a while is forgotten.
func TestAllowance(t *testing.T) {
	t.Parallel()
	a := NewAllowance(2, time.Minute)
	start := time.Now()
	for i, step := range []struct {
		who   string
		after time.Duration
		want  bool
	}{
		{"a", 0, true},
		{"a", 30 * time.Second, true},
		{"a", 30 * time.Second, false},
		{"b", 30 * time.Second, true},
		{"a", time.Minute - 1, false},
		{"a", time.Minute, true},
		{"a", time.Minute, true},
		{"a", 2*time.Minute - 1, false},
		{"c", 2 * time.Minute, true},
	} {
		if got := a.Take(step.who, start.Add(step.after)); got != step.want {
			t.Errorf("step %d: %s after %s got %t", i, step.who, step.after, got)
		}
	}
	if len(a.spent) != 1 {
		t.Errorf("remembers %v", a.spent)
	}
}
