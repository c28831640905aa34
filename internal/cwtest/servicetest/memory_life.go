package servicetest

import (
	"context"
	"fmt"

	"cw/internal/cw"
)

// mayResume tells whether another run of an agent may be asked for, and else
// what to do instead.
func mayResume(a *cw.AgentView) error {
	switch {
	case a.DeletedAt != nil:
		return errRemoved(a)
	case a.Status.Alive():
		return cw.Errorf(cw.CodeRefused, "agent %s is %s", a.Alias, a.Status).WithHint("tell it something: cw agent send %s TEXT", a.Alias)
	case a.Status == cw.StatusWaitingForInput:
		return cw.Errorf(cw.CodeRefused, "agent %s waits for answers", a.Alias).WithHint("answer it: cw agent answer %s", a.Alias)
	case !a.Status.CanBecome(cw.StatusStarting) || a.Status == cw.StatusParked:
		return cw.Errorf(cw.CodeRefused, "agent %s is %s", a.Alias, a.Status).WithHint("it goes on by itself")
	}
	return nil
}

func errRemoved(a *cw.AgentView) error {
	return cw.Errorf(cw.CodeRefused, "agent %s was removed", a.Alias).WithHint("bring it back: cw agent restore %s", a.Alias)
}

// addRun starts a run with everything that waits to be told; the lock is held.
func (m *Memory) addRun(a *cw.AgentView, reason cw.RunReason) cw.Run {
	at := m.now()
	a.SessionNumber++
	run := cw.Run{
		ID: cw.RunID(cw.NewID()), AgentID: a.ID, Kind: cw.RunAgent, SessionNumber: a.SessionNumber, Reason: reason,
		Dir: "/runs/" + a.Alias, OutputPath: "/runs/" + a.Alias + "/output", StartedAt: &at, CreatedAt: at,
	}
	for _, waits := range m.waiting(a) {
		waits.RunID, waits.DeliveredAt = run.ID, &at
		run.MessageID = waits.ID
	}
	a.Runs = append(a.Runs, run)
	a.Status, a.UpdatedAt = cw.StatusRunning, at
	return run
}

// next starts another run and tells it; the lock is held.
func (m *Memory) next(a *cw.AgentView, reason cw.RunReason, by cw.Actor) {
	m.tellUntold(a)
	run := m.addRun(a, reason)
	for _, e := range []cw.Event{
		cw.NewEvent(cw.EventAgentResumed, by, cw.AgentResumed{Name: a.Alias, SessionNumber: run.SessionNumber, Reason: reason}),
		cw.NewEvent(cw.EventAgentStarting, by, cw.AgentStarting{Name: a.Alias, SessionNumber: run.SessionNumber, Reason: reason}),
		cw.NewEvent(cw.EventAgentRunning, by, cw.AgentRunning{Name: a.Alias, SessionNumber: run.SessionNumber}),
	} {
		m.tell(e.About(a.ID, run.ID))
	}
}

// goOn lets an agent go on by itself where nobody needs to act: answered, or
// idle with something to be told; the lock is held.
func (m *Memory) goOn(a *cw.AgentView) {
	by := cw.Actor{Kind: cw.ActorCW}
	switch {
	case a.DeletedAt != nil:
	case a.Status == cw.StatusWaitingForInput && len(m.open(a)) == 0:
		m.next(a, cw.RunAnswers, by)
	case a.Status == cw.StatusIdle && len(m.waiting(a)) > 0:
		m.next(a, cw.RunFollowUp, by)
	case a.Status == cw.StatusIdle && len(m.open(a)) == 0 && m.view(a).QueuedAnswers > 0:
		m.next(a, cw.RunAnswers, by)
	}
}

// Resume implements cw.AgentService.
func (m *Memory) Resume(ctx context.Context, ref string, req cw.ResumeRequest) (view cw.AgentView, err error) {
	if err := cw.CheckText("the text", req.Text); err != nil {
		return view, err
	}
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.find(ref); err != nil {
			return
		}
		if err = mayResume(a); err != nil {
			return
		}
		word := cw.Message{AgentID: a.ID, Origin: cw.OriginPerson, Body: req.Text}
		if req.Text == "" {
			word.Origin, word.Body = cw.OriginCW, fmt.Sprintf("Your last run left you %s. Go on.", a.Status)
		}
		m.addMessage(word)
		m.next(a, cw.RunFollowUp, cw.ActorOf(ctx))
		view = m.view(a)
	})
	return view, err
}

