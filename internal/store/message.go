package store

import (
	"cmp"
	"context"
	"fmt"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// addMessage stores a message of a run with the agent's next number.
func (t *tx) addMessage(agent cw.AgentID, run cw.RunID, m cw.Message) (cw.MessageID, error) {
	m.AgentID, m.RunID = agent, run
	m.ID = cmp.Or(m.ID, cw.MessageID(cw.NewID()))
	err := t.Raw("SELECT COALESCE(MAX(seq), 0) + 1 FROM messages WHERE agent_id = ?", agent).Scan(&m.Seq).Error
	if err != nil {
		return "", err
	}
	if err := t.Create(&m).Error; err != nil {
		return "", fmt.Errorf("store message: %w", err)
	}
	return m.ID, nil
}

// Messages gives the messages of an agent in order, hidden ones too.
func (db *DB) Messages(ctx context.Context, agent cw.AgentID) ([]cw.Message, error) {
	messages := []cw.Message{}
	err := db.query(ctx, "read messages", func(g *gorm.DB) error {
		return g.Where("agent_id = ?", agent).Order("seq").Find(&messages).Error
	})
	return messages, err
}
