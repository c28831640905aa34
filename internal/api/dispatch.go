package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type dispatchOf struct {
	Initiative string `query:"initiative" doc:"only what belongs to this initiative: its id or slug"`
}

type setDispatch struct {
	Body cw.DispatchRequest
}

type decideTask struct {
	ID   string `path:"task" doc:"the task's id"`
	Body cw.TaskVerdict
}

func registerDispatch(s *Server) {
	services := s.opts.Services
	handle(s, "get-dispatch", func(ctx context.Context, in *dispatchOf) (cw.DispatchStatus, error) {
		return wholeDispatch(services.Dispatch(ctx, in.Initiative))
	})
	handle(s, "get-dispatch-plan", func(ctx context.Context, in *initiativeRef) (cw.DispatchPlan, error) {
		plan, err := services.DispatchPlan(ctx, in.Ref)
		plan.Steps, plan.Waiting = orEmpty(plan.Steps), orEmpty(plan.Waiting)
		return plan, err
	})
	handle(s, "set-dispatch", func(ctx context.Context, in *setDispatch) (cw.DispatchStatus, error) {
		if err := in.Body.Check(); err != nil {
			return cw.DispatchStatus{}, err
		}
		return wholeDispatch(services.SetDispatch(ctx, in.Body))
	})
	handle(s, "retry-task", func(ctx context.Context, in *taskRef) (cw.Task, error) {
		return services.RetryTask(ctx, cw.TaskID(in.ID))
	})
	handle(s, "decide-task", func(ctx context.Context, in *decideTask) (cw.Task, error) {
		if err := in.Body.Check(); err != nil {
			return cw.Task{}, err
		}
		return services.DecideTask(ctx, cw.TaskID(in.ID), in.Body)
	})
}

// wholeDispatch lets no list of an answer be null.
func wholeDispatch(status cw.DispatchStatus, err error) (cw.DispatchStatus, error) {
	status.Running, status.Ready, status.Waiting = orEmpty(status.Running), orEmpty(status.Ready), orEmpty(status.Waiting)
	status.Merges = wholeMerges(status.Merges)
	return status, err
}

// Dispatch implements cw.DispatchService.
func (c *Client) Dispatch(ctx context.Context, initiative string) (cw.DispatchStatus, error) {
	q := query{}
	q.text("initiative", initiative)
	return call[cw.DispatchStatus](ctx, c, request{method: http.MethodGet, path: "/v1/dispatch", query: q})
}

// DispatchPlan implements cw.DispatchService.
func (c *Client) DispatchPlan(ctx context.Context, initiative string) (cw.DispatchPlan, error) {
	return call[cw.DispatchPlan](ctx, c, request{method: http.MethodGet, path: initiativePath(initiative, "/dispatch-plan")})
}

// SetDispatch implements cw.DispatchService.
func (c *Client) SetDispatch(ctx context.Context, req cw.DispatchRequest) (cw.DispatchStatus, error) {
	return call[cw.DispatchStatus](ctx, c, request{method: http.MethodPost, path: "/v1/dispatch", body: req})
}

// RetryTask implements cw.DispatchService.
func (c *Client) RetryTask(ctx context.Context, id cw.TaskID) (cw.Task, error) {
	return call[cw.Task](ctx, c, request{method: http.MethodPost, path: taskPath(id) + "/retry"})
}

// DecideTask implements cw.DispatchService.
func (c *Client) DecideTask(ctx context.Context, id cw.TaskID, v cw.TaskVerdict) (cw.Task, error) {
	return call[cw.Task](ctx, c, request{method: http.MethodPost, path: taskPath(id) + "/verdict", body: v})
}
