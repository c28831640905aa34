package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cw/internal/cw"
)

// self is who does what the dispatcher does.
func self() cw.Actor { return cw.Actor{Kind: cw.ActorCW} }

// settle brings tasks and phases to where their agents and tasks left them, in
// the store and in the world.
func (d *Dispatcher) settle(ctx context.Context, w World) error {
	agents := make(map[cw.AgentID]*cw.TaskAgent, len(w.Agents))
	for i := range w.Agents {
		agents[w.Agents[i].ID] = &w.Agents[i]
	}
	merges := make(map[cw.TaskID]*cw.Merge, len(w.Merges))
	for i := range w.Merges {
		merges[w.Merges[i].TaskID] = &w.Merges[i]
	}
	for i := range w.Tasks {
		t := &w.Tasks[i]
		if t.AgentID == "" || d.isStarting(t.ID) {
			continue
		}
		m := merges[t.ID]
		own := m
		if m != nil && m.AgentID != t.AgentID {
			own = nil // the way of an agent before it, which failed on it
		}
		a := afterRun(*t, agents[t.AgentID], own, d.Policy, w.Now)
		if err := d.apply(ctx, w, t, m, a); err != nil {
			return err
		}
	}
	for _, settle := range []func(context.Context, World) error{d.letGo, d.dismiss} {
		if err := settle(ctx, w); err != nil {
			return err
		}
	}
	return d.settlePhases(ctx, w)
}

func (d *Dispatcher) isStarting(id cw.TaskID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, being := d.starting[id]
	return being
}

// apply stores what became of a task.
func (d *Dispatcher) apply(ctx context.Context, w World, t *cw.Task, m *cw.Merge, a after) error {
	switch a.kind {
	case afterClose:
		return d.move(ctx, t, cw.TaskMove{From: []cw.TaskStatus{cw.TaskRunning}, To: cw.TaskDone, Summary: &a.why, Blocked: new(string)})
	case afterQueue:
		return d.queue(ctx, w, t, m)
	case afterRetry:
		return d.retryLater(ctx, t, []cw.TaskStatus{cw.TaskRunning}, a)
	case afterBlock:
		return d.block(ctx, t, []cw.TaskStatus{cw.TaskRunning}, a.why)
	case afterWork:
		return d.worksAgain(ctx, t, m)
	}
	return nil
}

// move stores a step of a task, and takes it over into the world.
func (d *Dispatcher) move(ctx context.Context, t *cw.Task, m cw.TaskMove) error {
	m.ID, m.OfAgent = t.ID, t.AgentID
	moved, err := d.Store.MoveTask(ctx, m)
	if err != nil {
		return fmt.Errorf("move task %s: %w", t.ID, err)
	}
	if moved {
		t.Status = m.To
		d.Fail.Hit("dispatch/task-moved")
	}
	return nil
}

// retryLater lets a task be started again, and counts why.
func (d *Dispatcher) retryLater(ctx context.Context, t *cw.Task, from []cw.TaskStatus, a after) error {
	tries, setbacks := t.Tries, t.Setbacks
	if a.outside {
		setbacks++
	} else {
		tries, setbacks = tries+1, 0
	}
	t.RetryAt, t.Blocked = &a.at, a.why
	return d.move(ctx, t, cw.TaskMove{From: from, To: cw.TaskPending, Tries: &tries, Setbacks: &setbacks, RetryAt: &a.at, Blocked: &a.why})
}

// block leaves a task to a person.
func (d *Dispatcher) block(ctx context.Context, t *cw.Task, from []cw.TaskStatus, why string) error {
	t.Blocked = why
	return d.move(ctx, t, cw.TaskMove{From: from, To: cw.TaskBlocked, Blocked: &why, RetryAt: &time.Time{}, Events: []cw.Event{blockedEvent(*t, why)}})
}

func blockedEvent(t cw.Task, why string) cw.Event {
	ev := cw.NewEvent(cw.EventTaskBlocked, self(), cw.TaskBlockedBy{TaskID: t.ID, Name: t.Name, Reason: cut(why, 500)}).About(t.AgentID, "")
	ev.TaskID = t.ID
	return ev
}

