package orchestrator

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"cw/internal/cw"
)

var _ cw.ConversationService = (*Orchestrator)(nil)

// lookAgain is how long somebody who waits for a conversation goes without a look
// at the rows, should no bell ring.
const lookAgain = 5 * time.Second

// Conversations implements cw.ConversationService.
func (o *Orchestrator) Conversations(ctx context.Context, f cw.ConversationFilter) (cw.Page[cw.ConversationView], error) {
	return o.Store.ConversationPage(ctx, f)
}

// Conversation implements cw.ConversationService.
func (o *Orchestrator) Conversation(ctx context.Context, id string) (cw.ConversationView, error) {
	return o.Store.ConversationByID(ctx, id)
}

// Ask implements cw.ConversationService. The question is durable when it returns;
// that it reaches the other agent follows from the rows.
func (o *Orchestrator) Ask(ctx context.Context, req cw.AskRequest) (cw.ConversationView, error) {
	caller, err := callingAgent(ctx, "ask")
	if err != nil {
		return cw.ConversationView{}, err
	}
	if err := req.Check(); err != nil {
		return cw.ConversationView{}, err
	}
	if req.From != "" {
		if err := o.checkOwn(ctx, caller, req.From, "an agent asked in the name of another one"); err != nil {
			return cw.ConversationView{}, err
		}
	}
	earlier, asked, err := o.Store.ConversationByKey(ctx, caller.AgentID, req.RequestKey)
	if asked || err != nil {
		return earlier, orCancelled(earlier, err)
	}
	if err := o.asks.take(caller.AgentID, time.Now()); err != nil {
		return cw.ConversationView{}, err
	}
	kind, target := req.Target()
	c := cw.Conversation{
		ID: cw.ConversationID(cw.NewID()), RequestKey: req.RequestKey, FromAgentID: caller.AgentID, FromRunID: caller.RunID,
		TargetKind: kind, TargetID: target, Question: o.Redact.MaskString(req.Question), Queue: req.Queue, Wake: req.Wake,
	}
	var view cw.ConversationView
	err = o.outlive(ctx, func(life context.Context) (err error) {
		// What waits for a response is not in the rows: nobody begins to while the
		// question is looked at.
		err = o.waits.during(func(others []cw.Waiting) error {
			view, err = o.Store.AskConversation(life, c, others)
			return err
		})
		if err != nil {
			return err
		}
		o.Fail.Hit("conversation/asked")
		if view.Status == cw.ConversationPending && view.Wake && view.ToAgentID != "" {
			return o.hand(life, func(life context.Context) { o.goOn(life, view.ToAgentID) })
		}
		return nil
	})
	if err != nil {
		return cw.ConversationView{}, err
	}
	return view, orCancelled(view, nil)
}

// orCancelled refuses a question that was cancelled when it was asked.
func orCancelled(v cw.ConversationView, err error) error {
	if err != nil || v.Status != cw.ConversationCancelled || !v.UpdatedAt.Equal(v.CreatedAt) {
		return err
	}
	return cw.Errorf(cw.CodeRefused, "the question cannot be delivered now: %s", v.Reason).
		WithHint("--queue waits until it runs again; --wake resumes an idle agent")
}

// callingAgent gives the agent that calls. CodeForbidden for anybody else.
func callingAgent(ctx context.Context, what string) (cw.Actor, error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorAgent || actor.AgentID == "" {
		return actor, cw.Errorf(cw.CodeForbidden, "only agents %s each other", what).
			WithHint("write to an agent with cw agent send; see what agents ask each other with cw conversation list")
	}
	return actor, nil
}

// checkOwn refuses the name of another agent where a caller names itself, and
// reports it.
func (o *Orchestrator) checkOwn(ctx context.Context, caller cw.Actor, ref, what string) error {
	if ref == string(caller.AgentID) || o.Guards.Off("own-name") {
		return nil
	}
	own, err := o.Store.AgentByRef(ctx, string(caller.AgentID))
	if err != nil {
		return err
	}
	if ref == own.Alias {
		return nil
	}
	o.report(ctx, caller, what)
	return cw.Errorf(cw.CodeForbidden, "you are %s, not %.100q", own.Alias, ref).
		WithHint("agents act as themselves only; leave the name out")
}

// report tells that something was refused that nobody asks for by mistake.
func (o *Orchestrator) report(ctx context.Context, caller cw.Actor, what string) {
	if o.Report != nil {
		o.Report(ctx, caller, what)
	}
}

