package parsers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

// opencodeParser reads the output of `opencode run --format json`. There is
// neither a first line with the session nor a last one with the end: every line
// names the session, and the last step that finished with reason "stop" is the
// result. A result may be followed by more (the context was shortened, which is
// a step of its own; read): the last one counts.
//
// While it backs off from an error it prints nothing at all.
type opencodeParser struct {
	jsonLines
	session string
	seen    map[string]bool // parts that were told
	said    Words           // since the step began
	cost    float64         // of all steps so far
	steps   int
}

func newOpencode(opts Options) *opencodeParser {
	return &opencodeParser{jsonLines: newJSONLines(opts), seen: map[string]bool{}}
}

// Line reads one line.
func (p *opencodeParser) Line(line []byte) []cw.StreamEvent {
	var l opencodeLine
	return p.read(line, &l, func() ([]cw.StreamEvent, bool) {
		if l.Timestamp > 0 {
			p.moveTo(time.UnixMilli(l.Timestamp))
		}
		before := p.begin(l.SessionID)
		events, known := p.line(&l)
		return append(before, events...), known
	})
}

// begin tells the session once.
func (p *opencodeParser) begin(session string) []cw.StreamEvent {
	if session == "" || p.session != "" {
		return nil
	}
	p.session = session
	return one(cw.StreamEvent{Kind: cw.StreamInit, SessionID: session})
}

func (p *opencodeParser) line(l *opencodeLine) (events []cw.StreamEvent, known bool) {
	if l.Part.ID != "" {
		if p.seen[l.Part.ID] {
			return nil, true
		}
		remember(p.seen, l.Part.ID, true)
	}
	switch l.Type {
	case "step_start":
		p.said = Words{}
		return nil, true
	case "text":
		return p.text(cw.StreamText, l.Part.Text), true
	case "reasoning": // only with --thinking (read)
		return p.text(cw.StreamThinking, l.Part.Text), true
	case "tool_use":
		return p.tool(l.Part), true
	case "step_finish":
		return p.finish(l.Part), true
	case "error":
		return p.failed(l.Error), true
	}
	return nil, false
}

func (p *opencodeParser) text(kind cw.StreamKind, text string) []cw.StreamEvent {
	if text == "" {
		return nil
	}
	if kind == cw.StreamText {
		p.said.add(text)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return one(cw.StreamEvent{Kind: kind, Text: text})
}

// tool reads a call that is over: it comes in one line with its result.
func (p *opencodeParser) tool(part opencodePart) []cw.StreamEvent {
	id := cmp.Or(part.CallID, part.ID)
	call := cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: id, Tool: part.Tool, Input: part.State.Input}
	result := cw.StreamEvent{Kind: cw.StreamToolResult, ToolUseID: id, Text: part.State.Output}
	events := []cw.StreamEvent{call}
	if part.Tool == "todowrite" {
		call.Kind, call.Steps = cw.StreamPlan, todoSteps(call.Input)
		events = append(events, call)
	}
	if part.State.Status != "completed" {
		result.Text, result.IsError, result.Bucket = part.State.Error, true, cw.BucketTool
		result.PermissionDenied = strings.Contains(result.Text, "rejected permission") // read
		if result.Text == "Tool execution aborted" {                                   // read
			result.Bucket = cw.BucketAbort
		}
		return append(events, result)
	}
	events = append(events, result)
	for _, c := range part.changes() {
		events = append(events, cw.StreamEvent{Kind: cw.StreamFileChange, ToolUseID: id, Path: c.path, Change: c.kind})
	}
	return events
}

// changes are the files that a call changed.
func (part opencodePart) changes() []change {
	switch part.Tool {
	case "write", "edit", "multiedit", "patch", "apply_patch":
	default:
		return nil
	}
	var told opencodeChanges
	var input struct {
		FilePath string `json:"filePath"`
	}
	_ = json.Unmarshal(part.State.Metadata, &told) // what another version writes there is not told
	_ = json.Unmarshal(part.State.Input, &input)
	var out []change
	for _, f := range told.Files {
		out = append(out, change{path: cmp.Or(f.MovePath, f.FilePath), kind: changeOf(f.Type)})
	}
	path := cmp.Or(told.FilePath, told.FileDiff.File, input.FilePath)
	if len(out) > 0 || path == "" {
		return out
	}
	if told.Exists != nil && !*told.Exists {
		return []change{{path: path, kind: "add"}}
	}
	return []change{{path: path, kind: "modify"}}
}

// finish reads the end of a step: one answer of the model.
func (p *opencodeParser) finish(part opencodePart) []cw.StreamEvent {
	p.cost += part.Cost
	p.steps++
	var events []cw.StreamEvent
	if part.Tokens != nil {
		events = one(cw.StreamEvent{Kind: cw.StreamUsage, Usage: part.Tokens.usage(), Context: part.Tokens.context()})
	}
	switch part.Reason {
	case "stop":
		return append(events, p.end(p.said.String(), ""))
	case "tool-calls", "unknown", "": // it goes on
		return events
	}
	end := p.end(fmt.Sprintf("the model's answer was cut short: %s", part.Reason), "")
	end.IsError = true
	return append(events, end)
}

// failed reads an error. The CLI gives up with it, with very few exceptions that
// end in a step with reason "stop" all the same.
func (p *opencodeParser) failed(e opencodeError) []cw.StreamEvent {
	until := retryAfter(e.Data.Headers, p.now.at)
	if until == nil {
		until = waitEnd(e.Data.Body, p.now.at)
	}
	bucket := p.bucket(e, until)
	text := rateText(e.text(), e.Data.StatusCode, bucket)
	told := p.trouble(text, bucket, until)
	if told.Limit != nil && apiLimitKind(e.Data.Body) == "quota" { // its code says more than its words
		told.Limit.Kind = "quota"
	}
	end := p.end(text, bucket)
	end.IsError = true
	return []cw.StreamEvent{told, end}
}

// bucket sorts an error by its name, by what the API said, which is in the body
// whole, and by the preset's patterns. What may be tried again is transient when
// nothing else is known.
func (p *opencodeParser) bucket(e opencodeError, until *time.Time) string {
	switch e.Name {
	case "ProviderAuthError": // read
		return cw.BucketAuth
	case "MessageAbortedError": // read
		return cw.BucketAbort
	}
	bucket := p.bucketOf(apiError{text: e.Data.Message + "\n" + e.Data.Body, status: e.Data.StatusCode, until: until})
	if bucket == "" && e.Data.Retryable {
		return cw.BucketTransient
	}
	return bucket
}

func (p *opencodeParser) end(text, bucket string) cw.StreamEvent {
	return cw.StreamEvent{Kind: cw.StreamResult, Text: text, Bucket: bucket, CostUSD: p.cost, Turns: p.steps}
}
