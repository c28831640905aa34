package daemon_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// asksPeople is what a call of an agent asks.
func asksPeople() *cw.PeopleRequest {
	options := []cw.QuestionOption{{Label: "red"}, {Label: "blue", Description: "as the sea"}}
	return &cw.PeopleRequest{RequestKey: "call-1", ToolUseID: "toolu_1", Questions: []cw.ToolQuestion{
		{Header: "Colour", Question: "Which colour?", Options: options},
		{Header: "Sizes", Question: "Which sizes?", Options: []cw.QuestionOption{{Label: "small"}, {Label: "large"}}, MultiSelect: true},
	}}
}

const doneSignal = `{"status":"done","noChanges":"only asked or talked"}`

// waitsForPeople spawns an agent that asks by a call, and gives its questions.
func waitsForPeople(t *testing.T, l *lab.Lab, s fakecli.Script) (cw.AgentView, []cw.Question) {
	t.Helper()
	s.Ask, s.Signal = asksPeople(), doneSignal
	v := l.MustSpawn(s)
	v = l.Until(v.Alias, func(v cw.AgentView) bool { return len(v.PendingQuestions) == len(s.Ask.Questions) })
	return v, v.PendingQuestions
}

// booksOf gives the answers that calls of an agent's runs got, and how often its
// runs were started.
func booksOf(t *testing.T, l *lab.Lab, v cw.AgentView) (told []string, starts int) {
	t.Helper()
	books, err := fakecli.ReadBooks(l.Books)
	must(t, err)
	for _, run := range v.Runs {
		told = append(told, books[string(run.ID)].Told()...)
		starts += books[string(run.ID)].Starts()
	}
	return told, starts
}

// answersBy runs a command that must succeed.
func answersBy(t *testing.T, l *lab.Lab, args ...string) {
	t.Helper()
	if out, stderr, code := l.Run(l.Repo, args...); code != 0 {
		t.Fatalf("cw %q: exit %d: %s%s", args, code, out, stderr)
	}
}

// TestCallOutlivesTheDaemon: a call waits while the daemon is killed, gets the
// answers that are given to the next one, once, and no run is added.
func TestCallOutlivesTheDaemon(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	v, asked := waitsForPeople(t, l, fakecli.Script{})
	if v.Status != cw.StatusRunning || asked[0].Source != cw.AskedByTool || asked[0].ToolUseID != "toolu_1" || asked[0].RequestID != asked[1].RequestID {
		t.Errorf("it is %s and asks %+v", v.Status, asked)
	}
	l.Kill()
	l.Start()
	answersBy(t, l, "question", "answer", string(asked[0].ID), "--option", "blue")
	l.Kill()
	l.Start()
	answersBy(t, l, "question", "answer", string(asked[1].ID), "--option", "small", "--option", "large")
	v = l.Rest(v.Alias)
	if told, starts := booksOf(t, l, v); !slices.Equal(told, []string{"blue", `["small","large"]`}) || starts != 1 || v.Status != cw.StatusIdle || v.SessionNumber != 1 {
		t.Errorf("told %q in %d runs, it is %s in session %d", told, starts, v.Status, v.SessionNumber)
	}
	if _, _, code := l.Run(l.Repo, "question", "answer", string(asked[0].ID), "--option", "red"); code != 4 {
		t.Errorf("a second answer: exit %d", code)
	}
	page, err := l.Client().Questions(t.Context(), cw.QuestionFilter{Agent: v.Alias})
	must(t, err)
	for _, q := range page.Items {
		if q.FetchedAt == nil || q.Status != cw.QuestionAnswered {
			t.Errorf("%+v", q)
		}
	}
}

