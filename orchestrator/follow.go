package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers"
	"cw/providers/parsers"
)

const (
	// readUsual is how much raw output is taken at once, and readMax while
	// there is more than that. There may be hundreds of followers, and most have
	// little to read (measured: with 1 MiB each, 200 of them took 220 MB).
	readUsual = 64 << 10
	readMax   = 1 << 20
	// replayPage is how many chunks a follower reads at once to take up a run;
	// nothing waits on it, so it may be larger than a stream's page.
	replayPage = 256
	// storeRetry is the pause after a failed write of chunks; the raw file is
	// the buffer meanwhile.
	storeRetry = time.Second
	// retryFirst and retryMax bound the pause before what failed at the end of a
	// run is tried again; it doubles.
	retryFirst = 250 * time.Millisecond
	retryMax   = 30 * time.Second
)

// follower copies one run's raw output into chunks and parses it, until the
// run is over.
type follower struct {
	o       *Orchestrator
	state   cw.RunState
	handle  proc.Handle
	offset  int64     // of the next byte to store
	tail    []byte    // the last bytes before it, as stored by an earlier daemon
	raw     *proc.Raw // nil until the output file is there
	broken  bool      // the raw file is no longer what was read
	told    bool      // a warning about that was given
	full    bool      // its output reached the limit, and the rest is not stored
	reading *parsers.Reading
	buf     []byte

	limits  providers.Patience
	trouble trouble
	gaveUp  bool      // patience was over, and the run is being ended
	stalled *stallEnd // why a rule ends it; nil: none does

	plan nativePlan // the CLI's own list of steps

	overspent  bool      // a budget is spent, and the run is being ended
	budgetLack int       // models without a price that it had used then
	budgetCost float64   // what it had cost when its budgets were looked at
	budgetNext time.Time // when they are looked at without news; zero: not

	mu      sync.Mutex      // what views read, only the follower writes
	summary parsers.Summary // guarded by mu
	silence silence         // guarded by mu
	stall   stall           // guarded by mu
	lastAt  time.Time       // guarded by mu; zero before the first output
	meter   meter           // guarded by mu
	doing   parsers.Doing   // guarded by mu

	teller teller
}

// follow follows a run until its end is stored, or ctx ends: then the next
// daemon goes on from the stored offset. A run has at most one follower in a
// daemon, and is never left without one: what fails is tried again.
func (o *Orchestrator) follow(ctx context.Context, st cw.RunState, h proc.Handle) {
	if !o.watch(st.Run.ID, nil) {
		return
	}
	defer o.unwatch(st.Run.ID)
	log := o.Log.With("agent", st.Agent.Alias, "run", st.Run.ID)
	var f *follower
	var obs proc.Observation
	err := again(ctx, log, "follow run", func(int) (err error) {
		// A new one each time: it takes up what is stored by now.
		f = &follower{o: o, state: st, handle: h}
		o.watch(st.Run.ID, f)
		defer f.close()
		obs, err = f.run(ctx)
		return err
	})
	if err != nil {
		return
	}
	err = again(ctx, log, "complete run", func(try int) error {
		return o.complete(ctx, f, obs, try >= completeTries)
	})
	if err == nil {
		o.forgetSecrets(st.Run)
		o.bell.Ring(st.Agent.ID)
	}
}

// watch notes the follower of a run; with nil it takes the place, and is false
// when it is taken.
func (o *Orchestrator) watch(run cw.RunID, f *follower) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, taken := o.live[run]; taken && f == nil {
		return false
	}
	o.live[run] = f
	return true
}

func (o *Orchestrator) unwatch(run cw.RunID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.live, run)
}

// again tries until it works or ctx ends, with growing pauses. try counts from
// 0.
func again(ctx context.Context, log *slog.Logger, what string, do func(try int) error) error {
	wait := retryFirst
	for try := 0; ; try++ {
		err := do(try)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		log.Error(what+"; it is tried again", "error", err, "after", wait)
		if !pause(ctx, wait) {
			return ctx.Err()
		}
		wait = min(2*wait, retryMax)
	}
}

func (f *follower) close() {
	if f.raw != nil {
		_ = f.raw.Close() // it was only read
	}
}