// worksAgain notes that the agent of a task that was blocked, or whose work was
// on its way, was started again by somebody.
func (d *Dispatcher) worksAgain(ctx context.Context, t *cw.Task, m *cw.Merge) error {
	if t.Status == cw.TaskBlocked || m == nil {
		return d.move(ctx, t, cw.TaskMove{From: []cw.TaskStatus{t.Status}, To: cw.TaskRunning})
	}
	if m.Status != cw.MergeQueued && m.Status != cw.MergeChecking {
		return nil
	}
	back := *m
	back.Parts = slices.Clone(m.Parts)
	back.Status, back.Wait, back.WaitCode, back.VerifiedBy, back.Evidence = cw.MergeConflicted, "", "", "", "its agent works again"
	for i := range back.Parts {
		back.Parts[i] = cw.MergePart{ProjectID: back.Parts[i].ProjectID, Project: back.Parts[i].Project, Head: back.Parts[i].Head}
	}
	moved, err := d.Store.MoveMerge(ctx, cw.MergeMove{
		Merge: back, From: []cw.MergeStatus{m.Status},
		Task: &cw.TaskMove{ID: t.ID, From: []cw.TaskStatus{cw.TaskVerifying}, To: cw.TaskRunning},
	})
	if moved {
		*m, t.Status = back, cw.TaskRunning
	}
	return err
}

// letGo stops the agents of tasks that were cancelled.
func (d *Dispatcher) letGo(ctx context.Context, w World) error {
	known := make(map[cw.TaskID]bool, len(w.Tasks))
	for _, t := range w.Tasks {
		known[t.ID] = true
	}
	for _, a := range w.Agents {
		if a.TaskID == "" || known[a.TaskID] || !a.Status.CanBecome(cw.StatusStopped) || a.ID == "" {
			continue
		}
		t, err := d.Store.TaskByID(ctx, a.TaskID)
		if err != nil || t.Status != cw.TaskCancelled || t.AgentID != a.ID {
			continue // of an initiative in which nothing is left to do
		}
		if !d.claimStop(a.ID) {
			continue
		}
		d.Log.Info("stop the agent of a cancelled task", "task", t.ID, "agent", a.Alias)
		d.work.Go(func() {
			defer d.endStop(a.ID)
			if _, err := d.Agents.Stop(ctx, string(a.ID), cw.StopRequest{}); err != nil && ctx.Err() == nil {
				d.Log.Error("stop the agent of a cancelled task", "agent", a.Alias, "error", err)
			}
		})
	}
	return nil
}

// dismiss lets go of work whose task is over some other way.
func (d *Dispatcher) dismiss(ctx context.Context, w World) error {
	for i := range w.Merges {
		m := w.Merges[i]
		if now := taskOf(w, m.TaskID); now != nil && now.Status != cw.TaskDone && !begunAnew(*now, m) {
			continue
		}
		t, err := d.Store.TaskByID(ctx, m.TaskID)
		if err != nil {
			return err
		}
		if t.Status != cw.TaskCancelled && t.Status != cw.TaskDone && !begunAnew(t, m) {
			continue // of an initiative that is archived
		}
		from := m.Status
		m.Status, m.Wait, m.WaitCode = cw.MergeDismissed, "", ""
		moved, err := d.Store.MoveMerge(ctx, cw.MergeMove{
			Merge: m, From: []cw.MergeStatus{from}, Events: []cw.Event{mergeEvent(cw.EventMergeDismissed, m, t, "", "its task is "+string(t.Status))},
		})
		if err != nil {
			return err
		}
		if moved {
			w.Merges[i] = m
		}
	}
	return nil
}

// begunAnew tells whether a person wants a task done once more whose work is on
// its way.
func begunAnew(t cw.Task, m cw.Merge) bool {
	return t.Status == cw.TaskPending && (m.Status == cw.MergeQueued || m.Status == cw.MergeChecking)
}

