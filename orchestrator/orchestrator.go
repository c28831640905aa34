package orchestrator

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/redact"
	"cw/providers"
	"cw/worktree"
)

// Config is what an Orchestrator is made from. All fields without "may be" in
// their comment are needed.
type Config struct {
	Home  cw.Home
	Store Store
	// Accounts holds the credentials; nil: there are only the accounts default.
	Accounts Accounts
	Repos    *worktree.Manager
	// Plans holds initiatives; nil: there are none.
	Plans   Plans
	Presets *providers.Registry
	Prices  providers.Prices // may be zero: then only what CLIs tell is known of costs
	Watcher *proc.Watcher    // its Run is the caller's business
	Publish func(cw.Event)   // live events; stored ones are published by the store
	Binary  string           // the copy of cw that runs use
	Socket  string           // where agents reach the daemon
	Environ []string         // the daemon's own environment
	Log     *slog.Logger
	// Defaults stand in for what a spawn leaves open; its zero value chooses
	// nothing.
	Defaults Defaults
	// Inbox is how long questions may wait for people; its zero value: for ever.
	Inbox Inbox
	// Floor is the free space below which no run is started; its zero value asks
	// for the least that a CLI needs.
	Floor DiskFloor
	// Admit tells why the machine has no room for one more agent of a provider; the
	// dispatcher decides about agents of tasks by itself. May be nil: there is always.
	Admit func(ctx context.Context, provider string) error
	// MaxOutput is how many bytes of output a run may write before it is ended; 0: as
	// many as it likes.
	MaxOutput int64
	// StopUnpriced ends runs that count for a budget and use a model without a price,
	// so that the budget cannot hold them; else that is a warning.
	StopUnpriced bool
	// Redact holds the live secrets, which are masked in everything that is
	// stored, and Keeper those of runs for the next daemon; nil: nothing is masked.
	Redact *redact.Set
	Keeper *redact.Keeper
	// VersionWait is how long a CLI may take to tell its version before a spawn
	// goes on without; 0: 20 s.
	VersionWait time.Duration
	// HoldFor is how long a worktree stays that somebody opened; 0: cw.HoldTime.
	HoldFor time.Duration
	// Report is told of an agent that poses as another one; whoever gives it stores
	// the event, and bounds how many. May be nil.
	Report func(ctx context.Context, caller cw.Actor, what string)
	Fail   cw.Failpoint // may be nil
	Guards cw.Guards    // may be nil
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
	bell  *bell
	peers *bell // what agents ask each other, and ends of their runs: see Heard
	asks  *askRate
	// lookAgain is how long who waits for a conversation sleeps without a bell.
	lookAgain time.Duration
	turns     *turns[cw.AgentID]
	plans     *turns[cw.InitiativeID] // held from reading what an agent suggests until it is stored
	rota      *rota
	waits     *waits
	commands  *turns[cw.RunID] // held while a run of commands is waited for
	lent      *lentPorts       // ports that checks use
	// breeding is held by an agent while it makes another one.
	breeding *turns[cw.AgentID]
	// parking wakes the loop that wakes parked agents.
	parking chan struct{}
	// holding wakes the loop that ends holds of worktrees.
	holding chan struct{}
	holds   holds
	// asking wakes the loop that watches over open questions.
	asking chan struct{}
	// jobs carries work that must outlive the request that asked for it to
	// Run, which owns all goroutines.
	jobs chan job

	registering sync.Mutex // held while new projects are registered

	mu     sync.Mutex
	live   map[cw.RunID]*follower  // guarded by mu
	spawns map[cw.OpID]*settlement // guarded by mu; spawns that are under way
	// changed is when somebody last changed the accounts; guarded by mu.
	changed time.Time
	past    []string // guarded by mu; secrets of runs that are over, the newest last
}

type job func(ctx context.Context)

// New makes an Orchestrator. It does nothing before Run.
func New(c Config) *Orchestrator {
	if c.Accounts == nil {
		c.Accounts = ownLogins{}
	}
	if c.Plans == nil {
		c.Plans = noPlans{}
	}
	if c.Redact != nil {
		c.Store = maskedStore{c.Store, c.Redact}
	}
	return &Orchestrator{
		Config:    c,
		bell:      newBell(),
		peers:     newBell(),
		asks:      newAskRate(),
		lookAgain: lookAgain,
		turns:     newTurns[cw.AgentID](),
		plans:     newTurns[cw.InitiativeID](),
		rota:      newRota(),
		parking:   make(chan struct{}, 1),
		holding:   make(chan struct{}, 1),
		asking:    make(chan struct{}, 1),
		jobs:      make(chan job),
		live:      map[cw.RunID]*follower{},
		spawns:    map[cw.OpID]*settlement{},
		waits:     newWaits(),
		lent:      newLentPorts(),
		commands:  newTurns[cw.RunID](),
		breeding:  newTurns[cw.AgentID](),
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
	work.Go(func() { o.wakeParked(ctx) })
	work.Go(func() { o.watchHolds(ctx) })
	work.Go(func() { o.watchInbox(ctx) })
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
