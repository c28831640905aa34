package cw

import "time"

// Limits of questions.
const (
	QuestionTextMax   = 16 << 10 // bytes of one question
	QuestionHeaderMax = 12       // characters of the chip
)

// QuestionStatus is where a question stands.
type QuestionStatus string

// The statuses of a question.
const (
	QuestionOpen      QuestionStatus = "open"
	QuestionAnswered  QuestionStatus = "answered"
	QuestionWithdrawn QuestionStatus = "withdrawn" // its agent was removed
)

// Question is one question of an agent to people. Questions asked at once form
// a group; the agent goes on when its group is closed.
type Question struct {
	ID          QuestionID       `json:"id" gorm:"primaryKey"`
	AgentID     AgentID          `json:"agentId"`
	RunID       RunID            `json:"runId"`
	RequestID   RequestID        `json:"requestId"`
	Seq         int              `json:"seq"`    // within the group, from 1
	Key         string           `json:"key"`    // the id the agent gave it, or its number
	Source      string           `json:"source"` // signal or tool
	ToolUseID   string           `json:"toolUseId,omitempty"`
	Header      string           `json:"header,omitempty"`
	Text        string           `json:"question"`
	Options     []QuestionOption `json:"options" gorm:"serializer:json;column:options_json"`
	MultiSelect bool             `json:"multiSelect"`
	Status      QuestionStatus   `json:"status"`
	Answer      string           `json:"answer,omitempty" gorm:"column:answer_json"`
	AnsweredBy  string           `json:"answeredBy,omitempty"`
	AnsweredAt  *time.Time       `json:"answeredAt,omitempty"`
	CreatedAt   time.Time        `json:"createdAt"`
}

// QuestionOption is one offered answer. Free text is always possible beside it.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}
