package crashlab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// allConversations reads the conversations that the program knows.
func (s *scene) allConversations(ctx context.Context) ([]cw.ConversationView, error) {
	return cw.SomePages(ctx, 0, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.ConversationView], error) {
		return s.lab.Client().Conversations(ctx, cw.ConversationFilter{PageQuery: q})
	})
}

// isAsked is an error, which may pass, until there is a conversation.
func (c *course) isAsked(ctx context.Context) error {
	all, err := c.allConversations(ctx)
	if err == nil && len(all) == 0 {
		return cw.Errorf(cw.CodeUnreachable, "nobody has asked yet")
	}
	return err
}

// talked holds the conversations that are stored against what agents heard, said
// and were told.
func talked(s *scene, v *verdict) {
	byID := map[cw.ConversationID]cw.ConversationView{}
	for _, c := range s.conversations {
		byID[c.ID] = c
		s.told(v, c)
	}
	for run, book := range s.books {
		agent := cw.AgentID(book.Start().Agent)
		answered := 0
		for _, e := range book.Entries {
			c, known := byID[cw.ConversationID(e.Route)]
			switch e.What {
			case fakecli.Heard:
				v.check(e.Code == 0 && known && c.ToAgentID == agent, "agent %s was given %q, which is to %q", agent, e.Output, c.To)
			case fakecli.Told:
				v.check((e.Code == 0) == (known && c.Answer == e.Path), "%q was taken as an answer (exit code %d: %s), and %q is stored", e.Path, e.Code, e.Output, c.Answer)
			case fakecli.Asked:
				if e.Code == 0 {
					answered++
				}
				v.check(s.cameOf(cw.RunID(run), e), "run %s asked, and got %q (exit code %d)", run, e.Output, e.Code)
			}
		}
		stored := 0
		for _, c := range s.conversations {
			if c.FromRunID == cw.RunID(run) && c.Status == cw.ConversationAnswered {
				stored++
			}
		}
		v.check(stored == answered || s.killed[run] != "", "run %s has %d answers, and %d are stored", run, answered, stored)
	}
}

// told checks what events tell of one conversation, and that nobody waits for it
// in vain.
func (s *scene) told(v *verdict, c cw.ConversationView) {
	count := func(what cw.EventType) string {
		return strings.Join(s.ask("cw.db", fmt.Sprintf("SELECT COUNT(*) FROM events WHERE type = '%s' AND conversation_id = '%s'", what, c.ID)), "")
	}
	ends := map[cw.ConversationStatus][]string{
		cw.ConversationPending: {"0", "0"}, cw.ConversationAnswered: {"1", "0"}, cw.ConversationCancelled: {"0", "1"},
	}
	got := []string{count(cw.EventConversationAnswered), count(cw.EventConversationCancelled)}
	v.check(count(cw.EventConversationCreated) == "1", "conversation %s was created %s times", c.ID, count(cw.EventConversationCreated))
	v.check(slices.Equal(got, ends[c.Status]), "conversation %s is %s, and was answered and cancelled %v times", c.ID, c.Status, got)
	v.check(c.Status != cw.ConversationCancelled || c.Reason != "", "conversation %s was cancelled without a reason", c.ID)
	v.check(c.Status != cw.ConversationPending || s.mayWait(c), "conversation %s to %s waits for ever", c.ID, c.To)
	v.check(c.Status != cw.ConversationAnswered || c.FetchedAt != nil || s.isOver(c.FromRunID), "the answer of conversation %s did not reach %s", c.ID, c.From)
}

// mayWait tells whether a question may still be answered.
func (s *scene) mayWait(c cw.ConversationView) bool {
	i := slices.IndexFunc(s.views, func(a cw.AgentView) bool { return a.ID == c.ToAgentID })
	if i < 0 {
		return c.ToAgentID == "" && c.Queue
	}
	return s.views[i].DeletedAt == nil && s.views[i].Status != cw.StatusCrashed && s.views[i].Status != cw.StatusStopped
}

func (s *scene) isOver(run cw.RunID) bool {
	return slices.ContainsFunc(s.views, func(a cw.AgentView) bool {
		return slices.ContainsFunc(a.Runs, func(r cw.Run) bool { return r.ID == run && r.EndedAt != nil })
	})
}

// cameOf tells whether what came of a question is what is stored: the answer, or
// the reason why there is none.
func (s *scene) cameOf(run cw.RunID, e fakecli.Entry) bool {
	if e.Code != 0 {
		return e.Code == 4 && e.Output != ""
	}
	return slices.ContainsFunc(s.conversations, func(c cw.ConversationView) bool {
		return c.FromRunID == run && c.Status == cw.ConversationAnswered && c.FetchedAt != nil && e.Output == c.Answer+"\n"
	})
}

// conversationsEnd are the conversations without what differs from one course to
// the next.
func (c *course) conversationsEnd() (out []string) {
	for _, v := range c.conversations {
		out = append(out, fmt.Sprintf("%s → %s: %q %s %q %q, given %v, delivered %v, fetched %v", v.From, v.To, v.Question, v.Status, v.Answer, v.Reason,
			[]bool{v.Queue, v.Wake}, v.DeliveredAt != nil, v.FetchedAt != nil))
	}
	slices.Sort(out)
	return out
}

// answersPeerTwice: an agent answers the same question again, in other words.
func answersPeerTwice(c *course) {
	s := hears("peer.txt")
	s.Again = "Eight, on second thoughts."
	c.meet(s, "it runs", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	c.start(asksPeer())
	c.parted(1)
}
