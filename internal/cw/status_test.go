package cw_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

var update = flag.Bool("update", false, "write generated documents")

func TestTransitions(t *testing.T) {
	t.Parallel()
	all := cw.AgentStatuses()
	table := cw.AgentTransitions()
	for _, from := range all {
		if len(table[from]) == 0 {
			t.Errorf("%s is terminal; no status is", from)
		}
		for _, to := range table[from] {
			if !slices.Contains(all, to) || from == to {
				t.Errorf("%s → %s", from, to)
			}
		}
		// cw itself leaves rest only through starting.
		if from.AtRest() && slices.ContainsFunc(table[from], func(to cw.AgentStatus) bool {
			return to != cw.StatusStarting && to != cw.StatusStopped
		}) {
			t.Errorf("%s is left for %v", from, table[from])
		}
		if from.Alive() && !slices.Contains(table[from], cw.StatusStopped) {
			t.Errorf("%s cannot be stopped", from)
		}
	}
	if cw.StatusStopped.CanBecome(cw.StatusRunning) || !cw.StatusRunning.CanBecome(cw.StatusIdle) {
		t.Error("CanBecome does not follow the table")
	}
}

// TestStatesDocument holds docs/states.md to the table in the code.
func TestStatesDocument(t *testing.T) {
	const name = "../../docs/states.md"
	want := statesDocument()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s does not say what the code says; run: go test ./internal/cw -run TestStatesDocument -update", name)
	}
}

func statesDocument() string {
	var b strings.Builder
	b.WriteString("# States\n\nGenerated from the tables in `internal/cw/status.go`; do not edit.\n\n## Agent\n\n")
	b.WriteString("A status changes only along this table, by one conditional write together with its event. No status is terminal.\n\n")
	b.WriteString("| from | to | alive | at rest |\n|---|---|---|---|\n")
	yes := map[bool]string{true: "yes", false: ""}
	for _, from := range cw.AgentStatuses() {
		var to []string
		for _, s := range cw.AgentTransitions()[from] {
			to = append(to, "`"+string(s)+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", from, strings.Join(to, ", "), yes[from.Alive()], yes[from.AtRest()])
	}
	b.WriteString("\n```mermaid\nstateDiagram-v2\n  [*] --> pending\n")
	for _, from := range cw.AgentStatuses() {
		for _, to := range cw.AgentTransitions()[from] {
			fmt.Fprintf(&b, "  %s --> %s\n", from, to)
		}
	}
	b.WriteString("```\n")
	return b.String()
}
