package parsers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// Limits of what a parser remembers. Beyond them it forgets, which may double a
// usage or lose a file change, and never grows.
const (
	claudeMemory   = 4096 // tool calls and conversations
	claudeTextClip = 2000 // bytes of a warning
)

// claudeParser reads the output of `claude -p --output-format stream-json
// --verbose`. The result line is not always the last one, and its subtype is
// never trusted.
type claudeParser struct {
	opts    Options
	edits   []string // the tools that change the file named in their input
	unknown int
	now     moment

	model   string
	context int               // tokens of the main conversation after its last answer
	counted tally             // what was told of each message
	changes map[string]change // tool call -> the file it is to change
	denied  map[string]bool   // tool calls already told as refused
	partial partials
	tasks   claudeTasks
	running backgroundTasks
	models  []cw.ModelUsage // what the process used by its results so far, where they tell it apart
	cost    float64         // of that

	limit   *cw.Limit // the account is at its limit, and nothing went on since
	failure string    // the kind of the last error line of this turn
}

// change is a file change that was asked for and is not done yet.
type change struct {
	path string
	kind string
}

func newClaude(opts Options) *claudeParser {
	return &claudeParser{
		opts:    opts,
		edits:   []string{"Write", "Edit", "MultiEdit", "NotebookEdit"},
		now:     moment{at: opts.Since},
		changes: map[string]change{},
		denied:  map[string]bool{},
		partial: partials{},
		tasks:   claudeTasks{waiting: map[string]string{}},
	}
}

// Unknown is the number of lines that were not, or not wholly, understood.
func (p *claudeParser) Unknown() int { return p.unknown }

// Line reads one line.
func (p *claudeParser) Line(line []byte) []cw.StreamEvent {
	var l claudeLine
	return p.read(line, &l, &l, func() ([]cw.StreamEvent, bool) { return p.line(&l) })
}

// read decodes a line into whole, and gives the events of it. What is claude's
// of the line is in part: other CLIs write lines like claude's with some of
// their own.
func (p *claudeParser) read(line []byte, whole any, part *claudeLine, events func() ([]cw.StreamEvent, bool)) []cw.StreamEvent {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	err := json.Unmarshal(validUTF8(line), whole)
	if err != nil && (!isWrongType(err) || part.Type == "") {
		p.unknown++
		return nil
	}
	told, known := events()
	if !known || err != nil || part.Message.odd() {
		p.unknown++
	}
	return told
}

func (p *claudeParser) line(l *claudeLine) (events []cw.StreamEvent, known bool) {
	if at, err := time.Parse(time.RFC3339, l.Timestamp); err == nil && !l.Replay {
		p.now.tell(at)
	}
	switch l.Type {
	case "system":
		return p.system(l)
	case "assistant":
		return p.assistant(l), true
	case "user":
		return p.user(l), true
	case "stream_event":
		return p.streamEvent(l), true
	case "rate_limit_event":
		return p.rateLimit(l.RateLimit), true
	case "result":
		return p.result(l), true
	case "tool_progress", "keep_alive": // named in the program, nothing to show
		return nil, true
	}
	return nil, false
}

func (p *claudeParser) system(l *claudeLine) (events []cw.StreamEvent, known bool) {
	switch l.Subtype {
	case "init":
		p.model = l.Model
		return one(cw.StreamEvent{Kind: cw.StreamInit, SessionID: l.SessionID, Model: l.Model}), true
	case "api_retry":
		return one(cw.StreamEvent{
			Kind: cw.StreamRetry, Attempt: l.Attempt,
			Delay:  time.Duration(l.RetryDelayMS * float64(time.Millisecond)).Round(time.Millisecond),
			Text:   retryText(l),
			Bucket: p.bucket(l.Error, l.ErrorStatus, ""),
		}), true
	case "compact_boundary":
		return one(p.compaction(l)), true
	case "notification":
		if l.Key == "stop-hook-error" { // the hook's own words come as a user line
			return nil, true
		}
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: clip(l.Text, claudeTextClip)}), true
	case "model_fallback", "model_refusal_fallback", "model_consent_fallback":
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: clip(l.Content, claudeTextClip)}), true
	case "permission_denied":
		return p.denial(l.ToolUseID, l.ToolName, l.Message.Text), true
	case "task_started":
		p.running.start(l.TaskID, l.ToolUseID)
		return nil, true
	case "task_notification":
		return p.running.end(l.TaskID), true
	case "status", "thinking_tokens", "task_updated", "task_progress", "task_summary",
		"hook_started", "hook_progress", "hook_response", "stop_hook_summary",
		"session_state_changed", "background_tasks_changed", "turn_duration", "turn_starting", "commands_changed", "informational",
		"files_persisted", "memory_recall", "memory_saved", "post_turn_summary", "local_command_output":
		return nil, true
	}
	return nil, false
}

