package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// asks is a script that asks one question, and does its work once it is
// answered.
func asks() fakecli.Script {
	next := does()
	return fakecli.Script{
		Pieces: 3, Next: &next, Shell: `echo "Next: the answer" > .cw/output/progress.md`,
		Signal: `{"status":"questions","questions":[{"id":"q1","question":"Which database?","header":"DB","options":[{"label":"SQLite"},{"label":"Postgres"}]}]}`,
	}
}

// sessions is a request for a provider whose CLI goes on with its sessions.
func (e *engine) sessions(s fakecli.Script, change ...string) cw.SpawnRequest {
	e.t.Helper()
	self, err := os.Executable()
	must(e.t, err)
	cli := filepath.Join(e.books, "cli")
	if err := os.Symlink(self, cli); !errors.Is(err, os.ErrExist) {
		must(e.t, err)
	}
	preset := strings.NewReplacer(change...).Replace(fakecli.SessionPreset("session", cli, e.books))
	must(e.t, os.WriteFile(filepath.Join(e.home.Providers(), "session.yaml"), []byte(preset), 0o600))
	req := e.request(s)
	req.Provider = "session"
	return req
}

// asked spawns an agent and waits for its question.
func (e *engine) asked(req cw.SpawnRequest) cw.AgentView {
	e.t.Helper()
	v := e.rest(e.mustSpawn(req).Alias)
	if v.Status != cw.StatusWaitingForInput || len(v.PendingQuestions) != 1 {
		e.t.Fatalf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	return v
}

func (e *engine) answer(v cw.AgentView, text string) error {
	_, err := e.Answer(cw.WithActor(e.t.Context(), cw.Actor{Kind: cw.ActorPerson}), cw.AnswersRequest{
		Answers: map[cw.QuestionID]string{v.PendingQuestions[0].ID: text},
	})
	return err
}

// prompt is what a run was told.
func (e *engine) prompt(v cw.AgentView, session int) string {
	e.t.Helper()
	data, err := os.ReadFile(filepath.Join(v.Runs[session-1].Dir, promptFile))
	must(e.t, err)
	return string(data)
}

// bookOf is what the CLI of a run wrote down.
func (e *engine) bookOf(v cw.AgentView, session int) fakecli.Book {
	e.t.Helper()
	books, err := fakecli.ReadBooks(e.books)
	must(e.t, err)
	return books[string(v.Runs[session-1].ID)]
}

// idleAfter waits until an agent is idle after so many runs.
func (e *engine) idleAfter(ref string, runs int) cw.AgentView {
	e.t.Helper()
	v := e.until(ref, func(v cw.AgentView) bool { return v.Status.AtRest() && len(v.Runs) >= runs && !v.Settling })
	if v.Status != cw.StatusIdle || len(v.Runs) != runs {
		e.t.Fatalf("%s %s after %d runs: %s", v.Status, v.Reason, len(v.Runs), v.Error)
	}
	return v
}

func (e *engine) events(types ...cw.EventType) []cw.Event {
	e.t.Helper()
	page, err := e.db.EventsAfter(e.t.Context(), 0, cw.EventFilter{Types: types}, 0)
	must(e.t, err)
	return page.Events
}

// TestAnswers: the last answer resumes the agent: another run in the same
// session and the same place, told what was asked and answered.
func TestAnswers(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	first := e.asked(e.sessions(asks()))
	must(t, e.answer(first, "SQLite"))
	v := e.idleAfter(first.Alias, 2)
	if v.SessionNumber != 2 || v.Runs[1].Reason != cw.RunAnswers || v.Runs[1].Fresh || v.SessionID != first.SessionID || v.Commits() != 1 {
		t.Errorf("session %d %q, run %+v", v.SessionNumber, v.SessionID, v.Runs[1])
	}
	for _, want := range []string{"<answers>", "> Which database?", "> SQLite", "<new_run>"} {
		if got := e.prompt(v, 2); !strings.Contains(got, want) || strings.Contains(got, "<role>") {
			t.Errorf("the prompt lacks %q:\n%s", want, got)
		}
	}
	one, two := e.bookOf(v, 1).Start(), e.bookOf(v, 2).Start()
	if !two.Resumed || two.Session != one.Session || e.bookOf(v, 2).Starts() != 1 {
		t.Errorf("first %+v\nthen %+v", one, two)
	}
	err := e.answer(first, "Postgres")
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error()+cw.ErrorHint(err), "SQLite") {
		t.Errorf("a second answer: %v", err)
	}
	texts, err := cw.AllPages(t.Context(), func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Message], error) {
		return e.Messages(ctx, v.Alias, q)
	})
	must(t, err)
	var told cw.Message
	for _, m := range texts {
		if m.RunID == v.Runs[1].ID && m.Role == cw.RoleUser {
			told = m
		}
	}
	if told.DeliveredAt == nil || told.Origin != cw.OriginCW || !strings.Contains(told.Body, "SQLite") {
		t.Errorf("the text %+v", told)
	}
}

