package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type agentRef struct {
	ID string `path:"id" doc:"name or id"`
}

type listAgents struct {
	PageParams

	Status     []string `query:"status" doc:"only agents with one of these statuses, separated by commas"`
	Project    string   `query:"project" doc:"only agents that work in this project: its id, name, path or URL"`
	Provider   string   `query:"provider" doc:"only agents of this provider"`
	Initiative string   `query:"initiative" doc:"only agents of this initiative: its id or slug"`
	Removed    bool     `query:"removed" doc:"only agents that were removed, instead of those that are there"`
}

func (in *listAgents) filter() cw.AgentFilter {
	f := cw.AgentFilter{
		PageQuery: in.query(), Project: in.Project, Provider: in.Provider, Initiative: in.Initiative, Removed: in.Removed,
	}
	for _, status := range in.Status {
		f.Statuses = append(f.Statuses, cw.AgentStatus(status))
	}
	return f
}

type spawnAgent struct {
	Body cw.SpawnRequest
}

type stopAgent struct {
	ID   string `path:"id" doc:"name or id"`
	Body *cw.StopRequest
}

type resumeAgent struct {
	ID   string `path:"id" doc:"name or id"`
	Body *cw.ResumeRequest
}

type diffAgent struct {
	DiffParams

	ID       string `path:"id" doc:"name or id"`
	OnlyHere bool   `query:"onlyHere" doc:"tell also what of its work is in its worktree and in cw's copy of the repository alone"`
}

func registerAgents(s *Server) {
	services := s.opts.Services
	handle(s, "list-agents", func(ctx context.Context, in *listAgents) (cw.Page[cw.AgentView], error) {
		page, err := visibleAgents(ctx, services, in.filter())
		page.Items = orEmpty(page.Items)
		return page, err
	})
	handle(s, "spawn-agent", func(ctx context.Context, in *spawnAgent) (cw.AgentView, error) {
		view, err := services.Spawn(ctx, in.Body)
		if err == nil && cw.ActorOf(ctx).Kind == cw.ActorAgent {
			view = view.ForPeer()
		}
		return view, err
	})
	handle(s, "get-agent", func(ctx context.Context, in *agentRef) (cw.AgentView, error) {
		return services.Agent(ctx, in.ID)
	})
	handle(s, "stop-agent", func(ctx context.Context, in *stopAgent) (cw.AgentView, error) {
		return services.Stop(ctx, in.ID, orZero(in.Body))
	})
	handle(s, "resume-agent", func(ctx context.Context, in *resumeAgent) (cw.AgentView, error) {
		return services.Resume(ctx, in.ID, orZero(in.Body))
	})
	handle(s, "remove-agent", func(ctx context.Context, in *agentRef) (cw.AgentView, error) {
		return services.Remove(ctx, in.ID)
	})
	handle(s, "restore-agent", func(ctx context.Context, in *agentRef) (cw.AgentView, error) {
		return services.Restore(ctx, in.ID)
	})
	handle(s, "open-worktree", func(ctx context.Context, in *agentRef) (cw.OpenedWorktree, error) {
		opened, err := services.OpenWorktree(ctx, in.ID)
		opened.Notes = orEmpty(opened.Notes)
		return opened, err
	})
	handle(s, "get-agent-diff", func(ctx context.Context, in *diffAgent) (cw.Diff, error) {
		return wholeDiff(in.ask(func(req cw.DiffRequest) (cw.Diff, error) {
			req.OnlyHere = in.OnlyHere
			return services.Diff(ctx, in.ID, req)
		}))
	})
}

// visibleAgents lists what the caller may see: an agent sees itself and, as far
// as agents see each other, its peers.
func visibleAgents(ctx context.Context, services cw.AgentService, f cw.AgentFilter) (cw.Page[cw.AgentView], error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorAgent {
		return services.Agents(ctx, f)
	}
	if actor.AgentID == "" {
		return cw.Page[cw.AgentView]{}, nil // nobody: an empty filter would be everybody
	}
	f.SeenBy = actor.AgentID
	page, err := services.Agents(ctx, f)
	if (f.Initiative != "" || f.Project != "") && cw.ErrorCode(err) == cw.CodeNotFound {
		return cw.Page[cw.AgentView]{}, nil // an agent does not learn which initiatives and projects there are
	}
	for i, v := range page.Items {
		page.Items[i] = v.ForPeer()
	}
	return page, err
}

// Spawn implements cw.AgentService.
func (c *Client) Spawn(ctx context.Context, req cw.SpawnRequest) (cw.AgentView, error) {
	return call[cw.AgentView](ctx, c, request{method: http.MethodPost, path: "/v1/agents", body: req})
}

// Agents implements cw.AgentService.
func (c *Client) Agents(ctx context.Context, f cw.AgentFilter) (cw.Page[cw.AgentView], error) {
	q := query{}
	q.list("status", texts(f.Statuses))
	q.text("project", f.Project)
	q.text("provider", f.Provider)
	q.text("initiative", f.Initiative)
	q.flag("removed", f.Removed)
	q.page(f.PageQuery)
	return call[cw.Page[cw.AgentView]](ctx, c, request{method: http.MethodGet, path: "/v1/agents", query: q})
}

// Agent implements cw.AgentService.
func (c *Client) Agent(ctx context.Context, ref string) (cw.AgentView, error) {
	return call[cw.AgentView](ctx, c, request{method: http.MethodGet, path: agentPath(ref)})
}

// Stop implements cw.AgentService.
func (c *Client) Stop(ctx context.Context, ref string, req cw.StopRequest) (cw.AgentView, error) {
	return call[cw.AgentView](ctx, c, request{method: http.MethodPost, path: agentPath(ref) + "/stop", body: req})
}

// Resume implements cw.AgentService.
func (c *Client) Resume(ctx context.Context, ref string, req cw.ResumeRequest) (cw.AgentView, error) {
	return call[cw.AgentView](ctx, c, request{method: http.MethodPost, path: agentPath(ref) + "/resume", body: req})
}

// Remove implements cw.AgentService.
func (c *Client) Remove(ctx context.Context, ref string) (cw.AgentView, error) {
	return call[cw.AgentView](ctx, c, request{method: http.MethodPost, path: agentPath(ref) + "/remove"})
}

// Restore implements cw.AgentService.
func (c *Client) Restore(ctx context.Context, ref string) (cw.AgentView, error) {
	return call[cw.AgentView](ctx, c, request{method: http.MethodPost, path: agentPath(ref) + "/restore"})
}

// OpenWorktree implements cw.WorktreeService.
func (c *Client) OpenWorktree(ctx context.Context, ref string) (cw.OpenedWorktree, error) {
	return call[cw.OpenedWorktree](ctx, c, request{method: http.MethodPost, path: agentPath(ref) + "/worktree"})
}

// Diff implements cw.AgentService.
func (c *Client) Diff(ctx context.Context, ref string, req cw.DiffRequest) (cw.Diff, error) {
	return c.diff(ctx, agentPath(ref), req)
}

func agentPath(ref string) string { return "/v1/agents/" + segment(ref) }
