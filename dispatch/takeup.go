package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"cw/internal/cw"
)

// takeUp mends what a daemon left that died: a branch that was moved is shown in
// the user's repository, and checks and checkouts that no merge needs any more go.
// It works beside the loop.
func (d *Dispatcher) takeUp(ctx context.Context) {
	all, err := d.Store.Integrations(ctx)
	if err != nil {
		if ctx.Err() == nil {
			d.Log.Error("read the branches of initiatives", "error", err)
		}
		return
	}
	for _, row := range all {
		d.showSoon(ctx, row.InitiativeID)
	}
	d.work.Go(func() {
		if err := d.Agents.EndChecks(ctx, d.wantedChecks); err != nil && ctx.Err() == nil {
			d.Log.Warn("end checks that nobody waits for", "error", err)
		}
		if err := d.sweepScratch(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("take old checkouts of checks away", "error", err)
		}
	})
}

// wantedChecks names the runs of the checks of merges that are on their way. A
// check is stored with its merge before it begins, so one that goes on and is not
// named is nobody's.
func (d *Dispatcher) wantedChecks(ctx context.Context) (map[cw.RunID]bool, error) {
	w, err := d.Store.DispatchWorld(ctx)
	if err != nil {
		return nil, err
	}
	wanted := map[cw.RunID]bool{}
	for _, m := range w.Merges {
		for _, p := range m.Parts {
			wanted[p.CheckRun] = goesOn(w, m)
		}
	}
	return wanted, nil
}

// goesOn tells whether a merge needs its check and its checkout.
func goesOn(w cw.DispatchWorld, m cw.Merge) bool {
	task := taskOf(World{DispatchWorld: w}, m.TaskID)
	return task != nil && working(task.Status) && (m.Status == cw.MergeQueued || m.Status == cw.MergeChecking)
}

// sweepScratch takes checkouts away whose merge is over, or goes another way.
func (d *Dispatcher) sweepScratch(ctx context.Context) error {
	entries, err := os.ReadDir(d.Scratch)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the checkouts of checks: %w", err)
	}
	w, err := d.Store.DispatchWorld(ctx)
	if err != nil {
		return err
	}
	needed := map[string]bool{}
	for _, m := range w.Merges {
		needed[string(m.ID)] = goesOn(w, m)
	}
	var failed error
	for _, e := range entries {
		merge, project, named := strings.Cut(d.Repos.ScratchName(e.Name()), "-")
		if !e.IsDir() || !named || needed[merge] {
			continue
		}
		p, err := d.Store.ProjectByRef(ctx, project)
		if err == nil {
			err = d.unscratch(ctx, p, d.scratchOf(cw.Merge{ID: cw.MergeID(merge)}, cw.MergePart{ProjectID: p.ID}))
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