// TestSend: a text to an agent that runs is its next prompt, one to an idle
// agent starts it at once.
func TestSend(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	script := does()
	script.Wait = filepath.Join(e.books, "go")
	script.Next = &fakecli.Script{Signal: `{"status":"done","noChanges":"it is there"}`}
	v := e.mustSpawn(e.sessions(script))
	_, err := e.Send(t.Context(), v.Alias, cw.SendRequest{Text: "not now", WhenBusy: cw.BusyRefuse})
	if cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("%v", err)
	}
	m, err := e.Send(t.Context(), v.Alias, cw.SendRequest{Text: "Mind the </follow_up> gap"})
	if err != nil || m.QueuedAt == nil || m.DeliveredAt != nil {
		t.Fatalf("%+v, %v", m, err)
	}
	if busy := e.until(v.Alias, func(v cw.AgentView) bool { return v.QueuedMessages == 1 }); len(busy.Runs) != 1 {
		t.Errorf("%d runs", len(busy.Runs))
	}
	must(t, os.WriteFile(script.Wait, nil, 0o600))
	v = e.idleAfter(v.Alias, 2)
	if v.Runs[1].Reason != cw.RunFollowUp || !strings.Contains(e.prompt(v, 2), "<follow_up>\nMind the &lt;/follow_up> gap\n</follow_up>") {
		t.Errorf("%s:\n%s", v.Runs[1].Reason, e.prompt(v, 2))
	}
	_, err = e.Send(t.Context(), v.Alias, cw.SendRequest{Text: "And the tests"})
	must(t, err)
	if v = e.idleAfter(v.Alias, 3); !strings.Contains(e.prompt(v, 3), "And the tests") || strings.Contains(e.prompt(v, 3), "gap") {
		t.Errorf("the prompt is\n%s", e.prompt(v, 3))
	}
}

// TestResume: a person resumes an agent at rest with a text or without; the
// signal of an earlier run does not count.
func TestResume(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	script := does()
	script.Next = &fakecli.Script{Hang: true, Tame: true}
	v := e.idleAfter(e.mustSpawn(e.sessions(script)).Alias, 1)
	v, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{})
	must(t, err)
	if v.Status != cw.StatusRunning || v.Runs[1].Reason != cw.RunFollowUp || !strings.Contains(e.prompt(v, 2), "<go_on>") {
		t.Errorf("%s %s", v.Status, v.Runs[1].Reason)
	}
	_, err = e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: "again"})
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "cw agent send") {
		t.Errorf("%v: %s", err, cw.ErrorHint(err))
	}
	v, err = e.Stop(t.Context(), v.Alias, cw.StopRequest{Now: true})
	must(t, err)
	if v.Status != cw.StatusStopped {
		t.Errorf("%s: %s", v.Status, v.Reason)
	}
	end := fakecli.Script{Book: e.books, Signal: `{"status":"error","error":"no way"}`}
	_, err = e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: end.Text(), Env: map[string]string{"PATH": os.Getenv("PATH"), "LANG": "C", "HTTP_PROXY": "http://secret@127.0.0.1:1"}})
	must(t, err)
	v = e.until(v.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusCrashed })
	if v.Reason != cw.ReasonAgentError || v.Error != "no way" || !strings.Contains(e.prompt(v, 3), "<follow_up>") {
		t.Errorf("%s: %s", v.Reason, v.Error)
	}
	if opts, err := optionsOf(v.Agent); err != nil || opts.Env["LANG"] != "C" || strings.Contains(v.OptionsJSON, "secret") {
		t.Errorf("kept %s, %v", v.OptionsJSON, err)
	}
}

