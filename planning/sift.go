package planning

import (
	"slices"
	"strings"

	"cw/artifacts"
	"cw/internal/cw"
)

// How each kind of draft is laid over what is there. What the draft's head does
// not name stays as it is, and so does the text when the draft has none.

func (w *sifter) pages(drafts []artifacts.Draft) {
	root := w.state.Initiative.RootPageID
	for _, d := range drafts {
		had := find(w.state.Pages, func(p cw.Document) bool { return string(p.ID) == d.ID })
		s := w.begin(d, had != nil)
		switch {
		case d.Delete && had == nil:
			w.leaveOut(d, "there is no such page to remove")
		case d.Delete && had.ID == root:
			w.leaveOut(d, "the first page stays")
		case d.Delete:
			shown := w.pageRead(d, *had)
			shown.Position = noPlace
			s.page, s.Title, s.Before, s.BaseRevision = shown, had.Title, artifacts.PageFile(shown), shown.Revision
			w.keep(d, s)
		default:
			w.page(d, s, had)
		}
	}
}

func (w *sifter) page(d artifacts.Draft, s suggestion, had *cw.Document) {
	root := w.state.Initiative.RootPageID
	row := cw.Document{ID: cw.PageID(d.ID), ParentID: root}
	if had != nil {
		row = w.pageRead(d, *had)
		s.BaseRevision = row.Revision
	} else if o, there := w.offered[mark(s.Target, s.TargetID)]; there {
		row = o.page
	}
	was := row
	was.Position, row.Position = noPlace, noPlace
	if d.Has["position"] && row.ID != root {
		row.Position = d.Page.Position
		if had != nil {
			was.Position = had.Position
		}
	}
	if d.Has["title"] {
		row.Title = d.Page.Title
	}
	if d.Has["parent"] && row.ID != root {
		row.ParentID = d.Page.ParentID
	}
	if row.ParentID == "" && row.ID != root {
		row.ParentID = root
	}
	row.Body = newText(row.Body, d.Page.Body)
	if err := checkText("page", row.Title, row.Body); err != nil {
		w.leaveOut(d, "%s", err)
		return
	}
	if had != nil {
		s.Before = artifacts.PageFile(was)
	}
	s.page, s.Title, s.After = row, row.Title, artifacts.PageFile(row)
	s.needs = needsOf(artifacts.Draft{Target: cw.TargetPage, Page: row})
	w.keep(d, s)
}

func (w *sifter) decisions(drafts []artifacts.Draft) {
	for _, d := range drafts {
		had, known := w.decisionRead(d.ID)
		s := w.begin(d, known)
		if known {
			s.Before = artifacts.DecisionFile(had)
		}
		row := artifacts.Decision{ID: d.ID, PageID: w.state.Initiative.RootPageID}
		if known {
			row = had
		} else if d.Has["page"] {
			row.PageID = d.Decision.PageID
		}
		if d.Has["title"] {
			row.Title = d.Decision.Title
		}
		row.Body = newText(row.Body, deeper(d.Decision.Body))
		s.Title = row.Title
		switch err := checkText("decision", row.Title, row.Body); {
		case d.Delete && !known:
			w.leaveOut(d, "there is no such decision to remove")
			continue
		case d.Delete:
			s.Title = had.Title
		case err != nil:
			w.leaveOut(d, "%s", err)
			continue
		default:
			s.After = artifacts.DecisionFile(row)
			s.needs = needsOf(artifacts.Draft{Target: cw.TargetDecision, Decision: row})
		}
		w.keep(d, s)
	}
}

func (w *sifter) phases(drafts []artifacts.Draft) {
	for _, d := range drafts {
		had := find(w.state.Phases, func(ph cw.Phase) bool { return string(ph.ID) == d.ID })
		s := w.begin(d, had != nil)
		switch {
		case d.Delete && had == nil:
			w.leaveOut(d, "there is no such phase to remove")
		case d.Delete && had.Status == cw.PhaseArchived: // it is gone already
		case d.Delete:
			shown := w.phaseRead(*had)
			shown.Position = noPlace
			s.phase, s.Title, s.Before = shown, had.Name, artifacts.PhaseFile(shown)
			w.keep(d, s)
		default:
			w.phase(d, s, had)
		}
	}
}

