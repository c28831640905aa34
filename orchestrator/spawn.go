package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/worktree"
)

// The steps of a spawn, in order. Each may be repeated; the operation's row
// names the last one whose end is known, and each is a failpoint.
const (
	stepIntended  = "spawn/intended"
	stepWorktrees = "spawn/worktrees"
	stepInputs    = "spawn/inputs"
	stepPrepared  = "spawn/prepared"
	stepStarting  = "spawn/starting"
	stepStarted   = "spawn/started"
	stepRunning   = "spawn/running"
)

// aliasTries is how often a free alias is chosen anew when another spawn took
// it meanwhile.
const aliasTries = 5

// Spawn implements cw.AgentService.
func (o *Orchestrator) Spawn(ctx context.Context, req cw.SpawnRequest) (cw.AgentView, error) {
	if view, known, err := o.sameRequest(ctx, req.RequestKey); known || err != nil {
		return view, err
	}
	for try := 1; ; try++ {
		agent, err := o.spawnOnce(ctx, req)
		if err == nil {
			return o.Agent(ctx, string(agent))
		}
		refused := new(notIntendedError)
		if ctx.Err() != nil || cw.ErrorCode(err) != cw.CodeRefused {
			return cw.AgentView{}, err
		}
		// Two requests at the same time: the other one was quicker.
		if view, known, lookErr := o.sameRequest(ctx, req.RequestKey); known || lookErr != nil {
			return view, lookErr
		}
		if !errors.As(err, &refused) || req.Name != "" || try == aliasTries {
			return cw.AgentView{}, err
		}
		taken, lookErr := o.Store.AliasTaken(ctx, refused.alias)
		if lookErr != nil || !taken {
			return cw.AgentView{}, err
		}
	}
}

