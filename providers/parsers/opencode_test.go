package parsers

import (
	"encoding/json"
	"testing"

	"cw/internal/cw"
)

// TestOpencodeRecordings states by hand what the recordings say. Sections are
// those of the notes on how the CLIs behave: 1 what happens at limits, 2 each CLI.
func TestOpencodeRecordings(t *testing.T) {
	t.Parallel()
	holdFacts(t, FormatOpencode, []jsonFact{
		// 2: the session on every line, a step per answer, the last one with reason stop.
		{name: "tool", session: "ses_e03b6f1c9ffe9QYI2Fk9ocfkXh", end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "time", session: "ses_e03a5c51bffeZEC108Stkn87R6", end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "noauto", session: "ses_e03b05dbfffeoJeY9k7SiHFEnm", end: goodEnd, input: 2400, output: 68, tools: 1}, // 0: bash ran without --auto
		{name: "mcp", session: "ses_e03aacc28ffeVcdJluZ3E8IOER", end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "ask", session: "ses_e03af9d3bffecVdYhYIeMsQTtW", end: goodEnd, input: 1200, output: 34},
		{name: "text", session: "ses_e03b7a58effe91ZcJH3R09rlFQ", end: goodEnd, input: 1200, output: 34},
		{name: "stdin", session: "ses_e03b3004cffexLL0YJkRkjJ0VI", end: goodEnd, input: 1200, output: 34},
		// 0: resumed by --session; the tokens are of this run alone
		{name: "resume", session: "ses_e03b6f1c9ffe9QYI2Fk9ocfkXh", end: goodEnd, input: 1200, output: 34},
		{name: "resume-dir", session: "ses_e03b6f1c9ffe9QYI2Fk9ocfkXh", end: goodEnd, input: 1200, output: 34},
		// 2: statusCode 401
		{name: "401", session: "ses_e03b6b207ffeUPX57GQV58lG4c", end: cw.BucketAuth},
		// 1: statusCode 429 and the header retry-after: 1, tokens per minute
		{name: "429", session: "ses_e03b68083ffe2aASV1wGbZyLx3", end: cw.BucketTransient},
		// 1: insufficient_quota, no retry-after
		{name: "quota-long", session: "ses_e03a402acffecHMJXELZxrPQef", end: cw.BucketLimit, limit: "quota"},
		// 2: UnknownError, "Unexpected server error", which the preset's patterns take for overload
		{name: "badmodel", session: "ses_e03b0a318ffellcYrsr3p6o9wE", end: cw.BucketTransient},
		// 0: dies by the signal, without a word
		{name: "slow-sigterm", session: "ses_e03b37d59ffePG79V3A6uf5zxv", end: noEnd},
		{name: "grpterm", session: "ses_e03a888dcffeKeZMGSJ2Eg7ky3", end: noEnd},
	})
}

