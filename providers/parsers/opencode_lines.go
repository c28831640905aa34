package parsers

import (
	"cmp"
	"encoding/json"

	"cw/internal/cw"
)

// The lines of `opencode run --format json`, as far as they matter here. Seen in
// runs of 1.18.33 unless a comment says that it was read in the program.

// opencodeLine is one line.
type opencodeLine struct {
	Type      string        `json:"type"`
	Timestamp int64         `json:"timestamp"` // milliseconds of the epoch
	SessionID string        `json:"sessionID"` // on every line
	Part      opencodePart  `json:"part"`      // every type but error
	Error     opencodeError `json:"error"`     // error
}

// opencodePart is a part of a message. It comes whole when it is finished; a tool's
// comes again, with the same id, when its output is dropped from the context later
// (read).
type opencodePart struct {
	ID   string `json:"id"`
	Text string `json:"text"` // text, reasoning

	Tool   string        `json:"tool"` // tool_use
	CallID string        `json:"callID"`
	State  opencodeState `json:"state"`

	Reason string          `json:"reason"` // step_finish: stop, tool-calls; length, content-filter, error, other, unknown (read)
	Cost   float64         `json:"cost"`   // of this step, US dollars by opencode's own prices
	Tokens *opencodeTokens `json:"tokens"` // of this step
}

// opencodeState is how a tool call ended.
type opencodeState struct {
	Status   string          `json:"status"` // completed, error
	Input    json.RawMessage `json:"input"`
	Output   string          `json:"output"`   // completed
	Error    string          `json:"error"`    // error (read)
	Metadata json.RawMessage `json:"metadata"` // each tool has its own
}

// opencodeTokens counts one step. input is without the cache, output without
// the reasoning (read).
type opencodeTokens struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Reasoning int `json:"reasoning"`
	Cache     struct {
		Read  int `json:"read"`
		Write int `json:"write"`
	} `json:"cache"`
}

func (t opencodeTokens) usage() *cw.Usage {
	return &cw.Usage{
		InputTokens: t.Input, OutputTokens: t.Output + t.Reasoning, ReasoningTokens: t.Reasoning,
		CacheReadTokens: t.Cache.Read, CacheWriteTokens: t.Cache.Write,
	}
}

// context is how much of the model's context the step filled.
func (t opencodeTokens) context() *cw.ContextUse {
	return &cw.ContextUse{Tokens: t.Input + t.Output + t.Reasoning + t.Cache.Read + t.Cache.Write}
}

// opencodeError is an error of the session. Seen are APIError and UnknownError.
type opencodeError struct {
	Name string `json:"name"`
	Data struct {
		Message    string            `json:"message"`
		StatusCode int               `json:"statusCode"` // APIError
		Retryable  bool              `json:"isRetryable"`
		Headers    map[string]string `json:"responseHeaders"`
		Body       string            `json:"responseBody"`
	} `json:"data"`
}

func (e opencodeError) text() string {
	return cmp.Or(e.Data.Message, e.Name, "an error without words")
}

// opencodeChanges are the files that a tool call changed. All of it was read: a
// path and whether it was there (write), a difference (edit), or a list
// (apply_patch).
type opencodeChanges struct {
	FilePath string `json:"filepath"`
	Exists   *bool  `json:"exists"`
	FileDiff struct {
		File string `json:"file"`
	} `json:"filediff"`
	Files []struct {
		FilePath string `json:"filePath"`
		Type     string `json:"type"` // add, update, delete, move
		MovePath string `json:"movePath"`
	} `json:"files"`
}
