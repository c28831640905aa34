package store

import (
	"cmp"
	"context"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// QueueAgentMessage stores a text of an agent for another one, m.SenderAgentID
// and m.AgentID, which waits for the latter's next run, and gives it as it is
// stored. again: an earlier one of the sender has the same request key, and is
// given instead.
//
// CodeNotFound; CodeRefused for an agent that crashed, was stopped or removed, and
// when too many texts wait for it already.
func (db *DB) QueueAgentMessage(ctx context.Context, m cw.Message, e cw.Event) (stored cw.Message, again bool, err error) {
	err = db.change(ctx, "queue a message of an agent", func(t *tx) error {
		stored, again = cw.Message{}, false
		if again, err = t.sameMessage(m, &stored); again || err != nil {
			return err
		}
		to, err := t.loadAgent(m.AgentID)
		if err != nil {
			return err
		}
		if err := cw.MayMessage(to); err != nil {
			return err
		}
		if err := t.roomInMailbox(to, len(m.Body)); err != nil && !db.guards.Off("mailbox") {
			return err
		}
		m.Role, m.Origin, m.DeliveredAt = cw.RoleUser, cw.OriginAgent, nil
		if stored, err = t.addMessage(to.ID, "", m); err != nil {
			return err
		}
		return t.emit(e)
	})
	if err != nil {
		return cw.Message{}, false, err
	}
	return stored, again, nil
}

func (t *tx) sameMessage(m cw.Message, same *cw.Message) (bool, error) {
	if m.RequestKey == "" {
		return false, nil
	}
	return one(t.DB, same, "sender_agent_id = ? AND request_key = ?", m.SenderAgentID, m.RequestKey)
}

// roomInMailbox refuses a text to an agent for which too much waits already.
func (t *tx) roomInMailbox(to cw.Agent, more int) error {
	var waits struct{ Count, Bytes int }
	err := t.Raw("SELECT COUNT(*) AS count, COALESCE(SUM(LENGTH(CAST(body AS BLOB))), 0) AS bytes FROM messages WHERE agent_id = ? AND "+
		undelivered, to.ID).Scan(&waits).Error
	if err != nil {
		return err
	}
	if waits.Count < cw.MailboxMax && waits.Bytes+more <= cw.MailboxBytes {
		return nil
	}
	return cw.Errorf(cw.CodeRefused, "%d texts of %d bytes wait for agent %s already", waits.Count, waits.Bytes, to.Alias).
		WithHint("try again when it has had its next run")
}

// MessageByID gives one text of any agent. CodeNotFound.
func (db *DB) MessageByID(ctx context.Context, id cw.MessageID) (cw.Message, error) {
	var m cw.Message
	err := db.query(ctx, "read message", func(g *gorm.DB) error {
		found, err := one(g, &m, "id = ?", id)
		if err == nil && !found {
			err = cw.Errorf(cw.CodeNotFound, "there is no message %.100q", string(id))
		}
		return err
	})
	return m, err
}

// MessageByKey finds the text that a sender's request with this key made, and
// tells whether there is one.
func (db *DB) MessageByKey(ctx context.Context, sender cw.AgentID, key string) (m cw.Message, found bool, err error) {
	err = db.query(ctx, "look up a message", func(g *gorm.DB) error {
		found, err = one(g, &m, "sender_agent_id = ? AND request_key = ?", sender, cmp.Or(key, "-"))
		return err
	})
	return m, found, err
}

// FinalWord gives the final text of a run; "" when it has none.
func (db *DB) FinalWord(ctx context.Context, run cw.RunID) (string, error) {
	var m cw.Message
	err := db.query(ctx, "read the final word of a run", func(g *gorm.DB) error {
		_, err := one(g.Order("seq DESC"), &m, "run_id = ? AND role = ?", run, cw.RoleAssistant)
		return err
	})
	return m.Body, err
}

// PeerByRef finds an agent that another one may see, by alias or id, removed
// ones too. CodeNotFound, also for one that it may not see: nothing is learned
// of those.
func (db *DB) PeerByRef(ctx context.Context, caller cw.AgentID, ref string) (cw.Agent, error) {
	var agent cw.Agent
	err := db.query(ctx, "find a peer", func(g *gorm.DB) error {
		found, err := one(seenBy(g, caller), &agent, "(alias = ? OR id = ?)", ref, ref)
		if err == nil && !found {
			err = cw.Errorf(cw.CodeNotFound, "there is no agent %.100q that you may see", ref).
				WithHint("you see the agents of your initiative; without one, those of your projects")
		}
		return err
	})
	return agent, err
}

// LatestPeer finds the agent of a definition that was updated last, of those
// that another one may see, without that one itself and those that are removed,
// and tells whether there is one.
func (db *DB) LatestPeer(ctx context.Context, caller cw.AgentID, definition string) (agent cw.Agent, found bool, err error) {
	err = db.query(ctx, "find the latest peer", func(g *gorm.DB) error {
		found, err = one(seenBy(g, caller).Order("updated_at DESC, id DESC"), &agent,
			"definition = ? AND deleted_at IS NULL AND id <> ?", definition, caller)
		return err
	})
	return agent, found, err
}

// seenBy selects the agents that an agent may see, as cw.Agent.Sees says it.
func seenBy(g *gorm.DB, caller cw.AgentID) *gorm.DB {
	return g.Where(`(agents.id = @caller OR EXISTS (
		SELECT 1 FROM agents me WHERE me.id = @caller AND me.initiative_id = agents.initiative_id
			AND (me.initiative_id <> '' OR EXISTS (
				SELECT 1 FROM agent_worktrees mine JOIN agent_worktrees its ON its.project_id = mine.project_id
				WHERE mine.agent_id = me.id AND its.agent_id = agents.id))))`, map[string]any{"caller": caller})
}
