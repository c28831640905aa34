package parsers

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestQwenLines covers what no recording shows.
func TestQwenLines(t *testing.T) {
	t.Parallel()
	quota := "[API Error: 429 You exceeded your current quota, please check your plan and billing details.]"
	holdLines(t, FormatQwen, []lineTest{
		{
			name:  "the goal is known and silent",
			lines: []string{`{"type":"stream_event","event":{"type":"goal_state","goal_state":{"v":2,"goal":null,"activity":"idle"}}}`},
		},
		{
			name: "a retry is told when its wait begins, not when it is over",
			lines: []string{
				`{"type":"system","subtype":"retry","data":{"reason":"retry","attempt":2,"maxRetries":10,"delayMs":120000.4}}`,
				`{"type":"system","subtype":"retry","data":{"reason":"retry","discardedToolCalls":0}}`,
				`{"type":"system","subtype":"retry","data":{"reason":"model_fallback"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamRetry, Attempt: 2, Delay: 2 * time.Minute, Text: "try 2 of 10"},
				{Kind: cw.StreamWarning, Text: "the request is made again with another model"},
			},
		},
		{
			name: "a limit in the model's mouth and in the result is told once", // the lines as those of a 401, which were seen
			lines: []string{
				`{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"` + quota + `"}],"usage":{"input_tokens":0,"output_tokens":0}}}`,
				`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":1,"error":{"message":"` + quota + `"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "quota", Text: quota}},
				{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketLimit, Text: quota, Turns: 1},
			},
		},
		{
			name:  "a limit that only the result tells",
			lines: []string{`{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 429 enough for today]"}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "rate_limit", Text: "[API Error: 429 enough for today]"}},
				{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketLimit, Text: "[API Error: 429 enough for today]"},
			},
		},
		{
			name:  "a rate is no quota",
			lines: []string{`{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 429 Rate limit reached]"}}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketTransient, Text: "[API Error: 429 Rate limit reached]"}},
		},
		{
			name:  "a good answer that begins with a number",
			lines: []string{`{"type":"result","subtype":"success","is_error":false,"result":"404 pages were mended."}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamResult, Text: "404 pages were mended."}},
		},
		{
			name:  "an overload",
			lines: []string{`{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 503 busy]"}}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketTransient, Text: "[API Error: 503 busy]"}},
		},
		{
			name:  "a model that quotes an error has said it",
			lines: []string{`{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"[API Error: 401 …] is what the log says"}],"usage":{"input_tokens":9,"output_tokens":3}}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamText, Text: "[API Error: 401 …] is what the log says\n"},
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 9, OutputTokens: 3}, Context: &cw.ContextUse{Tokens: 12}},
			},
		},
		{
			name: "tokens from the cache count only there",
			lines: []string{
				`{"type":"assistant","message":{"id":"a","content":[],"usage":{"input_tokens":1200,"output_tokens":34,"cache_read_input_tokens":1000}}}`,
				`{"type":"result","subtype":"success","is_error":false,"result":"ok","usage":{"input_tokens":2400,"output_tokens":68,"cache_read_input_tokens":1000}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 200, OutputTokens: 34, CacheReadTokens: 1000}, Context: &cw.ContextUse{Tokens: 1234}},
				{Kind: cw.StreamResult, Text: "ok", Usage: &cw.Usage{InputTokens: 1400, OutputTokens: 68, CacheReadTokens: 1000}, Context: &cw.ContextUse{Tokens: 1234}},
			},
		},
		{
			name: "a file that is written",
			lines: []string{
				`{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"t","name":"write_file","input":{"file_path":"/a","content":"x"}}]}}`,
				`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":false,"content":"written"}]}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "write_file", Input: json.RawMessage(`{"file_path":"/a","content":"x"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "t", Text: "written"},
				{Kind: cw.StreamFileChange, ToolUseID: "t", Path: "/a", Change: "modify"},
			},
		},
	})
}

// ampLines are written after the documentation: no run was seen.
func ampLines() []string {
	return []string{
		`{"type":"system","subtype":"init","cwd":"/w","session_id":"T-1","tools":["Bash","edit_file"],"mcp_servers":[]}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"do it"}]},"parent_tool_use_id":null,"session_id":"T-1"}`,
		`{"type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"t","name":"edit_file","input":{"path":"/w/a"}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":7}},"parent_tool_use_id":null,"session_id":"T-1"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"done","is_error":false}]},"parent_tool_use_id":null,"session_id":"T-1"}`,
		`{"type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{"input_tokens":20,"output_tokens":2}},"parent_tool_use_id":null,"session_id":"T-1"}`,
		`{"type":"result","subtype":"success","duration_ms":9,"is_error":false,"num_turns":2,"result":"Done.","session_id":"T-1"}`,
	}
}

