package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// inOrder is how what has a position is listed.
const inOrder = "position, created_at, id"

// InitiativeState gives an initiative with everything that belongs to it, as of
// one moment. The number of queries does not depend on how much that is.
// CodeNotFound.
func (db *DB) InitiativeState(ctx context.Context, id cw.InitiativeID) (cw.InitiativeState, error) {
	var s cw.InitiativeState
	err := db.query(ctx, "read initiative", func(g *gorm.DB) (err error) {
		s, err = initiativeState(g, id)
		return err
	})
	return s, err
}

func initiativeState(g *gorm.DB, id cw.InitiativeID) (cw.InitiativeState, error) {
	var s cw.InitiativeState
	var found [1]cw.Initiative
	is, err := one(g, &found[0], "id = ?", id)
	if err == nil && !is {
		err = noInitiative(g, string(id))
	}
	if err != nil {
		return s, err
	}
	for _, read := range []func() error{
		func() error { return addProjects(g, found[:]) },
		func() (err error) { s.Pages, err = pagesOf(g, id); return err },
		func() (err error) { s.Phases, err = phasesWhere(g, "initiative_id = ?", id); return err },
		func() (err error) { s.Tasks, err = tasksWhere(g, "initiative_id = ?", id); return err },
		func() (err error) { s.Proposals, err = proposalsOf(g, id); return err },
		func() (err error) { s.Working, err = workingFor(g, id); return err },
	} {
		if err := read(); err != nil {
			return cw.InitiativeState{}, err
		}
	}
	s.Initiative = found[0]
	s.Pages = treeOrder(s.Pages, s.Initiative.RootPageID)
	s.Tasks = phaseOrder(s.Tasks, s.Phases)
	return s, nil
}

// pagesOf gives the pages of an initiative that are not removed, siblings in
// order.
func pagesOf(g *gorm.DB, id cw.InitiativeID) ([]cw.Document, error) {
	pages := []cw.Document{}
	err := g.Where("initiative_id = ? AND deleted_at IS NULL", id).Order("parent_id, " + inOrder).Find(&pages).Error
	return pages, err
}

// treeOrder puts pages, siblings of which are in order, into the order of the
// tree: the first page, then each page before those below it. What hangs on
// nothing comes last, so that nothing is lost.
func treeOrder(pages []cw.Document, root cw.PageID) []cw.Document {
	below := map[cw.PageID][]cw.Document{}
	for _, p := range pages {
		below[p.ParentID] = append(below[p.ParentID], p)
	}
	out := make([]cw.Document, 0, len(pages))
	seen := make(map[cw.PageID]bool, len(pages))
	var walk func(p cw.Document)
	walk = func(p cw.Document) {
		if seen[p.ID] {
			return
		}
		seen[p.ID] = true
		out = append(out, p)
		for _, child := range below[p.ID] {
			walk(child)
		}
	}
	first := slices.IndexFunc(pages, func(p cw.Document) bool { return p.ID == root })
	if first >= 0 {
		walk(pages[first])
	}
	for _, p := range loose(pages) {
		walk(p)
	}
	for _, p := range pages { // what hangs in a circle
		walk(p)
	}
	return out
}

// loose are the pages whose page above is not there.
func loose(pages []cw.Document) []cw.Document {
	there := make(map[cw.PageID]bool, len(pages))
	for _, p := range pages {
		there[p.ID] = true
	}
	var out []cw.Document
	for _, p := range pages {
		if !there[p.ParentID] {
			out = append(out, p)
		}
	}
	return out
}

// phasesWhere gives phases with their dependencies, in order. The condition is
// a constant of the program.
func phasesWhere(g *gorm.DB, where string, arg any) ([]cw.Phase, error) {
	phases := []cw.Phase{}
	if err := g.Where(where, arg).Order(inOrder).Find(&phases).Error; err != nil {
		return nil, err
	}
	before, err := dependencies[cw.PhaseID](g, "SELECT phase_id AS id, depends_on FROM phase_dependencies"+
		" WHERE phase_id IN (SELECT id FROM phases WHERE "+where+") ORDER BY phase_id, position", arg)
	for i := range phases {
		phases[i].DependsOn = orEmpty(before[phases[i].ID])
	}
	return phases, err
}

