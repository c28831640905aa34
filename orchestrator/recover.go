package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cw/internal/cw"
	"cw/internal/proc"
)

// recover looks at everything an earlier daemon left unfinished and gives the
// jobs that take it up again: half-done spawns and resumes are done, living runs
// are adopted, ended ones are finished, lost ones are cleaned up and told, a stop
// that was asked for goes on, agents that may go on do, and so do clean-ups,
// removals, restorings and openings.
func (o *Orchestrator) recover(ctx context.Context) ([]job, error) {
	runs, err := o.Store.UnfinishedRuns(ctx)
	if err != nil {
		return nil, err
	}
	for _, st := range runs { // of all, before any is read: one may print those of another
		o.recallSecrets(st.Run)
	}
	var jobs []job
	for _, st := range runs {
		o.Log.Info("take up", "agent", st.Agent.Alias, "run", st.Run.ID, "status", st.Agent.Status)
		jobs = append(jobs, o.takeUp(st))
	}
	ready, err := o.Store.ReadyAgents(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for agents that may go on: %w", err)
	}
	for _, agent := range ready {
		jobs = append(jobs, func(ctx context.Context) { o.goOn(ctx, agent) })
	}
	ops, err := o.Store.OpenOps(ctx, cw.OpCleanUp, cw.OpRemove, cw.OpRestore, cw.OpOpen)
	if err != nil {
		return nil, fmt.Errorf("look for open operations: %w", err)
	}
	for _, op := range ops {
		o.Log.Info("take up", "agent", op.AgentID, "operation", op.Kind, "step", op.Step)
		jobs = append(jobs, func(ctx context.Context) { o.takeUpOp(ctx, op) })
	}
	return jobs, nil
}

func (o *Orchestrator) takeUp(st cw.RunState) job {
	if st.Agent.Status == cw.StatusRunning {
		return func(ctx context.Context) { o.adopt(ctx, st) }
	}
	return func(ctx context.Context) {
		if err := o.takeUpStart(ctx, st); err != nil && ctx.Err() == nil {
			o.Log.Error("take up a half-done start", "agent", st.Agent.Alias, "error", err)
		}
	}
}

// takeUpStart does the rest of a spawn or a resume that an earlier daemon began.
func (o *Orchestrator) takeUpStart(ctx context.Context, st cw.RunState) (err error) {
	if st.Op == nil {
		return fmt.Errorf("run %s is %s without an operation", st.Run.ID, st.Agent.Status)
	}
	if st.Op.Kind == cw.OpSpawn {
		settle := o.settling(st.Op.ID)
		defer func() { settle(err) }()
	}
	gone, err := takenBack(st)
	if err != nil {
		return err
	}
	if gone {
		return o.finishTakingBack(ctx, st)
	}
	return o.startAlone(ctx, st)
}

// takenBack tells whether an earlier daemon had begun to take back a spawn that
// was about to be started: its rows are all that is left. It cannot be stored
// first, because it is done where the store itself failed.
func takenBack(st cw.RunState) (bool, error) {
	if st.Op.Step != stepOf(cw.Op{Kind: cw.OpSpawn}, stepStarting) {
		return false, nil // before it everything is made again
	}
	_, err := os.Lstat(filepath.Dir(st.Run.Dir))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err != nil, nil
	}
	return false, fmt.Errorf("look for the run directory: %w", err)
}

// finishTakingBack does the rest of it, so that the same request may be made
// again. Should a CLI run all the same, whose directory somebody took away, it
// is ended first, and what it made keeps the agent's rows.
func (o *Orchestrator) finishTakingBack(ctx context.Context, st cw.RunState) error {
	if _, err := proc.KillUnseen(ctx, string(st.Run.ID)); err != nil {
		return fmt.Errorf("look for processes of the run: %w", err)
	}
	if err := o.abort(ctx, st); err != nil {
		return errors.Join(err, o.failStart(ctx, st, err))
	}
	o.bell.Ring(st.Agent.ID)
	return cw.Errorf(cw.CodeFailed, "agent %s could not be started, and all of it was taken back", st.Agent.Alias).
		WithHint("start it again: cw run …")
}

// takeUpOp does the rest of an operation that is no run.
func (o *Orchestrator) takeUpOp(ctx context.Context, op cw.Op) {
	if op.Kind == cw.OpCleanUp {
		o.cleanUp(ctx, op)
		return
	}
	o.takeUpRemoval(ctx, op)
}

// adopt follows a run of an earlier daemon.
func (o *Orchestrator) adopt(ctx context.Context, st cw.RunState) {
	handle, err := o.handleOf(st)
	if err != nil {
		o.Log.Error("adopt run", "agent", st.Agent.Alias, "error", err)
		return
	}
	o.endAsAsked(ctx, st)
	o.follow(ctx, st, handle)
}

// handleOf is the stored handle, or, when the daemon died before it could store
// it, the one the shim wrote.
func (o *Orchestrator) handleOf(st cw.RunState) (proc.Handle, error) {
	var h proc.Handle
	if len(st.Run.Handle) > 0 && !o.Guards.Off("handle-stored") {
		err := json.Unmarshal(st.Run.Handle, &h)
		if err == nil && h.ShimPID > 0 {
			return h, nil
		}
	}
	seen, err := observeRun(st.Run.Dir)
	if err != nil {
		return h, fmt.Errorf("look at the run directory: %w", err)
	}
	return seen.Handle, nil
}
