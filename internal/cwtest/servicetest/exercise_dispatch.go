package servicetest

import (
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// paused lets nothing be started, and makes an initiative.
func paused(t *testing.T, f Fixture) cw.InitiativeView {
	t.Helper()
	_, err := f.Services.SetDispatch(soon(t), cw.DispatchRequest{State: cw.DispatchPaused})
	ok(t, err)
	return initiative(t, f)
}

// dispatchCase: every task on which something is to be done is told of once, and
// each that is not started with its reason.
func dispatchCase(t *testing.T, f Fixture) {
	v := paused(t, f)
	ctx, s := soon(t), f.Services
	bare, err := s.CreateTask(ctx, cw.CreateTaskRequest{PhaseID: v.Phases[0].ID, Name: "Anywhere", Priority: cw.PriorityHigh})
	ok(t, err)
	other := initiative(t, f)
	all := append(slices.Clone(v.Tasks), bare)
	for _, ref := range []string{v.Slug, string(v.ID)} {
		status, err := s.Dispatch(ctx, ref)
		ok(t, err)
		if status.State != cw.DispatchPaused || status.Limits.Machine < 1 || len(status.Running) > 0 || status.Merges == nil || len(status.Merges) > 0 || len(status.Landing) > 0 {
			t.Errorf("of %s: %+v", ref, status)
		}
		told(t, status, all)
	}
	whole, err := s.Dispatch(ctx, "")
	ok(t, err)
	told(t, whole, slices.Concat(all, other.Tasks))
	done, cancelled := cw.TaskDone, cw.TaskCancelled
	_, err = s.EditTask(ctx, v.Tasks[0].ID, cw.TaskEdit{Status: &done})
	ok(t, err)
	_, err = s.EditTask(ctx, bare.ID, cw.TaskEdit{Status: &cancelled})
	ok(t, err)
	left, err := s.Dispatch(ctx, v.Slug)
	ok(t, err)
	told(t, left, v.Tasks[1:])
	empty, err := s.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "Nothing to do"})
	ok(t, err)
	none, err := s.Dispatch(ctx, empty.Slug)
	ok(t, err)
	told(t, none, nil)
	for _, state := range append(cw.DispatchStates(), cw.DispatchPaused) {
		set, err := s.SetDispatch(ctx, cw.DispatchRequest{State: state})
		ok(t, err)
		read, err := s.Dispatch(ctx, empty.Slug)
		ok(t, err)
		if set.State != state || read.State != state {
			t.Errorf("set to %s: answered %s, is %s", state, set.State, read.State)
		}
	}
}

// told fails unless these tasks are among those of a status, each once and with
// what is known of it.
func told(t *testing.T, status cw.DispatchStatus, tasks []cw.Task) {
	t.Helper()
	if status.Running == nil || status.Ready == nil || status.Waiting == nil {
		t.Errorf("lists are null: %+v", status)
	}
	for _, w := range slices.Concat(status.Running, status.Ready) {
		if w.Wait != nil {
			t.Errorf("%s does not wait, and has a reason: %+v", w.Name, w.Wait)
		}
	}
	checkReasons(t, status.Waiting)
	seen := map[cw.TaskID]int{}
	for _, d := range slices.Concat(status.Running, status.Ready, status.Waiting) {
		seen[d.ID]++
		i := slices.IndexFunc(tasks, func(task cw.Task) bool { return task.ID == d.ID })
		if i < 0 {
			continue // of somebody else
		}
		want, got := tasks[i], d
		if got.Name != want.Name || got.InitiativeID != want.InitiativeID || got.Initiative == "" || got.PhaseID != want.PhaseID ||
			got.Priority != want.Priority || got.NoPaths != (len(want.Paths) == 0) || got.AgentID != "" || got.Since.IsZero() {
			t.Errorf("told %+v of %+v", got, want)
		}
	}
	for _, task := range tasks {
		if seen[task.ID] != 1 {
			t.Errorf("%s is told of %d times", task.Name, seen[task.ID])
		}
	}
	if len(tasks) == 0 && len(seen) > 0 {
		t.Errorf("there is nothing to do, and it is told of %v", seen)
	}
}

