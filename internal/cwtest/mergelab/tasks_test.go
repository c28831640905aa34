package mergelab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// agentOf waits for the agent of a task that runs.
func (h *house) agentOf(name string) cw.AgentView {
	h.T.Helper()
	task := h.taskIs(name, cw.TaskRunning)
	return h.Until(string(task.AgentID), func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
}

// TestTaskCancelled cancels a task while its agent works: the agent is stopped,
// and nothing of it is merged.
func TestTaskCancelled(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	hangs := writes("first", "first.txt", "first")
	hangs.Shell += "\nwhile :; do sleep 0.1; done"
	h.work(job{name: "first", paths: []string{"*.txt"}, does: hangs},
		job{name: "second", paths: []string{"second.txt"}, does: writes("second", "second.txt", "second")})
	agent := h.agentOf("first")
	h.waits("second", cw.WaitPaths)
	cancelled := cw.TaskCancelled
	_, err := h.Client().EditTask(t.Context(), h.tasks["first"], cw.TaskEdit{Status: &cancelled})
	h.need(err)
	h.Until(string(agent.ID), func(v cw.AgentView) bool { return v.Status == cw.StatusStopped })
	h.taskIs("second", cw.TaskDone)
	if names := h.inMirror("ls-tree", "--name-only", branch); !hasAll(names, []string{"second.txt"}) || hasAll(names, []string{"first.txt"}) {
		t.Errorf("on the branch are\n%s", names)
	}
	if got := h.taskIs("first", cw.TaskCancelled); got.Status != cw.TaskCancelled {
		t.Errorf("the task is %s", got.Status)
	}
}

// TestCancelledInChecks cancels a task whose work is checked, and kills the
// daemon or not: its check is ended, nothing of it is merged, no checkout stays,
// and the next one in the queue does not wait for it.
func TestCancelledInChecks(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %v", kill), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			begun := filepath.Join(h.Books, "begun")
			h.commit(h.Repo, "Check", map[string]string{"cw.yaml": project("if [ -f first.txt ]; then touch "+begun+"; sleep 600; fi", "20m")})
			h.open()
			h.trust()
			h.work(job{name: "first", paths: []string{"first.txt"}, does: writes("first", "first.txt", "first")})
			h.until("the check runs", func() bool { _, err := os.Stat(begun); return err == nil })
			h.task(h.phase(slug, "More"), job{name: "second", paths: []string{"second.txt"}, does: writes("second", "second.txt", "second")})
			h.mergeIs("second", "is queued", func(m cw.Merge) bool { return m.Status == cw.MergeQueued })
			cancelled := cw.TaskCancelled
			_, err := h.Client().EditTask(t.Context(), h.tasks["first"], cw.TaskEdit{Status: &cancelled})
			h.need(err)
			if kill {
				h.Kill()
				h.Start()
			}
			h.mergeIs("first", "is dismissed", func(m cw.Merge) bool { return m.Status == cw.MergeDismissed })
			h.taskIs("second", cw.TaskDone)
			if names := h.inMirror("ls-tree", "--name-only", branch); hasAll(names, []string{"first.txt"}) {
				t.Errorf("on the branch are\n%s", names)
			}
			h.until("no check goes on", func() bool {
				return !slices.ContainsFunc(lab.Processes(string(h.Home)), func(p lab.Process) bool { return p.Shim || strings.HasPrefix(p.Command, "sleep") })
			})
			h.tidy()
		})
	}
}

// TestUnseenWork has an agent merge the branch of another one at whose result a
// person is to look: it does not come onto the branch of the initiative that way.
func TestUnseenWork(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	h.work(job{name: "first", kind: cw.TaskCheckpointVerify, does: writes("first", "first.txt", "first")})
	looked := h.mergeIs("first", "waits for a person", cw.Merge.AwaitsPerson)
	takes := shell("second", "git merge -q --no-edit "+looked.Parts[0].Head, "echo second > second.txt")
	h.task(h.phase(slug, "More"), job{name: "second", does: takes})
	h.held("second", `contains that of "first"`, "cw task show "+string(h.tasks["first"]))
	_, err := h.Client().DecideTask(t.Context(), h.tasks["first"], cw.TaskVerdict{Comment: "not yet"})
	h.need(err)
	h.taskIs("first", cw.TaskVerifying)
	if m, _ := h.mergeOf("second"); m.Status == cw.MergeMerged {
		t.Error("it was merged after the other was rejected")
	}
	h.mergeIs("first", "waits for a person again", cw.Merge.AwaitsPerson)
	_, err = h.Client().DecideTask(t.Context(), h.tasks["first"], cw.TaskVerdict{Accept: true})
	h.need(err)
	h.taskIs("first", cw.TaskDone)
	h.taskIs("second", cw.TaskDone)
}