// tasksWhere gives tasks with their dependencies, in the order of their
// positions. The condition is a constant of the program.
func tasksWhere(g *gorm.DB, where string, arg any) ([]cw.Task, error) {
	tasks := []cw.Task{}
	if err := g.Where(where, arg).Order(inOrder).Find(&tasks).Error; err != nil {
		return nil, err
	}
	before, err := dependencies[cw.TaskID](g, "SELECT task_id AS id, depends_on FROM task_dependencies"+
		" WHERE task_id IN (SELECT id FROM tasks WHERE "+where+") ORDER BY task_id, position", arg)
	for i := range tasks {
		t := &tasks[i]
		t.DependsOn, t.Paths, t.Checks = orEmpty(before[t.ID]), orEmpty(t.Paths), orEmpty(t.Checks)
	}
	return tasks, err
}

// dependencies reads what comes before each, in order.
func dependencies[T ~string](g *gorm.DB, query string, arg any) (map[T][]T, error) {
	var rows []struct{ ID, DependsOn string }
	if err := g.Raw(query, arg).Scan(&rows).Error; err != nil {
		return nil, err
	}
	out := map[T][]T{}
	for _, r := range rows {
		out[T(r.ID)] = append(out[T(r.ID)], T(r.DependsOn))
	}
	return out, nil
}

// phaseOrder puts tasks, which are in the order of their positions, into the
// order of their phases.
func phaseOrder(tasks []cw.Task, phases []cw.Phase) []cw.Task {
	place := make(map[cw.PhaseID]int, len(phases))
	for i, p := range phases {
		place[p.ID] = i
	}
	slices.SortStableFunc(tasks, func(a, b cw.Task) int {
		return cmp.Or(place[a.PhaseID]-place[b.PhaseID], strings.Compare(string(a.PhaseID), string(b.PhaseID)))
	})
	return tasks
}

// workingFor gives the names of an initiative's agents that run, or go on by
// themselves or with an answer.
func workingFor(g *gorm.DB, id cw.InitiativeID) ([]string, error) {
	names := []string{}
	busy := append(aliveStatuses(), cw.StatusParked, cw.StatusWaitingForInput)
	err := g.Model(&cw.Agent{}).Where("deleted_at IS NULL AND status IN (SELECT value FROM json_each(?))", list(busy)).
		Where("initiative_id <> '' AND initiative_id = ?", id). // as the index says it
		Order("alias").Pluck("alias", &names).Error
	return names, err
}

// DocumentByID finds a page that is not removed. CodeNotFound.
func (db *DB) DocumentByID(ctx context.Context, id cw.PageID) (cw.Document, error) {
	var p cw.Document
	err := db.query(ctx, "find page", func(g *gorm.DB) error {
		found, err := one(g, &p, "id = ? AND deleted_at IS NULL", id)
		if err == nil && !found {
			err = cw.Errorf(cw.CodeNotFound, "there is no page %.100q", string(id)).
				WithHint("see: cw page list INITIATIVE")
		}
		return err
	})
	return p, err
}

// PhaseByID finds a phase, an archived one too. CodeNotFound.
func (db *DB) PhaseByID(ctx context.Context, id cw.PhaseID) (cw.Phase, error) {
	var p cw.Phase
	err := db.query(ctx, "find phase", func(g *gorm.DB) error {
		found, err := phasesWhere(g, "id = ?", id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return cw.Errorf(cw.CodeNotFound, "there is no phase %.100q", string(id)).
				WithHint("see: cw phase list INITIATIVE")
		}
		p = found[0]
		return nil
	})
	return p, err
}

// TaskByID finds a task, a cancelled one too. CodeNotFound.
func (db *DB) TaskByID(ctx context.Context, id cw.TaskID) (cw.Task, error) {
	var task cw.Task
	err := db.query(ctx, "find task", func(g *gorm.DB) error {
		found, err := tasksWhere(g, "id = ?", id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return cw.Errorf(cw.CodeNotFound, "there is no task %.100q", string(id)).
				WithHint("see: cw task list INITIATIVE")
		}
		task = found[0]
		return nil
	})
	return task, err
}
