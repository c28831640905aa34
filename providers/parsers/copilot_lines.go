package parsers

import (
	"encoding/json"

	"cw/internal/cw"
)

// The lines of `copilot --output-format json`, as far as they matter here. Seen
// in runs of 1.0.102 against an API of one's own, without a login at GitHub,
// unless a comment says that it was read in the types that GitHub publishes of
// the CLI's events (github/copilot-sdk).

// copilotLine is one line.
type copilotLine struct {
	Type      string      `json:"type"`
	Timestamp string      `json:"timestamp"` // RFC 3339
	Data      copilotData `json:"data"`      // every type but result

	// result: the last line, with the only word on the session that a run is sure to give
	SessionID string `json:"sessionId"`
	ExitCode  int    `json:"exitCode"`
	Usage     struct {
		CodeChanges struct {
			FilesModified []string `json:"filesModified"` // seen empty
		} `json:"codeChanges"`
	} `json:"usage"`
}

// copilotData is what an event says. The fields of all types are in one struct,
// so that a line is decoded once.
type copilotData struct {
	Model            string `json:"model"`
	SessionID        string `json:"sessionId"`        // session.start, session.resume (read)
	ParentToolCallID string `json:"parentToolCallId"` // the call that a sub-agent belongs to (read)

	MessageID    string `json:"messageId"`    // assistant.message, assistant.message_delta
	Content      string `json:"content"`      // assistant.message; assistant.reasoning (read)
	DeltaContent string `json:"deltaContent"` // assistant.message_delta; assistant.reasoning_delta (read)
	ReasoningID  string `json:"reasoningId"`  // assistant.reasoning (read)

	ToolCallID string           `json:"toolCallId"`
	ToolName   string           `json:"toolName"`
	Arguments  json.RawMessage  `json:"arguments"`
	Success    bool             `json:"success"` // tool.execution_complete, session.compaction_complete (read)
	Result     copilotResult    `json:"result"`  // tool.execution_complete; a word at model.call_final_result
	Error      copilotError     `json:"error"`
	Telemetry  copilotTelemetry `json:"toolTelemetry"`

	StatusCode   int    `json:"statusCode"`   // model.call_failure, session.error
	ErrorMessage string `json:"errorMessage"` // model.call_failure: the API's own error, JSON
	RetryAttempt int    `json:"retryAttempt"` // model.call_failure: from 0
	ErrorType    string `json:"errorType"`    // session.error: rate_limit, authentication; quota, authorization, context_limit, query (read)
	ErrorCode    string `json:"errorCode"`    // model.call_failure; session.error (read): user_weekly_rate_limited, quota_exceeded
	Message      string `json:"message"`      // session.error, session.info, session.warning (read)
	Reason       string `json:"reason"`       // assistant.turn_retry, abort

	// assistant.usage (read), one per answer of the model
	APICallID        string `json:"apiCallId"`
	InputTokens      int    `json:"inputTokens"` // taken to include the cached ones, as its API counts
	OutputTokens     int    `json:"outputTokens"`
	CacheReadTokens  int    `json:"cacheReadTokens"`
	CacheWriteTokens int    `json:"cacheWriteTokens"`
	ReasoningTokens  int    `json:"reasoningTokens"`

	CurrentTokens int `json:"currentTokens"` // session.usage_info (read)
	TokenLimit    int `json:"tokenLimit"`

	PostTokens int `json:"postCompactionTokens"` // session.compaction_complete (read)
}

func (d copilotData) usage() *cw.Usage {
	return &cw.Usage{
		InputTokens: max(0, d.InputTokens-d.CacheReadTokens), OutputTokens: d.OutputTokens,
		CacheReadTokens: d.CacheReadTokens, CacheWriteTokens: d.CacheWriteTokens, ReasoningTokens: d.ReasoningTokens,
	}
}

// copilotResult is what a tool gave. Elsewhere the same field is a word.
type copilotResult struct{ Content string }

// UnmarshalJSON lets everything pass that is no object.
func (r *copilotResult) UnmarshalJSON(data []byte) error {
	var object struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(data, &object)
	r.Content = object.Content
	return nil
}

// copilotError is why a tool failed.
type copilotError struct{ Message, Code string }

// UnmarshalJSON accepts the object and, as at session.compaction_complete (read),
// a text.
func (e *copilotError) UnmarshalJSON(data []byte) error {
	var object struct {
		Message string `json:"message"`
		Code    string `json:"code"`
	}
	if json.Unmarshal(data, &object.Message) != nil {
		_ = json.Unmarshal(data, &object)
	}
	e.Message, e.Code = object.Message, object.Code
	return nil
}

// copilotTelemetry tells how full the context is.
type copilotTelemetry struct {
	Metrics struct {
		Tokens int `json:"context_current_tokens"`
		Limit  int `json:"context_token_limit"`
	} `json:"metrics"`
}
