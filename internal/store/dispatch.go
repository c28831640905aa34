package store

import (
	"context"
	"reflect"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cw/internal/cw"
)

// openMerges selects merges that are still on their way, as the index merges_open
// says it.
const openMerges = "status NOT IN ('merged', 'dismissed')"

// dispatchRow is the only row of its table.
type dispatchRow struct {
	ID    int `gorm:"primaryKey"`
	State cw.DispatchState
}

func (dispatchRow) TableName() string { return "dispatch" }

// DispatchWorld gives everything that is stored and that decisions about tasks
// look at, as of one moment: active initiatives in which something is left to
// do. The number of queries does not depend on how much that is.
func (db *DB) DispatchWorld(ctx context.Context) (cw.DispatchWorld, error) {
	var w cw.DispatchWorld
	err := db.query(ctx, "look at tasks", func(g *gorm.DB) error {
		w = cw.DispatchWorld{}
		var row dispatchRow
		if _, err := one(g, &row, "id = 1"); err != nil {
			return err
		}
		if w.State = row.State; w.State == "" {
			w.State = cw.DispatchRunning
		}
		const busy = "status = 'active' AND id IN (SELECT initiative_id FROM tasks WHERE status NOT IN ('draft', 'done', 'cancelled')" +
			" UNION SELECT initiative_id FROM merges WHERE " + openMerges +
			" UNION SELECT initiative_id FROM phases p WHERE status = 'running' OR status = 'approved' AND EXISTS (SELECT 1 FROM tasks WHERE phase_id = p.id)" +
			" AND NOT EXISTS (SELECT 1 FROM tasks WHERE phase_id = p.id AND status NOT IN ('done', 'cancelled')))"
		if err := g.Where(busy).Order("created_at, id").Find(&w.Initiatives).Error; err != nil {
			return err
		}
		if err := addProjects(g, w.Initiatives); err != nil {
			return err
		}
		return fillWorld(g, &w)
	})
	return w, err
}

// fillWorld reads what belongs to the initiatives of a world.
func fillWorld(g *gorm.DB, w *cw.DispatchWorld) error {
	ids := make([]cw.InitiativeID, len(w.Initiatives))
	for i, in := range w.Initiatives {
		ids[i] = in.ID
	}
	of := list(ids)
	const mine = "initiative_id IN (SELECT value FROM json_each(?))"
	var err error
	if w.Phases, err = phasesWhere(g.Omit("body"), mine, of); err != nil {
		return err
	}
	if w.Tasks, err = tasksWhere(g.Omit("body", "summary"), mine+" AND status <> 'cancelled'", of); err != nil {
		return err
	}
	w.Tasks = phaseOrder(w.Tasks, w.Phases)
	if err := g.Raw("SELECT id FROM phases p WHERE "+mine+" AND EXISTS (SELECT 1 FROM tasks WHERE phase_id = p.id)"+
		" AND NOT EXISTS (SELECT 1 FROM tasks WHERE phase_id = p.id AND status <> 'cancelled') ORDER BY position, id", of).Scan(&w.Dropped).Error; err != nil {
		return err
	}
	if err := g.Where(openMerges).Order("queued_at, id").Find(&w.Merges).Error; err != nil {
		return err
	}
	if w.Agents, err = taskAgents(g, of); err != nil {
		return err
	}
	return g.Raw("SELECT b.scope_id FROM budgets b WHERE b.scope = ? AND b.limit_usd > 0 AND b.limit_usd <= (SELECT COALESCE(SUM(cost_usd), 0) FROM runs"+
		" WHERE agent_id IN (SELECT id FROM agents WHERE initiative_id = b.scope_id))", cw.BudgetInitiative).Scan(&w.OverBudget).Error
}

