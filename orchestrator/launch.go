package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/safefile"
)

// The steps of a spawn and of a resume, in order. Each may be repeated; the
// operation's row names the last one whose end is known, and each is a
// failpoint. Their full names begin with the kind of the operation: stepOf.
const (
	stepIntended  = "intended"
	stepWorktrees = "worktrees"
	stepInputs    = "inputs"
	stepPrepared  = "prepared"
	stepCarried   = "session-carried" // only where it had to be taken to another account
	stepStarting  = "starting"
	stepStarted   = "started"
	stepRunning   = "running"
)

// stepOf is the full name of a step: spawn/inputs, resume/inputs.
func stepOf(op cw.Op, step string) string { return string(op.Kind) + "/" + step }

// neverStartedError says that the shim could not start the CLI: nothing of the
// run happened.
type neverStartedError struct{ cause string }

func (e *neverStartedError) Error() string { return "start the CLI: " + e.cause }

// launch brings an intended run to the point where its CLI runs. Every step may
// be repeated, so recovery calls it too. What the run directory shows to have
// been started is only recorded: to prepare it again would take away what the
// run has written since, and to start it again would do its work twice.
func (o *Orchestrator) launch(ctx context.Context, st *cw.RunState, opts options) error {
	seen, err := observeRun(st.Run.Dir)
	if err != nil {
		return fmt.Errorf("look at the run directory: %w", err)
	}
	if seen.State == proc.StateFresh {
		account, err := o.accountOf(ctx, providerOf(st.Run, st.Agent), st.Run.AccountID)
		if err != nil {
			return err
		}
		opts.access.ConfigDir = account.ConfigDir
		if opts.around == nil {
			if opts.around, err = o.surroundingsOf(ctx, *st); err != nil {
				return err
			}
		}
		// A shim that was called a moment before its daemon died may not have put
		// down its name yet: behind this step nothing is prepared any more.
		if st.Op.Step != stepOf(*st.Op, stepStarting) {
			if err := o.prepare(ctx, st, opts); err != nil {
				return err
			}
			if err := o.giveAccount(ctx, st, account, &opts); err != nil {
				return err
			}
		} else if opts.access, err = o.accessAgain(ctx, st, account); err != nil {
			return err
		}
		if seen, err = o.startShim(ctx, st, opts); err != nil {
			return err
		}
	}
	if neverRan(*st, seen) {
		return &neverStartedError{cause: seen.Exit.StartError}
	}
	o.Fail.Hit(stepOf(*st.Op, stepStarted))
	return o.recordRunning(ctx, st, seen)
}

// giveAccount makes the run's account ready for it: its credentials, and the
// session where its CLI looks for it.
func (o *Orchestrator) giveAccount(ctx context.Context, st *cw.RunState, account cw.Account, opts *options) error {
	preset, err := o.Presets.Get(providerOf(st.Run, st.Agent))
	if err != nil {
		return err
	}
	if opts.access, err = o.access(ctx, preset, account); err != nil {
		return err
	}
	return o.carrySession(ctx, st, preset, account, *opts)
}

// accessAgain gives the credentials to a run that was about to be started: its
// shim may be on its way, so only that they cannot be had stops it.
func (o *Orchestrator) accessAgain(ctx context.Context, st *cw.RunState, account cw.Account) (cw.AccountAccess, error) {
	preset, err := o.Presets.Get(providerOf(st.Run, st.Agent))
	if err != nil || account.Kind == cw.AccountOwn {
		return cw.AccountAccess{}, err
	}
	access, err := o.Accounts.Ready(ctx, account)
	return withPlace(access, preset), err
}

// neverRan tells that a resume is over before it began: its CLI could not be
// started. It does not become running, so that its texts count as not delivered.
func neverRan(st cw.RunState, seen proc.Observation) bool {
	return st.Op.Kind == cw.OpResume && seen.Exit != nil && seen.Exit.StartError != ""
}

// prepare makes everything a run needs: worktrees, inputs, prompt, run
// directory.
func (o *Orchestrator) prepare(ctx context.Context, st *cw.RunState, opts options) error {
	if err := o.enoughDisk(); err != nil {
		return err
	}
	if err := o.forgetSetUps(ctx, st); err != nil {
		return err
	}
	places := o.makeWorktrees
	if st.Op.Kind == cw.OpResume {
		places = o.ensureWorktrees
	}
	notes, err := places(ctx, st, opts)
	if err != nil {
		return err
	}
	if err := o.Store.SaveWorktrees(ctx, st.Op.ID, stepOf(*st.Op, stepWorktrees), st.Worktrees); err != nil {
		return fmt.Errorf("store worktrees: %w", err)
	}
	o.Fail.Hit(stepOf(*st.Op, stepWorktrees))
	more, err := o.furnish(ctx, st, opts)
	if err != nil {
		return err
	}
	for _, note := range append(notes, more...) {
		if err := o.warn(ctx, st.Agent, note); err != nil {
			return err
		}
	}
	if err := o.writeInputs(ctx, st, opts); err != nil {
		return err
	}
	if err := o.Store.SaveOpStep(ctx, st.Op.ID, stepOf(*st.Op, stepInputs)); err != nil {
		return fmt.Errorf("store step: %w", err)
	}
	o.Fail.Hit(stepOf(*st.Op, stepInputs))
	if err := o.writeRunDir(ctx, st, opts); err != nil {
		return err
	}
	o.Fail.Hit(stepOf(*st.Op, stepPrepared))
	return nil
}

