package parsers

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"cw/internal/cw"
)

// The lines of claude's stream-json, as far as they matter here. Seen in runs
// of 2.1.197 unless a comment says otherwise; a field of another type than the
// one written here makes its line count as unknown and leaves the rest of it
// readable.

// claudeLine is one line. The fields of all types of lines are in one struct,
// so that a line is decoded once.
type claudeLine struct {
	Type            string `json:"type"`
	Subtype         string `json:"subtype"`
	SessionID       string `json:"session_id"`
	Model           string `json:"model"`
	ParentToolUseID string `json:"parent_tool_use_id"`
	Timestamp       string `json:"timestamp"` // user lines only
	Error           string `json:"error"`     // of assistant lines and api_retry

	Message   claudeMessage `json:"message"` // assistant and user
	Synthetic bool          `json:"isSynthetic"`
	Replay    bool          `json:"isReplay"`
	ToolUse   claudeToolUse `json:"tool_use_result"`

	claudeSystem
	claudeResult

	RateLimit claudeRateLimit   `json:"rate_limit_info"`
	Event     claudeStreamEvent `json:"event"`
}

// claudeMessage is the message of an assistant or user line. permission_denied
// has a plain string in its place.
type claudeMessage struct {
	ID      string        `json:"id"`
	Model   string        `json:"model"`
	Content claudeContent `json:"content"`
	Usage   *claudeUsage  `json:"usage"`
	Text    string        `json:"-"` // when it is a string

	isOdd bool
}

// UnmarshalJSON accepts the object and the string.
func (m *claudeMessage) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &m.Text)
	}
	type plain claudeMessage
	err := json.Unmarshal(data, (*plain)(m))
	m.isOdd = isWrongType(err)
	return unlessWrongType(err)
}

// odd tells whether something in the message has another type than is known.
func (m claudeMessage) odd() bool { return m.isOdd || m.Content.odd() }

// claudeContent is a list of blocks, or a string, which counts as one text block.
type claudeContent struct {
	blocks []claudeBlock
	isOdd  bool
}

// UnmarshalJSON accepts the list and the string.
func (c *claudeContent) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		c.blocks = []claudeBlock{{Type: "text", Text: text}}
		return nil
	}
	err := json.Unmarshal(data, &c.blocks)
	c.isOdd = isWrongType(err)
	return unlessWrongType(err)
}

func (c claudeContent) odd() bool {
	return c.isOdd || slices.ContainsFunc(c.blocks, func(b claudeBlock) bool { return b.Content.odd() })
}

// isWrongType tells an error after which encoding/json has read all other fields.
func isWrongType(err error) bool {
	var wrongType *json.UnmarshalTypeError
	return errors.As(err, &wrongType)
}

// unlessWrongType lets a type error pass: an error of UnmarshalJSON would end
// the decoding of the whole line.
func unlessWrongType(err error) error {
	if isWrongType(err) {
		return nil
	}
	return err
}