// taskAgents gives the agents to which tasks of initiatives belong, all that have
// a process, and those of cancelled tasks that would go on: by themselves or with
// answers.
func taskAgents(g *gorm.DB, initiatives string) ([]cw.TaskAgent, error) {
	var agents []cw.Agent
	err := g.Where("id IN (SELECT agent_id FROM tasks WHERE agent_id <> '' AND status IN ('running', 'verifying', 'merging', 'blocked')"+
		" AND initiative_id IN (SELECT value FROM json_each(?))) OR deleted_at IS NULL AND (status IN (SELECT value FROM json_each(?))"+
		" OR status IN ('parked', 'waiting_for_input') AND id IN (SELECT agent_id FROM tasks WHERE status = 'cancelled'))",
		initiatives, list(aliveStatuses())).Order("created_at, id").Find(&agents).Error
	if err != nil {
		return nil, err
	}
	ids := make([]cw.AgentID, len(agents))
	for i, a := range agents {
		ids[i] = a.ID
	}
	worktrees, err := worktreesOf(g, ids)
	if err != nil {
		return nil, err
	}
	questions, err := openQuestionsOf(g, ids)
	if err != nil {
		return nil, err
	}
	queued, err := queuedOf(g, ids)
	if err != nil {
		return nil, err
	}
	settling, err := settlingOf(g, ids)
	if err != nil {
		return nil, err
	}
	out := make([]cw.TaskAgent, len(agents))
	for i, a := range agents {
		out[i] = cw.TaskAgent{
			ID: a.ID, Alias: a.Alias, Status: a.Status, Reason: a.Reason, RetryAt: a.RetryAt, Error: a.Error, Result: a.Result,
			NoChanges: a.NoChanges, Provider: a.Provider, AccountID: a.AccountID, InitiativeID: a.InitiativeID, TaskID: a.TaskID,
			Removed: a.DeletedAt != nil, Settling: settling[a.ID], Waiting: len(questions[a.ID]), Queued: queued[a.ID], UpdatedAt: a.UpdatedAt,
		}
		for _, t := range worktrees[a.ID] {
			out[i].ProjectIDs = append(out[i].ProjectIDs, t.ProjectID)
			out[i].Commits += t.Commits
			out[i].Dirty += t.Dirty
		}
	}
	return out, nil
}

// DispatchState tells whether tasks are started.
func (db *DB) DispatchState(ctx context.Context) (cw.DispatchState, error) {
	row := dispatchRow{State: cw.DispatchRunning}
	err := db.query(ctx, "read the dispatcher's state", func(g *gorm.DB) error {
		_, err := one(g, &row, "id = 1")
		return err
	})
	return row.State, err
}

// SetDispatchState stores whether tasks are started, with its event. Nothing is
// stored when it is so already.
func (db *DB) SetDispatchState(ctx context.Context, s cw.DispatchState, ev cw.Event) error {
	return db.change(ctx, "set the dispatcher's state", func(t *tx) error {
		row := dispatchRow{State: cw.DispatchRunning}
		if _, err := one(t.DB, &row, "id = 1"); err != nil || row.State == s {
			return err
		}
		if err := t.Clauses(clause.OnConflict{UpdateAll: true}).Create(&dispatchRow{ID: 1, State: s}).Error; err != nil {
			return err
		}
		return t.emit(ev)
	})
}

// claimTask gives a task to the agent that is to do it, in the transaction that
// makes the agent: so none is ever started twice. With alone it is refused
// (CodeRefused) unless the task is free; else an agent that a person wants beside
// another one, or for a task that is not to be done, leaves it as it is.
func (t *tx) claimTask(a cw.Agent, alone bool) error {
	if a.TaskID == "" || a.Mode != cw.ModeExecute {
		return nil
	}
	var task cw.Task
	found, err := one(t.DB, &task, "id = ?", a.TaskID)
	if err != nil || !found {
		return err
	}
	free := []cw.TaskStatus{cw.TaskPending, cw.TaskReady}
	if !alone {
		free = append(free, cw.TaskBlocked)
	}
	if !slices.Contains(free, task.Status) {
		if !alone {
			return nil
		}
		return cw.Errorf(cw.CodeRefused, "the task %q is %s", task.Name, task.Status).WithHint("see: cw task show %s", task.ID)
	}
	if err := t.Exec("UPDATE tasks SET status = ?, agent_id = ?, starts = starts + 1, retry_at = NULL, outside = NULL, updated_at = ? WHERE id = ?",
		cw.TaskRunning, a.ID, t.now, task.ID).Error; err != nil {
		return err
	}
	if err := t.dismissMergeOf(task.ID); err != nil {
		return err
	}
	task.Status = cw.TaskRunning
	return t.emit(taskEvent(cw.Actor{Kind: cw.ActorCW}, task).About(a.ID, ""))
}

