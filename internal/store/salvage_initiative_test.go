package store

import (
	"path/filepath"
	"testing"

	"cw/internal/cw"
)

// unruled runs statements on the writer without the rules of the schema.
func (b *bench) unruled(statements ...string) {
	b.t.Helper()
	conn, err := b.state.writer.Conn(b.t.Context())
	b.must(err)
	defer func() { _ = conn.Close() }()
	for _, s := range append([]string{"PRAGMA foreign_keys = OFF"}, append(statements, "PRAGMA foreign_keys = ON")...) {
		_, err := conn.ExecContext(b.t.Context(), s)
		b.must(err)
	}
}

// TestSalvageInitiatives takes initiatives over from a file in which rows are
// missing: what can be told from others is there again, and nothing hangs on
// what is not.
func TestSalvageInitiatives(t *testing.T) {
	t.Parallel()
	whole := func(t *testing.T, s cw.InitiativeState) {
		if len(s.Pages) != 3 || len(s.Phases) != 2 || len(s.Tasks) != 4 || len(s.Proposals) != 2 || len(s.Initiative.Projects) != 1 {
			t.Errorf("taken over: %+v", s)
		}
	}
	for name, c := range map[string]struct {
		lost  []string
		check func(t *testing.T, s cw.InitiativeState)
	}{
		"nothing": {nil, whole},
		"the initiative": {[]string{"DELETE FROM initiatives"}, func(t *testing.T, s cw.InitiativeState) {
			whole(t, s)
			same(t, "initiative", []string{s.Initiative.Name, s.Initiative.Goal, string(s.Initiative.RootPageID)}, []string{"sale", "the goal of sale", string(s.Pages[0].ID)})
		}},
		"the first page": {[]string{"DELETE FROM pages WHERE parent_id = ''"}, func(t *testing.T, s cw.InitiativeState) {
			whole(t, s)
			same(t, "first page", []string{string(s.Pages[0].ID), s.Pages[0].Title, s.Pages[0].Body}, []string{string(s.Initiative.RootPageID), "sale", "the goal of sale"})
		}},
		"a page with one below": {[]string{"DELETE FROM pages WHERE id = 'above'"}, func(t *testing.T, s cw.InitiativeState) {
			same(t, "pages", len(s.Pages), 2)
			same(t, "page above", s.Pages[1].ParentID, s.Initiative.RootPageID)
		}},
		"a phase": {[]string{"DELETE FROM phases WHERE id = 'phase-1'"}, func(t *testing.T, s cw.InitiativeState) {
			whole(t, s)
			for _, p := range s.Phases {
				if p.ID == "phase-1" && p.Status != cw.PhaseDraft {
					t.Errorf("a phase that was lost: %+v", p)
				}
			}
		}},
		"a task": {[]string{"DELETE FROM tasks WHERE id = 'task-0-0'"}, func(t *testing.T, s cw.InitiativeState) {
			same(t, "tasks", len(s.Tasks), 3)
			same(t, "what depended on it", s.Tasks[0].DependsOn, []cw.TaskID{})
		}},
		"lists": {[]string{"UPDATE tasks SET checks = '[', file_ownership = 'x'"}, func(t *testing.T, s cw.InitiativeState) {
			whole(t, s)
			same(t, "checks", len(s.Tasks[0].Checks)+len(s.Tasks[0].Paths), 0)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := newBench(t)
			p := from.addProject("shop")
			i := from.fullInitiative(2, 2)
			i.Projects = []cw.InitiativeProject{{ID: p.ID, Name: p.Name}}
			from.plan(i.ID, cw.InitiativeChange{Initiative: &i, Pages: []cw.Document{
				{ID: "above", ParentID: i.RootPageID, Title: "above", Revision: 1}, {ID: "below", ParentID: "above", Title: "below", Revision: 1},
			}})
			from.suggest(i.ID, suggestion(cw.TargetPage, "p", "x"), suggestion(cw.TargetTask, "t", "x"))
			from.unruled(c.lost...)
			to := newBench(t)
			_, err := to.Salvage(t.Context(), filepath.Join(from.dir, stateName))
			to.must(err)
			to.must(checkReferences(t.Context(), to.state.writer, "cw.db"))
			c.check(t, to.stateOf(i.ID))
		})
	}
}

// TestSalvageLostInitiative: without its first page too, nothing of an
// initiative stays behind.
func TestSalvageLostInitiative(t *testing.T) {
	t.Parallel()
	from := newBench(t)
	i := from.fullInitiative(2, 2)
	from.suggest(i.ID, suggestion(cw.TargetPage, "p", "x"))
	from.unruled("DELETE FROM initiatives", "DELETE FROM pages")
	to := newBench(t)
	_, err := to.Salvage(t.Context(), filepath.Join(from.dir, stateName))
	to.must(err)
	for _, table := range initiativeTables() {
		var n int
		to.must(to.state.read.Raw("SELECT COUNT(*) FROM " + table).Scan(&n).Error)
		same(t, "rows of "+table, n, 0)
	}
}

// TestUnknownStatuses: without a seal a status may be anything.
func TestUnknownStatuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(1, 1)
	b.suggest(i.ID, suggestion(cw.TargetPage, "p", "x"))
	for _, table := range []string{"initiatives", "phases", "tasks", "proposals"} {
		b.exec("UPDATE " + table + " SET status = 'opem'")
	}
	for _, mend := range initiativeMends(false) {
		b.exec(mend)
	}
	s := b.stateOf(i.ID)
	if s.Initiative.Status != cw.InitiativeActive || s.Phases[0].Status != cw.PhaseDraft || s.Tasks[0].Status != cw.TaskDraft || s.Proposals[0].Status != cw.ProposalOpen {
		t.Errorf("mended: %+v", s)
	}
	for _, mend := range initiativeMends(true) {
		b.exec(mend)
	}
	same(t, "what is whole", b.stateOf(i.ID), s)
}
