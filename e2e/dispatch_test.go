package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
)

// TestDispatches: tasks run by themselves with the real CLIs. The second one
// begins from what the first one committed; of two that change the same line the
// later one is handed back, merges and resolves; and all of it is landed.
func TestDispatches(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		w := newLine(t, p, func(s model.Scenario) model.Scenario { return s })
		w.runs(4)
		w.dependent()
		w.conflicting()
		w.land()
		if to := w.srv.Outbound(); len(to) > 0 {
			t.Errorf("%s tried to reach %v", p.name, to)
		}
	})
}

// TestNeedsTheHunks: without the conflicting lines a hand-back does not tell what
// to resolve, and without its block nothing at all.
func TestNeedsTheHunks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, misses string
		twin         func(model.Scenario) model.Scenario
	}{
		{"hunks", "quotes no conflicting lines", withoutHunks},
		{"block", "handed_back", func(s model.Scenario) model.Scenario { return without("handed_back", s) }},
	} {
		t.Run("without the "+tt.name, func(t *testing.T) {
			t.Parallel()
			w := newLine(t, codex, tt.twin)
			w.runs(3)
			w.until(cw.EventAgentCrashed)
			if missed := w.srv.TakeErrors(); !slices.ContainsFunc(missed, func(err error) bool { return strings.Contains(err.Error(), tt.misses) }) {
				t.Errorf("the scenario did not miss it: %v", missed)
			}
		})
	}
}

// line is an initiative whose tasks run by themselves.
type line struct {
	sale
	srv   *model.Server
	tasks []cw.Task // in the order of their making
	seen  int64     // the last event that was looked at
}

// newLine makes an initiative with four tasks, of which the second depends on the
// first, and the others on the second.
func newLine(t *testing.T, p provider, play func(model.Scenario) model.Scenario) *line {
	t.Helper()
	both := make(chan struct{})
	l, srv := newLab(t, p, play(doesTasks(both)))
	go func() { // both work on it before one of them ends
		defer close(both)
		for _, sentence := range []string{"Sleep well.", "Bye."} {
			_, err := srv.Wait(t.Context(), func(r *model.Request) bool { return changing(r, sentence) })
			if err != nil {
				return
			}
		}
	}()
	must(t, os.WriteFile(l.Home.Config(), []byte("dispatch:\n  machine: 4\n"), 0o600))
	l.Start()
	w := &line{sale: sale{T: t, p: p, l: l}, srv: srv}
	cwDo(t, l, "", "project", "add", ".")
	show(&w.sale, &w.it, "initiative", "create", "Greetings", "--start", "--project", ".")
	cwDo(t, l, "", "initiative", "edit", w.it.Slug, "--provider", p.name)
	var phase cw.Phase
	show(&w.sale, &phase, "phase", "create", w.it.Slug, "All of it")
	task := func(name, body string, after ...cw.Task) cw.Task {
		args := []string{"task", "create", "--json", "--phase", string(phase.ID), name, "--body", "-"}
		for _, other := range after {
			args = append(args, "--depends-on", string(other.ID))
		}
		var made cw.Task
		must(t, json.Unmarshal([]byte(cwDo(t, l, body, args...)), &made))
		w.tasks = append(w.tasks, made)
		return made
	}
	second := task("Say good night", secondTask, task("Say good morning", firstTask))
	task("Say Sleep well.", sideTask("Sleep well."), second)
	task("Say Bye.", sideTask("Bye."), second)
	return w
}

// until waits for an event of a type, and gives it. A task that is blocked ends
// the test.
func (w *line) until(want cw.EventType) cw.Event {
	w.Helper()
	types := []cw.EventType{want, cw.EventTaskBlocked}
	for e, err := range w.l.Client().Events(w.Context(), cw.EventQuery{After: w.seen, Types: types, Follow: true}) {
		must(w.T, err)
		w.seen = e.Seq
		if e.Type == want {
			return e
		}
		w.Fatalf("a task is blocked: %s\n%s", e.Data, w.l.DaemonLog())
	}
	w.Fatal("the events ended")
	return cw.Event{}
}

// runs waits until so many tasks are merged.
func (w *line) runs(n int) {
	w.Helper()
	for range n {
		w.until(cw.EventMergeMerged)
	}
}