// dismissMergeOf lets go of what an earlier agent left for a task: another one
// does it now.
func (t *tx) dismissMergeOf(task cw.TaskID) error {
	return t.Exec("UPDATE merges SET status = ?, updated_at = ? WHERE task_id = ? AND "+openMerges, cw.MergeDismissed, t.now, task).Error
}

// releaseTask gives a task back whose agent was never there.
func (t *tx) releaseTask(a cw.Agent) error {
	if a.TaskID == "" {
		return nil
	}
	var task cw.Task
	found, err := one(t.DB, &task, "id = ? AND agent_id = ? AND status = ?", a.TaskID, a.ID, cw.TaskRunning)
	if err != nil || !found {
		return err
	}
	if err := t.Exec("UPDATE tasks SET status = ?, agent_id = '', updated_at = ? WHERE id = ?", cw.TaskPending, t.now, task.ID).Error; err != nil {
		return err
	}
	task.Status = cw.TaskPending
	return t.emit(taskEvent(cw.Actor{Kind: cw.ActorCW}, task))
}

// taskEvent tells where a task stands.
func taskEvent(by cw.Actor, task cw.Task) cw.Event {
	e := cw.NewEvent(cw.EventTaskChanged, by, cw.TaskChanged{TaskID: task.ID, PhaseID: task.PhaseID, Name: task.Name, Status: task.Status}).In(task.InitiativeID)
	e.TaskID = task.ID
	return e
}

// MoveTask stores a step of a task. false when the task stands somewhere else by
// now, or belongs to another agent: nothing is stored then.
func (db *DB) MoveTask(ctx context.Context, m cw.TaskMove) (moved bool, err error) {
	err = db.change(ctx, "move task", func(t *tx) error {
		moved, err = t.moveTask(m)
		return err
	})
	return moved && err == nil, err
}

func (t *tx) moveTask(m cw.TaskMove) (bool, error) {
	var task cw.Task
	found, err := one(t.DB, &task, "id = ?", m.ID)
	if err != nil || !found || !slices.Contains(m.From, task.Status) || m.OfAgent != "" && m.OfAgent != task.AgentID {
		return false, err
	}
	if m.Questions != nil && !reflect.DeepEqual(cw.Unanswered(task.Questions), cw.Unanswered(m.Questions)) {
		return false, nil // somebody asks something else by now
	}
	set := map[string]any{"status": m.To, "updated_at": t.now}
	put := func(column string, there bool, value func() any) {
		if there {
			set[column] = value()
		}
	}
	put("tries", m.Tries != nil, func() any { return *m.Tries })
	put("setbacks", m.Setbacks != nil, func() any { return *m.Setbacks })
	put("blocked", m.Blocked != nil, func() any { return *m.Blocked })
	put("comment", m.Comment != nil, func() any { return *m.Comment })
	put("summary", m.Summary != nil, func() any { return *m.Summary })
	put("retry_at", m.RetryAt != nil, func() any {
		if m.RetryAt.IsZero() {
			return nil
		}
		return m.RetryAt.UTC()
	})
	if err := t.Model(&cw.Task{}).Where("id = ?", m.ID).Updates(set).Error; err != nil {
		return false, err
	}
	if m.Questions != nil {
		if err := t.Model(&cw.Task{}).Where("id = ?", m.ID).Select("questions").Updates(&cw.Task{Questions: m.Questions}).Error; err != nil {
			return false, err
		}
	}
	if m.Outside != nil {
		outside := m.Outside
		if outside.Total == 0 {
			outside = nil
		}
		if err := t.Model(&cw.Task{}).Where("id = ?", m.ID).Select("outside").Updates(&cw.Task{Outside: outside}).Error; err != nil {
			return false, err
		}
	}
	if task.Status != m.To {
		by := cw.Actor{Kind: cw.ActorCW}
		if len(m.Events) > 0 {
			by = cw.Actor{Kind: m.Events[0].ActorKind, ID: m.Events[0].ActorID}
		}
		task.Status = m.To
		if err := t.emit(taskEvent(by, task).About(task.AgentID, "")); err != nil {
			return false, err
		}
	}
	return true, t.emitIn(task.InitiativeID, m.Events)
}

