package mcp

import (
	"context"

	"cw/internal/cw"
)

type answerArgs struct {
	ConversationID string `json:"conversation_id"`
	Answer         string `json:"answer"`
}

// given tells that an answer is stored.
type given struct {
	ConversationID cw.ConversationID     `json:"conversationId"`
	Status         cw.ConversationStatus `json:"status"`
}

func answer() tool {
	return with(tool{
		name: cw.ToolAnswer, title: "Answer another agent", again: true,
		about: "Answer a question that listen gave you. Each question has one answer.",
		fields: []field{
			{name: "conversation_id", about: "the conversationId of the question", kind: text, needed: true, most: 128},
			{name: "answer", about: "the answer, at most 64 KiB", kind: text, needed: true, most: cw.ConversationTextMax},
		},
		there: func(c Config) bool { return c.Talk != nil },
	}, func(ctx context.Context, c call, args answerArgs) (any, error) {
		done, err := quick(ctx, c, func(ctx context.Context) (cw.ConversationView, error) {
			return c.Talk.AnswerConversation(ctx, args.ConversationID, cw.ConversationAnswer{Answer: args.Answer})
		})
		return given{done.ID, done.Status}, err
	})
}
