package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// wordsShown is how much of a question or an answer an event repeats, in
// characters.
const wordsShown = 1000

// ConversationPage gives one page of conversations. CodeInvalid as
// cw.ConversationFilter.Start; CodeNotFound when the filter names an agent that
// is not there.
func (db *DB) ConversationPage(ctx context.Context, f cw.ConversationFilter) (cw.Page[cw.ConversationView], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.ConversationView]{}, err
	}
	var page cw.Page[cw.ConversationView]
	err = db.query(ctx, "list conversations", func(g *gorm.DB) error {
		q, err := selectConversations(g, f)
		if err != nil {
			return err
		}
		rows, err := pageOf[cw.Conversation](q, start, "created_at")
		if err != nil {
			return err
		}
		page.Next = rows.Next
		page.Items, err = conversationViews(g, rows.Items)
		return err
	})
	return page, err
}

func selectConversations(g *gorm.DB, f cw.ConversationFilter) (*gorm.DB, error) {
	q := g
	switch len(f.Statuses) {
	case 0:
	case 1: // as the index begins
		q = q.Where("status = ?", f.Statuses[0])
	default:
		q = q.Where("status IN (SELECT value FROM json_each(?))", list(f.Statuses))
	}
	if f.Agent == "" {
		return q, nil
	}
	agent, err := agentByRef(g, f.Agent)
	return q.Where("(from_agent_id = ? OR to_agent_id = ?)", agent.ID, agent.ID), err
}

// conversationViews adds the names of the agents.
func conversationViews(g *gorm.DB, rows []cw.Conversation) ([]cw.ConversationView, error) {
	var ids []cw.AgentID
	for _, c := range rows {
		ids = append(ids, c.FromAgentID, c.ToAgentID)
	}
	names, err := aliasesOf(g, ids)
	if err != nil {
		return nil, err
	}
	views := make([]cw.ConversationView, len(rows))
	for i, c := range rows {
		views[i] = cw.ConversationView{Conversation: c, From: names[c.FromAgentID], To: names[c.ToAgentID]}
	}
	return views, nil
}

// aliasesOf gives the names of agents, removed ones too.
func aliasesOf(g *gorm.DB, ids []cw.AgentID) (map[cw.AgentID]string, error) {
	var agents []cw.Agent
	err := g.Select("id", "alias").Where("id IN (SELECT value FROM json_each(?))", list(ids)).Find(&agents).Error
	names := make(map[cw.AgentID]string, len(agents))
	for _, a := range agents {
		names[a.ID] = a.Alias
	}
	return names, err
}

// ConversationByID gives one. CodeNotFound.
func (db *DB) ConversationByID(ctx context.Context, id string) (cw.ConversationView, error) {
	var view cw.ConversationView
	err := db.query(ctx, "read conversation", func(g *gorm.DB) error {
		c, err := conversationByID(g, cw.ConversationID(id))
		if err != nil {
			return err
		}
		view, err = conversationView(g, c)
		return err
	})
	return view, err
}

func conversationView(g *gorm.DB, c cw.Conversation) (cw.ConversationView, error) {
	views, err := conversationViews(g, []cw.Conversation{c})
	if err != nil {
		return cw.ConversationView{}, err
	}
	return views[0], nil
}

func conversationByID(g *gorm.DB, id cw.ConversationID) (cw.Conversation, error) {
	var c cw.Conversation
	found, err := one(g, &c, "id = ?", id)
	if err == nil && !found {
		err = cw.Errorf(cw.CodeNotFound, "there is no conversation %.100q", string(id)).
			WithHint("people see all of them with: cw conversation list")
	}
	return c, err
}

// ConversationByKey finds what an agent asked with a request key before, and
// tells whether there is one.
func (db *DB) ConversationByKey(ctx context.Context, from cw.AgentID, key string) (cw.ConversationView, bool, error) {
	var view cw.ConversationView
	var found bool
	err := db.query(ctx, "look up a request", func(g *gorm.DB) error {
		var c cw.Conversation
		var err error
		if found, err = one(g, &c, "from_agent_id = ? AND request_key = ? AND request_key <> ''", from, key); err != nil || !found {
			return err
		}
		view, err = conversationView(g, c)
		return err
	})
	return view, found, err
}

// ConversationsTo gives the questions to an agent that are not answered, oldest
// first, and tells whether the run that asks for them is over.
func (db *DB) ConversationsTo(ctx context.Context, agent cw.AgentID, run cw.RunID) (pending []cw.Conversation, over bool, err error) {
	err = db.query(ctx, "read the questions to an agent", func(g *gorm.DB) error {
		lives, err := one(g, &cw.Run{}, "id = ? AND agent_id = ? AND ended_at IS NULL", run, agent)
		over = !lives
		if err != nil || over {
			return err
		}
		pending, err = pendingTo(g, agent)
		return err
	})
	return pending, over, err
}

