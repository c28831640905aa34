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
	StreamPlan       StreamKind = "plan"        // the CLI's own list of steps: Input, Steps
	StreamUsage      StreamKind = "usage"       // Usage, Model, Context
	StreamLimit      StreamKind = "limit"       // the account is at its limit: Limit
	StreamRetry      StreamKind = "retry"       // a transient error, tried again: Attempt, Delay, Text
	StreamWarning    StreamKind = "warning"     // Text
	StreamError      StreamKind = "error"       // Text, Bucket
	StreamCompaction StreamKind = "compaction"  // the CLI shortened its context
	StreamResult     StreamKind = "result"      // the CLI's own word on its end: Text, IsError, CostUSD, Usage, Turns

	// These two tell of a task that outlives the tool call that began it: ToolUseID
	// is its own id. They are for whoever follows a run, and shown to nobody.
	StreamTaskBegan StreamKind = "task_began" // ToolUseID, Tool
	StreamTaskEnded StreamKind = "task_ended" // ToolUseID
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
	Kind             StreamKind      `json:"kind" doc:"what the line means; decides which of the other fields are there"`
	SessionID        string          `json:"sessionId,omitempty" doc:"init: the CLI's own id of the session"`
	Model            string          `json:"model,omitempty" doc:"init, usage: the model"`
	Text             string          `json:"text,omitempty" doc:"words of the model, a result or an error"`
	ToolUseID        string          `json:"toolUseId,omitempty" doc:"tool_call, tool_result: pairs the two"`
	ParentToolUseID  string          `json:"parentToolUseId,omitempty" doc:"the call that a sub-agent belongs to"`
	Tool             string          `json:"tool,omitempty" doc:"tool_call: the tool"`
	Input            json.RawMessage `json:"input,omitempty" doc:"tool_call, plan: as the CLI wrote it"`
	Steps            []PlanStep      `json:"steps,omitempty" doc:"plan: the whole list as its steps are now; missing where the line does not tell it"`
	IsError          bool            `json:"isError,omitempty" doc:"tool_result, result: it failed"`
	PermissionDenied bool            `json:"permissionDenied,omitempty" doc:"tool_result: the CLI refused the call"`
	Path             string          `json:"path,omitempty" doc:"file_change: the file"`
	Change           string          `json:"change,omitempty" doc:"file_change: add, modify or delete"`
	Usage            *Usage          `json:"usage,omitempty" doc:"usage, result: tokens"`
	Context          *ContextUse     `json:"context,omitempty" doc:"usage: how full the context is"`
	Limit            *Limit          `json:"limit,omitempty" doc:"limit: the account's usage limit"`
	Attempt          int             `json:"attempt,omitempty" doc:"retry: which attempt comes next"`
	Delay            time.Duration   `json:"delayNs,omitempty" doc:"retry: the wait before it, in nanoseconds"`
	Bucket           string          `json:"bucket,omitempty" doc:"error: tool, transient, limit, auth or abort"`
	CostUSD          float64         `json:"costUsd,omitempty" doc:"result: cost in US dollars"`
	Turns            int             `json:"turns,omitempty" doc:"result: turns of the model"`

	// Models is the Usage of a result by model, where the CLI tells it.
	Models []ModelUsage `json:"-"`
}

// ContextUse is how full the model's context is.
type ContextUse struct {
	Tokens int `json:"tokens" doc:"tokens in the context"`
	Limit  int `json:"limit,omitempty" doc:"tokens that fit"`
}

// Limit is a usage limit of an account.
type Limit struct {
	Until *time.Time `json:"until,omitempty" doc:"when it ends; missing when the CLI does not tell"`
	Kind  string     `json:"kind,omitempty" doc:"five_hour, seven_day, quota and others"`
	Text  string     `json:"text,omitempty" doc:"as the CLI said it"`
	// UsedPercent is how much of the window is used, where the CLI tells it.
	UsedPercent float64 `json:"usedPercent,omitempty" doc:"how much of the window is used, 0 to 100; missing when the CLI does not tell"`
	// Warning is true when the account is near its limit and still works.
	Warning bool `json:"warning,omitempty" doc:"only near: the account still works"`
}
