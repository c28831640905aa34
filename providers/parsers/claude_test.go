package parsers

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func events(t *testing.T, lines ...string) ([]cw.StreamEvent, int) {
	t.Helper()
	g := read(t, FormatClaude, []byte(strings.Join(lines, "\n")+"\n"))
	return g.Events, g.Unknown
}

// TestClaudeLines covers what no recording shows.
func TestClaudeLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		lines   []string
		want    []cw.StreamEvent
		unknown int
	}{
		{name: "blank lines", lines: []string{"", "  ", "\t"}},
		{name: "no JSON", lines: []string{"Error: boom", `{"type":"system"`, `[]`, `"x"`, `null`, `{}`, `7`}, unknown: 7},
		{name: "types that are not known", lines: []string{`{"type":"new_thing"}`, `{"type":"system","subtype":"new"}`}, unknown: 2},
		{
			name:  "a field of another type spoils only itself",
			lines: []string{`{"type":"result","is_error":true,"api_error_status":"429","num_turns":"x","result":"Overloaded","total_cost_usd":0.5}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketTransient, Text: "Overloaded", CostUSD: 0.5},
			},
			unknown: 1,
		},
		{
			name:    "a block of another type spoils only itself",
			lines:   []string{`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":5},{"type":"text","text":"b"}]}}`},
			want:    []cw.StreamEvent{{Kind: cw.StreamText, Text: "b\n"}},
			unknown: 1,
		},
		{
			name:  "a retry without a status",
			lines: []string{`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":571.6,"error_status":null,"error":"unknown"}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamRetry, Attempt: 1, Delay: 572 * time.Millisecond, Text: "unknown, try 1 of 2"}},
		},
		{
			name:  "compaction",
			lines: []string{`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":180000,"post_tokens":9000}}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamCompaction, Text: "auto, 180000 tokens before", Context: &cw.ContextUse{Tokens: 9000}}},
		},
		{
			name: "a sub-agent: its parent is told, its context is not ours",
			lines: []string{
				`{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"m","content":[{"type":"text","text":"sub"}],"usage":{"input_tokens":5,"cache_read_input_tokens":7}}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamText, ParentToolUseID: "t1", Text: "sub\n"},
				{Kind: cw.StreamUsage, ParentToolUseID: "t1", Usage: &cw.Usage{InputTokens: 5, CacheReadTokens: 7}},
			},
		},
		{
			name: "usage once per message, with sub-agents between",
			lines: []string{
				`{"type":"assistant","message":{"id":"a","content":[],"usage":{"input_tokens":1}}}`,
				`{"type":"assistant","parent_tool_use_id":"t","message":{"id":"b","content":[],"usage":{"input_tokens":2}}}`,
				`{"type":"assistant","message":{"id":"a","content":[],"usage":{"input_tokens":1}}}`,
				`{"type":"assistant","parent_tool_use_id":"t","message":{"id":"b","content":[],"usage":{"input_tokens":2}}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 1}, Context: &cw.ContextUse{Tokens: 1}},
				{Kind: cw.StreamUsage, ParentToolUseID: "t", Usage: &cw.Usage{InputTokens: 2}},
			},
		},
		{
			name:  "a plan",
			lines: []string{`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[]}}]}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "TodoWrite", Input: json.RawMessage(`{"todos":[]}`)},
				{Kind: cw.StreamPlan, ToolUseID: "t", Tool: "TodoWrite", Input: json.RawMessage(`{"todos":[]}`)},
			},
		},
		{
			name: "an edit that fails changes no file, one that works does",
			lines: []string{
				`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/a"}},{"type":"tool_use","id":"t2","name":"NotebookEdit","input":{"notebook_path":"/n"}}]}}`,
				`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]}}`,
				`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"x"},{"type":"image"}]}]}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "t1", Tool: "Edit", Input: json.RawMessage(`{"file_path":"/a"}`)},
				{Kind: cw.StreamToolCall, ToolUseID: "t2", Tool: "NotebookEdit", Input: json.RawMessage(`{"notebook_path":"/n"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "t1", Text: "no", IsError: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamToolResult, ToolUseID: "t2", Text: "x\n[image]"},
				{Kind: cw.StreamFileChange, ToolUseID: "t2", Path: "/n", Change: "modify"},
			},
		},
		{
			name:  "rejected while overage is in use goes on",
			lines: []string{`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"seven_day","utilization":1,"isUsingOverage":true}}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "seven_day", Warning: true, Text: "100% of the seven day limit is used", UsedPercent: 100}}},
		},
		{
			name: "a refusal that only the result tells",
			lines: []string{
				`{"type":"result","subtype":"success","result":"ok","permission_denials":[{"tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"x"}}]}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamWarning, ToolUseID: "t", Tool: "Bash", PermissionDenied: true, Text: `permission denied: Bash {"command":"x"}`},
				{Kind: cw.StreamResult, Text: "ok"},
			},
		},
		{
			name: "a refusal is told once",
			lines: []string{
				`{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"t","message":"by rule"}`,
				`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Permission to use Bash has been denied"}]}}`,
				`{"type":"result","result":"ok","permission_denials":[{"tool_name":"Bash","tool_use_id":"t"}]}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamWarning, ToolUseID: "t", Tool: "Bash", PermissionDenied: true, Text: "permission denied: Bash by rule"},
				{Kind: cw.StreamToolResult, ToolUseID: "t", Text: "Permission to use Bash has been denied", IsError: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamResult, Text: "ok"},
			},
		},
		{
			name:  "a limit that only the result tells, with its time of day",
			lines: []string{`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You've hit your weekly limit · resets 3am (UTC)"}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "seven_day", Until: at("2026-11-22T03:00:00Z"), Text: "You've hit your weekly limit · resets 3am (UTC)"}},
				{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketLimit, Text: "You've hit your weekly limit · resets 3am (UTC)"},
			},
		},
		{
			name: "a later timestamp moves the reference",
			lines: []string{
				`{"type":"user","timestamp":"2026-11-23T10:00:00.5Z","message":{"content":"x"}}`,
				`{"type":"result","is_error":true,"api_error_status":429,"result":"session limit · resets 9am (UTC)"}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "five_hour", Until: at("2026-11-24T09:00:00Z"), Text: "session limit · resets 9am (UTC)"}},
				{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketLimit, Text: "session limit · resets 9am (UTC)"},
			},
		},
		{
			name:  "subtype is never trusted, either way",
			lines: []string{`{"type":"result","subtype":"error_max_turns","errors":["Reached maximum number of turns (2)"]}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamResult, IsError: true, Text: "Reached maximum number of turns (2)"}},
		},
		{
			name: "partial messages: an assistant line that differs comes whole, the rest is not doubled",
			lines: []string{
				`{"type":"stream_event","event":{"type":"message_start"}}`,
				`{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"text"}}}`,
				`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"ab"}}}`,
				`{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"tool_use"}}}`,
				`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"input_json_delta"}}}`,
				`{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"text"}}}`,
				`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"cd"}}}`,
				`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"abX\n"}]}}`,
				`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"other"}]}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamText, Text: "ab"}, {Kind: cw.StreamText, Text: "cd"},
				{Kind: cw.StreamText, Text: "X\n"}, {Kind: cw.StreamText, Text: "other\n"},
			},
		},
		{
			name:  "not UTF-8",
			lines: []string{"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"a\xffb\",\"input\":{\"x\":\"\xfe\"}}]}}"},
			want:  []cw.StreamEvent{{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "a\uFFFDb", Input: json.RawMessage("{\"x\":\"\uFFFD\"}")}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, unknown := events(t, tt.lines...)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if unknown != tt.unknown {
				t.Errorf("%d unknown, want %d", unknown, tt.unknown)
			}
		})
	}
}

func at(text string) *time.Time {
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return &moment
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	p := newClaude(Options{Patterns: Patterns{
		Limit: []*regexp.Regexp{regexp.MustCompile("quota")}, Auth: []*regexp.Regexp{regexp.MustCompile("login|quota")},
		Overload: []*regexp.Regexp{regexp.MustCompile("busy")},
	}})
	tests := []struct {
		kind   string
		status int
		text   string
		want   string
	}{
		{"rate_limit", 0, "", cw.BucketTransient},
		{"rate_limit", 0, "50,000 input tokens per minute", cw.BucketTransient},
		{"rate_limit", 0, "your quota is over", cw.BucketLimit},
		{"rate_limit", 0, "limit reached|1995237769", cw.BucketLimit},
		{"billing_error", 400, "Credit balance is too low", cw.BucketLimit},
		{"authentication_failed", 0, "", cw.BucketAuth},
		{"oauth_org_not_allowed", 403, "", cw.BucketAuth},
		{"server_error", 529, "", cw.BucketTransient},
		{"overloaded", 529, "", cw.BucketTransient},
		{"", 429, "", cw.BucketTransient},
		{"", 402, "", cw.BucketLimit},
		{"", 401, "", cw.BucketAuth},
		{"", 403, "", cw.BucketAuth},
		{"", 500, "", cw.BucketTransient},
		{"invalid_request", 400, "", ""},
		{"unknown", 0, "your quota is over", cw.BucketLimit},
		{"unknown", 0, "do login", cw.BucketAuth},
		{"", 0, "busy", cw.BucketTransient},
		{"", 0, "hello", ""},
	}
	for _, tt := range tests {
		if got := p.bucket(tt.kind, tt.status, tt.text); got != tt.want {
			t.Errorf("%q %d %q: %q, want %q", tt.kind, tt.status, tt.text, got, tt.want)
		}
	}
}

// TestMemoryIsBounded: a run of any length is read with bounded memory.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	p := newClaude(Options{})
	for i := range 3 * claudeMemory {
		p.Line(fmt.Appendf(nil, `{"type":"assistant","parent_tool_use_id":"p%d","message":{"id":"m%d","content":[{"type":"tool_use","id":"t%d","name":"Write","input":{"file_path":"/x"}}],"usage":{"input_tokens":1}}}`, i, i, i))
		p.Line(fmt.Appendf(nil, `{"type":"system","subtype":"permission_denied","tool_use_id":"t%d"}`, i))
		p.Line(fmt.Appendf(nil, `{"type":"stream_event","parent_tool_use_id":"p%d","event":{"type":"content_block_start","content_block":{"type":"text"}}}`, i))
	}
	for range 3 * partialBlocks {
		p.Line([]byte(`{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"text"}}}`))
	}
	if n := len(p.partial[""].blocks); n == 0 || n > partialBlocks {
		t.Errorf("%d blocks wait", n)
	}
	for name, n := range map[string]int{
		"changes": len(p.changes), "counted": len(p.counted.newer) + len(p.counted.older), "denied": len(p.denied), "partial": len(p.partial),
	} {
		if n == 0 || n > claudeMemory {
			t.Errorf("%s: %d entries", name, n)
		}
	}
}

func TestResetTime(t *testing.T) {
	t.Parallel()
	ref := recordedAt() // 2026-11-21 04:00 UTC
	tests := []struct {
		text string
		ref  time.Time
		want string
	}{
		{"limit reached|1795237769", time.Time{}, "2026-11-21T05:09:29Z"},
		{"limit reached|17952377691", ref, ""},
		{"resets 5:13am (UTC)", ref, "2026-11-21T05:13:00Z"},
		{"resets 5am (UTC)", ref, "2026-11-21T05:00:00Z"},
		{"resets 3:49am (UTC)", ref, "2026-11-22T03:49:00Z"},
		{"resets 12am (UTC)", ref, "2026-11-22T00:00:00Z"},
		{"resets 12:30pm", ref, "2026-11-21T12:30:00Z"},
		{"resets Nov 25, 5:13am (UTC)", ref, "2026-11-25T05:13:00Z"},
		{"Resets at Jan 2 at 5 PM (UTC)", ref, "2027-01-02T17:00:00Z"},
		{"resets Jan 2, 2028, 5am (UTC)", ref, "2028-01-02T05:00:00Z"},
		{"resets 5am (Europe/Nowhere)", ref, "2026-11-21T05:00:00Z"},
		{"resets 13:00am (UTC)", ref, ""},
		{"resets 5:75am (UTC)", ref, ""},
		{"resets Foo 2, 5am", ref, ""},
		{"resets 5:13am (UTC)", time.Time{}, ""},
		{"resets soon", ref, ""},
		{"or try again at 5:15 AM.", ref, "2026-11-21T05:15:00Z"},
		{"or try again at 3:49 AM.", ref, "2026-11-22T03:49:00Z"},
		{"try again at 4:00 AM", ref.Add(30 * time.Second), "2026-11-21T04:00:00Z"}, // this minute is not tomorrow's
		{"Try again at Nov 23rd, 2026 5:15 PM.", ref, "2026-11-23T17:15:00Z"},
		{"try again at Jan 1st, 2027 12:05 AM", ref, "2027-01-01T00:05:00Z"},
		{"try again at Jan 2nd 5:15\u202fAM", ref, "2027-01-02T05:15:00Z"},
		{"try again at 5:15 AM.", ref.In(time.FixedZone("", 3600)), "2026-11-21T04:15:00Z"}, // local time of ref
		{"try again at 5:15 AM.", time.Time{}, ""},
		{"try again at 25:15 AM.", ref, ""},
		{"try again at 0:15 AM.", ref, ""},
		{"try again later.", ref, ""},
		{"", ref, ""},
	}
	for _, tt := range tests {
		got := ""
		if at := ResetTime(tt.text, tt.ref); at != nil {
			got = at.Format(time.RFC3339)
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	limit := cw.StreamEvent{Kind: cw.StreamLimit, Limit: &cw.Limit{Text: "over", Until: at("2026-11-21T05:00:00Z")}}
	auth := cw.StreamEvent{Kind: cw.StreamError, Text: "who?", Bucket: cw.BucketAuth}
	text := cw.StreamEvent{Kind: cw.StreamText, Text: "on\n"}
	call := cw.StreamEvent{Kind: cw.StreamToolCall, Tool: "Bash"}
	retry := cw.StreamEvent{Kind: cw.StreamRetry, Attempt: 2, Delay: time.Second}
	tests := []struct {
		name   string
		events []cw.StreamEvent
		check  func(Summary) bool
	}{
		{"a limit", []cw.StreamEvent{text, limit}, func(s Summary) bool { return s.Limit != nil && s.LastError.Bucket == cw.BucketLimit }},
		{"a limit overcome by text", []cw.StreamEvent{limit, text}, func(s Summary) bool { return s.Limit == nil }},
		{"a limit overcome by a tool", []cw.StreamEvent{limit, call}, func(s Summary) bool { return s.Limit == nil }},
		{"a limit and a good result", []cw.StreamEvent{limit, {Kind: cw.StreamResult}}, func(s Summary) bool { return s.Limit == nil && s.HasResult }},
		{"a limit and a bad result", []cw.StreamEvent{limit, {Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketLimit}}, func(s Summary) bool { return s.Limit != nil && s.ResultIsError }},
		{"a warning is no limit", []cw.StreamEvent{{Kind: cw.StreamLimit, Limit: &cw.Limit{Warning: true}}}, func(s Summary) bool { return s.Limit == nil }},
		{"a warning leaves a limit", []cw.StreamEvent{limit, {Kind: cw.StreamLimit, Limit: &cw.Limit{Warning: true}}}, func(s Summary) bool { return s.Limit != nil }},
		{"the newer word keeps the older time", []cw.StreamEvent{limit, {Kind: cw.StreamLimit, Limit: &cw.Limit{Text: "new"}}}, func(s Summary) bool { return s.Limit.Text == "new" && s.Limit.Until != nil }},
		{"auth", []cw.StreamEvent{text, auth}, func(s Summary) bool { return s.AuthError && s.LastError.Text == "who?" }},
		{"auth overcome", []cw.StreamEvent{auth, text}, func(s Summary) bool { return !s.AuthError }},
		{"retrying", []cw.StreamEvent{retry}, func(s Summary) bool { return s.Retry.Attempt == 2 && s.Retry.Delay == time.Second }},
		{"retried", []cw.StreamEvent{retry, text}, func(s Summary) bool { return s.Retry == Retry{} }},
		{"words since the last tool", []cw.StreamEvent{text, call, {Kind: cw.StreamText, Text: "a"}, {Kind: cw.StreamText, Text: "b"}}, func(s Summary) bool { return s.LastText.String() == "ab" && s.LastTool == "Bash" && s.ToolCalls == 1 }},
		{"words before a tool stay until new ones", []cw.StreamEvent{text, call}, func(s Summary) bool { return s.LastText.String() == "on\n" }},
		{"a sub-agent's words are not the agent's", []cw.StreamEvent{text, {Kind: cw.StreamText, Text: "sub", ParentToolUseID: "t"}}, func(s Summary) bool { return s.LastText.String() == "on\n" }},
		{"long words keep their end, whole characters", []cw.StreamEvent{{Kind: cw.StreamText, Text: strings.Repeat("é", 5000) + "end"}}, func(s Summary) bool {
			text := s.LastText.String()
			return len(text) <= lastTextMax && len(text) > lastTextMax-utf8.UTFMax && strings.HasSuffix(text, "end") && utf8.ValidString(text)
		}},
		{"usage adds up, a result's totals replace it", []cw.StreamEvent{
			{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 1}}, {Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 2}},
			{Kind: cw.StreamResult, Usage: &cw.Usage{InputTokens: 5}}, {Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 1}},
		}, func(s Summary) bool { return s.Usage.InputTokens == 6 }},
		{"a result without totals leaves the sum", []cw.StreamEvent{{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 3}}, {Kind: cw.StreamResult}}, func(s Summary) bool { return s.Usage.InputTokens == 3 }},
		{"context", []cw.StreamEvent{
			{Kind: cw.StreamUsage, Context: &cw.ContextUse{Tokens: 9}}, {Kind: cw.StreamCompaction, Context: &cw.ContextUse{Tokens: 4}},
			{Kind: cw.StreamResult, Context: &cw.ContextUse{Limit: 100}},
		}, func(s Summary) bool { return s.ContextTokens == 4 && s.ContextLimit == 100 && s.Compactions == 1 }},
	}
	for _, tt := range tests {
		var s Summary
		for _, ev := range tt.events {
			s.Add(ev)
		}
		if !tt.check(s) {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
	if limit.Limit.Text != "over" {
		t.Error("the fold changed an event")
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	g := read(t, FormatLines, []byte("one\r\n\n\xfftwo\nlast"))
	var text strings.Builder
	for _, ev := range g.Events {
		text.WriteString(ev.Text)
	}
	if text.String() != "one\n\n\uFFFDtwo\nlast\n" || g.Unknown != 0 || g.Summary.HasResult {
		t.Errorf("%q, %+v", text.String(), g.Summary)
	}
	if g.Summary.LastText.String() != text.String() {
		t.Errorf("last text %q", g.Summary.LastText)
	}
}

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	if _, err := New("xml", Options{}); err == nil || !strings.Contains(err.Error(), "claude, codex, lines") {
		t.Error(err)
	}
	for _, format := range Formats() {
		if _, err := New(format, Options{}); err != nil {
			t.Error(err)
		}
	}
}

// FuzzClaude: no output takes the program down, and all that comes out can be
// sent as JSON.
func FuzzClaude(f *testing.F) {
	for _, name := range []string{"success", "partial", "usage-limit", "perm-dontAsk", "resume-missing"} {
		data, err := os.ReadFile("testdata/claude/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"type":"system","subtype":"compact_boundary","compact_metadata":{"post_tokens":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := New(FormatClaude, Options{Since: recordedAt()})
		if err != nil {
			t.Fatal(err)
		}
		r := NewReading(p)
		var s Summary
		for _, ev := range append(r.Feed(data), r.Flush()...) {
			out, err := json.Marshal(ev)
			if err != nil || !utf8.Valid(out) {
				t.Fatalf("%+v: %v", ev, err)
			}
			s.Add(ev)
		}
		if !utf8.ValidString(s.LastText.String()) || len(s.LastText.String()) > lastTextMax {
			t.Fatalf("last text %q", s.LastText)
		}
	})
}

// TestClaudeErrorSigns: each sign of an error alone makes a bad end, so that none
// that is lost makes a good one.
func TestClaudeErrorSigns(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]string{
		{`{"type":"result","subtype":"success","is_error":true}`},
		{`{"type":"result","subtype":"error_max_turns"}`},
		{`{"type":"result","subtype":"success","api_error_status":401}`},
		{`{"type":"result","subtype":"success","terminal_reason":"aborted_tools"}`},
		{`{"type":"assistant","error":"authentication_failed","message":{"content":[{"type":"text","text":"no"}]}}`, `{"type":"result","subtype":"success"}`},
	} {
		s := read(t, FormatClaude, []byte(strings.Join(lines, "\n"))).Summary
		if !s.HasResult || !s.ResultIsError || s.Result == "" {
			t.Errorf("%s: %+v", lines, s)
		}
	}
}
