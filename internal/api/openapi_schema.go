package api

import (
	"reflect"
	"slices"
	"strings"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
)

func refTo(component string) *huma.Schema {
	return &huma.Schema{Ref: "#/components/schemas/" + component}
}

// enum is a Go type of words: which there are, and what it means.
type enum struct {
	is    reflect.Type
	about string
	words []any
}

func enumOf[T ~string](about string, words ...T) enum {
	return enum{reflect.TypeFor[T](), about, anyOf(words)}
}

// enums lists the types of words. A later daemon may know more of each.
func enums() []enum {
	var eventTypes []cw.EventType
	for _, info := range cw.EventTable() {
		eventTypes = append(eventTypes, info.Type)
	}
	var codes []cw.Code
	for code := range cw.Outcomes() {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return []enum{
		enumOf("where an agent stands", cw.AgentStatuses()...),
		enumOf("why an agent has its status",
			cw.ReasonNoSignal, cw.ReasonAgentError, cw.ReasonKilled, cw.ReasonLost, cw.ReasonStartFailed, cw.ReasonUsageLimit,
			cw.ReasonAuth, cw.ReasonReboot, cw.ReasonUser, cw.ReasonBudget, cw.ReasonStalled, cw.ReasonDone),
		enumOf("what an agent is for", cw.ModeExecute, cw.ModeDiscuss, cw.ModePlan, cw.ModeDetail, cw.ModeRefine),
		enumOf("what a CLI's own sandbox lets an agent write", cw.SandboxOff, cw.SandboxWorkspace),
		enumOf("where a worktree is", cw.WorktreePlanned, cw.WorktreePresent, cw.WorktreeTrashed, cw.WorktreeRemoved),
		enumOf("what a running agent does this second, in a word", cw.ActivityVerbs()...),
		enumOf("what a running agent does now", cw.ActivityBusy, cw.ActivityRetrying, cw.ActivityStalled, cw.ActivityError),
		enumOf("what a run is for", cw.RunAgent, cw.RunCheck, cw.RunSetup),
		enumOf("why a run was started",
			cw.RunSpawn, cw.RunAnswers, cw.RunMissingSignal, cw.RunFiles, cw.RunCommit, cw.RunFollowUp, cw.RunStalled, cw.RunReboot, cw.RunFailover, cw.RunWake, cw.RunConflict, cw.RunCheckRed, cw.RunReview, cw.RunBudget),
		enumOf("what kind of credentials an account has", cw.AccountOwn, cw.AccountToken, cw.AccountLogin, cw.AccountKey),
		enumOf("where the figure of a run's cost comes from; empty when it is not known", cw.CostFromCLI, cw.CostFromTable, cw.CostUnknown),
		enumOf("what a budget is for", cw.BudgetAgent, cw.BudgetInitiative, cw.BudgetAccount),
		enumOf("where a question stands", cw.QuestionOpen, cw.QuestionAnswered, cw.QuestionWithdrawn),
		enumOf("where a question of an agent to another one stands", cw.ConversationStatuses()...),
		enumOf("how the target of a question was named", cw.AskedAgent, cw.AskedTask, cw.AskedPhase),
		enumOf("whose words a message holds", cw.RoleUser, cw.RoleAssistant, cw.RoleSystem),
		enumOf("what becomes of a text to an agent that is busy", cw.BusyQueue, cw.BusyRefuse),
		enumOf("whether the sender of a message waits for the response", cw.MessageSync, cw.MessageAsync),
		enumOf("what became of a message to an agent", cw.MessageStarted, cw.MessageComplete, cw.MessageTimedOut),
		enumOf("what becomes of an agent that is silent for too long", cw.StallEvent, cw.StallResume),
		enumOf("what a piece of garbage is",
			cw.GarbageTrash, cw.GarbageRaw, cw.GarbageChunks, cw.GarbageKeepRef, cw.GarbageBackup, cw.GarbageBinary, cw.GarbageDebris, cw.GarbageBranch),
		enumOf("by which way people are told", cw.HookWebhook, cw.HookCommand),
		enumOf("one right that a token carries; read and operate are those of dashboards",
			cw.ScopeRead, cw.ScopeOperate, cw.ScopePerson, cw.ScopeReadSelf, cw.ScopePeers, cw.ScopeSignal, cw.ScopeMessage,
			cw.ScopeQuestion, cw.ScopePlan, cw.ScopeSpawn),
		enumOf("where an initiative stands", cw.InitiativeActive, cw.InitiativeArchived),
		enumOf("where a phase stands", cw.PhaseDraft, cw.PhaseApproved, cw.PhaseRunning, cw.PhaseDone, cw.PhaseArchived),
		enumOf("where a task stands", cw.TaskStatuses()...),
		enumOf("who does a task", cw.TaskTypes()...),
		enumOf("how much work a task is thought to be", cw.TaskSizes()...),
		enumOf("what puts tasks that are ready in order", cw.TaskPriorities()...),
		enumOf("whether tasks are started", cw.DispatchStates()...),
		enumOf("why a task is not started", cw.WaitCodes()...),
		enumOf("where the work of a task stands on its way to the branch of its initiative", cw.MergeStatuses()...),
		enumOf("where a proposal stands", cw.ProposalStatuses()...),
		enumOf("what a proposal is about", cw.ProposalTargets()...),
		enumOf("what becomes of the target of a proposal", cw.ActionCreate, cw.ActionUpdate, cw.ActionDelete),
		enumOf("who acts", cw.ActorPerson, cw.ActorAgent, cw.ActorDashboard, cw.ActorCW),
		enumOf("what happened", eventTypes...),
		enumOf("what kind of error, for programs", codes...),
		enumOf("what a piece of a CLI's output means",
			cw.StreamTaskBegan, cw.StreamTaskEnded, cw.StreamInit, cw.StreamText, cw.StreamThinking, cw.StreamToolCall, cw.StreamToolResult, cw.StreamFileChange,
			cw.StreamPlan, cw.StreamUsage, cw.StreamLimit, cw.StreamRetry, cw.StreamWarning, cw.StreamError,
			cw.StreamCompaction, cw.StreamResult),
	}
}

// sometimesEmpty are fields that are always there and hold "" when there is
// nothing to tell.
func sometimesEmpty() []string {
	return []string{"AgentView.reason", "AgentView.worktreeState"}
}

// describeSchemas adds the types that only streams send, and to all of them
// their descriptions, words instead of plain strings, and exact nulls.
func (s *Server) describeSchemas() {
	registry := s.api.OpenAPI().Components.Schemas
	for _, t := range []reflect.Type{reflect.TypeFor[cw.Event](), reflect.TypeFor[cw.Chunk](), reflect.TypeFor[cw.OutputEvent](), reflect.TypeFor[cw.PendingConversation](), reflect.TypeFor[cw.AgentMessageResult](), reflect.TypeFor[endData]()} {
		registry.Schema(t, true, "")
	}
	for _, info := range cw.EventTable() {
		registry.Schema(reflect.TypeOf(info.Payload), true, "")
	}
	all := registry.Map()
	words := map[reflect.Type]enum{}
	for _, e := range enums() {
		words[e.is] = e
	}
	texts := schemaTexts()
	for name, schema := range all {
		schema.Description = texts[name]
		if t := registry.TypeFromRef(refTo(name).Ref); t != nil {
			describeFields(name, schema, t, words)
		}
	}
	for _, e := range enums() {
		all[e.is.Name()] = &huma.Schema{Type: huma.TypeString, Enum: e.words, Description: e.about + "; later versions may add others"}
	}
	describeEvents(all)
}

func describeFields(name string, schema *huma.Schema, t reflect.Type, words map[reflect.Type]enum) {
	for _, f := range reflect.VisibleFields(t) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		field := schema.Properties[key]
		if field == nil || f.Anonymous {
			continue
		}
		field.Nullable = field.Nullable && f.Type.Kind() != reflect.Slice // lists are [], never null
		is := f.Type
		optional := is.Kind() == reflect.Pointer && strings.Contains(options, "omitempty")
		if _, ok := words[is]; !ok && optional {
			if _, ok := words[is.Elem()]; ok {
				is = is.Elem()
			}
		}
		if is.Kind() == reflect.Slice && field.Items != nil {
			if e, ok := words[is.Elem()]; ok {
				field.Items = refTo(e.is.Name())
			}
			continue
		}
		e, ok := words[is]
		switch {
		case ok && slices.Contains(sometimesEmpty(), name+"."+key):
			field.Type, field.Ref, field.AnyOf = "", "", []*huma.Schema{refTo(e.is.Name()), {Type: huma.TypeString, Enum: []any{""}}}
		case ok:
			field.Type, field.Ref = "", refTo(e.is.Name()).Ref
		case is.Kind() == reflect.Pointer && field.Ref != "" && !optional:
			field.AnyOf, field.Ref = []*huma.Schema{{Ref: field.Ref}, {Type: "null"}}, ""
		}
	}
}

