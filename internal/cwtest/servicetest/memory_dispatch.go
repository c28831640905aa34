package servicetest

import (
	"context"
	"slices"
	"time"

	"cw/internal/cw"
)

// The dispatcher of a Memory decides why tasks wait, and starts none: nobody
// works on them, and nothing is merged.

// stepTakes is how long a task takes in a plan, one after the other.
const stepTakes = time.Hour

// Dispatch implements cw.DispatchService.
func (m *Memory) Dispatch(_ context.Context, initiative string) (cw.DispatchStatus, error) {
	return locked(m, func() (cw.DispatchStatus, error) { return m.dispatchStatus(initiative) })
}

func (m *Memory) dispatchStatus(ref string) (cw.DispatchStatus, error) {
	status := cw.DispatchStatus{
		State: m.dispatch, Limits: cw.DispatchLimits{Machine: 1},
		Running: []cw.DispatchTask{}, Ready: []cw.DispatchTask{}, Waiting: []cw.DispatchTask{}, Merges: []cw.Merge{},
	}
	var of cw.InitiativeID
	if ref != "" {
		i, err := m.plans.initiative(ref)
		if err != nil {
			return cw.DispatchStatus{}, err
		}
		of = i.ID
	}
	for _, i := range m.plans.initiatives {
		if i.Status == cw.InitiativeArchived || of != "" && of != i.ID {
			continue
		}
		for _, t := range m.unfinished(i) {
			seen := m.seen(i, t)
			seen.Wait = m.wait(i, t)
			if seen.Wait == nil {
				status.Ready = append(status.Ready, seen)
			} else {
				status.Waiting = append(status.Waiting, seen)
			}
		}
	}
	return status, nil
}

// unfinished are the tasks of an initiative on which something is to be done.
func (m *Memory) unfinished(i cw.Initiative) []cw.Task {
	return only(m.plans.tasks, func(t cw.Task) bool {
		return t.InitiativeID == i.ID && t.Status != cw.TaskDone && t.Status != cw.TaskCancelled
	})
}

func (m *Memory) seen(i cw.Initiative, t cw.Task) cw.DispatchTask {
	return cw.DispatchTask{
		ID: t.ID, Name: t.Name, InitiativeID: i.ID, Initiative: i.Slug, PhaseID: t.PhaseID, Status: t.Status, Priority: t.Priority,
		Since: t.UpdatedAt, NoPaths: len(t.Paths) == 0,
	}
}

// wait says why a task is not started; nil when nothing stands in its way.
func (m *Memory) wait(i cw.Initiative, t cw.Task) *cw.WaitReason {
	if w := m.waitBefore(t); w != nil {
		return w
	}
	switch {
	case reached(t):
		return &cw.WaitReason{Code: cw.WaitPerson, Text: "a person has a word on it", Hint: "cw task done " + string(t.ID)}
	case t.Status == cw.TaskBlocked:
		return &cw.WaitReason{Code: cw.WaitBlocked, Text: "it failed", Hint: "cw dispatch retry " + string(t.ID)}
	case len(i.Projects) == 0:
		return &cw.WaitReason{Code: cw.WaitProject, Text: "its initiative has no project", Hint: "cw initiative edit " + i.Slug + " --project PROJECT"}
	case m.dispatch != cw.DispatchRunning:
		return &cw.WaitReason{Code: cw.WaitPaused, Text: "the dispatcher is " + string(m.dispatch), Hint: "cw dispatch resume"}
	}
	return nil
}