// MovePhase stores a step of a phase, when it stands in one of from.
func (db *DB) MovePhase(ctx context.Context, id cw.PhaseID, from []cw.PhaseStatus, to cw.PhaseStatus) (moved bool, err error) {
	err = db.change(ctx, "move phase", func(t *tx) error {
		var p cw.Phase
		found, err := one(t.DB, &p, "id = ?", id)
		if moved = found && slices.Contains(from, p.Status); err != nil || !moved {
			return err
		}
		if err := t.Exec("UPDATE phases SET status = ?, updated_at = ? WHERE id = ?", to, t.now, id).Error; err != nil {
			return err
		}
		return t.emit(cw.NewEvent(cw.EventPhaseChanged, cw.Actor{Kind: cw.ActorCW}, cw.PhaseChanged{PhaseID: p.ID, Name: p.Name, Status: to}).In(p.InitiativeID))
	})
	return moved && err == nil, err
}

// MoveMerge stores a step of a merge with that of its task, the text for its
// agent and the branches that it moved: all of it, or nothing. false when merge
// or task stand somewhere else by now.
func (db *DB) MoveMerge(ctx context.Context, m cw.MergeMove) (moved bool, err error) {
	err = db.change(ctx, "move merge", func(t *tx) error {
		moved, err = t.moveMerge(m)
		return err
	})
	return moved && err == nil, err
}

func (t *tx) moveMerge(m cw.MergeMove) (bool, error) {
	had := cw.Merge{}
	found, err := one(t.DB, &had, "id = ?", m.Merge.ID)
	if err != nil || found != (len(m.From) > 0) || found && !slices.Contains(m.From, had.Status) {
		return false, err
	}
	if !found {
		another, err := one(t.DB, &cw.Merge{}, "task_id = ? AND "+openMerges, m.Merge.TaskID)
		if err != nil || another {
			return false, err
		}
	}
	if m.Task != nil {
		if ok, err := t.moveTask(*m.Task); err != nil || !ok {
			return false, err
		}
	}
	m.Merge.UpdatedAt = t.now
	if m.Merge.Parts == nil {
		m.Merge.Parts = []cw.MergePart{}
	}
	if err := t.Clauses(clause.OnConflict{UpdateAll: true}).Create(&m.Merge).Error; err != nil {
		return false, err
	}
	for _, in := range m.Integrations {
		if err := t.moveIntegration(in); err != nil {
			return false, err
		}
	}
	if m.Message != nil {
		if _, err := t.addMessage(m.Merge.AgentID, "", *m.Message); err != nil {
			return false, err
		}
	}
	return true, t.emitIn(m.Merge.InitiativeID, m.Events)
}

// BeginIntegration stores the branch of an initiative in a project, when there is
// no row of it yet.
func (db *DB) BeginIntegration(ctx context.Context, in cw.Integration) error {
	return db.change(ctx, "begin the branch of an initiative", func(t *tx) error {
		in.UpdatedAt = t.now
		return t.Clauses(clause.OnConflict{DoNothing: true}).Create(&in).Error
	})
}

// LandIntegration stores where a branch was landed, as Landed and LandedOn say,
// with its events. Where the branch is by now stays: work may have been merged
// meanwhile.
func (db *DB) LandIntegration(ctx context.Context, in cw.Integration, events ...cw.Event) error {
	return db.change(ctx, "store that the branch of an initiative was landed", func(t *tx) error {
		err := t.Exec("UPDATE integrations SET landed = ?, landed_on = ?, updated_at = ? WHERE initiative_id = ? AND project_id = ?",
			in.Landed, in.LandedOn, t.now, in.InitiativeID, in.ProjectID).Error
		if err != nil {
			return err
		}
		return t.emitIn(in.InitiativeID, events)
	})
}

// moveIntegration stores where a branch is after a merge. Where it was landed
// stays: somebody may have landed it while work was checked.
func (t *tx) moveIntegration(in cw.Integration) error {
	return t.Exec("UPDATE integrations SET head = ?, updated_at = ? WHERE initiative_id = ? AND project_id = ?",
		in.Head, t.now, in.InitiativeID, in.ProjectID).Error
}

// Integrations gives the branches of all active initiatives.
func (db *DB) Integrations(ctx context.Context) ([]cw.Integration, error) {
	all := []cw.Integration{}
	err := db.query(ctx, "read the branches of initiatives", func(g *gorm.DB) error {
		all = all[:0]
		return g.Where("initiative_id IN (SELECT id FROM initiatives WHERE status = 'active')").Order("initiative_id, project_id").Find(&all).Error
	})
	return all, err
}

