package parsers

import (
	"cmp"
	"encoding/json"
	"strings"

	"cw/internal/cw"
)

// The lines of `cline --json`, as far as they matter here. Seen in runs of 3.0.65
// unless a comment says that it was read in the types of its packages.

// clineLine is one line.
type clineLine struct {
	TS    string     `json:"ts"` // RFC 3339
	Type  string     `json:"type"`
	Event clineEvent `json:"event"` // agent_event

	ModelID string `json:"modelId"` // run_start: seen in one run alone

	// run_result: the last line
	FinishReason   string      `json:"finishReason"` // completed, error; aborted, mistake_limit, max_iterations (read)
	Iterations     int         `json:"iterations"`
	Usage          clineTokens `json:"usage"`
	AggregateUsage clineTokens `json:"aggregateUsage"` // with the agents that this one started
	Text           string      `json:"text"`
	Model          struct {
		ID string `json:"id"`
	} `json:"model"`

	Message string `json:"message"` // error: seen on stderr alone
}

// clineTokens counts a run. inputTokens includes the cached ones (read: the
// program takes them off for its own price).
type clineTokens struct {
	Input      int     `json:"inputTokens"`
	Output     int     `json:"outputTokens"`
	CacheRead  int     `json:"cacheReadTokens"`
	CacheWrite int     `json:"cacheWriteTokens"`
	TotalCost  float64 `json:"totalCost"` // US dollars by cline's own prices
}

func (t clineTokens) usage() *cw.Usage {
	return &cw.Usage{
		InputTokens: max(0, t.Input-t.CacheRead-t.CacheWrite), OutputTokens: t.Output,
		CacheReadTokens: t.CacheRead, CacheWriteTokens: t.CacheWrite,
	}
}

// clineEvent is an event of an agent. The fields of all types are in one struct,
// so that a line is decoded once.
type clineEvent struct {
	Type          string `json:"type"`
	AgentID       string `json:"agentId"`       // read; never seen
	ParentAgentID string `json:"parentAgentId"` // the same: of an agent that another one started

	ContentType string          `json:"contentType"` // content_*: text, tool; reasoning, media (read)
	Text        string          `json:"text"`        // a piece at content_start, all of it at content_end
	Reasoning   string          `json:"reasoning"`   // the same of reasoning (read)
	ToolName    string          `json:"toolName"`
	ToolCallID  string          `json:"toolCallId"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output"`

	// Error is a text at content_end, and an object in an error.
	Error       json.RawMessage `json:"error"`
	ErrorClass  string          `json:"errorClass"` // auth, unknown; context_window_exceeded (read)
	Recoverable bool            `json:"recoverable"`

	clineTokens           // usage: of one answer
	TotalInputTokens  int `json:"totalInputTokens"` // of all so far
	TotalOutputTokens int `json:"totalOutputTokens"`

	NoticeType string `json:"noticeType"` // notice (read): recovery, stop, status
	Reason     string `json:"reason"`     // notice: api_error, auto_compaction and others
	Message    string `json:"message"`    // notice
}

// words gives the piece or the whole that a content line has.
func (e clineEvent) words() string {
	if e.ContentType == "reasoning" {
		return e.Reasoning
	}
	return e.Text
}

// failure gives the words of an error.
func (e clineEvent) failure() string {
	var object struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(e.Error, &object) // a text has no message
	var text string
	_ = json.Unmarshal(e.Error, &text)
	return cmp.Or(object.Message, text, "an error without words")
}

// result gives what a tool said, and whether that is an error: a text, a list of
// what several commands gave, what an MCP server gave, or an error.
func (e clineEvent) result() (text string, isError bool) {
	isError = len(e.Error) > 0 && string(e.Error) != "null"
	if json.Unmarshal(e.Output, &text) == nil && text != "" {
		return text, isError
	}
	var list []struct {
		Result  json.RawMessage `json:"result"`
		Error   string          `json:"error"`
		Success *bool           `json:"success"`
	}
	if json.Unmarshal(e.Output, &list) == nil && len(list) > 0 {
		var parts []string
		for _, r := range list {
			parts = append(parts, cmp.Or(r.Error, plainText(r.Result)))
			isError = isError || r.Success != nil && !*r.Success
		}
		return strings.Join(parts, "\n"), isError
	}
	var object struct {
		codexToolResult
		Error string `json:"error"`
	}
	if json.Unmarshal(e.Output, &object) == nil && (object.Error != "" || len(object.Content) > 0) {
		return cmp.Or(object.Error, object.text()), isError
	}
	if isError {
		return e.failure(), true
	}
	return plainText(e.Output), false
}

// plainText gives a JSON text as it reads, and everything else as it stands.
func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text // null is ""
	}
	return string(raw)
}
