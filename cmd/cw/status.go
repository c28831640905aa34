package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type statusOptions struct {
	app   *app
	watch bool
}

func newStatusCmd(a *app, runF func(context.Context, *statusOptions) error) *cobra.Command {
	opts := &statusOptions{app: a}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell how the daemon is",
		Long: `Tell how the daemon is, and what the agents that run work at. It is not started for
that.

With --watch it prints a line whenever who works or what waits is not as it was
before, until Ctrl-C; with --json each line is the whole status. A daemon that goes
away meanwhile is waited for.`,
		Example:     "cw status\ncw status --watch | tee status.log",
		Annotations: exits("0  the daemon answers", "5  it does not run, or does not answer"),
		Args:        noArgs,
		RunE:        start(a, runF, statusRun, opts),
	}
	cmd.Flags().BoolVarP(&opts.watch, "watch", "w", false, "go on, with a line for each change, until Ctrl-C")
	return cmd
}

func statusRun(ctx context.Context, o *statusOptions) error {
	a := o.app
	svc, err := a.reach(ctx)
	if absent(err) {
		home, homeErr := a.home()
		if homeErr != nil {
			return homeErr
		}
		if pid := a.holder(home); pid != 0 {
			return notReached(home, pid)
		}
		return cw.Errorf(cw.CodeUnreachable, "the daemon is not running").
			WithHint("any command that needs it starts it, and so does cw serve in the foreground")
	}
	if err != nil {
		return err
	}
	if o.watch {
		return a.watchStatus(ctx, svc)
	}
	s, err := svc.Status(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(s)
	}
	a.printStatus(s, a.costToday(ctx, svc))
	if s.AgentsAlive > 0 {
		a.printWork(ctx, svc)
	}
	if s.DiskLow {
		a.note("no run starts until %s are free; cw gc frees what is kept no longer, cw gc --dry-run tells what that is", size(s.FloorBytes))
	}
	return nil
}

func (a *app) printStatus(s cw.DaemonStatus, today string) {
	facts(a.out, "", [][2]string{
		{"daemon", fmt.Sprintf("runs with pid %d for %s", s.PID, elapsed(a.now().Sub(s.StartedAt)))},
		{"version", s.Version + bracketed("API "+s.APIVersion)},
		{"home", s.Home},
		{"socket", s.Socket},
		{"http", s.HTTP},
		{"agents", fmt.Sprintf("%d alive of %d", s.AgentsAlive, s.Agents)},
		{"questions", questionsFact(s.Questions)},
		{"checkpoints", checkpointsFact(s.Checkpoints)},
		{"tasks", tasksFact(s)},
		{"cost today", today},
		{"projects", fmt.Sprint(s.Projects)},
		{"disk", diskFact(a.paint(a.outTTY), s)},
		{"memory", memoryFact(s.MemoryPercent)},
		{"sizes", a.sizesFact(s)},
	})
}

// costToday tells what today cost, "" when nothing ran or it cannot be read: it
// only adds to the picture.
func (a *app) costToday(ctx context.Context, svc cw.CostService) string {
	q, err := cw.CostToday(a.now(), a.zone())
	if err != nil {
		return ""
	}
	rows, err := svc.Costs(ctx, q)
	if err != nil || len(rows) == 0 {
		return ""
	}
	return todayFact(cw.SumCosts(rows))
}

// todayFact says what a day cost, and how sure that is.
func todayFact(sum cw.CostRow) string {
	parts := []string{dollars(sum.CostUSD)}
	if sum.EstimatedUSD > 0 {
		parts = append(parts, dollars(sum.EstimatedUSD)+" of it estimated")
	}
	if sum.Unpriced > 0 {
		parts = append(parts, "without "+count(sum.Unpriced, "run")+" of unknown price")
	}
	if sum.UnderWay > 0 {
		parts = append(parts, count(sum.UnderWay, "run")+" under way")
	}
	return strings.Join(parts, ", ")
}

// memoryFact tells how much of the memory is in use, "" when it is not known.
func memoryFact(percent int) string {
	if percent == 0 {
		return ""
	}
	return fmt.Sprintf("%d %% in use", percent)
}

// questionsFact tells how many questions wait, "" for none.
func questionsFact(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s: cw question list", plural(n, "1 waits for an answer", fmt.Sprintf("%d wait for answers", n)))
}

// checkpointsFact tells how many tasks wait for a verdict, "" for none.
func checkpointsFact(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s: cw inbox", plural(n, "1 waits for you", fmt.Sprintf("%d wait for you", n)))
}

// tasksFact tells how far tasks are, "" when there is nothing to do.
func tasksFact(s cw.DaemonStatus) string {
	if s.TasksRunning+s.TasksReady+s.TasksWaiting+s.Merges == 0 {
		return ""
	}
	text := fmt.Sprintf("%d running, %d next, %d waiting", s.TasksRunning, s.TasksReady, s.TasksWaiting)
	if s.Merges > 0 {
		text += ", " + count(s.Merges, "merge") + " to be made"
	}
	return text
}

// diskFact tells how much is free, and whether that is enough to start runs.
func diskFact(p paint, s cw.DaemonStatus) string {
	free := size(s.FreeBytes) + " free"
	switch {
	case s.DiskLow:
		return p.red(fmt.Sprintf("%s, too little: no run starts below %s", free, size(s.FloorBytes)))
	case s.FloorBytes > 0:
		return fmt.Sprintf("%s; no run starts below %s", free, size(s.FloorBytes))
	}
	return free
}

// sizesFact tells what takes the space of a home.
func (a *app) sizesFact(s cw.DaemonStatus) string {
	text := fmt.Sprintf("%s database, %s output", size(s.DatabaseBytes), size(s.LogBytes))
	if s.Sizes == nil {
		return text
	}
	z := s.Sizes
	return text + fmt.Sprintf(", %s runs, %s worktrees, %s trash,\n%s mirrors, %s backups (%s ago)", size(z.Runs), size(z.Worktrees),
		size(z.Trash), size(z.Mirrors), size(z.Backups), elapsed(a.now().Sub(z.At)))
}
