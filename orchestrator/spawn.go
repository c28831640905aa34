package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"cw/internal/cw"
)

// aliasTries is how often a free alias is chosen anew when another spawn took
// it meanwhile.
const aliasTries = 5

// Spawn implements cw.AgentService. What an agent asks for is carried out within
// what it has itself: see childRequest.
func (o *Orchestrator) Spawn(ctx context.Context, req cw.SpawnRequest) (cw.AgentView, error) {
	by, done, err := o.breeds(ctx)
	if err != nil {
		return cw.AgentView{}, err
	}
	defer done()
	if by != nil {
		if req, err = childRequest(*by, req); err != nil {
			return cw.AgentView{}, err
		}
	}
	return o.spawnFor(ctx, req, by)
}

// breeds gives the agent that calls, if it is one, its turn to make another: of
// two at once each must know what the other takes of its budget.
func (o *Orchestrator) breeds(ctx context.Context) (by *parentage, done func(), err error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorAgent {
		return nil, func() {}, nil
	}
	if done, err = o.breeding.take(ctx, actor.AgentID); err != nil {
		return nil, nil, err
	}
	if by, err = o.parentOf(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return by, done, nil
}

func (o *Orchestrator) spawnFor(ctx context.Context, req cw.SpawnRequest, by *parentage) (cw.AgentView, error) {
	if view, known, err := o.sameRequest(ctx, req.RequestKey); known || err != nil {
		return view, err
	}
	for try := 1; ; try++ {
		agent, err := o.spawnOnce(ctx, req, by)
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
func (o *Orchestrator) spawnOnce(ctx context.Context, req cw.SpawnRequest, by *parentage) (cw.AgentID, error) {
	p, err := o.planAndRegister(ctx, req, by)
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
func (o *Orchestrator) planAndRegister(ctx context.Context, req cw.SpawnRequest, by *parentage) (spawnPlan, error) {
	p, err := o.plan(ctx, req, by)
	if err != nil || len(p.newOnes) == 0 {
		return p, err
	}
	o.registering.Lock()
	defer o.registering.Unlock()
	o.rota.takeBack(p.intent.Agent.AccountID)
	if p, err = o.plan(ctx, req, by); err != nil { // somebody may have been quicker
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
		// A spawn of an earlier daemon that failed keeps its agent, with the reason: then
		// that is the answer, as it is for whoever asks later. Any other leaves nothing.
		if s.err != nil {
			view, err = o.Agent(ctx, string(op.AgentID))
			if err != nil || view.Status == cw.StatusPending || view.Status == cw.StatusStarting {
				return cw.AgentView{}, true, s.err
			}
			return view, true, nil
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
	o.Fail.Hit(stepOf(p.intent.Op, stepIntended))
	st := cw.RunState{Agent: p.intent.Agent, Run: p.intent.Run, Worktrees: p.intent.Worktrees, Op: &p.intent.Op}
	opts := p.options
	if p.callerEnv != nil {
		opts.Env = p.callerEnv // with what is not stored: proxies, the ssh agent
	}
	err = o.launch(ctx, &st, opts)
	if err == nil || ctx.Err() != nil {
		return err // what ctx interrupted is taken up by the next daemon
	}
	if done, endErr := o.withoutAccount(ctx, st, err); done || endErr != nil {
		return endErr
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
		return errors.Join(err, o.failStart(ctx, st, err))
	}
	return errors.Join(err, o.unregister(ctx, p.newOnes))
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

// abort takes back a spawn whose CLI was never started.
func (o *Orchestrator) abort(ctx context.Context, st cw.RunState) error {
	o.forgetSecrets(st.Run)
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
