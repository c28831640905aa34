package orchestrator

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// wantStopped checks that an agent counts as stopped and nothing of it lives.
func (e *engine) wantStopped(v cw.AgentView, err error) {
	e.t.Helper()
	must(e.t, err)
	if v.Status != cw.StatusStopped || v.Reason != cw.ReasonUser || v.Runs[0].EndedAt == nil {
		e.t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	for _, p := range lab.Processes(string(e.home)) {
		if p.Run == string(v.Runs[0].ID) && !p.Shim {
			e.t.Errorf("process %d lives on: %s", p.PID, p.Command)
		}
	}
}

// TestStop: an agent is stopped whatever its CLI does about it, and stopping it
// again changes nothing.
func TestStop(t *testing.T) {
	t.Parallel()
	deaf := hangs()
	deaf.Deaf, deaf.Child = true, true
	for _, tt := range []struct {
		name   string
		script fakecli.Script
		req    cw.StopRequest
	}{
		{"a tame one", hangs(), cw.StopRequest{}},
		{"a deaf one with a child elsewhere", deaf, cw.StopRequest{}},
		{"at once", deaf, cw.StopRequest{Now: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			v := e.mustSpawn(e.request(tt.script))
			first, err := e.Stop(t.Context(), v.Alias, tt.req)
			e.wantStopped(first, err)
			again, err := e.Stop(t.Context(), v.Alias, cw.StopRequest{Now: true})
			e.wantStopped(again, err)
			if !again.UpdatedAt.Equal(first.UpdatedAt) || again.Runs[0].StopRequested != first.Runs[0].StopRequested {
				t.Error("the second stop changed the agent")
			}
		})
	}
}

// TestStopTogether: several stops at the same time all come back.
func TestStopTogether(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.mustSpawn(e.request(hangs()))
	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			got, err := e.Stop(t.Context(), v.Alias, cw.StopRequest{Now: n%2 == 0})
			if err != nil || got.Status != cw.StatusStopped {
				t.Errorf("%s: %v", got.Status, err)
			}
		})
	}
	all.Wait()
	got, err := e.Agent(t.Context(), v.Alias)
	e.wantStopped(got, err)
}

// TestStopAtRest: whoever does not run is left as it is.
func TestStopAtRest(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	before := e.rest(e.mustSpawn(e.request(does())).Alias)
	after, err := e.Stop(t.Context(), before.Alias, cw.StopRequest{})
	must(t, err)
	if after.Status != cw.StatusIdle || !after.UpdatedAt.Equal(before.UpdatedAt) || after.Runs[0].StopRequested != "" {
		t.Errorf("%s, stop %q", after.Status, after.Runs[0].StopRequested)
	}
	if _, err := e.Stop(t.Context(), "nobody-here", cw.StopRequest{}); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("%v", err)
	}
}

// TestStopAsking: an agent that waits for answers is stopped. What nobody answered
// leaves the inbox and is answered no more; the next run is told of both.
func TestStopAsking(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	script := asks()
	script.Signal = `{"status":"questions","questions":[{"id":"q1","question":"Which database?"},{"id":"q2","question":"Which port?"}]}`
	v := e.rest(e.mustSpawn(e.sessions(script)).Alias)
	asked := v.PendingQuestions
	if v.Status != cw.StatusWaitingForInput || len(asked) != 2 {
		t.Fatalf("%s with %d questions", v.Status, len(asked))
	}
	must(t, e.answer(v, "SQLite"))
	v, err := e.Stop(cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorPerson}), v.Alias, cw.StopRequest{})
	must(t, err)
	if v.Status != cw.StatusStopped || v.Reason != cw.ReasonUser || len(v.PendingQuestions) != 0 || len(v.Runs) != 1 {
		t.Fatalf("%s %s, %d open, %d runs", v.Status, v.Reason, len(v.PendingQuestions), len(v.Runs))
	}
	if stopped, gone := e.events(cw.EventAgentStopped), e.events(cw.EventQuestionWithdrawn); len(stopped) != 1 || len(gone) != 1 || !strings.Contains(string(gone[0].Data), cw.WithdrawnStopped) {
		t.Errorf("told %+v %+v", stopped, gone)
	}
	_, err = e.Answer(t.Context(), cw.AnswersRequest{Answers: map[cw.QuestionID]string{asked[1].ID: "80"}})
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), cw.WithdrawnStopped) || !strings.Contains(cw.ErrorHint(err), "cw agent resume "+v.Alias) {
		t.Errorf("%v: %s", err, cw.ErrorHint(err))
	}
	_, err = e.Resume(t.Context(), v.Alias, cw.ResumeRequest{})
	must(t, err)
	v = e.idleAfter(v.Alias, 2)
	if v.Runs[1].Reason != cw.RunAnswers || !e.bookOf(v, 2).Start().Resumed {
		t.Errorf("run %+v", v.Runs[1])
	}
	for _, want := range []string{"<answers>", "> SQLite", "> Which port?", "Ask again"} {
		if got := e.prompt(v, 2); strings.Count(got, want) != 1 {
			t.Errorf("the prompt does not have %q once:\n%s", want, got)
		}
	}
	_, err = e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: fakecli.Script{Hang: true, Tame: true, Book: e.books}.Text()})
	must(t, err)
	v, err = e.Stop(t.Context(), v.Alias, cw.StopRequest{Now: true})
	must(t, err)
	_, err = e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: fakecli.Script{Book: e.books, Signal: `{"status":"done","noChanges":"it is there"}`}.Text()})
	must(t, err)
	v = e.idleAfter(v.Alias, 4)
	if got := e.prompt(v, 4); strings.Contains(got, "<answers>") {
		t.Errorf("the answers are told again:\n%s", got)
	}
}

