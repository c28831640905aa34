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
	// Dashboard is what a dashboard's token needs. "" means never over TCP, Anyone
	// that not even a token is needed there, and OwnPage that the dashboard's own
	// page needs none.
	Dashboard cw.Scope
}

// Anyone is the scope of routes that need no token over TCP. It is granted to
// no token.
const Anyone cw.Scope = "anyone"

// OwnPage is the scope of routes that the page of cw open calls before it has
// a token. It is granted to no token.
const OwnPage cw.Scope = "own-page"

// never is the scope of routes that are not to be had over TCP.
const never cw.Scope = ""

// open tells whether no token is needed over TCP.
func (r Route) open() bool { return r.Dashboard == Anyone }

// tokenless tells whether a token is not looked at over TCP.
func (r Route) tokenless() bool { return r.open() || r.Dashboard == OwnPage }

// Pattern is the route as the standard mux writes it: "GET /v1/status".
func (r Route) Pattern() string { return r.Method + " " + r.Path }

// bodyMax is how many bytes a body of the route may have; 0: none is taken. A
// stream would hold one for as long as it is open.
func (r Route) bodyMax() int64 {
	switch {
	case r.Method != http.MethodPost:
		return 0
	case r.Dashboard == OwnPage:
		return porchBody
	case slices.Contains([]string{
		"spawn-agent", "resume-agent", "send-message", "message-agent", "answer-questions", "ask-agent", "answer-conversation",
		"create-initiative", "edit-initiative",
		"create-page", "edit-page", "edit-page-document", "create-phase", "edit-phase", "create-task", "edit-task", "decide-task",
		"render-prompt", "ask-people", "set-plan", "create-pull-request",
	}, r.ID):
		return BodyMax // they carry texts for agents
	}
	return bodyShort
}

// peopleOnly is the scope of routes that no agent may use.
const peopleOnly cw.Scope = ""

