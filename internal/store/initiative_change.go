package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm/clause"

	"cw/internal/cw"
)

// ChangeInitiative reads the state of an initiative, lets decide decide and
// stores what it says, all in one transaction: two changes never miss each
// other. What decide refuses is given back as it is, and nothing is stored.
// decide may be called again, so it must be pure; others who want to write wait
// for it.
//
// Pages, phases and tasks are made or replaced by id; when they were made, and
// whose they are, stays. Their UpdatedAt is the time of the transaction.
// CodeNotFound; CodeRefused for an id that something of another initiative has.
func (db *DB) ChangeInitiative(ctx context.Context, id cw.InitiativeID, decide func(cw.InitiativeState) (cw.InitiativeChange, error)) error {
	var refused error
	err := db.change(ctx, "change initiative", func(t *tx) error {
		state, err := initiativeState(t.DB, id)
		if err != nil {
			return err
		}
		var change cw.InitiativeChange
		if change, refused = decide(state); refused != nil {
			return refused
		}
		return t.changeInitiative(id, change)
	})
	if refused != nil {
		return refused
	}
	return err
}

func (t *tx) changeInitiative(id cw.InitiativeID, c cw.InitiativeChange) error {
	for _, step := range []func() error{
		func() error { return t.saveInitiative(id, c.Initiative) },
		func() error { return t.savePages(id, c.Pages) },
		func() error { return t.savePhases(id, c.Phases) },
		func() error { return t.saveTasks(id, c.Tasks) },
		func() error { return t.cancelUnasked(c) },
		func() error { return t.saveProposals(id, c.Proposals) },
		func() error { return t.emitIn(id, c.Events) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// saveInitiative stores what may change of an initiative, and all of its
// repositories. nil: it stays.
func (t *tx) saveInitiative(id cw.InitiativeID, i *cw.Initiative) error {
	if i == nil {
		return nil
	}
	changed := t.Model(&cw.Initiative{}).Where("id = ?", id).Updates(map[string]any{
		"name": i.Name, "goal": i.Goal, "status": i.Status,
	})
	if err := orMissing(changed, "initiative", string(id)); err != nil {
		return err
	}
	if err := t.Model(&cw.Initiative{}).Where("id = ?", id).Select("work").Updates(&cw.Initiative{Work: i.Work}).Error; err != nil {
		return err
	}
	return t.setProjects(id, i.Projects)
}

func (t *tx) savePages(id cw.InitiativeID, pages []cw.Document) error {
	for _, p := range pages {
		p.InitiativeID, p.UpdatedAt = id, t.now
		err := t.put(&p, "page", string(p.ID),
			"parent_id", "title", "body", "position", "revision", "updated_by", "deleted_at", "updated_at")
		if err != nil {
			return err
		}
	}
	return nil
}

// savePhases stores all phases before their dependencies, which may be on each
// other.
func (t *tx) savePhases(id cw.InitiativeID, phases []cw.Phase) error {
	before := map[cw.PhaseID][]cw.PhaseID{}
	for _, p := range phases {
		p.InitiativeID, p.UpdatedAt = id, t.now
		if err := t.put(&p, "phase", string(p.ID), "name", "body", "position", "status", "updated_at"); err != nil {
			return err
		}
		before[p.ID] = p.DependsOn
	}
	return setDependencies(t, "phase", before)
}

// saveTasks stores all tasks before their dependencies, which may be on each
// other.
func (t *tx) saveTasks(id cw.InitiativeID, tasks []cw.Task) error {
	before := map[cw.TaskID][]cw.TaskID{}
	for _, task := range tasks {
		task.InitiativeID, task.UpdatedAt = id, t.now
		task.Paths, task.Checks = orEmpty(task.Paths), orEmpty(task.Checks)
		err := t.put(&task, "task", string(task.ID), "phase_id", "name", "body", "type", "size", "priority",
			"file_ownership", "checks", "questions", "position", "status", "summary", "tries", "setbacks", "retry_at", "blocked", "updated_at")
		if err != nil {
			return err
		}
		before[task.ID] = task.DependsOn
	}
	return setDependencies(t, "task", before)
}

// setDependencies stores everything on which each phase or task depends, in
// order; what is named twice counts once. noun is a constant of the program.
func setDependencies[T ~string](t *tx, noun string, before map[T][]T) error {
	if len(before) == 0 {
		return nil
	}
	rows := [][]any{} // id, what comes before it, its place
	for id, all := range before {
		for at, on := range all {
			rows = append(rows, []any{id, on, at})
		}
	}
	values, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	table, column := noun+"_dependencies", noun+"_id"
	ids := list(slices.Collect(maps.Keys(before)))
	if err := t.Exec("DELETE FROM "+table+" WHERE "+column+" IN (SELECT value FROM json_each(?))", ids).Error; err != nil {
		return err
	}
	err = t.Exec("INSERT INTO "+table+" ("+column+", depends_on, position)"+
		" SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true ON CONFLICT DO NOTHING", string(values)).Error
	if err != nil {
		return fmt.Errorf("store what each %s depends on: %w", noun, err)
	}
	return nil
}

// saveProposals stores what became of proposals. They are made by FinishRun
// alone.
func (t *tx) saveProposals(id cw.InitiativeID, proposals []cw.Proposal) error {
	for _, p := range proposals {
		changed := t.Model(&cw.Proposal{}).Where("id = ? AND initiative_id = ?", p.ID, id).
			Select("status", "decided_by", "decided_at", "note").Updates(&p)
		if err := orMissing(changed, "proposal", string(p.ID)); err != nil {
			return err
		}
	}
	return nil
}

// put makes a row, or replaces the named columns of the one with its id.
// CodeRefused when that is of another initiative: ids come from the files of
// agents, too.
func (t *tx) put(row any, noun, id string, columns ...string) error {
	own := clause.Eq{
		Column: clause.Column{Table: clause.CurrentTable, Name: "initiative_id"},
		Value:  clause.Column{Table: "excluded", Name: "initiative_id"},
	}
	done := t.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "id"}},
		Where:     clause.Where{Exprs: []clause.Expression{own}},
		DoUpdates: clause.AssignmentColumns(columns),
	}).Create(row)
	switch {
	case done.Error != nil:
		return fmt.Errorf("store %s %s: %w", noun, id, done.Error)
	case done.RowsAffected == 0:
		return cw.Errorf(cw.CodeRefused, "a %s of another initiative has the id %s", noun, id).
			WithHint("take another id, or none: every new %s gets one", noun)
	}
	return nil
}

// emitIn stores events about an initiative.
func (t *tx) emitIn(id cw.InitiativeID, events []cw.Event) error {
	for _, e := range events {
		if err := t.emit(e.In(id)); err != nil {
			return err
		}
	}
	return nil
}
