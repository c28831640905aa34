package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// undelivered selects texts to agents that no run has got yet. It is written as
// the index messages_undelivered says it.
const undelivered = "delivered_at IS NULL AND role = 'user' AND hidden_at IS NULL"

// addMessage stores a message of a run with the agent's next number. No two
// messages of an agent have the same time, so that their order by time is their
// order by number.
func (t *tx) addMessage(agent cw.AgentID, run cw.RunID, m cw.Message) (cw.Message, error) {
	m.AgentID, m.RunID = agent, run
	m.ID = cmp.Or(m.ID, cw.MessageID(cw.NewID()))
	if m.CreatedAt.IsZero() {
		m.CreatedAt = t.now
	}
	var last cw.Message
	if err := t.Where("agent_id = ?", agent).Order("seq DESC").Limit(1).Find(&last).Error; err != nil {
		return m, err
	}
	m.Seq = last.Seq + 1
	if !m.CreatedAt.After(last.CreatedAt) {
		m.CreatedAt = last.CreatedAt.Add(time.Nanosecond)
	}
	if err := t.Create(&m).Error; err != nil {
		return m, fmt.Errorf("store message: %w", err)
	}
	return m, nil
}

// carryMessages puts every text that was not delivered yet into a run, also what
// a run that never started was to say, and the new ones behind them. It gives
// the text that the run was started for: the first new one, else the first.
func (t *tx) carryMessages(agent cw.AgentID, run cw.RunID, more []cw.Message) (cw.MessageID, error) {
	var first cw.Message
	if _, err := one(t.Order("seq"), &first, "agent_id = ? AND "+undelivered, agent); err != nil {
		return "", err
	}
	carried := t.Model(&cw.Message{}).Where("agent_id = ? AND "+undelivered, agent).Updates(map[string]any{"run_id": run})
	if carried.Error != nil {
		return "", carried.Error
	}
	reason := first.ID
	for i, m := range more {
		m.Role = cmp.Or(m.Role, cw.RoleUser)
		stored, err := t.addMessage(agent, run, m)
		if err != nil {
			return "", err
		}
		if i == 0 {
			reason = stored.ID
		}
	}
	return reason, nil
}

// deliver marks what a run has in its prompt as delivered.
func (t *tx) deliver(run cw.RunID, at time.Time) error {
	return t.Model(&cw.Message{}).Where("run_id = ? AND "+undelivered, run).Updates(map[string]any{"delivered_at": at}).Error
}

// hideQueued hides what waits for a run of an agent; showQueued shows again what
// was hidden at that time.
func (t *tx) hideQueued(agent cw.AgentID, at time.Time) error {
	return t.Model(&cw.Message{}).Where("agent_id = ? AND "+undelivered, agent).Updates(map[string]any{"hidden_at": at}).Error
}

func (t *tx) showQueued(agent cw.AgentID, at time.Time) error {
	return t.Model(&cw.Message{}).Where("agent_id = ? AND delivered_at IS NULL AND hidden_at = ?", agent, at).
		Updates(map[string]any{"hidden_at": nil}).Error
}

// RunMessages gives the texts of a run's prompt, in order.
func (db *DB) RunMessages(ctx context.Context, run cw.RunID) ([]cw.Message, error) {
	messages := []cw.Message{}
	err := db.query(ctx, "read the texts of a run", func(g *gorm.DB) error {
		return g.Where("run_id = ? AND role = ?", run, cw.RoleUser).Order("seq").Find(&messages).Error
	})
	return messages, err
}

// QueueMessage stores a text that waits for the agent's next run, and gives it
// as it is stored. CodeNotFound; CodeRefused for an agent that is removed.
func (db *DB) QueueMessage(ctx context.Context, m cw.Message, e cw.Event) (cw.Message, error) {
	err := db.change(ctx, "queue message", func(t *tx) error {
		agent, err := t.loadAgent(m.AgentID)
		if err != nil {
			return err
		}
		if agent.DeletedAt != nil {
			return refusedRemoved(agent)
		}
		m.Role, m.DeliveredAt = cmp.Or(m.Role, cw.RoleUser), nil
		if m.QueuedAt == nil {
			m.QueuedAt = &t.now
		}
		if m, err = t.addMessage(agent.ID, "", m); err != nil {
			return err
		}
		return t.emit(e)
	})
	if err != nil {
		return cw.Message{}, err
	}
	return m, nil
}

// MessagePage lists the texts of an agent, hidden ones too. CodeInvalid as
// cw.List.Start.
func (db *DB) MessagePage(ctx context.Context, agent cw.AgentID, q cw.PageQuery) (cw.Page[cw.Message], error) {
	start, err := cw.MessageList().Start(q, string(agent))
	if err != nil {
		return cw.Page[cw.Message]{}, err
	}
	var page cw.Page[cw.Message]
	err = db.query(ctx, "list messages", func(g *gorm.DB) (err error) {
		page, err = pageOf[cw.Message](g.Where("agent_id = ?", agent), start, "created_at")
		return err
	})
	return page, err
}

// queuedOf counts the texts that wait for a run, for each of several agents.
func queuedOf(g *gorm.DB, agents []cw.AgentID) (map[cw.AgentID]int, error) {
	var rows []struct {
		AgentID cw.AgentID
		Count   int
	}
	err := g.Raw("SELECT agent_id, COUNT(*) AS count FROM messages WHERE run_id = '' AND "+undelivered+
		" AND agent_id IN (SELECT value FROM json_each(?)) GROUP BY agent_id", list(agents)).Scan(&rows).Error
	out := make(map[cw.AgentID]int, len(rows))
	for _, r := range rows {
		out[r.AgentID] = r.Count
	}
	return out, err
}
