package orchestrator

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"cw/internal/cw"
)

// asking is a script that asks at first and is done once it was answered.
func (w *team) asking(text string) string {
	return w.script("if test -e .cw/tmp/asked; then", wellDone(), "else", "touch .cw/tmp/asked",
		leaves("signal.json", `{"status":"questions","questions":[{"id":"q1","question":"`+text+`"}]}`), "fi")
}

// answer answers everything that an agent asks.
func (w *team) answer(v cw.AgentView, text string) {
	w.t.Helper()
	answers := map[cw.QuestionID]string{}
	for _, q := range v.PendingQuestions {
		answers[q.ID] = text
	}
	_, err := w.Answer(w.t.Context(), cw.AnswersRequest{Answers: answers})
	must(w.t, err)
}

// TestAnswersThatCannotBeNoted: an agent goes on with its answers also when the
// page has no room for them, and that is said.
func TestAnswersThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	full := strings.Repeat("Known already.\n", cw.BodyMax/15)
	_, err := w.plans.EditPage(t.Context(), w.it.RootPageID, cw.PageEdit{Body: &full})
	must(t, err)
	v := w.rest(w.mustSpawn(w.ask(cw.ModeDiscuss, w.asking("Which database?"))).Alias)
	w.answer(v, "SQLite")
	v = w.idleAfter(v.Alias, 2)
	if got := strings.Join(v.Warnings, "\n"); strings.Count(got, "were not noted as decisions") != 1 {
		t.Errorf("warnings %q", v.Warnings)
	}
}

// TestSuggestedAtTheSameTime: two agents that end together with the same tasks
// suggest them once.
func TestSuggestedAtTheSameTime(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	both.Add(2)
	w := newTeam(t, func(c *Config) {
		c.Fail = func(at string) {
			if at == "finish/handed-over" {
				both.Done()
				both.Wait()
			}
		}
	})
	phase, err := w.plans.CreatePhase(t.Context(), cw.CreatePhaseRequest{Initiative: w.it.Slug, Name: "First"})
	must(t, err)
	var names []string
	for range 2 {
		lines := []string{}
		for i := range 20 {
			id := cw.NewID()[:12]
			lines = append(lines, leaves("tasks/"+id+".md", fmt.Sprintf("---\nid: %s\ntitle: Task %d\nphase: %s\n---\nDo it.", id, i, phase.ID)))
		}
		names = append(names, w.mustSpawn(w.ask(cw.ModeDetail, w.script(append(lines, wellDone())...))).Alias)
	}
	for _, name := range names {
		w.rest(name)
	}
	page, err := w.plans.Proposals(t.Context(), cw.ProposalFilter{Initiative: w.it.Slug, Statuses: []cw.ProposalStatus{cw.ProposalOpen}})
	must(t, err)
	if len(page.Items) != 20 {
		t.Errorf("%d open proposals", len(page.Items))
	}
}

// TestSuggestedAgain: what was suggested before, and is not how things are or
// will be, can be suggested again.
func TestSuggestedAgain(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	says := func(text string) cw.AgentView {
		t.Helper()
		return w.rest(w.mustSpawn(w.ask(cw.ModeRefine, w.script(
			leaves("pages/"+string(w.it.RootPageID)+".md", "---\nid: "+string(w.it.RootPageID)+"\n---\n"+text), wellDone()))).Alias)
	}
	open := func() (out []string) {
		t.Helper()
		page, err := w.plans.Proposals(t.Context(), cw.ProposalFilter{Initiative: w.it.Slug, Statuses: []cw.ProposalStatus{cw.ProposalOpen}})
		must(t, err)
		for _, p := range page.Items {
			_, text, _ := strings.Cut(strings.TrimPrefix(p.After, "---\n"), "---\n")
			out = append(out, strings.TrimSpace(text))
		}
		return out
	}
	want := func(when string, texts ...string) {
		t.Helper()
		if got := open(); !slices.Equal(got, texts) {
			t.Errorf("%s: open are %q, want %q", when, got, texts)
		}
	}
	says("One.")
	says("Two.")
	want("another text", "Two.")
	one := says("One.")
	want("the first text again", "One.")
	w.accept(one.Alias)
	empty := ""
	_, err := w.plans.EditPage(t.Context(), w.it.RootPageID, cw.PageEdit{Body: &empty})
	must(t, err)
	says("One.")
	want("after it was accepted and taken back", "One.")
}

// TestInputThatAnAgentSpoiled: whatever a run makes of its input, the next one has
// it again, and nothing is written through what it left.
func TestInputThatAnAgentSpoiled(t *testing.T) {
	t.Parallel()
	away := t.TempDir()
	for name, lines := range map[string][]string{
		"odd files":   {"cd .cw/input", "rm -rf manifest.json pages context initiative.md", "mkfifo manifest.json context", "ln -s " + away + " pages", "mkdir initiative.md"},
		"odd folders": {"rm -rf .cw/input .cw/tmp", "ln -s " + away + " .cw/input", "ln -s " + away + " .cw/tmp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTeam(t)
			lines := append([]string{"test -s .cw/input/manifest.json && test -s .cw/input/pages/" + string(w.it.RootPageID) + ".md", "("}, lines...)
			v := w.rest(w.mustSpawn(w.ask(cw.ModeRefine, w.script(append(lines, ")", "echo x > keep", wellDone())...))).Alias)
			_, err := w.Resume(t.Context(), v.Alias, cw.ResumeRequest{})
			must(t, err)
			w.idleAfter(v.Alias, 2)
			if left, err := os.ReadDir(away); err != nil || len(left) > 0 {
				t.Errorf("written outside: %v, %v", left, err)
			}
		})
	}
}

// TestTaskThatChanged: a session that begins anew is told the task as it is then.
func TestTaskThatChanged(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	phase, err := w.plans.CreatePhase(t.Context(), cw.CreatePhaseRequest{Initiative: w.it.Slug, Name: "First"})
	must(t, err)
	task, err := w.plans.CreateTask(t.Context(), cw.CreateTaskRequest{PhaseID: phase.ID, Name: "Count", Body: "Count to ten."})
	must(t, err)
	req := w.ask(cw.ModeExecute, w.script(leaves("signal.json", `{"status":"done","noChanges":"none is needed"}`)))
	req.TaskID, req.Goal = task.ID, "Mind the till."
	v := w.rest(w.mustSpawn(req).Alias)
	changed := "Count to twelve."
	_, err = w.plans.EditTask(t.Context(), task.ID, cw.TaskEdit{Body: &changed})
	must(t, err)
	_, err = w.Resume(t.Context(), v.Alias, cw.ResumeRequest{})
	must(t, err)
	v = w.idleAfter(v.Alias, 2)
	got := w.prompt(v, 2)
	if !v.Runs[1].Fresh || !strings.Contains(got, changed) || strings.Contains(got, "Count to ten.") || !strings.Contains(got, "Mind the till.") {
		t.Errorf("fresh %t, told\n%s", v.Runs[1].Fresh, got)
	}
}