func pendingTo(g *gorm.DB, agent cw.AgentID) (rows []cw.Conversation, err error) {
	err = g.Where("to_agent_id = ? AND status = ?", agent, cw.ConversationPending).Order("created_at, id").Find(&rows).Error
	return rows, err
}

// WakingConversations counts the questions that an agent at rest is to be
// resumed with: each once.
func (db *DB) WakingConversations(ctx context.Context, agent cw.AgentID) (int, error) {
	var n int64
	err := db.query(ctx, "count the questions that wake an agent", func(g *gorm.DB) error {
		return g.Model(&cw.Conversation{}).Where("to_agent_id = ? AND "+waking, agent).Count(&n).Error
	})
	return int(n), err
}

// waking selects them as the index conversations_wake says it.
const waking = "status = 'pending' AND wake = 1 AND prompted_run_id = ''"

// DeliverConversation stores that the asked agent was given its question by that
// run, with conversation:delivered once for each run. false when it is pending no
// more, or not that agent's.
func (db *DB) DeliverConversation(ctx context.Context, id cw.ConversationID, agent cw.AgentID, run cw.RunID) (bool, error) {
	var given bool
	err := db.change(ctx, "deliver a question", func(t *tx) error {
		given = false
		var c cw.Conversation
		found, err := one(t.DB, &c, "id = ? AND to_agent_id = ? AND status = ?", id, agent, cw.ConversationPending)
		if err != nil || !found {
			return err
		}
		given = true
		return t.deliverConversation(c, run)
	})
	return given && err == nil, err
}

func (t *tx) deliverConversation(c cw.Conversation, run cw.RunID) error {
	if c.DeliveredRunID == run {
		return nil
	}
	c.DeliveredAt, c.DeliveredRunID = &t.now, run
	if err := t.saveConversation(&c, "delivered_at", "delivered_run_id"); err != nil {
		return err
	}
	return t.tellMoved(cw.EventConversationDelivered, c, cw.Actor{Kind: cw.ActorCW})
}

// saveConversation stores the named columns of one that is pending.
func (t *tx) saveConversation(c *cw.Conversation, columns ...string) error {
	c.UpdatedAt = t.now
	changed := t.Model(c).Where("status = ?", cw.ConversationPending).Select("updated_at", columns).Updates(c)
	return orMissing(changed, "pending conversation", string(c.ID))
}

// AnswerConversation stores the answer of an agent that was asked, with
// conversation:answered, and gives the conversation as it is then. It is answered
// once: the same answer again changes nothing. What waited for an agent of its
// task or phase is given to it when there is room now.
//
// CodeNotFound; CodeForbidden for an agent that was not asked; CodeRefused for
// one that is not pending, with what became of it.
func (db *DB) AnswerConversation(ctx context.Context, id cw.ConversationID, by cw.Actor, answer string) (cw.ConversationView, error) {
	var view cw.ConversationView
	err := db.change(ctx, "answer a question of an agent", func(t *tx) error {
		c, err := conversationByID(t.DB, id)
		if err != nil {
			return err
		}
		if c.ToAgentID != by.AgentID {
			return cw.Errorf(cw.CodeForbidden, "conversation %s asks another agent", id).WithHint("answer what cw listen gives you")
		}
		again := c.Status == cw.ConversationAnswered && c.Answer == answer
		if c.Status != cw.ConversationPending && !again && !db.guards.Off("answer-once") {
			return notPending(c)
		}
		if !again {
			if err := t.answerConversation(&c, by, answer); err != nil {
				return err
			}
		}
		view, err = conversationView(t.DB, c)
		return err
	})
	return view, err
}

func (t *tx) answerConversation(c *cw.Conversation, by cw.Actor, answer string) error {
	c.Answer, c.Status, c.AnsweredAt, c.UpdatedAt, c.Reason = answer, cw.ConversationAnswered, &t.now, t.now, ""
	err := t.Model(c).Select("answer", "status", "answered_at", "updated_at", "reason").Updates(c).Error
	if err != nil {
		return err
	}
	if err := t.tellMoved(cw.EventConversationAnswered, *c, by); err != nil {
		return err
	}
	agent, err := t.loadAgent(c.ToAgentID)
	if err != nil {
		return err
	}
	return t.assignConversations(agent)
}

