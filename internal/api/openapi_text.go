package api

import (
	"net/http"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
)

// The words of the API's description. Fields have theirs in doc tags.

const aboutAPI = `cw runs coding agents as a team: provider CLIs, headless and detached, each in a git worktree of its own.

Everything is JSON. Lists are pages: ` + "`{items, next}`" + `; ` + "`next`" + ` is the cursor of the page after, and is missing on the last one. What is added or removed meanwhile makes no item come twice or be left out.

Errors are ` + "`{code, message, hint}`" + ` with a status that belongs to the code.

Fields and values may be added within a major version: ignore what you do not know. So does the daemon, except that a parameter or a field that is nearly one of the route's is refused, because the other was meant. The header ` + "`Cw-Api`" + ` of each answer has the version; a request may carry it too, and one of another major version is refused.

The two streams are server-sent events. An item has no event name, so that the onmessage of an EventSource gets all of them.`

const aboutServer = `The door for dashboards. It is closed until http.address is set. The same API is on the unix socket of the daemon (host cw.sock), where the kernel tells who is calling and people need no token.`

const aboutToken = `A dashboard's token: cw token create. It has scopes: read sees everything, operate (which includes read) also spawns, stops and registers. On the socket people need none.`

const aboutTicket = `For EventSource, which can send no header: a ticket of POST /v1/stream-tickets opens one stream within 30 seconds, once.`

const aboutFrames = `A stream of server-sent events. Each item is one frame without a name: ` + "`data`" + ` is one line of JSON, and ` + "`id`" + ` is where the stream goes on when the connection breaks (Last-Event-ID). Named frames: ` + "`end`" + ` (the stream is whole, do not come back), ` + "`failure`" + ` (it failed after its start), ` + "`mark`" + ` (only an id: all before it was sent). Comments are signs of life. A reader that is too slow is cut off and goes on from its last id.`

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "agents", Description: "Start, watch and stop agents, and see what they changed."},
		{Name: "projects", Description: "The git repositories that agents work on."},
		{Name: "events", Description: "What happened and happens, as a stream."},
		{Name: "tokens", Description: "Tokens of dashboards."},
		{Name: "daemon", Description: "The daemon itself."},
	}
}

// operationText says more about a route than its summary.
func operationText(id string) string {
	return map[string]string{
		"get-status":           "How the daemon is: version, places, counts and sizes.",
		"shut-down":            "Asks the daemon to end and answers at once with the status as it was. Agents run on; the next daemon takes them up.",
		"get-whoami":           "Who the daemon takes the caller for.",
		"list-projects":        "One page of the projects, by name unless `sort` says otherwise.",
		"add-project":          "Registers the repository that contains a folder. One that is registered already is answered as it is.",
		"get-project":          "One project by id, name or absolute path.",
		"remove-project":       "Forgets a project and cw's own copy of it. The repository itself is not touched. Refused while agents use it.",
		"list-agents":          "One page of the agents that match all filters, newest first unless `sort` says otherwise.",
		"spawn-agent":          "Makes an agent and starts its first run. It answers when the CLI runs or is known not to start; on an error nothing is left behind. With `requestKey` it may be repeated.",
		"get-agent":            "One agent with its runs, places and open questions.",
		"stop-agent":           "Ends the agent's whole process tree and answers when nothing of it is left. Stopping an agent that does not run changes nothing.",
		"get-agent-diff":       "What the agent changed since its base: commits, and work that is not committed.",
		"get-agent-output":     "Stored output first, then live, without a gap or a double. Closing the connection never stops the agent.",
		"list-tokens":          "One page of the dashboards' tokens, the revoked too, newest first unless `sort` says otherwise.",
		"create-token":         "Makes a token. The answer is the only place where it can be seen.",
		"revoke-token":         "Ends a token by its id or name: the next request with it is refused, and its open streams end.",
		"get-events":           "Events that are kept, from a number on, and with `follow` live ones for ever, without a gap or a double at the seam. A number older than what is kept is answered with 410: read the state anew and go on from its tail.",
		"create-stream-ticket": "Makes a ticket for one stream. It lives 30 seconds, opens one stream once, and may what its maker may.",
		"get-health":           "Whether a daemon answers. It tells nothing else.",
		"get-metrics":          "Figures in the text format of Prometheus, when metrics.enabled is set.",
		"get-openapi":          "This document.",
	}[id]
}

