package main

import (
	"context"

	"cw/internal/cw"
)

// withPlans gives brave-otter a plan that is hostile to terminals.
func withPlans(b *bench) {
	three(b)
	for i := range b.fake.agents {
		v := &b.fake.agents[i]
		if v.Alias != "brave-otter" {
			continue
		}
		plan := hostilePlan()
		plan.AgentID = v.ID
		summary := plan.Summary()
		b.fake.kept, v.Plan = plan, &summary
	}
}

func hostilePlan() cw.Plan {
	return cw.Plan{
		ID: "ffffffffffff", Title: "Sell more\x1b[2J\nand more", Source: cw.PlanTool, Revision: 2,
		Steps: []cw.PlanStep{
			{ID: "step-0", Title: "Look at it", Status: cw.StepCompleted},
			{ID: "step-1", Title: "Ask\r\x1b]0;x\a\u202e nobody", Status: cw.StepSkipped},
			{ID: "step-2", Title: "Do it,\x1b[31m all of it, as long as it takes and longer", Status: cw.StepInProgress},
			{ID: "step-3", Title: "Test it\nwell", Status: cw.StepPending},
		},
	}
}

func (f *fakeServices) Plan(_ context.Context, ref string) (cw.Plan, error) {
	if err := f.fails("Plan"); err != nil {
		return cw.Plan{}, err
	}
	if f.kept.ID == "" || string(f.kept.AgentID) != ref {
		return cw.Plan{}, cw.ErrNoPlan(ref)
	}
	return f.kept, nil
}

func (f *fakeServices) SetPlan(context.Context, string, cw.PlanRequest) (cw.Plan, error) {
	return f.kept, f.fails("SetPlan")
}

func (f *fakeServices) MoveStep(context.Context, string, string, cw.StepRequest) (cw.Plan, error) {
	return f.kept, f.fails("MoveStep")
}