func retryText(l *claudeLine) string {
	status := ""
	if l.ErrorStatus != 0 { // none when the server was not reached
		status = fmt.Sprintf(" (%d)", l.ErrorStatus)
	}
	return fmt.Sprintf("%s%s, try %d of %d", l.Error, status, l.Attempt, l.MaxRetries)
}

func (p *claudeParser) compaction(l *claudeLine) cw.StreamEvent {
	ev := cw.StreamEvent{Kind: cw.StreamCompaction}
	if l.Compact.PreTokens > 0 {
		ev.Text = fmt.Sprintf("%s, %d tokens before", l.Compact.Trigger, l.Compact.PreTokens)
	}
	if l.Compact.PostTokens > 0 {
		p.context = l.Compact.PostTokens
		ev.Context = &cw.ContextUse{Tokens: p.context}
	}
	return ev
}

// assistant reads a line with (as a rule) one block of an answer. All lines of
// one message carry the same id and usage.
func (p *claudeParser) assistant(l *claudeLine) []cw.StreamEvent {
	if l.Error != "" { // written by the CLI itself: model <synthetic>
		return p.errorLine(l)
	}
	p.limit, p.failure = nil, ""
	var events []cw.StreamEvent
	for _, b := range l.Message.Content.blocks {
		events = append(events, p.block(l.ParentToolUseID, b)...)
	}
	return append(events, p.countUsage(l)...)
}

func (p *claudeParser) block(parent string, b claudeBlock) []cw.StreamEvent {
	switch b.Type {
	case "text":
		return p.partial.rest(parent, cw.StreamText, b.Text)
	case "thinking":
		return p.partial.rest(parent, cw.StreamThinking, b.Thinking)
	case "tool_use", "server_tool_use", "mcp_tool_use":
		call := cw.StreamEvent{Kind: cw.StreamToolCall, ParentToolUseID: parent, ToolUseID: b.ID, Tool: b.Name, Input: b.Input}
		p.expectChange(b)
		if !isPlan(b.Name) {
			return one(call)
		}
		plan := call
		plan.Kind, plan.Steps = cw.StreamPlan, p.nativeSteps(b)
		return []cw.StreamEvent{call, plan}
	}
	return nil // redacted_thinking and the like: nothing to read
}

// isPlan tells the tools with which the model keeps its list of steps. Under
// -p 2.1.197 offers TaskCreate and TaskUpdate; older ones had TodoWrite, and qwen
// has todo_write (read, not seen).
func isPlan(tool string) bool {
	return tool == "TodoWrite" || tool == "TaskCreate" || tool == "TaskUpdate" || tool == "todo_write"
}

// expectChange remembers which file a tool call is to change. It is told when
// the call has succeeded: it may be denied or fail.
func (p *claudeParser) expectChange(b claudeBlock) {
	if !slices.Contains(p.edits, b.Name) {
		return
	}
	if path := editedPath(b.Input); path != "" {
		remember(p.changes, b.ID, change{path: path, kind: "modify"})
	}
}