// waitBefore says for which phases and tasks one waits, nil for none.
func (m *Memory) waitBefore(t cw.Task) *cw.WaitReason {
	phases := map[cw.PhaseID]cw.Phase{}
	for _, ph := range m.plans.phases {
		phases[ph.ID] = ph
	}
	phase := phases[t.PhaseID]
	if phase.Status != cw.PhaseApproved && phase.Status != cw.PhaseRunning {
		return &cw.WaitReason{Code: cw.WaitPhase, Text: "its phase is " + string(phase.Status), Hint: "cw phase approve " + string(phase.ID)}
	}
	for _, before := range phase.DependsOn {
		unfinished := slices.ContainsFunc(m.plans.tasks, func(t cw.Task) bool {
			return t.PhaseID == before && t.Status != cw.TaskDone && t.Status != cw.TaskCancelled
		})
		if unfinished && phases[before].Status != cw.PhaseDone {
			return &cw.WaitReason{Code: cw.WaitPhase, Text: "the phase " + phases[before].Name + " comes before"}
		}
	}
	waits := only(m.plans.tasks, func(other cw.Task) bool {
		return slices.Contains(t.DependsOn, other.ID) && other.Status != cw.TaskDone
	})
	if len(waits) == 0 {
		return nil
	}
	w := cw.WaitReason{Code: cw.WaitDependency, Text: "the task " + waits[0].Name + " comes before"}
	for _, other := range waits {
		w.Tasks = append(w.Tasks, other.ID)
	}
	return &w
}

// reached tells whether nothing but a person's word is missing on a task before
// which nothing comes any more.
func reached(t cw.Task) bool {
	return t.AwaitsVerdict() || t.Status == cw.TaskPending && (t.Type == cw.TaskCheckpointDecide || t.Type == cw.TaskCheckpointAction)
}

// DispatchPlan implements cw.DispatchService: one task after the other, in the
// order of the initiative.
func (m *Memory) DispatchPlan(_ context.Context, ref string) (cw.DispatchPlan, error) {
	return locked(m, func() (cw.DispatchPlan, error) {
		i, err := m.plans.initiative(ref)
		if err != nil {
			return cw.DispatchPlan{}, err
		}
		plan := cw.DispatchPlan{
			Initiative: cw.InitiativeRef{ID: i.ID, Slug: i.Slug}, Steps: []cw.DispatchStep{}, Waiting: []cw.DispatchTask{}, Estimate: "assumed: an hour for each",
		}
		at := m.clock
		for _, t := range m.unfinished(i) {
			seen := m.seen(i, t)
			if seen.Wait = m.wait(i, t); seen.Wait != nil {
				plan.Waiting = append(plan.Waiting, seen)
				continue
			}
			plan.Steps = append(plan.Steps, cw.DispatchStep{DispatchTask: seen, Start: at, Finish: at.Add(stepTakes)})
			at = at.Add(stepTakes)
		}
		if len(plan.Waiting) == 0 {
			plan.Finish = &at
		}
		return plan, nil
	})
}

// SetDispatch implements cw.DispatchService.
func (m *Memory) SetDispatch(_ context.Context, req cw.DispatchRequest) (status cw.DispatchStatus, err error) {
	if err := req.Check(); err != nil {
		return status, err
	}
	m.change(func() {
		m.dispatch = req.State
		status, err = m.dispatchStatus("")
	})
	return status, err
}

// RetryTask implements cw.DispatchService.
func (m *Memory) RetryTask(ctx context.Context, id cw.TaskID) (cw.Task, error) {
	return m.moveTask(ctx, id, func(t *cw.Task) (cw.TaskStatus, error) {
		if t.Status != cw.TaskBlocked {
			return "", cw.Errorf(cw.CodeRefused, "the task %s is %s, not blocked", t.ID, t.Status).WithHint("cw dispatch status says why tasks wait")
		}
		return cw.TaskPending, nil
	})
}

// DecideTask implements cw.DispatchService.
func (m *Memory) DecideTask(ctx context.Context, id cw.TaskID, v cw.TaskVerdict) (cw.Task, error) {
	if err := v.Check(); err != nil {
		return cw.Task{}, err
	}
	return m.moveTask(ctx, id, func(t *cw.Task) (cw.TaskStatus, error) {
		switch {
		case !reached(*t) || m.waitBefore(*t) != nil:
			return "", cw.Errorf(cw.CodeRefused, "the task %s waits for no verdict", t.ID).WithHint("cw task show %s says where it stands", t.ID)
		case v.Accept && v.Comment == "" && t.Type == cw.TaskCheckpointDecide && len(t.Questions)+len(v.Answers) == 0:
			return "", cw.Errorf(cw.CodeInvalid, "what was decided?").WithHint("say it with a comment")
		case v.Accept:
			questions, err := t.Decide(v.Answers)
			if err == nil {
				t.Questions, t.Summary = questions, cw.DecidedText(questions, v.Comment)
			}
			return cw.TaskDone, err
		case t.Type == cw.TaskCheckpointVerify:
			return cw.TaskRunning, nil
		}
		return cw.TaskBlocked, nil
	})
}

