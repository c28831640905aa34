package servicetest

import (
	"context"

	"cw/inbox"
	"cw/internal/cw"
)

// Inbox implements cw.InboxService, of what the others of a Memory tell.
func (m *Memory) Inbox(ctx context.Context, initiative string) (cw.Inbox, error) {
	return inbox.New(m).Inbox(ctx, initiative)
}