// editedPath gives the file that the input of an editing tool names, "" when
// there is none.
func editedPath(input json.RawMessage) string {
	var named struct {
		FilePath     string `json:"file_path"`
		NotebookPath string `json:"notebook_path"`
		Path         string `json:"path"` // amp, cursor, pi
	}
	if json.Unmarshal(input, &named) != nil {
		return ""
	}
	return cmp.Or(named.FilePath, named.NotebookPath, named.Path)
}

// countUsage tells a message's usage. All lines of a message carry it, and later
// ones may carry more: only what is more than before is told.
func (p *claudeParser) countUsage(l *claudeLine) []cw.StreamEvent {
	m := l.Message
	if m.Usage == nil || m.ID == "" {
		return nil
	}
	more, first := p.counted.add(m.ID, m.Usage.usage())
	if !first && more == (cw.Usage{}) {
		return nil
	}
	ev := cw.StreamEvent{Kind: cw.StreamUsage, ParentToolUseID: l.ParentToolUseID, Model: m.Model, Usage: &more}
	if l.ParentToolUseID == "" { // a sub-agent has a context of its own
		p.context = m.Usage.context()
		ev.Context = &cw.ContextUse{Tokens: p.context}
	}
	return one(ev)
}

// user reads tool results, and what the CLI says to the model in the user's place.
func (p *claudeParser) user(l *claudeLine) []cw.StreamEvent {
	var events []cw.StreamEvent
	for _, b := range l.Message.Content.blocks {
		switch {
		case b.Type == "tool_result":
			events = append(events, p.toolResult(l, b)...)
			events = append(events, p.running.outlives(b.ToolUseID)...)
		case b.Type != "text" || l.Replay: // a replay is the prompt again
		case strings.HasPrefix(b.Text, "[Request interrupted by user"):
			events = append(events, cw.StreamEvent{Kind: cw.StreamError, Text: b.Text, Bucket: cw.BucketAbort})
		case l.Synthetic: // feedback of a hook, a demand for structured output
			events = append(events, cw.StreamEvent{
				Kind: cw.StreamWarning, ParentToolUseID: l.ParentToolUseID, Text: clip(b.Text, claudeTextClip),
			})
		}
	}
	return events
}

func (p *claudeParser) toolResult(l *claudeLine, b claudeBlock) []cw.StreamEvent {
	ev := cw.StreamEvent{
		Kind: cw.StreamToolResult, ParentToolUseID: l.ParentToolUseID,
		ToolUseID: b.ToolUseID, Text: b.Content.text(), IsError: b.IsError,
	}
	expected, changes := p.changes[b.ToolUseID]
	delete(p.changes, b.ToolUseID)
	if b.IsError {
		ev.Bucket = cw.BucketTool
		switch {
		case strings.HasPrefix(ev.Text, "The user doesn't want to proceed with this tool use"):
			ev.Bucket = cw.BucketAbort // SIGINT while the tool ran
		case isDenial(ev.Text) && !p.denied[b.ToolUseID]:
			ev.PermissionDenied = true
			remember(p.denied, b.ToolUseID, true)
		}
		return append(one(ev), p.createdTask(ev)...)
	}
	if !changes {
		return append(one(ev), p.createdTask(ev)...)
	}
	if l.ToolUse.Type == "create" {
		expected.kind = "add"
	}
	return []cw.StreamEvent{ev, {
		Kind: cw.StreamFileChange, ParentToolUseID: l.ParentToolUseID, ToolUseID: b.ToolUseID,
		Path: expected.path, Change: expected.kind,
	}}
}

// isDenial knows the words with which a tool is refused for want of permission.
func isDenial(text string) bool {
	return strings.HasPrefix(text, "Permission to use ") ||
		strings.HasPrefix(text, "Claude requested permissions to ") ||
		strings.Contains(text, " was blocked. For security, ") ||
		strings.Contains(text, "haven't granted it yet")
}

// denial tells a refusal that no tool result has told yet.
func (p *claudeParser) denial(toolUseID, tool, text string) []cw.StreamEvent {
	if p.denied[toolUseID] {
		return nil
	}
	remember(p.denied, toolUseID, true)
	return one(cw.StreamEvent{
		Kind: cw.StreamWarning, ToolUseID: toolUseID, Tool: tool, PermissionDenied: true,
		Text: clip("permission denied: "+tool+" "+text, claudeTextClip),
	})
}