func (m *Memory) moveTask(ctx context.Context, id cw.TaskID, decide func(*cw.Task) (cw.TaskStatus, error)) (task cw.Task, err error) {
	if task, err = m.plans.TaskByID(ctx, id); err != nil {
		return cw.Task{}, err
	}
	m.change(func() {
		i := slices.IndexFunc(m.plans.tasks, func(t cw.Task) bool { return t.ID == id })
		row := &m.plans.tasks[i]
		var to cw.TaskStatus
		if to, err = decide(row); err != nil {
			task = cw.Task{}
			return
		}
		row.Status, row.UpdatedAt = to, m.now()
		task = *row
		m.tell(cw.NewEvent(cw.EventTaskChanged, cw.ActorOf(ctx), cw.TaskChanged{TaskID: id, PhaseID: row.PhaseID, Name: row.Name, Status: to}).In(row.InitiativeID))
	})
	return task, err
}

// PutTask gives a task a status, whatever it has.
func (m *Memory) PutTask(id cw.TaskID, status cw.TaskStatus) {
	m.change(func() {
		i := slices.IndexFunc(m.plans.tasks, func(t cw.Task) bool { return t.ID == id })
		m.plans.tasks[i].Status = status
	})
}

// Merges implements cw.MergeService.
func (m *Memory) Merges(_ context.Context, initiative string) ([]cw.Merge, error) {
	return locked(m, func() ([]cw.Merge, error) {
		_, err := m.plans.initiative(initiative)
		return []cw.Merge{}, err
	})
}

// Integrations implements cw.MergeService.
func (m *Memory) Integrations(_ context.Context, initiative string) ([]cw.Integration, error) {
	return locked(m, func() ([]cw.Integration, error) {
		_, err := m.plans.initiative(initiative)
		return []cw.Integration{}, err
	})
}

// Land implements cw.MergeService: there is never anything to be landed.
func (m *Memory) Land(_ context.Context, initiative string, req cw.LandRequest) ([]cw.Landing, error) {
	return locked(m, func() ([]cw.Landing, error) {
		i, err := m.plans.initiative(initiative)
		switch {
		case err != nil:
			return nil, err
		case len(m.unfinished(i)) > 0 && !req.Unfinished:
			return nil, cw.Errorf(cw.CodeRefused, "%d tasks of %s are not done", len(m.unfinished(i)), i.Slug).WithHint("--unfinished lands what is merged so far")
		}
		return nil, errNothingMerged(i)
	})
}

func errNothingMerged(i cw.Initiative) error {
	return cw.Errorf(cw.CodeRefused, "nothing of %s is merged yet", i.Slug).WithHint("cw dispatch status %s tells what its tasks wait for", i.Slug)
}

// TaskDiff implements cw.MergeService.
func (m *Memory) TaskDiff(ctx context.Context, id cw.TaskID, _ cw.DiffRequest) (cw.Diff, error) {
	if _, err := m.plans.TaskByID(ctx, id); err != nil {
		return cw.Diff{}, err
	}
	return cw.Diff{}, cw.Errorf(cw.CodeRefused, "nobody worked on the task %s", id).WithHint("cw dispatch status says why tasks wait")
}

// InitiativeDiff implements cw.MergeService.
func (m *Memory) InitiativeDiff(ctx context.Context, initiative string, _ cw.DiffRequest) (cw.Diff, error) {
	i, err := m.plans.InitiativeByRef(ctx, initiative)
	if err != nil {
		return cw.Diff{}, err
	}
	return cw.Diff{}, errNothingMerged(i)
}