// Routes is the one table of routes and rights. Everything an agent is not
// granted here is denied to it.
func Routes() []Route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	const read, operate, person = cw.ScopeRead, cw.ScopeOperate, cw.ScopePerson
	return []Route{
		{get, "/v1/status", "get-status", "How the daemon is", peopleOnly, false, read},
		{post, "/v1/shutdown", "shut-down", "Ask the daemon to end; agents run on", peopleOnly, false, never},
		{get, "/v1/whoami", "get-whoami", "Who the daemon takes the caller for", cw.ScopeReadSelf, false, read},

		{get, "/v1/projects", "list-projects", "All projects, by name", peopleOnly, false, read},
		{post, "/v1/projects", "add-project", "Register a git repository", peopleOnly, false, operate},
		{get, "/v1/projects/{ref}", "get-project", "One project by id, name, path or URL", peopleOnly, false, read},
		{post, "/v1/projects/{ref}/settings", "set-project", "Change policies of a project", peopleOnly, false, operate},
		{get, "/v1/projects/{ref}/file", "get-project-file", "A project's cw.yaml, and whether it is trusted", peopleOnly, false, read},
		{post, "/v1/projects/{ref}/trust", "trust-project", "Trust a content of a project's cw.yaml", peopleOnly, false, person},
		{del, "/v1/projects/{ref}", "remove-project", "Forget a project that no agent uses", peopleOnly, false, operate},

		{get, "/v1/agents", "list-agents", "Agents, newest first", cw.ScopePeers, false, read},
		{post, "/v1/agents", "spawn-agent", "Make an agent and start it", cw.ScopeSpawn, false, operate},
		{get, "/v1/agents/{id}", "get-agent", "One agent by name or id", cw.ScopeReadSelf, true, read},
		{post, "/v1/agents/{id}/stop", "stop-agent", "End an agent's processes", peopleOnly, false, operate},
		{post, "/v1/agents/{id}/resume", "resume-agent", "Start another run of an agent at rest", peopleOnly, false, operate},
		{post, "/v1/agents/{id}/remove", "remove-agent", "Put an agent's places into the trash", peopleOnly, false, operate},
		{post, "/v1/agents/{id}/restore", "restore-agent", "Bring a removed agent back", peopleOnly, false, operate},
		{post, "/v1/agents/{id}/worktree", "open-worktree", "Bring an agent's worktree back for a person, and keep it for a while", peopleOnly, false, operate},
		{get, "/v1/agents/{id}/messages", "list-messages", "Texts to and from an agent, oldest first", peopleOnly, false, read},
		{post, "/v1/agents/{id}/messages", "send-message", "Tell an agent something", peopleOnly, false, operate},
		{get, "/v1/agents/{id}/diff", "get-agent-diff", "What an agent changed", cw.ScopeReadSelf, true, read},
		{get, "/v1/agents/{id}/plan", "get-plan", "An agent's own plan", cw.ScopeReadSelf, true, read},
		{post, "/v1/agents/{id}/plan", "set-plan", "Make or revise one's own plan", cw.ScopePlan, true, never},
		{post, "/v1/agents/{id}/plan/steps/{step}", "move-plan-step", "Move a step of one's own plan", cw.ScopePlan, true, never},
		{get, "/v1/agents/{id}/output", "get-agent-output", "An agent's output, stored and live", cw.ScopeReadSelf, true, read},
		{get, "/v1/agents/{id}/output/page", "get-agent-output-page", "A piece of an agent's stored output, from its end on", cw.ScopeReadSelf, true, read},

		{post, "/v1/agent-messages", "message-agent", "Give another agent a text to work on", cw.ScopeMessage, false, never},
		{get, "/v1/agent-messages/{response}/response", "await-agent-message", "The response to a text, once there is one", cw.ScopeMessage, false, read},

		{get, "/v1/questions", "list-questions", "Questions of agents to people, oldest first", peopleOnly, false, read},
		{get, "/v1/questions/{id}", "get-question", "One question", peopleOnly, false, read},
		{post, "/v1/questions", "ask-people", "Ask people, for a call that waits", cw.ScopeQuestion, false, never},
		{get, "/v1/questions/requests/{request}/answers", "await-answers", "Wait until questions asked at once are closed", cw.ScopeQuestion, false, read},
		{post, "/v1/answers", "answer-questions", "Answer questions, all or none", peopleOnly, false, operate},

		{get, "/v1/tools", "get-toolbox", "Which tools the calling agent may be offered", cw.ScopeReadSelf, false, never},
		{get, "/v1/conversations", "list-conversations", "Questions of agents to each other, newest first", peopleOnly, false, read},
		{post, "/v1/conversations", "ask-agent", "Ask another agent", cw.ScopeMessage, false, never},
		{get, "/v1/conversations/{conversation}", "get-conversation", "One question of an agent to another one", cw.ScopeMessage, false, read},
		{get, "/v1/conversations/{conversation}/answer", "await-conversation", "The answer of another agent, once it is there", cw.ScopeMessage, false, read},
		{post, "/v1/conversations/{conversation}/answer", "answer-conversation", "Answer another agent", cw.ScopeMessage, false, never},
		{get, "/v1/agents/{id}/conversations/pending", "list-pending-conversations", "What other agents ask an agent, stored and live", cw.ScopeMessage, true, never},

		{get, "/v1/initiatives", "list-initiatives", "Initiatives, newest first", peopleOnly, false, read},
		{post, "/v1/initiatives", "create-initiative", "Make an initiative and its first page", peopleOnly, false, operate},
		{get, "/v1/initiatives/{initiative}", "get-initiative", "One initiative with everything that belongs to it", cw.ScopeReadSelf, false, read},
		{post, "/v1/initiatives/{initiative}", "edit-initiative", "Change or archive an initiative", peopleOnly, false, operate},
		{post, "/v1/initiatives/{initiative}/pull-request", "create-pull-request", "Push the branch of an initiative and open a pull request for it", peopleOnly, false, person},
		{get, "/v1/initiatives/{initiative}/pages", "list-pages", "Pages of an initiative, in the order of the tree", cw.ScopeReadSelf, false, read},
		{post, "/v1/initiatives/{initiative}/pages", "create-page", "Make a page", peopleOnly, false, operate},
		{get, "/v1/pages/{page}", "get-page", "One page with its text", cw.ScopeReadSelf, false, read},
		{post, "/v1/pages/{page}", "edit-page", "Change or move a page", peopleOnly, false, operate},
		{get, "/v1/pages/{page}/document", "get-page-document", "The text of a page for the Tiptap editor", cw.ScopeReadSelf, false, read},
		{post, "/v1/pages/{page}/document", "edit-page-document", "Change the text of a page by the Tiptap editor", peopleOnly, false, operate},
		{del, "/v1/pages/{page}", "remove-page", "Remove a page that has none below it", peopleOnly, false, operate},
		{get, "/v1/initiatives/{initiative}/phases", "list-phases", "Phases of an initiative, in order", cw.ScopeReadSelf, false, read},
		{post, "/v1/initiatives/{initiative}/phases", "create-phase", "Make a phase", peopleOnly, false, operate},
		{get, "/v1/phases/{phase}", "get-phase", "One phase", cw.ScopeReadSelf, false, read},
		{post, "/v1/phases/{phase}", "edit-phase", "Change, approve or archive a phase", peopleOnly, false, operate},
		{get, "/v1/initiatives/{initiative}/tasks", "list-initiative-tasks", "Tasks of an initiative, in the order of its phases", cw.ScopeReadSelf, false, read},
		{get, "/v1/tasks", "list-tasks", "Tasks of an initiative or a phase", peopleOnly, false, read},
		{post, "/v1/tasks", "create-task", "Make a task", peopleOnly, false, operate},
		{get, "/v1/tasks/{task}", "get-task", "One task", cw.ScopeReadSelf, false, read},
		{post, "/v1/tasks/{task}", "edit-task", "Change, finish or cancel a task", peopleOnly, false, operate},
		{get, "/v1/dispatch", "get-dispatch", "Which tasks run, and why the others wait", peopleOnly, false, read},
		{post, "/v1/dispatch", "set-dispatch", "Pause, drain or go on", peopleOnly, false, operate},
		{get, "/v1/initiatives/{initiative}/dispatch-plan", "get-dispatch-plan", "In which order tasks would be started and merged", peopleOnly, false, read},
		{post, "/v1/tasks/{task}/retry", "retry-task", "Give a task its tries back", peopleOnly, false, operate},
		{post, "/v1/tasks/{task}/verdict", "decide-task", "Say what becomes of a checkpoint", peopleOnly, false, operate},
		{get, "/v1/initiatives/{initiative}/merges", "list-merges", "Work on its way to an initiative's branch, oldest first", peopleOnly, false, read},
		{get, "/v1/initiatives/{initiative}/integrations", "list-integrations", "The branches of an initiative", peopleOnly, false, read},
		{post, "/v1/initiatives/{initiative}/land", "land-initiative", "Bring an initiative's branch into its repositories", peopleOnly, false, person},
		{get, "/v1/tasks/{task}/diff", "get-task-diff", "What the work on a task changes", peopleOnly, false, read},
		{get, "/v1/initiatives/{initiative}/diff", "get-initiative-diff", "What an initiative's branch changes", peopleOnly, false, read},
		{get, "/v1/inbox", "get-inbox", "Everything that waits for a person", peopleOnly, false, read},
		{get, "/v1/proposals", "list-proposals", "Changes that agents suggest, oldest first", peopleOnly, false, read},
		{get, "/v1/proposals/{proposal}", "get-proposal", "One proposal beside what it changes", cw.ScopeReadSelf, false, read},
		{post, "/v1/proposals/accept", "accept-proposals", "Make suggested changes, all or none", peopleOnly, false, operate},
		{post, "/v1/proposals/dismiss", "dismiss-proposals", "Let suggested changes be, all or none", peopleOnly, false, operate},

		{post, "/v1/prompts", "render-prompt", "What an agent would be told", peopleOnly, false, read},

		{get, "/v1/accounts", "list-accounts", "Accounts of providers, with who uses them", peopleOnly, false, read},
		{post, "/v1/accounts", "add-account", "Add an account, with its secret", peopleOnly, false, never},
		{post, "/v1/accounts/discover", "discover-accounts", "Logins that are found on the machine", peopleOnly, false, never},
		{get, "/v1/accounts/{ref}", "get-account", "One account", peopleOnly, false, read},
		{post, "/v1/accounts/{ref}/settings", "set-account", "Change an account", peopleOnly, false, operate},
		{del, "/v1/accounts/{ref}", "remove-account", "Forget an account and its secret", peopleOnly, false, operate},
		{post, "/v1/accounts/{ref}/login", "login-account", "How a person logs in to an account", peopleOnly, false, never},
		{post, "/v1/accounts/{ref}/login/finish", "finish-login", "Take over what a login left behind", peopleOnly, false, never},
		{post, "/v1/accounts/{ref}/usage", "get-account-usage", "Ask how far an account's windows are used", peopleOnly, false, operate},
		{post, "/v1/accounts/{ref}/test", "test-account", "Try an account's credentials", peopleOnly, false, operate},

		{get, "/v1/providers", "list-providers", "Providers, and which of their programs are installed", peopleOnly, false, read},
		{get, "/v1/providers/{ref}", "get-provider", "One provider", peopleOnly, false, read},

		{get, "/v1/costs", "get-costs", "Sums of what runs cost", peopleOnly, false, read},
		{get, "/v1/budgets", "list-budgets", "Hard limits of cost, with what is spent", peopleOnly, false, read},
		{post, "/v1/budgets", "set-budget", "Set or take away a hard limit of cost", peopleOnly, false, operate},

		{get, "/v1/tokens", "list-tokens", "Tokens of dashboards and sessions of browsers, newest first", peopleOnly, false, person},
		{post, "/v1/tokens", "create-token", "Make a token for a dashboard", peopleOnly, false, never},
		{del, "/v1/tokens/{ref}", "revoke-token", "End a token", peopleOnly, false, person},
		{post, "/v1/open", "open-dashboard", "Let a browser in", peopleOnly, false, never},
		{post, "/v1/sessions", "start-session", "Turn the code of cw open into a session", peopleOnly, false, OwnPage},
		{get, "/v1/sessions/{id}/proof", "prove-session", "Show that this is the daemon of a session", peopleOnly, false, Anyone},
		{del, "/v1/sessions/self", "end-session", "End the session of the caller", peopleOnly, false, person},

		{get, "/v1/events", "get-events", "What happened, stored and live", peopleOnly, false, read},
		{get, "/v1/events/log", "list-event-log", "What happened, newest first, in pages", peopleOnly, false, read},
		{post, "/v1/stream-tickets", "create-stream-ticket", "Make a ticket that opens one stream in place of a token", peopleOnly, false, read},
		{get, "/v1/openapi.json", "get-openapi", "The description of this API (OpenAPI 3.1)", peopleOnly, false, read},

		{get, "/v1/config", "get-config", "Settings of the daemon", peopleOnly, false, person},
		{post, "/v1/gc", "collect-garbage", "Free what is kept no longer", peopleOnly, false, never},
		{post, "/v1/backup", "make-backup", "Copy the databases", peopleOnly, false, never},
		{post, "/v1/hooks/test", "try-hooks", "Send a notification by every hook, and tell what became of it", peopleOnly, false, person},
		{get, "/healthz", "get-health", "Whether a daemon answers", peopleOnly, false, Anyone},
		{get, "/metrics", "get-metrics", "Figures for Prometheus, when they are switched on", peopleOnly, false, read},
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
	case actor.Kind == cw.ActorDashboard && r.Dashboard != never && covers(scopes, r.Dashboard):
		return nil
	case actor.Kind == nobody && r.tokenless():
		return nil
	}
	return r.forbidden(actor)
}

