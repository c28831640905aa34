package cw

import "time"

// Role says whose words a message holds.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
)

// Message is a text that went to an agent, or its final word of a run. It may
// be hidden, never deleted.
type Message struct {
	ID            MessageID  `json:"id" gorm:"primaryKey"`
	AgentID       AgentID    `json:"agentId"`
	RunID         RunID      `json:"runId"`
	Seq           int        `json:"seq"` // per agent, from 1
	Role          Role       `json:"role"`
	Origin        string     `json:"origin"` // person, agent, trigger, cw
	Actor         string     `json:"actor,omitempty"`
	SenderAgentID AgentID    `json:"senderAgentId,omitempty"`
	Definition    string     `json:"definition,omitempty"`
	Body          string     `json:"body"`
	PartsJSON     string     `json:"-"`
	MetadataJSON  string     `json:"-"`
	ReplyTo       MessageID  `json:"replyTo,omitempty"`
	QueuedAt      *time.Time `json:"queuedAt,omitempty"`
	DeliveredAt   *time.Time `json:"deliveredAt,omitempty"`
	HiddenAt      *time.Time `json:"hiddenAt,omitempty"`
	CreatedAt     time.Time  `json:"createdAt"`
}
