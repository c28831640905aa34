//go:build linux

package bench

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/talker"
)

var full = flag.Bool("full", false, "measure at full size and write docs/performance.md")

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	beOther() // the test binary is also the agent and the floors
	talker.Main()
	fakecli.Main()
	flag.Parse()
	built, cleanup, err := lab.Build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = built
	code := m.Run()
	cleanup()
	os.Exit(code)
}

// scale is how much work the rows do.
type scale struct {
	rounds    int // of what takes milliseconds
	fewRounds int // of what takes seconds
	files     int // in the large repository
	agents    int // of the load
	live      int // at a restart
	past      int // agents that are done, at a restart
	exits     int // of runs that are waited for
	load      time.Duration
	stream    time.Duration
	rate      int // lines a second of the single fast agent
	backlog   int // lines written while no daemon runs
	talks     int // questions of agents to each other
	flood     talker.FloodSize
	tasks     int // that a decision is about
	unblocked int // tasks that are started one after the other
	merges    int // in one queue
	crew      int // agents that the dispatcher starts at once
}

func fullScale() scale {
	return scale{
		rounds: 60, fewRounds: 4, files: 50_000, agents: 200, live: 50, past: 1000, exits: 100,
		load: time.Minute, stream: 10 * time.Second, rate: 4000, backlog: 200_000,
		talks: 200, flood: talker.FloodSize{Flood: 10_000, Alone: 10, Beside: 15},
		tasks: 10_000, unblocked: 100, merges: 40, crew: 100,
	}
}

func tinyScale() scale {
	return scale{
		rounds: 2, fewRounds: 1, files: 50, agents: 3, live: 2, past: 5, exits: 2,
		load: 300 * time.Millisecond, stream: 300 * time.Millisecond, rate: 400, backlog: 300,
		talks: 2, flood: talker.FloodSize{Flood: 40, Alone: 1, Beside: 1},
		tasks: 600, unblocked: 2, merges: 2, crew: 2,
	}
}

// rig is what a row works with.
type rig struct {
	*testing.T
	scale
	begun time.Time // one clock for who writes and who reads
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// row measures one line or more of the table.
type row struct {
	name    string
	measure func(*rig) []figure
}

func rows() []row {
	return []row{
		{"worktree-tiny", tinyWorktree},
		{"ingest", ingest},
		{"masking", masking},
		{"latency", streamLatency},
		{"stalled", besideStalled},
		{"catch-up", catchUp},
		{"shim", shimSpawn},
		{"shim-memory", shimMemory},
		{"exit", exitNoticed},
		{"cli", commands},
		{"board", board},
		{"restart", restart},
		{"talk", talk},
		{"flood", flood},
		{"decide", decisions},
		{"unblock", unblock},
		{"merges", merges},
		{"crew", crew},
		// Last: what they remove makes new files dear for a while.
		{"worktree-large", largeWorktree},
		{"dirty-check", dirtyCheck},
	}
}

// TestRows runs every row. Without -full it is only a test: each row's code
// runs at a tiny size, and checks what must hold at any speed.
func TestRows(t *testing.T) {
	s := tinyScale()
	if *full {
		s = fullScale()
	}
	report := newReport()
	for _, row := range rows() {
		done := t.Run(row.name, func(t *testing.T) {
			begin := time.Now()
			figures := row.measure(&rig{T: t, scale: s, begun: begin})
			if len(figures) == 0 {
				t.Fatal("the row gives no figure")
			}
			for _, f := range figures {
				t.Logf("%s: %s (%s) %s, goal %s %s", f.what, f.ours, f.floor, f.goal.in(f.value), f.goal, f.verdict())
			}
			report.add(row.name, figures, time.Since(begin))
		})
		report.failed = report.failed || !done
	}
	if *full {
		report.publish(t)
	}
}
