package accounts

import (
	"context"
	"time"

	"cw/internal/cw"
)

// Store is what the package needs kept. Each method is one transaction; the
// events given with a change are stored in it.
type Store interface {
	// Accounts gives the accounts of a provider that are not removed, by
	// priority and name; "" gives those of all providers.
	Accounts(ctx context.Context, provider string) ([]cw.Account, error)
	// AccountViews is Accounts with who uses them, and their costs.
	AccountViews(ctx context.Context, provider string) ([]cw.AccountView, error)
	// AccountByRef finds one by id, name or PROVIDER/NAME. CodeNotFound,
	// CodeInvalid for a name that several providers have.
	AccountByRef(ctx context.Context, ref string) (cw.Account, error)
	// AddAccount stores a new one. CodeRefused for a name that is taken, or a
	// login that is an account already (same identity), naming it.
	AddAccount(ctx context.Context, a cw.Account, ev cw.Event) error
	// SetAccount stores what a person may change, and Kind, Invalid, Identity,
	// Email and Draining; the facts about limits and use stay as they are.
	SetAccount(ctx context.Context, a cw.Account, events ...cw.Event) error
	// SetInvalid stores why an account's credentials cannot be used; "" that they
	// can. The event is stored only when that is news.
	SetInvalid(ctx context.Context, id cw.AccountID, why string, ev cw.Event) error
	// RemoveAccount marks one as removed. CodeRefused, naming them, while agents
	// that are not at rest use it.
	RemoveAccount(ctx context.Context, id cw.AccountID, ev cw.Event) error
	// SaveUsage stores the use of windows, and a sample of each.
	SaveUsage(ctx context.Context, id cw.AccountID, windows []cw.UsageWindow, at time.Time) error
}
