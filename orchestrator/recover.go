package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cw/internal/cw"
	"cw/internal/proc"
)

// recover looks at every unfinished run and gives the jobs that take it up
// again: half-done spawns are done, living runs are adopted, ended ones are
// finished, lost ones are cleaned up and told, and a stop that was asked for
// goes on.
func (o *Orchestrator) recover(ctx context.Context) ([]job, error) {
	runs, err := o.Store.UnfinishedRuns(ctx)
	if err != nil {
		return nil, err
	}
	var jobs []job
	for _, st := range runs {
		o.Log.Info("take up", "agent", st.Agent.Alias, "run", st.Run.ID, "status", st.Agent.Status)
		jobs = append(jobs, o.takeUp(st))
	}
	return jobs, nil
}

func (o *Orchestrator) takeUp(st cw.RunState) job {
	if st.Agent.Status == cw.StatusRunning {
		return func(ctx context.Context) { o.adopt(ctx, st) }
	}
	return func(ctx context.Context) {
		if err := o.resumeSpawn(ctx, st); err != nil && ctx.Err() == nil {
			o.Log.Error("take up a half-done spawn", "agent", st.Agent.Alias, "error", err)
		}
	}
}

// adopt follows a run of an earlier daemon.
func (o *Orchestrator) adopt(ctx context.Context, st cw.RunState) {
	handle, err := handleOf(st)
	if err != nil {
		o.Log.Error("adopt run", "agent", st.Agent.Alias, "error", err)
		return
	}
	if how := st.Run.StopRequested; how != "" {
		err := o.hand(ctx, func(life context.Context) {
			if err := o.endTree(life, st.Run.ID, how); err != nil && life.Err() == nil {
				o.Log.Error("go on stopping", "agent", st.Agent.Alias, "error", err)
			}
		})
		if err != nil {
			return
		}
	}
	o.follow(ctx, st, handle)
}

// handleOf is the stored handle, or, when the daemon died before it could store
// it, the one the shim wrote.
func handleOf(st cw.RunState) (proc.Handle, error) {
	var h proc.Handle
	if len(st.Run.Handle) > 0 {
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

// resumeSpawn does the rest of a spawn that an earlier daemon began. Nobody
// waits for it any more, so a failure becomes the agent's status.
func (o *Orchestrator) resumeSpawn(ctx context.Context, st cw.RunState) (err error) {
	if st.Op == nil {
		return fmt.Errorf("run %s is %s without an operation", st.Run.ID, st.Agent.Status)
	}
	settle := o.settling(st.Op.ID)
	defer func() { settle(err) }()
	var opts options
	if err := json.Unmarshal([]byte(st.Agent.OptionsJSON), &opts); err != nil {
		return fmt.Errorf("decode options: %w", err)
	}
	err = o.launch(ctx, &st, opts)
	if err == nil || ctx.Err() != nil {
		return err
	}
	started, lookErr := o.startedAfterAll(ctx, st)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case started:
		return nil
	}
	return o.failSpawn(ctx, st, fmt.Errorf("after the daemon was restarted: %w", err))
}

// failSpawn stores that an agent could not be started.
func (o *Orchestrator) failSpawn(ctx context.Context, st cw.RunState, cause error) error {
	v := crash(cw.ReasonStartFailed, "it could not be started: "+cause.Error())
	f := finishOf(st, evidence{}, v, st.Worktrees)
	f.From = []cw.AgentStatus{cw.StatusPending, cw.StatusStarting}
	_, err := o.Store.FinishRun(ctx, f)
	o.bell.Ring(st.Agent.ID)
	return err
}
