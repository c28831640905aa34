package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type messageAgent struct {
	Body cw.AgentMessageRequest
}

type responseRef struct {
	ID string `path:"response" doc:"the responseId of the message"`
}

func registerAgentMessages(s *Server) {
	services := s.opts.Services
	handle(s, "message-agent", func(ctx context.Context, in *messageAgent) (cw.AgentMessageResult, error) {
		return services.MessageAgent(ctx, in.Body)
	})
	// It is a stream although it has one item: only streams may take their time,
	// are let go when the server ends, and are come back to.
	handleStream(s, "await-agent-message", func(ctx context.Context, in *responseRef) (frames, error) {
		return func(yield func(frame, error) bool) {
			done, err := services.AwaitMessage(ctx, in.ID)
			if ctx.Err() == nil {
				yield(frame{data: done}, err)
			}
		}, nil
	})
}

// MessageAgent implements cw.AgentMessageService.
func (c *Client) MessageAgent(ctx context.Context, req cw.AgentMessageRequest) (cw.AgentMessageResult, error) {
	return call[cw.AgentMessageResult](ctx, c, request{method: http.MethodPost, path: "/v1/agent-messages", body: req})
}

// AwaitMessage implements cw.AgentMessageService. It goes on by itself across a
// restart of the daemon.
func (c *Client) AwaitMessage(ctx context.Context, responseID string) (cw.AgentMessageResult, error) {
	path := "/v1/agent-messages/" + segment(responseID) + "/response"
	return awaitOne[cw.AgentMessageResult](ctx, c, streamRequest{path: path})
}