// Remove implements cw.AgentService.
func (m *Memory) Remove(ctx context.Context, ref string) (view cw.AgentView, err error) {
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.find(ref); err != nil {
			return
		}
		if a.Status.Alive() {
			err = cw.Errorf(cw.CodeRefused, "agent %s is %s", a.Alias, a.Status).WithHint("stop it first: cw agent stop %s", a.Alias)
			return
		}
		if a.DeletedAt == nil {
			m.remove(a, cw.ActorOf(ctx))
		}
		view = m.view(a)
	})
	return view, err
}

// remove puts an agent's places into the trash; what it asked is asked no more.
func (m *Memory) remove(a *cw.AgentView, by cw.Actor) {
	at := m.now()
	a.DeletedAt, a.UpdatedAt = &at, at
	trash := []string{}
	for i := range a.Projects {
		w := &a.Projects[i]
		w.State, w.Trash, w.TrashedAt = cw.WorktreeTrashed, "/trash/"+a.Alias+"/"+w.Project, &at
		trash = append(trash, w.Trash)
	}
	m.cancelTo(a, "was removed")
	m.withdraw(a, cw.WithdrawnRemoved, by)
	for _, waits := range m.waiting(a) {
		waits.HiddenAt = &at
	}
	m.tell(cw.NewEvent(cw.EventAgentRemoved, by, cw.AgentRemoved{Name: a.Alias, Trash: trash, Until: at.Add(cw.TrashKeep)}).About(a.ID, ""))
}

// withdraw takes back what an agent asked and nobody answered.
func (m *Memory) withdraw(a *cw.AgentView, reason string, by cw.Actor) {
	for _, q := range m.open(a) {
		q.Status, q.Reason = cw.QuestionWithdrawn, reason
		m.tell(cw.NewEvent(cw.EventQuestionWithdrawn, by, cw.QuestionWithdrawnPayload{
			QuestionID: q.ID, Name: a.Alias, Reason: reason,
		}).About(a.ID, q.RunID))
	}
}

// Lose forgets everything that is kept of a removed agent's places.
func (m *Memory) Lose(ref string) {
	m.change(func() {
		a, err := m.find(ref)
		if err != nil {
			panic(err)
		}
		m.lost[a.ID] = true
	})
}

// Restore implements cw.AgentService.
func (m *Memory) Restore(ctx context.Context, ref string) (view cw.AgentView, err error) {
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.find(ref); err != nil {
			return
		}
		switch {
		case a.DeletedAt == nil:
		case m.lost[a.ID]:
			err = cw.Errorf(cw.CodeGone, "nothing is kept of agent %s any more", a.Alias).WithHint("its output is: cw agent logs %s", a.Alias)
			return
		default:
			m.restore(a, cw.ActorOf(ctx))
		}
		view = m.view(a)
	})
	return view, err
}

// OpenWorktree implements cw.WorktreeService.
func (m *Memory) OpenWorktree(_ context.Context, ref string) (opened cw.OpenedWorktree, err error) {
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.find(ref); err != nil {
			return
		}
		if a.DeletedAt != nil {
			err = errRemoved(a)
			return
		}
		until := m.now().Add(cw.HoldTime)
		a.HeldUntil = &until
		for i := range a.Projects {
			a.Projects[i].State = cw.WorktreePresent
		}
		opened = cw.OpenedOf(m.view(a), until, nil)
	})
	return opened, err
}

// restore undoes what remove did.
func (m *Memory) restore(a *cw.AgentView, by cw.Actor) {
	for i := range m.messages {
		if text := &m.messages[i]; text.AgentID == a.ID && text.HiddenAt != nil && text.HiddenAt.Equal(*a.DeletedAt) {
			text.HiddenAt = nil
		}
	}
	a.DeletedAt, a.UpdatedAt = nil, m.now()
	for i := range m.asked {
		if q := &m.asked[i]; q.AgentID == a.ID && q.Status == cw.QuestionWithdrawn && !q.Unanswered() {
			q.Status, q.Reason = cw.QuestionOpen, ""
			m.tellAsked(*q, by)
		}
	}
	for i := range a.Projects {
		w := &a.Projects[i]
		w.State, w.Trash, w.TrashedAt = cw.WorktreePresent, "", nil
	}
	m.tell(cw.NewEvent(cw.EventAgentRestored, by, cw.AgentRestored{Name: a.Alias, From: "trash"}).About(a.ID, ""))
}