// TestOpencodeLines covers what no recording shows, after the program's own types.
func TestOpencodeLines(t *testing.T) {
	t.Parallel()
	call := func(id, tool, input string) cw.StreamEvent {
		return cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: id, Tool: tool, Input: json.RawMessage(input)}
	}
	holdLines(t, FormatOpencode, []lineTest{
		{
			name: "a part that comes again counts once",
			lines: []string{
				`{"type":"tool_use","part":{"id":"p1","tool":"bash","callID":"c","state":{"status":"completed","input":{},"output":"x"}}}`,
				`{"type":"step_finish","part":{"id":"p2","reason":"tool-calls","cost":0.5,"tokens":{"input":3,"output":2,"reasoning":1,"cache":{"read":5,"write":7}}}}`,
				`{"type":"tool_use","part":{"id":"p1","tool":"bash","callID":"c","state":{"status":"completed","input":{},"output":"x","time":{"compacted":1}}}}`,
				`{"type":"step_finish","part":{"id":"p2","reason":"tool-calls","cost":0.5,"tokens":{"input":3}}}`,
				`{"type":"step_finish","part":{"id":"p3","reason":"stop","cost":0.25}}`,
			},
			want: []cw.StreamEvent{
				call("c", "bash", `{}`),
				{Kind: cw.StreamToolResult, ToolUseID: "c", Text: "x"},
				{
					Kind: cw.StreamUsage, Context: &cw.ContextUse{Tokens: 18},
					Usage: &cw.Usage{InputTokens: 3, OutputTokens: 3, ReasoningTokens: 1, CacheReadTokens: 5, CacheWriteTokens: 7},
				},
				{Kind: cw.StreamResult, CostUSD: 0.75, Turns: 2},
			},
		},
		{
			name: "the words of the last step are the result",
			lines: []string{
				`{"type":"text","part":{"id":"a","text":"first"}}`,
				`{"type":"step_start","part":{"id":"b"}}`,
				`{"type":"reasoning","part":{"id":"c","text":"hm"}}`,
				`{"type":"text","part":{"id":"d","text":"last\n"}}`,
				`{"type":"step_finish","part":{"id":"e","reason":"stop"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamText, Text: "first\n"},
				{Kind: cw.StreamThinking, Text: "hm\n"},
				{Kind: cw.StreamText, Text: "last\n"},
				{Kind: cw.StreamResult, Text: "last\n", Turns: 1},
			},
		},
		{
			name: "an answer that was cut short is no good end, one of an unknown kind none at all",
			lines: []string{
				`{"type":"step_finish","part":{"id":"a","reason":"length"}}`,
				`{"type":"step_finish","part":{"id":"b","reason":"unknown"}}`,
				`{"type":"step_finish","part":{"id":"c"}}`,
			},
			want: []cw.StreamEvent{{Kind: cw.StreamResult, IsError: true, Text: "the model's answer was cut short: length", Turns: 1}},
		},
		{
			name: "files that changed",
			lines: []string{
				`{"type":"tool_use","part":{"callID":"a","tool":"write","state":{"status":"completed","input":{"filePath":"/w/a"},"output":"","metadata":{"filepath":"/w/a","exists":false}}}}`,
				`{"type":"tool_use","part":{"callID":"b","tool":"write","state":{"status":"completed","metadata":{"filepath":"/w/b","exists":true}}}}`,
				`{"type":"tool_use","part":{"callID":"c","tool":"edit","state":{"status":"completed","metadata":{"filediff":{"file":"/w/c"}}}}}`,
				`{"type":"tool_use","part":{"callID":"d","tool":"apply_patch","state":{"status":"completed","metadata":{"files":[{"filePath":"/w/d","type":"add"},{"filePath":"/w/e","type":"delete"},{"filePath":"/w/f","movePath":"/w/g","type":"move"}]}}}}`,
				`{"type":"tool_use","part":{"callID":"e","tool":"edit","state":{"status":"completed","input":{"filePath":"/w/h"},"metadata":{"filediff":7}}}}`,
				`{"type":"tool_use","part":{"callID":"f","tool":"read","state":{"status":"completed","input":{"filePath":"/w/i"}}}}`,
			},
			want: []cw.StreamEvent{
				call("a", "write", `{"filePath":"/w/a"}`),
				{Kind: cw.StreamToolResult, ToolUseID: "a"},
				{Kind: cw.StreamFileChange, ToolUseID: "a", Path: "/w/a", Change: "add"},
				{Kind: cw.StreamToolCall, ToolUseID: "b", Tool: "write"},
				{Kind: cw.StreamToolResult, ToolUseID: "b"},
				{Kind: cw.StreamFileChange, ToolUseID: "b", Path: "/w/b", Change: "modify"},
				{Kind: cw.StreamToolCall, ToolUseID: "c", Tool: "edit"},
				{Kind: cw.StreamToolResult, ToolUseID: "c"},
				{Kind: cw.StreamFileChange, ToolUseID: "c", Path: "/w/c", Change: "modify"},
				{Kind: cw.StreamToolCall, ToolUseID: "d", Tool: "apply_patch"},
				{Kind: cw.StreamToolResult, ToolUseID: "d"},
				{Kind: cw.StreamFileChange, ToolUseID: "d", Path: "/w/d", Change: "add"},
				{Kind: cw.StreamFileChange, ToolUseID: "d", Path: "/w/e", Change: "delete"},
				{Kind: cw.StreamFileChange, ToolUseID: "d", Path: "/w/g", Change: "modify"},
				call("e", "edit", `{"filePath":"/w/h"}`),
				{Kind: cw.StreamToolResult, ToolUseID: "e"},
				{Kind: cw.StreamFileChange, ToolUseID: "e", Path: "/w/h", Change: "modify"},
				call("f", "read", `{"filePath":"/w/i"}`),
				{Kind: cw.StreamToolResult, ToolUseID: "f"},
			},
		},
		{
			name: "tools that fail, are refused, are interrupted; a plan",
			lines: []string{
				`{"type":"tool_use","part":{"callID":"a","tool":"edit","state":{"status":"error","input":{"filePath":"/w/a"},"error":"no such text"}}}`,
				`{"type":"tool_use","part":{"callID":"b","tool":"bash","state":{"status":"error","error":"The user rejected permission to use this specific tool call."}}}`,
				`{"type":"tool_use","part":{"callID":"c","tool":"bash","state":{"status":"error","error":"Tool execution aborted"}}}`,
				`{"type":"tool_use","part":{"id":"d","tool":"todowrite","state":{"status":"completed","input":{"todos":[]}}}}`,
			},
			want: []cw.StreamEvent{
				call("a", "edit", `{"filePath":"/w/a"}`),
				{Kind: cw.StreamToolResult, ToolUseID: "a", Text: "no such text", IsError: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamToolCall, ToolUseID: "b", Tool: "bash"},
				{Kind: cw.StreamToolResult, ToolUseID: "b", Text: "The user rejected permission to use this specific tool call.", IsError: true, PermissionDenied: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamToolCall, ToolUseID: "c", Tool: "bash"},
				{Kind: cw.StreamToolResult, ToolUseID: "c", Text: "Tool execution aborted", IsError: true, Bucket: cw.BucketAbort},
				call("d", "todowrite", `{"todos":[]}`),
				{Kind: cw.StreamPlan, ToolUseID: "d", Tool: "todowrite", Input: json.RawMessage(`{"todos":[]}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "d"},
			},
		},
		{
			name: "errors by their names, by the status, and with nothing but that they may be tried again",
			lines: []string{
				`{"type":"error","error":{"name":"ProviderAuthError","data":{"providerID":"x","message":"no key"}}}`,
				`{"type":"error","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}`,
				`{"type":"error","error":{"name":"APIError","data":{"message":"oh","statusCode":529}}}`,
				`{"type":"error","error":{"name":"APIError","data":{"message":"oh","isRetryable":true}}}`,
				`{"type":"error","error":{"name":"MessageOutputLengthError","data":{}}}`,
				`{"type":"error","error":null}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamError, Text: "no key", Bucket: cw.BucketAuth},
				{Kind: cw.StreamResult, Text: "no key", IsError: true, Bucket: cw.BucketAuth},
				{Kind: cw.StreamError, Text: "Aborted", Bucket: cw.BucketAbort},
				{Kind: cw.StreamResult, Text: "Aborted", IsError: true, Bucket: cw.BucketAbort},
				{Kind: cw.StreamError, Text: "oh", Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: "oh", IsError: true, Bucket: cw.BucketTransient},
				{Kind: cw.StreamError, Text: "oh", Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: "oh", IsError: true, Bucket: cw.BucketTransient},
				{Kind: cw.StreamError, Text: "MessageOutputLengthError"},
				{Kind: cw.StreamResult, Text: "MessageOutputLengthError", IsError: true},
				{Kind: cw.StreamError, Text: "an error without words"},
				{Kind: cw.StreamResult, Text: "an error without words", IsError: true},
			},
		},
		{
			name:  "a limit whose end stands in the body, from the line's own time on",
			lines: []string{`{"type":"error","timestamp":1795237200000,"error":{"name":"APIError","data":{"message":"slow down","statusCode":429,"responseBody":"{\"details\":[{\"retryDelay\": \"3600s\"}]}"}}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "rate_limit", Text: "slow down", Until: at("2026-11-21T06:00:00Z")}},
				{Kind: cw.StreamResult, Text: "slow down", IsError: true, Bucket: cw.BucketLimit},
			},
		},
		{
			name:  "a limit on a line without a time, from the start of the run on",
			lines: []string{`{"type":"error","error":{"name":"APIError","data":{"message":"slow down","statusCode":429,"responseHeaders":{"retry-after":"3605"}}}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "rate_limit", Text: "slow down", Until: at("2026-11-21T05:00:05Z")}},
				{Kind: cw.StreamResult, Text: "slow down", IsError: true, Bucket: cw.BucketLimit},
			},
		},
		{
			name:  "what is over in a moment is no limit of the account",
			lines: []string{`{"type":"error","error":{"name":"APIError","data":{"message":"slow down","statusCode":429,"responseHeaders":{"retry-after":"5"}}}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamError, Text: "429 slow down", Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: "429 slow down", IsError: true, Bucket: cw.BucketTransient},
			},
		},
		{
			name:  "the code in the body says more of a limit than the words",
			lines: []string{`{"type":"error","error":{"name":"APIError","data":{"message":"Payment needed","statusCode":402,"responseBody":"{\"code\":\"insufficient_quota\"}"}}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "quota", Text: "Payment needed"}},
				{Kind: cw.StreamResult, Text: "Payment needed", IsError: true, Bucket: cw.BucketLimit},
			},
		},
		{
			name: "an error that it came through",
			lines: []string{
				`{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"slow down","statusCode":429}}}`,
				`{"type":"step_finish","sessionID":"s","part":{"id":"a","reason":"stop"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamInit, SessionID: "s"},
				{Kind: cw.StreamError, Text: "429 slow down", Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: "429 slow down", IsError: true, Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Turns: 1},
			},
		},
		{
			name:    "a field of another type spoils only itself",
			lines:   []string{`{"type":"text","timestamp":"x","sessionID":7,"part":{"id":"a","text":"b"}}`},
			want:    []cw.StreamEvent{{Kind: cw.StreamText, Text: "b\n"}},
			unknown: 1,
		},
		{
			name:  "not UTF-8",
			lines: []string{"{\"type\":\"text\",\"part\":{\"text\":\"a\xffb\"}}"},
			want:  []cw.StreamEvent{{Kind: cw.StreamText, Text: "a\uFFFDb\n"}},
		},
	})
}

func FuzzOpencode(f *testing.F) {
	fuzzJSON(
		f, FormatOpencode,
		`{"type":"error","timestamp":9999999999999999,"error":{"data":{"statusCode":429,"responseHeaders":{"retry-after":"5"}}}}`,
		`{"type":"tool_use","part":{"tool":"apply_patch","state":{"status":"completed","metadata":{"files":[{"filePath":"a"}]}}}}`,
	)
}
