package parsers

import (
	"encoding/json"
	"strings"

	"cw/internal/cw"
)

// The lines of `pi --mode json -p`, as far as they matter here. Seen in runs of
// @mariozechner/pi-coding-agent 0.73.1 unless a comment says that it was read
// in the program's docs/json.md or its types.

// piLine is one line. The fields of all types of lines are in one struct.
type piLine struct {
	Type string `json:"type"`
	ID   string `json:"id"` // session: the id of it, on the first line

	// Message is decoded where it matters: each message_update has the whole
	// message so far, twice.
	Message  json.RawMessage `json:"message"`
	Update   piUpdate        `json:"assistantMessageEvent"`
	Messages []piMessage     `json:"messages"` // agent_end

	ToolCallID string          `json:"toolCallId"` // tool_execution_*
	ToolName   string          `json:"toolName"`
	Args       json.RawMessage `json:"args"`
	IsError    bool            `json:"isError"`
	Result     piResult        `json:"result"` // of tool_execution_end and compaction_end

	Attempt      int     `json:"attempt"` // auto_retry_start
	MaxAttempts  int     `json:"maxAttempts"`
	DelayMS      float64 `json:"delayMs"`
	ErrorMessage string  `json:"errorMessage"` // and compaction_end
	Reason       string  `json:"reason"`       // compaction_end (read): manual, threshold, overflow
}

// piMessage is a message of the session: of the user, the assistant, a tool.
type piMessage struct {
	Role         string    `json:"role"`
	Content      []piBlock `json:"content"` // of the user it may be a string (read)
	Usage        piUsage   `json:"usage"`
	StopReason   string    `json:"stopReason"` // stop, length, toolUse, error, aborted
	ErrorMessage string    `json:"errorMessage"`
	Timestamp    int64     `json:"timestamp"` // milliseconds of the epoch
	ResponseID   string    `json:"responseId"`
}

// UnmarshalJSON lets a field of another type spoil only itself.
func (m *piMessage) UnmarshalJSON(data []byte) error {
	type plain piMessage
	return unlessWrongType(json.Unmarshal(data, (*plain)(m)))
}

// text puts the texts of the message together.
func (m piMessage) text() string {
	var parts []string
	for _, b := range m.Content {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// piBlock is one block of a message's content, or of a tool's result.
type piBlock struct {
	Type     string `json:"type"` // text, thinking, toolCall, image
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

// piUpdate is a piece of the message that the model is writing.
type piUpdate struct {
	Type  string `json:"type"` // text_start, text_delta, text_end, and so thinking and toolcall
	Delta string `json:"delta"`
}

// piResult is what a tool gave, or a compaction.
type piResult struct {
	Content      []piBlock `json:"content"`
	TokensBefore int       `json:"tokensBefore"` // compaction (read)
}

// text puts the texts together; of what is no text its kind is named.
func (r piResult) text() string {
	var parts []string
	for _, b := range r.Content {
		if b.Type != "text" {
			b.Text = "[" + b.Type + "]"
		}
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "\n")
}

// piUsage counts the tokens of one answer, those of the cache apart, and what
// they cost by the prices that pi knows.
type piUsage struct {
	Input       int `json:"input"`
	Output      int `json:"output"`
	CacheRead   int `json:"cacheRead"`
	CacheWrite  int `json:"cacheWrite"`
	TotalTokens int `json:"totalTokens"`
	Cost        struct {
		Total float64 `json:"total"` // US dollars
	} `json:"cost"`
}

func (u piUsage) usage() cw.Usage {
	return cw.Usage{
		InputTokens: u.Input, OutputTokens: u.Output,
		CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
	}
}