func (o *Orchestrator) warn(ctx context.Context, a cw.Agent, text string) error {
	ev := cw.NewEvent(cw.EventAgentWarning, cw.Actor{Kind: cw.ActorCW}, cw.AgentWarning{Name: a.Alias, Warning: text}).About(a.ID, "")
	if err := o.Store.AddWarning(ctx, a.ID, text, ev); err != nil {
		return fmt.Errorf("store warning: %w", err)
	}
	return nil
}

// startShim stores that the shim is about to be started, with a token of the
// run's own, and starts it.
func (o *Orchestrator) startShim(ctx context.Context, st *cw.RunState, opts options) (proc.Observation, error) {
	prompt, err := safefile.Read(filepath.Join(st.Run.Dir, promptFile), promptMost)
	if err != nil {
		return proc.Observation{}, fmt.Errorf("read the prompt: %w", err)
	}
	token := cw.NewToken()
	scopes, err := o.scopesOf(ctx, *st)
	if err != nil {
		return proc.Observation{}, err
	}
	starting := startingOf(*st, string(prompt), cw.HashToken(token), scopes)
	if err := o.Store.SaveStarting(ctx, starting); err != nil {
		return proc.Observation{}, fmt.Errorf("store the start: %w", err)
	}
	st.Agent.Status, st.Op.Step = cw.StatusStarting, starting.Step
	o.Fail.Hit(starting.Step)
	preset, err := o.Presets.Get(st.Agent.Provider)
	if err != nil {
		return proc.Observation{}, err
	}
	cmd, err := commandOf(preset, *st, o.invocation(st, opts, string(prompt))) // for its environment alone
	if err != nil {
		return proc.Observation{}, err
	}
	around, err := o.projectEnv(ctx, *st, opts)
	if err != nil {
		return proc.Observation{}, err
	}
	env := o.agentEnv(preset, st, opts, cmd, token, around)
	if err := o.learnSecrets(*st, append(preset.Secrets(env), token)); err != nil {
		return proc.Observation{}, err
	}
	seen, err := proc.Start(ctx, proc.Launch{Binary: o.Binary, Dir: st.Run.Dir, Env: env})
	if errors.Is(err, proc.ErrNotStarted) {
		return proc.Observation{}, cw.Errorf(cw.CodeFailed, "the run was not started: its supervisor ended before it").
			WithHint("try again; cw logs shows what it said").Because(err)
	}
	if err != nil {
		return proc.Observation{}, fmt.Errorf("start the run: %w", err)
	}
	return seen, nil
}

// startingOf puts the start into the words of the store. The prompt is a text
// of its own for a spawn only: that of a resume is made of texts that are stored
// already, and its agent was told to be starting when it was intended.
func startingOf(st cw.RunState, prompt, tokenHash string, scopes []cw.Scope) cw.Starting {
	now := time.Now().UTC()
	s := cw.Starting{
		AgentID: st.Agent.ID, RunID: st.Run.ID, OpID: st.Op.ID, Step: stepOf(*st.Op, stepStarting),
		Token: cw.Token{
			ID: cw.TokenID(cw.NewID()), Hash: tokenHash, Kind: cw.ActorAgent, RunID: st.Run.ID,
			AgentID: st.Agent.ID, Scopes: scopes, CreatedAt: now,
		},
	}
	if st.Op.Kind == cw.OpSpawn {
		s.Message = cw.Message{
			ID: cw.MessageID(cw.NewID()), AgentID: st.Agent.ID, RunID: st.Run.ID, Role: cw.RoleUser,
			Origin: cw.OriginCW, SenderAgentID: st.Agent.ParentID, Definition: st.Agent.Definition, Body: prompt, DeliveredAt: &now, CreatedAt: now,
		}
		s.Event = startingEvent(st.Agent, st.Run)
	}
	return s
}

func startingEvent(a cw.Agent, r cw.Run) cw.Event {
	return cw.NewEvent(cw.EventAgentStarting, cw.Actor{Kind: cw.ActorCW}, cw.AgentStarting{
		Name: a.Alias, SessionNumber: r.SessionNumber, Reason: r.Reason,
	}).About(a.ID, r.ID)
}

