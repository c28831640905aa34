package parsers

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// cursorParser reads the output of `cursor-agent -p --output-format
// stream-json`, with or without --stream-partial-output. It is made after
// Cursor's documentation of the format and reports of others; no run of it was
// seen, for the program is not to be had freely. Lines are claude's, with these
// differences:
//   - tools have lines of their own, type tool_call;
//   - reasoning comes in lines of type thinking;
//   - with partial output a message comes in pieces and then whole again;
//   - on a failure there is no result line: the reason is on stderr;
//   - there is no cost, and as a rule no usage.
type cursorParser struct {
	*claudeParser
	pieces bool            // messages come in pieces
	open   bool            // the last piece has no line end
	calls  map[string]bool // tool calls that were told
}

// cursorLine is one line of cursor-agent.
type cursorLine struct {
	claudeLine
	CallID      string                     `json:"call_id"`   // tool_call
	ToolCall    map[string]json.RawMessage `json:"tool_call"` // one of them is the call, named after its tool
	TimestampMS *int64                     `json:"timestamp_ms"`
	ModelCallID string                     `json:"model_call_id"`
	Usage       *cursorUsage               `json:"usage"` // result; not in the documentation
}

// cursorUsage counts the tokens of a run (reported by others).
type cursorUsage struct {
	InputTokens      int `json:"inputTokens"`
	OutputTokens     int `json:"outputTokens"`
	CacheReadTokens  int `json:"cacheReadTokens"`
	CacheWriteTokens int `json:"cacheWriteTokens"`
}

// cursorCall is a call, under "readToolCall" and the like, or "function".
type cursorCall struct {
	Args      json.RawMessage            `json:"args"`
	Result    map[string]json.RawMessage `json:"result"` // under success, or what went wrong
	Name      string                     `json:"name"`   // function
	Arguments string                     `json:"arguments"`
}

func newCursor(opts Options) *cursorParser {
	return &cursorParser{claudeParser: newClaude(opts), calls: map[string]bool{}}
}

// Line reads one line.
func (p *cursorParser) Line(line []byte) []cw.StreamEvent {
	var l cursorLine
	return p.read(line, &l, &l.claudeLine, func() ([]cw.StreamEvent, bool) { return p.line(&l) })
}

func (p *cursorParser) line(l *cursorLine) (events []cw.StreamEvent, known bool) {
	if l.TimestampMS != nil && *l.TimestampMS > 0 {
		p.now.tell(time.UnixMilli(*l.TimestampMS))
	}
	switch l.Type {
	case "assistant":
		return p.words(l), true
	case "thinking":
		if l.Text == "" { // subtype completed
			return nil, true
		}
		return one(cw.StreamEvent{Kind: cw.StreamThinking, Text: l.Text}), true
	case "tool_call":
		return p.tool(l)
	case "result":
		if l.Usage != nil {
			l.claudeLine.Usage = &claudeUsage{
				InputTokens: l.Usage.InputTokens, OutputTokens: l.Usage.OutputTokens,
				CacheReadInputTokens: l.Usage.CacheReadTokens, CacheCreationInputTokens: l.Usage.CacheWriteTokens,
			}
		}
	}
	return p.claudeParser.line(&l.claudeLine)
}

// words tells the model's words once. A piece has a time and no model call;
// where there are pieces, whole messages only repeat them.
func (p *cursorParser) words(l *cursorLine) []cw.StreamEvent {
	text := l.Message.Content.text()
	if text == "" {
		return nil
	}
	if l.TimestampMS != nil && l.ModelCallID == "" {
		p.pieces, p.open = true, !strings.HasSuffix(text, "\n")
		return one(cw.StreamEvent{Kind: cw.StreamText, Text: text})
	}
	switch {
	case p.pieces && !p.open:
		return nil
	case p.pieces:
		p.open = false
		text = "\n"
	case !strings.HasSuffix(text, "\n"):
		text += "\n"
	}
	return one(cw.StreamEvent{Kind: cw.StreamText, Text: text})
}

// tool tells a call when it begins and its result when it is done.
func (p *cursorParser) tool(l *cursorLine) (events []cw.StreamEvent, known bool) {
	tool, call, ok := l.call()
	if !ok || l.Subtype != "started" && l.Subtype != "completed" {
		return nil, false
	}
	if !p.calls[l.CallID] {
		remember(p.calls, l.CallID, true)
		events = append(events, cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: l.CallID, Tool: tool, Input: call.input()})
	}
	if l.Subtype == "started" {
		return events, true
	}
	delete(p.calls, l.CallID)
	kind, said := call.outcome()
	result := cw.StreamEvent{Kind: cw.StreamToolResult, ToolUseID: l.CallID, Text: said}
	if kind != "success" {
		result.IsError, result.Bucket, result.PermissionDenied = true, cw.BucketTool, kind == "rejected"
		return append(events, result), true
	}
	events = append(events, result)
	if change := cursorChanges(tool); change != "" {
		if path := editedPath(call.input()); path != "" {
			events = append(events, cw.StreamEvent{Kind: cw.StreamFileChange, ToolUseID: l.CallID, Path: path, Change: change})
		}
	}
	return events, true
}

// call finds the call among what may stand beside it.
func (l *cursorLine) call() (tool string, call cursorCall, ok bool) {
	for _, key := range slices.Sorted(maps.Keys(l.ToolCall)) {
		name, isCall := strings.CutSuffix(key, "ToolCall")
		if !isCall && key != "function" || json.Unmarshal(l.ToolCall[key], &call) != nil {
			continue
		}
		if key == "function" {
			name = call.Name
		}
		return name, call, true
	}
	return "", cursorCall{}, false
}

// input gives the call's arguments. Those of a function are JSON in a string.
func (c cursorCall) input() json.RawMessage {
	if c.Arguments == "" {
		return c.Args
	}
	if json.Valid([]byte(c.Arguments)) {
		return json.RawMessage(c.Arguments)
	}
	return object("arguments", c.Arguments)
}

// outcome tells how a call ended, and what is to be read of it. A call without
// a result counts as done: how functions tell theirs is not documented.
func (c cursorCall) outcome() (kind, text string) {
	for _, kind := range []string{"rejected", "error", "failure", "timeout", "permissionDenied", "success"} {
		if data, ok := c.Result[kind]; ok {
			return kind, cursorText(data)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Result)) { // of a kind that is not known
		return kind, cursorText(c.Result[kind])
	}
	return "success", ""
}

// cursorText gives the words of a result, else its JSON.
func cursorText(data json.RawMessage) string {
	var said struct {
		Content string `json:"content"`
		Stdout  string `json:"stdout"`
		Stderr  string `json:"stderr"`
		Error   string `json:"error"`
		Message string `json:"message"`
		Reason  string `json:"reason"`
	}
	_ = json.Unmarshal(data, &said) // what has another shape is given as it is
	return cmp.Or(said.Content, said.Stdout+said.Stderr, said.Error, said.Message, said.Reason, string(data))
}

// cursorChanges tells what a tool does to the file named in its input, "" for
// nothing.
func cursorChanges(tool string) string {
	switch tool {
	case "write", "edit":
		return "modify"
	case "delete":
		return "delete"
	}
	return ""
}