func checkReasons(t *testing.T, waiting []cw.DispatchTask) {
	t.Helper()
	for _, w := range waiting {
		if w.Wait == nil || !slices.Contains(cw.WaitCodes(), w.Wait.Code) || strings.TrimSpace(w.Wait.Text) == "" {
			t.Errorf("%s waits for %+v", w.Name, w.Wait)
		}
	}
}

// dispatchPlanCase: a plan has every task once: in the order in which they
// would be started, or with the reason why one never would.
func dispatchPlanCase(t *testing.T, f Fixture) {
	v := paused(t, f)
	ctx, s := soon(t), f.Services
	for _, ref := range []string{v.Slug, string(v.ID)} {
		plan, err := s.DispatchPlan(ctx, ref)
		ok(t, err)
		if plan.Initiative.ID != v.ID || plan.Initiative.Slug != v.Slug || plan.Estimate == "" || plan.Steps == nil || plan.Waiting == nil {
			t.Errorf("%+v", plan)
		}
		var ids []cw.TaskID
		for i, step := range plan.Steps {
			ids = append(ids, step.ID)
			if step.Finish.Before(step.Start) || i > 0 && step.Start.Before(plan.Steps[i-1].Start) {
				t.Errorf("step %d of %+v", i, plan.Steps)
			}
			if plan.Finish != nil && step.Finish.After(*plan.Finish) {
				t.Errorf("%s ends after all: %+v", step.Name, plan)
			}
		}
		for _, w := range plan.Waiting {
			ids = append(ids, w.ID)
		}
		checkReasons(t, plan.Waiting)
		want := []cw.TaskID{v.Tasks[0].ID, v.Tasks[1].ID}
		slices.Sort(ids)
		slices.Sort(want)
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("planned (-want +got):\n%s", diff)
		}
		if len(plan.Waiting) > 0 && plan.Finish != nil {
			t.Errorf("some never start, and all end at %s", plan.Finish)
		}
	}
	empty, err := s.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "Nothing to do"})
	ok(t, err)
	plan, err := s.DispatchPlan(ctx, empty.Slug)
	ok(t, err)
	if len(plan.Steps)+len(plan.Waiting) > 0 {
		t.Errorf("of nothing: %+v", plan)
	}
}

// badDispatchCase: what is wrong is refused by its kind.
func badDispatchCase(t *testing.T, f Fixture) {
	v := paused(t, f)
	ctx, s := soon(t), f.Services
	for _, ref := range []string{unknown, cw.NewID(), "a/b", "..", "a b", "ü?#%2F"} {
		_, err := s.Dispatch(ctx, ref)
		wantCode(t, "Dispatch "+ref, err, cw.CodeNotFound)
		_, err = s.DispatchPlan(ctx, ref)
		wantCode(t, "DispatchPlan "+ref, err, cw.CodeNotFound)
		_, err = s.RetryTask(ctx, cw.TaskID(ref))
		wantCode(t, "RetryTask "+ref, err, cw.CodeNotFound)
		for _, verdict := range []cw.TaskVerdict{{Accept: true}, {Comment: "no"}} {
			_, err = s.DecideTask(ctx, cw.TaskID(ref), verdict)
			wantCode(t, "DecideTask "+ref, err, cw.CodeNotFound)
		}
		_, err = s.Merges(ctx, ref)
		wantCode(t, "Merges "+ref, err, cw.CodeNotFound)
		_, err = s.Integrations(ctx, ref)
		wantCode(t, "Integrations "+ref, err, cw.CodeNotFound)
		_, err = s.Land(ctx, ref, cw.LandRequest{})
		wantCode(t, "Land "+ref, err, cw.CodeNotFound)
		_, err = s.TaskDiff(ctx, cw.TaskID(ref), cw.DiffRequest{})
		wantCode(t, "TaskDiff "+ref, err, cw.CodeNotFound)
		_, err = s.InitiativeDiff(ctx, ref, cw.DiffRequest{Stat: true})
		wantCode(t, "InitiativeDiff "+ref, err, cw.CodeNotFound)
	}
	for what, req := range map[string]cw.DiffRequest{
		"a side that is none": {Against: "heads"}, "an empty path": {Paths: []string{""}}, "a path that leads out": {Paths: []string{"a", "a/../../b"}},
		"an absolute path": {Paths: []string{"/etc/passwd"}}, "a zero byte": {Paths: []string{"a\x00"}}, "too many paths": {Paths: make([]string, cw.DiffPathsMax+1)},
	} {
		_, err := s.TaskDiff(ctx, v.Tasks[0].ID, req)
		wantCode(t, "TaskDiff with "+what, err, cw.CodeInvalid)
		_, err = s.InitiativeDiff(ctx, v.Slug, req)
		wantCode(t, "InitiativeDiff with "+what, err, cw.CodeInvalid)
		_, err = s.Diff(ctx, unknown, req)
		wantCode(t, "Diff with "+what, err, cw.CodeInvalid)
	}
	for state, nearest := range map[cw.DispatchState]string{"": "paused", "pased": "did you mean paused?", "Running": "did you mean running?", "stop": "draining"} {
		_, err := s.SetDispatch(ctx, cw.DispatchRequest{State: state})
		wantCode(t, "SetDispatch "+string(state), err, cw.CodeInvalid)
		if hint := cw.ErrorHint(err); !strings.Contains(hint, nearest) {
			t.Errorf("SetDispatch %q: the hint %q does not say %q", state, hint, nearest)
		}
	}
	status, err := s.Dispatch(ctx, v.Slug)
	ok(t, err)
	if status.State != cw.DispatchPaused {
		t.Errorf("after states that are none it is %s", status.State)
	}
	badVerdictsCase(t, f, v)
}

