package main

import (
	"context"
	"fmt"
	"slices"

	"cw/internal/cw"
)

// walk goes from a goal to tasks: it looks at what there is, decides the next
// move by that alone, and does it.
type walk struct {
	app          *app
	svc          cw.Services
	initiative   cw.Initiative
	plan         walkPlan
	request      func(cw.Mode) cw.SpawnRequest // of an agent; without its place
	given        []namedAnswer                 // answers that were not given yet
	yes          bool                          // accept everything
	noWaitParked bool
	flags        []string // that the command which goes on needs, too
	keys         *asker
	report       walkReport
}

// walkReport is what a walk prints at its end with --json.
type walkReport struct {
	Initiative cw.InitiativeView `json:"initiative"` // as it is now
	ExitReason string            `json:"exitReason"` // done, proposals, or as that of cw run
	Step       cw.Mode           `json:"step"`       // where it ended; "": every step is done
	Agents     []cw.AgentView    `json:"agents"`     // that were begun or watched, as they were last seen
	Accepted   []cw.Proposal     `json:"accepted"`
	Dismissed  []cw.Proposal     `json:"dismissed"`
	Proposals  []cw.Proposal     `json:"proposals"` // that wait for a decision
	Tasks      []cw.DispatchTask `json:"tasks"`     // of the step execute: that are not done, each that waits with its reason
}

const (
	// exitProposals is the word of a report for a walk that ended at a decision.
	exitProposals = "proposals"
	// exitNothing is the word of a report for a walk whose steps are all done and
	// left no phases, or no tasks.
	exitNothing = "nothing"
)

// newWalk makes a walk through all steps.
func newWalk(a *app) *walk {
	return &walk{
		app: a, keys: a.newAsker(),
		plan: walkPlan{until: cw.ModeDetail, parallel: sideBySide, passed: map[cw.AgentID]bool{}, own: map[cw.AgentID]bool{}},
		report: walkReport{
			ExitReason: exitDone, Agents: []cw.AgentView{}, Accepted: []cw.Proposal{}, Dismissed: []cw.Proposal{}, Proposals: []cw.Proposal{},
			Tasks: []cw.DispatchTask{},
		},
	}
}

// toTheEnd walks until every step is done, or something is left to a person, and
// reports.
func (w *walk) toTheEnd(ctx context.Context) error {
	err := w.walk(ctx)
	view, lookErr := w.svc.Initiative(context.WithoutCancel(ctx), string(w.initiative.ID))
	if lookErr != nil {
		if err == nil {
			err = lookErr
		}
		return err
	}
	w.report.Initiative = view
	if w.app.json {
		if err := w.app.printJSON(w.report); err != nil {
			return err
		}
	} else if err == nil {
		w.app.printInitiativeView(view)
		if view.Work.Hold && len(view.Tasks) > 0 {
			w.app.note("next: cw initiative start %s starts its tasks", cw.ShellWord(oneLine(view.Slug)))
		}
	}
	return err
}

// walk makes one move after the other. Its error is where it ended before its
// end.
func (w *walk) walk(ctx context.Context) error {
	for moves := 0; ; moves++ {
		v, err := w.look(ctx)
		if err != nil {
			return err
		}
		if moves == 0 {
			w.passBy(v)
		}
		m := nextMove(w.plan, v)
		w.report.Step = m.step
		switch {
		case m.over() && w.plan.missing(v) != "":
			return w.cameToNothing(w.plan.missing(v))
		case m.over() && w.plan.until == cw.ModeExecute:
			return w.execute(ctx)
		case m.over() && moves == 0:
			w.app.note("nothing is left to do up to %s; --from STEP begins a step anew", w.plan.until)
			return nil
		case m.over():
			return nil
		case m.decide != nil:
			err = w.decide(ctx, *m.decide, openOf(v.open, m.decide.ID))
		case m.ended != nil:
			w.keep(*m.ended)
			err = w.ended(*m.ended)
		default:
			err = w.work(ctx, m, v.phases)
		}
		if err != nil {
			return err
		}
	}
}

// cameToNothing returns the error of a walk that did all its steps without the
// phases or tasks that they are for.
func (w *walk) cameToNothing(missing string) error {
	w.report.ExitReason = exitNothing
	step := cw.ModePlan
	if missing == missingTasks {
		step = cw.ModeDetail
	}
	slug := cw.ShellWord(oneLine(w.initiative.Slug))
	return cw.Errorf(cw.CodeFailed, "every step is done, and %s has no %s", slug, missing).
		WithHint("cw agent list --initiative %[1]s shows what each agent said; cw initiative run %[1]s --from %[2]s repeats that step", slug, step)
}

// look reads what there is.
func (w *walk) look(ctx context.Context) (walkView, error) {
	id, slug := string(w.initiative.ID), oneLine(w.initiative.Slug)
	now, err := w.svc.Initiative(ctx, id)
	if err != nil {
		return walkView{}, fmt.Errorf("look at %s: %w", slug, err)
	}
	v := walkView{phases: now.Phases, tasks: now.Tasks}
	for _, removed := range []bool{false, true} {
		some, err := cw.AllAgents(ctx, w.svc, cw.AgentFilter{Initiative: id, Removed: removed})
		if err != nil {
			return walkView{}, fmt.Errorf("list the agents of %s: %w", slug, err)
		}
		v.agents = append(v.agents, some...)
	}
	slices.SortStableFunc(v.agents, func(a, b cw.AgentView) int { return a.CreatedAt.Compare(b.CreatedAt) })
	v.open, err = allProposals(ctx, w.svc, cw.ProposalFilter{Initiative: id, Statuses: []cw.ProposalStatus{cw.ProposalOpen}})
	if err != nil {
		return walkView{}, fmt.Errorf("list the proposals of %s: %w", slug, err)
	}
	return v, nil
}

// passBy lets what was done of the step that is begun anew not count. An agent
// that still works counts: two would do the same.
func (w *walk) passBy(v walkView) {
	for _, a := range v.agents {
		if a.Mode == w.plan.from && atRest(a) {
			w.plan.passed[a.ID] = true
		}
	}
}

// keep notes an agent for the report, as it is now.
func (w *walk) keep(agent cw.AgentView) {
	if i := w.kept(agent.ID); i >= 0 {
		w.report.Agents[i] = agent
		return
	}
	w.report.Agents = append(w.report.Agents, agent)
}

// kept is the place of an agent in the report, -1 for none.
func (w *walk) kept(id cw.AgentID) int {
	return slices.IndexFunc(w.report.Agents, func(v cw.AgentView) bool { return v.ID == id })
}

// say tells what happens next.
func (w *walk) say(format string, args ...any) {
	fmt.Fprintf(w.app.err, "\n%s\n", w.app.paint(w.app.errTTY).bold(fmt.Sprintf(format, args...)))
}

// again is the command that goes on where a walk ended, with the same agents.
func (w *walk) again() string {
	line := "cw initiative run " + cw.ShellWord(oneLine(w.initiative.Slug))
	switch {
	case w.plan.from == cw.ModeExecute: // nothing of it is begun anew
		line += " --from " + string(w.plan.from)
	case w.plan.until != cw.ModeDetail:
		line += " --until " + string(w.plan.until)
	}
	for _, word := range w.flags {
		line += " " + cw.ShellWord(oneLine(word))
	}
	return line
}
