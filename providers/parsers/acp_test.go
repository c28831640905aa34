package parsers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// acpText is a line with words of the agent.
func acpText(text string) string {
	return `{"type":"acp.update","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(mustJSON(text)) + `}}}`
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// acpTool is a line about a tool call; fields go behind its kind.
func acpTool(kind, fields string) string {
	return `{"type":"acp.update","update":{"sessionUpdate":"` + kind + `",` + fields + `}}`
}

// TestACPLines covers what no recording shows.
func TestACPLines(t *testing.T) {
	t.Parallel()
	const end = `{"type":"acp.result","stopReason":"end_turn"}`
	at := recordedAt()
	limitEnds := at.Add(90 * time.Second)
	tests := []struct {
		name    string
		lines   []string
		want    []cw.StreamEvent
		unknown int
	}{
		{name: "blank lines", lines: []string{"", "  "}},
		{name: "no line of the driver", lines: []string{"Error: boom", `{"type":`, `[]`, `null`, `{}`, `{"type":"acp.new"}`, acpTool("brand_new", `"a":1`), acpTool("tool_call", `"status":"completed"`)}, unknown: 8},
		{name: "what is of no interest", lines: []string{`{"type":"acp.refused","method":"m"}`, acpTool("user_message_chunk", `"content":{"type":"text","text":"x"}`), acpTool("current_mode_update", `"currentModeId":"x"`)}},
		{
			name:  "a result only once, and its call before it",
			lines: []string{acpTool("tool_call_update", `"toolCallId":"t","title":"ls","kind":"execute","status":"completed","rawOutput":{"a":1}`), acpTool("tool_call_update", `"toolCallId":"t","status":"completed"`), acpTool("tool_call_update", `"toolCallId":"t","status":"failed"`)},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "execute", Input: json.RawMessage(`{"title":"ls"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "t", Text: `{"a":1}`},
			},
		},
		{
			name: "a call that is announced is told with its arguments",
			lines: []string{
				acpTool("tool_call", `"toolCallId":"t","title":"bash","kind":"execute","status":"pending","rawInput":{"cwd":"/w"}`),
				acpTool("tool_call_update", `"toolCallId":"t","status":"in_progress","rawInput":{"command":"ls"}`),
				acpTool("tool_call_update", `"toolCallId":"t","status":"in_progress"`),
				acpTool("tool_call_update", `"toolCallId":"t","status":"failed","content":[{"type":"content","content":{"type":"text","text":"no"}},{"type":"content","content":{"type":"image"}},{"type":"terminal","terminalId":"x"}]`),
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "execute", Input: json.RawMessage(`{"command":"ls"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "t", Text: "no\n[image]\n[terminal]", IsError: true, Bucket: cw.BucketTool},
			},
		},
		{
			name: "a tool's name goes before its kind",
			lines: []string{
				acpTool("tool_call", `"toolCallId":"a","title":"ls","kind":"execute","status":"pending","rawInput":{"c":1},"_meta":{"toolName":"run_shell_command"}`),
				acpTool("tool_call", `"toolCallId":"b","title":"cw__ask: {\"a\":1}","kind":"other","rawInput":{"a":1}`),
				acpTool("tool_call", `"toolCallId":"c","title":"say it: loud","kind":"other"`),
				acpTool("tool_call", `"toolCallId":"d"`),
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "a", Tool: "run_shell_command", Input: json.RawMessage(`{"c":1}`)},
				{Kind: cw.StreamToolCall, ToolUseID: "b", Tool: "cw__ask", Input: json.RawMessage(`{"a":1}`)},
				{Kind: cw.StreamToolCall, ToolUseID: "c", Tool: "say it: loud", Input: json.RawMessage(`{"title":"say it: loud"}`)},
				{Kind: cw.StreamToolCall, ToolUseID: "d", Tool: "tool", Input: json.RawMessage(`{"title":""}`)},
			},
		},
		{
			name: "a request for permission tells the call",
			lines: []string{
				`{"type":"acp.permission","toolCall":{"toolCallId":"t","title":"ls","kind":"execute","status":"pending"},"option":{"optionId":"a"}}`,
				`{"type":"acp.permission"}`,
				acpTool("tool_call_update", `"toolCallId":"t","status":"completed","rawOutput":"out"`),
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "execute", Input: json.RawMessage(`{"title":"ls"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "t", Text: "out"},
			},
		},
		{
			name:  "files that were changed, unless it failed",
			lines: []string{acpTool("tool_call", `"toolCallId":"t","kind":"edit","status":"completed","content":[{"type":"diff","path":"/a","oldText":null,"newText":"x"},{"type":"diff","path":"/b","oldText":"","newText":"y"}]`), acpTool("tool_call", `"toolCallId":"u","kind":"edit","status":"failed","content":[{"type":"diff","path":"/c","newText":"x"}]`)},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "edit", Input: json.RawMessage(`{"title":""}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "t"},
				{Kind: cw.StreamFileChange, ToolUseID: "t", Path: "/a", Change: "add"},
				{Kind: cw.StreamFileChange, ToolUseID: "t", Path: "/b", Change: "modify"},
				{Kind: cw.StreamToolCall, ToolUseID: "u", Tool: "edit", Input: json.RawMessage(`{"title":""}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "u", IsError: true, Bucket: cw.BucketTool},
			},
		},
		{
			name: "thoughts, a plan, a warning, cost and counts",
			lines: []string{
				acpTool("agent_thought_chunk", `"content":{"type":"text","text":"hm"}`),
				acpTool("plan", `"entries":[{"content":"a"}]`),
				`{"type":"acp.warning","message":"w"}`,
				acpTool("usage_update", `"used":5,"size":9,"cost":{"amount":0.5,"currency":"USD"}`),
				acpTool("agent_message_chunk", `"content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":1,"outputTokens":2,"thoughtTokens":3,"cachedReadTokens":4}}`),
				end,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamThinking, Text: "hm"},
				{Kind: cw.StreamPlan, Input: json.RawMessage(`[{"content":"a"}]`), Steps: []cw.PlanStep{{ID: "step-0", Title: "a", Status: cw.StepPending}}},
				{Kind: cw.StreamWarning, Text: "w"},
				{Kind: cw.StreamUsage, Context: &cw.ContextUse{Tokens: 5, Limit: 9}},
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 1, OutputTokens: 2, ReasoningTokens: 3, CacheReadTokens: 4}},
				{Kind: cw.StreamResult, CostUSD: 0.5},
			},
		},
		{
			name:  "the cost of a session that went on is not the run's",
			lines: []string{`{"type":"acp.init","sessionId":"s","resumed":true}`, acpTool("usage_update", `"used":5,"size":9,"cost":{"amount":0.5,"currency":"USD"}`), end},
			want:  []cw.StreamEvent{{Kind: cw.StreamInit, SessionID: "s"}, {Kind: cw.StreamUsage, Context: &cw.ContextUse{Tokens: 5, Limit: 9}}, {Kind: cw.StreamResult}},
		},
		{
			name:  "a model may speak of errors",
			lines: []string{acpText("Error: 429 too many requests"), acpText(" is what it says."), end},
			want: []cw.StreamEvent{
				{Kind: cw.StreamText, Text: "Error: 429 too many requests"},
				{Kind: cw.StreamText, Text: " is what it says."},
				{Kind: cw.StreamResult, Text: "Error: 429 too many requests is what it says."},
			},
		},
		{
			name:  "a last error of no known kind is words",
			lines: []string{acpText("Error: it is impossible"), end},
			want:  []cw.StreamEvent{{Kind: cw.StreamText, Text: "Error: it is impossible"}, {Kind: cw.StreamResult, Text: "Error: it is impossible"}},
		},
		{
			name:  "an error before a tool call was overcome",
			lines: []string{acpText("Error: 500 oops"), acpTool("tool_call", `"toolCallId":"t","kind":"read","rawInput":{"p":1}`), end},
			want: []cw.StreamEvent{
				{Kind: cw.StreamText, Text: "Error: 500 oops"},
				{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "read", Input: json.RawMessage(`{"p":1}`)},
				{Kind: cw.StreamResult},
			},
		},
		{
			name:  "other ends",
			lines: []string{`{"type":"acp.result","stopReason":"cancelled"}`, `{"type":"acp.result","stopReason":"max_tokens"}`, `{"type":"acp.result"}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamResult, Text: "the turn was cancelled", IsError: true, Bucket: cw.BucketAbort},
				{Kind: cw.StreamResult, Text: "the agent stopped: max_tokens", IsError: true},
				{Kind: cw.StreamResult, Text: "the agent stopped: for no reason that it told", IsError: true},
			},
		},
		{
			name:  "a limit that says when it ends, overloads, and an error that says nothing",
			lines: []string{`{"type":"acp.error","code":429,"message":"Please retry in 1m30s"}`, `{"type":"acp.error","code":429,"message":"Please retry in 30s"}`, `{"type":"acp.error","code":-32603,"message":"Internal error","data":{"message":"503 busy"}}`, `{"type":"acp.error","message":"m","data":{"details":"d"}}`, `{"type":"acp.error"}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "rate_limit", Text: "Please retry in 1m30s", Until: &limitEnds}},
				{Kind: cw.StreamResult, Text: "Please retry in 1m30s", IsError: true, Bucket: cw.BucketLimit},
				{Kind: cw.StreamError, Text: "429 Please retry in 30s", Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: "429 Please retry in 30s", IsError: true, Bucket: cw.BucketTransient},
				{Kind: cw.StreamError, Text: "503 busy", Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: "503 busy", IsError: true, Bucket: cw.BucketTransient},
				{Kind: cw.StreamError, Text: "m: d"},
				{Kind: cw.StreamResult, Text: "m: d", IsError: true},
				{Kind: cw.StreamError, Text: "an error without words"},
				{Kind: cw.StreamResult, Text: "an error without words", IsError: true},
			},
		},
		{
			name:    "a field of another type spoils only itself",
			lines:   []string{`{"type":"acp.result","stopReason":"end_turn","usage":7}`, acpTool("agent_message_chunk", `"content":[1]`), acpTool("usage_update", `"used":"x","size":9`)},
			want:    []cw.StreamEvent{{Kind: cw.StreamUsage, Usage: &cw.Usage{}}, {Kind: cw.StreamResult, Usage: &cw.Usage{}}, {Kind: cw.StreamUsage, Context: &cw.ContextUse{Limit: 9}}},
			unknown: 3,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newACP(Options{Since: at})
			var got []cw.StreamEvent
			for _, line := range tt.lines {
				got = append(got, p.Line([]byte(line))...)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if p.Unknown() != tt.unknown {
				t.Errorf("%d unknown lines, want %d", p.Unknown(), tt.unknown)
			}
		})
	}
}

