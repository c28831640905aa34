package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"cw/internal/cw"
)

// queue puts the work of a task on its way: for the first time, or again after
// its agent mended it. It keeps its place: the time at which it was queued first.
func (d *Dispatcher) queue(ctx context.Context, w World, t *cw.Task, had *cw.Merge) error {
	view, err := d.Store.AgentView(ctx, string(t.AgentID))
	if err != nil {
		return fmt.Errorf("read agent of task %s: %w", t.ID, err)
	}
	m, from := cw.Merge{
		ID: cw.MergeID(cw.NewID()), InitiativeID: t.InitiativeID, TaskID: t.ID, AgentID: t.AgentID,
		Verify: t.Type == cw.TaskCheckpointVerify, QueuedAt: w.Now,
	}, []cw.MergeStatus(nil)
	if had != nil {
		m, from = *had, []cw.MergeStatus{had.Status}
		if m.AgentID != t.AgentID { // another agent's work: nobody has handed that back
			m.AgentID, m.Conflicts, m.Reds, m.Evidence = t.AgentID, 0, 0, ""
		}
	}
	m.Status, m.Wait, m.WaitCode, m.VerifiedBy, m.Parts = cw.MergeQueued, "", "", "", partsOf(view)
	why, err := d.unmergeable(ctx, view)
	if err != nil {
		return err
	}
	if why != "" {
		return d.block(ctx, t, []cw.TaskStatus{cw.TaskRunning}, why)
	}
	if len(m.Parts) == 0 && !m.Verify { // it took back what it had done
		return d.dropMerge(ctx, t, had, view)
	}
	outside := d.outsideAtQueue(ctx, w, *t, view, m.Parts)
	events := []cw.Event{mergeEvent(cw.EventMergeQueued, m, *t, view.Alias, "")}
	if outside != nil && !sameOutside(t.Outside, *outside) {
		events = append(events, outsideEvent(*t, t.AgentID, *outside)...)
	}
	if m.Verify {
		m.WaitCode = cw.WaitPerson
		m.Wait = "a person looks at the result: cw task diff " + string(t.ID) + "; then: cw task done " + string(t.ID)
		events = append(events, checkpointEvent(*t))
	}
	moved, err := d.Store.MoveMerge(ctx, cw.MergeMove{
		Merge: m, From: from, Events: events,
		Task: &cw.TaskMove{ID: t.ID, OfAgent: t.AgentID, From: []cw.TaskStatus{cw.TaskRunning}, To: cw.TaskVerifying, RetryAt: &time.Time{}, Outside: outside},
	})
	if err != nil {
		return fmt.Errorf("queue the work of task %s: %w", t.ID, err)
	}
	if moved {
		t.Status = cw.TaskVerifying
		d.Fail.Hit("dispatch/queued")
		d.Ring()
	}
	return nil
}

// dropMerge closes a task whose agent found, after a conflict or a red check,
// that nothing is left to merge.
func (d *Dispatcher) dropMerge(ctx context.Context, t *cw.Task, had *cw.Merge, view cw.AgentView) error {
	summary := view.Result
	if had == nil {
		return d.move(ctx, t, cw.TaskMove{From: []cw.TaskStatus{cw.TaskRunning}, To: cw.TaskDone, Summary: &summary, Blocked: new(string)})
	}
	m := *had
	m.Status, m.Parts = cw.MergeDismissed, nil
	_, err := d.Store.MoveMerge(ctx, cw.MergeMove{
		Merge: m, From: []cw.MergeStatus{had.Status}, Events: []cw.Event{mergeEvent(cw.EventMergeDismissed, m, *t, view.Alias, "nothing is left to merge")},
		Task: &cw.TaskMove{ID: t.ID, From: []cw.TaskStatus{cw.TaskRunning}, To: cw.TaskDone, Summary: &summary, Blocked: new(string)},
	})
	return err
}

// partsOf are the projects in which an agent has commits.
func partsOf(v cw.AgentView) []cw.MergePart {
	var parts []cw.MergePart
	for _, p := range v.Projects {
		if p.Commits > 0 && p.HeadCommit != p.BaseCommit {
			parts = append(parts, cw.MergePart{ProjectID: p.ProjectID, Project: p.Project, Head: p.HeadCommit})
		}
	}
	return parts
}

// unmergeable tells why the commits of an agent cannot be merged: they hold files
// that are cw's own.
func (d *Dispatcher) unmergeable(ctx context.Context, v cw.AgentView) (string, error) {
	for _, tree := range v.Projects {
		if tree.Commits == 0 {
			continue
		}
		p, err := d.Store.ProjectByRef(ctx, string(tree.ProjectID))
		if err != nil {
			return "", err
		}
		paths, err := d.Repos.Reserved(ctx, p, tree.BaseCommit, tree.HeadCommit)
		if err != nil {
			return "", err
		}
		if len(paths) > 0 {
			return fmt.Sprintf("%s committed %s, which is cw's own and cannot be merged; it takes it out with: cw agent resume %s \"take .cw out of your commits\"", v.Alias, paths[0], v.Alias), nil
		}
	}
	return "", nil
}

func mergeEvent(t cw.EventType, m cw.Merge, task cw.Task, alias, text string) cw.Event {
	ev := cw.NewEvent(t, self(), cw.MergeChanged{MergeID: m.ID, TaskID: m.TaskID, Task: task.Name, Name: alias, Status: m.Status, Text: text}).About(m.AgentID, "")
	ev.TaskID = m.TaskID
	return ev
}

