package mcp

import (
	"context"

	"cw/internal/cw"
)

type agentsMessageArgs struct {
	AgentID    string         `json:"agentId"`
	Content    string         `json:"content"`
	Session    string         `json:"session"`
	Mode       cw.MessageMode `json:"mode"`
	Timeout    int            `json:"timeout"`
	ResponseID string         `json:"responseId"`
}

// agentsMessaged is what became of a message.
type agentsMessaged struct {
	cw.AgentMessageResult

	Note string `json:"note,omitempty"`
}

func agentsMessage() tool {
	return with(tool{
		name: cw.ToolAgentsMessage, title: "Message an agent",
		about: "Give another agent work as a message of yours, and wait for its final word (sync) or not (async). " +
			"A timeout ends only the waiting: call again with the responseId alone to go on waiting.",
		fields: []field{
			{name: "agentId", about: "the definition of the agent, which is its mode unless somebody named another: execute, discuss, refine, plan, detail", kind: text, most: 128},
			{name: "content", about: "the message", kind: text, most: cw.MessageMax},
			{name: "session", about: "which agent of that definition: latest, create, latest-or-create (default), or the id or name of one", kind: text, most: 128},
			{name: "mode", about: "sync (default) waits for the response, async returns at once", kind: text,
				words: []string{string(cw.MessageSync), string(cw.MessageAsync)}},
			{name: "timeout", about: "seconds to wait in sync mode; default 300. The agent goes on after it", kind: number, least: 1, most: cw.MessageTimeoutMax},
			{name: "responseId", about: "in place of everything but timeout: go on waiting for this response", kind: text, most: 128},
		},
		there: func(c Config) bool { return c.Messages != nil },
	}, agentsMessageAct)
}

func agentsMessageAct(ctx context.Context, c call, args agentsMessageArgs) (any, error) {
	if args.ResponseID != "" {
		return awaitResponse(ctx, c, args)
	}
	req := cw.AgentMessageRequest{
		RequestKey: cw.NewID(), AgentID: args.AgentID, Content: args.Content, Session: args.Session, Mode: args.Mode, TimeoutSeconds: args.Timeout,
	}
	req, err := req.Complete()
	if err != nil {
		return nil, err
	}
	started, err := quick(ctx, c, func(ctx context.Context) (cw.AgentMessageResult, error) { return c.Messages.MessageAgent(ctx, req) })
	if err != nil || req.Mode == cw.MessageAsync {
		return started, err
	}
	return c.response(ctx, started, req.TimeoutSeconds)
}

func awaitResponse(ctx context.Context, c call, args agentsMessageArgs) (any, error) {
	if args.AgentID != "" || args.Content != "" || args.Session != "" || args.Mode != "" {
		return nil, cw.Errorf(cw.CodeInvalid, "the argument responseId goes with timeout alone").
			WithHint("leave out agentId, content, session and mode to go on waiting; leave out responseId to send a message")
	}
	seconds := args.Timeout
	if seconds == 0 {
		seconds = cw.MessageTimeout
	}
	return c.response(ctx, cw.AgentMessageResult{ResponseID: cw.MessageID(args.ResponseID)}, seconds)
}

// response waits for the response to a message.
func (c call) response(ctx context.Context, started cw.AgentMessageResult, seconds int) (any, error) {
	if most := int(c.bound().Seconds()); most > 0 {
		seconds = min(seconds, most)
	}
	done, late, err := await(ctx, c, &seconds, func(ctx context.Context) (cw.AgentMessageResult, error) {
		return c.Messages.AwaitMessage(ctx, string(started.ResponseID))
	})
	switch {
	case err != nil:
		return nil, err
	case late:
		return agentsMessaged{AgentMessageResult: started.TimedOut(seconds)}, nil
	}
	return agentsMessaged{AgentMessageResult: done, Note: dataNote}, nil
}
