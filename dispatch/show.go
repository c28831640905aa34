package dispatch

import (
	"context"
	"time"

	"cw/internal/cw"
)

// showEvery is the least time between two times that the user is shown a branch:
// to show it takes longer than a merge that nothing checks.
const showEvery = time.Second

// showSoon shows the branches of an initiative in the repositories of its user, as
// they are then: at once, or, where that was done a moment ago, a little later. It
// is done beside everything else, but one after the other, so that an older commit
// is never shown after a newer one. It never waits.
func (d *Dispatcher) showSoon(ctx context.Context, id cw.InitiativeID) {
	d.mu.Lock()
	_, being := d.showing[id]
	d.showing[id] = true
	d.mu.Unlock()
	if being {
		return
	}
	d.work.Go(func() {
		for d.wantsShow(id) {
			d.show(ctx, id)
			select {
			case <-ctx.Done(): // the next daemon shows what is not shown
				return
			case <-time.After(showEvery):
			}
		}
	})
}

// wantsShow tells whether something moved since it was last asked. When nothing
// did, showing is over.
func (d *Dispatcher) wantsShow(id cw.InitiativeID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.showing[id] {
		delete(d.showing, id)
		return false
	}
	d.showing[id] = false
	return true
}

// show shows the branches of an initiative that hold anything.
func (d *Dispatcher) show(ctx context.Context, id cw.InitiativeID) {
	rows, err := d.Store.IntegrationsOf(ctx, id)
	if err != nil {
		if ctx.Err() == nil {
			d.Log.Error("read the branches of an initiative", "initiative", id, "error", err)
		}
		return
	}
	for _, row := range rows {
		if row.Head == "" || row.Head == row.BaseCommit {
			continue
		}
		p, err := d.Store.ProjectByRef(ctx, string(row.ProjectID))
		if err == nil {
			err = d.Repos.Publish(ctx, p, row)
		}
		if err != nil && ctx.Err() == nil && cw.ErrorCode(err) != cw.CodeNotFound {
			d.Log.Warn("show the branch of an initiative in the repository", "branch", row.Branch, "project", row.Project, "error", err)
		}
	}
}