// TestStaleSignalOfEarlierRun: a run that says nothing ends as one that said
// nothing, whatever the run before it said.
func TestStaleSignalOfEarlierRun(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	script := asks() // its place stays
	script.Next = &fakecli.Script{Next: &fakecli.Script{}}
	first := e.asked(e.sessions(script))
	must(t, e.answer(first, "SQLite"))
	v := e.until(first.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusCrashed })
	if v.Reason != cw.ReasonNoSignal || len(v.Runs) != 3 || v.Runs[2].Reason != cw.RunMissingSignal {
		t.Errorf("%s after %d runs: %s", v.Reason, len(v.Runs), v.Error)
	}
	if _, err := os.Stat(filepath.Join(v.Runs[1].Dir, "stale-signal.json")); err != nil {
		t.Error(err)
	}
}

// TestNotebookComesBack: an idle agent's worktree is gone, and a resume finds it
// and what it had left in .cw/output where they were.
func TestNotebookComesBack(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	script := does()
	script.Shell = `echo "Done: a" > .cw/output/progress.md; mkdir .cw/output/more; echo x > .cw/output/more/x`
	script.Next = &fakecli.Script{
		Shell:  `test -f a.txt && grep -q "Done: a" .cw/output/progress.md && test -f .cw/output/more/x && test ! -e .cw/output/signal.json || exit 1`,
		Signal: `{"status":"done","noChanges":"all is there"}`,
	}
	v := e.idleAfter(e.mustSpawn(e.sessions(script)).Alias, 1)
	if v.WorktreeState != cw.WorktreeRemoved {
		t.Fatalf("the worktree is %s", v.WorktreeState)
	}
	_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: "Look again"})
	must(t, err)
	again := e.idleAfter(v.Alias, 2)
	if again.NoChanges != "all is there" || again.Worktree != v.Worktree {
		t.Errorf("%s in %s", again.NoChanges, again.Worktree)
	}
}

// TestStartFailedKeepsAnswers: what a run that could not be started was to say
// is told to the next one, in the same session.
func TestStartFailedKeepsAnswers(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	first := e.asked(e.sessions(asks()))
	cli := filepath.Join(e.books, "cli")
	must(t, os.Rename(cli, cli+".away"))
	must(t, e.answer(first, "SQLite"))
	v := e.until(first.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusCrashed })
	if v.Reason != cw.ReasonStartFailed || len(v.Runs) != 2 {
		t.Fatalf("%s after %d runs: %s", v.Reason, len(v.Runs), v.Error)
	}
	_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: "Try again"})
	if cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("without a CLI: %v", err)
	}
	must(t, os.Rename(cli+".away", cli))
	_, err = e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: "Try again"})
	must(t, err)
	v = e.idleAfter(v.Alias, 3)
	got := e.prompt(v, 3)
	if strings.Count(got, "> SQLite") != 1 || !strings.Contains(got, "Try again") || !e.bookOf(v, 3).Start().Resumed || v.SessionID != first.SessionID {
		t.Errorf("run 3 %+v was told\n%s", v.Runs[2], got)
	}
}

// TestSessionGone: when the CLI has its session no more, a fresh one gets a
// hand-over with all that the failed run was to say.
func TestSessionGone(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	first := e.asked(e.sessions(asks()))
	must(t, os.Remove(filepath.Join(e.books, first.SessionID+".session")))
	must(t, e.answer(first, "SQLite"))
	v := e.idleAfter(first.Alias, 3)
	if !e.bookOf(v, 2).Gone() || !v.Runs[2].Fresh || v.Runs[2].Reason != cw.RunAnswers || v.SessionID == first.SessionID {
		t.Errorf("session %s, runs %+v", v.SessionID, v.Runs)
	}
	for _, want := range []string{"<role>", "<task>", "<hand_over>", "> SQLite", "Next: the answer", "<new_run>"} {
		if got := e.prompt(v, 3); !strings.Contains(got, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, got)
		}
	}
	resumed := e.events(cw.EventAgentResumed)
	if len(resumed) != 2 || !strings.Contains(string(resumed[1].Data), `"freshSession":true`) || !strings.Contains(string(resumed[1].Data), `"why":"`) {
		t.Errorf("events %+v", resumed)
	}
}

