package servicetest

import (
	"encoding/json"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

func planned(title string, steps ...string) cw.PlanRequest {
	req := cw.PlanRequest{Title: title}
	for _, s := range steps {
		req.Steps = append(req.Steps, cw.PlanStepRequest{Title: s, Description: "more about " + s})
	}
	return req
}

// marks is a plan's steps in short: "step-0 Look completed".
func marks(p cw.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, s.ID+" "+s.Title+" "+string(s.Status))
	}
	return out
}

// plansCase: an agent makes its plan, moves its steps and revises it; everybody
// sees it, and how far it is beside the agent.
func plansCase(t *testing.T, f Fixture) {
	name, as := f.Talk(t)
	_, err := f.Services.Plan(soon(t), name)
	wantCode(t, "Plan without one", err, cw.CodeNotFound)
	view, err := f.Services.Agent(soon(t), name)
	ok(t, err)
	if view.Plan != nil {
		t.Errorf("a plan beside the agent: %+v", view.Plan)
	}
	made, err := as.SetPlan(soon(t), name, planned("Sell <more> & \x1b[1m", "Look", "Do", "Test"))
	ok(t, err)
	if made.AgentID != view.ID || made.ID == "" || made.Revision != 1 || made.Source != cw.PlanTool || made.Steps[1].Description != "more about Do" {
		t.Errorf("made: %+v", made)
	}
	again, err := as.SetPlan(soon(t), name, planned(made.Title, "Look", "Do", "Test"))
	ok(t, err)
	if diff := cmp.Diff(made, again); diff != "" {
		t.Errorf("the same once more: %s", diff)
	}
	for _, move := range []struct {
		step string
		to   cw.StepStatus
	}{{"step-0", cw.StepInProgress}, {"step-0", cw.StepInProgress}, {"step-0", cw.StepCompleted}, {"step-1", cw.StepInProgress}} {
		_, err := as.MoveStep(soon(t), name, move.step, cw.StepRequest{Status: move.to})
		ok(t, err)
	}
	view, err = f.Services.Agent(soon(t), name)
	ok(t, err)
	want := &cw.PlanSummary{ID: made.ID, Title: made.Title, Source: cw.PlanTool, Done: 1, Of: 3, Current: "Do"}
	if diff := cmp.Diff(want, view.Plan); diff != "" {
		t.Errorf("beside the agent: %s", diff)
	}
	revised, err := as.SetPlan(soon(t), name, planned("Sell", "Ask", "Do", "Look"))
	ok(t, err)
	if diff := cmp.Diff([]string{"step-0 Ask pending", "step-1 Do in_progress", "step-2 Look completed"}, marks(revised)); diff != "" {
		t.Errorf("revised: %s", diff)
	}
	if revised.ID != made.ID || revised.Revision != 2 || !revised.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("revised: %+v", revised)
	}
	for _, step := range []string{"step-0", "step-1"} { // also one that was never begun
		_, err := as.MoveStep(soon(t), name, step, cw.StepRequest{Status: cw.StepSkipped})
		ok(t, err)
	}
	next, err := as.SetPlan(soon(t), name, planned("Sell", "Look"))
	ok(t, err)
	if next.ID == made.ID || next.Revision != 1 || next.Steps[0].Status != cw.StepPending {
		t.Errorf("after the end of the plan: %+v", next)
	}
	seen, err := f.Services.Plan(soon(t), name)
	ok(t, err)
	if diff := cmp.Diff(next, seen); diff != "" {
		t.Errorf("as others see it: %s", diff)
	}
	checkPlanEvents(t, f, view, made.ID, next.ID)
}

func checkPlanEvents(t *testing.T, f Fixture, view cw.AgentView, first, second cw.PlanID) {
	t.Helper()
	var told []string
	for _, event := range []cw.EventType{cw.EventPlanCreated, cw.EventPlanRevised} {
		for _, e := range eventsOf(t, f, view, event) {
			var p cw.PlanChanged
			ok(t, json.Unmarshal(e.Data, &p))
			told = append(told, strings.Join([]string{string(event), string(p.PlanID), p.Title}, " "))
			if p.Name != view.Alias || len(p.Steps) == 0 || p.Steps[0].Description != "" || e.ActorKind != cw.ActorAgent {
				t.Errorf("told: %s by %s", e.Data, e.ActorKind)
			}
		}
	}
	want := []string{"plan:created " + string(first) + " Sell <more> & \x1b[1m", "plan:created " + string(second) + " Sell", "plan:revised " + string(first) + " Sell"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("events: %s", diff)
	}
}

// badPlansCase: what is no plan, no step or no move is refused and changes
// nothing, and nobody but the agent keeps its plan.
func badPlansCase(t *testing.T, f Fixture) {
	name, as := f.Talk(t)
	_, err := as.MoveStep(soon(t), name, "step-0", cw.StepRequest{Status: cw.StepCompleted})
	wantCode(t, "MoveStep without a plan", err, cw.CodeNotFound)
	made, err := as.SetPlan(soon(t), name, planned("Sell", "Look", "Do"))
	ok(t, err)
	made, err = as.MoveStep(soon(t), name, "step-0", cw.StepRequest{Status: cw.StepCompleted})
	ok(t, err)
	long := planned("Sell", "Look")
	long.Steps[0].Description = strings.Repeat("x", cw.PlanTextMax+1)
	for what, req := range map[string]cw.PlanRequest{
		"no title": planned(" ", "Look"), "no steps": planned("Sell"), "too many": planned("Sell", make([]string, cw.PlanStepsMax+1)...),
		"a step without a title": planned("Sell", "Look", "\t"), "a long title": planned(strings.Repeat("ü", cw.PlanTitleMax+1), "Look"),
		"a zero byte": planned("Se\x00ll", "Look"), "a long description": long,
	} {
		_, err := as.SetPlan(soon(t), name, req)
		wantCode(t, what, err, cw.CodeInvalid)
	}
	for _, c := range []struct {
		step string
		to   cw.StepStatus
		code cw.Code
	}{
		{"step-0", cw.StepPending, cw.CodeRefused},
		{"step-0", cw.StepInProgress, cw.CodeRefused},
		{"step-0", cw.StepSkipped, cw.CodeRefused},
		{"step-1", "done", cw.CodeInvalid},
		{"step-1", "", cw.CodeInvalid},
		{"step-2", cw.StepCompleted, cw.CodeNotFound},
		{"../step-1", cw.StepCompleted, cw.CodeNotFound},
	} {
		_, err := as.MoveStep(soon(t), name, c.step, cw.StepRequest{Status: c.to})
		wantCode(t, c.step+" "+string(c.to), err, c.code)
		if cw.ErrorHint(err) == "" {
			t.Errorf("%s %s: no hint beside %v", c.step, c.to, err)
		}
	}
	_, err = f.Services.SetPlan(soon(t), name, planned("Mine", "Look"))
	wantCode(t, "SetPlan of somebody else", err, cw.CodeForbidden)
	_, err = f.Services.MoveStep(soon(t), name, "step-1", cw.StepRequest{Status: cw.StepSkipped})
	wantCode(t, "MoveStep of somebody else", err, cw.CodeForbidden)
	seen, err := f.Services.Plan(soon(t), name)
	ok(t, err)
	if diff := cmp.Diff(made, seen); diff != "" {
		t.Errorf("afterwards: %s", diff)
	}
}
