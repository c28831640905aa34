package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"cw/internal/cw"
	"cw/internal/proc"
)

// EndChecks ends the checks that go on and are not wanted any more, whole, and
// stores that they are over: a daemon that died has left them, and what they are
// for went another way meanwhile. One that is waited for is waited for here, too.
// wanted is asked when it is known which go on.
func (o *Orchestrator) EndChecks(ctx context.Context, wanted func(context.Context) (map[cw.RunID]bool, error)) error {
	runs, err := o.Store.UnfinishedCommands(ctx)
	if err != nil {
		return fmt.Errorf("find checks that go on: %w", err)
	}
	needed, err := wanted(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, run := range runs {
		if run.Kind == cw.RunCheck && !needed[run.ID] {
			failed = errors.Join(failed, o.endCheck(ctx, run))
		}
	}
	return failed
}

// endCheck ends one run of commands. One that ended meanwhile stays as it came
// out.
func (o *Orchestrator) endCheck(ctx context.Context, run cw.Run) error {
	done, err := o.commands.take(ctx, run.ID)
	if err != nil {
		return err
	}
	defer done()
	dirs, _ := filepath.Glob(filepath.Join(run.Dir, "[0-9]*")) // the pattern is good
	for _, dir := range dirs {
		number, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue // none of ours
		}
		if err := proc.Stop(ctx, dir, oneCommand{run: run, number: number}.handle(), commandGrace); err != nil {
			return fmt.Errorf("end the check in %s: %w", dir, err)
		}
	}
	o.Log.Info("ended a check that nobody waits for", "dir", run.Dir)
	return o.endCommands(ctx, run, cw.CommandResult{Outside: true, Reason: "stopped by somebody", LogPath: run.OutputPath})
}
