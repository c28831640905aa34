package orchestrator

import (
	"context"
	"fmt"
	"time"

	"cw/internal/cw"
)

// MessageAgent implements cw.AgentMessageService. The text is durable when it
// returns; that the other agent gets it follows from the rows.
func (o *Orchestrator) MessageAgent(ctx context.Context, req cw.AgentMessageRequest) (cw.AgentMessageResult, error) {
	none := cw.AgentMessageResult{}
	actor, err := callingAgent(ctx, "message")
	if err != nil {
		return none, err
	}
	if req, err = req.Complete(); err != nil {
		return none, err
	}
	caller, err := o.Store.AgentByRef(ctx, string(actor.AgentID))
	if err != nil {
		return none, err
	}
	if done, known, err := o.sameMessage(ctx, caller, req); known || err != nil {
		return done, err
	}
	if err := o.asks.take(caller.ID, time.Now()); err != nil {
		return none, err
	}
	to, create, err := o.addressee(ctx, caller, req)
	if err != nil {
		return none, err
	}
	if create {
		return o.messageNew(ctx, caller, req)
	}
	if err := o.mayMessage(ctx, caller, to, req); err != nil {
		return none, err
	}
	now := time.Now().UTC()
	m := cw.Message{
		ID: cw.MessageID(cw.NewID()), AgentID: to.ID, Role: cw.RoleUser, Origin: cw.OriginAgent, Actor: caller.Alias,
		SenderAgentID: caller.ID, RequestKey: req.RequestKey, Definition: to.Definition, Body: req.Content, QueuedAt: &now, CreatedAt: now,
	}
	if m, err = o.queueAgentMessage(ctx, m, to); err != nil {
		return none, err
	}
	return startedResult(m, to, req.Mode), nil
}

// sameMessage gives what an earlier request with the same key came to.
func (o *Orchestrator) sameMessage(ctx context.Context, caller cw.Agent, req cw.AgentMessageRequest) (done cw.AgentMessageResult, known bool, err error) {
	if req.RequestKey == "" {
		return done, false, nil
	}
	m, known, err := o.Store.MessageByKey(ctx, caller.ID, req.RequestKey)
	if err != nil {
		return done, false, fmt.Errorf("look for the same message: %w", err)
	}
	if known {
		to, err := o.Store.AgentByRef(ctx, string(m.AgentID))
		return startedResult(m, to, req.Mode), true, err
	}
	_, known, err = o.Store.SpawnByKey(ctx, childKey(caller.ID, messageKey(req)))
	if err != nil {
		return done, false, fmt.Errorf("look for the same message: %w", err)
	}
	if known {
		done, err = o.messageNew(ctx, caller, req)
	}
	return done, known, err
}

// addressee finds the agent that a message goes to, or tells that one is to be
// made.
func (o *Orchestrator) addressee(ctx context.Context, caller cw.Agent, req cw.AgentMessageRequest) (to cw.Agent, create bool, err error) {
	switch req.Session {
	case cw.SessionCreate:
		return to, true, nil
	case cw.SessionLatest, cw.SessionLatestOrCreate:
	default:
		if to, err = o.Store.PeerByRef(ctx, caller.ID, req.Session); err == nil && to.Definition != req.AgentID {
			err = cw.Errorf(cw.CodeInvalid, "agent %s is of the definition %s, not %.40q", to.Alias, to.Definition, req.AgentID).
				WithHint("agentId is the definition, session the agent; agents_list shows both")
		}
		return to, false, err
	}
	to, found, err := o.Store.LatestPeer(ctx, caller.ID, req.AgentID)
	if err != nil || found {
		return to, false, err
	}
	may, err := o.maySpawn(ctx, caller)
	if may && req.Session == cw.SessionLatestOrCreate || err != nil {
		return to, true, err
	}
	missing := cw.Errorf(cw.CodeNotFound, "there is no other agent of the definition %.40q that you may see", req.AgentID)
	if !may {
		return to, false, missing.WithHint("agents_list shows who is there; you may not make agents, which only a person can change")
	}
	return to, false, missing.WithHint("agents_list shows who is there; session create makes one")
}

// mayMessage refuses a message that the other agent would not work on, and one
// whose sender would wait for who waits for it.
func (o *Orchestrator) mayMessage(ctx context.Context, caller, to cw.Agent, req cw.AgentMessageRequest) error {
	if to.ID == caller.ID {
		return cw.Errorf(cw.CodeRefused, "an agent does not message itself").WithHint("name another agent; agents_list shows who is there")
	}
	if err := cw.MayMessage(to); err != nil {
		return err
	}
	if err := o.budgetLeft(ctx, to.ID); err != nil {
		return err
	}
	if req.Mode == cw.MessageSync {
		return o.mayWait(ctx, caller.ID, to.ID)
	}
	return nil
}

// queueAgentMessage stores a text and lets its agent go on with it. The caller
// may go away meanwhile.
func (o *Orchestrator) queueAgentMessage(ctx context.Context, m cw.Message, to cw.Agent) (cw.Message, error) {
	ev := cw.NewEvent(cw.EventMessageQueued, cw.ActorOf(ctx), cw.MessageQueued{MessageID: m.ID, Name: to.Alias}).About(to.ID, "")
	type answer struct {
		message cw.Message
		err     error
	}
	result := make(chan answer, 1)
	err := o.hand(ctx, func(life context.Context) {
		stored, _, err := o.Store.QueueAgentMessage(life, m, ev)
		if err == nil {
			o.Fail.Hit("agent-message/stored")
		}
		result <- answer{stored, err}
		if err == nil {
			o.goOn(life, to.ID)
		}
	})
	if err != nil {
		return cw.Message{}, err
	}
	select {
	case a := <-result:
		return a.message, a.err
	case <-ctx.Done():
		return cw.Message{}, ctx.Err()
	}
}

// messageNew makes an agent for a message: its task is the text.
func (o *Orchestrator) messageNew(ctx context.Context, caller cw.Agent, req cw.AgentMessageRequest) (cw.AgentMessageResult, error) {
	view, err := o.Spawn(ctx, cw.SpawnRequest{
		RequestKey: messageKey(req), Mode: cw.Mode(req.AgentID), Title: titleOf(req.Content), Goal: req.Content,
	})
	if err != nil {
		return cw.AgentMessageResult{}, err
	}
	m, err := o.Store.MessageByID(ctx, view.Runs[0].MessageID)
	if err != nil {
		return cw.AgentMessageResult{}, err
	}
	return startedResult(m, view.Agent, req.Mode), nil
}

// messageKey keeps the keys of messages apart from those of other requests.
func messageKey(req cw.AgentMessageRequest) string {
	if req.RequestKey == "" {
		return ""
	}
	return "message/" + req.RequestKey
}

// startedResult is what the sender of a message is told. The first text to an
// agent is the one that it was made for.
func startedResult(m cw.Message, to cw.Agent, mode cw.MessageMode) cw.AgentMessageResult {
	return cw.AgentMessageResult{
		Mode: mode, Status: cw.MessageStarted, AgentID: to.Definition, SessionID: to.ID, SessionName: to.Alias,
		Created: m.Seq == 1, ResponseID: m.ID,
	}
}

// writerOf is the name of the agent that wrote a message, or its id.
func writerOf(m cw.Message) string { return orDefault(m.Actor, string(m.SenderAgentID)) }
