package mcp

import (
	"context"

	"cw/internal/cw"
)

// listenSeconds is how long listen waits where nothing is said.
const listenSeconds = 60

type listenArgs struct {
	Timeout *int `json:"timeout_seconds"`
}

// heard is a question of another agent, or that there is none.
type heard struct {
	Status string `json:"status"` // question, nothing_yet
	*cw.PendingConversation

	Note    string `json:"note,omitempty"`
	Message string `json:"message,omitempty"`
}

func listen() tool {
	return with(tool{
		name: cw.ToolListen, title: "Listen for questions of other agents", reads: true,
		about: "Get the next question that another agent asks you; answer it with answer. Look between the steps of your work " +
			"(timeout_seconds 0 looks and does not wait). nothing_yet means that nobody has asked so far.",
		fields: []field{{name: "timeout_seconds", about: "seconds to wait; default 60, or less where your CLI allows less", kind: number, most: waitMost}},
		there:  func(c Config) bool { return c.Talk != nil },
	}, listenAct)
}

func listenAct(ctx context.Context, c call, args listenArgs) (any, error) {
	seconds := listenSeconds
	if args.Timeout != nil {
		seconds = *args.Timeout
	}
	// What is stored already comes at once, but a connection takes a moment.
	seconds = max(seconds, 1)
	p, late, err := await(ctx, c, &seconds, func(ctx context.Context) (*cw.PendingConversation, error) {
		for p, err := range c.Talk.PendingConversations(ctx, string(c.box.AgentID)) {
			return &p, err
		}
		return nil, ctx.Err()
	})
	switch {
	case err != nil:
		return nil, err
	case late || p == nil:
		return heard{Status: "nothing_yet", Message: "Nobody has asked you anything so far. Go on with your work and look again between its steps."}, nil
	}
	return heard{Status: "question", PendingConversation: p, Note: dataNote}, nil
}
