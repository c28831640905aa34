package servicetest

import (
	"context"
	"slices"

	"cw/internal/cw"
)

// addMessage stores a text to an agent, which waits for its next run; the lock
// is held.
func (m *Memory) addMessage(text cw.Message) *cw.Message {
	text.ID, text.Role, text.CreatedAt = cw.MessageID(cw.NewID()), cw.RoleUser, m.now()
	for _, before := range m.messages {
		if before.AgentID == text.AgentID {
			text.Seq = before.Seq
		}
	}
	text.Seq++
	m.messages = append(m.messages, text)
	return &m.messages[len(m.messages)-1]
}

// waiting gives the texts that wait for an agent's next run; the lock is held.
func (m *Memory) waiting(a *cw.AgentView) []*cw.Message {
	var waiting []*cw.Message
	for i := range m.messages {
		if text := &m.messages[i]; text.AgentID == a.ID && text.RunID == "" && text.HiddenAt == nil {
			waiting = append(waiting, text)
		}
	}
	return waiting
}

// Messages implements cw.MessageService.
func (m *Memory) Messages(_ context.Context, ref string, q cw.PageQuery) (cw.Page[cw.Message], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(ref)
	if err != nil {
		return cw.Page[cw.Message]{}, err
	}
	start, err := cw.MessageList().Start(q, string(a.ID))
	if err != nil {
		return cw.Page[cw.Message]{}, err
	}
	others := func(text cw.Message) bool { return text.AgentID != a.ID }
	return pageOf(start, slices.DeleteFunc(slices.Clone(m.messages), others)), nil
}

// Send implements cw.MessageService.
func (m *Memory) Send(ctx context.Context, ref string, req cw.SendRequest) (sent cw.Message, err error) {
	if err := req.Check(); err != nil {
		return sent, err
	}
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.find(ref); err == nil {
			sent, err = m.send(a, req, cw.ActorOf(ctx))
		}
	})
	return sent, err
}

func (m *Memory) send(a *cw.AgentView, req cw.SendRequest, by cw.Actor) (cw.Message, error) {
	idle := a.Status == cw.StatusIdle
	switch {
	case a.DeletedAt != nil:
		return cw.Message{}, errRemoved(a)
	case a.Status == cw.StatusCrashed || a.Status == cw.StatusStopped:
		return cw.Message{}, cw.Errorf(cw.CodeRefused, "agent %s is %s", a.Alias, a.Status).WithHint("let it go on: cw agent resume %s TEXT", a.Alias)
	case !idle && req.WhenBusy == cw.BusyRefuse:
		return cw.Message{}, cw.Errorf(cw.CodeRefused, "agent %s is %s", a.Alias, a.Status).WithHint("without --when-busy refuse the text is queued")
	}
	text := cw.Message{AgentID: a.ID, Origin: cw.OriginPerson, Actor: string(by.Kind), Body: req.Text}
	if !idle {
		at := m.now()
		text.QueuedAt = &at
	}
	kept := m.addMessage(text)
	if idle {
		m.next(a, cw.RunFollowUp, by)
	} else {
		m.tell(cw.NewEvent(cw.EventMessageQueued, by, cw.MessageQueued{MessageID: kept.ID, Name: a.Alias}).About(a.ID, ""))
	}
	return *kept, nil
}