func TestAmpLines(t *testing.T) {
	t.Parallel()
	holdLines(t, FormatAmp, []lineTest{
		{
			name:  "a run",
			lines: ampLines(),
			want: []cw.StreamEvent{
				{Kind: cw.StreamInit, SessionID: "T-1"},
				{Kind: cw.StreamText, Text: "I will.\n"},
				{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "edit_file", Input: json.RawMessage(`{"path":"/w/a"}`)},
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 10, OutputTokens: 5, CacheReadTokens: 7}, Context: &cw.ContextUse{Tokens: 22}},
				{Kind: cw.StreamToolResult, ToolUseID: "t", Text: "done"},
				{Kind: cw.StreamFileChange, ToolUseID: "t", Path: "/w/a", Change: "modify"},
				{Kind: cw.StreamText, Text: "Done.\n"},
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 20, OutputTokens: 2}, Context: &cw.ContextUse{Tokens: 22}},
				{Kind: cw.StreamResult, Text: "Done.", Turns: 2, Context: &cw.ContextUse{Tokens: 22}},
			},
		},
		{
			name: "with ids, lines of one message count once",
			lines: []string{
				`{"type":"assistant","message":{"id":"m","content":[],"usage":{"input_tokens":10}}}`,
				`{"type":"assistant","message":{"id":"m","content":[],"usage":{"input_tokens":10}}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 10}, Context: &cw.ContextUse{Tokens: 10}},
			},
		},
		{
			name:  "an error is a string",
			lines: []string{`{"type":"result","subtype":"error_during_execution","is_error":true,"error":"402 out of credits","num_turns":0,"session_id":"T-1"}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Text: "402 out of credits"}},
				{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketLimit, Text: "402 out of credits"},
			},
		},
	})
}

// cursorLines are written after the documentation: no run was seen.
func cursorLines() []string {
	return []string{
		`{"type":"system","subtype":"init","apiKeySource":"env","cwd":"/w","session_id":"c-1","model":"Some Model","permissionMode":"default"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"do it"}]},"session_id":"c-1"}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I will read it."}]},"session_id":"c-1"}`,
		`{"type":"tool_call","subtype":"started","call_id":"r","tool_call":{"readToolCall":{"args":{"path":"a.txt"}},"toolCallId":"r"},"session_id":"c-1"}`,
		`{"type":"tool_call","subtype":"completed","call_id":"r","tool_call":{"readToolCall":{"args":{"path":"a.txt"},"result":{"success":{"content":"hello","isEmpty":false,"totalLines":1}}}},"session_id":"c-1"}`,
		`{"type":"tool_call","subtype":"started","call_id":"w","tool_call":{"writeToolCall":{"args":{"path":"b.txt","fileText":"x"}}},"session_id":"c-1"}`,
		`{"type":"tool_call","subtype":"completed","call_id":"w","tool_call":{"writeToolCall":{"args":{"path":"b.txt","fileText":"x"},"result":{"success":{"path":"/w/b.txt","linesCreated":1}}}},"session_id":"c-1"}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]},"session_id":"c-1"}`,
		`{"type":"result","subtype":"success","duration_ms":9,"duration_api_ms":9,"is_error":false,"result":"I will read it.Done.","session_id":"c-1","request_id":"q"}`,
	}
}

