package mcp

import (
	"context"
	"iter"

	"cw/internal/cw"
)

// People is what the tool for asking people needs.
type People interface {
	AskPeople(ctx context.Context, req cw.PeopleRequest) ([]cw.Question, error)
	AwaitAnswers(ctx context.Context, id cw.RequestID) ([]cw.Question, error)
}

// Planning is what the tool for reading one's task needs.
type Planning interface {
	Initiative(ctx context.Context, ref string) (cw.InitiativeView, error)
	PageByID(ctx context.Context, id cw.PageID) (cw.Document, error)
	Phase(ctx context.Context, id cw.PhaseID) (cw.Phase, error)
	Task(ctx context.Context, id cw.TaskID) (cw.Task, error)
}

// Plans is what the tools for an agent's own plan need.
type Plans interface {
	SetPlan(ctx context.Context, ref string, req cw.PlanRequest) (cw.Plan, error)
	MoveStep(ctx context.Context, ref, step string, req cw.StepRequest) (cw.Plan, error)
}

// Talk is what the tools for questions between agents need.
type Talk interface {
	Ask(ctx context.Context, req cw.AskRequest) (cw.ConversationView, error)
	PendingConversations(ctx context.Context, ref string) iter.Seq2[cw.PendingConversation, error]
	AwaitConversation(ctx context.Context, id string) (cw.ConversationView, error)
	AnswerConversation(ctx context.Context, id string, a cw.ConversationAnswer) (cw.ConversationView, error)
}

// Agents is what the list of agents and one's own task need.
type Agents interface {
	Agents(ctx context.Context, f cw.AgentFilter) (cw.Page[cw.AgentView], error)
	Agent(ctx context.Context, ref string) (cw.AgentView, error)
}