// settlePhases moves phases on with their tasks. One that never had any stays open:
// nobody has said what it is yet.
func (d *Dispatcher) settlePhases(ctx context.Context, w World) error {
	type count struct{ all, over, begun, waiting int }
	of := map[cw.PhaseID]*count{}
	for _, t := range w.Tasks {
		c := of[t.PhaseID]
		if c == nil {
			c = &count{}
			of[t.PhaseID] = c
		}
		c.all++
		switch {
		case t.Status == cw.TaskDone:
			c.over++
		case working(t.Status):
			c.begun++
		case t.Status != cw.TaskDraft:
			c.waiting++
		}
	}
	for i := range w.Phases {
		p := &w.Phases[i]
		c := of[p.ID]
		switch {
		case c == nil && slices.Contains(w.Dropped, p.ID):
			c = &count{} // all that it had was cancelled
		case c == nil:
			continue
		}
		to := p.Status
		switch {
		case p.Status == cw.PhaseDone && c.waiting+c.begun > 0:
			to = cw.PhaseApproved // somebody added to it
		case (p.Status == cw.PhaseApproved || p.Status == cw.PhaseRunning) && c.over == c.all:
			to = cw.PhaseDone
		case p.Status == cw.PhaseApproved && c.begun > 0:
			to = cw.PhaseRunning
		}
		if to == p.Status {
			continue
		}
		moved, err := d.Store.MovePhase(ctx, p.ID, []cw.PhaseStatus{p.Status}, to)
		if err != nil {
			return fmt.Errorf("move phase %s: %w", p.ID, err)
		}
		if moved {
			p.Status = to
		}
	}
	return nil
}

// reach shows checkpoints to people.
func (d *Dispatcher) reach(ctx context.Context, tasks []cw.Task) error {
	for _, t := range tasks {
		if err := d.move(ctx, &t, cw.TaskMove{
			From: []cw.TaskStatus{cw.TaskPending}, To: cw.TaskReady, Events: []cw.Event{checkpointEvent(t)},
		}); err != nil {
			return err
		}
	}
	return nil
}

// withdraw makes checkpoints wait again whose dependency was undone.
func (d *Dispatcher) withdraw(ctx context.Context, tasks []cw.Task) error {
	for _, t := range tasks {
		if err := d.move(ctx, &t, cw.TaskMove{From: []cw.TaskStatus{cw.TaskReady}, To: cw.TaskPending}); err != nil {
			return err
		}
	}
	return nil
}

func checkpointEvent(t cw.Task) cw.Event {
	ev := cw.NewEvent(cw.EventTaskCheckpoint, self(), cw.TaskCheckpoint{TaskID: t.ID, Name: t.Name, Type: t.Type}).About(t.AgentID, "")
	ev.TaskID = t.ID
	return ev
}

// claimStart marks a task as being started, in this daemon; false when it is
// already. That none is started twice is the store's business.
func (d *Dispatcher) claimStart(a cw.TaskAgent) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, being := d.starting[a.TaskID]; being {
		return false
	}
	d.starting[a.TaskID] = a
	return true
}

// claimStop marks an agent as being stopped; false when it is already. One that is
// still being made can be stopped, too.
func (d *Dispatcher) claimStop(id cw.AgentID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopping[id] {
		return false
	}
	d.stopping[id] = true
	return true
}

func (d *Dispatcher) endStop(id cw.AgentID) {
	d.mu.Lock()
	delete(d.stopping, id)
	d.mu.Unlock()
	d.Ring()
}

func (d *Dispatcher) endStart(id cw.TaskID) {
	d.mu.Lock()
	delete(d.starting, id)
	d.mu.Unlock()
	d.Ring()
}

// start makes the agent of a task, beside the loop: a set-up may take minutes.
func (d *Dispatcher) start(ctx context.Context, w World, s Start) {
	t := taskOf(w, s.Task)
	if t == nil || !d.claimStart(agentToBe(w, *t, s)) {
		return
	}
	in, task := initiativeOf(w, t.InitiativeID), *t
	d.work.Go(func() {
		defer d.endStart(s.Task)
		err := d.startNow(ctx, in, task, s)
		if err == nil || ctx.Err() != nil {
			return
		}
		d.Log.Warn("start a task", "task", s.Task, "error", err)
		if err := d.afterStart(ctx, task, err); err != nil && ctx.Err() == nil {
			d.Log.Error("store that a task was not started", "task", s.Task, "error", err)
		}
	})
}

// agentToBe is what is known of the agent of a task before there is one.
func agentToBe(w World, t cw.Task, s Start) cw.TaskAgent {
	in := initiativeOf(w, t.InitiativeID)
	a := cw.TaskAgent{Status: cw.StatusPending, Provider: providerOf(w, in).Name, AccountID: s.AccountID, InitiativeID: in.ID, TaskID: t.ID}
	for _, p := range in.Projects {
		a.ProjectIDs = append(a.ProjectIDs, p.ID)
	}
	return a
}

