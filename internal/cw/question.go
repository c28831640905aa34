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
	ID          QuestionID       `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	AgentID     AgentID          `json:"agentId" doc:"the agent that asks"`
	RunID       RunID            `json:"runId" doc:"the run that asked"`
	RequestID   RequestID        `json:"requestId" doc:"the group of questions asked at once"`
	Seq         int              `json:"seq" doc:"place in the group, from 1"`
	Key         string           `json:"key" doc:"the id that the agent gave it, or its number"`
	Source      string           `json:"source" doc:"how it was asked: signal or tool"`
	ToolUseID   string           `json:"toolUseId,omitempty" doc:"the call that waits for it"`
	Header      string           `json:"header,omitempty" doc:"a word or two, for a chip"`
	Text        string           `json:"question" doc:"the question"`
	Options     []QuestionOption `json:"options" gorm:"serializer:json;column:options_json" doc:"offered answers; free text is always possible"`
	MultiSelect bool             `json:"multiSelect" doc:"several options may be chosen"`
	Status      QuestionStatus   `json:"status" doc:"where it stands"`
	Answer      string           `json:"answer,omitempty" gorm:"column:answer_json" doc:"the answer"`
	AnsweredBy  string           `json:"answeredBy,omitempty" doc:"who answered"`
	AnsweredAt  *time.Time       `json:"answeredAt,omitempty" doc:"when it was answered"`
	CreatedAt   time.Time        `json:"createdAt" doc:"when it was asked"`
}

// QuestionOption is one offered answer. Free text is always possible beside it.
type QuestionOption struct {
	Label       string `json:"label" doc:"the answer"`
	Description string `json:"description,omitempty" doc:"what it means"`
}
