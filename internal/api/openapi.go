package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
)

// OpenAPI gives the API's description (OpenAPI 3.1, JSON for people). It says
// nothing of this machine or this build: it is docs/openapi.json.
func (s *Server) OpenAPI() ([]byte, error) {
	data, err := s.api.OpenAPI().MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("write the description of the API: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, fmt.Errorf("write the description of the API: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func registerOpenAPI(s *Server) {
	op, ok := s.operation("get-openapi")
	if !ok {
		return
	}
	op.Responses["200"].Content = map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, Description: "an OpenAPI document, version 3.1"}},
	}
	huma.Register(s.api, op, func(ctx context.Context, _ *nothing) (*huma.StreamResponse, error) {
		data, err := s.OpenAPI()
		if err != nil {
			return nil, s.wire(ctx, err)
		}
		return &huma.StreamResponse{Body: func(hctx huma.Context) {
			hctx.SetHeader("Content-Type", "application/json")
			_, _ = hctx.BodyWriter().Write(data) // the caller is gone when this fails
		}}, nil
	})
}

// Names of the security schemes.
const (
	schemeToken  = "token"
	schemeTicket = "ticket"
)

// describe completes what huma made of the Go types: what is the same for all
// routes, and what Go types do not say. It touches nothing that huma checks
// requests with.
func (s *Server) describe() {
	doc := s.api.OpenAPI()
	doc.Info = &huma.Info{
		Title: "cw", Version: cw.APIVersion, Description: aboutAPI,
		License: &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
	}
	doc.Servers = []*huma.Server{{
		URL: "http://{host}:{port}", Description: aboutServer,
		Variables: map[string]*huma.ServerVariable{
			"host": {Default: "127.0.0.1", Description: "127.0.0.1, [::1], localhost, or a name of http.allowedHosts"},
			"port": {Default: "7420", Description: "the port of http.address"},
		},
	}}
	doc.Tags = tags()
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		schemeToken: {Type: "http", Scheme: "bearer", Description: aboutToken},
		schemeTicket: {
			Type: "apiKey", In: "query", Name: ticketParam, Description: aboutTicket,
		},
	}
	s.describeSchemas()
	doc.Components.Responses = s.errorResponses()
	texts := operationTexts()
	for _, row := range s.rows {
		if op := operationOf(doc, row); op != nil {
			s.describeOperation(op, row, texts[row.ID])
		}
	}
}

func operationOf(doc *huma.OpenAPI, row Route) *huma.Operation {
	item := doc.Paths[row.Path]
	if item == nil {
		return nil
	}
	return map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodDelete: item.Delete}[row.Method]
}

func (s *Server) describeOperation(op *huma.Operation, row Route, text string) {
	op.Description = strings.TrimSpace(text + "\n\n" + rightsText(row))
	op.Tags = []string{tagOf(row)}
	op.Security = securityOf(row, s.streams[row.ID])
	for i, p := range op.Parameters {
		op.Parameters[i] = s.describeParam(*p, row)
	}
	if op.RequestBody != nil {
		describeBody(op.RequestBody, row)
	}
	if s.streams[row.ID] {
		s.describeStream(op)
	}
	for _, status := range statusesOf(op, row, s.streams[row.ID]) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + responseName(status)}
	}
	op.Responses["default"] = &huma.Response{Ref: "#/components/responses/" + responseName(0)}
}

// rightsText says who may use a route, from its row.
func rightsText(row Route) string {
	var who string
	switch row.Dashboard {
	case Anyone:
		who = "Needs no token."
	case OwnPage:
		who = "Over TCP only the dashboard's own page calls it (`Origin`), which needs no token."
	case cw.ScopePerson:
		who = "Over TCP it needs a session: its scope is `person`."
	case never:
		who = "Only on the socket: no token opens it over TCP."
	default:
		who = fmt.Sprintf("Over TCP it needs a token with the scope `%s`.", row.Dashboard)
	}
	switch {
	case row.Scope == peopleOnly:
		return who + " Agents may not use it."
	case row.Self:
		return who + fmt.Sprintf(" An agent (scope `%s`) may only name itself.", row.Scope)
	}
	if row.ownNoun() == conversationNoun {
		return who + fmt.Sprintf(" An agent (scope `%s`) may only name a conversation in which it takes part.", row.Scope)
	}
	if row.ownNoun() != "" {
		return who + fmt.Sprintf(" An agent (scope `%s`) may only name what belongs to its own initiative.", row.Scope)
	}
	return who + fmt.Sprintf(" An agent needs the scope `%s`, and sees itself only.", row.Scope)
}

