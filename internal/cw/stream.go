package cw

import (
	"encoding/json"
	"time"
)

// StreamKind is the kind of a parsed piece of a CLI's output.
type StreamKind string

// The kinds of stream events.
const (
	StreamInit       StreamKind = "init"        // the session began: SessionID, Model
	StreamText       StreamKind = "text_delta"  // the model's words: Text
	StreamThinking   StreamKind = "thinking"    // the model's reasoning: Text
	StreamToolCall   StreamKind = "tool_call"   // ToolUseID, Tool, Input
	StreamToolResult StreamKind = "tool_result" // ToolUseID, Text, IsError
	StreamFileChange StreamKind = "file_change" // Path, Change
	StreamPlan       StreamKind = "plan"        // the CLI's own list of steps: Input
	StreamUsage      StreamKind = "usage"       // Usage, Context
	StreamLimit      StreamKind = "limit"       // the account is at its limit: Limit
	StreamRetry      StreamKind = "retry"       // a transient error, tried again: Attempt, Delay, Text
	StreamWarning    StreamKind = "warning"     // Text
	StreamError      StreamKind = "error"       // Text, Bucket
	StreamCompaction StreamKind = "compaction"  // the CLI shortened its context
	StreamResult     StreamKind = "result"      // the CLI's own word on its end: Text, IsError, CostUSD, Usage, Turns
)

// Buckets of errors.
const (
	BucketTool      = "tool"      // a tool of the agent
	BucketTransient = "transient" // overload, network: later is better
	BucketLimit     = "limit"     // the account's usage limit
	BucketAuth      = "auth"      // the credentials
	BucketAbort     = "abort"     // it was interrupted
)

// StreamEvent is one parsed piece of a CLI's output. Only the fields of its
// kind are set. Events are never stored: they are parsed from chunks whenever
// they are shown.
type StreamEvent struct {
	Kind             StreamKind      `json:"kind"`
	SessionID        string          `json:"sessionId,omitempty"`
	Model            string          `json:"model,omitempty"`
	Text             string          `json:"text,omitempty"`
	ToolUseID        string          `json:"toolUseId,omitempty"`
	ParentToolUseID  string          `json:"parentToolUseId,omitempty"`
	Tool             string          `json:"tool,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	IsError          bool            `json:"isError,omitempty"`
	PermissionDenied bool            `json:"permissionDenied,omitempty"`
	Path             string          `json:"path,omitempty"`
	Change           string          `json:"change,omitempty"` // add, modify, delete
	Usage            *Usage          `json:"usage,omitempty"`
	Context          *ContextUse     `json:"context,omitempty"`
	Limit            *Limit          `json:"limit,omitempty"`
	Attempt          int             `json:"attempt,omitempty"`
	Delay            time.Duration   `json:"delayNs,omitempty"`
	Bucket           string          `json:"bucket,omitempty"`
	CostUSD          float64         `json:"costUsd,omitempty"`
	Turns            int             `json:"turns,omitempty"`
}

// ContextUse is how full the model's context is.
type ContextUse struct {
	Tokens int `json:"tokens"`
	Limit  int `json:"limit,omitempty"`
}

// Limit is a usage limit of an account.
type Limit struct {
	Until *time.Time `json:"until,omitempty"` // nil when the CLI does not tell
	Kind  string     `json:"kind,omitempty"`  // five_hour, seven_day, quota …
	Text  string     `json:"text,omitempty"`  // as the CLI said it
	// Warning is true when the account is near its limit and still works.
	Warning bool `json:"warning,omitempty"`
}
