package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type inboxOf struct {
	Initiative string `query:"initiative" doc:"only what belongs to this initiative: its id or slug"`
}

func registerInbox(s *Server) {
	handle(s, "get-inbox", func(ctx context.Context, in *inboxOf) (cw.Inbox, error) {
		inbox, err := s.opts.Services.Inbox(ctx, in.Initiative)
		inbox.Items = orEmpty(inbox.Items)
		return inbox, err
	})
}

// Inbox implements cw.InboxService.
func (c *Client) Inbox(ctx context.Context, initiative string) (cw.Inbox, error) {
	q := query{}
	q.text("initiative", initiative)
	return call[cw.Inbox](ctx, c, request{method: http.MethodGet, path: "/v1/inbox", query: q})
}