func tagOf(row Route) string {
	path := strings.TrimPrefix(row.Path, "/v1/")
	for prefix, tag := range map[string]string{
		"agents": "agents", "questions": "questions", "answers": "questions", "conversations": "conversations", "projects": "projects",
		"accounts": "accounts", "costs": "costs", "budgets": "costs", "providers": "providers",
		"tokens": "tokens", "open": "tokens", "sessions": "tokens", "events": "events", "stream-tickets": "events",
		"initiatives": "initiatives", "pages": "initiatives", "phases": "initiatives", "tasks": "initiatives", "dispatch": "dispatch", "proposals": "proposals", "prompts": "prompts",
	} {
		if strings.HasPrefix(path, prefix) {
			return tag
		}
	}
	return "daemon"
}

// securityOf says what opens a route. The empty requirement is the socket,
// where the kernel says who is calling.
func securityOf(row Route, stream bool) []map[string][]string {
	socket := map[string][]string{}
	switch {
	case row.Dashboard == never || row.tokenless():
		return []map[string][]string{socket}
	case stream:
		return []map[string][]string{{schemeToken: {string(row.Dashboard)}}, {schemeTicket: {string(row.Dashboard)}}, socket}
	}
	return []map[string][]string{{schemeToken: {string(row.Dashboard)}}, socket}
}

// statusesOf lists the errors that a route may answer with.
func statusesOf(op *huma.Operation, row Route, stream bool) []int {
	statuses := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if !row.open() {
		statuses = append(statuses, http.StatusUnauthorized)
	}
	if strings.Contains(row.Path, "{") || row.ID == "get-metrics" || filters(op, "project") || filters(op, "agent") ||
		slices.Contains([]string{
			"spawn-agent", "answer-questions", "set-budget", "create-initiative", "list-tasks", "create-task", "accept-proposals", "dismiss-proposals",
			"render-prompt", "ask-agent", "get-dispatch",
		}, row.ID) {
		statuses = append(statuses, http.StatusNotFound)
	}
	if stream {
		statuses = append(statuses, http.StatusGone, http.StatusTooManyRequests)
	}
	if row.ID == "start-session" {
		statuses = append(statuses, http.StatusTooManyRequests)
	}
	if row.ID == "restore-agent" {
		statuses = append(statuses, http.StatusGone)
	}
	if slices.Contains(mayBeRefused(), row.ID) {
		statuses = append(statuses, http.StatusConflict)
	}
	if slices.Contains(mayFail(), row.ID) {
		statuses = append(statuses, http.StatusUnprocessableEntity)
	}
	return statuses
}

// mayBeRefused are the routes whose act is not legal in every state.
func mayBeRefused() []string {
	return []string{
		"spawn-agent", "stop-agent", "resume-agent", "remove-agent", "restore-agent", "open-worktree", "send-message", "answer-questions",
		"ask-agent", "answer-conversation",
		"remove-project", "trust-project", "create-token", "get-agent-diff", "make-backup", "add-account", "set-account", "remove-account",
		"login-account", "finish-login", "try-hooks",
		"edit-initiative", "create-pull-request", "create-page", "edit-page", "edit-page-document", "remove-page", "create-phase", "edit-phase", "create-task", "edit-task",
		"accept-proposals", "dismiss-proposals",
		"retry-task", "decide-task", "land-initiative", "get-task-diff", "get-initiative-diff",
	}
}

