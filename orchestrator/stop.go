package orchestrator

import (
	"context"
	"fmt"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
)

// The two ways to end a run.
const (
	stopTerm = "term" // SIGTERM, the preset's grace, then SIGKILL
	stopKill = "kill" // SIGKILL at once
)

// settleWait is the pause between two looks at a run that is being finished.
const settleWait = 200 * time.Millisecond

// Stop implements cw.AgentService. The wish is stored before anything is
// signalled, so that the run counts as stopped whatever its exit code says,
// and a daemon that dies in between goes on stopping.
func (o *Orchestrator) Stop(ctx context.Context, ref string, req cw.StopRequest) (cw.AgentView, error) {
	agent, err := o.Store.AgentByRef(ctx, ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	how := stopTerm
	if req.Now {
		how = stopKill
	}
	for {
		ring := o.bell.Next(agent.ID)
		view, err := o.Agent(ctx, string(agent.ID))
		if err != nil || view.DeletedAt != nil || !view.Status.CanBecome(cw.StatusStopped) {
			return view, err
		}
		if err := o.stopOnce(ctx, view, how); err != nil {
			return cw.AgentView{}, err
		}
		select {
		case <-ring: // it started, or its end is stored
		case <-time.After(settleWait):
		case <-ctx.Done():
			return cw.AgentView{}, ctx.Err()
		}
	}
}

// stopOnce does what a stop is for an agent as it stands.
func (o *Orchestrator) stopOnce(ctx context.Context, v cw.AgentView, how string) error {
	run := v.Runs[len(v.Runs)-1]
	switch v.Status {
	case cw.StatusParked, cw.StatusWaitingForInput:
		return o.stopWaiting(ctx, v)
	case cw.StatusRunning:
		return o.stopRun(ctx, run, how)
	}
	return o.stopStarting(ctx, run, how)
}

// stopRun stores the wish and ends the process tree. It returns when nothing
// of the tree is left; the follower then stores the end.
func (o *Orchestrator) stopRun(ctx context.Context, run cw.Run, how string) error {
	asked, err := o.Store.RequestStop(ctx, run.ID, how)
	if err != nil || !asked {
		return err
	}
	o.Fail.Hit("stop/requested")
	// The caller may go away now; the stop goes on.
	done := make(chan error, 1)
	err = o.hand(ctx, func(life context.Context) { done <- o.endTree(life, run.ID, how) })
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stopStarting stores the wish for a run that does not run yet. One that waits
// for space on the disk ends by it; any other is ended as soon as it runs.
func (o *Orchestrator) stopStarting(ctx context.Context, run cw.Run, how string) error {
	if run.StopRequested == how || run.StopRequested == stopKill {
		return nil
	}
	_, err := o.Store.RequestStop(ctx, run.ID, how)
	if cw.ErrorCode(err) == cw.CodeNotFound {
		return nil // its spawn was taken back, as the next look tells
	}
	o.bell.Ring(run.AgentID)
	return err
}

// stopWanted tells whether somebody wants the end of a run.
func (o *Orchestrator) stopWanted(ctx context.Context, run cw.RunID) bool {
	st, err := o.Store.RunState(ctx, run)
	return err == nil && st.Run.StopRequested != ""
}

// endUnstarted stores the end of a run whose stop was asked for before anything
// of it was started. The agent's turn is the caller's.
func (o *Orchestrator) endUnstarted(ctx context.Context, run cw.RunID) (over bool, err error) {
	st, err := o.Store.RunState(ctx, run)
	if err != nil {
		return false, fmt.Errorf("read run: %w", err)
	}
	if st.Run.StopRequested == "" || st.Op == nil || st.Op.Step == stepOf(*st.Op, stepStarting) {
		return false, nil
	}
	seen, err := observeRun(st.Run.Dir)
	if err != nil || seen.State != proc.StateFresh {
		return false, err
	}
	return true, o.endStart(ctx, st, evidence{}, verdict{Status: cw.StatusStopped, Reason: cw.ReasonUser})
}

// endAsAsked ends the tree of a run whose stop was asked for before it was
// followed: whoever asked may be gone.
func (o *Orchestrator) endAsAsked(ctx context.Context, st cw.RunState) {
	how := st.Run.StopRequested
	if how == "" {
		return
	}
	_ = o.hand(ctx, func(life context.Context) {
		if err := o.endTree(life, st.Run.ID, how); err != nil && life.Err() == nil {
			o.Log.Error("go on stopping", "agent", st.Agent.Alias, "error", err)
		}
	}) // fails only when ctx ended: then the next daemon goes on
}

func (o *Orchestrator) endTree(ctx context.Context, id cw.RunID, how string) error {
	st, err := o.Store.RunState(ctx, id)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	handle, err := o.handleOf(st)
	if err != nil {
		return err
	}
	grace := o.stopGrace(st.Agent.Provider)
	if how == stopKill {
		grace = 0
	}
	if err := proc.Stop(ctx, st.Run.Dir, handle, grace); err != nil {
		return cw.Errorf(cw.CodeFailed, "agent %s could not be stopped whole", st.Agent.Alias).
			WithHint("try again with --now").Because(err)
	}
	o.Fail.Hit("stop/ended")
	return nil
}

// stopGrace is how long a CLI gets to end by itself.
func (o *Orchestrator) stopGrace(provider string) time.Duration {
	preset, err := o.Presets.Get(provider)
	if err != nil {
		return 10 * time.Second
	}
	return preset.Stop.Grace.Duration
}
