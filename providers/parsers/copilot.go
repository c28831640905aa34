package parsers

import (
	"cmp"
	"encoding/json"

	"cw/internal/cw"
)

// copilotParser reads the output of `copilot --output-format json`. Lines with
// ephemeral:true are not kept in the session: the words of a message come in such
// pieces first and whole afterwards, and are told as they come. Which session it
// is stands in the last line alone.
type copilotParser struct {
	jsonLines
	session string
	model   string
	partial partials
	told    map[string]bool   // messages, thoughts and answers that were told whole
	changes map[string]change // tool call -> the file that it is to change
	changed map[string]bool   // files whose change was told
	said    Words             // since the last tool call: the result has no words of its own
	retry   copilotData       // the last answer that failed
	failure string            // the error that was told
	bucket  string            // its bucket
	turns   int
}

func newCopilot(opts Options) *copilotParser {
	return &copilotParser{
		jsonLines: newJSONLines(opts), partial: partials{},
		told: map[string]bool{}, changes: map[string]change{}, changed: map[string]bool{},
	}
}

// Line reads one line.
func (p *copilotParser) Line(line []byte) []cw.StreamEvent {
	l := copilotLine{ExitCode: -1} // also when it is missing, or no number
	return p.read(line, &l, func() ([]cw.StreamEvent, bool) {
		p.moveToText(l.Timestamp)
		return p.line(&l)
	})
}

func (p *copilotParser) line(l *copilotLine) (events []cw.StreamEvent, known bool) {
	d := &l.Data
	switch l.Type {
	case "session.tools_updated", "session.start", "session.resume":
		return p.begin(d.SessionID, d.Model), true
	case "assistant.turn_start":
		p.turns++
		return nil, true
	case "model.call_failure": // it is tried again, or session.error tells it
		p.retry = *d
		return nil, true
	case "assistant.turn_retry":
		return one(p.again(d.Reason)), true
	case "session.error":
		return one(p.failed(d)), true
	case "abort":
		return one(cw.StreamEvent{Kind: cw.StreamError, Text: "aborted: " + d.Reason, Bucket: cw.BucketAbort}), true
	case "result":
		return p.result(l), true
	}
	if events, known := p.words(l.Type, d); known {
		return events, true
	}
	if events, known := p.tool(l.Type, d); known {
		return events, true
	}
	return p.beside(l.Type, d)
}

// begin tells the session and the model, and again when more of it is known.
func (p *copilotParser) begin(session, model string) []cw.StreamEvent {
	session, model = cmp.Or(session, p.session), cmp.Or(model, p.model)
	if session == p.session && model == p.model {
		return nil
	}
	p.session, p.model = session, model
	return one(cw.StreamEvent{Kind: cw.StreamInit, SessionID: session, Model: model})
}

// words reads what the model says and thinks. The types of its thoughts were read.
func (p *copilotParser) words(lineType string, d *copilotData) (events []cw.StreamEvent, known bool) {
	parent := d.ParentToolCallID
	switch lineType {
	case "assistant.message_start":
		delete(p.partial, parent)
		p.partial.begin(parent, cw.StreamText)
		return nil, true
	case "assistant.message_delta":
		return p.partial.tell(parent, cw.StreamText, d.DeltaContent), true
	case "assistant.message":
		return p.whole(d.MessageID, cw.StreamText, d), true
	case "assistant.reasoning_delta":
		// Nothing announces a thought: its pieces are dropped for the whole.
		return nil, true
	case "assistant.reasoning":
		return p.whole(d.ReasoningID, cw.StreamThinking, d), true
	}
	return nil, false
}

// whole tells of a message what was not told piece by piece.
func (p *copilotParser) whole(id string, kind cw.StreamKind, d *copilotData) []cw.StreamEvent {
	if p.once(id) {
		return nil
	}
	if kind == cw.StreamText && d.ParentToolCallID == "" {
		p.said.add(d.Content)
	}
	return p.partial.rest(d.ParentToolCallID, kind, d.Content)
}

// once tells whether something with that id was told before, and remembers it.
func (p *copilotParser) once(id string) (before bool) {
	if id == "" {
		return false
	}
	before = p.told[id]
	remember(p.told, id, true)
	return before
}

// tool reads a tool call and its end.
func (p *copilotParser) tool(lineType string, d *copilotData) (events []cw.StreamEvent, known bool) {
	switch lineType {
	case "tool.execution_start":
		if d.ParentToolCallID == "" {
			p.said = Words{}
		}
		p.expectChange(d)
		return one(cw.StreamEvent{
			Kind: cw.StreamToolCall, ParentToolUseID: d.ParentToolCallID,
			ToolUseID: d.ToolCallID, Tool: d.ToolName, Input: d.Arguments,
		}), true
	case "tool.execution_complete":
		events = p.toolResult(d)
		if m := d.Telemetry.Metrics; d.ParentToolCallID == "" && m.Tokens > 0 {
			events = append(events, cw.StreamEvent{Kind: cw.StreamUsage, Context: &cw.ContextUse{Tokens: m.Tokens, Limit: m.Limit}})
		}
		return events, true
	case "tool.execution_partial_result", "tool.execution_progress", "tool.shell_output", "assistant.tool_call_delta":
		return nil, true
	}
	return nil, false
}