// TestACPForgetsInputs: a call that was told is no reason to keep what it was
// given: that may be a whole file, and there may be thousands.
func TestACPForgetsInputs(t *testing.T) {
	t.Parallel()
	p := newACP(Options{Since: recordedAt()})
	input := `"rawInput":{"content":"` + strings.Repeat("x", 1000) + `"}`
	events := p.Line([]byte(acpTool("tool_call", `"toolCallId":"t","kind":"edit","status":"in_progress",`+input)))
	events = append(events, p.Line([]byte(acpTool("tool_call_update", `"toolCallId":"t","status":"completed",`+input)))...)
	if len(events) != 2 || events[0].Kind != cw.StreamToolCall || len(events[0].Input) < 1000 || events[1].Kind != cw.StreamToolResult {
		t.Fatalf("%+v", events)
	}
	if call := p.calls["t"]; !call.told || !call.done || len(call.RawInput) > 0 {
		t.Errorf("%d bytes are kept; told %v, done %v", len(call.RawInput), call.told, call.done)
	}
}

// TestACPClock: a wait that an error names begins when the line was written, not
// when the run was.
func TestACPClock(t *testing.T) {
	t.Parallel()
	since := recordedAt()
	r := NewReading(newACP(Options{Since: since}))
	written := since.Add(3 * time.Hour)
	events := r.FeedAt([]byte(`{"type":"acp.error","code":429,"message":"retry in 1h"}`+"\n"), written)
	if len(events) != 2 || events[0].Limit == nil || events[0].Limit.Until == nil || !events[0].Limit.Until.Equal(written.Add(time.Hour)) {
		t.Errorf("%+v", events)
	}
}