// TestPausedInChecks pauses while work is checked: the check goes on, and nothing
// is merged before the pause is over.
func TestPausedInChecks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	begun, gate := filepath.Join(h.Books, "begun"), filepath.Join(h.Books, "gate")
	h.commit(h.Repo, "Check", map[string]string{"cw.yaml": project("touch "+begun+"; while ! [ -e "+gate+" ]; do sleep 0.05; done", "1m")})
	h.open()
	h.trust()
	h.work(job{name: "first", paths: []string{"first.txt"}, does: writes("first", "first.txt", "first")})
	h.until("the check runs", func() bool { _, err := os.Stat(begun); return err == nil })
	before := h.inMirror("rev-parse", branch)
	_, err := h.Client().SetDispatch(t.Context(), cw.DispatchRequest{State: cw.DispatchPaused})
	h.need(err)
	h.need(os.WriteFile(gate, nil, 0o600))
	h.mergeIs("first", "is checked", func(m cw.Merge) bool { return len(m.Parts) == 1 && m.Parts[0].Checked })
	resumed := time.Now()
	if at := h.inMirror("rev-parse", branch); at != before {
		t.Errorf("the branch was moved to %s", at)
	}
	_, err = h.Client().SetDispatch(t.Context(), cw.DispatchRequest{State: cw.DispatchRunning})
	h.need(err)
	h.taskIs("first", cw.TaskDone)
	if m, _ := h.mergeOf("first"); m.MergedAt == nil || m.MergedAt.Before(resumed) {
		t.Errorf("it was merged at %v, and the pause was over at %v", m.MergedAt, resumed)
	}
	h.tidy()
}

// TestBegunAnewInChecks wants a task done once more while its work is checked, and
// holds it back: what was on its way is merged neither now nor later.
func TestBegunAnewInChecks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	begun, gate := filepath.Join(h.Books, "begun"), filepath.Join(h.Books, "gate")
	h.commit(h.Repo, "Check", map[string]string{"cw.yaml": project("if [ -e first.txt ]; then touch "+begun+"; while ! [ -e "+gate+" ]; do sleep 0.05; done; fi", "1m")})
	h.open()
	h.trust()
	second := writes("second", "second.txt", "second")
	second.Wait = begun
	h.work(job{name: "first", paths: []string{"first.txt"}, does: writes("first", "first.txt", "first")},
		job{name: "second", paths: []string{"second.txt"}, does: second})
	h.taskIs("second", cw.TaskVerifying)
	hold, again := true, cw.TaskPending
	_, err := h.Client().EditInitiative(t.Context(), slug, cw.InitiativeEdit{Work: &cw.WorkEdit{Hold: &hold}})
	h.need(err)
	_, err = h.Client().EditTask(t.Context(), h.tasks["first"], cw.TaskEdit{Status: &again})
	h.need(err)
	h.mergeIs("first", "is dismissed", func(m cw.Merge) bool { return m.Status == cw.MergeDismissed })
	h.need(os.WriteFile(gate, nil, 0o600))
	h.taskIs("second", cw.TaskDone)
	h.taskIs("first", cw.TaskPending)
	if names := h.inMirror("ls-tree", "--name-only", branch); hasAll(names, []string{"first.txt"}) {
		t.Errorf("on the branch are\n%s", names)
	}
	h.tidy()
}

// TestAgentRemoved stops and removes the agent of a task: the task is left to a
// person, and another agent does it when that is wanted.
func TestAgentRemoved(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	gate := filepath.Join(h.Books, "gate")
	waits := writes("first", "first.txt", "first")
	waits.Wait = gate
	h.work(job{name: "first", does: waits})
	agent := h.agentOf("first")
	_, err := h.Client().Stop(t.Context(), string(agent.ID), cw.StopRequest{})
	h.need(err)
	h.waits("first", cw.WaitBlocked, "was stopped", "cw dispatch retry")
	h.Rest(string(agent.ID))
	_, err = h.Client().Remove(t.Context(), string(agent.ID))
	h.need(err)
	h.need(os.WriteFile(gate, nil, 0o600))
	_, err = h.Client().RetryTask(t.Context(), h.tasks["first"])
	h.need(err)
	if task := h.taskIs("first", cw.TaskDone); task.AgentID == agent.ID {
		t.Error("the agent that was removed did it")
	}
}

// TestCircleRefused tries to make tasks and phases wait for each other.
func TestCircleRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	_, err := h.Client().SetDispatch(t.Context(), cw.DispatchRequest{State: cw.DispatchPaused})
	h.need(err)
	one := h.phase(slug, "One")
	two := h.phase(slug, "Two", one)
	h.task(one, job{name: "first", does: writes("first", "a.txt", "a")})
	h.task(one, job{name: "second", after: []string{"first"}, does: writes("second", "b.txt", "b")})
	h.task(two, job{name: "third", does: writes("third", "c.txt", "c")})
	on := []cw.TaskID{h.tasks["second"]}
	if _, err := h.Client().EditTask(t.Context(), h.tasks["first"], cw.TaskEdit{DependsOn: &on}); cw.ErrorCode(err) != cw.CodeInvalid && cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("a circle of tasks: %v", err)
	}
	after := []cw.PhaseID{two}
	if _, err := h.Client().EditPhase(t.Context(), one, cw.PhaseEdit{DependsOn: &after}); cw.ErrorCode(err) != cw.CodeInvalid && cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("a circle of phases: %v", err)
	}
}

