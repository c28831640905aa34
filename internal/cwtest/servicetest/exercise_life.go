package servicetest

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// look is the pause between two looks at an agent.
const look = 5 * time.Millisecond

// until waits until an agent is as wanted.
func until(t *testing.T, f Fixture, ref, what string, is func(cw.AgentView) bool) cw.AgentView {
	t.Helper()
	ctx := soon(t)
	for {
		v, err := f.Services.Agent(ctx, ref)
		ok(t, err)
		if is(v) {
			return v
		}
		select {
		case <-ctx.Done():
			t.Fatalf("agent %s stays %s %s %s in session %d; it never %s", ref, v.Status, v.Reason, v.Error, v.SessionNumber, what)
		case <-time.After(look):
		}
	}
}

// idle makes an agent that is idle and cleared up.
func idle(t *testing.T, f Fixture, projects ...string) cw.AgentView {
	t.Helper()
	name, finish := f.Work(t, projects...)
	finish()
	return until(t, f, name, "is idle", func(v cw.AgentView) bool { return v.Status == cw.StatusIdle && !v.Settling })
}

// eventsOf gives the events of these types about an agent.
func eventsOf(t *testing.T, f Fixture, v cw.AgentView, types ...cw.EventType) []cw.Event {
	t.Helper()
	return collect(t, f.Services.Events(soon(t), cw.EventQuery{Agent: string(v.ID), Types: types}))
}

// wantHint: an error has its code, and its hint says what to do.
func wantHint(t *testing.T, what string, err error, code cw.Code, hint string) {
	t.Helper()
	wantCode(t, what, err, code)
	if got := cw.ErrorHint(err); got == "" || !strings.Contains(got, hint) {
		t.Errorf("%s: the hint of %v is %q, want %q in it", what, err, got, hint)
	}
}

// resumeCase: an agent at rest gets another run with the text, one that runs
// does not.
func resumeCase(t *testing.T, f Fixture) {
	s := f.Services
	name, finish := f.Work(t)
	_, err := s.Resume(soon(t), name, cw.ResumeRequest{Text: f.Text()})
	wantHint(t, "Resume of a running one", err, cw.CodeRefused, "cw agent send")
	finish()
	before := until(t, f, name, "is idle", func(v cw.AgentView) bool { return v.Status == cw.StatusIdle && !v.Settling })
	for n := 1; n <= 2; n++ { // idle, then stopped
		text := f.Text()
		v, err := s.Resume(soon(t), []string{name, string(before.ID)}[n-1], cw.ResumeRequest{Text: text})
		ok(t, err)
		last := v.Runs[len(v.Runs)-1]
		if v.Status != cw.StatusRunning || v.SessionNumber != before.SessionNumber+n || len(v.Runs) != v.SessionNumber ||
			last.SessionNumber != v.SessionNumber || last.Reason != cw.RunFollowUp || v.AgentCwd != before.AgentCwd {
			t.Errorf("resumed %d times: %s, session %d, %+v", n, v.Status, v.SessionNumber, last)
		}
		isIt := func(m cw.Message) bool { return m.RunID == last.ID && m.Role == cw.RoleUser && m.Body == text }
		if n := count(messagesOf(t, f, name), isIt); n != 1 {
			t.Errorf("the text is %d times in the prompt of run %d", n, last.SessionNumber)
		}
		if told := eventsOf(t, f, v, cw.EventAgentResumed); len(told) != n || told[n-1].RunID != last.ID {
			t.Errorf("resumed %d times, told: %v", n, told)
		}
		v, err = s.Stop(soon(t), name, cw.StopRequest{Now: true})
		ok(t, err)
		if v.Status != cw.StatusStopped {
			t.Errorf("stopped, it is %s", v.Status)
		}
	}
	view, _ := asked(t, f)
	_, err = s.Resume(soon(t), view.Alias, cw.ResumeRequest{Text: f.Text()})
	wantHint(t, "Resume of a waiting one", err, cw.CodeRefused, "cw agent answer")
}

