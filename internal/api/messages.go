package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type listMessages struct {
	PageParams

	ID string `path:"id" doc:"name or id of the agent"`
}

type sendMessage struct {
	ID   string `path:"id" doc:"name or id of the agent"`
	Body cw.SendRequest
}

func registerMessages(s *Server) {
	services := s.opts.Services
	handle(s, "list-messages", func(ctx context.Context, in *listMessages) (cw.Page[cw.Message], error) {
		page, err := services.Messages(ctx, in.ID, in.query())
		page.Items = orEmpty(page.Items)
		return page, err
	})
	handle(s, "send-message", func(ctx context.Context, in *sendMessage) (cw.Message, error) {
		return services.Send(ctx, in.ID, in.Body)
	})
}

// Messages implements cw.MessageService.
func (c *Client) Messages(ctx context.Context, ref string, q cw.PageQuery) (cw.Page[cw.Message], error) {
	params := query{}
	params.page(q)
	return call[cw.Page[cw.Message]](ctx, c, request{method: http.MethodGet, path: agentPath(ref) + "/messages", query: params})
}

// Send implements cw.MessageService.
func (c *Client) Send(ctx context.Context, ref string, req cw.SendRequest) (cw.Message, error) {
	return call[cw.Message](ctx, c, request{method: http.MethodPost, path: agentPath(ref) + "/messages", body: req})
}
