package servicetest

import (
	"context"

	"cw/internal/cw"
)

// SetPlan implements cw.PlanService.
func (m *Memory) SetPlan(ctx context.Context, ref string, req cw.PlanRequest) (plan cw.Plan, err error) {
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.planner(ctx, ref); err == nil {
			err = req.Check()
		}
		if err != nil {
			return
		}
		actor := cw.ActorOf(ctx)
		next, turn := m.kept[a.ID].Change(cw.PlanChange{
			AgentID: a.ID, RunID: actor.RunID, Title: req.Title, Steps: req.NewSteps(), Source: cw.PlanTool, By: actor,
		})
		plan = next
		if turn == cw.PlanSame {
			return
		}
		event := cw.EventPlanRevised
		plan.UpdatedAt = m.now()
		if turn == cw.PlanCreated {
			event = cw.EventPlanCreated
			plan.ID, plan.CreatedAt = cw.PlanID(cw.NewID()), plan.UpdatedAt
		}
		m.kept[a.ID] = plan
		m.tell(cw.NewEvent(event, actor, plan.Changed(a.Alias)).About(a.ID, actor.RunID))
	})
	return plan, err
}

// MoveStep implements cw.PlanService.
func (m *Memory) MoveStep(ctx context.Context, ref, step string, req cw.StepRequest) (plan cw.Plan, err error) {
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.planner(ctx, ref); err != nil {
			return
		}
		var changed, found bool
		if plan, found = m.kept[a.ID]; !found {
			err = cw.ErrNoPlan(a.Alias)
			return
		}
		if plan, changed, err = plan.Move(step, req.Status); err != nil || !changed {
			return
		}
		plan.UpdatedAt = m.now()
		m.kept[a.ID] = plan
		for _, s := range plan.Steps {
			if s.ID == step {
				event, moved, _ := plan.StepMoved(a.Alias, s)
				m.tell(cw.NewEvent(event, cw.ActorOf(ctx), moved).About(a.ID, cw.ActorOf(ctx).RunID))
			}
		}
	})
	return plan, err
}

// planner gives the agent, when it is the caller; the lock is held.
func (m *Memory) planner(ctx context.Context, ref string) (*cw.AgentView, error) {
	a, err := m.find(ref)
	if err != nil {
		return nil, err
	}
	return a, cw.MayPlan(cw.ActorOf(ctx), a.Agent)
}

// Plan implements cw.PlanService.
func (m *Memory) Plan(_ context.Context, ref string) (cw.Plan, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(ref)
	if err != nil {
		return cw.Plan{}, err
	}
	plan, found := m.kept[a.ID]
	if !found {
		return cw.Plan{}, cw.ErrNoPlan(a.Alias)
	}
	return plan, nil
}

// Plan implements cw.PlanService.
func (a asAgent) Plan(ctx context.Context, ref string) (cw.Plan, error) {
	return a.Memory.Plan(cw.WithActor(ctx, a.actor), ref)
}

// SetPlan implements cw.PlanService.
func (a asAgent) SetPlan(ctx context.Context, ref string, req cw.PlanRequest) (cw.Plan, error) {
	return a.Memory.SetPlan(cw.WithActor(ctx, a.actor), ref, req)
}

// MoveStep implements cw.PlanService.
func (a asAgent) MoveStep(ctx context.Context, ref, step string, req cw.StepRequest) (cw.Plan, error) {
	return a.Memory.MoveStep(cw.WithActor(ctx, a.actor), ref, step, req)
}