// gate is a failpoint that holds one step until it is opened.
type gate struct{ reached, open chan struct{} }

func newGate(step string) (*gate, setup) {
	g := &gate{make(chan struct{}), make(chan struct{})}
	return g, hook(step, func() { close(g.reached); <-g.open })
}

// TestStopWhileSpawning: a stop that comes before the CLI runs waits for it and
// ends it.
func TestStopWhileSpawning(t *testing.T) {
	t.Parallel()
	for _, step := range []string{stepIntended, stepWorktrees, stepPrepared, stepStarting, stepStarted} {
		t.Run(filepath.Base(step), func(t *testing.T) {
			t.Parallel()
			g, hold := newGate("spawn/" + step)
			e := newEngine(t, hold)
			req := e.request(hangs())
			req.Name = "brave-otter"
			var all sync.WaitGroup
			all.Go(func() {
				if _, err := e.Spawn(t.Context(), req); err != nil {
					t.Error(err)
				}
			})
			<-g.reached
			var v cw.AgentView
			var err error
			all.Go(func() { v, err = e.Stop(t.Context(), "brave-otter", cw.StopRequest{Now: true}) })
			close(g.open)
			all.Wait()
			e.wantStopped(v, err)
		})
	}
}

// TestStopOfFailingSpawn: when the spawn comes to nothing there is nothing to
// stop, and the caller learns it.
func TestStopOfFailingSpawn(t *testing.T) {
	t.Parallel()
	g, hold := newGate("spawn/" + stepIntended)
	e := newEngine(t, hold)
	req := e.request(hangs())
	req.Name = "brave-otter"
	var all sync.WaitGroup
	all.Go(func() {
		if v, err := e.Spawn(t.Context(), req); err == nil {
			t.Errorf("it is %s", v.Status)
		}
	})
	<-g.reached
	must(t, os.Rename(e.repo, e.repo+".moved"))
	var err error
	all.Go(func() { _, err = e.Stop(t.Context(), "brave-otter", cw.StopRequest{}) })
	close(g.open)
	all.Wait()
	if cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("%v", err)
	}
	e.wantNothing()
}

// TestStopWhileFinishing: a stop asked for before the end is judged counts; one
// that comes later changes nothing. Both come back.
func TestStopWhileFinishing(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]cw.AgentStatus{"finish/observed": cw.StatusIdle, "finish/handed-over": cw.StatusIdle} {
		g, hold := newGate(step)
		e := newEngine(t, hold)
		v := e.mustSpawn(e.request(does()))
		<-g.reached
		done := make(chan struct{})
		go func() {
			defer close(done)
			got, err := e.Stop(t.Context(), v.Alias, cw.StopRequest{})
			if err != nil || got.Status != want || got.Commits() != 1 {
				t.Errorf("%s: %s %s, %v", step, got.Status, got.Reason, err)
			}
		}()
		eventually(t, "the stop is asked for", func() bool {
			got, err := e.Agent(t.Context(), v.Alias)
			return err == nil && got.Runs[0].StopRequested != ""
		})
		close(g.open)
		<-done
	}
}

// TestStopGoesOn: a stop that an earlier daemon was asked for, and did not
// live to do, is done by the next one.
func TestStopGoesOn(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.mustSpawn(e.request(hangs()))
	if asked, err := e.db.RequestStop(t.Context(), v.Runs[0].ID, stopTerm); err != nil || !asked {
		t.Fatal(asked, err)
	}
	e.stopRun()
	e.boot()
	v = e.rest(v.Alias)
	e.wantStopped(v, nil)
}

// TestStopWhileItWaitsForSpace: a run that waits for space on the disk says so,
// and is stopped without ever being started.
func TestStopWhileItWaitsForSpace(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	leave := filepath.Join(e.books, "leave")
	v := e.mustSpawn(e.request(fakecli.Script{Wait: leave}))
	e.stopRun()
	must(t, os.WriteFile(leave, nil, 0o600))
	e.boot(low)
	e.until(v.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusStarting && len(v.Warnings) > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	v, err := e.Stop(ctx, v.Alias, cw.StopRequest{})
	must(t, err)
	if v.Status != cw.StatusStopped || v.Reason != cw.ReasonUser || len(v.Runs) != 2 || v.Runs[1].StartedAt != nil {
		t.Errorf("%s %s after %d runs: %s", v.Status, v.Reason, len(v.Runs), v.Error)
	}
	open, err := e.Store.OpenOps(t.Context())
	must(t, err)
	if len(open) > 0 {
		t.Errorf("operations are open: %+v", open)
	}
}

// TestStopWithoutItsCaller: who asks for the end of a run that is being started
// need not stay for it.
func TestStopWithoutItsCaller(t *testing.T) {
	t.Parallel()
	g, hold := newGate("spawn/" + stepStarted)
	e := newEngine(t, hold)
	req := e.request(hangs())
	req.Name = "brave-otter"
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		if _, err := e.Spawn(t.Context(), req); err != nil {
			t.Error(err)
		}
	})
	<-g.reached
	v, err := e.Agent(t.Context(), "brave-otter")
	must(t, err)
	must(t, e.stopStarting(t.Context(), v.Runs[0], stopKill))
	close(g.open)
	e.wantStopped(e.rest("brave-otter"), nil)
}