// text puts the texts of the blocks together. Images and the like are named.
func (c claudeContent) text() string {
	parts := make([]string, 0, len(c.blocks))
	for _, b := range c.blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		} else {
			parts = append(parts, "["+b.Type+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// claudeBlock is one block of a message's content.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"` // of a tool_use
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"` // of a tool_result
	Content   claudeContent   `json:"content"`
	IsError   bool            `json:"is_error"`
}

// claudeToolUse is the structured side of a tool's result: an object for some
// tools, a string for errors, a list for others.
type claudeToolUse struct {
	Type string // create or update, of Write
}

// UnmarshalJSON takes what it can and never fails: the shape is the tool's.
func (t *claudeToolUse) UnmarshalJSON(data []byte) error {
	var object struct {
		Type any `json:"type"`
	}
	if len(data) > 0 && data[0] == '{' && json.Unmarshal(data, &object) == nil {
		t.Type, _ = object.Type.(string)
	}
	return nil
}

// claudeSystem holds the fields of type system beyond init.
type claudeSystem struct {
	Attempt      int     `json:"attempt"` // api_retry
	MaxRetries   int     `json:"max_retries"`
	RetryDelayMS float64 `json:"retry_delay_ms"`
	ErrorStatus  int     `json:"error_status"`
	Key          string  `json:"key"` // notification
	Text         string  `json:"text"`
	Content      string  `json:"content"` // model_fallback (read in the program, not seen)
	ToolName     string  `json:"tool_name"`
	TaskID       string  `json:"task_id"` // task_started, task_notification
	ToolUseID    string  `json:"tool_use_id"`
	// Compact belongs to compact_boundary (read in the program, not seen).
	Compact struct {
		Trigger    string `json:"trigger"` // manual or auto
		PreTokens  int    `json:"pre_tokens"`
		PostTokens int    `json:"post_tokens"`
	} `json:"compact_metadata"`
}

// claudeResult holds the fields of type result. Its subtype stays "success" on
// API errors: IsError, APIErrorStatus and the error of the assistant line
// before it tell.
type claudeResult struct {
	IsError        bool                        `json:"is_error"`
	APIErrorStatus int                         `json:"api_error_status"`
	TerminalReason string                      `json:"terminal_reason"`
	NumTurns       int                         `json:"num_turns"`
	Result         string                      `json:"result"`
	Errors         []string                    `json:"errors"` // only of the error_* subtypes
	TotalCostUSD   float64                     `json:"total_cost_usd"`
	Usage          *claudeUsage                `json:"usage"`
	ModelUsage     map[string]claudeModelUsage `json:"modelUsage"`
	// SinceLast is what of ModelUsage came since the result before, or since the
	// process began (2.1.332); nil: it is not told.
	SinceLast         map[string]claudeModelUsage `json:"model_usage_since_last_result"`
	PermissionDenials []struct {
		ToolName  string          `json:"tool_name"`
		ToolUseID string          `json:"tool_use_id"`
		ToolInput json.RawMessage `json:"tool_input"`
	} `json:"permission_denials"`
}

// claudeUsage counts the tokens of one message.
type claudeUsage struct {
	InputTokens              int `json:"input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheCreation            struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

func (u claudeUsage) usage() cw.Usage {
	return cw.Usage{
		InputTokens:      u.InputTokens,
		OutputTokens:     u.OutputTokens,
		CacheReadTokens:  u.CacheReadInputTokens,
		CacheWriteTokens: u.CacheCreationInputTokens,

		CacheWriteHourTokens: min(u.CacheCreation.Hour, u.CacheCreationInputTokens),
	}
}

// context is how much of the model's context the message filled.
func (u claudeUsage) context() int {
	return u.InputTokens + u.OutputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens
}

// claudeModelUsage counts what one model used.
type claudeModelUsage struct {
	InputTokens              int     `json:"inputTokens"`
	OutputTokens             int     `json:"outputTokens"`
	CacheReadInputTokens     int     `json:"cacheReadInputTokens"`
	CacheCreationInputTokens int     `json:"cacheCreationInputTokens"`
	CacheCreationHourTokens  int     `json:"cacheCreationEphemeral1hInputTokens"` // 2.1.332
	CostUSD                  float64 `json:"costUSD"`
	ContextWindow            int     `json:"contextWindow"`
}

func (m claudeModelUsage) usage() cw.Usage {
	return cw.Usage{
		InputTokens: m.InputTokens, OutputTokens: m.OutputTokens,
		CacheReadTokens: m.CacheReadInputTokens, CacheWriteTokens: m.CacheCreationInputTokens,
		CacheWriteHourTokens: min(m.CacheCreationHourTokens, m.CacheCreationInputTokens),
	}
}

// claudeRateLimit is the account's standing. It is told with OAuth credentials
// only, never with an API key.
type claudeRateLimit struct {
	Status         string  `json:"status"`   // allowed, allowed_warning, rejected
	ResetsAt       int64   `json:"resetsAt"` // seconds of the epoch
	RateLimitType  string  `json:"rateLimitType"`
	Utilization    float64 `json:"utilization"`
	IsUsingOverage bool    `json:"isUsingOverage"` // goes on at extra cost
}

// claudeStreamEvent is a raw event of the model's API, with
// --include-partial-messages.
type claudeStreamEvent struct {
	Type         string `json:"type"`
	ContentBlock struct {
		Type string `json:"type"`
	} `json:"content_block"`
	Delta struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
	} `json:"delta"`
}
