package mcp

import (
	"context"

	"cw/internal/cw"
)

type askAgentArgs struct {
	Question       string `json:"question"`
	AgentID        string `json:"agent_id"`
	TaskID         string `json:"task_id"`
	PhaseID        string `json:"phase_id"`
	Queue          bool   `json:"queue"`
	Wake           bool   `json:"wake"`
	ConversationID string `json:"conversation_id"`
	Timeout        *int   `json:"timeout_seconds"`
}

// waitMost is the longest wait that can be asked for, in seconds.
const waitMost = 24 * 60 * 60

// asked is how a question to another agent stands.
type asked struct {
	Status         cw.ConversationStatus `json:"status"` // answered, pending
	ConversationID cw.ConversationID     `json:"conversationId"`
	AgentID        cw.AgentID            `json:"agentId,omitempty"`
	From           string                `json:"from,omitempty"` // name of the agent that answers
	Answer         string                `json:"answer,omitempty"`
	Note           string                `json:"note,omitempty"`
	Message        string                `json:"message,omitempty"`
}

func askAgent() tool {
	return with(tool{
		name: cw.ToolAskAgent, title: "Ask another agent",
		about: "Ask another agent a question and wait for its answer. Name exactly one of agent_id, task_id, phase_id. " +
			"When the status is pending, the question stands: call again with conversation_id alone to go on waiting, and do not ask it anew.",
		fields: []field{
			{name: "question", about: "the question, complete in itself, at most 64 KiB", kind: text, most: cw.ConversationTextMax},
			{name: "agent_id", about: "the agent that is asked: its id or name", kind: text, most: 128},
			{name: "task_id", about: "the task whose agent is asked", kind: text, most: 128},
			{name: "phase_id", about: "the phase of which an agent is asked", kind: text, most: 128},
			{name: "queue", about: "wait for an agent that is at rest, or still to come", kind: flag},
			{name: "wake", about: "resume an agent that is at rest with the question", kind: flag},
			{name: "conversation_id", about: "in place of everything but timeout_seconds: go on waiting for this answer", kind: text, most: 128},
			{name: "timeout_seconds", about: "seconds to wait; default: as long as your CLI allows", kind: number, most: waitMost},
		},
		there: func(c Config) bool { return c.Talk != nil },
	}, askAgentAct)
}

func askAgentAct(ctx context.Context, c call, args askAgentArgs) (any, error) {
	if args.ConversationID != "" {
		if args.Question != "" || args.AgentID != "" || args.TaskID != "" || args.PhaseID != "" || args.Queue || args.Wake {
			return nil, cw.Errorf(cw.CodeInvalid, "the argument conversation_id goes with timeout_seconds alone").
				WithHint("leave the rest out to go on waiting; leave conversation_id out to ask")
		}
		return c.answerOf(ctx, cw.ConversationView{Conversation: cw.Conversation{ID: cw.ConversationID(args.ConversationID)}}, args.Timeout)
	}
	req := cw.AskRequest{
		RequestKey: cw.NewID(), Question: args.Question, AgentID: args.AgentID, TaskID: cw.TaskID(args.TaskID), PhaseID: cw.PhaseID(args.PhaseID),
		Queue: args.Queue, Wake: args.Wake,
	}
	if err := req.Check(); err != nil {
		return nil, err
	}
	view, err := quick(ctx, c, func(ctx context.Context) (cw.ConversationView, error) { return c.Talk.Ask(ctx, req) })
	if err != nil {
		return nil, err
	}
	return c.answerOf(ctx, view, args.Timeout)
}

// answerOf waits for the answer to a question.
func (c call) answerOf(ctx context.Context, view cw.ConversationView, timeout *int) (any, error) {
	done, late, err := await(ctx, c, timeout, func(ctx context.Context) (cw.ConversationView, error) {
		return c.Talk.AwaitConversation(ctx, string(view.ID))
	})
	switch {
	case err != nil:
		return nil, err
	case late:
		return asked{
			Status: cw.ConversationPending, ConversationID: view.ID, AgentID: view.ToAgentID, From: view.To,
			Message: "There is no answer yet. Go on with what does not depend on it, and call ask_agent with this conversation_id alone to wait again.",
		}, nil
	case done.Status == cw.ConversationCancelled:
		return nil, cw.Errorf(cw.CodeRefused, "the question was cancelled: %s", done.Reason).
			WithHint("ask another agent, or people with ask_user_question")
	}
	return asked{
		Status: done.Status, ConversationID: done.ID, AgentID: done.ToAgentID, From: done.To, Answer: done.Answer, Note: dataNote,
	}, nil
}