// TestNoSessions: a provider that cannot go on with a session begins one, and
// is told what happened.
func TestNoSessions(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	first := e.asked(e.request(asks()))
	must(t, e.answer(first, "SQLite"))
	v := e.idleAfter(first.Alias, 2)
	if !v.Runs[1].Fresh || v.Commits() != 1 {
		t.Errorf("%+v", v.Runs[1])
	}
	for _, want := range []string{"<role>", "<hand_over>", "cannot go on with a session)", "<answers>", "> SQLite", "Next: the answer"} {
		if got := e.prompt(v, 2); !strings.Contains(got, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, got)
		}
	}
}

// TestFreshByHand: a person leaves a session that the CLI could go on with. The
// next run has the agent's instructions, a hand-over and the text; the one after
// it goes on with the new session.
func TestFreshByHand(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	script := does()
	script.Shell = `echo "Next: the parser" > .cw/output/progress.md`
	v := e.idleAfter(e.mustSpawn(e.sessions(script)).Alias, 1)
	first := v.SessionID
	more := fakecli.Script{Book: e.books, Signal: `{"status":"done","noChanges":"it is there"}`}
	_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: more.Text(), Fresh: true})
	must(t, err)
	v = e.idleAfter(v.Alias, 2)
	if start := e.bookOf(v, 2).Start(); start.Resumed || !v.Runs[1].Fresh || v.Runs[1].Reason != cw.RunFollowUp || v.SessionID == first || start.Session != v.SessionID {
		t.Errorf("session %s after %s, run %+v, started %+v", v.SessionID, first, v.Runs[1], start)
	}
	for _, want := range []string{"<role>", "<task>", "<hand_over>", "(" + freshWanted + ")", "> Next: the parser", "<follow_up>", "<new_run>"} {
		if got := e.prompt(v, 2); strings.Count(got, want) != 1 {
			t.Errorf("the prompt does not have %q once:\n%s", want, got)
		}
	}
	resumed := e.events(cw.EventAgentResumed)
	if len(resumed) != 1 || !strings.Contains(string(resumed[0].Data), `"freshSession":true`) || !strings.Contains(string(resumed[0].Data), `"why":"`+freshWanted+`"`) {
		t.Errorf("events %+v", resumed)
	}
	_, err = e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: more.Text()})
	must(t, err)
	second := v.SessionID
	v = e.idleAfter(v.Alias, 3)
	if !e.bookOf(v, 3).Start().Resumed || v.Runs[2].Fresh || v.SessionID != second {
		t.Errorf("then session %s, run %+v", v.SessionID, v.Runs[2])
	}
}

// dies ends whatever comes to a step there and then, as the death of the daemon
// would.
func dies(step string) (reached chan struct{}, _ setup) {
	reached = make(chan struct{})
	tell := sync.OnceFunc(func() { close(reached) })
	return reached, func(c *Config) {
		c.Fail = func(at string) {
			if at == step {
				tell()
				runtime.Goexit()
			}
		}
	}
}

// TestResumeTakenUp: whenever a daemon dies on the way from an answer to a
// running CLI, the next one does the rest, once.
func TestResumeTakenUp(t *testing.T) {
	t.Parallel()
	steps := []string{
		"answer/stored", "resume/intended", "resume/worktrees", "resume/inputs", "resume/prepared",
		"resume/starting", "resume/started", "resume/running",
	}
	for _, step := range steps {
		t.Run(filepath.Base(step), func(t *testing.T) {
			t.Parallel()
			reached, die := dies(step)
			e := newEngine(t, die)
			first := e.asked(e.sessions(asks()))
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-reached; cancel() }()
			_, err := e.Answer(ctx, cw.AnswersRequest{Answers: map[cw.QuestionID]string{first.PendingQuestions[0].ID: "SQLite"}})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			<-reached
			e.stopRun()
			if step == "resume/starting" {
				// As if the shim, of which nothing is seen yet, were quick.
				must(t, os.WriteFile(filepath.Join(first.AgentCwd, cw.SignalPath), []byte("of this run"), 0o644))
			}
			e.boot()
			v := e.idleAfter(first.Alias, 2)
			if old, _ := os.ReadFile(filepath.Join(v.Runs[1].Dir, "stale-signal.json")); string(old) == "of this run" {
				t.Error("a run that was about to be started was prepared again")
			}
			if v.Commits() != 1 || e.bookOf(v, 2).Starts() != 1 || !e.bookOf(v, 2).Start().Resumed || v.SessionID != first.SessionID {
				t.Errorf("%d commits, %d starts, run %+v", v.Commits(), e.bookOf(v, 2).Starts(), v.Runs[1])
			}
			if got := e.prompt(v, 2); strings.Count(got, "> SQLite") != 1 {
				t.Errorf("the prompt is\n%s", got)
			}
			if n := len(e.events(cw.EventAgentResumed)); n != 1 {
				t.Errorf("%d times resumed", n)
			}
		})
	}
}