// spawnOnce plans a spawn and does it.
func (o *Orchestrator) spawnOnce(ctx context.Context, req cw.SpawnRequest) (cw.AgentID, error) {
	p, err := o.planAndRegister(ctx, req)
	if err != nil {
		return "", err
	}
	// From here on the caller may go away: a spawn is never left half done by
	// that.
	result := make(chan error, 1)
	err = o.hand(ctx, func(life context.Context) {
		result <- o.spawn(cw.WithActor(life, cw.ActorOf(ctx)), p)
	})
	if err != nil {
		return "", errors.Join(err, o.unregister(context.WithoutCancel(ctx), p.newOnes))
	}
	select {
	case err = <-result:
		return p.intent.Agent.ID, err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// notIntendedError says that the rows of a spawn were refused: nothing of it is
// there.
type notIntendedError struct {
	alias string
	err   error
}

func (e *notIntendedError) Error() string { return e.err.Error() }
func (e *notIntendedError) Unwrap() error { return e.err }

// planAndRegister plans a spawn and registers repositories that are new to cw.
// Of several requests for the same new repository one registers it, and the
// others find it.
func (o *Orchestrator) planAndRegister(ctx context.Context, req cw.SpawnRequest) (spawnPlan, error) {
	p, err := o.plan(ctx, req)
	if err != nil || len(p.newOnes) == 0 {
		return p, err
	}
	o.registering.Lock()
	defer o.registering.Unlock()
	if p, err = o.plan(ctx, req); err != nil { // somebody may have been quicker
		return p, err
	}
	for i, pr := range p.newOnes {
		if err := o.register(ctx, pr); err != nil {
			return p, errors.Join(fmt.Errorf("register project %s: %w", pr.Name, err), o.unregister(ctx, p.newOnes[:i]))
		}
	}
	return p, nil
}

// sameRequest gives the agent of an earlier request with the same key, as soon
// as that spawn is settled. A spawn that failed gives everybody its error.
func (o *Orchestrator) sameRequest(ctx context.Context, key string) (view cw.AgentView, known bool, err error) {
	if key == "" {
		return cw.AgentView{}, false, nil
	}
	op, known, err := o.Store.SpawnByKey(ctx, key)
	if err != nil {
		return cw.AgentView{}, false, fmt.Errorf("look for the same request: %w", err)
	}
	if !known {
		return cw.AgentView{}, false, nil
	}
	o.mu.Lock()
	s, busy := o.spawns[op.ID]
	o.mu.Unlock()
	if busy {
		select {
		case <-s.done:
		case <-ctx.Done():
			return cw.AgentView{}, true, ctx.Err()
		}
		if s.err != nil {
			return cw.AgentView{}, true, s.err
		}
	}
	view, err = o.Agent(ctx, string(op.AgentID))
	return view, true, err
}

// settlement is how a spawn came out.
type settlement struct {
	done chan struct{} // closed when it is settled
	err  error         // valid after that
}

// settling marks a spawn as under way until the returned function is called.
func (o *Orchestrator) settling(op cw.OpID) (settle func(error)) {
	s := &settlement{done: make(chan struct{})}
	o.mu.Lock()
	o.spawns[op] = s
	o.mu.Unlock()
	return func(err error) {
		o.mu.Lock()
		delete(o.spawns, op)
		o.mu.Unlock()
		s.err = err
		close(s.done)
	}
}

// spawn does what was planned. It returns when the CLI runs, or nothing of the
// agent is left; following the run goes on as a job of its own.
func (o *Orchestrator) spawn(ctx context.Context, p spawnPlan) (err error) {
	settle := o.settling(p.intent.Op.ID)
	defer func() { settle(err) }()
	if err := o.Store.IntendSpawn(ctx, p.intent); err != nil {
		return errors.Join(&notIntendedError{alias: p.intent.Agent.Alias, err: err}, o.unregister(ctx, p.newOnes))
	}
	o.Fail.Hit(stepIntended)
	st := cw.RunState{Agent: p.intent.Agent, Run: p.intent.Run, Worktrees: p.intent.Worktrees, Op: &p.intent.Op}
	opts := p.options
	if p.callerEnv != nil {
		opts.Env = p.callerEnv // with what is not stored: proxies, the ssh agent
	}
	err = o.launch(ctx, &st, opts)
	if err == nil || ctx.Err() != nil {
		return err // what ctx interrupted is taken up by the next daemon
	}
	started, lookErr := o.startedAfterAll(ctx, st)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case started:
		return nil
	}
	if abortErr := o.abort(ctx, st); abortErr != nil {
		// What cannot be taken back is at least told, and not left pending.
		err = errors.Join(err, abortErr)
		return errors.Join(err, o.failSpawn(ctx, st, err))
	}
	return errors.Join(err, o.unregister(ctx, p.newOnes))
}

// startedAfterAll looks whether a spawn that failed has a CLI that runs, or
// ran, all the same. Then there is no way back: the run is followed. When that
// cannot be seen the rows stay as they are, for the next daemon.
func (o *Orchestrator) startedAfterAll(ctx context.Context, st cw.RunState) (started bool, err error) {
	seen, err := observeRun(st.Run.Dir)
	if err != nil {
		return false, fmt.Errorf("look whether the run was started: %w", err)
	}
	if seen.State == proc.StateFresh {
		return false, nil
	}
	return true, o.recordRunning(ctx, &st, seen)
}

// unregister forgets projects that were registered for a spawn that failed,
// unless another agent uses them by now.
func (o *Orchestrator) unregister(ctx context.Context, projects []cw.Project) error {
	var errs []error
	for _, p := range projects {
		_, err := o.RemoveProject(ctx, string(p.ID))
		if cw.ErrorCode(err) != cw.CodeRefused {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// launch brings a planned agent to the point where its CLI runs. Every step may
// be repeated, so recovery calls it too.
func (o *Orchestrator) launch(ctx context.Context, st *cw.RunState, opts options) error {
	if st.Agent.Status == cw.StatusPending {
		if err := o.prepare(ctx, st, opts); err != nil {
			return err
		}
	}
	return o.start(ctx, st, opts)
}

// prepare makes everything a run needs: worktrees, inputs, prompt, run
// directory.
func (o *Orchestrator) prepare(ctx context.Context, st *cw.RunState, opts options) error {
	if err := enoughDisk(string(o.Home)); err != nil {
		return err
	}
	notes, err := o.makeWorktrees(ctx, st, opts)
	if err != nil {
		return err
	}
	st.Agent.Warnings = append(st.Agent.Warnings, notes...)
	if err := o.Store.SaveWorktrees(ctx, st.Op.ID, stepWorktrees, st.Worktrees); err != nil {
		return fmt.Errorf("store worktrees: %w", err)
	}
	o.Fail.Hit(stepWorktrees)
	for _, note := range notes {
		if err := o.warn(ctx, st.Agent, note); err != nil {
			return err
		}
	}
	if err := writeInputs(st, opts); err != nil {
		return err
	}
	if err := o.Store.SaveOpStep(ctx, st.Op.ID, stepInputs); err != nil {
		return fmt.Errorf("store step: %w", err)
	}
	o.Fail.Hit(stepInputs)
	if err := o.writeRunDir(ctx, st, opts); err != nil {
		return err
	}
	o.Fail.Hit(stepPrepared)
	return nil
}

func (o *Orchestrator) warn(ctx context.Context, a cw.Agent, text string) error {
	ev := cw.NewEvent(cw.EventAgentWarning, cw.Actor{Kind: cw.ActorCW}, cw.AgentWarning{Name: a.Alias, Warning: text}).About(a.ID, "")
	if err := o.Store.AddWarning(ctx, a.ID, text, ev); err != nil {
		return fmt.Errorf("store warning: %w", err)
	}
	return nil
}

func (o *Orchestrator) makeWorktrees(ctx context.Context, st *cw.RunState, opts options) ([]string, error) {
	var notes []string
	for i, t := range st.Worktrees {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return nil, fmt.Errorf("find project %s: %w", t.Project, err)
		}
		note, err := o.Repos.EnsureMirror(ctx, p)
		if err != nil {
			return nil, err
		}
		if note != "" {
			notes = append(notes, note)
		}
		added, err := o.Repos.Add(ctx, worktree.AddRequest{
			Project: p, Checkout: orDefault(opts.Checkouts[string(p.ID)], p.Path), AgentID: st.Agent.ID,
			Alias: st.Agent.Alias, Path: t.Path, Base: worktree.Base{Branch: t.BaseBranch, Commit: t.BaseCommit},
		})
		if err != nil {
			return nil, err
		}
		notes = append(notes, added.Warnings...)
		st.Worktrees[i].State = cw.WorktreePresent
		st.Worktrees[i].HeadCommit = added.HeadCommit
		st.Worktrees[i].Included = added.Included
	}
	if len(st.Worktrees) == 0 {
		if err := os.MkdirAll(st.Agent.AgentCwd, 0o700); err != nil {
			return nil, fmt.Errorf("make workspace: %w", err)
		}
	}
	return notes, nil
}

// start starts the shim unless the run directory shows that it was started
// already, and stores what came of it.
func (o *Orchestrator) start(ctx context.Context, st *cw.RunState, opts options) error {
	seen, err := observeRun(st.Run.Dir)
	if err != nil {
		return fmt.Errorf("look at the run directory: %w", err)
	}
	if seen.State == proc.StateFresh {
		if seen, err = o.startShim(ctx, st, opts); err != nil {
			return err
		}
	}
	o.Fail.Hit(stepStarted)
	return o.recordRunning(ctx, st, seen)
}

func (o *Orchestrator) startShim(ctx context.Context, st *cw.RunState, opts options) (proc.Observation, error) {
	token := cw.NewToken()
	now := time.Now().UTC()
	prompt, err := os.ReadFile(filepath.Join(st.Run.Dir, promptFile))
	if err != nil {
		return proc.Observation{}, fmt.Errorf("read the prompt: %w", err)
	}
	err = o.Store.SaveStarting(ctx, cw.Starting{
		AgentID: st.Agent.ID, RunID: st.Run.ID, OpID: st.Op.ID, Step: stepStarting,
		Message: cw.Message{
			ID: cw.MessageID(cw.NewID()), AgentID: st.Agent.ID, RunID: st.Run.ID, Role: cw.RoleUser,
			Origin: "cw", Definition: st.Agent.Definition, Body: string(prompt), DeliveredAt: &now, CreatedAt: now,
		},
		Token: cw.Token{
			ID: cw.TokenID(cw.NewID()), Hash: cw.HashToken(token), Kind: cw.ActorAgent, RunID: st.Run.ID,
			AgentID: st.Agent.ID, Scopes: cw.RunScopes(), CreatedAt: now,
		},
		Event: cw.NewEvent(cw.EventAgentStarting, cw.Actor{Kind: cw.ActorCW}, cw.AgentStarting{
			Name: st.Agent.Alias, SessionNumber: st.Run.SessionNumber, Reason: st.Run.Reason,
		}).About(st.Agent.ID, st.Run.ID),
	})
	if err != nil {
		return proc.Observation{}, fmt.Errorf("store the start: %w", err)
	}
	st.Agent.Status = cw.StatusStarting
	o.Fail.Hit(stepStarting)
	preset, err := o.Presets.Get(st.Agent.Provider)
	if err != nil {
		return proc.Observation{}, err
	}
	cmd, err := preset.Spawn(o.invocation(st, opts, string(prompt))) // for its environment alone
	if err != nil {
		return proc.Observation{}, err
	}
	seen, err := proc.Start(ctx, proc.Launch{
		Binary: o.Binary, Dir: st.Run.Dir, Env: o.agentEnv(preset, st, opts, cmd, token),
	})
	if err != nil {
		return proc.Observation{}, fmt.Errorf("start the run: %w", err)
	}
	return seen, nil
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
			StartedAt: orNow(seen.Handle.StartedAt), Events: spawnEvents(ctx, st, seen.Handle.PID),
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
	o.Fail.Hit(stepRunning)
	run := *st
	return o.hand(ctx, func(life context.Context) { o.follow(life, run, seen.Handle) })
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

func spawnEvents(ctx context.Context, st *cw.RunState, pid int) []cw.Event {
	spawned := cw.AgentSpawned{
		Name: st.Agent.Alias, Mode: st.Agent.Mode, Provider: st.Agent.Provider, Title: st.Agent.Title,
		Projects: []string{}, PID: pid,
	}
	for _, t := range st.Worktrees {
		spawned.Projects = append(spawned.Projects, t.Project)
		spawned.Branch = t.Branch
	}
	running := cw.AgentRunning{Name: st.Agent.Alias, SessionNumber: st.Run.SessionNumber, PID: pid}
	return []cw.Event{
		cw.NewEvent(cw.EventAgentSpawned, cw.ActorOf(ctx), spawned).About(st.Agent.ID, st.Run.ID),
		cw.NewEvent(cw.EventAgentRunning, cw.Actor{Kind: cw.ActorCW}, running).About(st.Agent.ID, st.Run.ID),
	}
}

// abort takes back a spawn whose CLI was never started.
func (o *Orchestrator) abort(ctx context.Context, st cw.RunState) error {
	if err := o.discardTrees(ctx, st); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Dir(st.Run.Dir)); err != nil && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("remove the run directory: %w", err)
	}
	return o.Store.AbortSpawn(ctx, st.Op.ID)
}

func (o *Orchestrator) discardTrees(ctx context.Context, st cw.RunState) error {
	for _, t := range st.Worktrees {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return fmt.Errorf("find project %s: %w", t.Project, err)
		}
		err = o.Repos.Discard(ctx, p, st.Agent.Alias, t.Path)
		if t.State == cw.WorktreePlanned && cw.ErrorCode(err) == cw.CodeRefused {
			continue // it was never made: what stands there is not ours
		}
		if err != nil {
			return fmt.Errorf("take back the worktree of %s: %w", t.Project, err)
		}
	}
	if len(st.Worktrees) == 1 {
		return nil
	}
	return os.RemoveAll(o.Home.Workdir(st.Agent.Alias)) // holds only what prepare made
}