// startNow makes sure that there is a branch to begin from, and makes the agent.
// The key of the request is the task with the number of its start: a daemon that
// dies in between asks for the same agent again.
func (d *Dispatcher) startNow(ctx context.Context, in cw.Initiative, t cw.Task, s Start) error {
	for _, ref := range in.Projects {
		if _, err := d.integration(ctx, in, ref.ID); err != nil {
			return err
		}
	}
	d.Fail.Hit("dispatch/branches")
	stored, err := d.Store.TaskByID(ctx, t.ID)
	if err != nil {
		return err
	}
	req := cw.SpawnRequest{
		RequestKey: fmt.Sprintf("task-%s-%d", t.ID, stored.Starts+1), Mode: cw.ModeExecute, TaskID: t.ID, Goal: again(stored),
		Provider: in.Work.Provider, Model: in.Work.Model, Script: in.Work.Script, AccountID: string(s.AccountID), Claim: true,
	}
	_, err = d.Agents.SpawnTask(cw.WithActor(ctx, self()), req)
	d.Fail.Hit("dispatch/started")
	return err
}

// afterStart stores that a task could not be started. When its agent is there all
// the same, that one's end tells.
func (d *Dispatcher) afterStart(ctx context.Context, t cw.Task, cause error) error {
	stored, err := d.Store.TaskByID(ctx, t.ID)
	if err != nil {
		return err
	}
	if stored.Status != cw.TaskPending && stored.Status != cw.TaskReady {
		return nil
	}
	from := []cw.TaskStatus{cw.TaskPending, cw.TaskReady}
	a := startFailed(stored, d.Policy, d.Now(), cause)
	if a.kind == afterBlock {
		return d.block(ctx, &stored, from, a.why)
	}
	return d.retryLater(ctx, &stored, from, a)
}

// integration gives the branch of an initiative in a project, and makes it when
// it is not there.
func (d *Dispatcher) integration(ctx context.Context, in cw.Initiative, id cw.ProjectID) (cw.Integration, error) {
	p, err := d.Store.ProjectByRef(ctx, string(id))
	if err != nil {
		return cw.Integration{}, err
	}
	all, err := d.Store.IntegrationsOf(ctx, in.ID)
	if err != nil {
		return cw.Integration{}, err
	}
	row := cw.Integration{InitiativeID: in.ID, ProjectID: p.ID, Project: p.Name, Branch: in.Branch()}
	for _, have := range all {
		if have.ProjectID == p.ID {
			row = have
		}
	}
	known := row.Head
	if row.BaseCommit == "" {
		if row.BaseBranch, row.BaseCommit, err = d.Repos.Begin(ctx, p); err != nil {
			return row, err
		}
	}
	head, note, err := d.Repos.Ensure(ctx, p, row, func(ctx context.Context, commit string) (bool, error) {
		return d.movedThere(ctx, in.ID, p.ID, commit)
	})
	if err != nil {
		return row, err
	}
	if note != "" {
		d.Log.Warn("the branch of an initiative", "branch", row.Branch, "project", p.Name, "note", note)
	}
	// Where it is further on than is stored, the merge that moved it stores that.
	if row.Head = head; known != "" {
		return row, nil
	}
	return row, d.Store.BeginIntegration(ctx, row)
}

// movedThere tells whether a branch is at a commit because cw moved it there: one
// that was checked, and that is just being stored, or was while somebody looked.
// The merges are read first: one that is stored in between is seen by its branch.
func (d *Dispatcher) movedThere(ctx context.Context, id cw.InitiativeID, project cw.ProjectID, commit string) (bool, error) {
	merges, err := d.Store.MergesOf(ctx, id)
	if err != nil {
		return false, err
	}
	rows, err := d.Store.IntegrationsOf(ctx, id)
	if err != nil {
		return false, err
	}
	head := ""
	for _, r := range rows {
		if r.ProjectID == project {
			head = r.Head
		}
	}
	for _, m := range merges {
		for _, p := range m.Parts {
			if (m.Status == cw.MergeQueued || m.Status == cw.MergeChecking) && p.ProjectID == project && p.Checked && p.Commit == commit && p.Onto == head {
				return true, nil
			}
		}
	}
	return head == commit, nil
}