func (w *sifter) phase(d artifacts.Draft, s suggestion, had *cw.Phase) {
	row := cw.Phase{ID: cw.PhaseID(d.ID)}
	if had != nil {
		row = w.phaseRead(*had)
	} else if o, there := w.offered[mark(s.Target, s.TargetID)]; there {
		row = o.phase
	}
	was := row
	was.Position, row.Position = noPlace, noPlace
	if d.Has["position"] {
		row.Position = d.Phase.Position
		if had != nil {
			was.Position = had.Position
		}
	}
	if d.Has["title"] {
		row.Name = d.Phase.Name
	}
	if d.Has["depends_on"] {
		row.DependsOn = once(d.Phase.DependsOn)
	}
	row.Body = newText(row.Body, d.Phase.Body)
	if err := checkText("phase", row.Name, row.Body); err != nil {
		w.leaveOut(d, "%s", err)
		return
	}
	if had != nil {
		s.Before = artifacts.PhaseFile(was)
	}
	s.phase, s.Title, s.After = row, row.Name, artifacts.PhaseFile(row)
	if had != nil && (had.Status == cw.PhaseArchived || had.Status == cw.PhaseDone) && s.Before != s.After {
		w.leaveOut(d, "the phase %q is %s", had.Name, had.Status)
		return
	}
	s.needs = needsOf(artifacts.Draft{Target: cw.TargetPhase, Phase: row})
	w.keep(d, s)
}

func (w *sifter) tasks(drafts []artifacts.Draft) {
	drafts, same := w.recognised(drafts)
	for _, d := range drafts {
		had := find(w.state.Tasks, func(t cw.Task) bool { return string(t.ID) == d.ID })
		s := w.begin(d, had != nil)
		switch {
		case d.Delete && had == nil:
			w.leaveOut(d, "there is no such task to remove")
		case d.Delete && had.Status == cw.TaskCancelled: // it is gone already
		case d.Delete && !changeable(had.Status):
			w.leaveOut(d, "the task %q is %s", had.Name, had.Status)
		case d.Delete:
			s.task, s.Title, s.Before = *had, had.Name, artifacts.TaskFile(w.taskRead(*had))
			w.keep(d, s)
		default:
			w.task(d, s, had, same)
		}
	}
}

func (w *sifter) task(d artifacts.Draft, s suggestion, had *cw.Task, same map[cw.TaskID]cw.TaskID) {
	row := cw.Task{ID: cw.TaskID(d.ID)}
	if had != nil {
		row = w.taskRead(*had)
		s.Before = artifacts.TaskFile(row)
	} else if o, there := w.offered[mark(s.Target, s.TargetID)]; there {
		row = o.task
	}
	row = filled(w.overTask(row, d, same))
	if err := checkTask(row); err != nil {
		w.leaveOut(d, "%s", err)
		return
	}
	if row.PhaseID == "" {
		w.leaveOut(d, "it names no phase")
		return
	}
	s.task, s.Title, s.After = row, row.Name, artifacts.TaskFile(row)
	if had != nil && !changeable(had.Status) {
		if s.Before != s.After {
			w.leaveOut(d, "the task %q is %s", had.Name, had.Status)
		}
		return
	}
	s.needs = needsOf(artifacts.Draft{Target: cw.TargetTask, Task: row})
	w.keep(d, s)
}

