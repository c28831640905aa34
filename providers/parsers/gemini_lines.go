package parsers

import (
	"encoding/json"

	"cw/internal/cw"
)

// The lines of `gemini -o stream-json`, as far as they matter here. Seen in runs
// of 0.61.0 unless a comment says that it was read in the program.

// geminiLine is one line.
type geminiLine struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"` // RFC 3339

	SessionID string `json:"session_id"` // init
	Model     string `json:"model"`      // init: as it was asked for, "auto" too

	Role    string `json:"role"`    // message: user, assistant
	Content string `json:"content"` // message: a piece of the assistant's words, or the whole prompt

	ToolName   string          `json:"tool_name"` // tool_use
	ToolID     string          `json:"tool_id"`   // tool_use, tool_result
	Parameters json.RawMessage `json:"parameters"`
	Output     string          `json:"output"` // tool_result; missing when it is no text

	// Status is success or error. A tool call that was cancelled counts as success (read).
	Status string      `json:"status"` // tool_result, result
	Error  geminiError `json:"error"`  // tool_result, result; missing with some bad ends (read)
	Stats  geminiStats `json:"stats"`  // result

	Severity string `json:"severity"` // error (read): warning, error
	Message  string `json:"message"`  // error (read)
}

// geminiError is an error. Its type is the name of a class of the program, or
// "unknown".
type geminiError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// geminiStats counts this process, all models together; earlier runs of the
// session are not in it. input_tokens includes the cached ones, input does not.
// Thoughts are only in the total (read).
type geminiStats struct {
	Total  int `json:"total_tokens"`
	Prompt int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Cached int `json:"cached"`
	Input  int `json:"input"`
}

func (s geminiStats) usage() *cw.Usage {
	thoughts := max(0, s.Total-s.Prompt-s.Output)
	return &cw.Usage{
		InputTokens: s.Input, CacheReadTokens: s.Cached,
		OutputTokens: s.Output + thoughts, ReasoningTokens: thoughts,
	}
}
