package parsers

import (
	"encoding/json"
	"strings"

	"cw/internal/cw"
)

// The lines of `codex exec --json`, as far as they matter here. Seen in runs of
// 0.169.0 unless a comment says otherwise; a field of another type than the one
// written here makes its line count as unknown and leaves the rest of it
// readable.

// codexLine is one line.
type codexLine struct {
	Type     string      `json:"type"`
	ThreadID string      `json:"thread_id"` // thread.started
	Message  string      `json:"message"`   // error
	Error    codexError  `json:"error"`     // turn.failed
	Usage    *codexUsage `json:"usage"`     // turn.completed
	Item     codexItem   `json:"item"`      // item.started, item.updated, item.completed
}

// codexError is an error, or null.
type codexError struct {
	Message string `json:"message"`
}

// codexUsage counts the whole thread so far, earlier runs included: after a
// resume 27971 input tokens became 56609. input_tokens includes those read from
// the cache, as everywhere in that API (in all runs seen the latter were 0).
type codexUsage struct {
	InputTokens           int `json:"input_tokens"`
	CachedInputTokens     int `json:"cached_input_tokens"`
	CacheWriteInputTokens int `json:"cache_write_input_tokens"`
	OutputTokens          int `json:"output_tokens"`
	ReasoningOutputTokens int `json:"reasoning_output_tokens"`
}

func (u codexUsage) usage() *cw.Usage {
	return &cw.Usage{
		InputTokens: max(0, u.InputTokens-u.CachedInputTokens), OutputTokens: u.OutputTokens,
		CacheReadTokens: u.CachedInputTokens, CacheWriteTokens: u.CacheWriteInputTokens,
		ReasoningTokens: u.ReasoningOutputTokens,
	}
}

// codexItem is a step of a turn. The fields of all types of items are in one
// struct, so that a line is decoded once. Ids begin anew with item_0 in each run.
type codexItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Status string `json:"status"` // in_progress, completed, failed, declined

	Text    string `json:"text"`    // agent_message, reasoning
	Message string `json:"message"` // error

	Command  string `json:"command"` // command_execution
	Output   string `json:"aggregated_output"`
	ExitCode *int   `json:"exit_code"` // null while it runs

	Server    string          `json:"server"` // mcp_tool_call
	Tool      string          `json:"tool"`   // and collab_tool_call
	Arguments json.RawMessage `json:"arguments"`
	Result    codexToolResult `json:"result"` // null while it runs, and when it failed
	Error     codexError      `json:"error"`
	Prompt    string          `json:"prompt"` // collab_tool_call

	Changes []codexChange   `json:"changes"` // file_change
	Query   string          `json:"query"`   // web_search
	Items   json.RawMessage `json:"items"`   // todo_list
}

// codexChange is a file that a patch touches.
type codexChange struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // add, delete, update
}

// codexToolResult is what an MCP tool gave.
type codexToolResult struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

// text puts the texts together; of what is no text its kind is named.
func (r codexToolResult) text() string {
	var parts []string
	for _, c := range r.Content {
		if c.Type != "text" {
			c.Text = "[" + c.Type + "]"
		}
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "\n")
}