// hold holds the initiative, or lets it go on.
func (h *house) hold(yes bool) error {
	_, err := h.Client().EditInitiative(h.T.Context(), slug, cw.InitiativeEdit{Work: &cw.WorkEdit{Hold: &yes}})
	return err
}

// TestArchived archives an initiative: not while an agent works for it; else
// nothing of it is started.
func TestArchived(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	gate := filepath.Join(h.Books, "gate")
	waits := writes("first", "first.txt", "first")
	waits.Wait = gate
	h.work(job{name: "first", does: waits}, job{name: "act", kind: cw.TaskCheckpointAction, after: []string{"first"}},
		job{name: "second", after: []string{"act"}, does: writes("second", "second.txt", "second")})
	h.agentOf("first")
	yes, no := true, false
	if _, err := h.Client().EditInitiative(t.Context(), slug, cw.InitiativeEdit{Archived: &yes}); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("archived while an agent works: %v", err)
	}
	h.need(os.WriteFile(gate, nil, 0o600))
	h.taskIs("act", cw.TaskReady)
	_, err := h.Client().EditInitiative(t.Context(), slug, cw.InitiativeEdit{Archived: &yes})
	h.need(err)
	if st, err := h.Client().Dispatch(t.Context(), ""); err != nil || len(st.Waiting)+len(st.Ready)+len(st.Running) > 0 {
		t.Errorf("the dispatcher looks at %+v, %v", st, err)
	}
	_, err = h.Client().EditInitiative(t.Context(), slug, cw.InitiativeEdit{Archived: &no})
	h.need(err)
	_, err = h.Client().DecideTask(t.Context(), h.tasks["act"], cw.TaskVerdict{Accept: true})
	h.need(err)
	h.taskIs("second", cw.TaskDone)
}

// TestHeldBack pauses the dispatcher: nothing is started and nothing merged; and
// it holds the initiative: nothing is started. Then it goes on.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		hold, free func(h *house) error
	}{
		{"paused", func(h *house) error {
			_, err := h.Client().SetDispatch(h.T.Context(), cw.DispatchRequest{State: cw.DispatchPaused})
			return err
		}, func(h *house) error {
			_, err := h.Client().SetDispatch(h.T.Context(), cw.DispatchRequest{State: cw.DispatchRunning})
			return err
		}},
		{"held", func(h *house) error { return h.hold(true) }, func(h *house) error { return h.hold(false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			h.open()
			gate := filepath.Join(h.Books, "gate")
			waits := writes("first", "first.txt", "first")
			waits.Wait = gate
			h.work(job{name: "first", does: waits}, job{name: "second", after: []string{"first"}, does: writes("second", "second.txt", "second")})
			agent := h.agentOf("first")
			h.need(c.hold(h))
			h.need(os.WriteFile(gate, nil, 0o600))
			h.Rest(string(agent.ID))
			if c.name == "paused" {
				h.waits("second", cw.WaitDependency)
				if m, there := h.mergeOf("first"); there && m.Status == cw.MergeMerged {
					t.Error("it was merged")
				}
			} else {
				h.taskIs("first", cw.TaskDone) // what is done is merged
				h.waits("second", cw.WaitProject, "is held")
			}
			h.need(c.free(h))
			h.taskIs("second", cw.TaskDone)
		})
	}
}

// TestTwoInitiatives has two initiatives work in one project: they keep off each
// other's paths, each has a branch of its own, and both are landed.
func TestTwoInitiatives(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	other := h.initiative("other")
	gate := filepath.Join(h.Books, "gate")
	waits := writes("first", "shared.txt", "first")
	waits.Wait = gate
	h.work(job{name: "first", paths: []string{"shared.txt"}, does: waits})
	h.agentOf("first")
	phase := h.phase(other.Slug, "Work")
	h.task(phase, job{name: "second", paths: []string{"*.txt"}, does: writes("second", "own.txt", "second")})
	h.waits("second", cw.WaitPaths, "first")
	h.need(os.WriteFile(gate, nil, 0o600))
	h.taskIs("first", cw.TaskDone)
	h.taskIs("second", cw.TaskDone)
	base := lab.Git(t, h.Repo, "rev-parse", "main")
	for ref, want := range map[string]string{branch: "shared.txt", other.Branch(): "own.txt"} {
		if names := h.inMirror("diff", "--name-only", base, ref); names != want {
			t.Errorf("%s changes %s, it was to change %s", ref, names, want)
		}
	}
	for _, initiative := range []string{slug, other.Slug} {
		_, err := h.Client().Land(t.Context(), initiative, cw.LandRequest{})
		h.need(err)
	}
	for _, name := range []string{"shared.txt", "own.txt"} {
		if _, err := os.Stat(filepath.Join(h.Repo, name)); err != nil {
			t.Error(err)
		}
	}
	if status := lab.Git(t, h.Repo, "status", "--porcelain"); status != "" {
		t.Errorf("the user's checkout is changed:\n%s", status)
	}
	h.tidy()
}
