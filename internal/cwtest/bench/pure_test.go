//go:build linux

package bench

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	most, least := goal{bound: 1.3, unit: "×"}, goal{bound: 0.5, unit: "×", atLeast: true}
	for _, c := range []struct {
		value float64
		goal  goal
		want  string
	}{
		{1.2, most, "met"}, {1.3, most, "met"}, {1.31, most, "**missed**"},
		{0.6, least, "met"}, {0.5, least, "met"}, {0.49, least, "**missed**"},
		{7, goal{unit: "ms"}, ""},
	} {
		if got := (figure{value: c.value, goal: c.goal}).verdict(); got != c.want {
			t.Errorf("%v with goal %s: %q, want %q", c.value, c.goal, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for i := 100; i > 0; i-- {
		hundred = append(hundred, time.Duration(i))
	}
	for _, c := range []struct {
		times []time.Duration
		q     float64
		want  time.Duration
	}{
		{hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 0, 1}, {hundred, 1, 100},
		{[]time.Duration{7}, 0.99, 7}, {nil, 0.5, 0},
	} {
		if got := quantile(c.times, c.q); got != c.want {
			t.Errorf("quantile %v of %d times: %d, want %d", c.q, len(c.times), got, c.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("the times were sorted in place")
	}
}

func TestRound(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 0.004: "0", 1: "1", 1.256: "1.26", 10: "10", 12.34: "12.3", 100: "100", 1234.5: "1234"} {
		if got := round(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

// TestDocument: the document has the marks between which figures are written,
// and names every row.
func TestDocument(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := between(string(old), "new figures\n")
	if err != nil {
		t.Fatal(err)
	}
	again, err := between(changed, "new figures\n")
	if err != nil || again != changed || !strings.Contains(changed, markBegin+"\nnew figures\n"+markEnd) {
		t.Errorf("%v:\n%s", err, changed)
	}
	if _, err := between("no marks", "x"); err == nil {
		t.Error("a document without marks was taken")
	}
	for _, row := range rows() {
		if !strings.Contains(string(old), "`"+row.name+"`") {
			t.Errorf("the document does not name the row %s", row.name)
		}
	}
}
