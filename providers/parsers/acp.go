package parsers

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
)

// acpToolClip is how many bytes of a title serve as the name of a tool.
const acpToolClip = 80

// acpStatus is the HTTP status in the words of copilot: "Authentication failed
// with provider at … (HTTP 401)."
var acpStatus = cw.Pattern(`\(HTTP (\d{3})\)`)

// acpAuthRequired is the protocol's own code for a login that is needed.
const acpAuthRequired = -32000

// acpParser reads the lines of `cw acp`. They carry no time, and most agents
// count nothing before the result.
type acpParser struct {
	jsonLines
	calls   map[string]acpCall // tool calls that are known
	said    Words              // since the last tool call: the result has no words of its own
	suspect string             // the last words, when they may be an error in disguise
	attempt int                // of the retry that was announced last; 0 when something went on since
	resumed bool
	costUSD float64
}

// acpCall is what was told of a tool call.
type acpCall struct {
	acpUpdate      // as far as it is known, until it is told
	told      bool // the call
	done      bool // and its result
}

func newACP(opts Options) *acpParser {
	return &acpParser{jsonLines: newJSONLines(opts), calls: map[string]acpCall{}}
}

// clock tells when the next lines were written.
func (p *acpParser) clock(at time.Time) {
	if !p.opts.Since.IsZero() {
		p.moveTo(at)
	}
}

// Line reads one line.
func (p *acpParser) Line(line []byte) []cw.StreamEvent {
	var l acpLine
	return p.read(line, &l, func() ([]cw.StreamEvent, bool) { return p.line(&l) })
}

func (p *acpParser) line(l *acpLine) (events []cw.StreamEvent, known bool) {
	switch l.Type {
	case "acp.init":
		p.resumed = l.Resumed
		return one(cw.StreamEvent{Kind: cw.StreamInit, SessionID: l.SessionID, Model: l.Model}), true
	case "acp.update":
		return p.update(&l.Update)
	case "acp.permission": // gemini tells the call in no other way
		return p.call(&l.ToolCall, false), true
	case "acp.refused":
		return nil, true
	case "acp.warning":
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: l.Message}), true
	case "acp.error":
		return p.failed(l.errorText(), l.Code), true
	case "acp.result":
		return p.result(l), true
	}
	return nil, false
}

func (p *acpParser) update(u *acpUpdate) (events []cw.StreamEvent, known bool) {
	switch u.Kind {
	case "agent_message_chunk":
		return p.words(u)
	case "agent_thought_chunk":
		p.goOn()
		text, known := u.chunk()
		return append(spoken(cw.StreamThinking, text), p.counted(u)...), known
	case "tool_call", "tool_call_update":
		p.goOn()
		return p.tool(u), u.ToolCallID != ""
	case "plan":
		p.goOn()
		return one(cw.StreamEvent{Kind: cw.StreamPlan, Input: u.Entries, Steps: listSteps(u.Entries)}), true
	case "usage_update":
		if c := u.Cost; c != nil && c.Currency == "USD" && !p.resumed { // else it is of earlier runs too
			p.costUSD = c.Amount
		}
		return one(cw.StreamEvent{Kind: cw.StreamUsage, Context: &cw.ContextUse{Tokens: u.Used, Limit: u.Size}}), true
	case "user_message_chunk", "session_info_update", "current_mode_update",
		"available_commands_update", "config_option_update":
		return nil, true
	}
	return nil, false
}

// spoken is an event with words, none without.
func spoken(kind cw.StreamKind, text string) []cw.StreamEvent {
	if text == "" {
		return nil
	}
	return one(cw.StreamEvent{Kind: kind, Text: text})
}

// goOn forgets what the agent said before it went on.
func (p *acpParser) goOn() { p.suspect, p.attempt = "", 0 }

// counted gives the count that qwen adds to its chunks.
func (p *acpParser) counted(u *acpUpdate) []cw.StreamEvent {
	if u.Meta.Usage == nil {
		return nil
	}
	return one(cw.StreamEvent{Kind: cw.StreamUsage, Usage: u.Meta.Usage.usage()})
}

