package daemon

import (
	"context"
	"log/slog"
	"time"

	"cw/internal/store"
)

// retentionEvery is the time between two looks for events that are too old.
const retentionEvery = time.Hour

// retention forgets old events.
type retention struct {
	store *store.DB
	keep  time.Duration    // events that are older go; 0: none ever
	now   func() time.Time // the store's clock
	log   *slog.Logger
}

// Run looks at once, then every hour, until ctx ends. What cannot be dropped
// now is dropped later.
func (r retention) Run(ctx context.Context) error {
	if r.keep <= 0 {
		<-ctx.Done()
		return nil
	}
	again := time.NewTicker(retentionEvery)
	defer again.Stop()
	for {
		n, err := r.store.DropEvents(ctx, r.now().Add(-r.keep))
		if n > 0 {
			r.log.InfoContext(ctx, "old events were dropped", "count", n, "olderThan", r.keep)
		}
		if err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "drop old events", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}