// run copies output until the run is over and everything is stored.
func (f *follower) run(ctx context.Context) (proc.Observation, error) {
	if err := f.restore(ctx); err != nil {
		return proc.Observation{}, err
	}
	wake, stop := f.o.Watcher.Watch(f.state.Run.OutputPath)
	defer stop()
	over := make(chan proc.Observation, 1)
	failed := make(chan error, 1)
	var waiter sync.WaitGroup
	defer waiter.Wait()
	waitCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	waiter.Go(func() {
		obs, err := proc.Wait(waitCtx, f.state.Run.Dir, f.handle)
		if err != nil {
			failed <- err
			return
		}
		over <- obs
	})
	giveUp := func() { waiter.Go(func() { f.giveUp(waitCtx) }) }
	var patience alarm
	for {
		if err := f.take(ctx, false); err != nil {
			return proc.Observation{}, err
		}
		f.keepTelling(time.Now())
		f.endFull(giveUp)
		patience.set(earlier(f.teller.due, earlier(f.watchPatience(ctx, time.Now(), giveUp), f.watchBudget(ctx, time.Now(), giveUp))))
		select {
		case <-ctx.Done():
			return proc.Observation{}, ctx.Err()
		case err := <-failed:
			if !errors.Is(err, fs.ErrNotExist) {
				return proc.Observation{}, fmt.Errorf("wait for the run: %w", err)
			}
			// Somebody removed the run directory: nothing tells its end.
			return f.end(ctx, proc.Observation{State: proc.StateLost, Handle: f.handle})
		case obs := <-over:
			return f.end(ctx, obs)
		case <-patience.ring:
			patience.ring = nil
		case <-wake:
		}
	}
}

// end reads the output of a run that is over to its end.
func (f *follower) end(ctx context.Context, obs proc.Observation) (proc.Observation, error) {
	if obs.State == proc.StateLost {
		if err := f.endLost(ctx); err != nil {
			return obs, err
		}
	}
	err := f.take(ctx, !f.o.Guards.Off("output-drained"))
	last := f.reading.Flush()
	f.fold(last, time.Now().UTC())
	f.notePlan(last)
	f.keepPlan(ctx)
	return obs, err
}

// endLost ends what a lost supervisor left behind, before the output is read
// to its end. While anything of it may live the run is not over: another run of
// the agent must never stand beside it. So a failure is tried again, for ever.
func (f *follower) endLost(ctx context.Context) error {
	f.o.Fail.Hit("lost/seen")
	if f.o.Guards.Off("lost-tree-ended") {
		return nil
	}
	n, err := proc.KillTree(ctx, string(f.state.Run.ID), f.handle)
	if err != nil {
		return fmt.Errorf("end what a lost supervisor left: %w", err)
	}
	f.o.Log.Warn("supervisor lost", "agent", f.state.Agent.Alias, "ended", n)
	f.o.Fail.Hit("lost/ended")
	return nil
}

// restore finds the place to go on from, and feeds what is stored to the
// parser so that its state is what it would be had the daemon never died.
func (f *follower) restore(ctx context.Context) error {
	reading, err := f.o.newReading(providerOf(f.state.Run, f.state.Agent), f.state.Run.CreatedAt)
	if err != nil {
		return err
	}
	f.reading = reading
	if preset, err := f.o.Presets.Get(providerOf(f.state.Run, f.state.Agent)); err == nil {
		f.limits = preset.Patience
	}
	if err := f.beginSilence(ctx); err != nil {
		return err
	}
	if err := f.recallPlan(ctx); err != nil {
		return fmt.Errorf("read its plan: %w", err)
	}
	if err := f.setMeter(ctx); err != nil {
		return err
	}
	f.overspent = f.state.Run.StopRequested == stopBudget
	f.budgetCost = -1 // nobody has looked yet: the last run has its time also when its CLI tells no cost
	q := cw.ChunkQuery{AgentID: f.state.Agent.ID, Session: f.state.Run.SessionNumber, Only: true, Limit: replayPage}
	for {
		chunks, err := f.o.Store.ChunksFrom(ctx, q)
		if err != nil {
			return fmt.Errorf("read stored output: %w", err)
		}
		if len(chunks) == 0 {
			f.keepSessionID(ctx) // the last daemon may have died before it did
			f.keepPlan(ctx)      // likewise
			return nil
		}
		for _, c := range chunks {
			events := f.reading.FeedAt(c.Bytes, c.CreatedAt)
			f.fold(events, c.CreatedAt)
			f.plan = f.plan.after(events, c.CreatedAt)
			f.offset, f.tail, q.AfterID = c.End(), c.Bytes, c.ID
		}
	}
}

// take stores what the raw file holds beyond the stored offset, up to the limit
// of a run; with final also an unfinished last line.
func (f *follower) take(ctx context.Context, final bool) error {
	if f.broken || f.full {
		return nil
	}
	if f.raw == nil {
		if err := f.open(ctx); err != nil || f.raw == nil {
			return err
		}
	}
	for {
		buf, limited := f.room()
		n, err := f.raw.Read(buf)
		if changed := new(proc.RawChangedError); errors.As(err, &changed) {
			if err := f.keepMasked(ctx, buf[:n], true); err != nil {
				return err
			}
			return f.tampered(ctx, changed)
		}
		if err != nil {
			return err
		}
		short, before := n < len(buf), f.offset // short: the end of the file for now
		if err := f.keepMasked(ctx, buf[:n], final && short); err != nil {
			return err
		}
		if limited && !short && f.offset == before {
			return f.tellFull(ctx)
		}
		f.fit(short)
		if short {
			return nil
		}
	}
}