// done gives a task that is done, and its agent at rest.
func (w *line) done(i int) (cw.Task, cw.AgentView) {
	w.Helper()
	var task cw.Task
	show(&w.sale, &task, "task", "show", string(w.tasks[i].ID))
	if task.Status != cw.TaskDone || task.AgentID == "" {
		w.Fatalf("%q is %s\n%s", task.Name, task.Status, w.l.DaemonLog())
	}
	v := w.l.Until(string(task.AgentID), func(v cw.AgentView) bool { return v.Status.AtRest() && !v.Settling })
	if v.Status != cw.StatusIdle || v.Provider != w.p.name || v.TaskID != task.ID || len(v.Warnings) > 0 || task.Summary != v.Result {
		w.Errorf("%s is %s (%s %s), warnings %q, said %q, and the task says %q", v.Alias, v.Status, v.Reason, v.Error, v.Warnings, v.Result, task.Summary)
	}
	if v.Projects[0].State != cw.WorktreeRemoved || hasFile(v.AgentCwd) {
		w.Errorf("the worktree of %q is %s", task.Name, v.Projects[0].State)
	}
	return task, v
}

// dependent checks the first two tasks: one run each, the second on top of the
// first.
func (w *line) dependent() {
	w.Helper()
	_, first := w.done(0)
	_, second := w.done(1)
	if len(first.Runs) != 1 || len(second.Runs) != 1 {
		w.Errorf("%d and %d runs", len(first.Runs), len(second.Runs))
	}
	lab.Git(w.T, w.l.Repo, "merge-base", "--is-ancestor", first.Projects[0].HeadCommit, second.Projects[0].BaseCommit)
	if got := committed(w.T, w.l, second, "farewell.txt"); got != "Good morning. Good night." {
		w.Errorf("the second one committed %q", got)
	}
}

// conflicting checks the two that changed the same line: the one that was merged
// later went on in its session, once.
func (w *line) conflicting() {
	w.Helper()
	var merges []cw.Merge
	show(&w.sale, &merges, "merge", "list", w.it.Slug)
	conflicts := 0
	for i := 2; i < 4; i++ {
		task, v := w.done(i)
		m := merges[slices.IndexFunc(merges, func(m cw.Merge) bool { return m.TaskID == task.ID })]
		if m.Status != cw.MergeMerged || m.Reds != 0 || len(v.Runs) != 1+m.Conflicts {
			w.Errorf("%q: the merge is %+v after %d runs", task.Name, m, len(v.Runs))
		}
		if m.Conflicts == 0 {
			continue
		}
		conflicts += m.Conflicts
		if last := v.Runs[len(v.Runs)-1]; last.Fresh {
			w.Errorf("%q did not go on with its session", task.Name)
		}
	}
	if n := beginnings(w.srv, "handed_back"); n != 1 || conflicts != 1 {
		w.Errorf("%d conflicts, and %d times work was handed back", conflicts, n)
	}
}

// land brings the branch to main, and looks at what is there and what is left.
func (w *line) land() {
	w.Helper()
	var landed []cw.Landing
	show(&w.sale, &landed, "merge", w.it.Slug)
	if got := lab.Git(w.T, w.l.Repo, "rev-parse", "main"); len(landed) != 1 || landed[0].Branch != "cw/"+w.it.Slug || landed[0].Head != got {
		w.Errorf("main is at %s: %+v", got, landed)
	}
	lines := strings.Split(lab.Git(w.T, w.l.Repo, "show", "main:farewell.txt"), "\n")
	slices.Sort(lines)
	if !slices.Equal(lines, []string{"Good morning. Bye.", "Good morning. Sleep well."}) {
		w.Errorf("landed %q", lines)
	}
	if got := lab.Git(w.T, w.l.Repo, "status", "--porcelain"); got != "" {
		w.Errorf("the checkout is not clean: %s", got)
	}
	if n := strings.Count(lab.Git(w.T, w.l.Repo, "log", "--format=%(trailers:key=Task)", "main"), "Task: "); n != len(w.tasks) {
		w.Errorf("%d merged commits name their task", n)
	}
	var left []string
	for _, dir := range []string{filepath.Dir(w.l.Home.Worktree("any")), w.l.Home.Checks()} {
		found, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			w.Fatal(err)
		}
		for _, f := range found {
			left = append(left, f.Name())
		}
	}
	if len(left) > 0 {
		w.Errorf("worktrees are left: %q", left)
	}
	nothingLeft(w.T, w.l)
}
