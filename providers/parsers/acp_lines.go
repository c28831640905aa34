package parsers

import (
	"cmp"
	"encoding/json"
	"strings"

	"cw/internal/cw"
)

// The lines of `cw acp`, as internal/acp writes them. What is inside of update,
// toolCall, data and usage is the agent's own: its shape is that of the Agent
// Client Protocol, version 1, seen in opencode 1.18.33, gemini 0.61.0, qwen
// 0.24.4, copilot 1.0.102 and cline 3.0.65.

// acpLine is one line.
type acpLine struct {
	Type string `json:"type"`

	SessionID string `json:"sessionId"` // acp.init
	Model     string `json:"model"`
	Resumed   bool   `json:"resumed"` // the session is an earlier one

	Update   acpUpdate `json:"update"`   // acp.update
	ToolCall acpUpdate `json:"toolCall"` // acp.permission

	Code    int             `json:"code"` // acp.error
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`

	StopReason string    `json:"stopReason"` // acp.result
	Usage      *acpUsage `json:"usage"`

	Meta acpMeta `json:"_meta"`
}

// acpUpdate is what an agent says about its turn.
type acpUpdate struct {
	Kind string `json:"sessionUpdate"`

	// Content is one block in a chunk, and a list of what a tool gave.
	Content json.RawMessage `json:"content"`

	ToolCallID string          `json:"toolCallId"`
	Title      string          `json:"title"`  // for people: the command, the tool's name, a sentence
	ToolKind   string          `json:"kind"`   // read, edit, delete, move, search, execute, think, fetch, switch_mode, other
	Status     string          `json:"status"` // pending, in_progress, completed, failed
	RawInput   json.RawMessage `json:"rawInput"`
	RawOutput  json.RawMessage `json:"rawOutput"`

	Entries json.RawMessage `json:"entries"` // plan

	Used int      `json:"used"` // usage_update: tokens in the context
	Size int      `json:"size"` // that fit
	Cost *acpCost `json:"cost"` // of the session so far

	Meta acpMeta `json:"_meta"`
}

// acpCost is a sum of money.
type acpCost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// acpMeta is where agents put what the protocol has no place for.
type acpMeta struct {
	ToolName string    `json:"toolName"` // qwen, in tool calls
	Usage    *acpUsage `json:"usage"`    // qwen, in chunks: of one answer of the model
	Quota    struct {  // gemini, in the result
		Tokens *struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"token_count"`
	} `json:"quota"`
}

// acpUsage counts the tokens of a turn.
type acpUsage struct {
	Input      int `json:"inputTokens"`
	Output     int `json:"outputTokens"`
	CacheRead  int `json:"cachedReadTokens"`
	CacheWrite int `json:"cachedWriteTokens"`
	Thought    int `json:"thoughtTokens"`
}

func (u *acpUsage) usage() *cw.Usage {
	if u == nil {
		return nil
	}
	return &cw.Usage{
		InputTokens: u.Input, OutputTokens: u.Output,
		CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite, ReasoningTokens: u.Thought,
	}
}

// usage is what a result counts, where the agent counts.
func (l *acpLine) usage() *cw.Usage {
	if t := l.Meta.Quota.Tokens; l.Usage == nil && t != nil {
		return &cw.Usage{InputTokens: t.Input, OutputTokens: t.Output}
	}
	return l.Usage.usage()
}

// errorText puts together what the agent says about an error: the message is
// often no more than "Internal error".
func (l *acpLine) errorText() string {
	var data struct {
		Details string `json:"details"` // gemini, qwen
		Message string `json:"message"` // cline
	}
	_ = json.Unmarshal(l.Data, &data) // anything may stand there
	detail := cmp.Or(data.Details, data.Message)
	switch {
	case detail == "" || strings.Contains(l.Message, detail):
		return cmp.Or(l.Message, "an error without words")
	case l.Message == "" || l.Message == "Internal error":
		return detail
	}
	return l.Message + ": " + detail
}

// acpBlock is a piece of content: a block of a message, or what a tool gave,
// which is a block, a changed file or a terminal.
type acpBlock struct {
	Type    string    `json:"type"` // text, image, audio, resource, resource_link; content, diff, terminal
	Text    string    `json:"text"`
	Content *acpBlock `json:"content"` // content
	Path    string    `json:"path"`    // diff
	OldText *string   `json:"oldText"` // diff; null: the file is new
}

// text gives the words of a piece; of what is no text its kind is named.
func (b *acpBlock) text() string {
	switch {
	case b.Type == "content" && b.Content != nil:
		return b.Content.text()
	case b.Type == "text":
		return b.Text
	case b.Type == "diff", b.Type == "":
		return ""
	}
	return "[" + b.Type + "]"
}

// chunk gives the words of a chunk of a message.
func (u *acpUpdate) chunk() (text string, known bool) {
	var block acpBlock
	err := json.Unmarshal(u.Content, &block)
	return block.text(), err == nil
}

// blocks gives what a tool gave. What cannot be read is left out.
func (u *acpUpdate) blocks() []acpBlock {
	var blocks []acpBlock
	_ = json.Unmarshal(u.Content, &blocks) // of a chunk it is no list
	return blocks
}

// output gives the words of a tool: its content, else the raw output as it is.
func (u *acpUpdate) output() string {
	var parts []string
	for _, block := range u.blocks() {
		if text := block.text(); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n")
	}
	var text string
	if json.Unmarshal(u.RawOutput, &text) == nil {
		return text
	}
	return string(u.RawOutput)
}

// announced tells whether the call is only announced: its arguments are not
// there yet. Opencode knows no more at first than the directory.
func (u *acpUpdate) announced() bool {
	var input map[string]json.RawMessage
	if u.Status != "pending" || json.Unmarshal(u.RawInput, &input) != nil {
		return false
	}
	delete(input, "cwd")
	return len(input) == 0 && len(u.RawInput) > 0
}

// merge takes from a later update what it says anew.
func (u *acpUpdate) merge(later *acpUpdate) {
	u.Meta.ToolName = cmp.Or(u.Meta.ToolName, later.Meta.ToolName)
	u.Title, u.ToolKind = cmp.Or(later.Title, u.Title), cmp.Or(later.ToolKind, u.ToolKind)
	if len(later.RawInput) > 0 {
		u.RawInput = later.RawInput
	}
}

// tool names the tool. The protocol has no name, but a kind; what has no kind
// has its name in the title, before its arguments ("cw__ask: {…}", cline).
func (u *acpUpdate) tool() string {
	if u.Meta.ToolName != "" {
		return u.Meta.ToolName
	}
	if name, _, found := strings.Cut(u.Title, ": "); found && !strings.Contains(name, " ") {
		return clip(name, acpToolClip)
	}
	if u.ToolKind != "" && u.ToolKind != "other" {
		return u.ToolKind
	}
	return clip(cmp.Or(u.Title, "tool"), acpToolClip)
}

// input is what the tool was given, else what is said about it.
func (u *acpUpdate) input() json.RawMessage {
	if len(u.RawInput) > 0 && string(u.RawInput) != "null" {
		return u.RawInput
	}
	return object("title", u.Title)
}
