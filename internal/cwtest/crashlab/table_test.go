package crashlab

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// table collects what all tests of this package found, for one table at the
// end.
type table struct {
	begun time.Time

	mu     sync.Mutex
	looks  map[string]int            // guarded by mu: by invariant
	broken map[string]int            // guarded by mu: by invariant
	steps  map[string]map[string]int // guarded by mu: flow → step → daemons that died there
	rows   []string                  // guarded by mu: of other tests
}

func newTable() *table {
	return &table{begun: time.Now(), looks: map[string]int{}, broken: map[string]int{}, steps: map[string]map[string]int{}}
}

func (t *table) looked(invariant string, looks, broken int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.looks[invariant] += looks
	t.broken[invariant] += broken
}

func (t *table) reached(flow string, steps ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.steps[flow] == nil {
		t.steps[flow] = map[string]int{}
	}
	for _, s := range steps {
		t.steps[flow][s]++
	}
}

// row adds a line about something else that was tried.
func (t *table) row(what string, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, fmt.Sprintf("| %s | %s |", what, fmt.Sprintf(format, args...)))
}

func (t *table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	b.WriteString("| attack | what came of it |\n|---|---|\n")
	points, deaths := 0, 0
	for _, flow := range slices.Sorted(maps.Keys(t.steps)) {
		n := 0
		for _, times := range t.steps[flow] {
			n += times
		}
		points, deaths = points+len(t.steps[flow]), deaths+n
		fmt.Fprintf(&b, "| daemon killed at a named step: %s | %d steps, %d kills |\n", flow, len(t.steps[flow]), n)
	}
	if points > 0 {
		fmt.Fprintf(&b, "| daemon killed at a named step: all | %d steps, %d kills, each step reached |\n", points, deaths)
	}
	for _, row := range t.rows {
		b.WriteString(row + "\n")
	}
	b.WriteString("\n| invariant | holds | looks | broken |\n|---|---|---|---|\n")
	for _, inv := range invariants() {
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", inv.name, inv.holds, t.looks[inv.name], t.broken[inv.name])
	}
	fmt.Fprintf(&b, "\nTook %.0f s.\n", time.Since(t.begun).Seconds())
	return b.String()
}

// publish prints the table, and writes it to the file that CW_LAB_TABLE names.
func (t *table) publish() error {
	fmt.Println(t)
	if file := os.Getenv("CW_LAB_TABLE"); file != "" {
		return os.WriteFile(file, []byte(t.String()), 0o644)
	}
	return nil
}

// TestTable: what was broken shows in its row.
func TestTable(t *testing.T) {
	got := newTable()
	got.looked("I3", 5, 2)
	got.reached("spawn", "a", "b", "a")
	got.row("something", "%d times", 3)
	for _, want := range []string{"| I3 | every agent is in a definite state with its reason, and no operation is left open | 5 | 2 |", "| daemon killed at a named step: all | 2 steps, 3 kills, each step reached |", "| something | 3 times |"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
