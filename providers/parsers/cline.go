package parsers

import (
	"cmp"
	"encoding/json"
	"strings"

	"cw/internal/cw"
)

// clineParser reads the output of `cline --json`. The session is named nowhere,
// the model mostly only in the last line. What is tried again is not told: the retries
// of the library that it talks to the API with are silent.
type clineParser struct {
	jsonLines
	telling map[cw.StreamKind]partials // what was told of the blocks that are not over
	changes map[string]change          // tool call -> the file that it is to change
	totals  map[string][2]int          // agent -> tokens at its last usage line
	failure string                     // the error that was told
	bucket  string                     // its bucket
	begun   bool
	ended   bool // the totals were told: they count all answers
}

func newCline(opts Options) *clineParser {
	return &clineParser{
		jsonLines: newJSONLines(opts), telling: map[cw.StreamKind]partials{},
		changes: map[string]change{}, totals: map[string][2]int{},
	}
}

// Line reads one line.
func (p *clineParser) Line(line []byte) []cw.StreamEvent {
	var l clineLine
	return p.read(line, &l, func() ([]cw.StreamEvent, bool) {
		p.moveToText(l.TS)
		return p.line(&l)
	})
}

func (p *clineParser) line(l *clineLine) (events []cw.StreamEvent, known bool) {
	switch l.Type {
	case "run_start": // not with every run
		return p.begin(l.ModelID), true
	case "hook_event": // says again what agent_event says
		return nil, true
	case "agent_event":
		return p.event(l.Event)
	case "run_result":
		return p.result(l), true
	case "error":
		return one(p.failed(l.Message, "")), true
	}
	return nil, false
}

// begin tells the model once.
func (p *clineParser) begin(model string) []cw.StreamEvent {
	if model == "" || p.begun {
		return nil
	}
	p.begun = true
	return one(cw.StreamEvent{Kind: cw.StreamInit, Model: model})
}

func (p *clineParser) event(e clineEvent) (events []cw.StreamEvent, known bool) {
	switch e.Type {
	case "iteration_start":
		clear(p.telling)
		return nil, true
	case "content_start", "content_end":
		return p.content(e)
	case "usage":
		return p.usage(e), true
	case "error":
		return p.trip(e), true
	case "notice": // read
		return one(notice(e)), true
	case "content_update", "iteration_end", "done": // run_result says the last one again
		return nil, true
	}
	return nil, false
}

// content reads a block: words come in pieces and then whole, a tool as its
// call and then its result.
func (p *clineParser) content(e clineEvent) (events []cw.StreamEvent, known bool) {
	kind := cw.StreamText
	switch e.ContentType {
	case "text":
	case "reasoning":
		kind = cw.StreamThinking
	case "tool":
		if e.Type == "content_start" {
			return p.toolCall(e), true
		}
		return p.toolResult(e), true
	case "media":
		return nil, true
	default:
		return nil, false
	}
	return p.block(kind, e), true
}

// block tells a piece of words, or the rest of all of them.
func (p *clineParser) block(kind cw.StreamKind, e clineEvent) []cw.StreamEvent {
	told := p.telling[kind]
	if e.Type == "content_end" {
		delete(p.telling, kind)
		return told.rest("", kind, e.words())
	}
	if told == nil {
		told = partials{}
		told.begin("", kind)
		p.telling[kind] = told
	}
	return told.tell("", kind, e.words())
}

func (p *clineParser) toolCall(e clineEvent) []cw.StreamEvent {
	var input struct {
		Path string `json:"path"`
	}
	// The tool's name and its input were read.
	if e.ToolName == "editor" && json.Unmarshal(e.Input, &input) == nil && input.Path != "" {
		remember(p.changes, e.ToolCallID, change{path: input.Path, kind: "modify"})
	}
	return one(cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: e.ToolCallID, Tool: e.ToolName, Input: e.Input})
}

