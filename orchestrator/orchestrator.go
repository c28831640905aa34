package orchestrator

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers"
	"cw/worktree"
)

// Config is what an Orchestrator is made from. All fields without "may be" in
// their comment are needed.
type Config struct {
	Home    cw.Home
	Store   Store
	Repos   *worktree.Manager
	Presets *providers.Registry
	Watcher *proc.Watcher  // its Run is the caller's business
	Publish func(cw.Event) // live events; stored ones are published by the store
	Binary  string         // the copy of cw that runs use
	Socket  string         // where agents reach the daemon
	Environ []string       // the daemon's own environment
	Log     *slog.Logger
	// Defaults stand in for what a spawn leaves open; its zero value chooses
	// nothing.
	Defaults Defaults
	Fail     cw.Failpoint // may be nil
}

// Defaults are a person's choices for spawns that name none. Any may be empty.
type Defaults struct {
	Provider string     // else the first installed one of claude and codex
	Model    string     // for agents of that provider
	Sandbox  cw.Sandbox // else off
}

// Orchestrator runs agents. Make it with New, call Run once.
type Orchestrator struct {
	Config
	bell *bell
	// jobs carries work that must outlive the request that asked for it to
	// Run, which owns all goroutines.
	jobs chan job

	registering sync.Mutex // held while new projects are registered

	mu     sync.Mutex
	live   map[cw.RunID]*follower  // guarded by mu
	spawns map[cw.OpID]*settlement // guarded by mu; spawns that are under way
}

type job func(ctx context.Context)

// New makes an Orchestrator. It does nothing before Run.
func New(c Config) *Orchestrator {
	return &Orchestrator{
		Config: c,
		bell:   newBell(),
		jobs:   make(chan job),
		live:   map[cw.RunID]*follower{},
		spawns: map[cw.OpID]*settlement{},
	}
}

// Run takes up what an earlier daemon left unfinished, calls ready when every
// run has its follower, and then follows agents until ctx ends. Ending ctx lets
// go of the agents; it never stops one.
func (o *Orchestrator) Run(ctx context.Context, ready func()) error {
	var work sync.WaitGroup
	defer work.Wait()
	jobs, err := o.recover(ctx)
	if err != nil {
		return fmt.Errorf("take up unfinished runs: %w", err)
	}
	for _, j := range jobs {
		work.Go(func() { j(ctx) })
	}
	ready()
	for {
		select {
		case <-ctx.Done():
			return nil
		case j := <-o.jobs:
			work.Go(func() { j(ctx) })
		}
	}
}

// hand gives a job to Run. When Run has ended the job is dropped: the rows
// hold what is unfinished, and the next daemon takes it up.
func (o *Orchestrator) hand(ctx context.Context, j job) error {
	select {
	case o.jobs <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pause waits, or returns false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
