package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// walkSteps are the steps from a goal to tasks, in their order.
func walkSteps() []cw.Mode {
	return []cw.Mode{cw.ModeDiscuss, cw.ModeRefine, cw.ModePlan, cw.ModeDetail}
}

// allSteps are the steps from a goal to merged work: after those of the architects
// the one in which the tasks are done.
func allSteps() []cw.Mode { return append(walkSteps(), cw.ModeExecute) }

// stepNamed reads a step. flag is where it was given. CodeInvalid.
func stepNamed(flag, word string) (cw.Mode, error) {
	if slices.Contains(allSteps(), cw.Mode(word)) {
		return cw.Mode(word), nil
	}
	err := usagef("--%s %s is no step", flag, oneLine(word))
	if near, ok := cw.Nearest(word, texts(allSteps())); ok {
		return "", err.WithHint("did you mean %s?", near)
	}
	return "", err.WithHint("the steps are %s", strings.Join(texts(allSteps()), ", "))
}

// walkPlan says which way a walk goes.
type walkPlan struct {
	from, until cw.Mode // from "": the first step; execute, too, is one of them
	parallel    int     // agents that work side by side, at least 1
	// passed are agents that do not count, because their step is made anew.
	passed map[cw.AgentID]bool
	// own are the agents of this walk. They always count, whatever the clock
	// says: no step is begun twice.
	own map[cw.AgentID]bool
}

// steps are those that the walk goes.
func (p walkPlan) steps() []cw.Mode {
	steps := allSteps()
	from, until := max(slices.Index(steps, p.from), 0), slices.Index(steps, p.until)+1
	return steps[min(from, until):until]
}

// architects are the steps of the walk in which something is suggested.
func (p walkPlan) architects() []cw.Mode {
	return slices.DeleteFunc(p.steps(), func(step cw.Mode) bool { return step == cw.ModeExecute })
}

// place says which step of how many one is: without the step execute, where the
// walk does not come to it.
func (p walkPlan) place(step cw.Mode) string {
	all := walkSteps()
	if p.until == cw.ModeExecute {
		all = allSteps()
	}
	return fmt.Sprintf("step %d of %d: %s", slices.Index(all, step)+1, len(all), step)
}

// What a finished walk can lack.
const (
	missingPhases = "phases"
	missingTasks  = "tasks"
)

// missing returns what the steps of the walk should have led to and did not:
// phases after plan, tasks after detail; "" when nothing is missing.
func (p walkPlan) missing(v walkView) string {
	last := slices.Index(allSteps(), p.until)
	switch {
	case last >= slices.Index(allSteps(), cw.ModePlan) && len(v.phases)+len(v.tasks) == 0:
		return missingPhases
	case last >= slices.Index(allSteps(), cw.ModeDetail) && len(v.tasks) == 0:
		return missingTasks
	}
	return ""
}

// walkView is what there is of an initiative, as far as a walk decides by it.
type walkView struct {
	phases []cw.Phase
	tasks  []cw.Task
	agents []cw.AgentView // oldest first, removed ones too
	open   []cw.Proposal  // that wait for a decision, oldest first
}

// walkMove is what a walk does next: in this order the first that there is. A
// move of nothing is the end.
type walkMove struct {
	step   cw.Mode
	decide *cw.AgentView  // its proposals wait for a decision
	ended  *cw.AgentView  // it did not come to its end, and somebody has to look
	follow []cw.AgentView // they work, or wait for answers
	begin  []cw.PhaseID   // a new agent for each; "": for the initiative as a whole
}

// over tells whether nothing is left to do.
func (m walkMove) over() bool { return m.step == "" }

// nextMove decides what a walk does next in the steps of the architects, from what there is: so it goes on
// where it was, whoever did what meanwhile.
//
// A step is done when its agent is idle and each of its proposals is decided on.
// An agent that is older than one of an earlier step does not count: it did not
// know what came out of that. A step without an agent is left out when a later
// one has some: an earlier walk began there.
func nextMove(p walkPlan, v walkView) walkMove {
	var since time.Time
	steps := p.architects()
	for i, step := range steps {
		agents := countedAgents(p, v, step, since)
		begunLater := slices.ContainsFunc(steps[i+1:], func(later cw.Mode) bool { return len(countedAgents(p, v, later, since)) > 0 })
		if len(agents) == 0 && begunLater && step != p.from {
			continue
		}
		if m := stepMove(p, v, step, agents); !m.over() {
			return m
		}
		for _, a := range agents {
			if a.CreatedAt.After(since) {
				since = a.CreatedAt
			}
		}
	}
	return walkMove{}
}

// countedAgents are the agents of a step, oldest first. One that a person
// removed before it came to its end does not count.
func countedAgents(p walkPlan, v walkView, step cw.Mode, since time.Time) []cw.AgentView {
	var out []cw.AgentView
	for _, a := range v.agents {
		thrownAway := a.DeletedAt != nil && a.Status != cw.StatusIdle
		if a.Mode == step && (p.own[a.ID] || !p.passed[a.ID] && !a.CreatedAt.Before(since) && !thrownAway) {
			out = append(out, a)
		}
	}
	return out
}

func stepMove(p walkPlan, v walkView, step cw.Mode, agents []cw.AgentView) walkMove {
	last := map[cw.PhaseID]cw.AgentView{} // the newest for each
	for _, a := range agents {
		if a.Status == cw.StatusIdle && atRest(a) && len(openOf(v.open, a.ID)) > 0 {
			return walkMove{step: step, decide: &a}
		}
		last[phaseOf(a)] = a
	}
	m := walkMove{step: step}
	for _, a := range agents {
		if last[phaseOf(a)].ID != a.ID || !walking(a) {
			continue
		}
		m.follow = append(m.follow, a)
	}
	for _, phase := range toDo(step, v) {
		a, begun := last[phase]
		switch {
		case !begun && len(m.follow)+len(m.begin) < p.parallel:
			m.begin = append(m.begin, phase)
		case begun && m.ended == nil && !walking(a) && a.Status != cw.StatusIdle:
			m.ended = &a
		}
	}
	if m.ended == nil && len(m.follow)+len(m.begin) == 0 {
		return walkMove{}
	}
	return m
}

// toDo are the phases of which a step makes something: for detail those that
// were accepted and have no tasks, else "" for the initiative as a whole.
func toDo(step cw.Mode, v walkView) []cw.PhaseID {
	if step != cw.ModeDetail {
		return []cw.PhaseID{""}
	}
	var out []cw.PhaseID
	for _, ph := range v.phases {
		accepted := ph.Status == cw.PhaseApproved || ph.Status == cw.PhaseRunning
		if accepted && !slices.ContainsFunc(v.tasks, func(t cw.Task) bool { return t.PhaseID == ph.ID }) {
			out = append(out, ph.ID)
		}
	}
	return out
}

// phaseOf is the phase that an agent is for; "" for the initiative as a whole,
// also when a person named one all the same.
func phaseOf(a cw.AgentView) cw.PhaseID {
	if a.Mode != cw.ModeDetail {
		return ""
	}
	return a.PhaseID
}

// walking tells whether an agent is on its way to its end: it works, goes on by
// itself, or waits for answers.
func walking(a cw.AgentView) bool {
	return !atRest(a) || a.Status == cw.StatusWaitingForInput
}

// openOf are the proposals of one agent among those that wait.
func openOf(open []cw.Proposal, agent cw.AgentID) []cw.Proposal {
	var out []cw.Proposal
	for _, p := range open {
		if p.AgentID == agent {
			out = append(out, p)
		}
	}
	return out
}