// recordRunning stores the process and hands the run to its follower. A run
// that is over already goes the same way: its follower finds the end at once.
func (o *Orchestrator) recordRunning(ctx context.Context, st *cw.RunState, seen proc.Observation) error {
	if st.Agent.Status == cw.StatusStarting {
		handle, err := json.Marshal(seen.Handle)
		if err != nil {
			return fmt.Errorf("encode handle: %w", err)
		}
		st.Run.Handle, st.Run.PID = handle, seen.Handle.PID
		running := cw.Running{
			AgentID: st.Agent.ID, RunID: st.Run.ID, OpID: st.Op.ID, Handle: handle, PID: seen.Handle.PID,
			StartedAt: orNow(seen.Handle.StartedAt), Events: runningEvents(ctx, *st, seen.Handle.PID),
		}
		// The CLI runs: a full disk must not leave it without a follower.
		var refused error
		err = again(ctx, o.Log.With("agent", st.Agent.Alias), "store the run", func(int) error {
			err := o.Store.SaveRunning(ctx, running)
			if cw.ErrorCode(err) == cw.CodeRefused { // for good
				refused, err = err, nil
			}
			return err
		})
		if err = errors.Join(err, refused); err != nil {
			return fmt.Errorf("store the run: %w", err)
		}
		st.Agent.Status = cw.StatusRunning
		o.bell.Ring(st.Agent.ID)
	}
	o.Fail.Hit(stepOf(*st.Op, stepRunning))
	run := *st
	return o.hand(ctx, func(life context.Context) {
		if fresh, err := o.Store.RunState(life, run.Run.ID); err == nil { // else the one who asked for a stop sees to it
			run.Run.StopRequested = fresh.Run.StopRequested
		}
		o.endAsAsked(life, run)
		o.follow(life, run, seen.Handle)
	})
}

// startedAfterAll looks whether a run whose launch failed has a CLI that runs,
// or ran, all the same. Then there is no way back: the run is followed. When
// that cannot be seen the rows stay as they are, for the next daemon.
func (o *Orchestrator) startedAfterAll(ctx context.Context, st cw.RunState) (started bool, err error) {
	seen, err := observeRun(st.Run.Dir)
	if err != nil {
		return false, fmt.Errorf("look whether the run was started: %w", err)
	}
	if seen.State == proc.StateFresh || neverRan(st, seen) {
		return false, nil
	}
	return true, o.recordRunning(ctx, &st, seen)
}

// failStart stores that a run could not be started.
func (o *Orchestrator) failStart(ctx context.Context, st cw.RunState, cause error) error {
	return o.endStart(ctx, st, evidence{}, crash(cw.ReasonStartFailed, "it could not be started: "+cause.Error()))
}

// endStart stores the end of a run of which nothing was started, and what
// follows it. An agent that was never told to be there is told now, when it goes
// on later.
func (o *Orchestrator) endStart(ctx context.Context, st cw.RunState, e evidence, v verdict) error {
	f := finishOf(st, e, v, st.Worktrees)
	f.From = []cw.AgentStatus{cw.StatusPending, cw.StatusStarting}
	var err error
	if f.Next, err = o.follows(ctx, st, e, v, nil); err != nil {
		return fmt.Errorf("prepare what follows: %w", err)
	}
	goesOn := f.Next != nil || f.Status == cw.StatusParked
	f.Events = finishEvents(st, f)
	if goesOn && st.Op != nil && st.Op.Kind == cw.OpSpawn {
		f.Events = append([]cw.Event{spawnedEvent(ctx, st, 0)}, f.Events...)
	}
	_, err = o.Store.FinishRun(ctx, f)
	o.forgetSecrets(st.Run)
	o.bell.Ring(st.Agent.ID)
	if err != nil || !goesOn {
		return err
	}
	o.Fail.Hit("finish/stored")
	o.lookAtParked()
	return o.hand(ctx, func(life context.Context) { o.carryOn(life, st.Agent.ID) })
}

// observeRun is proc.Observe; a run directory that is not there yet, or cannot
// be, is a run that was not started.
func observeRun(dir string) (proc.Observation, error) {
	seen, err := proc.Observe(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return proc.Observation{State: proc.StateFresh}, nil
	}
	return seen, err
}

func orNow(t time.Time) time.Time {
	if t.IsZero() {
		return time.Now().UTC()
	}
	return t.UTC()
}

// runningEvents tell that a CLI runs, and of a spawn also that there is an
// agent.
func runningEvents(ctx context.Context, st cw.RunState, pid int) []cw.Event {
	running := cw.NewEvent(cw.EventAgentRunning, cw.Actor{Kind: cw.ActorCW}, cw.AgentRunning{
		Name: st.Agent.Alias, SessionNumber: st.Run.SessionNumber, PID: pid,
	}).About(st.Agent.ID, st.Run.ID)
	if st.Op.Kind != cw.OpSpawn {
		return []cw.Event{running}
	}
	return []cw.Event{spawnedEvent(ctx, st, pid), running}
}

// spawnedEvent tells that there is an agent.
func spawnedEvent(ctx context.Context, st cw.RunState, pid int) cw.Event {
	spawned := cw.AgentSpawned{
		Name: st.Agent.Alias, Mode: st.Agent.Mode, Provider: st.Agent.Provider, Title: st.Agent.Title,
		Projects: []string{}, PID: pid,
	}
	for _, t := range st.Worktrees {
		spawned.Projects = append(spawned.Projects, t.Project)
		spawned.Branch = t.Branch
	}
	return cw.NewEvent(cw.EventAgentSpawned, cw.ActorOf(ctx), spawned).About(st.Agent.ID, st.Run.ID)
}