// mayFail are the routes whose act is one of git, of processes or of the disk.
func mayFail() []string {
	return []string{
		"spawn-agent", "stop-agent", "resume-agent", "remove-agent", "restore-agent", "open-worktree", "add-project", "remove-project",
		"get-agent-diff", "collect-garbage", "make-backup", "add-account", "remove-account", "login-account", "finish-login",
		"get-account-usage", "test-account", "discover-accounts", "set-account", "render-prompt",
		"land-initiative", "get-task-diff", "get-initiative-diff",
		"create-pull-request", "open-dashboard",
	}
}

// filters tells whether a route has a query parameter.
func filters(op *huma.Operation, name string) bool {
	return slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name })
}

// responseName names the component of an error's answer; 0 stands for all.
func responseName(status int) string {
	if status == 0 {
		return "Error"
	}
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

// errorResponses describes the errors of all routes once.
func (s *Server) errorResponses() map[string]*huma.Response {
	problemRef := &huma.Schema{Ref: "#/components/schemas/Problem"}
	responses := map[string]*huma.Response{responseName(0): {
		Description: "Any other error. Its code says what kind it is.",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: problemRef}},
	}}
	for status, e := range errorExamples() {
		response := &huma.Response{
			Description: e.about,
			Content:     map[string]*huma.MediaType{"application/json": {Schema: problemRef, Example: e.problem}},
		}
		if e.header != "" {
			response.Headers = map[string]*huma.Param{e.header: {
				Description: e.headerAbout, Schema: &huma.Schema{Type: huma.TypeString},
			}}
		}
		responses[responseName(status)] = response
	}
	return responses
}

func describeBody(b *huma.RequestBody, row Route) {
	b.Description = "One JSON object. Fields that are not known are ignored, unless they are nearly one that is: those are refused."
	if example := bodyExample(row.ID); example != nil {
		b.Content["application/json"].Example = example
	}
}

// pageDefault is how many items a page has when nobody says so.
func pageDefault(id string) int {
	if id == "get-agent-output-page" {
		return cw.OutputPageDefault
	}
	return cw.PageDefault
}

// describeParam gives a copy of a parameter that says more: huma goes on
// checking with its own.
func (s *Server) describeParam(p huma.Param, row Route) *huma.Param {
	schema := *p.Schema
	p.Schema = &schema
	schema.Nullable = false
	schema.Description = "" // the parameter says it
	if p.In == "path" {
		p.Example = map[string]any{"id": "brave-otter", "ref": "shop", "initiative": "spring-sale"}[p.Name]
		if p.Example == nil || row.ID == "get-question" {
			p.Example = "k3v7q2mzt5ha"
		}
	}
	list, isList := lists()[row.ID]
	switch {
	case p.Name == "limit":
		low, high := 0.0, float64(cw.PageMax)
		schema.Minimum, schema.Maximum, schema.Default = &low, &high, pageDefault(row.ID)
	case p.Name == "sort" && isList:
		schema.Enum, schema.Default = anyOf(list.Sorts()), list.Own
	}
	if schema.Type == huma.TypeArray {
		items := *schema.Items
		schema.Items = &items
		switch p.Name {
		case "status":
			schema.Items = refTo(statusSchema(row.ID))
		case "type":
			schema.Items = refTo("EventType")
		}
	}
	return &p
}

// statusSchema names the statuses that a list can be filtered by.
func statusSchema(id string) string {
	switch id {
	case "list-questions":
		return "QuestionStatus"
	case "list-conversations":
		return "ConversationStatus"
	case "list-tasks", "list-initiative-tasks":
		return "TaskStatus"
	case "list-proposals":
		return "ProposalStatus"
	}
	return "AgentStatus"
}

// lists are the routes that answer with pages.
func lists() map[string]cw.List {
	return map[string]cw.List{
		"list-agents": cw.AgentList(), "list-messages": cw.MessageList(), "list-questions": cw.QuestionList(),
		"list-projects": cw.ProjectList(), "list-tokens": cw.TokenList(),
		"list-conversations": cw.ConversationList(),
		"list-initiatives":   cw.InitiativeList(), "list-proposals": cw.ProposalList(),
	}
}

func anyOf[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}