// covers tells whether a dashboard's rights include one: who is a person may
// also operate, and who may operate also read.
func covers(scopes []cw.Scope, needed cw.Scope) bool {
	ladder := []cw.Scope{cw.ScopeRead, cw.ScopeOperate, cw.ScopePerson}
	for i, step := range ladder {
		if step == needed {
			return slices.ContainsFunc(ladder[i:], func(s cw.Scope) bool { return slices.Contains(scopes, s) })
		}
	}
	return slices.Contains(scopes, needed)
}

func (r Route) forbidden(actor cw.Actor) error {
	if actor.Kind == cw.ActorAgent {
		return cw.Errorf(cw.CodeForbidden, "an agent may not do this (%s)", r.ID).
			WithHint("only a person outside of an agent's run may; an agent may read itself, its output, its diff and what belongs to its initiative, and ask and answer other agents")
	}
	if actor.Kind == cw.ActorDashboard && r.Dashboard == never {
		return cw.Errorf(cw.CodeForbidden, "this cannot be done over TCP (%s)", r.ID).
			WithHint("use cw on this machine: it calls over the daemon's socket")
	}
	if actor.Kind == cw.ActorDashboard && r.Dashboard == cw.ScopePerson {
		return cw.Errorf(cw.CodeForbidden, "this needs a session of a person (%s)", r.ID).
			WithHint("cw open shows the dashboard in your browser; cw on this machine does it too")
	}
	if actor.Kind == cw.ActorDashboard {
		return cw.Errorf(cw.CodeForbidden, "this needs a token with the scope %s (%s)", r.Dashboard, r.ID).
			WithHint("cw token create makes one; see its --help for scopes")
	}
	return cw.Errorf(cw.CodeForbidden, "the caller may not do this (%s)", r.ID)
}