// keepMasked masks what was read and keeps what is final of it; with end all of it
// is.
func (f *follower) keepMasked(ctx context.Context, piece []byte, end bool) error {
	masked, sure := f.maskPiece(piece, end)
	pieces, _ := proc.Cut(masked[:sure], end)
	return f.keep(ctx, pieces, piece)
}

// fit makes the buffer large after a read that filled it, and small again
// after the last one.
func (f *follower) fit(short bool) {
	switch {
	case short && len(f.buf) > readUsual:
		f.buf = make([]byte, readUsual)
	case !short && len(f.buf) < readMax:
		f.buf = make([]byte, readMax)
	}
}

// open opens the raw file. raw stays nil when there is nothing to read.
func (f *follower) open(ctx context.Context) error {
	path := f.state.Run.OutputPath
	raw, err := proc.OpenRaw(path, f.offset, f.tail)
	switch info, statErr := os.Lstat(path); {
	case err == nil:
		f.raw, f.buf = raw, make([]byte, readUsual)
		return nil
	case errors.Is(err, fs.ErrNotExist) && f.offset == 0:
		return nil // the CLI was not started yet, or never
	case errors.Is(err, fs.ErrNotExist):
		return f.tampered(ctx, &proc.RawChangedError{Path: path, Change: proc.RawMissing, Offset: f.offset, Size: -1})
	case statErr == nil && !info.Mode().IsRegular():
		return f.tampered(ctx, &proc.RawChangedError{Path: path, Change: proc.RawReplaced, Offset: f.offset, Size: -1})
	}
	return err
}

// tampered tells, once, that somebody changed the raw output. What was stored
// stays; an open file that is only renamed or removed is read on, since the CLI
// still writes to it.
func (f *follower) tampered(ctx context.Context, change *proc.RawChangedError) error {
	readable := f.raw != nil && (change.Change == proc.RawMissing || change.Change == proc.RawReplaced)
	f.broken = !readable
	if f.told {
		return nil
	}
	f.told = true
	return f.o.warn(ctx, f.state.Agent, fmt.Sprintf("somebody changed its raw output (%s after %d bytes); what was stored before is whole", change.Change, change.Offset))
}

// keep stores pieces as chunks, tells those who follow, and parses them. They are
// the masked beginning of raw.
func (f *follower) keep(ctx context.Context, pieces [][]byte, raw []byte) error {
	if len(pieces) == 0 {
		return nil
	}
	now := time.Now().UTC()
	chunks := make([]cw.Chunk, len(pieces))
	at := f.offset
	for i, p := range pieces {
		chunks[i] = cw.Chunk{
			AgentID: f.state.Agent.ID, AgentName: f.state.Agent.Alias,
			SessionNumber: f.state.Run.SessionNumber, Offset: at, Bytes: p, CreatedAt: now,
		}
		at += int64(len(p))
	}
	stored, err := f.store(ctx, chunks)
	if err != nil {
		return err
	}
	f.raw.Advance(raw[:at-f.offset])
	f.offset = at
	f.o.Fail.Hit("follow/stored")
	for _, c := range stored {
		f.announce(c)
	}
	f.o.bell.Ring(f.state.Agent.ID)
	for _, p := range pieces {
		f.note(ctx, f.reading.FeedAt(p, now), now)
	}
	f.keepPlan(ctx)
	return nil
}

// store writes chunks, again and again while the database cannot take them: a
// full disk must not lose output, and the raw file keeps it until then.
func (f *follower) store(ctx context.Context, chunks []cw.Chunk) ([]cw.Chunk, error) {
	for try := 0; ; try++ {
		stored, err := f.o.Store.AppendChunks(ctx, chunks)
		if err == nil {
			return stored, nil
		}
		if cw.ErrorCode(err) == cw.CodeRefused || ctx.Err() != nil {
			return nil, fmt.Errorf("store output: %w", err)
		}
		if try == 0 {
			f.o.Log.Error("store output; trying again until it works", "agent", f.state.Agent.Alias, "error", err)
		}
		if !pause(ctx, storeRetry) {
			return nil, ctx.Err()
		}
	}
}

// announce is the only place that emits agent:output.
func (f *follower) announce(c cw.Chunk) {
	f.o.Publish(cw.NewEvent(cw.EventAgentOutput, cw.Actor{Kind: cw.ActorCW}, cw.AgentOutput{
		AgentID: c.AgentID, SessionNumber: c.SessionNumber, ChunkID: c.ID, Offset: c.Offset, Length: len(c.Bytes),
	}).About(c.AgentID, f.state.Run.ID).In(f.state.Agent.InitiativeID))
}
