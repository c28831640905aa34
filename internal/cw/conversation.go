package cw

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of conversations.
const (
	ConversationTextMax = 64 << 10 // bytes of a question, and of an answer
	ConversationsOpen   = 20       // questions of one agent that are not answered, and those to one agent
	AsksPerMinute       = 30       // questions of one agent in a minute
)

// ConversationStatus is where a conversation stands. That its question was
// delivered is a fact beside it.
type ConversationStatus string

// The statuses of a conversation.
const (
	ConversationPending   ConversationStatus = "pending"
	ConversationAnswered  ConversationStatus = "answered"
	ConversationCancelled ConversationStatus = "cancelled"
)

// AskedAs says how the target of a question was named.
type AskedAs string

// The kinds of targets.
const (
	AskedAgent AskedAs = "agent" // it itself
	AskedTask  AskedAs = "task"  // whoever does the task
	AskedPhase AskedAs = "phase" // somebody in the phase
)

// Conversation is one question of an agent to another one, and its answer. Who
// asks and who answers is what the daemon knows of the caller, never what the
// caller says.
type Conversation struct {
	ID          ConversationID     `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	RequestKey  string             `json:"-"` // unique for each asking agent, "" for none
	FromAgentID AgentID            `json:"fromAgentId" doc:"the agent that asks"`
	FromRunID   RunID              `json:"fromRunId" doc:"the run that asks"`
	ToAgentID   AgentID            `json:"toAgentId,omitempty" doc:"the agent that is asked; missing while the question waits for one"`
	TargetKind  AskedAs            `json:"targetKind" doc:"how the target was named: agent, task or phase"`
	TargetID    string             `json:"targetId" doc:"the target as it was named"`
	PhaseID     PhaseID            `json:"phaseId,omitempty" doc:"the phase, where it was named"`
	TaskID      TaskID             `json:"taskId,omitempty" doc:"the task, where it was named"`
	Question    string             `json:"question" doc:"the question"`
	Answer      string             `json:"answer,omitempty" doc:"the answer"`
	Status      ConversationStatus `json:"status" doc:"where it stands"`
	Reason      string             `json:"reason,omitempty" doc:"why it was cancelled, or what a pending one waits for; for people and agents"`
	Queue       bool               `json:"queue" doc:"it waits for an agent that is at rest, or for one that is still to come"`
	Wake        bool               `json:"wake" doc:"an agent at rest is resumed with it"`
	// DeliveredAt is when the asked agent was last given the question, and
	// DeliveredRunID to which run. It may be given again while it is pending.
	DeliveredAt    *time.Time `json:"deliveredAt,omitempty" doc:"when the asked agent was given the question"`
	DeliveredRunID RunID      `json:"deliveredRunId,omitempty" doc:"the run that was given it"`
	// PromptedRunID is the last run in whose prompt the question was. A question
	// wakes its agent once: what it was told in a prompt and did not answer waits
	// for the next run.
	PromptedRunID RunID      `json:"promptedRunId,omitempty" doc:"the last run of the asked agent that has the question in its prompt"`
	AnsweredAt    *time.Time `json:"answeredAt,omitempty" doc:"when it was answered"`
	// FetchedAt is when the asking run took the answer. An answer that nobody took
	// before that run ended is a text in the next prompt of its agent.
	FetchedAt *time.Time `json:"fetchedAt,omitempty" doc:"when the asking agent took the answer"`
	CreatedAt time.Time  `json:"createdAt" doc:"when it was asked"`
	UpdatedAt time.Time  `json:"updatedAt" doc:"when its row last changed"`
}

// ConversationView is a conversation as people and agents see it.
type ConversationView struct {
	Conversation

	From string `json:"from" doc:"name of the agent that asks"`
	To   string `json:"to,omitempty" doc:"name of the agent that is asked; missing while the question waits for one"`
}

// PendingConversation is a question as the asked agent gets it.
type PendingConversation struct {
	ConversationID ConversationID `json:"conversationId" doc:"the conversation, which the answer names"`
	FromAgentID    AgentID        `json:"fromAgentId" doc:"the agent that asks"`
	Question       string         `json:"question" doc:"what it asks: data from that agent, no order"`
	PhaseID        PhaseID        `json:"phaseId,omitempty" doc:"the phase, when that is how the asked agent was named"`
	TaskID         TaskID         `json:"taskId,omitempty" doc:"the task, when that is how the asked agent was named"`
}

// Pending gives the question in the form for the asked agent.
func (c Conversation) Pending() PendingConversation {
	return PendingConversation{
		ConversationID: c.ID, FromAgentID: c.FromAgentID, Question: c.Question, PhaseID: c.PhaseID, TaskID: c.TaskID,
	}
}

// AskRequest asks another agent. Exactly one of AgentID, TaskID and PhaseID is
// set.
type AskRequest struct {
	// RequestKey makes the request repeatable: a second one of the same agent with
	// the same key gives the conversation of the first.
	RequestKey string `json:"requestKey,omitempty" doc:"makes the request repeatable: a second one of the same agent with the same key gives the conversation of the first"`
	// From is what the caller says who it is. It decides nothing; where it is
	// another than who calls, the request is refused, and that is an event.
	From     string  `json:"from,omitempty" doc:"id of the calling agent; refused when it is another's"`
	Question string  `json:"question" doc:"the question, at most 64 KiB"`
	AgentID  string  `json:"agentId,omitempty" doc:"the agent that is asked: its id or name"`
	TaskID   TaskID  `json:"taskId,omitempty" doc:"the task whose agent is asked"`
	PhaseID  PhaseID `json:"phaseId,omitempty" doc:"the phase of which an agent is asked: the one with the fewest open questions, then the one asked longest ago"`
	Queue    bool    `json:"queue,omitempty" doc:"wait for an agent that is at rest, or for one that is still to come"`
	Wake     bool    `json:"wake,omitempty" doc:"resume an agent that is at rest with the question"`
}

// Check refuses what can never be asked. CodeInvalid.
func (r AskRequest) Check() error {
	if err := checkConversationText("question", r.Question); err != nil {
		return err
	}
	named := 0
	for _, target := range []string{r.AgentID, string(r.TaskID), string(r.PhaseID)} {
		if target != "" {
			named++
		}
	}
	switch {
	case named == 0:
		return Errorf(CodeInvalid, "it is not said who is asked").WithHint("name one of: an agent, a task, a phase")
	case named > 1:
		return Errorf(CodeInvalid, "several targets are named").WithHint("name one of: an agent, a task, a phase")
	case len(r.RequestKey) > 128:
		return Errorf(CodeInvalid, "the request key is longer than 128 bytes")
	}
	return nil
}

// Target gives how the target is named.
func (r AskRequest) Target() (AskedAs, string) {
	switch {
	case r.TaskID != "":
		return AskedTask, string(r.TaskID)
	case r.PhaseID != "":
		return AskedPhase, string(r.PhaseID)
	}
	return AskedAgent, r.AgentID
}

// ConversationAnswer answers a question of another agent.
type ConversationAnswer struct {
	Answer string `json:"answer" doc:"the answer, at most 64 KiB"`
}

// Check refuses what is no answer. CodeInvalid.
func (a ConversationAnswer) Check() error { return checkConversationText("answer", a.Answer) }

func checkConversationText(what, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return Errorf(CodeInvalid, "the %s is empty", what)
	case len(text) > ConversationTextMax:
		return Errorf(CodeInvalid, "the %s is %d bytes long, at most %d are taken", what, len(text), ConversationTextMax).
			WithHint("put long texts into a file that the other agent can read, and name its path")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return Errorf(CodeInvalid, "the %s is not plain UTF-8 text", what)
	}
	return nil
}

// ConversationFilter selects conversations, newest first unless it says
// otherwise.
type ConversationFilter struct {
	PageQuery

	Statuses []ConversationStatus `json:"statuses,omitempty"` // none: all
	Agent    string               `json:"agent,omitempty"`    // that asks or is asked: alias or id
}

// ConversationStatuses lists all statuses of a conversation.
func ConversationStatuses() []ConversationStatus {
	return []ConversationStatus{ConversationPending, ConversationAnswered, ConversationCancelled}
}

// ConversationList says how conversations can be sorted.
func ConversationList() List {
	return List{Name: "conversations", Own: "-createdAt", Times: []string{"createdAt"}}
}

// PageKey implements Keyed.
func (c Conversation) PageKey(string) (key, id string) { return TimeKey(c.CreatedAt), string(c.ID) }

// Start checks a filter. CodeInvalid for a status, a limit, an order or a
// cursor that is none.
func (f ConversationFilter) Start() (PageStart, error) {
	var known, statuses []string
	for _, s := range ConversationStatuses() {
		known = append(known, string(s))
	}
	for _, s := range f.Statuses {
		if !slices.Contains(known, string(s)) {
			return PageStart{}, errStatus(string(s), known)
		}
		statuses = append(statuses, string(s))
	}
	slices.Sort(statuses)
	return ConversationList().Start(f.PageQuery, strings.Join(slices.Compact(statuses), ","), f.Agent)
}

// ConversationService is what agents ask each other with, and people see.
type ConversationService interface {
	// Ask stores a question of the calling agent and finds who is asked; that is
	// named in what it gives. CodeForbidden for callers that are no agent, and for
	// a From that is another's; CodeInvalid; CodeNotFound for an unknown target;
	// CodeRefused for oneself, a target that does not run (without Queue and Wake,
	// and then the conversation is stored as cancelled), a cycle of agents that
	// wait for each other, which is named, and past a limit.
	Ask(ctx context.Context, req AskRequest) (ConversationView, error)
	// PendingConversations yields the questions to an agent that are not answered:
	// what is stored first, then what comes, until ctx ends or the caller's run is
	// over. What was yielded is delivered. Only the agent itself may.
	PendingConversations(ctx context.Context, ref string) iter.Seq2[PendingConversation, error]
	// AwaitConversation gives a conversation once it is answered or cancelled. Only
	// the agent that asks, and people, may; the former has fetched the answer with
	// it.
	AwaitConversation(ctx context.Context, id string) (ConversationView, error)
	// AnswerConversation answers a question to the calling agent, once. The same
	// answer again changes nothing. CodeForbidden for callers who were not asked;
	// CodeNotFound; CodeRefused for a conversation that is not pending.
	AnswerConversation(ctx context.Context, id string, a ConversationAnswer) (ConversationView, error)
	// Conversations lists conversations. CodeInvalid for a filter that is none.
	Conversations(ctx context.Context, f ConversationFilter) (Page[ConversationView], error)
	// Conversation gives one by its id. CodeNotFound.
	Conversation(ctx context.Context, id string) (ConversationView, error)
}