// describeEvents adds a schema for each type of event, told apart by type.
func describeEvents(all map[string]*huma.Schema) {
	every := &huma.Schema{
		Description:   "any event; a type that is not listed has the form of Event",
		Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}},
	}
	for _, info := range cw.EventTable() {
		name := eventSchemaName(info.Type)
		kept := "It is kept and has a number."
		if !info.Stored {
			kept = "It is told only while it happens, and has no number."
		}
		all[name] = &huma.Schema{
			Description: string(info.Type) + ": " + info.Text + ". " + kept,
			AllOf: []*huma.Schema{refTo("Event"), {
				Type: huma.TypeObject, Required: []string{"type", "data"},
				Properties: map[string]*huma.Schema{
					"type": {Type: huma.TypeString, Enum: []any{string(info.Type)}, Description: "this type of event"},
					"data": {Ref: refTo(reflect.TypeOf(info.Payload).Name()).Ref, Description: "its payload"},
				},
			}},
		}
		every.OneOf = append(every.OneOf, refTo(name))
		every.Discriminator.Mapping[string(info.Type)] = refTo(name).Ref
	}
	all["AnyEvent"] = every
}

// eventSchemaName makes AgentSpawnedEvent of agent:spawned.
func eventSchemaName(t cw.EventType) string {
	var name strings.Builder
	for word := range strings.FieldsFuncSeq(string(t), func(r rune) bool { return r == ':' || r == '_' }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String() + "Event"
}

// describeStream says which frames a stream sends. contentSchema is how JSON
// Schema describes what a text holds; x-frames tells the names apart.
func (s *Server) describeStream(op *huma.Operation) {
	items := map[string][]string{
		"get-events": {"AnyEvent"}, "get-agent-output": {"Chunk", "OutputEvent"}, "await-answers": {"PageQuestion"},
		"await-conversation": {"ConversationView"}, "list-pending-conversations": {"PendingConversation"},
	}[op.OperationID]
	data := &huma.Schema{Description: "the JSON in data"}
	for _, name := range append(items, "EndData", "Problem") {
		data.AnyOf = append(data.AnyOf, refTo(name))
	}
	op.Responses["200"] = &huma.Response{
		Description: aboutFrames,
		Content: map[string]*huma.MediaType{"text/event-stream": {
			Schema: &huma.Schema{
				Type: huma.TypeString, Description: "server-sent events",
				Extensions: map[string]any{"contentMediaType": "text/event-stream", "contentSchema": data},
			},
			Example: frameExample(op.OperationID),
			Extensions: map[string]any{"x-frames": map[string][]string{
				"": items, frameEnd: {"EndData"}, frameFailure: {"Problem"}, frameMark: {},
			}},
		}},
	}
}
