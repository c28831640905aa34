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
	var plan cw.Plan
	if v.Plan != nil {
		if plan, err = svc.Plan(ctx, string(v.ID)); err != nil && cw.ErrorCode(err) != cw.CodeNotFound {
			return err
		}
	}
	o.app.printAgent(v, plan)
	if v.QueuedMessages > 0 {
		o.app.printQueued(ctx, svc, v)
	}
	return nil
}

// printQueued shows the texts that wait for the agent's next run.
func (a *app) printQueued(ctx context.Context, svc cw.Services, v cw.AgentView) {
	a.printf("\n%s\n", a.paint(a.outTTY).bold("queued for its next run"))
	messages, err := cw.AllPages(ctx, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Message], error) {
		return svc.Messages(ctx, string(v.ID), q)
	})
	if err != nil { // the rest was shown
		a.printf("  %s: cw agent messages %s\n", count(v.QueuedMessages, "text"), v.Alias)
		return
	}
	for _, m := range messages {
		if m.Role == cw.RoleUser && m.DeliveredAt == nil && m.HiddenAt == nil {
			a.printf("  %s  %s\n", clock(m.CreatedAt), cut(oneLine(m.Body), summaryMax))
		}
	}
}

// printAgent shows an agent. plan holds the steps of the plan that the view tells
// of; without any its summary is shown.
func (a *app) printAgent(v cw.AgentView, plan cw.Plan) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s%s\n", p.bold(v.Alias), p.status(v.Status), bracketed(string(v.Reason)))
	facts(a.out, "  ", [][2]string{
		{"id", string(v.ID)},
		{"goal", oneLine(v.Title)},
		{"mode", string(v.Mode)},
		{"initiative", string(v.InitiativeID)},
		{"phase", string(v.PhaseID)},
		{"task", string(v.TaskID)},
		{"provider", oneLine(strings.TrimSpace(v.Provider + " " + v.Model))},
		{"account", accountFact(v)},
		{"age", elapsed(a.now().Sub(v.CreatedAt))},
		{"removed", a.removedFact(v)},
		{"settling", settlingFact(v.Settling)},
		{"activity", activityFact(v.Activity, a.now())},
		{"pid", pidFact(v.PID)},
		{"session", sessionFact(v)},
		{"cwd", oneLine(v.AgentCwd)},
		{"output", oneLine(v.OutputPath)},
		{"result", clean(v.Result)},
		{"nothing to do", clean(v.NoChanges)},
		{"error", clean(v.Error)},
		{"at its limit", strings.TrimSpace(until(v.RetryAt))},
		{"cost", costFact(v.CostUSD, v.Usage) + bracketed(sourceFact(v.Runs))},
		{"warnings", clean(strings.Join(v.Warnings, "\n"))},
	})
	for _, w := range v.Projects {
		a.printWorktree(p, w)
	}
	a.printSteps(p, v.Plan, plan)
	a.printRuns(p, v.Runs)
	printQuestions(a.out, p, v.PendingQuestions)
	if len(v.PendingQuestions) > 0 {
		a.printf("\n%s\n", p.dim("cw agent answer "+v.Alias))
	}
}

func (a *app) removedFact(v cw.AgentView) string {
	if v.DeletedAt == nil {
		return ""
	}
	return fmt.Sprintf("%s ago; cw agent restore %s brings it back", elapsed(a.now().Sub(*v.DeletedAt)), v.Alias)
}

// accountFact names the account, or gives its id when it has no name any more.
func accountFact(v cw.AgentView) string {
	if v.AccountName == "" {
		return oneLine(string(v.AccountID))
	}
	return oneLine(v.AccountName)
}

// sourceFact says where a cost comes from, when it is not the CLI's own figure.
func sourceFact(runs []cw.Run) string {
	estimated, unpriced := 0, 0
	for _, r := range runs {
		switch {
		case r.CostSource == cw.CostFromTable:
			estimated++
		case r.CostSource == cw.CostUnknown && r.EndedAt != nil && r.CostUSD == 0 && r.Usage.InputTokens+r.Usage.OutputTokens > 0:
			unpriced++
		}
	}
	var parts []string
	if estimated > 0 {
		parts = append(parts, "estimated from list prices")
	}
	if unpriced > 0 {
		parts = append(parts, "without "+count(unpriced, "run")+" of unknown price")
	}
	return strings.Join(parts, ", ")
}

func settlingFact(on bool) string {
	if !on {
		return ""
	}
	return "cw still clears up"
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
		{"worktree", worktreeFact(w)},
		{"ports", portsFact(w.Ports)},
		{"snapshot", snapshotFact(w)},
		{"commits", fmt.Sprint(w.Commits)},
		{"changes", statFact(w.Stat)},
		{handedFact(w), shortRef(w.HandedOver)},
		{"get it with", fetchStep(w)},
	}
	if w.Dirty > 0 {
		rows = append(rows, [2]string{"not committed", count(w.Dirty, "file")})
	}
	facts(a.out, "  ", rows)
}

// handedFact says what the ref of a handed-over branch is a ref of.
func handedFact(w cw.AgentWorktree) string {
	if w.FetchFrom != "" {
		return "in cw's clone as"
	}
	return "in your repository as"
}

// fetchStep is how the branch of an agent in a remote repository comes into a
// checkout, "" where it is in the user's repository.
func fetchStep(w cw.AgentWorktree) string {
	if w.FetchFrom == "" || w.HandedOver == "" {
		return ""
	}
	return fmt.Sprintf("git fetch %s %s", cw.ShellWord(w.FetchFrom), cw.ShellWord(shortRef(w.HandedOver)))
}

// portsFact names the ports of a worktree; "" without any.
func portsFact(ports []int) string {
	var names []string
	for i, port := range ports {
		names = append(names, fmt.Sprintf("CW_PORT_%d=%d", i, port))
	}
	return strings.Join(names, " ")
}

// worktreeFact says where a worktree is.
func worktreeFact(w cw.AgentWorktree) string {
	switch w.State {
	case cw.WorktreeTrashed:
		return oneLine(w.Trash) + " (trashed" + keptUntil(w.TrashedAt) + ")"
	case cw.WorktreeRemoved:
		return oneLine(w.Path) + " (removed; it is made again when the agent goes on)"
	}
	return oneLine(w.Path) + bracketed(string(w.State))
}

// snapshotFact names the snapshot that was made before a worktree went.
func snapshotFact(w cw.AgentWorktree) string {
	if w.KeepRef == "" || w.State != cw.WorktreeTrashed {
		return ""
	}
	if w.KeepWhole {
		return oneLine(w.KeepRef) + " (whole)"
	}
	return oneLine(w.KeepRef)
}

func (a *app) printRuns(p paint, runs []cw.Run) {
	if len(runs) == 0 {
		return
	}
	a.printf("\n%s\n", p.bold("runs"))
	var rows [][]string
	for _, r := range runs {
		rows = append(rows, []string{
			fmt.Sprint(r.SessionNumber), runWhy(r), runOutcome(r), runExit(r), a.runTime(r), costFact(r.CostUSD, r.Usage),
		})
	}
	table(a.out, "  ", []string{"SESSION", "WHY", "OUTCOME", "EXIT", "TIME", "COST"}, rows)
}

func runWhy(r cw.Run) string {
	if r.Fresh {
		return string(r.Reason) + " (new session)"
	}
	return string(r.Reason)
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
	if act.State == cw.ActivityStalled && act.LastAt != nil {
		text := "stalled: silent for " + elapsed(now.Sub(*act.LastAt))
		if act.Tool != "" {
			text += ", last tool " + oneLine(act.Tool)
		}
		return text
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