// words reads a piece of the model's words. Copilot puts words of its own among
// them: that it tries again, and at the end what went wrong.
func (p *acpParser) words(u *acpUpdate) (events []cw.StreamEvent, known bool) {
	text, known := u.chunk()
	if strings.HasPrefix(text, "Info: ") && strings.HasSuffix(text, "Retrying...") {
		p.attempt++
		return one(cw.StreamEvent{Kind: cw.StreamRetry, Attempt: p.attempt, Text: text, Bucket: cw.BucketTransient}), known
	}
	if text != "" {
		p.goOn()
		p.said.add(text)
	}
	if strings.HasPrefix(text, "Error: ") {
		p.suspect = text
	}
	return append(spoken(cw.StreamText, text), p.counted(u)...), known
}

// tool reads a tool call, what becomes of it, or both at once.
func (p *acpParser) tool(u *acpUpdate) []cw.StreamEvent {
	over := u.Status == "completed" || u.Status == "failed"
	events := p.call(u, over)
	call := p.calls[u.ToolCallID]
	if !over || call.done || !call.told {
		return events
	}
	call.done = true
	remember(p.calls, u.ToolCallID, call)
	result := cw.StreamEvent{Kind: cw.StreamToolResult, ToolUseID: u.ToolCallID, Text: u.output()}
	if u.Status == "failed" {
		result.IsError, result.Bucket = true, cw.BucketTool
		return append(events, result)
	}
	events = append(events, result)
	for _, block := range u.blocks() {
		if block.Type != "diff" {
			continue
		}
		change := "modify"
		if block.OldText == nil {
			change = "add"
		}
		events = append(events, cw.StreamEvent{Kind: cw.StreamFileChange, ToolUseID: u.ToolCallID, Path: block.Path, Change: change})
	}
	return events
}

// call tells a tool call once, as soon as its arguments are known, and at last
// when it is over.
func (p *acpParser) call(u *acpUpdate, over bool) []cw.StreamEvent {
	call, known := p.calls[u.ToolCallID]
	if call.told || u.ToolCallID == "" {
		return nil
	}
	if !known {
		call.acpUpdate = *u
		call.Content, call.RawOutput = nil, nil // they may be large
	} else {
		call.merge(u)
	}
	call.told = over || !call.announced() || u.Status == "in_progress"
	if !call.told {
		remember(p.calls, u.ToolCallID, call)
		return nil
	}
	p.said = Words{}
	told := cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: u.ToolCallID, Tool: call.tool(), Input: call.input()}
	remember(p.calls, u.ToolCallID, acpCall{told: true}) // its input may be a whole file
	return one(told)
}

// failed reads a bad end.
func (p *acpParser) failed(text string, code int) []cw.StreamEvent {
	bucket := p.bucket(text, code)
	text = rateText(text, code, bucket)
	return []cw.StreamEvent{p.trouble(text, bucket, nil), {
		Kind: cw.StreamResult, Text: text, IsError: true, Bucket: bucket, CostUSD: p.costUSD,
	}}
}

// bucket sorts an error by its words, with its code (gemini's are HTTP statuses)
// or the status in them.
func (p *acpParser) bucket(text string, code int) string {
	if code == acpAuthRequired {
		return cw.BucketAuth
	}
	status := statusOf(text)
	if m := acpStatus().FindStringSubmatch(text); m != nil {
		status, _ = strconv.Atoi(m[1]) // digits by the pattern
	}
	if statusBucket(max(0, code)) != "" {
		status = code
	}
	return p.bucketOf(apiError{text: text, status: status})
}

// result reads the agent's own end of the turn. Copilot ends one well whose last
// words are the error that ended it; they count as one only when it is a known
// kind of error.
func (p *acpParser) result(l *acpLine) []cw.StreamEvent {
	var events []cw.StreamEvent
	usage := l.usage()
	if usage != nil {
		events = one(cw.StreamEvent{Kind: cw.StreamUsage, Usage: usage})
	}
	end := cw.StreamEvent{Kind: cw.StreamResult, Text: p.said.String(), Usage: usage, CostUSD: p.costUSD}
	switch l.StopReason {
	case "end_turn":
		text := strings.TrimPrefix(p.suspect, "Error: ")
		bucket := p.bucket(text, 0)
		if p.suspect == "" || bucket == "" {
			break
		}
		events = append(events, p.trouble(text, bucket, nil))
		end.Text, end.IsError, end.Bucket = text, true, bucket
	case "cancelled":
		end.Text, end.IsError, end.Bucket = "the turn was cancelled", true, cw.BucketAbort
	default: // max_tokens, max_turn_requests, refusal
		end.Text, end.IsError = "the agent stopped: "+cmp.Or(l.StopReason, "for no reason that it told"), true
	}
	return append(events, end)
}
