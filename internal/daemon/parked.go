package daemon

import (
	"context"

	"cw/internal/cw"
	"cw/internal/event"
	"cw/orchestrator"
)

// accountChanges are the events after which a parked agent may find an account.
func accountChanges() cw.EventFilter {
	return cw.EventFilter{Types: []cw.EventType{cw.EventAccountAdded, cw.EventAccountChanged}}
}

// hearAccounts tells the engine when somebody changed the accounts, until ctx
// ends. The events are hints: the engine looks at the rows, now and then also by
// itself.
func hearAccounts(ctx context.Context, changes *event.Subscription, engine *orchestrator.Orchestrator) error {
	defer changes.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes.Bell:
			engine.AccountsChanged()
		}
	}
}
