package api

import (
	"net/http"
	"slices"

	"cw/internal/cw"
)

// Route is one row of the table of rights. A route without a row cannot be
// registered, so a right is always granted by a line that somebody wrote.
type Route struct {
	Method  string
	Path    string // pattern of the standard mux
	ID      string // operation id, unique
	Summary string // for the API document
	// Scope is what an agent's token needs. "" means people only.
	Scope cw.Scope
	// Self means that an agent may only name itself as {id}.
	Self bool
	// Dashboard is what a dashboard's token needs. "" means never over TCP.
	Dashboard cw.Scope
}

// Pattern is the route as the standard mux writes it: "GET /v1/status".
func (r Route) Pattern() string { return r.Method + " " + r.Path }

// peopleOnly is the scope of routes that no agent may use.
const peopleOnly cw.Scope = ""

// Routes is the one table of routes and rights. Everything an agent is not
// granted here is denied to it.
func Routes() []Route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	const read, operate, never = cw.ScopeRead, cw.ScopeOperate, cw.Scope("")
	return []Route{
		{get, "/v1/status", "get-status", "How the daemon is", peopleOnly, false, read},
		{post, "/v1/shutdown", "shut-down", "Ask the daemon to end; agents run on", peopleOnly, false, never},
		{get, "/v1/whoami", "get-whoami", "Who the daemon takes the caller for", cw.ScopeReadSelf, false, read},

		{get, "/v1/projects", "list-projects", "All projects, by name", peopleOnly, false, read},
		{post, "/v1/projects", "add-project", "Register a git repository", peopleOnly, false, operate},
		{get, "/v1/projects/{ref}", "get-project", "One project by id, name or path", peopleOnly, false, read},
		{del, "/v1/projects/{ref}", "remove-project", "Forget a project that no agent uses", peopleOnly, false, operate},

		{get, "/v1/agents", "list-agents", "Agents, newest first", cw.ScopePeers, false, read},
		{post, "/v1/agents", "spawn-agent", "Make an agent and start it", peopleOnly, false, operate},
		{get, "/v1/agents/{id}", "get-agent", "One agent by name or id", cw.ScopeReadSelf, true, read},
		{post, "/v1/agents/{id}/stop", "stop-agent", "End an agent's processes", peopleOnly, false, operate},
		{get, "/v1/agents/{id}/diff", "get-agent-diff", "What an agent changed", cw.ScopeReadSelf, true, read},
		{get, "/v1/agents/{id}/output", "get-agent-output", "An agent's output, stored and live", cw.ScopeReadSelf, true, read},

		{get, "/v1/tokens", "list-tokens", "Tokens of dashboards, newest first", peopleOnly, false, never},
		{post, "/v1/tokens", "create-token", "Make a token for a dashboard", peopleOnly, false, never},
		{del, "/v1/tokens/{ref}", "revoke-token", "End a token", peopleOnly, false, never},

		{get, "/v1/events", "get-events", "What happened, stored and live", peopleOnly, false, read},
	}
}

// mayCall decides on the table alone: nil, or why not. Whether an agent named
// itself is asked separately, because it may need a look-up.
func (r Route) mayCall(actor cw.Actor, scopes []cw.Scope) error {
	switch {
	case actor.Kind == cw.ActorPerson:
		return nil
	case actor.Kind == cw.ActorAgent && r.Scope != peopleOnly && slices.Contains(scopes, r.Scope):
		return nil
	}
	return r.forbidden(actor)
}

func (r Route) forbidden(actor cw.Actor) error {
	if actor.Kind == cw.ActorAgent {
		return cw.Errorf(cw.CodeForbidden, "an agent may not do this (%s)", r.ID).
			WithHint("only a person outside of an agent's run may; an agent may read itself, its output and its diff")
	}
	return cw.Errorf(cw.CodeForbidden, "the caller may not do this (%s)", r.ID)
}
