package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// allStatuses selects questions whatever their status.
const allStatuses = "all"

type questionListOptions struct {
	app      *app
	agent    string
	statuses []string
	listing  listing
}

func newQuestionListCmd(a *app, runF func(context.Context, *questionListOptions) error) *cobra.Command {
	opts := &questionListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the questions of agents, oldest first",
		Example: "cw question list\ncw question list --agent brave-otter --status all",
		Args:    noArgs,
		RunE:    start(a, runF, questionListRun, opts),
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.agent, "agent", "", "only those of this agent: `NAME` or id")
	fl.StringSliceVar(&opts.statuses, "status", nil, "only those with this `STATUS`: "+questionStatusNames()+" or "+allStatuses+" (default: open)")
	opts.listing.flags(fl, cw.QuestionList())
	_ = cmd.RegisterFlagCompletionFunc("agent", completeAgents(a, cw.AgentFilter{})) // the flag was defined above
	return cmd
}

func questionStatusNames() string {
	var names []string
	for _, s := range cw.QuestionStatuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func questionListRun(ctx context.Context, o *questionListOptions) error {
	a := o.app
	page, err := o.listing.query()
	if err != nil {
		return err
	}
	filter := cw.QuestionFilter{PageQuery: page, Agent: o.agent, Statuses: o.wanted()}
	if _, err := (cw.QuestionFilter{Statuses: filter.Statuses}).Start(); err != nil { // before a daemon is started for it
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	questions, err := allQuestions(ctx, svc, filter)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(append([]cw.QuestionView{}, questions...))
	case len(questions) == 0 && len(filter.Statuses) == 1 && filter.Statuses[0] == cw.QuestionOpen:
		a.note("nobody waits for an answer")
	case len(questions) == 0:
		a.note("no questions like that")
	default:
		a.printQuestionList(questions)
	}
	a.noteCheckpoints(ctx, svc)
	return nil
}

// checkpointsNamed is how many checkpoints are named one by one.
const checkpointsNamed = 10

// noteCheckpoints says which tasks wait for a person, too. It only adds to the
// picture: what cannot be read is left out.
func (a *app) noteCheckpoints(ctx context.Context, svc cw.Services) {
	s, err := svc.Status(ctx)
	if err != nil || s.Checkpoints == 0 {
		return
	}
	a.note("checkpoints: %s", checkpointsFact(s.Checkpoints))
	status, err := svc.Dispatch(ctx, "")
	if err != nil {
		return
	}
	waiting := checkpoints(status)
	for _, t := range waiting[:min(len(waiting), checkpointsNamed)] {
		a.note("  %s %s: %s", t.ID, oneLine(t.Name), oneLine(t.Wait.Text))
	}
}

// checkpoints are the tasks that wait for a person's word: those that are reached,
// and those whose result is there.
func checkpoints(status cw.DispatchStatus) []cw.DispatchTask {
	var out []cw.DispatchTask
	for _, t := range status.Waiting {
		if code(t) == cw.WaitPerson {
			out = append(out, t)
		}
	}
	view := executeView{status: status, merges: status.Merges}
	for _, t := range status.Running {
		if m, there := view.mergeOf(t.ID); there && m.AwaitsPerson() {
			t.Wait = view.standsStill(t)
			out = append(out, t)
		}
	}
	return out
}

// wanted are the statuses to ask for; none means all.
func (o *questionListOptions) wanted() []cw.QuestionStatus {
	if len(o.statuses) == 0 {
		return []cw.QuestionStatus{cw.QuestionOpen}
	}
	var wanted []cw.QuestionStatus
	for _, s := range o.statuses {
		if s == allStatuses {
			return nil
		}
		wanted = append(wanted, cw.QuestionStatus(s))
	}
	return wanted
}

func (a *app) printQuestionList(questions []cw.QuestionView) {
	header := []string{"ID", "AGENT", "STATUS", "AGE", "QUESTION"}
	var rows [][]string
	for _, q := range questions {
		rows = append(rows, []string{
			string(q.ID), q.Agent, string(q.Status), elapsed(a.now().Sub(q.CreatedAt)), cut(oneLine(q.Text), titleMax),
		})
	}
	if a.outTTY {
		header, rows = fit(header, rows, a.width())
	}
	table(a.out, "", header, rows)
}
