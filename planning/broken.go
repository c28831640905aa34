package planning

import (
	"slices"

	"cw/internal/cw"
)

// dropBroken leaves out what needs something that is not there and will not be,
// and what would wait for itself, until the rest makes sense.
func (w *sifter) dropBroken() {
	for w.dropNeedy() || w.dropCircle() {
	}
	w.kept = slices.DeleteFunc(w.kept, func(s *suggestion) bool { return s.dropped })
}

// dropNeedy leaves out suggestions of which a need is not met.
func (w *sifter) dropNeedy() bool {
	dropped := false
	for _, s := range w.kept {
		if s.dropped || s.Action == cw.ActionDelete {
			continue
		}
		for _, n := range s.needs {
			if why := w.missing(s, n); why != "" {
				w.drop(s, "%s the %s %s, %s", n.words, n.target, n.id, why)
				dropped = true
				break
			}
		}
	}
	return dropped
}

func (w *sifter) drop(s *suggestion, format string, args ...any) {
	s.dropped = true
	w.note("%s was left out: "+format, append([]any{s.File}, args...)...)
}

// missing says why a need is not met; "" when it is.
func (w *sifter) missing(s *suggestion, n need) string {
	if s.Target == n.target && s.TargetID == n.id {
		return "which is itself"
	}
	other := w.byID[mark(n.target, n.id)]
	if other != nil && !other.dropped {
		if other.Action == cw.ActionDelete {
			return "which " + other.File + " removes"
		}
		return ""
	}
	over, there := w.standing(n)
	switch {
	case over != "":
		return "which is " + over
	case there:
		return ""
	case other != nil:
		return "which was left out too"
	}
	if _, offered := w.offered[mark(n.target, n.id)]; offered {
		return ""
	}
	return "which is not there"
}

// standing tells whether something is there already, and why it does not count
// if it does not.
func (w *sifter) standing(n need) (over string, there bool) {
	switch n.target {
	case cw.TargetPage:
		return "", slices.ContainsFunc(w.state.Pages, func(d cw.Document) bool { return string(d.ID) == n.id })
	case cw.TargetPhase:
		if ph := find(w.state.Phases, func(ph cw.Phase) bool { return string(ph.ID) == n.id }); ph != nil {
			if ph.Status == cw.PhaseArchived {
				over = string(ph.Status)
			}
			return over, true
		}
	case cw.TargetTask:
		if t := find(w.state.Tasks, func(t cw.Task) bool { return string(t.ID) == n.id }); t != nil {
			if t.Status == cw.TaskCancelled {
				over = string(t.Status)
			}
			return over, true
		}
	}
	return "", false
}

// dropCircle leaves out all suggestions of one circle.
func (w *sifter) dropCircle() bool {
	tree, graph := w.graphs()
	for _, target := range []cw.ProposalTarget{cw.TargetPage, cw.TargetPhase, cw.TargetTask} {
		g := graph
		if target == cw.TargetPage {
			g = tree
		}
		var ids []string
		for _, s := range w.kept {
			if s.Target == target && !s.dropped {
				ids = append(ids, s.TargetID)
			}
		}
		if c := g.circle(ids); c != nil && w.dropAll(g, c) {
			return true
		}
	}
	return false
}

// dropAll leaves out the suggestions of a circle, and tells whether there were
// any.
func (w *sifter) dropAll(g graph, circle []string) bool {
	dropped := false
	for _, id := range circle[:len(circle)-1] {
		target := cw.ProposalTarget(g[id].kind)
		if s := w.byID[mark(target, id)]; s != nil && !s.dropped {
			w.drop(s, "it waits for itself: %s", g.way(circle))
			dropped = true
		}
	}
	return dropped
}

// graphs are those of the pages, and of phases and tasks, as they would be with
// everything that is suggested.
func (w *sifter) graphs() (tree, work graph) {
	pages, phases, tasks := rowsOf(w)
	return treeOf(pages), graphOf(phases, tasks)
}

func rowsOf(w *sifter) ([]cw.Document, []cw.Phase, []cw.Task) {
	pages, phases, tasks := overlay[cw.Document]{}, overlay[cw.Phase]{}, overlay[cw.Task]{}
	for _, d := range w.state.Pages {
		pages.put(string(d.ID), d)
	}
	for _, ph := range w.state.Phases {
		phases.put(string(ph.ID), ph)
	}
	for _, t := range w.state.Tasks {
		tasks.put(string(t.ID), t)
	}
	lay := func(s *suggestion) {
		page, phase, task := s.page, s.phase, s.task
		if s.Action == cw.ActionDelete {
			page.DeletedAt, phase.Status, task.Status = &s.CreatedAt, cw.PhaseArchived, cw.TaskCancelled
		}
		switch s.Target {
		case cw.TargetPage:
			pages.put(s.TargetID, page)
		case cw.TargetPhase:
			phases.put(s.TargetID, phase)
		case cw.TargetTask:
			tasks.put(s.TargetID, task)
		}
	}
	for _, p := range w.state.Proposals {
		if s, there := w.offered[mark(p.Target, p.TargetID)]; there {
			lay(&s)
		}
	}
	for _, s := range w.kept {
		if !s.dropped {
			lay(s)
		}
	}
	return pages.rows, phases.rows, tasks.rows
}

// overlay is a list of rows in which a later row of an id takes the place of
// the earlier one.
type overlay[T any] struct {
	rows []T
	at   map[string]int
}

func (o *overlay[T]) put(id string, row T) {
	if o.at == nil {
		o.at = map[string]int{}
	}
	if i, there := o.at[id]; there {
		o.rows[i] = row
		return
	}
	o.at[id] = len(o.rows)
	o.rows = append(o.rows, row)
}