// merge works off the queue of each initiative, one beside the other.
func (d *Dispatcher) merge(ctx context.Context, w World) {
	if w.State == cw.DispatchPaused {
		return
	}
	for _, in := range w.Initiatives {
		next := nextMerge(w, in.ID)
		if next == nil {
			continue
		}
		way := newOnWay(next.ID)
		if !d.claimMerging(in.ID, way) {
			continue
		}
		m := *next
		m.Parts = slices.Clone(m.Parts)
		task := *taskOf(w, m.TaskID)
		d.work.Go(func() {
			defer d.endMerging(in.ID)
			if !d.isCurrent(ctx, m) {
				return
			}
			switch err := d.mergeOne(ctx, in, task, m, way.gone); {
			case err == nil || ctx.Err() != nil:
			case errors.As(err, new(goneError)):
				d.Log.Info("let go of a merge", "initiative", in.Slug, "task", m.TaskID, "because", err)
			default:
				d.holdUp(ctx, in, m, err)
			}
		})
	}
}

// isCurrent tells whether a merge stands where the look that chose it saw it: that
// one may be older than the end of the merge before.
func (d *Dispatcher) isCurrent(ctx context.Context, m cw.Merge) bool {
	now, found, err := d.Store.MergeOfTask(ctx, m.TaskID)
	return err == nil && found && now.ID == m.ID && now.Status == m.Status && now.UpdatedAt.Equal(m.UpdatedAt)
}

// onWay is the queue of an initiative that is being worked off.
type onWay struct {
	merge cw.MergeID    // "" once it went another way
	gone  chan struct{} // closed when the merge goes another way: nobody waits for its checks
}

func newOnWay(id cw.MergeID) *onWay { return &onWay{merge: id, gone: make(chan struct{})} }

func (d *Dispatcher) claimMerging(id cw.InitiativeID, way *onWay) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.merging[id] != nil {
		return false
	}
	d.merging[id] = way
	return true
}

// letGoOfMerges tells merges that are on their way that they are not wanted any
// more: their task was cancelled or closed, another agent does it, or its own one
// works again. Their checks hold up the queue for nothing.
func (d *Dispatcher) letGoOfMerges(w World) {
	wanted := map[cw.MergeID]bool{}
	for _, m := range w.Merges {
		wanted[m.ID] = m.Status == cw.MergeQueued || m.Status == cw.MergeChecking
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, way := range d.merging {
		if way.merge != "" && !wanted[way.merge] {
			way.merge = ""
			close(way.gone)
		}
	}
}

func (d *Dispatcher) endMerging(id cw.InitiativeID) {
	d.mu.Lock()
	delete(d.merging, id)
	d.mu.Unlock()
	d.Ring()
}

// nextMerge is the work of an initiative that is merged next: the oldest that
// waits for nobody. One that was being merged goes on first: its branches may
// have moved in part.
func nextMerge(w World, id cw.InitiativeID) *cw.Merge {
	var next *cw.Merge
	for i := range w.Merges {
		m := &w.Merges[i]
		if m.InitiativeID != id || taskOf(w, m.TaskID) == nil {
			continue
		}
		if taskOf(w, m.TaskID).Status == cw.TaskMerging {
			return m
		}
		if next == nil && mergeable(*m, w.Now) {
			next = m
		}
	}
	return next
}

// mergeable tells whether a merge waits for nobody.
func mergeable(m cw.Merge, now time.Time) bool {
	switch {
	case m.Status != cw.MergeQueued && m.Status != cw.MergeChecking:
		return false
	case m.Verify && m.VerifiedBy == "":
		return false
	}
	return m.Wait == "" || m.UpdatedAt.Add(waitAgain).Before(now)
}

// waitAgain is the time after which a merge that something holds up is tried
// again.
const waitAgain = 15 * time.Second

func taskOf(w World, id cw.TaskID) *cw.Task {
	for i := range w.Tasks {
		if w.Tasks[i].ID == id {
			return &w.Tasks[i]
		}
	}
	return nil
}

// goneError says that a merge was changed by others while it was on its way: what
// becomes of it is theirs.
type goneError struct{ error }

func (e goneError) Unwrap() error { return e.error }

// personError says that a merge waits for what a person does.
type personError struct{ error }

func (e personError) Unwrap() error { return e.error }

// holdUp notes what stands in the way of a merge, so that the next one goes
// first; it is tried again. What stands there already is not logged again.
func (d *Dispatcher) holdUp(ctx context.Context, in cw.Initiative, m cw.Merge, cause error) {
	before := m.Wait
	m.Wait, m.WaitCode = cause.Error(), cw.WaitRetry
	level := slog.LevelError
	if errors.As(cause, new(personError)) {
		m.WaitCode, level = cw.WaitProject, slog.LevelWarn
	}
	if hint := cw.ErrorHint(cause); hint != "" {
		m.Wait += " (" + hint + ")"
	}
	if m.Wait != before {
		d.Log.Log(ctx, level, "a merge is held up", "initiative", in.Slug, "task", m.TaskID, "error", m.Wait)
	}
	from := []cw.MergeStatus{cw.MergeQueued, cw.MergeChecking}
	if m.Status != cw.MergeChecking {
		m.Status = cw.MergeQueued
	}
	if _, err := d.Store.MoveMerge(ctx, cw.MergeMove{Merge: m, From: from}); err != nil && ctx.Err() == nil {
		d.Log.Error("store what holds a merge up", "task", m.TaskID, "error", err)
	}
}