// resumeRaceCase: of many who resume an agent at once one does.
func resumeRaceCase(t *testing.T, f Fixture) {
	view := idle(t, f)
	var first, refused atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			_, err := f.Services.Resume(soon(t), view.Alias, cw.ResumeRequest{Text: f.Text()})
			switch cw.ErrorCode(err) {
			case "":
				first.Add(1)
			case cw.CodeRefused:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	callers.Wait()
	v, err := f.Services.Stop(soon(t), view.Alias, cw.StopRequest{Now: true})
	ok(t, err)
	if first.Load() != 1 || refused.Load() != 7 || v.SessionNumber != view.SessionNumber+1 || len(v.Runs) != len(view.Runs)+1 {
		t.Errorf("%d resumed, %d were refused, session %d, then %d", first.Load(), refused.Load(), view.SessionNumber, v.SessionNumber)
	}
}

// listed tells how often an agent is among those that are there, and among
// those that were removed.
func listed(t *testing.T, f Fixture, id cw.AgentID) (there, removed int) {
	t.Helper()
	isIt := func(v cw.AgentView) bool { return v.ID == id }
	all, err := cw.AllAgents(soon(t), f.Services, cw.AgentFilter{})
	ok(t, err)
	gone := walk(t, 1, "", func(q cw.PageQuery) (cw.Page[cw.AgentView], error) {
		return f.Services.Agents(soon(t), cw.AgentFilter{PageQuery: q, Removed: true})
	})
	return count(all, isIt), count(gone, isIt)
}

// openCase: the worktree of an agent is there when a person wants it, while the
// agent works and when it is at rest, and stays for a while.
func openCase(t *testing.T, f Fixture) {
	s := f.Services
	p, err := s.AddProject(soon(t), cw.ProjectRequest{Path: f.Repo})
	ok(t, err)
	name, finish := f.Work(t, p.Name)
	opens := func(working bool) cw.OpenedWorktree {
		opened, err := s.OpenWorktree(soon(t), name)
		ok(t, err)
		v, err := s.Agent(soon(t), name)
		ok(t, err)
		if opened.AgentID != v.ID || opened.Name != v.Alias || opened.Path != v.AgentCwd || opened.Branch != v.Branch || opened.Working() != working {
			t.Errorf("opened: %+v", opened)
		}
		if v.HeldUntil == nil || !v.HeldUntil.Equal(opened.HeldUntil) || v.Projects[0].State != cw.WorktreePresent {
			t.Errorf("held until %v, want %v; the worktree is %s", v.HeldUntil, opened.HeldUntil, v.Projects[0].State)
		}
		return opened
	}
	first := opens(true)
	finish()
	until(t, f, name, "is idle", func(v cw.AgentView) bool { return v.Status == cw.StatusIdle && !v.Settling })
	if second := opens(false); second.HeldUntil.Before(first.HeldUntil) {
		t.Errorf("held until %v, then until %v", first.HeldUntil, second.HeldUntil)
	}
}

// removeCase: an agent at rest is removed, is in no list but that of the
// removed, does nothing, and comes back.
func removeCase(t *testing.T, f Fixture) {
	s := f.Services
	p, err := s.AddProject(soon(t), cw.ProjectRequest{Path: f.Repo})
	ok(t, err)
	name, finish := f.Work(t, p.Name)
	_, err = s.Remove(soon(t), name)
	wantHint(t, "Remove a running one", err, cw.CodeRefused, "cw agent stop")
	finish()
	before := until(t, f, name, "is idle", func(v cw.AgentView) bool { return v.Status == cw.StatusIdle && !v.Settling })
	counted, err := s.Status(soon(t))
	ok(t, err)

	v, err := s.Remove(soon(t), name)
	ok(t, err)
	if v.DeletedAt == nil || v.Status != cw.StatusIdle || len(v.Projects) != 1 || v.Projects[0].State == cw.WorktreePresent || v.Settling {
		t.Errorf("removed: %+v", v)
	}
	again, err := s.Remove(soon(t), string(v.ID))
	ok(t, err)
	if again.DeletedAt == nil || !again.DeletedAt.Equal(*v.DeletedAt) || len(eventsOf(t, f, v, cw.EventAgentRemoved)) != 1 {
		t.Errorf("removed twice: %v, then %v", v.DeletedAt, again.DeletedAt)
	}
	if there, removed := listed(t, f, v.ID); there != 0 || removed != 1 {
		t.Errorf("removed, it is listed %d times, and %d times as removed", there, removed)
	}
	status, err := s.Status(soon(t))
	ok(t, err)
	if status.Agents != counted.Agents-1 {
		t.Errorf("%d agents, then %d", counted.Agents, status.Agents)
	}
	removedActsCase(t, f, v)

	v, err = s.Restore(soon(t), name)
	ok(t, err)
	if v.DeletedAt != nil || v.Status != before.Status || v.Branch != before.Branch || v.Settling {
		t.Errorf("restored: %+v", v)
	}
	_, err = s.Restore(soon(t), name)
	ok(t, err)
	if n := len(eventsOf(t, f, v, cw.EventAgentRestored)); n != 1 {
		t.Errorf("restored once, told %d times", n)
	}
	if there, removed := listed(t, f, v.ID); there != 1 || removed != 0 {
		t.Errorf("restored, it is listed %d times, and %d times as removed", there, removed)
	}
	v, err = s.Resume(soon(t), name, cw.ResumeRequest{Text: f.Text()})
	ok(t, err)
	if v.SessionNumber != before.SessionNumber+1 || v.AgentCwd != before.AgentCwd {
		t.Errorf("resumed in session %d, in %s", v.SessionNumber, v.AgentCwd)
	}
	_, err = s.Stop(soon(t), name, cw.StopRequest{Now: true})
	ok(t, err)
}

// removedActsCase: a removed agent can be looked at, and does nothing.
func removedActsCase(t *testing.T, f Fixture, removed cw.AgentView) {
	t.Helper()
	s := f.Services
	v, err := s.Agent(soon(t), removed.Alias)
	ok(t, err)
	if v.ID != removed.ID || v.DeletedAt == nil {
		t.Errorf("shown: %+v", v)
	}
	messagesOf(t, f, removed.Alias)
	collect(t, s.Output(soon(t), removed.Alias, cw.OutputQuery{}))
	_, err = s.Resume(soon(t), removed.Alias, cw.ResumeRequest{Text: f.Text()})
	wantHint(t, "Resume of a removed one", err, cw.CodeRefused, "cw agent restore")
	_, err = s.Send(soon(t), removed.Alias, cw.SendRequest{Text: f.Text()})
	wantHint(t, "Send to a removed one", err, cw.CodeRefused, "cw agent restore")
	_, err = s.OpenWorktree(soon(t), removed.Alias)
	wantHint(t, "OpenWorktree of a removed one", err, cw.CodeRefused, "cw agent restore")
	_, err = s.Spawn(soon(t), cw.SpawnRequest{Goal: "again", Name: removed.Alias, Provider: f.Spawn.Provider})
	wantCode(t, "Spawn with the name of a removed one", err, cw.CodeRefused)
}

// stopWaitingCase: an agent that waits for answers is stopped, and asks no more.
func stopWaitingCase(t *testing.T, f Fixture) {
	s := f.Services
	view, open := asked(t, f)
	v, err := s.Stop(soon(t), view.Alias, cw.StopRequest{})
	ok(t, err)
	if v.Status != cw.StatusStopped || v.SessionNumber != view.SessionNumber || len(v.PendingQuestions) != 0 {
		t.Errorf("it is %s, session %d, %d pending", v.Status, v.SessionNumber, len(v.PendingQuestions))
	}
	if n := len(questionsOf(t, f, view.Alias, cw.QuestionWithdrawn)); n != len(open) || len(eventsOf(t, f, view, cw.EventQuestionWithdrawn)) != n {
		t.Errorf("%d of %d were withdrawn, %d told", n, len(open), len(eventsOf(t, f, view, cw.EventQuestionWithdrawn)))
	}
	_, err = s.Answer(soon(t), answers(string(open[0].ID), "red"))
	wantHint(t, "Answer what a stopped agent asked", err, cw.CodeRefused, "cw agent resume")
}

// removeWaitingCase: what a removed agent asked is asked no more, and it does
// not take silence for an answer. When it comes back it asks again.
func removeWaitingCase(t *testing.T, f Fixture) {
	s := f.Services
	view, open := asked(t, f)
	queued := sent(t, f, view.Alias)
	v, err := s.Remove(soon(t), view.Alias)
	ok(t, err)
	if len(v.PendingQuestions) != 0 || v.QueuedMessages != 0 {
		t.Errorf("removed: %d pending, %d queued", len(v.PendingQuestions), v.QueuedMessages)
	}
	if messageOf(t, f, view.Alias, queued.ID).HiddenAt == nil {
		t.Error("what was queued is not hidden")
	}
	if n := len(questionsOf(t, f, view.Alias, cw.QuestionWithdrawn)); n != len(open) || len(eventsOf(t, f, view, cw.EventQuestionWithdrawn)) != n {
		t.Errorf("%d of %d were withdrawn, %d told", n, len(open), len(eventsOf(t, f, view, cw.EventQuestionWithdrawn)))
	}
	all := answers(string(open[0].ID), "red", string(open[1].ID), "small", string(open[2].ID), f.Text())
	_, err = s.Answer(soon(t), all)
	wantHint(t, "Answer withdrawn questions", err, cw.CodeRefused, "cw agent restore")

	v, err = s.Restore(soon(t), view.Alias)
	ok(t, err)
	if v.SessionNumber != view.SessionNumber || v.Status != cw.StatusWaitingForInput || v.QueuedMessages != 1 {
		t.Errorf("restored it is %s, session %d, %d queued", v.Status, v.SessionNumber, v.QueuedMessages)
	}
	if diff := cmp.Diff(open, questionsOf(t, f, view.Alias, cw.QuestionOpen)); diff != "" {
		t.Errorf("restored, it asks: %s", diff)
	}
	if n := len(eventsOf(t, f, view, cw.EventQuestionRequested)); n != 2*len(open) {
		t.Errorf("asked twice, told %d times", n)
	}
	_, err = s.Answer(soon(t), all)
	ok(t, err)
	v = until(t, f, view.Alias, "goes on", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	checkDelivered(t, f, v, queued.ID)
	_, err = s.Stop(soon(t), view.Alias, cw.StopRequest{Now: true})
	ok(t, err)
}

// restoreGoneCase: what is not kept cannot come back, and is still told of.
func restoreGoneCase(t *testing.T, f Fixture) {
	view := idle(t, f)
	_, err := f.Services.Remove(soon(t), view.Alias)
	ok(t, err)
	f.Lose(view.Alias)
	_, err = f.Services.Restore(soon(t), view.Alias)
	wantHint(t, "Restore of what is lost", err, cw.CodeGone, "")
	v, err := f.Services.Agent(soon(t), view.Alias)
	ok(t, err)
	if v.DeletedAt == nil {
		t.Error("it is no longer removed")
	}
}