// notPending says what became of a conversation.
func notPending(c cw.Conversation) error {
	if c.Status == cw.ConversationCancelled {
		return cw.Errorf(cw.CodeRefused, "conversation %s was cancelled: %s", c.ID, c.Reason).
			WithHint("nobody waits for an answer any more")
	}
	when := ""
	if c.AnsweredAt != nil {
		when = " at " + c.AnsweredAt.UTC().Format(time.RFC3339)
	}
	return cw.Errorf(cw.CodeRefused, "conversation %s was answered already%s: %.*q", c.ID, when, answerShown, c.Answer).
		WithHint("the first answer counts; to say more, ask the other agent something: cw ask")
}

// FetchConversation stores that the asking agent took what became of its
// question: its next prompt does not tell it again.
func (db *DB) FetchConversation(ctx context.Context, id cw.ConversationID) error {
	return db.change(ctx, "note that an answer was taken", func(t *tx) error {
		return t.Model(&cw.Conversation{}).Where("id = ? AND status = ? AND fetched_at IS NULL", id, cw.ConversationAnswered).
			Updates(map[string]any{"fetched_at": t.now}).Error
	})
}

// cancelConversations ends the pending conversations that the condition selects,
// with conversation:cancelled for each. What waited for the agents that were
// asked is given to them where there is room now.
func (t *tx) cancelConversations(by cw.Actor, reason, where string, args ...any) error {
	var rows []cw.Conversation
	err := t.Where("status = ?", cw.ConversationPending).Where(where, args...).Order("created_at, id").Find(&rows).Error
	if err != nil {
		return err
	}
	for _, c := range rows {
		if err := t.cancelConversation(&c, by, reason); err != nil {
			return err
		}
	}
	for _, c := range rows {
		if c.ToAgentID == "" {
			continue
		}
		asked, err := t.loadAgent(c.ToAgentID)
		if err == nil {
			err = t.assignConversations(asked)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) cancelConversation(c *cw.Conversation, by cw.Actor, reason string) error {
	c.Reason = reason
	c.Status, c.UpdatedAt = cw.ConversationCancelled, t.now
	changed := t.Model(c).Where("status = ?", cw.ConversationPending).Select("status", "reason", "updated_at").Updates(c)
	if err := orMissing(changed, "pending conversation", string(c.ID)); err != nil {
		return err
	}
	return t.tellMoved(cw.EventConversationCancelled, *c, by)
}

// cancelAsked ends what an agent is asked that nobody expects to run again: it
// crashed or was stopped. In any other status its questions wait.
func (t *tx) cancelAsked(id cw.AgentID, by cw.Actor) error {
	agent, err := t.loadAgent(id)
	if err != nil || agent.Status != cw.StatusCrashed && agent.Status != cw.StatusStopped {
		return err
	}
	reason := fmt.Sprintf("%s %s", agent.Alias, hasBecome(agent))
	return t.cancelConversations(by, reason, "to_agent_id = ?", id)
}

// hasBecome says what became of an agent that is not asked any more.
func hasBecome(a cw.Agent) string {
	is := "was stopped"
	switch {
	case a.DeletedAt != nil:
		return "was removed"
	case a.Status == cw.StatusCrashed:
		is = "crashed"
	}
	if a.Reason != "" {
		is += " (" + string(a.Reason) + ")"
	}
	return is
}

// tellMoved stores that a conversation was delivered, answered or cancelled.
func (t *tx) tellMoved(what cw.EventType, c cw.Conversation, by cw.Actor) error {
	names, err := aliasesOf(t.DB, []cw.AgentID{c.FromAgentID, c.ToAgentID})
	if err != nil {
		return err
	}
	p := cw.ConversationMoved{
		ConversationID: c.ID, From: names[c.FromAgentID], To: names[c.ToAgentID],
		FromAgentID: c.FromAgentID, ToAgentID: c.ToAgentID,
	}
	about, run := c.FromAgentID, c.FromRunID
	switch what {
	case cw.EventConversationDelivered:
		about, run = c.ToAgentID, c.DeliveredRunID
	case cw.EventConversationAnswered:
		p.Answer = beginning(c.Answer)
	case cw.EventConversationCancelled:
		p.Reason = c.Reason
	}
	return t.emit(cw.NewEvent(what, by, p).About(about, run).Of(c.ID))
}

// beginning is the part of a text that events repeat.
func beginning(text string) string {
	if r := []rune(text); len(r) > wordsShown {
		return string(r[:wordsShown-1]) + "…"
	}
	return text
}

// CountPendingConversations tells how many questions of agents to each other
// wait for an answer.
func (db *DB) CountPendingConversations(ctx context.Context) (int, error) {
	var n int64
	err := db.query(ctx, "count pending conversations", func(g *gorm.DB) error {
		return g.Model(&cw.Conversation{}).Where("status = ?", cw.ConversationPending).Count(&n).Error
	})
	return int(n), err
}