// TestResumeTogether: of several resumes at once one starts a run, and an answer
// beside them none of its own.
func TestResumeTogether(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	script := asks()
	script.Next = &fakecli.Script{Hang: true, Tame: true}
	v := e.asked(e.sessions(script))
	must(t, e.answer(v, "SQLite"))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: "go"}); cw.ErrorCode(err) != cw.CodeRefused && err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	v = e.until(v.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	if len(v.Runs) != 2 || strings.Count(e.prompt(v, 2), "> SQLite") != 1 {
		t.Errorf("%d runs", len(v.Runs))
	}
	v, err := e.Stop(t.Context(), v.Alias, cw.StopRequest{Now: true})
	must(t, err)
	wins := make(chan error, 4)
	hangs := fakecli.Script{Hang: true, Tame: true, Book: e.books}.Text()
	for range cap(wins) {
		all.Go(func() {
			_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: hangs})
			wins <- err
		})
	}
	all.Wait()
	won := 0
	for range cap(wins) {
		if err := <-wins; err == nil {
			won++
		} else if cw.ErrorCode(err) != cw.CodeRefused {
			t.Error(err)
		}
	}
	if v = e.until(v.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusRunning }); won != 1 || len(v.Runs) != 3 {
		t.Errorf("%d resumed it, %d runs", won, len(v.Runs))
	}
}

// TestStopWhileResuming: a stop that comes before the CLI runs waits for it and
// ends it.
func TestStopWhileResuming(t *testing.T) {
	t.Parallel()
	for _, step := range []string{stepIntended, stepPrepared, stepStarting, stepStarted} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			g, hold := newGate("resume/" + step)
			e := newEngine(t, hold)
			script := asks()
			script.Next = &fakecli.Script{Hang: true, Tame: true}
			v := e.asked(e.sessions(script))
			must(t, e.answer(v, "SQLite"))
			<-g.reached
			var all sync.WaitGroup
			var err error
			all.Go(func() { v, err = e.Stop(t.Context(), v.Alias, cw.StopRequest{Now: true}) })
			close(g.open)
			all.Wait()
			must(t, err)
			if v.Status != cw.StatusStopped || v.Reason != cw.ReasonUser || len(v.Runs) != 2 {
				t.Errorf("%s %s after %d runs", v.Status, v.Reason, len(v.Runs))
			}
		})
	}
}

// TestResumedUsage: a CLI that counts the tokens of its whole session is billed
// for each run once.
func TestResumedUsage(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	line := func(input, output string) string {
		return `{"type":"thread.started","thread_id":"0190"}` + "\n" +
			`{"type":"turn.completed","usage":{"input_tokens":` + input + `,"cached_input_tokens":0,"output_tokens":` + output + `}}` + "\n"
	}
	script := asks()
	script.Pieces, script.Raw, script.Next.Pieces, script.Next.Raw = 0, line("100", "10"), 0, line("250", "25")
	must(t, os.WriteFile(filepath.Join(e.books, "0190.session"), nil, 0o600))
	v := e.asked(e.sessions(script, "parser: lines", "parser: codex\nusage: session", "sessionId: {choose: uuid}", "sessionId: {choose: none, from: first-line}"))
	must(t, e.answer(v, "SQLite"))
	v = e.until(v.Alias, func(v cw.AgentView) bool { return len(v.Runs) > 1 && v.Runs[1].EndedAt != nil })
	if got := v.Runs[1].Usage; v.Runs[0].Usage.InputTokens != 100 || got.InputTokens != 150 || got.OutputTokens != 15 || v.Usage.InputTokens != 250 {
		t.Errorf("first %+v, then %+v, in all %+v", v.Runs[0].Usage, got, v.Usage)
	}
}