// IntegrationsOf gives the branches of an initiative, by the name of the project.
func (db *DB) IntegrationsOf(ctx context.Context, id cw.InitiativeID) ([]cw.Integration, error) {
	all := []cw.Integration{}
	err := db.query(ctx, "read the branches of an initiative", func(g *gorm.DB) error {
		all = all[:0]
		return g.Where("initiative_id = ?", id).Order("project, project_id").Find(&all).Error
	})
	return all, err
}

// MergesOf gives all merges of an initiative, oldest first.
func (db *DB) MergesOf(ctx context.Context, id cw.InitiativeID) ([]cw.Merge, error) {
	all := []cw.Merge{}
	err := db.query(ctx, "list merges", func(g *gorm.DB) error {
		all = all[:0]
		return g.Where("initiative_id = ?", id).Order("queued_at, id").Find(&all).Error
	})
	return all, err
}

// MergeOfTask gives the newest merge of a task, and whether there is one.
func (db *DB) MergeOfTask(ctx context.Context, id cw.TaskID) (m cw.Merge, found bool, err error) {
	err = db.query(ctx, "find merge", func(g *gorm.DB) error {
		found, err = one(g.Order("queued_at DESC, id DESC"), &m, "task_id = ?", id)
		return err
	})
	return m, found, err
}

// TaskTimes tells how long tasks of an initiative that are merged took, by size,
// from the start of their first agent to the merge.
func (db *DB) TaskTimes(ctx context.Context, id cw.InitiativeID) (map[cw.TaskSize][]time.Duration, error) {
	var rows []struct {
		Size        cw.TaskSize
		Began, Over time.Time
	}
	err := db.query(ctx, "measure tasks", func(g *gorm.DB) error {
		rows = rows[:0]
		return g.Table("merges m").Select("t.size AS size, a.created_at AS began, m.merged_at AS over").
			Joins("JOIN tasks t ON t.id = m.task_id").Joins("JOIN agents a ON a.id = m.agent_id").
			Where("m.initiative_id = ? AND m.status = ?", id, cw.MergeMerged).Scan(&rows).Error
	})
	out := map[cw.TaskSize][]time.Duration{}
	for _, r := range rows {
		if took := r.Over.Sub(r.Began); took > 0 {
			out[r.Size] = append(out[r.Size], took)
		}
	}
	return out, err
}

// Peaks gives the most memory that an agent of each provider was seen to take, in
// bytes.
func (db *DB) Peaks(ctx context.Context) (map[string]int64, error) {
	var rows []struct {
		Provider string
		Bytes    int64
	}
	err := db.query(ctx, "read peaks", func(g *gorm.DB) error {
		rows = rows[:0]
		return g.Raw("SELECT provider, bytes FROM provider_peaks").Scan(&rows).Error
	})
	out := map[string]int64{}
	for _, r := range rows {
		out[r.Provider] = r.Bytes
	}
	return out, err
}

// SavePeak stores the most memory that an agent of a provider was seen to take.
func (db *DB) SavePeak(ctx context.Context, provider string, bytes int64) error {
	return db.change(ctx, "save peak", func(t *tx) error {
		return t.Exec("INSERT INTO provider_peaks (provider, bytes) VALUES (?, ?) ON CONFLICT (provider) DO UPDATE SET bytes = MAX(bytes, excluded.bytes)", provider, bytes).Error
	})
}

// Unlanded gives the active initiatives whose tasks are all over and whose branch
// has something that is not landed, oldest first.
func (db *DB) Unlanded(ctx context.Context) ([]cw.InitiativeRef, error) {
	refs := []cw.InitiativeRef{}
	err := db.query(ctx, "look for what is to be landed", func(g *gorm.DB) error {
		refs = refs[:0]
		return g.Raw("SELECT id, slug FROM initiatives i WHERE status = 'active'" +
			" AND EXISTS (SELECT 1 FROM integrations WHERE initiative_id = i.id AND head <> '' AND head <> base_commit AND head <> landed)" +
			" AND NOT EXISTS (SELECT 1 FROM tasks WHERE initiative_id = i.id AND status NOT IN ('done', 'cancelled'))" +
			" ORDER BY created_at, id").Scan(&refs).Error
	})
	return refs, err
}