// TestACPMemoryIsBounded forgets tool calls when there are too many.
func TestACPMemoryIsBounded(t *testing.T) {
	t.Parallel()
	p := newACP(Options{})
	for i := range 3 * claudeMemory {
		p.Line([]byte(acpTool("tool_call", fmt.Sprintf(`"toolCallId":"t%d","kind":"read","status":"pending","content":[{"type":"content"}],"rawOutput":"x"`, i))))
	}
	if n := len(p.calls); n == 0 || n > claudeMemory {
		t.Errorf("%d calls are remembered", n)
	}
	for _, call := range p.calls {
		if call.Content != nil || call.RawOutput != nil {
			t.Fatal("what tools gave is remembered")
		}
	}
}

// FuzzACP: no output takes the program down, all that comes out can be sent as
// JSON, and each tool result has its call.
func FuzzACP(f *testing.F) {
	paths, err := filepath.Glob("testdata/acp/*.jsonl")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(acpTool("tool_call", `"toolCallId":"t","kind":"edit","status":"completed","content":[{"type":"diff","path":"/a"},{"type":"content","content":{"type":"content","content":{"type":"text","text":"x"}}}]`)))
	f.Add([]byte(acpText("Error: (HTTP 429)") + "\n" + `{"type":"acp.result","stopReason":"end_turn"}`))
	options := Options{Since: recordedAt(), Patterns: Patterns{Auth: []*regexp.Regexp{regexp.MustCompile("key")}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		open := map[string]int{}
		var s Summary
		r := NewReading(newACP(options))
		for _, ev := range append(r.Feed(data), r.Flush()...) {
			out, err := json.Marshal(ev)
			if err != nil || !utf8.Valid(out) {
				t.Fatalf("%+v: %v", ev, err)
			}
			switch ev.Kind {
			case cw.StreamToolCall:
				open[ev.ToolUseID]++
			case cw.StreamToolResult:
				if open[ev.ToolUseID]--; open[ev.ToolUseID] < 0 {
					t.Fatalf("the result of %q has no call", ev.ToolUseID)
				}
			}
			s.Add(ev)
		}
		if text := s.LastText.String(); !utf8.ValidString(text) || len(text) > lastTextMax {
			t.Fatalf("last text %q", text)
		}
	})
}

// TestACPTitles are clipped where they serve as a name.
func TestACPTitles(t *testing.T) {
	t.Parallel()
	u := acpUpdate{Title: strings.Repeat("ä", 1000)}
	if name := u.tool(); len(name) > acpToolClip+len("…") || !utf8.ValidString(name) {
		t.Errorf("%d bytes: %s", len(name), name)
	}
}