// TestAnswersAtFailpoints: the daemon is killed when the questions are stored,
// when the answer is, and when it was taken; each is asked and told once.
func TestAnswersAtFailpoints(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"question/asked", "answer/stored", "question/fetched"} {
		t.Run(filepath.Base(step), func(t *testing.T) {
			t.Parallel()
			l := lab.New(t, binary)
			l.Env = []string{"CW_FAILPOINT=" + step}
			l.Start()
			s := fakecli.Script{Ask: asksPeople(), Signal: doneSignal}
			v, err := l.Spawn(s)
			if cw.ErrorCode(err) != cw.CodeUnreachable { // it may ask, and the daemon die, before the answer to the spawn is on its way
				must(t, err)
			}
			restart := func() {
				if !l.Ended(20 * time.Second) {
					t.Fatalf("the daemon does not die at %s", step)
				}
				l.Env = nil
				l.Start()
			}
			if step == "question/asked" {
				restart()
				agents, err := l.Client().Agents(t.Context(), cw.AgentFilter{})
				must(t, err)
				v = agents.Items[0]
			}
			v = l.Until(v.Alias, func(v cw.AgentView) bool { return len(v.PendingQuestions) > 0 })
			given := map[cw.QuestionID]string{v.PendingQuestions[0].ID: "blue", v.PendingQuestions[1].ID: `["small"]`}
			_, err = l.Client().Answer(t.Context(), cw.AnswersRequest{Answers: given})
			if step != "answer/stored" && cw.ErrorCode(err) != cw.CodeUnreachable {
				must(t, err)
			}
			if step != "question/asked" {
				restart()
			}
			v = l.Rest(v.Alias)
			if told, starts := booksOf(t, l, v); !slices.Equal(told, []string{"blue", `["small"]`}) || starts != 1 || v.Status != cw.StatusIdle {
				t.Errorf("told %q in %d runs, it is %s", told, starts, v.Status)
			}
			page, err := l.Client().Questions(t.Context(), cw.QuestionFilter{Agent: v.Alias})
			must(t, err)
			if len(page.Items) != 2 {
				t.Errorf("%d questions were asked", len(page.Items))
			}
		})
	}
}

// TestEndBeforeTheAnswer: the end of a run that leaves questions stands; the
// answers are the next prompt of an idle agent at once, whichever daemon is
// there, of a stopped one when it is resumed, and told once.
func TestEndBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for _, stop := range []bool{false, true} {
		t.Run(map[bool]string{false: "idle", true: "stopped"}[stop], func(t *testing.T) {
			t.Parallel()
			l := lab.New(t, binary)
			l.Start()
			ended := fakecli.Script{Signal: doneSignal}
			v, asked := waitsForPeople(t, l, fakecli.Script{Leave: !stop, Next: &fakecli.Script{Expect: []string{"your run ended before", "blue"}, Signal: doneSignal, Next: &ended}})
			want := cw.StatusIdle
			if stop {
				_, err := l.Client().Stop(t.Context(), v.Alias, cw.StopRequest{Now: true})
				must(t, err)
				want = cw.StatusStopped
			}
			v = l.Rest(v.Alias)
			if v.Status != want || len(v.PendingQuestions) != 2 || len(v.Warnings) != 1 {
				t.Fatalf("it is %s with %d open and the warnings %q", v.Status, len(v.PendingQuestions), v.Warnings)
			}
			answersBy(t, l, "question", "answer", string(asked[0].ID), "--option", "blue")
			l.Kill()
			l.Env = nil
			l.Start()
			answersBy(t, l, "question", "answer", string(asked[1].ID), "--option", "small")
			if stop {
				if v = l.Until(v.Alias, func(v cw.AgentView) bool { return v.QueuedAnswers == 2 }); v.Status != want || v.SessionNumber != 1 {
					t.Errorf("it is %s in session %d", v.Status, v.SessionNumber)
				}
				_, err := l.Client().Resume(t.Context(), v.Alias, cw.ResumeRequest{})
				must(t, err)
			}
			v = l.Until(v.Alias, func(v cw.AgentView) bool { return v.SessionNumber == 2 && v.Status.AtRest() && !v.Settling })
			if v.Status != cw.StatusIdle || v.QueuedAnswers != 0 || len(v.PendingQuestions) != 0 {
				t.Errorf("it is %s (%s) with %d answers that wait", v.Status, v.Error, v.QueuedAnswers)
			}
			_, err := l.Client().Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: "go on"})
			must(t, err)
			l.Until(v.Alias, func(v cw.AgentView) bool { return v.SessionNumber == 3 && v.Status.AtRest() })
			messages, err := l.Client().Messages(t.Context(), v.Alias, cw.PageQuery{})
			must(t, err)
			told := 0
			for _, m := range messages.Items {
				if m.RunID == v.Runs[1].ID && m.Origin == cw.OriginCW {
					told++
				}
				if m.RunID != v.Runs[1].ID && m.RunID != v.Runs[0].ID && m.Origin == cw.OriginCW {
					t.Errorf("told again: %s", m.Body)
				}
			}
			if told != 1 {
				t.Errorf("told %d times", told)
			}
		})
	}
}
