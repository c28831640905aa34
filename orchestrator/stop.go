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
		if err != nil || !view.Status.Alive() {
			return view, err
		}
		if view.Status == cw.StatusRunning {
			if err := o.stopRun(ctx, view.Runs[len(view.Runs)-1], how); err != nil {
				return cw.AgentView{}, err
			}
		}
		select {
		case <-ring: // it started, or its end is stored
		case <-time.After(settleWait):
		case <-ctx.Done():
			return cw.AgentView{}, ctx.Err()
		}
	}
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

func (o *Orchestrator) endTree(ctx context.Context, id cw.RunID, how string) error {
	st, err := o.Store.RunState(ctx, id)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	handle, err := handleOf(st)
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
