package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"cw/internal/cw"
)

// routeTools names for routes that agents reach by a tool which tools these are,
// by operation id. A run that was left none of them may not use the route
// either, with the tool or without. Reading what a run belongs to is not among
// them: that is a run's own right, with task_context or without.
func routeTools() map[string][]string {
	return map[string][]string{
		"ask-people":    {cw.ToolAskUser},
		"await-answers": {cw.ToolAskUser},

		"set-plan":       {cw.ToolPlanCreate},
		"move-plan-step": {cw.ToolPlanUpdate},

		"list-agents":         {cw.ToolAgentsList},
		"message-agent":       {cw.ToolAgentsMessage},
		"await-agent-message": {cw.ToolAgentsMessage},

		"ask-agent":                  {cw.ToolAskAgent},
		"await-conversation":         {cw.ToolAskAgent},
		"get-conversation":           {cw.ToolAskAgent, cw.ToolListen, cw.ToolAnswer},
		"list-pending-conversations": {cw.ToolListen},
		"answer-conversation":        {cw.ToolAnswer},
	}
}

// mayUse decides whether an agent with these tools may use the route.
func (r Route) mayUse(tools []string) error {
	needed := routeTools()[r.ID]
	if len(needed) == 0 || slices.ContainsFunc(needed, func(tool string) bool { return slices.Contains(tools, tool) }) {
		return nil
	}
	return cw.Errorf(cw.CodeForbidden, "this run may not use %s (%s)", strings.Join(needed, ", "), r.ID).
		WithHint("its rights were cut when it was started; go on without")
}

func registerTools(s *Server) {
	services := s.opts.Services
	handle(s, "get-toolbox", func(ctx context.Context, _ *nothing) (cw.Toolbox, error) {
		box, err := services.Toolbox(ctx)
		box.Tools = orEmpty(box.Tools)
		return box, err
	})
}

// Toolbox implements cw.ToolService.
func (c *Client) Toolbox(ctx context.Context) (cw.Toolbox, error) {
	return call[cw.Toolbox](ctx, c, request{method: http.MethodGet, path: "/v1/tools"})
}