// badVerdictsCase: a task that nobody worked on has no result to say anything of,
// and an initiative of which nothing is done nothing to be landed.
func badVerdictsCase(t *testing.T, f Fixture, v cw.InitiativeView) {
	t.Helper()
	ctx, s := soon(t), f.Services
	id := v.Tasks[0].ID
	for what, verdict := range map[string]cw.TaskVerdict{
		"a rejection without a comment": {}, "one of blanks": {Comment: " \n"}, "a long one": {Accept: true, Comment: strings.Repeat("x", cw.VerdictMax+1)},
	} {
		_, err := s.DecideTask(ctx, id, verdict)
		wantCode(t, what, err, cw.CodeInvalid)
	}
	after := v.Tasks[0].ID
	decision, err := s.CreateTask(ctx, cw.CreateTaskRequest{
		PhaseID: v.Phases[0].ID, Name: "Choose", Type: cw.TaskCheckpointDecide, DependsOn: []cw.TaskID{after},
	})
	ok(t, err)
	verify, err := s.CreateTask(ctx, cw.CreateTaskRequest{PhaseID: v.Phases[0].ID, Name: "Look", Type: cw.TaskCheckpointVerify})
	ok(t, err)
	for _, id := range []cw.TaskID{id, decision.ID, verify.ID} {
		for _, verdict := range []cw.TaskVerdict{{Accept: true, Comment: strings.Repeat("\x01", cw.VerdictMax)}, {Comment: "not like this"}} {
			_, err := s.DecideTask(ctx, id, verdict)
			wantCode(t, "a verdict that nobody waits for", err, cw.CodeRefused)
		}
		_, err := s.RetryTask(ctx, id)
		wantCode(t, "a retry of what did not fail", err, cw.CodeRefused)
		for _, stat := range []bool{false, true} {
			_, err = s.TaskDiff(ctx, id, cw.DiffRequest{Stat: stat})
			wantCode(t, "the diff of what nobody touched", err, cw.CodeRefused)
		}
	}
	_, err = s.InitiativeDiff(ctx, v.Slug, cw.DiffRequest{})
	wantCode(t, "the diff of what has nothing merged", err, cw.CodeRefused)
	_, err = s.Land(ctx, v.Slug, cw.LandRequest{})
	wantCode(t, "a landing of what is not done", err, cw.CodeRefused)
	if !strings.Contains(cw.ErrorHint(err), "unfinished") {
		t.Errorf("the way to land it all the same is not told: %q", cw.ErrorHint(err))
	}
	merges, err := s.Merges(ctx, v.Slug)
	ok(t, err)
	branches, err := s.Integrations(ctx, string(v.ID))
	ok(t, err)
	if len(merges) > 0 || len(branches) > 0 {
		t.Errorf("merges %+v, branches %+v", merges, branches)
	}
	task, err := s.Task(ctx, id)
	ok(t, err)
	if task.Status != cw.TaskPending {
		t.Errorf("it is %s after all that was refused", task.Status)
	}
}
