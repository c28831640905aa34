package main

import (
	"context"
	"iter"
	"slices"

	"cw/internal/cw"
)

// fakeConversations is what a daemon in memory keeps of agents that ask each
// other.
type fakeConversations struct {
	self     cw.Whoami             // who calls
	talks    []cw.ConversationView // newest first
	asks     []cw.AskRequest
	listens  []string
	pendings []cw.PendingConversation
	// outcome is what comes of a question; nil: nothing, as long as ctx lasts.
	outcome *cw.ConversationView
	// over means that the caller's run is over once all was yielded.
	over bool
	told []string // answers, each behind its conversation
}

func (f *fakeServices) Ask(ctx context.Context, req cw.AskRequest) (cw.ConversationView, error) {
	if err := f.fails("Ask"); err != nil {
		return cw.ConversationView{}, err
	}
	if err := f.fails("AskHangs"); err != nil {
		<-ctx.Done()
		return cw.ConversationView{}, givenUp(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asks = append(f.asks, req)
	kind, id := req.Target()
	c := cw.ConversationView{Conversation: cw.Conversation{
		ID: "vvvvvvvvvvvv", FromAgentID: f.self.AgentID, TargetKind: kind, TargetID: id, Question: req.Question, Status: cw.ConversationPending, CreatedAt: epoch,
	}, From: f.self.Name}
	if !req.Queue {
		c.To, c.ToAgentID = "calm-fox", "bbbbbbbbbbbb"
	}
	return c, nil
}

// givenUp is what the client makes of the end of a context.
func givenUp(ctx context.Context) error {
	code := cw.CodeInterrupted
	if ctx.Err() == context.DeadlineExceeded {
		code = cw.CodeTimeout
	}
	return cw.Errorf(code, "the call was given up").Because(ctx.Err())
}

func (f *fakeServices) AwaitConversation(ctx context.Context, id string) (cw.ConversationView, error) {
	if err := f.fails("AwaitConversation"); err != nil {
		return cw.ConversationView{}, err
	}
	if f.outcome == nil {
		<-ctx.Done()
		return cw.ConversationView{}, givenUp(ctx)
	}
	c := *f.outcome
	c.ID = cw.ConversationID(id)
	return c, nil
}

func (f *fakeServices) PendingConversations(ctx context.Context, ref string) iter.Seq2[cw.PendingConversation, error] {
	return func(yield func(cw.PendingConversation, error) bool) {
		f.listens = append(f.listens, ref)
		if err := f.fails("PendingConversations"); err != nil {
			yield(cw.PendingConversation{}, err)
			return
		}
		for _, p := range f.pendings {
			if !yield(p, nil) {
				return
			}
		}
		if f.over {
			return
		}
		<-ctx.Done()
		yield(cw.PendingConversation{}, givenUp(ctx))
	}
}

func (f *fakeServices) AnswerConversation(_ context.Context, id string, a cw.ConversationAnswer) (cw.ConversationView, error) {
	if err := f.fails("AnswerConversation"); err != nil {
		return cw.ConversationView{}, err
	}
	f.told = append(f.told, id+" "+a.Answer)
	return cw.ConversationView{Conversation: cw.Conversation{ID: cw.ConversationID(id), Status: cw.ConversationAnswered, Answer: a.Answer}}, nil
}

func (f *fakeServices) Conversations(_ context.Context, filter cw.ConversationFilter) (cw.Page[cw.ConversationView], error) {
	if err := f.fails("Conversations"); err != nil {
		return cw.Page[cw.ConversationView]{}, err
	}
	var out []cw.ConversationView
	for _, c := range f.talks {
		if (len(filter.Statuses) == 0 || slices.Contains(filter.Statuses, c.Status)) && (filter.Agent == "" || filter.Agent == c.From || filter.Agent == c.To) {
			out = append(out, c)
		}
	}
	return pageAt(out, filter.PageQuery), nil
}

func (f *fakeServices) Conversation(_ context.Context, id string) (cw.ConversationView, error) {
	for _, c := range f.talks {
		if string(c.ID) == id {
			return c, f.fails("Conversation")
		}
	}
	return cw.ConversationView{}, cw.Errorf(cw.CodeNotFound, "there is no conversation %q", id).WithHint("cw conversation list shows all")
}