// result reads the CLI's own word on the end of a turn.
func (p *claudeParser) result(l *claudeLine) []cw.StreamEvent {
	ev := cw.StreamEvent{
		Kind: cw.StreamResult, Text: l.Result, Turns: l.NumTurns,
		IsError: p.isBad(l),
	}
	if ev.Text == "" {
		ev.Text = errorText(l)
	}
	p.totals(&ev, l)
	var events []cw.StreamEvent
	for _, d := range l.PermissionDenials {
		events = append(events, p.denial(d.ToolUseID, d.ToolName, string(d.ToolInput))...)
	}
	if ev.IsError {
		ev.Text = cmp.Or(ev.Text, noReason)
		ev.Bucket = p.bucket(p.failure, l.APIErrorStatus, ev.Text)
		if strings.HasPrefix(l.TerminalReason, "aborted") {
			ev.Bucket = cw.BucketAbort
		}
		if ev.Bucket == cw.BucketLimit && p.limit == nil {
			events = append(events, p.limitEvent(p.failure, ev.Text))
		}
		ev.Text = p.rateText(ev.Text, p.failure, l.APIErrorStatus, ev.Bucket)
	} else {
		p.limit = nil
	}
	p.failure = ""
	return append(events, ev)
}

// isBad tells whether a result is of a bad end. An error that is_error alone
// tells would become a good end when only that was lost: an error has always
// one more sign.
func (p *claudeParser) isBad(l *claudeLine) bool {
	return l.IsError || strings.HasPrefix(l.Subtype, "error") || l.APIErrorStatus >= 400 ||
		p.failure != "" || strings.HasPrefix(l.TerminalReason, "aborted")
}

// errorText gives what an error result says. After an interruption that is a
// note for the CLI's own developers, so the reason stands in for it.
func errorText(l *claudeLine) string {
	text := strings.Join(l.Errors, "; ")
	if strings.HasPrefix(l.TerminalReason, "aborted") && (text == "" || strings.HasPrefix(text, "[ede_diagnostic]")) {
		return "interrupted (" + l.TerminalReason + ")"
	}
	return text
}

// totals gives the usage and the cost of the process so far. modelUsage has it whole,
// since 2.1.246 with what earlier processes of the session used; then the parts since
// each result before are summed. usage is of the turn, and zero when the turn broke.
func (p *claudeParser) totals(ev *cw.StreamEvent, l *claudeLine) {
	ev.CostUSD, ev.Models = l.TotalCostUSD, addModels(nil, l.ModelUsage)
	if l.SinceLast != nil {
		p.models = addModels(p.models, l.SinceLast)
		for _, m := range l.SinceLast {
			p.cost += m.CostUSD
		}
		ev.CostUSD, ev.Models = p.cost, p.models
	}
	usage := sumOf(ev.Models)
	if len(ev.Models) == 0 && l.Usage != nil {
		usage = l.Usage.usage()
	}
	if usage != (cw.Usage{}) {
		ev.Usage = &usage
	}
	if window := l.ModelUsage[p.model].ContextWindow; window > 0 || p.context > 0 {
		ev.Context = &cw.ContextUse{Tokens: p.context, Limit: window}
	}
}

// addModels adds what models used, in the order of their names.
func addModels(list []cw.ModelUsage, used map[string]claudeModelUsage) []cw.ModelUsage {
	for _, model := range slices.Sorted(maps.Keys(used)) {
		list = addModel(list, model, used[model].usage())
	}
	return list
}

func one(ev cw.StreamEvent) []cw.StreamEvent { return []cw.StreamEvent{ev} }

// remember sets an entry and forgets all others when there are too many.
func remember[V any](m map[string]V, key string, value V) {
	if len(m) >= claudeMemory {
		clear(m)
	}
	m[key] = value
}