// overTask lays a draft over a task. Tasks that were recognised are named by
// the ids that they have.
func (w *sifter) overTask(t cw.Task, d artifacts.Draft, same map[cw.TaskID]cw.TaskID) cw.Task {
	for key, take := range map[string]func(){
		"title":     func() { t.Name = d.Task.Name },
		"phase":     func() { t.PhaseID = d.Task.PhaseID },
		"type":      func() { t.Type = d.Task.Type },
		"size":      func() { t.Size = d.Task.Size },
		"priority":  func() { t.Priority = d.Task.Priority },
		"paths":     func() { t.Paths = d.Task.Paths },
		"checks":    func() { t.Checks = d.Task.Checks },
		"questions": func() { t.Questions = d.Task.Questions },
		"depends_on": func() {
			t.DependsOn = slices.Clone(d.Task.DependsOn)
			for i, id := range t.DependsOn {
				if known, there := same[id]; there {
					t.DependsOn[i] = known
				}
			}
		},
	} {
		if d.Has[key] {
			take()
		}
	}
	if t.PhaseID == "" {
		t.PhaseID = w.agent.PhaseID
	}
	t.Body = newText(t.Body, d.Task.Body)
	return t
}

// recognised gives new tasks with the title and the paths of one that is there,
// in the same phase, the id of that one: they are changes of it. same tells
// which ids became which. A second draft for one task is left out.
func (w *sifter) recognised(drafts []artifacts.Draft) (out []artifacts.Draft, same map[cw.TaskID]cw.TaskID) {
	known, ids := w.knownTasks(), map[string]bool{}
	for _, t := range w.state.Tasks {
		ids[string(t.ID)] = true
	}
	same = map[cw.TaskID]cw.TaskID{}
	named := map[string]string{} // id → file
	for _, d := range drafts {
		if ids[d.ID] {
			named[d.ID] = d.File
		}
	}
	for _, d := range drafts {
		if ids[d.ID] || d.Delete || !d.Has["title"] {
			out = append(out, d)
			continue
		}
		t := d.Task
		if t.PhaseID == "" {
			t.PhaseID = w.agent.PhaseID
		}
		id, there := known[taskMark(t)]
		if !there {
			known[taskMark(t)] = cw.TaskID(d.ID)
			named[d.ID] = d.File
			out = append(out, d)
			continue
		}
		if id != cw.TaskID(d.ID) {
			same[cw.TaskID(d.ID)] = id
		}
		if file, twice := named[string(id)]; twice {
			w.leaveOut(d, "%s is about the same task: title, paths and phase are the same", file)
			continue
		}
		named[string(id)] = d.File
		d.ID, d.Task.ID = string(id), id
		out = append(out, d)
	}
	return out, same
}

// knownTasks are the tasks that are there or suggested already, by what makes
// two of them the same.
func (w *sifter) knownTasks() map[string]cw.TaskID {
	known := map[string]cw.TaskID{}
	for _, s := range w.offered {
		if s.Target == cw.TargetTask {
			known[taskMark(s.task)] = s.task.ID
		}
	}
	for _, t := range slices.Backward(w.state.Tasks) { // the first one counts
		if t.Status != cw.TaskCancelled {
			known[taskMark(t)] = t.ID
		}
	}
	return known
}

// taskMark is the same for tasks of one phase with the same title and paths,
// however they are spaced and ordered.
func taskMark(t cw.Task) string {
	paths := once(t.Paths)
	slices.Sort(paths)
	title := strings.Join(strings.Fields(strings.ToLower(t.Name)), " ")
	return strings.Join(append([]string{string(t.PhaseID), title}, paths...), "\x00")
}

// begin is a suggestion about a draft's target.
func (w *sifter) begin(d artifacts.Draft, known bool) suggestion {
	s := suggestion{Proposal: cw.Proposal{Target: d.Target, TargetID: d.ID, Action: cw.ActionCreate}}
	switch {
	case d.Delete:
		s.Action = cw.ActionDelete
	case known:
		s.Action = cw.ActionUpdate
	}
	return s
}

// newText is the text that a draft gives: the old one when it gives none, or
// when they differ in blank lines around them only.
func newText(old, given string) string {
	if strings.TrimSpace(given) == "" || strings.TrimSpace(given) == strings.TrimSpace(old) {
		return old
	}
	return given
}
