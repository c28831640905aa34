package servicetest

import (
	"context"
	"slices"

	"cw/internal/cw"
)

// MessageAgent implements cw.AgentMessageService. Nobody may make agents here.
func (m *Memory) MessageAgent(ctx context.Context, req cw.AgentMessageRequest) (done cw.AgentMessageResult, err error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorAgent {
		return done, cw.Errorf(cw.CodeForbidden, "only agents message agents").WithHint("cw agent send")
	}
	if req, err = req.Complete(); err != nil {
		return done, err
	}
	m.change(func() { done, err = m.messageAgent(actor, req) })
	return done, err
}

func (m *Memory) messageAgent(actor cw.Actor, req cw.AgentMessageRequest) (cw.AgentMessageResult, error) {
	none := cw.AgentMessageResult{}
	for _, text := range m.messages {
		if req.RequestKey != "" && text.RequestKey == req.RequestKey && text.SenderAgentID == actor.AgentID {
			to, err := m.find(string(text.AgentID))
			return m.started(text, to, req.Mode), err
		}
	}
	caller, err := m.find(string(actor.AgentID))
	if err != nil {
		return none, err
	}
	to, err := m.addressee(caller, req)
	if err != nil {
		return none, err
	}
	if to.ID == caller.ID {
		return none, cw.Errorf(cw.CodeRefused, "an agent does not message itself")
	}
	if err := cw.MayMessage(to.Agent); err != nil {
		return none, err
	}
	at := m.now()
	kept := m.addMessage(cw.Message{
		AgentID: to.ID, Origin: cw.OriginAgent, Actor: caller.Alias, SenderAgentID: caller.ID, RequestKey: req.RequestKey,
		Body: req.Content, QueuedAt: &at,
	})
	id := kept.ID
	m.tell(cw.NewEvent(cw.EventMessageQueued, actor, cw.MessageQueued{MessageID: id, Name: to.Alias}).About(to.ID, ""))
	if to.Status == cw.StatusIdle {
		m.next(to, cw.RunFollowUp, actor)
	}
	text, _ := m.message(id) // it was just stored
	return m.started(text, to, req.Mode), nil
}

func (m *Memory) addressee(caller *cw.AgentView, req cw.AgentMessageRequest) (*cw.AgentView, error) {
	var latest *cw.AgentView
	for i := range m.agents {
		a := &m.agents[i]
		named := req.Session == string(a.ID) || req.Session == a.Alias
		switch {
		case !m.sees(caller, a):
		case named && a.Definition != req.AgentID:
			return nil, cw.Errorf(cw.CodeInvalid, "agent %s is of the definition %s", a.Alias, a.Definition)
		case named:
			return a, nil
		case a.Definition != req.AgentID || a.ID == caller.ID || a.DeletedAt != nil:
		case latest == nil || a.UpdatedAt.After(latest.UpdatedAt):
			latest = a
		}
	}
	switch {
	case req.Session == cw.SessionCreate:
		return nil, cw.NoSpawn()
	case req.Session != cw.SessionLatest && req.Session != cw.SessionLatestOrCreate:
		return nil, cw.Errorf(cw.CodeNotFound, "there is no agent %.100q that you may see", req.Session)
	case latest == nil:
		return nil, cw.Errorf(cw.CodeNotFound, "there is no other agent of the definition %.40q that you may see", req.AgentID)
	}
	return latest, nil
}

// sees tells whether an agent may see another one; the lock is held.
func (m *Memory) sees(a, b *cw.AgentView) bool {
	shares := slices.ContainsFunc(a.Projects, func(w cw.AgentWorktree) bool { return worksIn(b, w.ProjectID) })
	return a.Sees(b.Agent, shares)
}

func (m *Memory) message(id cw.MessageID) (cw.Message, bool) {
	i := slices.IndexFunc(m.messages, func(text cw.Message) bool { return text.ID == id })
	if i < 0 {
		return cw.Message{}, false
	}
	return m.messages[i], true
}

func (m *Memory) started(text cw.Message, to *cw.AgentView, mode cw.MessageMode) cw.AgentMessageResult {
	return cw.AgentMessageResult{
		Mode: mode, Status: cw.MessageStarted, AgentID: to.Definition, SessionID: to.ID, SessionName: to.Alias, ResponseID: text.ID,
	}
}

// SenderOf gives the agent that sent a message, "" for a person. CodeNotFound.
func (m *Memory) SenderOf(_ context.Context, id cw.MessageID) (cw.AgentID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, found := m.message(id)
	if !found {
		return "", cw.Errorf(cw.CodeNotFound, "there is no message %.100q", string(id))
	}
	return text.SenderAgentID, nil
}

// AwaitMessage implements cw.AgentMessageService. The word of a run is the
// agent's result.
func (m *Memory) AwaitMessage(ctx context.Context, responseID string) (cw.AgentMessageResult, error) {
	defer m.reading()()
	for {
		done, over, changed, err := m.response(cw.ActorOf(ctx), cw.MessageID(responseID))
		if over || err != nil {
			return done, err
		}
		if err := wait(ctx, changed); err != nil {
			return done, err
		}
	}
}

func (m *Memory) response(actor cw.Actor, id cw.MessageID) (done cw.AgentMessageResult, over bool, changed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, found := m.message(id)
	if !found || text.SenderAgentID == "" || actor.Kind == cw.ActorAgent && actor.AgentID != text.SenderAgentID {
		return done, true, nil, cw.Errorf(cw.CodeNotFound, "there is no message %.100q", string(id))
	}
	to, err := m.find(string(text.AgentID))
	if err != nil {
		return done, true, nil, err
	}
	if text.RunID == "" {
		return done, false, m.changed, cw.MayMessage(to.Agent)
	}
	last := to.Runs[len(to.Runs)-1]
	if last.ID == text.RunID && to.Status.Alive() {
		return done, false, m.changed, nil
	}
	done = m.started(text, to, cw.MessageSync)
	done.Status, done.Response = cw.MessageComplete, to.Result
	return done, true, nil, nil
}
