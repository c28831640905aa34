package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// behind are the routes that agents reach by tools, and the tools of which one
// must be left.
func behind() map[string][]string {
	return map[string][]string{
		"ask-people": {"ask_user_question"}, "await-answers": {"ask_user_question"},
		"set-plan": {"plan_create"}, "move-plan-step": {"plan_update"},
		"list-agents": {"agents_list"}, "message-agent": {"agents_message"}, "await-agent-message": {"agents_message"},
		"ask-agent": {"ask_agent"}, "await-conversation": {"ask_agent"},
		"get-conversation":           {"ask_agent", "listen", "answer"},
		"list-pending-conversations": {"listen"}, "answer-conversation": {"answer"},
	}
}

// TestDeniedTools: a run that was denied a tool may not use the routes behind it
// either, and every other one as before. Tool by tool, route by route.
func TestDeniedTools(t *testing.T) {
	t.Parallel()
	for _, right := range cw.ToolRights() {
		d := startDaemon(t, func(o *api.Options) {
			o.Rights = func(context.Context, cw.Actor) (cw.Rights, error) {
				return cw.Rights{Scopes: cw.RunScopes(), ToolsDeny: []string{right.Tool}}, nil
			}
		})
		deniedRoutes(t, d, []string{right.Tool})
	}
	d := startDaemon(t, func(o *api.Options) {
		o.Rights = func(context.Context, cw.Actor) (cw.Rights, error) {
			return cw.Rights{Scopes: cw.RunScopes(), ToolsDeny: []string{"ask_agent", "listen", "answer"}}, nil
		}
	})
	deniedRoutes(t, d, []string{"ask_agent", "listen", "answer"})
}

// deniedRoutes tries every route of agents as a run that is denied these tools.
func deniedRoutes(t *testing.T, d *daemon, denied []string) {
	t.Helper()
	header := map[string]string{"Authorization": "Bearer " + tokenSelf}
	for _, row := range api.Routes() {
		if row.Scope == "" {
			continue
		}
		needed := behind()[row.ID]
		closed := len(needed) > 0 && !slices.ContainsFunc(needed, func(tool string) bool { return !slices.Contains(denied, tool) })
		if !closed && slices.Contains([]string{"list-pending-conversations", "get-agent-output", "await-agent-message", "await-answers"}, row.ID) {
			continue // it would wait
		}
		got := send(t, d, row.Method, target(row, string(d.agent(t, servicetest.PreparedAgent))), bodyFor(row), header)
		refused := got.status == http.StatusForbidden && strings.Contains(got.err.Message, "this run may not use")
		if refused != closed {
			t.Errorf("without %v, %s: %s", denied, row.ID, got)
		}
	}
}
