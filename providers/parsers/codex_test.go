package parsers

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestCodexLines covers what no recording shows: types of items that were not
// recorded are written as the program's own types have them.
func TestCodexLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		lines   []string
		want    []cw.StreamEvent
		unknown int
	}{
		{name: "blank lines", lines: []string{"", "  ", "\t"}},
		{name: "no JSON", lines: []string{"Error: boom", `{"type":"error"`, `[]`, `"x"`, `null`, `{}`, `7`}, unknown: 7},
		{name: "types that are not known", lines: []string{`{"type":"thread.renamed"}`, `{"type":"item.completed","item":{"id":"i","type":"new"}}`}, unknown: 2},
		{
			name:    "a field of another type spoils only itself",
			lines:   []string{`{"type":"item.completed","item":{"id":"i","type":"command_execution","exit_code":"x","aggregated_output":"out","status":"failed","command":5}}`},
			unknown: 1,
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "i", Tool: "shell", Input: json.RawMessage(`{"command":""}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "i", Text: "out", IsError: true, Bucket: cw.BucketTool},
			},
		},
		{
			name: "a command that fails in silence tells its code",
			lines: []string{
				`{"type":"item.started","item":{"id":"i","type":"command_execution","command":"false","aggregated_output":"","exit_code":null,"status":"in_progress"}}`,
				`{"type":"item.updated","item":{"id":"i","type":"command_execution","command":"false","aggregated_output":"","exit_code":null,"status":"in_progress"}}`,
				`{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"false","aggregated_output":"","exit_code":1,"status":"failed"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "i", Tool: "shell", Input: json.RawMessage(`{"command":"false"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "i", Text: "exit code 1", IsError: true, Bucket: cw.BucketTool},
			},
		},
		{
			name: "a patch changes files, one that fails does not",
			lines: []string{
				`{"type":"item.completed","item":{"id":"i","type":"file_change","changes":[{"path":"/w/a","kind":"add"},{"path":"/w/b","kind":"update"},{"path":"/w/c","kind":"delete"}],"status":"completed"}}`,
				`{"type":"item.completed","item":{"id":"j","type":"file_change","changes":[{"path":"/w/d","kind":"add"}],"status":"failed"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "i", Tool: "apply_patch", Input: json.RawMessage(`{"changes":[{"path":"/w/a","kind":"add"},{"path":"/w/b","kind":"update"},{"path":"/w/c","kind":"delete"}]}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "i"},
				{Kind: cw.StreamFileChange, ToolUseID: "i", Path: "/w/a", Change: "add"},
				{Kind: cw.StreamFileChange, ToolUseID: "i", Path: "/w/b", Change: "modify"},
				{Kind: cw.StreamFileChange, ToolUseID: "i", Path: "/w/c", Change: "delete"},
				{Kind: cw.StreamToolCall, ToolUseID: "j", Tool: "apply_patch", Input: json.RawMessage(`{"changes":[{"path":"/w/d","kind":"add"}]}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "j", IsError: true, Bucket: cw.BucketTool},
			},
		},
		{
			name: "an id that comes again is another call",
			lines: []string{
				`{"type":"item.completed","item":{"id":"i","type":"web_search","query":"a"}}`,
				`{"type":"item.completed","item":{"id":"i","type":"web_search","query":"b"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "i", Tool: "web_search", Input: json.RawMessage(`{"query":"a"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "i"},
				{Kind: cw.StreamToolCall, ToolUseID: "i", Tool: "web_search", Input: json.RawMessage(`{"query":"b"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "i"},
			},
		},
		{
			name:  "a plan",
			lines: []string{`{"type":"item.updated","item":{"id":"i","type":"todo_list","items":[{"text":"one","completed":true}]}}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamPlan, ToolUseID: "i", Input: json.RawMessage(`{"items":[{"text":"one","completed":true}]}`), Steps: []cw.PlanStep{{ID: "step-0", Title: "one", Status: cw.StepCompleted}}}},
		},
		{
			name:  "thoughts",
			lines: []string{`{"type":"item.completed","item":{"id":"i","type":"reasoning","text":"hm"}}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamThinking, Text: "hm\n"}},
		},
		{
			name: "a search of the web, a helper",
			lines: []string{
				`{"type":"item.completed","item":{"id":"i","type":"web_search","query":"go"}}`,
				`{"type":"item.started","item":{"id":"j","type":"collab_tool_call","tool":"spawn_agent","prompt":"look","status":"in_progress"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "i", Tool: "web_search", Input: json.RawMessage(`{"query":"go"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "i"},
				{Kind: cw.StreamToolCall, ToolUseID: "j", Tool: "spawn_agent", Input: json.RawMessage(`{"prompt":"look"}`)},
			},
		},
		{
			name: "the attempts of the network have no numbers; they count on, until something goes on",
			lines: []string{
				`{"type":"error","message":"Reconnecting... 5/5 (x)"}`,
				`{"type":"error","message":"Reconnecting... waiting for network (no route)"}`,
				`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"on"}}`,
				`{"type":"error","message":"Reconnecting... waiting for network"}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamRetry, Attempt: 5, Text: "Reconnecting... 5/5 (x)", Bucket: cw.BucketTransient},
				{Kind: cw.StreamRetry, Attempt: 6, Text: "Reconnecting... waiting for network (no route)", Bucket: cw.BucketTransient},
				{Kind: cw.StreamText, Text: "on\n"},
				{Kind: cw.StreamRetry, Attempt: 1, Text: "Reconnecting... waiting for network", Bucket: cw.BucketTransient},
			},
		},
		{
			name: "an error line that is not final is a warning, one that is comes once",
			lines: []string{
				`{"type":"error","message":"odd"}`,
				`{"type":"turn.started"}`,
				`{"type":"error","message":"bad"}`,
				`{"type":"turn.failed","error":{"message":"bad"}}`,
				`{"type":"error","message":"one"}`,
				`{"type":"turn.failed","error":{"message":"other"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamWarning, Text: "odd"},
				{Kind: cw.StreamError, Text: "bad"},
				{Kind: cw.StreamResult, Text: "bad", IsError: true},
				{Kind: cw.StreamWarning, Text: "one"},
				{Kind: cw.StreamError, Text: "other"},
				{Kind: cw.StreamResult, Text: "other", IsError: true},
			},
		},
		{
			name:  "a plain apostrophe, a date",
			lines: []string{`{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again at Nov 23rd, 2026 5:15 AM."}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "usage_limit", Until: at("2026-11-23T05:15:00Z"), Text: "You've hit your usage limit. Try again at Nov 23rd, 2026 5:15 AM."}},
				{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketLimit, Text: "You've hit your usage limit. Try again at Nov 23rd, 2026 5:15 AM."},
			},
		},
		{
			name:  "a result that is no text",
			lines: []string{`{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"a":1},"result":{"content":[{"type":"text","text":"x"},{"type":"image"}]},"error":null,"status":"completed"}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "i", Tool: "mcp__s__t", Input: json.RawMessage(`{"a":1}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "i", Text: "x\n[image]"},
			},
		},
		{
			name:  "a good end without usage",
			lines: []string{`{"type":"turn.completed"}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamResult}},
		},
		{
			name:  "not UTF-8",
			lines: []string{"{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"a\xffb\"}}"},
			want:  []cw.StreamEvent{{Kind: cw.StreamText, Text: "a\uFFFDb\n"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := read(t, FormatCodex, []byte(strings.Join(tt.lines, "\n")+"\n"))
			if diff := cmp.Diff(tt.want, got.Events); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got.Unknown != tt.unknown {
				t.Errorf("%d unknown, want %d", got.Unknown, tt.unknown)
			}
		})
	}
}

// TestCodexRecordings states by hand what the recordings say, beside the golden
// lists, which are made by the parser itself.
func TestCodexRecordings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		session string
		input   int    // tokens of the thread
		bucket  string // of a failed turn
		failed  bool
		ended   bool // the CLI said how it ended
		limit   string
		tools   int
		denied  int
	}{
		{name: "success", session: "01a1fc4d-2d1e-7d92-8d0e-f855d752fc8e", input: 71664, ended: true, tools: 5},
		{name: "questions", session: "01a1fc50-fc20-7d31-8293-277e015feaf0", input: 27971, ended: true, tools: 1},
		{name: "resume", session: "01a1fc50-fc20-7d31-8293-277e015feaf0", input: 56609, ended: true, tools: 1},
		{name: "overload_x2", session: "01a1fc50-d610-7f80-9f96-c5c6e62f4e62", input: 13864, ended: true},
		{name: "rl_stream", input: -1, ended: true},
		{name: "usage-limit", session: "01a1fc50-b108-7b23-9761-61068029ed4a", failed: true, ended: true, bucket: cw.BucketLimit, limit: "usage_limit"},
		{name: "usage-limit-midway", failed: true, ended: true, bucket: cw.BucketLimit, limit: "usage_limit", tools: -1},
		{name: "quota_stream", failed: true, ended: true, bucket: cw.BucketLimit, limit: "quota"},
		{name: "quota", failed: true, ended: true, bucket: cw.BucketLimit, limit: "quota"},
		{name: "ratelimit", failed: true, ended: true, bucket: cw.BucketTransient},
		{name: "overload", failed: true, ended: true, bucket: cw.BucketTransient},
		{name: "cut", failed: true, ended: true, bucket: cw.BucketTransient},
		{name: "auth401", session: "01a1fc50-abdd-74d0-b07c-ffe0e2108b8b", failed: true, ended: true, bucket: cw.BucketAuth},
		{name: "noenvkey", failed: true, ended: true, bucket: cw.BucketAuth},
		{name: "ctx", failed: true, ended: true},
		{name: "noauth"}, // waits for the network for ever
		{name: "interrupted-sigterm", tools: -1},
		{name: "sigint", tools: -1},
		{name: "xperm", input: 27955, ended: true, tools: 1},
		{name: "xpermww", input: -1, ended: true, tools: 1, denied: 1},
	}
	for _, tt := range tests {
		data, err := os.ReadFile("testdata/codex/" + tt.name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		g := read(t, FormatCodex, data)
		s := g.Summary
		if s.SessionID == "" || tt.session != "" && s.SessionID != tt.session {
			t.Errorf("%s: session %q", tt.name, s.SessionID)
		}
		if s.Usage.InputTokens != tt.input && (tt.input >= 0 || s.Usage.InputTokens == 0) {
			t.Errorf("%s: %d tokens", tt.name, s.Usage.InputTokens)
		}
		if s.HasResult != tt.ended || s.ResultIsError != tt.failed || s.ResultBucket != tt.bucket || s.AuthError != (tt.bucket == cw.BucketAuth) {
			t.Errorf("%s: result %t, error %t, bucket %q, auth %t", tt.name, s.HasResult, s.ResultIsError, s.ResultBucket, s.AuthError)
		}
		if (s.Limit != nil) != (tt.limit != "") || s.Limit != nil && s.Limit.Kind != tt.limit {
			t.Errorf("%s: limit %+v", tt.name, s.Limit)
		}
		if s.ToolCalls != tt.tools && (tt.tools >= 0 || s.ToolCalls == 0) || s.Denied != tt.denied && (tt.denied >= 0 || s.Denied == 0) {
			t.Errorf("%s: %d tool calls, %d denied", tt.name, s.ToolCalls, s.Denied)
		}
		if s.CostUSD != 0 || g.Unknown != 0 {
			t.Errorf("%s: cost %v, %d unknown", tt.name, s.CostUSD, g.Unknown)
		}
	}
}

// TestCodexClock: a limit that is hit hours after the run began ends at the
// next such time, in the zone of the run.
func TestCodexClock(t *testing.T) {
	t.Parallel()
	line := []byte(`{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again at 5:15 AM."}}` + "\n")
	zone := time.FixedZone("east", 2*3600)
	tests := []struct {
		since, at time.Time
		want      string
	}{
		{recordedAt(), recordedAt(), "2026-11-21T05:15:00Z"},
		{recordedAt(), recordedAt().Add(2 * time.Hour), "2026-11-22T05:15:00Z"},
		{recordedAt(), recordedAt().Add(-23 * time.Hour), "2026-11-21T05:15:00Z"}, // a clock that went back
		{recordedAt().In(zone), recordedAt(), "2026-11-22T03:15:00Z"},
		{recordedAt().Add(-2 * time.Hour).In(zone), recordedAt().Add(-time.Hour), "2026-11-21T03:15:00Z"},
		{time.Time{}, recordedAt(), ""},
	}
	for _, tt := range tests {
		p, err := New(FormatCodex, Options{Since: tt.since, Patterns: presetPatterns(t, "codex")})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, ev := range NewReading(p).FeedAt(line, tt.at) {
			if ev.Limit != nil && ev.Limit.Until != nil {
				got = ev.Limit.Until.Format(time.RFC3339)
			}
		}
		if got != tt.want {
			t.Errorf("since %v, at %v: %q, want %q", tt.since, tt.at, got, tt.want)
		}
	}
}

// TestCodexMemoryIsBounded: items that never end are forgotten.
func TestCodexMemoryIsBounded(t *testing.T) {
	t.Parallel()
	p := newCodex(Options{})
	for i := range 3 * claudeMemory {
		p.Line(fmt.Appendf(nil, `{"type":"item.started","item":{"id":"i%d","type":"command_execution"}}`, i))
	}
	if n := len(p.calls); n == 0 || n > claudeMemory {
		t.Errorf("%d calls are remembered", n)
	}
}

// FuzzCodex: no output takes the program down, all that comes out can be sent
// as JSON, and each tool result has its call.
func FuzzCodex(f *testing.F) {
	for _, name := range []string{"success", "usage-limit-midway", "noauth", "xperm", "auth401"} {
		data, err := os.ReadFile("testdata/codex/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"type":"item.completed","item":{"id":"i","type":"file_change","changes":[{"path":"a","kind":"update"}]}}`))
	f.Add([]byte(`{"type":"item.updated","item":{"type":"todo_list","items":[{"text":"a"}]}}`))
	f.Add([]byte(`{"type":"turn.failed","error":{"message":"hit your usage limit try again at Feb 31st, 0000 12:99 PM"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		open := map[string]int{}
		var s Summary
		for _, ev := range read(t, FormatCodex, data).Events {
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
		if !utf8.ValidString(s.LastText.String()) || len(s.LastText.String()) > lastTextMax {
			t.Fatalf("last text %q", s.LastText)
		}
	})
}

// TestCodexCachedTokens: tokens from the cache count only there; the CLI counts
// them among the input too.
func TestCodexCachedTokens(t *testing.T) {
	t.Parallel()
	s := read(t, FormatCodex, []byte(`{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":900,"cache_write_input_tokens":5,"output_tokens":7,"reasoning_output_tokens":3}}`)).Summary
	want := cw.Usage{InputTokens: 100, OutputTokens: 7, CacheReadTokens: 900, CacheWriteTokens: 5, ReasoningTokens: 3}
	if s.Usage != want {
		t.Errorf("%+v, want %+v", s.Usage, want)
	}
}