// PendingConversations implements cw.ConversationService.
func (o *Orchestrator) PendingConversations(ctx context.Context, ref string) iter.Seq2[cw.PendingConversation, error] {
	return func(yield func(cw.PendingConversation, error) bool) {
		caller, err := callingAgent(ctx, "listen to")
		if err == nil {
			err = o.checkOwn(ctx, caller, ref, "an agent listened in the place of another one")
		}
		if err != nil {
			yield(cw.PendingConversation{}, err)
			return
		}
		given := map[cw.ConversationID]bool{}
		for ctx.Err() == nil {
			ring := o.peers.Next(caller.AgentID)
			pending, over, err := o.Store.ConversationsTo(ctx, caller.AgentID, caller.RunID)
			if err != nil {
				if ctx.Err() == nil {
					yield(cw.PendingConversation{}, err)
				}
				return
			}
			if over || !o.giveAll(ctx, caller, pending, given, yield) {
				return
			}
			if !o.awaitPeers(ctx, ring) {
				return
			}
		}
	}
}

// giveAll delivers questions that were not given in this stream. false: nobody
// wants more.
func (o *Orchestrator) giveAll(ctx context.Context, caller cw.Actor, pending []cw.Conversation, given map[cw.ConversationID]bool,
	yield func(cw.PendingConversation, error) bool,
) bool {
	for _, c := range pending {
		if given[c.ID] {
			continue
		}
		delivered, err := o.Store.DeliverConversation(ctx, c.ID, caller.AgentID, caller.RunID)
		if err != nil {
			if ctx.Err() == nil {
				yield(cw.PendingConversation{}, err)
			}
			return false
		}
		if !delivered {
			continue
		}
		given[c.ID] = true
		o.Fail.Hit("conversation/delivered")
		if !yield(c.Pending(), nil) {
			return false
		}
	}
	return true
}

// awaitPeers waits for a bell, for a while; false when ctx ended.
func (o *Orchestrator) awaitPeers(ctx context.Context, ring <-chan struct{}) bool {
	tick := time.NewTimer(o.lookAgain)
	defer tick.Stop()
	select {
	case <-ring:
	case <-tick.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// AwaitConversation implements cw.ConversationService.
func (o *Orchestrator) AwaitConversation(ctx context.Context, id string) (cw.ConversationView, error) {
	caller := cw.ActorOf(ctx)
	for {
		view, err := o.Store.ConversationByID(ctx, id)
		if err != nil {
			return view, err
		}
		if caller.Kind == cw.ActorAgent && view.FromAgentID != caller.AgentID {
			o.report(ctx, caller, "an agent waited for an answer to another one")
			return cw.ConversationView{}, cw.Errorf(cw.CodeForbidden, "conversation %s is not yours", view.ID).
				WithHint("wait for the answers to what you asked yourself")
		}
		ring := o.peers.Next(view.FromAgentID)
		if view, err = o.Store.ConversationByID(ctx, id); err != nil { // what rang before counts
			return view, err
		}
		if view.Status != cw.ConversationPending {
			return o.fetch(ctx, caller, view)
		}
		if !o.awaitPeers(ctx, ring) {
			return cw.ConversationView{}, ctx.Err()
		}
	}
}

// fetch notes that the asking agent has its answer.
func (o *Orchestrator) fetch(ctx context.Context, caller cw.Actor, v cw.ConversationView) (cw.ConversationView, error) {
	if caller.Kind != cw.ActorAgent || v.Status != cw.ConversationAnswered || v.FetchedAt != nil {
		return v, nil
	}
	if err := o.Store.FetchConversation(ctx, v.ID); err != nil {
		return cw.ConversationView{}, err
	}
	return o.Store.ConversationByID(ctx, string(v.ID))
}

// AnswerConversation implements cw.ConversationService.
func (o *Orchestrator) AnswerConversation(ctx context.Context, id string, a cw.ConversationAnswer) (cw.ConversationView, error) {
	caller, err := callingAgent(ctx, "answer")
	if err != nil {
		return cw.ConversationView{}, err
	}
	if err := a.Check(); err != nil {
		return cw.ConversationView{}, err
	}
	var view cw.ConversationView
	err = o.outlive(ctx, func(life context.Context) (err error) {
		view, err = o.Store.AnswerConversation(life, cw.ConversationID(id), caller, o.Redact.MaskString(a.Answer))
		if err == nil {
			o.Fail.Hit("conversation/answered")
		}
		return err
	})
	if err != nil {
		if cw.ErrorCode(err) == cw.CodeForbidden {
			o.report(ctx, caller, "an agent answered in the place of another one")
		}
		return cw.ConversationView{}, err
	}
	return view, nil
}

// Heard wakes those who wait for what these events tell. It is called with the
// events of every transaction, after it; it is quick and asks the store nothing.
func (o *Orchestrator) Heard(events ...cw.Event) {
	for _, ev := range events {
		if ev.ConversationID == "" {
			if ev.AgentID != "" {
				o.peers.Ring(ev.AgentID)
			}
			continue
		}
		var who struct{ FromAgentID, ToAgentID cw.AgentID }
		if json.Unmarshal(ev.Data, &who) == nil {
			o.peers.Ring(who.FromAgentID)
			o.peers.Ring(who.ToAgentID)
		}
	}
}
