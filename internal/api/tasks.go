package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type taskRef struct {
	ID string `path:"task" doc:"the task's id"`
}

// TaskStatusParam selects tasks. Its name is exported because huma reads only
// what reflection may.
type TaskStatusParam struct {
	Status []string `query:"status" doc:"only tasks with one of these statuses, separated by commas"`
}

func (p TaskStatusParam) statuses() []cw.TaskStatus {
	var out []cw.TaskStatus
	for _, status := range p.Status {
		out = append(out, cw.TaskStatus(status))
	}
	return out
}

type listTasks struct {
	TaskStatusParam

	Initiative string `query:"initiative" doc:"the tasks of this initiative: its id or slug"`
	Phase      string `query:"phase" doc:"only tasks of the phase with this id"`
}

type listInitiativeTasks struct {
	TaskStatusParam

	Ref string `path:"initiative" doc:"id or slug"`
}

type createTask struct {
	Body cw.CreateTaskRequest
}

type editTask struct {
	ID   string `path:"task" doc:"the task's id"`
	Body cw.TaskEdit
}

func registerTasks(s *Server) {
	services := s.opts.Services
	list := func(ctx context.Context, f cw.TaskFilter) (cw.Page[cw.Task], error) {
		if err := f.Check(); err != nil {
			return cw.Page[cw.Task]{}, err
		}
		tasks, err := services.Tasks(ctx, f)
		return cw.Page[cw.Task]{Items: orEmpty(tasks)}, err
	}
	// A list has one form everywhere, so these are a page, too.
	handle(s, "list-tasks", func(ctx context.Context, in *listTasks) (cw.Page[cw.Task], error) {
		return list(ctx, cw.TaskFilter{Initiative: in.Initiative, PhaseID: cw.PhaseID(in.Phase), Statuses: in.statuses()})
	})
	handle(s, "list-initiative-tasks", func(ctx context.Context, in *listInitiativeTasks) (cw.Page[cw.Task], error) {
		return list(ctx, cw.TaskFilter{Initiative: in.Ref, Statuses: in.statuses()})
	})
	handle(s, "create-task", func(ctx context.Context, in *createTask) (cw.Task, error) {
		return services.CreateTask(ctx, in.Body)
	})
	handle(s, "get-task", func(ctx context.Context, in *taskRef) (cw.Task, error) {
		return services.Task(ctx, cw.TaskID(in.ID))
	})
	handle(s, "edit-task", func(ctx context.Context, in *editTask) (cw.Task, error) {
		return services.EditTask(ctx, cw.TaskID(in.ID), in.Body)
	})
}

func taskPath(id cw.TaskID) string { return "/v1/tasks/" + segment(string(id)) }

// CreateTask implements cw.TaskService.
func (c *Client) CreateTask(ctx context.Context, req cw.CreateTaskRequest) (cw.Task, error) {
	return call[cw.Task](ctx, c, request{method: http.MethodPost, path: "/v1/tasks", body: req})
}

// Tasks implements cw.TaskService. The tasks of an initiative have a path of
// their own, which agents of it may use.
func (c *Client) Tasks(ctx context.Context, f cw.TaskFilter) ([]cw.Task, error) {
	if err := f.Check(); err != nil { // an empty initiative would be another path
		return nil, err
	}
	q := query{}
	path := "/v1/tasks"
	if f.PhaseID == "" {
		path = initiativePath(f.Initiative, "/tasks")
	} else {
		q.text("initiative", f.Initiative)
		q.text("phase", string(f.PhaseID))
	}
	q.list("status", texts(f.Statuses))
	page, err := call[cw.Page[cw.Task]](ctx, c, request{method: http.MethodGet, path: path, query: q})
	return page.Items, err
}

// Task implements cw.TaskService.
func (c *Client) Task(ctx context.Context, id cw.TaskID) (cw.Task, error) {
	return call[cw.Task](ctx, c, request{method: http.MethodGet, path: taskPath(id)})
}

// EditTask implements cw.TaskService.
func (c *Client) EditTask(ctx context.Context, id cw.TaskID, e cw.TaskEdit) (cw.Task, error) {
	return call[cw.Task](ctx, c, request{method: http.MethodPost, path: taskPath(id), body: e})
}
