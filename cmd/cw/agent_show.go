package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentShowOptions struct {
	app *app
	ref string
}

func newAgentShowCmd(a *app, runF func(context.Context, *agentShowOptions) error) *cobra.Command {
	opts := &agentShowOptions{app: a}
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show everything about an agent, and what it asks",
		Args:  oneArg(&opts.ref, agentWhat),
		RunE:  start(a, runF, agentShowRun, opts),
	}
}

func agentShowRun(ctx context.Context, o *agentShowOptions) error {
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	v, err := svc.Agent(ctx, o.ref)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(v)
	}
	o.app.printAgent(v)
	return nil
}

func (a *app) printAgent(v cw.AgentView) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s%s\n", p.bold(v.Alias), p.status(v.Status), bracketed(string(v.Reason)))
	facts(a.out, "  ", [][2]string{
		{"id", string(v.ID)},
		{"goal", oneLine(v.Title)},
		{"mode", string(v.Mode)},
		{"provider", oneLine(strings.TrimSpace(v.Provider + " " + v.Model))},
		{"account", oneLine(v.AccountID)},
		{"age", elapsed(a.now().Sub(v.CreatedAt))},
		{"activity", activityFact(v.Activity, a.now())},
		{"pid", pidFact(v.PID)},
		{"session", sessionFact(v)},
		{"cwd", oneLine(v.AgentCwd)},
		{"output", oneLine(v.OutputPath)},
		{"result", clean(v.Result)},
		{"nothing to do", clean(v.NoChanges)},
		{"error", clean(v.Error)},
		{"at its limit", strings.TrimSpace(until(v.RetryAt))},
		{"cost", costFact(v.CostUSD, v.Usage)},
		{"warnings", clean(strings.Join(v.Warnings, "\n"))},
	})
	for _, w := range v.Projects {
		a.printWorktree(p, w)
	}
	a.printRuns(p, v.Runs)
	printQuestions(a.out, p, v.PendingQuestions)
}

func (a *app) printWorktree(p paint, w cw.AgentWorktree) {
	base := shortCommit(w.BaseCommit)
	if w.BaseBranch != "" {
		base = oneLine(w.BaseBranch) + " at " + base
	}
	a.printf("\n%s\n", p.bold("project "+oneLine(w.Project)))
	rows := [][2]string{
		{"branch", oneLine(w.Branch)},
		{"base", base},
		{"head", shortCommit(w.HeadCommit)},
		{"worktree", oneLine(w.Path) + bracketed(string(w.State))},
		{"commits", fmt.Sprint(w.Commits)},
		{"changes", statFact(w.Stat)},
		{"in your repository as", shortRef(w.HandedOver)},
	}
	if w.Dirty > 0 {
		rows = append(rows, [2]string{"not committed", count(w.Dirty, "file")})
	}
	facts(a.out, "  ", rows)
}

func (a *app) printRuns(p paint, runs []cw.Run) {
	if len(runs) == 0 {
		return
	}
	a.printf("\n%s\n", p.bold("runs"))
	var rows [][]string
	for _, r := range runs {
		rows = append(rows, []string{
			fmt.Sprint(r.SessionNumber), string(r.Reason), runOutcome(r), runExit(r), a.runTime(r), costFact(r.CostUSD, r.Usage),
		})
	}
	table(a.out, "  ", []string{"SESSION", "WHY", "OUTCOME", "EXIT", "TIME", "COST"}, rows)
}

func runOutcome(r cw.Run) string {
	if r.EndedAt == nil {
		return "running"
	}
	return string(r.Outcome) + bracketed(string(r.OutcomeReason))
}

func runExit(r cw.Run) string {
	switch {
	case r.TermSignal != "":
		return r.TermSignal
	case r.ExitCode != nil:
		return fmt.Sprint(*r.ExitCode)
	}
	return ""
}

func (a *app) runTime(r cw.Run) string {
	if r.StartedAt == nil {
		return ""
	}
	end := a.now()
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	return elapsed(end.Sub(*r.StartedAt))
}

func activityFact(act *cw.Activity, now time.Time) string {
	if act == nil {
		return ""
	}
	text := string(act.State)
	if act.Tool != "" {
		text += ", " + oneLine(act.Tool)
	}
	if act.Attempt > 0 {
		text += fmt.Sprintf(", attempt %d", act.Attempt)
	}
	if act.LastAt != nil {
		text += fmt.Sprintf(", last output %s ago", elapsed(now.Sub(*act.LastAt)))
	}
	return text
}

func pidFact(pid int) string {
	if pid == 0 {
		return ""
	}
	return fmt.Sprint(pid)
}

func sessionFact(v cw.AgentView) string {
	if v.SessionNumber == 0 {
		return ""
	}
	return fmt.Sprint(v.SessionNumber) + bracketed(oneLine(v.SessionID))
}
