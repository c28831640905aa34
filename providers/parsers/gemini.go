package parsers

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// geminiCode is the HTTP status in an error's text, where the API's own error is
// passed on whole: `[API Error: {"error":{"code":401,…`.
var geminiCode = cw.Pattern(`"code":\s*(\d{3})\b`)

// geminiParser reads the output of `gemini -o stream-json`. What it tries again
// stands on stderr alone, and there is no cost. Errors are told apart by the
// status in their text, else by the preset's patterns.
type geminiParser struct {
	jsonLines
	changes map[string]change // tool call -> the file that it is to change
	said    Words             // since the last tool call: the result has no words of its own
	failure string            // the last error that was told
	turns   int
	asking  bool // words or calls came since the last tool result: a turn is under way
}

func newGemini(opts Options) *geminiParser {
	return &geminiParser{jsonLines: newJSONLines(opts), changes: map[string]change{}}
}

// Line reads one line.
func (p *geminiParser) Line(line []byte) []cw.StreamEvent {
	var l geminiLine
	return p.read(line, &l, func() ([]cw.StreamEvent, bool) {
		p.moveToText(l.Timestamp)
		return p.line(&l)
	})
}

func (p *geminiParser) line(l *geminiLine) (events []cw.StreamEvent, known bool) {
	switch l.Type {
	case "init":
		return one(cw.StreamEvent{Kind: cw.StreamInit, SessionID: l.SessionID, Model: l.Model}), true
	case "message":
		return p.message(l), true
	case "tool_use":
		return p.toolUse(l), true
	case "tool_result":
		return p.toolResult(l), true
	case "error": // read: it goes on, or the result comes next
		if l.Severity == "warning" {
			return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: l.Message}), true
		}
		p.failure = l.Message
		return one(p.trouble(l.Message, p.bucket(geminiError{Message: l.Message}), nil)), true
	case "result":
		return p.result(l), true
	}
	return nil, false
}

func (p *geminiParser) message(l *geminiLine) []cw.StreamEvent {
	if l.Role != "assistant" || l.Content == "" {
		return nil // the prompt
	}
	p.turn()
	p.said.add(l.Content)
	return one(cw.StreamEvent{Kind: cw.StreamText, Text: l.Content})
}

// turn counts the answers of the model: one lasts until its tools have run.
func (p *geminiParser) turn() {
	if !p.asking {
		p.turns++
	}
	p.asking = true
}

func (p *geminiParser) toolUse(l *geminiLine) []cw.StreamEvent {
	p.turn()
	p.said = Words{}
	call := cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: l.ToolID, Tool: l.ToolName, Input: l.Parameters}
	switch l.ToolName { // the names were read
	case "write_todos":
		plan := call
		plan.Kind, plan.Steps = cw.StreamPlan, todoSteps(plan.Input)
		return []cw.StreamEvent{call, plan}
	case "write_file", "replace":
		var input struct {
			FilePath string `json:"file_path"`
		}
		if json.Unmarshal(l.Parameters, &input) == nil && input.FilePath != "" {
			remember(p.changes, l.ToolID, change{path: input.FilePath, kind: "modify"})
		}
	}
	return one(call)
}

func (p *geminiParser) toolResult(l *geminiLine) []cw.StreamEvent {
	p.asking = false
	ev := cw.StreamEvent{Kind: cw.StreamToolResult, ToolUseID: l.ToolID, Text: cmp.Or(l.Output, l.Error.Message)}
	expected, changes := p.changes[l.ToolID]
	delete(p.changes, l.ToolID)
	if l.Status != "success" {
		ev.IsError, ev.Bucket = true, cw.BucketTool
		ev.PermissionDenied = l.Error.Type == "policy_violation" // read
		return one(ev)
	}
	if !changes {
		return one(ev)
	}
	return []cw.StreamEvent{ev, {
		Kind: cw.StreamFileChange, ToolUseID: l.ToolID, Path: expected.path, Change: expected.kind,
	}}
}

// result reads the CLI's word on the end. Its usage is the only one there is.
func (p *geminiParser) result(l *geminiLine) []cw.StreamEvent {
	end := cw.StreamEvent{Kind: cw.StreamResult, Text: p.said.String(), Usage: l.Stats.usage(), Turns: p.turns}
	if l.Status == "success" {
		return one(end)
	}
	end.IsError = true
	end.Text = cmp.Or(l.Error.Message, p.failure, "an error without words")
	end.Bucket = p.bucket(geminiError{Type: l.Error.Type, Message: end.Text})
	if l.Error.Message == "" && p.failure != "" { // it was told
		return one(end)
	}
	return []cw.StreamEvent{p.trouble(end.Text, end.Bucket, nil), end}
}

// bucket sorts an error by its class, else by its words, with the status in
// them. The names of the classes were read.
func (p *geminiParser) bucket(e geminiError) string {
	switch {
	case strings.Contains(e.Type, "Authentication"):
		return cw.BucketAuth
	case strings.Contains(e.Type, "Cancellation"):
		return cw.BucketAbort
	}
	status := statusOf(e.Message)
	if m := geminiCode().FindStringSubmatch(e.Message); m != nil {
		status, _ = strconv.Atoi(m[1]) // digits by the pattern
	}
	return p.bucketOf(apiError{text: e.Message, status: status})
}
