package parsers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"cw/internal/cw"
)

// piParser reads the output of `pi --mode json -p`. Every message comes in
// pieces and then whole, and once more in turn_end and agent_end. agent_end is
// the end of a try, good or bad: after a bad one that is worth it a retry is
// announced and a new try follows, and only what comes last counts. The exit
// code is 0 whatever happens, and stderr is empty.
type piParser struct {
	jsonLines

	partial partials
	changes map[string]change // tool call -> the file it is to change
	counted string            // the answer that was counted last
	usage   cw.Usage          // of all answers
	costUSD float64
	turns   int
	context int // tokens of the conversation after the last answer
}

func newPi(opts Options) *piParser {
	return &piParser{jsonLines: newJSONLines(opts), partial: partials{}, changes: map[string]change{}}
}

// Line reads one line.
func (p *piParser) Line(line []byte) []cw.StreamEvent {
	var l piLine
	return p.read(line, &l, func() ([]cw.StreamEvent, bool) { return p.line(&l) })
}

func (p *piParser) line(l *piLine) (events []cw.StreamEvent, known bool) {
	switch l.Type {
	case "session":
		return one(cw.StreamEvent{Kind: cw.StreamInit, SessionID: l.ID}), true
	case "message_start":
		clear(p.partial)
		return nil, true
	case "message_update":
		return p.piece(l.Update), true
	case "message_end":
		return p.message(l.Message)
	case "tool_execution_start":
		p.expectChange(l)
		return one(cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: l.ToolCallID, Tool: l.ToolName, Input: l.Args}), true
	case "tool_execution_end":
		return p.toolResult(l), true
	case "agent_end":
		return p.end(l.Messages), true
	case "auto_retry_start":
		return one(p.retry(l)), true
	case "compaction_end":
		return compacted(l), true
	case "agent_start", "turn_start", "turn_end", "tool_execution_update", "auto_retry_end",
		"compaction_start", "queue_update", "session_info_changed", "thinking_level_changed": // the last four were read, not seen
		return nil, true
	}
	return nil, false
}

// piece tells a piece of a message at once.
func (p *piParser) piece(u piUpdate) []cw.StreamEvent {
	switch u.Type {
	case "text_start":
		p.partial.begin("", cw.StreamText)
	case "thinking_start":
		p.partial.begin("", cw.StreamThinking)
	case "text_delta":
		return p.partial.tell("", cw.StreamText, u.Delta)
	case "thinking_delta":
		return p.partial.tell("", cw.StreamThinking, u.Delta)
	}
	return nil // tool calls come whole, with their execution
}

// message tells of a whole message what its pieces did not, and its usage. What
// is not the model's is told elsewhere.
func (p *piParser) message(data json.RawMessage) (events []cw.StreamEvent, known bool) {
	var m piMessage
	if json.Unmarshal(data, &m) != nil || m.Role == "" {
		return nil, false
	}
	if m.Timestamp > 0 {
		p.moveTo(time.UnixMilli(m.Timestamp))
	}
	if m.Role != "assistant" {
		return nil, true
	}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			events = append(events, p.partial.rest("", cw.StreamText, b.Text)...)
		case "thinking":
			events = append(events, p.partial.rest("", cw.StreamThinking, b.Thinking)...)
		}
	}
	return append(events, p.countUsage(m)...), true
}

// countUsage counts an answer once. One that failed used nothing.
func (p *piParser) countUsage(m piMessage) []cw.StreamEvent {
	id := fmt.Sprint(m.Timestamp, m.ResponseID)
	usage := m.Usage.usage()
	if id == p.counted || usage == (cw.Usage{}) {
		return nil
	}
	p.counted, p.context = id, m.Usage.TotalTokens
	p.usage, p.costUSD, p.turns = p.usage.Add(usage), p.costUSD+m.Usage.Cost.Total, p.turns+1
	return one(cw.StreamEvent{Kind: cw.StreamUsage, Usage: &usage, Context: &cw.ContextUse{Tokens: p.context}})
}

// expectChange remembers which file a tool call is to change.
func (p *piParser) expectChange(l *piLine) {
	if l.ToolName != "write" && l.ToolName != "edit" {
		return
	}
	if path := editedPath(l.Args); path != "" {
		remember(p.changes, l.ToolCallID, change{path: path, kind: "modify"})
	}
}

func (p *piParser) toolResult(l *piLine) []cw.StreamEvent {
	result := cw.StreamEvent{Kind: cw.StreamToolResult, ToolUseID: l.ToolCallID, Text: l.Result.text(), IsError: l.IsError}
	expected, changes := p.changes[l.ToolCallID]
	delete(p.changes, l.ToolCallID)
	if l.IsError {
		result.Bucket = cw.BucketTool
	}
	if l.IsError || !changes {
		return one(result)
	}
	return []cw.StreamEvent{result, {
		Kind: cw.StreamFileChange, ToolUseID: l.ToolCallID, Path: expected.path, Change: expected.kind,
	}}
}

// end reads how a try ended from its last answer.
func (p *piParser) end(messages []piMessage) []cw.StreamEvent {
	var last piMessage
	for _, m := range messages {
		if m.Role == "assistant" {
			last = m
		}
	}
	var events []cw.StreamEvent
	switch last.StopReason {
	case "stop", "toolUse": // the latter when a tool ended the run (read)
		events = one(cw.StreamEvent{Kind: cw.StreamResult, Text: last.text()})
	case "error":
		events = p.failed(cmp.Or(last.ErrorMessage, noReason), p.bucket(last.ErrorMessage))
	case "aborted":
		events = p.failed("interrupted", cw.BucketAbort)
	case "length":
		events = p.failed("the answer was cut: it reached the length that the model may write", "")
	default:
		events = p.failed("it ended without an answer", "")
	}
	result := &events[len(events)-1]
	result.Turns, result.CostUSD = p.turns, p.costUSD
	if p.usage != (cw.Usage{}) {
		usage := p.usage
		result.Usage = &usage
		result.Context = &cw.ContextUse{Tokens: p.context}
	}
	return events
}

// failed tells a bad end, and why.
func (p *piParser) failed(text, bucket string) []cw.StreamEvent {
	return []cw.StreamEvent{
		p.trouble(text, bucket, nil),
		{Kind: cw.StreamResult, Text: text, IsError: true, Bucket: bucket},
	}
}

// bucket sorts an error by its words, with the HTTP status that it begins with.
func (p *piParser) bucket(text string) string {
	return p.bucketOf(apiError{text: text, status: statusOf(text)})
}

func (p *piParser) retry(l *piLine) cw.StreamEvent {
	return cw.StreamEvent{
		Kind: cw.StreamRetry, Attempt: l.Attempt, Bucket: cmp.Or(p.bucket(l.ErrorMessage), cw.BucketTransient),
		Delay: time.Duration(l.DelayMS * float64(time.Millisecond)).Round(time.Millisecond),
		Text:  clip(fmt.Sprintf("%s, try %d of %d", l.ErrorMessage, l.Attempt, l.MaxAttempts), claudeTextClip),
	}
}

// compacted tells a compaction, or that it failed (read, not seen).
func compacted(l *piLine) []cw.StreamEvent {
	switch {
	case l.ErrorMessage != "":
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: clip("compaction failed: "+l.ErrorMessage, claudeTextClip)})
	case l.Result.TokensBefore > 0:
		return one(cw.StreamEvent{Kind: cw.StreamCompaction, Text: fmt.Sprintf("%s, %d tokens before", l.Reason, l.Result.TokensBefore)})
	}
	return nil // it was given up
}
