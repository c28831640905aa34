package orchestrator

import (
	"context"
	"time"

	"cw/internal/cw"
	"cw/prompts"
)

// Plan implements cw.PlanService.
func (o *Orchestrator) Plan(ctx context.Context, ref string) (cw.Plan, error) {
	agent, err := o.Store.AgentByRef(ctx, ref)
	if err != nil {
		return cw.Plan{}, err
	}
	plan, found, err := o.Store.PlanOf(ctx, agent.ID)
	if err == nil && !found {
		err = cw.ErrNoPlan(agent.Alias)
	}
	return plan, err
}

// SetPlan implements cw.PlanService.
func (o *Orchestrator) SetPlan(ctx context.Context, ref string, req cw.PlanRequest) (cw.Plan, error) {
	agent, err := o.planner(ctx, ref)
	if err == nil {
		err = req.Check()
	}
	if err != nil {
		return cw.Plan{}, err
	}
	actor := cw.ActorOf(ctx)
	_, plan, _, err := o.Store.ChangePlan(ctx, cw.PlanChange{
		AgentID: agent.ID, RunID: actor.RunID, Title: req.Title, Steps: req.NewSteps(), Source: cw.PlanTool, By: actor,
	})
	return plan, err
}

// MoveStep implements cw.PlanService.
func (o *Orchestrator) MoveStep(ctx context.Context, ref, step string, req cw.StepRequest) (cw.Plan, error) {
	agent, err := o.planner(ctx, ref)
	if err != nil {
		return cw.Plan{}, err
	}
	actor := cw.ActorOf(ctx)
	plan, changed, err := o.Store.MovePlanStep(ctx, cw.StepMove{AgentID: agent.ID, RunID: actor.RunID, Step: step, Status: req.Status})
	if err != nil || !changed {
		return plan, err
	}
	for _, s := range plan.Steps {
		if s.ID == step {
			o.tellStep(agent, plan, s, actor)
		}
	}
	return plan, nil
}

// planner gives the agent, when it is the caller: nobody else keeps its plan.
func (o *Orchestrator) planner(ctx context.Context, ref string) (cw.Agent, error) {
	agent, err := o.Store.AgentByRef(ctx, ref)
	if err != nil {
		return agent, err
	}
	return agent, cw.MayPlan(cw.ActorOf(ctx), agent)
}

// tellStep tells those who follow that a step moved.
func (o *Orchestrator) tellStep(agent cw.Agent, p cw.Plan, s cw.PlanStep, by cw.Actor) {
	if event, moved, told := p.StepMoved(agent.Alias, s); told {
		o.Publish(cw.NewEvent(event, by, moved).About(agent.ID, p.RunID).In(agent.InitiativeID))
	}
}

// nativePlan is the CLI's own list as its output last told it.
type nativePlan struct {
	steps  []cw.PlanStep
	at     time.Time // when it was written; zero while it is read for the first time
	stored bool      // it is in the agent's plan, as far as it may be
}

// after is the list after more output. What a sub-agent keeps is its own.
func (n nativePlan) after(events []cw.StreamEvent, at time.Time) nativePlan {
	for _, ev := range events {
		if ev.Kind == cw.StreamPlan && ev.ParentToolUseID == "" && len(ev.Steps) > 0 {
			n = nativePlan{steps: ev.Steps, at: at}
		}
	}
	return n
}

// notePlan keeps in mind what a piece of new output says of the list.
func (f *follower) notePlan(events []cw.StreamEvent) { f.plan = f.plan.after(events, time.Time{}) }

// keepPlan stores the list that the output told, once for all that was read at a
// time. What cannot be stored now is stored with the next output.
func (f *follower) keepPlan(ctx context.Context) {
	if f.plan.stored || len(f.plan.steps) == 0 {
		return
	}
	agent, by := f.state.Agent, cw.Actor{Kind: cw.ActorCW}
	before, after, turn, err := f.o.Store.ChangePlan(ctx, cw.PlanChange{
		AgentID: agent.ID, RunID: f.state.Run.ID, Title: nativeTitle(agent), Steps: f.plan.steps,
		Source: cw.PlanNative, By: by, ReadAt: f.plan.at,
	})
	if err != nil {
		if ctx.Err() == nil {
			f.o.Log.Warn("keep the CLI's list of steps", "agent", agent.Alias, "error", err)
		}
		return
	}
	f.plan.stored = true
	if turn == cw.PlanMoved {
		for _, s := range before.MovesTo(after) {
			f.o.tellStep(agent, after, s, by)
		}
	}
}

// recallPlan tells the reading the list that the session had when it was left:
// some CLIs tell only what changes in it.
func (f *follower) recallPlan(ctx context.Context) error {
	if f.state.Run.Fresh || f.state.Run.Reason == cw.RunSpawn {
		return nil
	}
	plan, found, err := f.o.Store.PlanOf(ctx, f.state.Agent.ID)
	if err == nil && found && plan.Source == cw.PlanNative {
		f.reading.RecallPlan(plan.Steps)
	}
	return err
}

// nativeTitle names a list that has no title of its own after what the agent is
// to do.
func nativeTitle(a cw.Agent) string {
	if title := cut(a.Title, cw.PlanTitleMax-1); title != "" {
		return title
	}
	return "its task"
}

const (
	// planShown is how many steps of a plan a prompt lists with those that are over,
	// and planTitleShown how much of a title, in characters.
	planShown      = 30
	planTitleShown = 160
)

// planText reminds an agent of the plan that it has not finished, "" without one.
// It is rendered when a run starts: the plan as it is then.
func (o *Orchestrator) planText(ctx context.Context, agent cw.AgentID) (string, error) {
	plan, _, err := o.Store.PlanOf(ctx, agent)
	if err != nil || !plan.Open() {
		return "", err
	}
	in := prompts.PlanInput{Title: cut(plan.Title, planTitleShown), Done: plan.Done(), Of: len(plan.Steps), Native: plan.Source == cw.PlanNative}
	for _, s := range plan.Steps {
		over := s.Status == cw.StepCompleted || s.Status == cw.StepSkipped
		if over && len(plan.Steps) > planShown {
			in.Left++
			continue
		}
		in.Steps = append(in.Steps, prompts.PlanStep{ID: s.ID, Status: string(s.Status), Title: cut(s.Title, planTitleShown)})
	}
	return prompts.Plan(in), nil
}