// expectChange remembers which file a tool call is to change. The names of the
// tools were read.
func (p *copilotParser) expectChange(d *copilotData) {
	kind := "modify"
	switch d.ToolName {
	case "create":
		kind = "add"
	case "edit":
	default:
		return
	}
	var input struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(d.Arguments, &input) == nil && input.Path != "" {
		remember(p.changes, d.ToolCallID, change{path: input.Path, kind: kind})
	}
}

func (p *copilotParser) toolResult(d *copilotData) []cw.StreamEvent {
	ev := cw.StreamEvent{
		Kind: cw.StreamToolResult, ParentToolUseID: d.ParentToolCallID,
		ToolUseID: d.ToolCallID, Text: d.Result.Content,
	}
	expected, changes := p.changes[d.ToolCallID]
	delete(p.changes, d.ToolCallID)
	if !d.Success {
		ev.IsError, ev.Bucket = true, cw.BucketTool
		ev.Text = cmp.Or(d.Error.Message, ev.Text)
		ev.PermissionDenied = d.Error.Code == "denied"
		return one(ev)
	}
	if !changes {
		return one(ev)
	}
	remember(p.changed, expected.path, true)
	return []cw.StreamEvent{ev, {
		Kind: cw.StreamFileChange, ParentToolUseID: d.ParentToolCallID, ToolUseID: d.ToolCallID,
		Path: expected.path, Change: expected.kind,
	}}
}

// beside reads what goes on beside the conversation. usage, usage_info, warning
// and compaction were read.
func (p *copilotParser) beside(lineType string, d *copilotData) (events []cw.StreamEvent, known bool) {
	switch lineType {
	case "assistant.usage":
		if p.once(d.APICallID) {
			return nil, true
		}
		return one(cw.StreamEvent{Kind: cw.StreamUsage, ParentToolUseID: d.ParentToolCallID, Usage: d.usage()}), true
	case "session.usage_info":
		return one(cw.StreamEvent{Kind: cw.StreamUsage, Context: &cw.ContextUse{Tokens: d.CurrentTokens, Limit: d.TokenLimit}}), true
	case "session.warning":
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: d.Message}), true
	case "session.compaction_complete":
		if !d.Success {
			return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: "the context could not be shortened: " + d.Error.Message}), true
		}
		return one(cw.StreamEvent{Kind: cw.StreamCompaction, Context: &cw.ContextUse{Tokens: d.PostTokens}}), true
	case "user.message", "assistant.turn_end", "assistant.idle", "agent.interrupted",
		"model.call_start", "model.call_finished", "model.call_final_result",
		"session.info", "session.skills_loaded", "session.background_tasks_changed",
		"session.mcp_servers_loaded", "session.mcp_server_status_changed", "session.mcp_server_tools_loaded":
		return nil, true
	}
	return nil, false
}

// again tells that the last failed answer is asked for once more.
func (p *copilotParser) again(reason string) cw.StreamEvent {
	var api struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal([]byte(p.retry.ErrorMessage), &api)
	failed := apiError{text: p.retry.ErrorMessage, status: p.retry.StatusCode}
	bucket := cmp.Or(copilotBucket(reason), p.bucketOf(failed), cw.BucketTransient)
	return cw.StreamEvent{
		Kind: cw.StreamRetry, Attempt: p.retry.RetryAttempt + 1, Bucket: bucket,
		Text: cmp.Or(api.Message, p.retry.ErrorMessage, reason),
	}
}

// failed reads an error that ends the turn.
func (p *copilotParser) failed(d *copilotData) cw.StreamEvent {
	status := d.StatusCode
	if d.ErrorType == "rate_limit" {
		status = cmp.Or(status, 429)
	}
	p.bucket = cmp.Or(copilotBucket(d.ErrorType), p.bucketOf(apiError{text: d.ErrorCode + " " + d.Message, status: status}))
	p.failure = rateText(d.Message, status, p.bucket)
	ev := p.trouble(p.failure, p.bucket, nil)
	if ev.Limit != nil {
		ev.Limit.Kind = apiLimitKind(d.ErrorType + "_exceeded " + d.ErrorCode + " " + d.Message)
	}
	return ev
}

// copilotBucket sorts an error by copilot's own kind of it. Of a rate_limit only
// its words tell what it is.
func copilotBucket(kind string) string {
	switch kind {
	case "quota":
		return cw.BucketLimit
	case "authentication", "authorization", "transient_auth_error":
		return cw.BucketAuth
	}
	return ""
}

// result reads the last line. A tool call that was denied does not make it an
// error.
func (p *copilotParser) result(l *copilotLine) []cw.StreamEvent {
	events := p.begin(l.SessionID, "")
	for _, path := range l.Usage.CodeChanges.FilesModified {
		if !p.changed[path] {
			events = append(events, cw.StreamEvent{Kind: cw.StreamFileChange, Path: path, Change: "modify"})
		}
	}
	end := cw.StreamEvent{Kind: cw.StreamResult, Text: p.said.String(), Turns: p.turns}
	if l.ExitCode != 0 {
		end.IsError, end.Bucket = true, p.bucket
		end.Text = cmp.Or(p.failure, end.Text, "it failed without a word")
	}
	return append(events, end)
}