func (p *clineParser) toolResult(e clineEvent) []cw.StreamEvent {
	ev := cw.StreamEvent{Kind: cw.StreamToolResult, ToolUseID: e.ToolCallID}
	ev.Text, ev.IsError = e.result()
	expected, changes := p.changes[e.ToolCallID]
	delete(p.changes, e.ToolCallID)
	if ev.IsError {
		ev.Bucket = cw.BucketTool
		ev.PermissionDenied = strings.Contains(ev.Text, "requires approval in a TTY session")
		return one(ev)
	}
	if !changes {
		return one(ev)
	}
	return []cw.StreamEvent{ev, {
		Kind: cw.StreamFileChange, ToolUseID: e.ToolCallID, Path: expected.path, Change: expected.kind,
	}}
}

// usage tells the tokens of one answer. A line that leaves the agent's totals as
// they were tells no other answer.
func (p *clineParser) usage(e clineEvent) []cw.StreamEvent {
	totals := [2]int{e.TotalInputTokens, e.TotalOutputTokens}
	if p.ended || totals == p.totals[e.AgentID] {
		return nil
	}
	remember(p.totals, e.AgentID, totals)
	ev := cw.StreamEvent{Kind: cw.StreamUsage, Usage: e.usage()}
	if e.ParentAgentID == "" { // another agent has a context of its own
		ev.Context = &cw.ContextUse{Tokens: e.clineTokens.Input + e.clineTokens.Output}
	}
	return one(ev)
}

// trip reads an error. One that the agent recovers from is a warning.
func (p *clineParser) trip(e clineEvent) []cw.StreamEvent {
	text, bucket := e.failure(), ""
	if e.ErrorClass == "auth" {
		bucket = cw.BucketAuth
	}
	if e.Recoverable {
		bucket = cmp.Or(bucket, p.textBucket(text))
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: text, Bucket: bucket})
	}
	return one(p.failed(text, bucket))
}

// failed tells an error that the run's result will say again.
func (p *clineParser) failed(text, bucket string) cw.StreamEvent {
	p.failure, p.bucket = text, cmp.Or(bucket, p.textBucket(text))
	return p.trouble(text, p.bucket, nil)
}

// textBucket sorts an error by its words, with the status that it begins with.
// Mostly there is none: the text is the API's message alone.
func (p *clineParser) textBucket(text string) string {
	return p.bucketOf(apiError{text: text, status: statusOf(text)})
}

// notice reads what the program says to its user beside.
func notice(e clineEvent) cw.StreamEvent {
	switch {
	case strings.Contains(e.Reason, "compaction"):
		return cw.StreamEvent{Kind: cw.StreamCompaction, Text: e.Message}
	case e.NoticeType == "recovery" && e.Reason == "api_error":
		return cw.StreamEvent{Kind: cw.StreamRetry, Text: e.Message, Bucket: cw.BucketTransient}
	}
	return cw.StreamEvent{Kind: cw.StreamWarning, Text: e.Message}
}

// result reads the last line. Its totals take the place of the sums: they count
// the agents that this one started.
func (p *clineParser) result(l *clineLine) []cw.StreamEvent {
	p.ended = true
	total := l.AggregateUsage
	if total == (clineTokens{}) {
		total = l.Usage
	}
	end := cw.StreamEvent{
		Kind: cw.StreamResult, Text: l.Text, Turns: l.Iterations, CostUSD: total.TotalCost, Usage: total.usage(),
	}
	events := p.begin(l.Model.ID)
	if l.FinishReason == "completed" {
		return append(events, end)
	}
	end.IsError = true
	end.Text = cmp.Or(l.Text, p.failure, "it ended: "+l.FinishReason)
	switch {
	case l.FinishReason == "aborted":
		end.Bucket = cw.BucketAbort
	case p.failure != "":
		end.Bucket = p.bucket // it was told
	default:
		events = append(events, p.failed(end.Text, ""))
		end.Bucket = p.bucket
	}
	return append(events, end)
}
