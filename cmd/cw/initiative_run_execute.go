package main

import (
	"slices"

	"cw/internal/cw"
)

// executeView is what there is of an initiative's tasks, as far as a walk decides
// by it.
type executeView struct {
	tasks  []cw.Task                   // that are to be done, or are
	status cw.DispatchStatus           // of the initiative
	merges []cw.Merge                  // of the initiative
	asking map[cw.AgentID]cw.AgentView // agents of running tasks that wait for answers
	held   map[cw.TaskID]bool          // tasks whose merge is held up for longer than it takes to try it again
}

// executeMove is what a walk does next about the tasks: with nothing in it, it
// waits.
type executeMove struct {
	over   bool
	asking []cw.AgentView    // they wait for answers, whatever else goes on
	people []cw.DispatchTask // nothing goes on by itself, and this is why
	parked []cw.DispatchTask // nothing goes on but what waits for an account
}

// nextExecute decides what a walk does next, from what there is: it is over when
// every task is done, and ends before that when only people can go on. A task
// goes on by itself when its agent works, when it is started next, and when it
// waits for a time or for room. Whatever waits for another task goes on with
// that, so it does not count.
func nextExecute(v executeView, noWaitParked bool) executeMove {
	if !slices.ContainsFunc(v.tasks, func(t cw.Task) bool { return t.Status != cw.TaskDone }) {
		return executeMove{over: true}
	}
	m := executeMove{}
	moves := len(v.status.Ready) > 0 && v.status.State == cw.DispatchRunning
	if v.status.State != cw.DispatchRunning {
		for _, t := range v.status.Ready {
			t.Wait = &cw.WaitReason{Code: cw.WaitPaused, Text: "the dispatcher is " + string(v.status.State), Hint: "cw dispatch resume"}
			m.people = append(m.people, t)
		}
	}
	for _, t := range v.status.Running {
		if agent, asks := v.asking[t.AgentID]; asks {
			m.asking = append(m.asking, agent)
		}
		why := v.standsStill(t)
		switch {
		case why != nil:
			t.Wait = why
			m.people = append(m.people, t)
		case noWaitParked && t.AgentStatus == cw.StatusParked:
			m.parked = append(m.parked, t)
		default:
			moves = true
		}
	}
	for _, t := range slices.Concat(v.status.Waiting, v.drafts()) {
		switch {
		case noWaitParked && code(t) == cw.WaitAccount:
			m.parked = append(m.parked, t)
		case passes(code(t)):
			moves = true
		case forPeople(t):
			m.people = append(m.people, t)
		}
	}
	if moves {
		return executeMove{asking: m.asking}
	}
	if len(m.people)+len(m.parked) == 0 { // they wait for each other, or for what is not told
		m.people = slices.Clone(v.status.Waiting)
	}
	return m
}

// standsStill says why a running task does not go on by itself; nil when it does.
func (v executeView) standsStill(t cw.DispatchTask) *cw.WaitReason {
	if agent, asks := v.asking[t.AgentID]; asks {
		return &cw.WaitReason{Code: cw.WaitPerson, Text: asksText(agent), Hint: "cw agent answer " + agent.Alias}
	}
	if t.Wait != nil && !passes(t.Wait.Code) {
		return t.Wait
	}
	merge, merges := v.mergeOf(t.ID)
	switch {
	case merges && merge.AwaitsPerson():
		return &cw.WaitReason{Code: cw.WaitPerson, Text: "you look at the result before it is merged", Hint: verdictHint(t.ID)}
	case merges && merge.WaitCode == cw.WaitProject:
		return &cw.WaitReason{Code: cw.WaitProject, Text: merge.Wait}
	case merges && merge.Wait != "" && v.held[t.ID]:
		return &cw.WaitReason{Code: cw.WaitPerson, Text: merge.Wait}
	case v.status.State == cw.DispatchPaused && t.Status != cw.TaskRunning:
		return &cw.WaitReason{Code: cw.WaitPaused, Text: "the dispatcher is paused, and merges nothing", Hint: "cw dispatch resume"}
	}
	return nil
}

// verdictHint is what to do about a result that waits for a person.
func verdictHint(id cw.TaskID) string {
	return "cw task diff " + string(id) + ", then cw task done " + string(id) + " or cw task reject " + string(id) + " --comment TEXT"
}

// mergeOf is the merge of a task on which something is to be done or was done
// last.
func (v executeView) mergeOf(id cw.TaskID) (cw.Merge, bool) {
	for _, m := range slices.Backward(v.merges) {
		if m.TaskID == id && m.Status != cw.MergeDismissed {
			return m, true
		}
	}
	return cw.Merge{}, false
}

// drafts are tasks that nobody accepted: the dispatcher does not know of them.
func (v executeView) drafts() []cw.DispatchTask {
	var out []cw.DispatchTask
	for _, t := range v.tasks {
		if t.Status == cw.TaskDraft && !slices.ContainsFunc(v.status.Waiting, func(d cw.DispatchTask) bool { return d.ID == t.ID }) {
			out = append(out, cw.DispatchTask{
				ID: t.ID, Name: t.Name, InitiativeID: t.InitiativeID, PhaseID: t.PhaseID, Status: t.Status, Priority: t.Priority, Since: t.UpdatedAt,
				Wait: &cw.WaitReason{Code: cw.WaitPerson, Text: "it is a draft that nobody accepted", Hint: "cw task cancel " + string(t.ID) + ", or accept what suggests it"},
			})
		}
	}
	return out
}

// code is what a task waits for, "" for nothing that is told.
func code(t cw.DispatchTask) cw.WaitCode {
	if t.Wait == nil {
		return ""
	}
	return t.Wait.Code
}

// passes tells whether a reason to wait passes by itself.
func passes(c cw.WaitCode) bool {
	return c == cw.WaitRetry || c == cw.WaitAccount || c == cw.WaitLimit || c == cw.WaitResources
}

// forPeople tells whether a task waits for something that only a person can do.
func forPeople(t cw.DispatchTask) bool {
	switch code(t) {
	case cw.WaitPaused, cw.WaitPerson, cw.WaitBlocked, cw.WaitCircle, cw.WaitProject, cw.WaitBudget:
		return true
	}
	return t.Wait != nil && t.Wait.Hint != "" && !passes(t.Wait.Code)
}
