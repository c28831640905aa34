package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestNextMove: what a walk does next, from what there is.
func TestNextMove(t *testing.T) {
	t.Parallel()
	agent := func(id cw.AgentID, mode cw.Mode, minute int, change ...func(*cw.AgentView)) cw.AgentView {
		v := cw.AgentView{Agent: cw.Agent{ID: id, Mode: mode, Status: cw.StatusIdle, CreatedAt: epoch.Add(time.Duration(minute) * time.Minute)}}
		for _, c := range change {
			c(&v)
		}
		return v
	}
	status := func(s cw.AgentStatus) func(*cw.AgentView) {
		return func(v *cw.AgentView) { v.Status = s }
	}
	waits := func(v *cw.AgentView) {
		v.Status, v.PendingQuestions = cw.StatusWaitingForInput, []cw.Question{{ID: "q"}}
	}
	of := func(phase cw.PhaseID) func(*cw.AgentView) {
		return func(v *cw.AgentView) { v.PhaseID = phase }
	}
	removed := func(v *cw.AgentView) { v.DeletedAt = &epoch }
	proposal := func(agent cw.AgentID) cw.Proposal { return cw.Proposal{ID: "p", AgentID: agent} }
	phase := func(id cw.PhaseID, s cw.PhaseStatus) cw.Phase { return cw.Phase{ID: id, Status: s} }
	discussed := agent("d", cw.ModeDiscuss, 1)
	refined := agent("r", cw.ModeRefine, 2)
	planned := agent("p", cw.ModePlan, 3)
	three := []cw.AgentView{discussed, refined, planned}
	plus := func(some []cw.AgentView, more ...cw.AgentView) []cw.AgentView {
		return append(slices.Clone(some), more...)
	}
	two := []cw.Phase{phase("1", cw.PhaseApproved), phase("2", cw.PhaseRunning)}
	for _, tc := range []struct {
		name string
		plan walkPlan // until: detail, parallel: 2
		view walkView
		want string
	}{
		{"nothing yet", walkPlan{}, walkView{}, "discuss: begin -"},
		{"from the middle", walkPlan{from: cw.ModePlan}, walkView{}, "plan: begin -"},
		{"it works", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, status(cw.StatusRunning))}}, "discuss: follow d"},
		{"it is parked", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, status(cw.StatusParked))}}, "discuss: follow d"},
		{"it waits", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, waits)}}, "discuss: follow d"},
		{"its answers are in", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, status(cw.StatusWaitingForInput))}}, "discuss: follow d"},
		{"it is cleared up after", walkPlan{}, walkView{
			agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, func(v *cw.AgentView) { v.Settling = true })}, open: []cw.Proposal{proposal("d")},
		}, "discuss: follow d"},
		{"a text waits for it", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, func(v *cw.AgentView) { v.QueuedMessages = 1 })}}, "discuss: follow d"},
		{"it suggests", walkPlan{}, walkView{agents: []cw.AgentView{discussed}, open: []cw.Proposal{proposal("d")}}, "discuss: decide d"},
		{"it waits and suggests", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, waits)}, open: []cw.Proposal{proposal("d")}}, "discuss: follow d"},
		{"it crashed", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, status(cw.StatusCrashed))}}, "discuss: ended d"},
		{"it was stopped", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, status(cw.StatusStopped))}}, "discuss: ended d"},
		{"another came after the crash", walkPlan{}, walkView{agents: []cw.AgentView{agent("c", cw.ModeDiscuss, 0, status(cw.StatusCrashed)), discussed}}, "refine: begin -"},
		{"crashed and removed", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, status(cw.StatusCrashed), removed)}}, "discuss: begin -"},
		{"done and removed", walkPlan{}, walkView{agents: []cw.AgentView{agent("d", cw.ModeDiscuss, 1, removed)}}, "refine: begin -"},
		{"done", walkPlan{}, walkView{agents: []cw.AgentView{discussed}}, "refine: begin -"},
		{"others suggest, too", walkPlan{}, walkView{agents: []cw.AgentView{discussed}, open: []cw.Proposal{proposal("x")}}, "refine: begin -"},
		{"agents that execute do not count", walkPlan{}, walkView{agents: []cw.AgentView{agent("x", cw.ModeExecute, 1, status(cw.StatusCrashed))}}, "discuss: begin -"},
		{"discussed once more", walkPlan{}, walkView{agents: plus(three, agent("e", cw.ModeDiscuss, 9))}, "refine: begin -"},
		{"begun in the middle", walkPlan{}, walkView{agents: []cw.AgentView{planned}, open: []cw.Proposal{proposal("p")}}, "plan: decide p"},
		{"left one out", walkPlan{}, walkView{agents: []cw.AgentView{discussed, planned}, phases: two[:1]}, "detail: begin 1"},
		{"left out, and asked for now", walkPlan{from: cw.ModeRefine}, walkView{agents: []cw.AgentView{discussed, planned}}, "refine: begin -"},
		{"left out, and discussed once more", walkPlan{}, walkView{agents: []cw.AgentView{planned, agent("e", cw.ModeDiscuss, 9)}}, "refine: begin -"},
		{"a later one was begun and removed", walkPlan{}, walkView{agents: []cw.AgentView{agent("p", cw.ModePlan, 3, status(cw.StatusStopped), removed)}}, "discuss: begin -"},
		{"not that far", walkPlan{until: cw.ModeRefine}, walkView{agents: three}, "over"},
		{"anew", walkPlan{from: cw.ModePlan, passed: map[cw.AgentID]bool{"p": true}}, walkView{agents: three, open: []cw.Proposal{proposal("p")}}, "plan: begin -"},
		{"begun by this walk, with a clock that was set back", walkPlan{own: map[cw.AgentID]bool{"x": true}}, walkView{
			agents: []cw.AgentView{agent("x", cw.ModeRefine, -60, status(cw.StatusRunning)), discussed},
		}, "refine: follow x"},
		{"no phase", walkPlan{}, walkView{agents: three}, "over"},
		{"no phase that was accepted", walkPlan{}, walkView{agents: three, phases: []cw.Phase{phase("1", cw.PhaseDraft), phase("2", cw.PhaseDone)}}, "over"},
		{"two phases", walkPlan{}, walkView{agents: three, phases: two}, "detail: begin 1 2"},
		{"one after the other", walkPlan{parallel: 1}, walkView{agents: three, phases: two}, "detail: begin 1"},
		{"a phase with a task", walkPlan{}, walkView{agents: three, phases: two, tasks: []cw.Task{{PhaseID: "1"}}}, "detail: begin 2"},
		{"one works", walkPlan{parallel: 1}, walkView{agents: plus(three, agent("x", cw.ModeDetail, 4, of("1"), status(cw.StatusRunning))), phases: two}, "detail: follow x"},
		{"one works, and room for another", walkPlan{}, walkView{agents: plus(three, agent("x", cw.ModeDetail, 4, of("1"), status(cw.StatusRunning))), phases: two}, "detail: follow x begin 2"},
		{"one suggests beside one at work", walkPlan{}, walkView{
			agents: plus(three, agent("x", cw.ModeDetail, 4, of("1"), status(cw.StatusRunning)), agent("y", cw.ModeDetail, 5, of("2"))), phases: two,
			open: []cw.Proposal{proposal("y")},
		}, "detail: decide y"},
		{"one crashed", walkPlan{}, walkView{agents: plus(three, agent("x", cw.ModeDetail, 4, of("1"), status(cw.StatusCrashed))), phases: two}, "detail: ended x begin 2"},
		{"one crashed, whose phase has tasks by now", walkPlan{}, walkView{
			agents: plus(three, agent("x", cw.ModeDetail, 4, of("1"), status(cw.StatusCrashed))), phases: two, tasks: []cw.Task{{PhaseID: "1"}, {PhaseID: "2"}},
		}, "over"},
		{"nothing of it was wanted", walkPlan{}, walkView{agents: plus(three, agent("x", cw.ModeDetail, 4, of("1")), agent("y", cw.ModeDetail, 5, of("2"))), phases: two}, "over"},
		{"planned anew since", walkPlan{}, walkView{
			agents: plus(three, agent("x", cw.ModeDetail, 4, of("1")), agent("q", cw.ModePlan, 5)), phases: two[:1],
		}, "detail: begin 1"},
	} {
		if tc.plan.until == "" {
			tc.plan.until = cw.ModeDetail
		}
		if tc.plan.parallel == 0 {
			tc.plan.parallel = 2
		}
		if diff := cmp.Diff(tc.want, shownMove(nextMove(tc.plan, tc.view))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func shownMove(m walkMove) string {
	if m.over() {
		return "over"
	}
	words := []string{string(m.step) + ":"}
	if m.decide != nil {
		words = append(words, "decide", string(m.decide.ID))
	}
	if m.ended != nil {
		words = append(words, "ended", string(m.ended.ID))
	}
	for i, v := range m.follow {
		if i == 0 {
			words = append(words, "follow")
		}
		words = append(words, string(v.ID))
	}
	for i, ph := range m.begin {
		if i == 0 {
			words = append(words, "begin")
		}
		if ph == "" {
			ph = "-"
		}
		words = append(words, string(ph))
	}
	return strings.Join(words, " ")
}
