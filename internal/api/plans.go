package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type setPlan struct {
	ID   string `path:"id" doc:"name or id of the agent"`
	Body cw.PlanRequest
}

type moveStep struct {
	ID   string `path:"id" doc:"name or id of the agent"`
	Step string `path:"step" doc:"id of the step: step-0, step-1, …"`
	Body cw.StepRequest
}

func registerPlans(s *Server) {
	services := s.opts.Services
	handle(s, "get-plan", func(ctx context.Context, in *agentRef) (cw.Plan, error) {
		return services.Plan(ctx, in.ID)
	})
	handle(s, "set-plan", func(ctx context.Context, in *setPlan) (cw.Plan, error) {
		return services.SetPlan(ctx, in.ID, in.Body)
	})
	handle(s, "move-plan-step", func(ctx context.Context, in *moveStep) (cw.Plan, error) {
		return services.MoveStep(ctx, in.ID, in.Step, in.Body)
	})
}

// Plan implements cw.PlanService.
func (c *Client) Plan(ctx context.Context, ref string) (cw.Plan, error) {
	return call[cw.Plan](ctx, c, request{method: http.MethodGet, path: agentPath(ref) + "/plan"})
}

// SetPlan implements cw.PlanService.
func (c *Client) SetPlan(ctx context.Context, ref string, req cw.PlanRequest) (cw.Plan, error) {
	return call[cw.Plan](ctx, c, request{method: http.MethodPost, path: agentPath(ref) + "/plan", body: req})
}

// MoveStep implements cw.PlanService.
func (c *Client) MoveStep(ctx context.Context, ref, step string, req cw.StepRequest) (cw.Plan, error) {
	return call[cw.Plan](ctx, c, request{method: http.MethodPost, path: agentPath(ref) + "/plan/steps/" + segment(step), body: req})
}