func TestCursorLines(t *testing.T) {
	t.Parallel()
	piece := func(text, more string) string {
		return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]}` + more + `}`
	}
	holdLines(t, FormatCursor, []lineTest{
		{
			name:  "a run",
			lines: cursorLines(),
			want: []cw.StreamEvent{
				{Kind: cw.StreamInit, SessionID: "c-1", Model: "Some Model"},
				{Kind: cw.StreamText, Text: "I will read it.\n"},
				{Kind: cw.StreamToolCall, ToolUseID: "r", Tool: "read", Input: json.RawMessage(`{"path":"a.txt"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "r", Text: "hello"},
				{Kind: cw.StreamToolCall, ToolUseID: "w", Tool: "write", Input: json.RawMessage(`{"path":"b.txt","fileText":"x"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "w", Text: `{"path":"/w/b.txt","linesCreated":1}`},
				{Kind: cw.StreamFileChange, ToolUseID: "w", Path: "b.txt", Change: "modify"},
				{Kind: cw.StreamText, Text: "Done.\n"},
				{Kind: cw.StreamResult, Text: "I will read it.Done."},
			},
		},
		{
			name: "pieces, and the same whole before a tool and at the end",
			lines: []string{
				`{"type":"thinking","subtype":"delta","text":"hm"}`, `{"type":"thinking","subtype":"completed"}`,
				piece("ha", `,"timestamp_ms":1795234016677`), piece("ha", `,"timestamp_ms":1795234016678`),
				piece("haha", `,"timestamp_ms":1795234016679,"model_call_id":"m"`),
				piece("end", `,"timestamp_ms":1795234016680`),
				piece("hahaend", ""), piece("hahaend", ""),
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamThinking, Text: "hm"},
				{Kind: cw.StreamText, Text: "ha"}, {Kind: cw.StreamText, Text: "ha"}, {Kind: cw.StreamText, Text: "\n"},
				{Kind: cw.StreamText, Text: "end"}, {Kind: cw.StreamText, Text: "\n"},
			},
		},
		{
			name: "calls that go wrong, in several ways",
			lines: []string{
				`{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"x"},"result":{"rejected":{"reason":"not allowed"}}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"b","tool_call":{"editToolCall":{"args":{"path":"p"},"result":{"error":{"error":"no such file"}}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"xToolCall":{"args":{},"result":{"strange":[1]}}}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "a", Tool: "shell", Input: json.RawMessage(`{"command":"x"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "a", Text: "not allowed", IsError: true, PermissionDenied: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamToolCall, ToolUseID: "b", Tool: "edit", Input: json.RawMessage(`{"path":"p"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "b", Text: "no such file", IsError: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamToolCall, ToolUseID: "c", Tool: "x", Input: json.RawMessage(`{}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "c", Text: `[1]`, IsError: true, Bucket: cw.BucketTool},
			},
		},
		{
			name: "a function, with arguments that are JSON and that are not",
			lines: []string{
				`{"type":"tool_call","subtype":"started","call_id":"f","tool_call":{"function":{"name":"ask","arguments":"{\"q\":1}"}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"f","tool_call":{"function":{"name":"ask","arguments":"{\"q\":1}"}}}`,
				`{"type":"tool_call","subtype":"started","call_id":"g","tool_call":{"function":{"name":"ask","arguments":"{\"q"}}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "f", Tool: "ask", Input: json.RawMessage(`{"q":1}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "f"},
				{Kind: cw.StreamToolCall, ToolUseID: "g", Tool: "ask", Input: json.RawMessage(`{"arguments":"{\"q"}`)},
			},
		},
		{
			name:    "a call without a call",
			lines:   []string{`{"type":"tool_call","subtype":"started","call_id":"x","tool_call":{"toolCallId":"x"}}`, `{"type":"tool_call","subtype":"odd","call_id":"x","tool_call":{"readToolCall":{}}}`},
			unknown: 2,
		},
		{
			name:  "usage, where it is told",
			lines: []string{`{"type":"result","subtype":"success","is_error":false,"result":"ok","usage":{"inputTokens":5,"outputTokens":6,"cacheReadTokens":7,"cacheWriteTokens":8}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamResult, Text: "ok", Usage: &cw.Usage{InputTokens: 5, OutputTokens: 6, CacheReadTokens: 7, CacheWriteTokens: 8}},
			},
		},
	})
}

// TestClaudelikeMutations holds the formats that no recording shows: no broken
// form of their lines takes the program down, and what is cut has no end.
func TestClaudelikeMutations(t *testing.T) {
	t.Parallel()
	for format, lines := range map[string][]string{FormatAmp: ampLines(), FormatCursor: cursorLines()} {
		for name, form := range mutations(joined(lines), chance(format)) {
			got := endOfRun(read(t, format, form).Summary)
			if got != good && got != open {
				t.Errorf("%s: %s: it is %s", format, name, got)
			}
		}
		if got := endOfRun(read(t, format, joined(lines[:len(lines)-1])).Summary); got != open {
			t.Errorf("%s: without its result it is %s", format, got)
		}
	}
}

// TestClaudelikeMemoryIsBounded: calls that never end are forgotten.
func TestClaudelikeMemoryIsBounded(t *testing.T) {
	t.Parallel()
	cursor, pi := newCursor(Options{}), newPi(Options{})
	for i := range 2 * claudeMemory {
		cursor.Line(fmt.Appendf(nil, `{"type":"tool_call","subtype":"started","call_id":"c%d","tool_call":{"readToolCall":{}}}`, i))
		pi.Line(fmt.Appendf(nil, `{"type":"tool_execution_start","toolCallId":"c%d","toolName":"write","args":{"path":"/x"}}`, i))
	}
	for name, n := range map[string]int{"cursor": len(cursor.calls), "pi": len(pi.changes)} {
		if n == 0 || n > claudeMemory {
			t.Errorf("%s remembers %d calls", name, n)
		}
	}
}

func joined(lines []string) []byte {
	var data []byte
	for _, line := range lines {
		data = append(append(data, line...), '\n')
	}
	return data
}

func FuzzQwen(f *testing.F)   { fuzz(f, FormatQwen) }
func FuzzAmp(f *testing.F)    { fuzz(f, FormatAmp, ampLines()...) }
func FuzzCursor(f *testing.F) { fuzz(f, FormatCursor, cursorLines()...) }