// schemaText says what a component is.
func schemaText(name string) string {
	return map[string]string{
		"Activity":          "what a running agent does now",
		"AddProjectBody":    "the repository to register",
		"AgentActivity":     "payload of agent:activity",
		"AgentCrashed":      "payload of agent:crashed",
		"AgentOutput":       "payload of agent:output: a chunk was stored",
		"AgentRunning":      "payload of agent:running",
		"AgentSpawned":      "payload of agent:spawned",
		"AgentStarting":     "payload of agent:starting",
		"AgentStopped":      "payload of agent:stopped: a run ended well, or a person or a rule ended it",
		"AgentView":         "an agent with everything that belongs to it",
		"AgentWaiting":      "payload of agent:waiting",
		"AgentWarning":      "payload of agent:warning",
		"AgentWorktree":     "an agent's place in one project",
		"Chunk":             "a piece of raw output; the next one of the session begins where it ends",
		"Commit":            "one commit of an agent",
		"ContextUse":        "how full the model's context is",
		"CreatedToken":      "a token at the only time when it can be seen",
		"DaemonStatus":      "how the daemon is",
		"Diff":              "what an agent changed since its base",
		"EndData":           "why a stream is whole",
		"Event":             "something that happened, whatever its type",
		"Health":            "a daemon answers",
		"Limit":             "a usage limit of an account",
		"MirrorRestored":    "payload of mirror:restored",
		"OutputEvent":       "a parsed piece of output with its place",
		"PageAgentView":     "one page of agents",
		"PageProject":       "one page of projects",
		"PageToken":         "one page of tokens",
		"Problem":           "an error: what kind it is, what is wrong, and what to do next",
		"Project":           "a git repository that cw works on",
		"ProjectChanged":    "payload of project:added and project:removed",
		"Question":          "one question of an agent to people",
		"QuestionOption":    "one offered answer",
		"QuestionRequested": "payload of question:requested",
		"Run":               "one process of an agent; session 1 is the spawn",
		"SecurityRefused":   "payload of security:refused",
		"SpawnRequest":      "asks for a new agent",
		"Stat":              "the size of a difference",
		"StopRequest":       "asks for the end of a running agent",
		"StreamEvent":       "what a line of a CLI's output means; only the fields of its kind are there",
		"StreamTicket":      "opens one stream in place of a token",
		"Token":             "a token without its secret",
		"TokenChanged":      "payload of token:created and token:revoked",
		"TokenRequest":      "asks for a dashboard's token",
		"Usage":             "tokens as the provider counts them",
		"Whoami":            "who is calling",
	}[name]
}

// errorExample is one of the errors that all routes share.
type errorExample struct {
	about       string
	problem     problem
	header      string // that such an answer carries
	headerAbout string
}

func errorExamples() map[int]errorExample {
	return map[int]errorExample{
		http.StatusBadRequest: {about: "The request itself is wrong.", problem: problem{
			Code: cw.CodeInvalid, Message: `agents cannot be sorted by "creatdAt"`, Hint: "did you mean createdAt?"}},
		http.StatusUnauthorized: {about: "Nobody is known to be calling: no token, one that is none, or one that was revoked.", problem: problem{
			Code: cw.CodeUnauthorized, Message: "a token is needed", Hint: "make one: cw token create"},
			header: "WWW-Authenticate", headerAbout: "Bearer, over TCP"},
		http.StatusForbidden: {about: "The caller is known and may not, or the page behind the request may not.", problem: problem{
			Code: cw.CodeForbidden, Message: "the token may not do this", Hint: "it needs the scope operate"}},
		http.StatusNotFound: {about: "The named thing does not exist.", problem: problem{
			Code: cw.CodeNotFound, Message: `there is no agent "brave-oter"`, Hint: "did you mean brave-otter? All agents: cw agent list"}},
		http.StatusConflict: {about: "Legal, but not in this state.", problem: problem{
			Code: cw.CodeRefused, Message: "the project is used by brave-otter", Hint: "a project can be removed when no agent uses it"}},
		http.StatusGone: {about: "It existed and is past its retention.", problem: problem{
			Code: cw.CodeGone, Message: "events before 4711 are no longer kept", Hint: "read the state anew, then follow from the tail"}},
		http.StatusUnprocessableEntity: {about: "The act was tried and did not succeed.", problem: problem{
			Code: cw.CodeFailed, Message: "git could not make the worktree", Hint: "cw doctor tells what is wrong"}},
		http.StatusTooManyRequests: {about: "Too many streams are open.", problem: problem{
			Code: cw.CodeTooMany, Message: "too many streams are open", Hint: "close some, then try again"}},
		http.StatusInternalServerError: {about: "A bug or a broken machine. The text is in the log only, under the id in the message.", problem: problem{
			Code: cw.CodeInternal, Message: "internal error (log id k3v7q2mzt5ha)", Hint: "`cw logs` shows what happened under this id"}},
		http.StatusServiceUnavailable: {about: "The daemon is stopping, or speaks another major version of the API.", problem: problem{
			Code: cw.CodeUnreachable, Message: "the daemon is stopping"}},
	}
}

// bodyExample is a request that a reader may start from.
func bodyExample(id string) any {
	switch id {
	case "spawn-agent":
		return cw.SpawnRequest{Goal: "Fix the failing test in parser_test.go", Projects: []string{"shop"}, Provider: "claude"}
	case "add-project":
		return addProjectBody{Path: "/home/me/src/shop"}
	case "create-token":
		return cw.TokenRequest{Name: "wall-screen", Scopes: []cw.Scope{cw.ScopeRead}}
	case "stop-agent":
		return cw.StopRequest{Now: true}
	}
	return nil
}

func frameExample(id string) string {
	if id == "get-events" {
		return "id: 17\ndata: {\"seq\":17,\"type\":\"agent:running\",\"at\":\"2026-01-02T03:04:05Z\",\"actorKind\":\"cw\",\"agentId\":\"k3v7q2mzt5ha\",\"data\":{\"name\":\"brave-otter\",\"sessionNumber\":1,\"pid\":4711}}\n\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"
	}
	return "id: 9\ndata: {\"id\":9,\"agentId\":\"k3v7q2mzt5ha\",\"agentName\":\"brave-otter\",\"session\":1,\"offset\":0,\"bytes\":\"aGVsbG8K\",\"createdAt\":\"2026-01-02T03:04:05Z\"}\n\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"
}
