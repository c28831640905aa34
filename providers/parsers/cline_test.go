package parsers

import (
	"encoding/json"
	"testing"

	"cw/internal/cw"
)

// TestClineRecordings states by hand what the recordings say. Sections are those
// of the notes on how the CLIs behave: 1 what happens at limits, 2 each CLI. The
// session is named nowhere.
func TestClineRecordings(t *testing.T) {
	t.Parallel()
	const mock = "mock-model"
	holdFacts(t, FormatCline, []jsonFact{
		// 2: run_result with the totals; the model in it alone
		{name: "tool", model: mock, end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "time", model: mock, end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "mcp", model: mock, end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "ask", model: mock, end: goodEnd, input: 2400, output: 68, tools: 1}, // it answers its question itself
		{name: "text", model: mock, end: goodEnd, input: 1200, output: 34},          // the one with run_start
		{name: "datadir", model: mock, end: goodEnd, input: 1200, output: 34},
		{name: "stdin-arg", model: mock, end: goodEnd, input: 1200, output: 34},
		// 0: a tool that needs an approval that nobody can give, exit code 0
		{name: "noauto", model: mock, end: goodEnd, input: 2400, output: 68, tools: 1, denied: 1},
		// 2: errorClass auth
		{name: "401", model: mock, end: cw.BucketAuth},
		// 1: errorClass unknown: the words alone tell, by the preset's patterns
		{name: "429", model: mock, end: cw.BucketTransient},
		{name: "quota-long", model: mock, end: cw.BucketLimit, limit: "quota"},
		// 1: silent retries; 2: a prompt of one word; 0: SIGTERM, SIGINT
		{name: "429ra", end: noEnd},
		{name: "quota", end: noEnd},
		{name: "flags", end: noEnd},
		{name: "noauth", end: noEnd},
		{name: "grpterm", end: noEnd},
		{name: "sigint", end: noEnd},
		{name: "slow-sigterm", end: noEnd},
	})
}

// TestClineLines covers what no recording shows, after the types of its packages.
func TestClineLines(t *testing.T) {
	t.Parallel()
	call := func(id, tool, input string) cw.StreamEvent {
		return cw.StreamEvent{Kind: cw.StreamToolCall, ToolUseID: id, Tool: tool, Input: json.RawMessage(input)}
	}
	holdLines(t, FormatCline, []lineTest{
		{
			name: "the tokens of an answer count once, and the end has the totals, other agents and the cost with them",
			lines: []string{
				`{"type":"agent_event","event":{"type":"usage","inputTokens":10,"outputTokens":2,"cacheReadTokens":4,"cacheWriteTokens":1,"totalInputTokens":10,"totalOutputTokens":2}}`,
				`{"type":"agent_event","event":{"type":"usage","inputTokens":10,"outputTokens":2,"cacheReadTokens":4,"cacheWriteTokens":1,"totalInputTokens":10,"totalOutputTokens":2}}`,
				`{"type":"agent_event","event":{"type":"usage","agentId":"b","parentAgentId":"a","inputTokens":5,"totalInputTokens":5}}`,
				`{"type":"run_result","finishReason":"completed","iterations":3,"text":"ok","usage":{"inputTokens":10,"outputTokens":2},"aggregateUsage":{"inputTokens":15,"outputTokens":2,"cacheReadTokens":4,"totalCost":0.5}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 5, OutputTokens: 2, CacheReadTokens: 4, CacheWriteTokens: 1}, Context: &cw.ContextUse{Tokens: 12}},
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 5}},
				{Kind: cw.StreamResult, Text: "ok", Turns: 3, CostUSD: 0.5, Usage: &cw.Usage{InputTokens: 11, OutputTokens: 2, CacheReadTokens: 4}},
			},
		},
		{
			name:  "without totals of all agents those of the one are taken",
			lines: []string{`{"type":"run_result","finishReason":"completed","usage":{"inputTokens":10,"totalCost":0.25}}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamResult, CostUSD: 0.25, Usage: &cw.Usage{InputTokens: 10}}},
		},
		{
			name: "words and thoughts in pieces and whole, also between each other",
			lines: []string{
				`{"type":"agent_event","event":{"type":"content_start","contentType":"reasoning","reasoning":"h"}}`,
				`{"type":"agent_event","event":{"type":"content_start","contentType":"text","text":"a"}}`,
				`{"type":"agent_event","event":{"type":"content_start","contentType":"reasoning","reasoning":"m"}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"reasoning","reasoning":"hm"}}`,
				`{"type":"agent_event","event":{"type":"content_start","contentType":"text","text":"b"}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"text","text":"abc"}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"text","text":"d"}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"media"}}`,
				`{"type":"agent_event","event":{"type":"content_start","contentType":"new"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamThinking, Text: "h"},
				{Kind: cw.StreamText, Text: "a"},
				{Kind: cw.StreamThinking, Text: "m"},
				{Kind: cw.StreamThinking, Text: "\n"},
				{Kind: cw.StreamText, Text: "b"},
				{Kind: cw.StreamText, Text: "c\n"},
				{Kind: cw.StreamText, Text: "d\n"},
			},
			unknown: 1,
		},
		{
			name: "a message that has no end is not what the next one began with",
			lines: []string{
				`{"type":"agent_event","event":{"type":"content_start","contentType":"text","text":"lost"}}`,
				`{"type":"agent_event","event":{"type":"iteration_start","iteration":2}}`,
				`{"type":"agent_event","event":{"type":"content_start","contentType":"text","text":"a"}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"text","text":"a"}}`,
			},
			want: []cw.StreamEvent{{Kind: cw.StreamText, Text: "lost"}, {Kind: cw.StreamText, Text: "a"}, {Kind: cw.StreamText, Text: "\n"}},
		},
		{
			name: "what tools give",
			lines: []string{
				`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolCallId":"a","output":[{"query":"x","result":"one","success":true},{"query":"y","result":"","error":"two","success":false}]}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolCallId":"b","output":{"content":[{"type":"text","text":"t"},{"type":"image"}]}}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolCallId":"c","output":{"odd":1}}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolCallId":"d","error":"broken"}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolCallId":"e","output":null,"error":null}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolCallId":"f","output":[{"result":{"n":1}}]}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolResult, ToolUseID: "a", Text: "one\ntwo", IsError: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamToolResult, ToolUseID: "b", Text: "t\n[image]"},
				{Kind: cw.StreamToolResult, ToolUseID: "c", Text: `{"odd":1}`},
				{Kind: cw.StreamToolResult, ToolUseID: "d", Text: "broken", IsError: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamToolResult, ToolUseID: "e"},
				{Kind: cw.StreamToolResult, ToolUseID: "f", Text: `{"n":1}`},
			},
		},
		{
			name: "an edit that works changes its file, one that fails does not",
			lines: []string{
				`{"type":"agent_event","event":{"type":"content_start","contentType":"tool","toolName":"editor","toolCallId":"a","input":{"path":"/w/a","new_text":""}}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolName":"editor","toolCallId":"a","output":"done"}}`,
				`{"type":"agent_event","event":{"type":"content_start","contentType":"tool","toolName":"editor","toolCallId":"b","input":{"path":"/w/b"}}}`,
				`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolName":"editor","toolCallId":"b","error":"no"}}`,
			},
			want: []cw.StreamEvent{
				call("a", "editor", `{"path":"/w/a","new_text":""}`),
				{Kind: cw.StreamToolResult, ToolUseID: "a", Text: "done"},
				{Kind: cw.StreamFileChange, ToolUseID: "a", Path: "/w/a", Change: "modify"},
				call("b", "editor", `{"path":"/w/b"}`),
				{Kind: cw.StreamToolResult, ToolUseID: "b", Text: "no", IsError: true, Bucket: cw.BucketTool},
			},
		},
		{
			name: "errors: recovered from, told twice, with a status, told by the end alone, on stdout by itself",
			lines: []string{
				`{"type":"agent_event","event":{"type":"error","error":{"message":"tool failed"},"recoverable":true}}`,
				`{"type":"agent_event","event":{"type":"error","error":{"message":"503 busy"},"errorClass":"unknown"}}`,
				`{"type":"run_result","finishReason":"error","text":"503 busy"}`,
				`{"type":"error","message":"429 slow down, try again in 1m"}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamWarning, Text: "tool failed"},
				{Kind: cw.StreamError, Text: "503 busy", Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: "503 busy", IsError: true, Bucket: cw.BucketTransient, Usage: &cw.Usage{}},
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "rate_limit", Text: "429 slow down, try again in 1m", Until: at("2026-11-21T04:01:00Z")}},
			},
		},
		{
			name:  "a limit that the end alone tells",
			lines: []string{`{"type":"run_result","finishReason":"error","text":"You exceeded your current quota"}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "quota", Text: "You exceeded your current quota"}},
				{Kind: cw.StreamResult, Text: "You exceeded your current quota", IsError: true, Bucket: cw.BucketLimit, Usage: &cw.Usage{}},
			},
		},
		{
			name:  "other ends are no good ones",
			lines: []string{`{"type":"run_result","finishReason":"aborted"}`, `{"type":"run_result","finishReason":"mistake_limit"}`, `{"type":"run_result"}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamResult, Text: "it ended: aborted", IsError: true, Bucket: cw.BucketAbort, Usage: &cw.Usage{}},
				{Kind: cw.StreamError, Text: "it ended: mistake_limit"},
				{Kind: cw.StreamResult, Text: "it ended: mistake_limit", IsError: true, Usage: &cw.Usage{}},
				{Kind: cw.StreamResult, Text: "it ended: mistake_limit", IsError: true, Usage: &cw.Usage{}},
			},
		},
		{
			name: "notices",
			lines: []string{
				`{"type":"agent_event","event":{"type":"notice","noticeType":"recovery","reason":"api_error","message":"again"}}`,
				`{"type":"agent_event","event":{"type":"notice","noticeType":"status","reason":"auto_compaction","message":"shorter"}}`,
				`{"type":"agent_event","event":{"type":"notice","noticeType":"stop","reason":"mistake_limit","message":"enough"}}`,
				`{"type":"agent_event","event":{"type":"new"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamRetry, Text: "again", Bucket: cw.BucketTransient},
				{Kind: cw.StreamCompaction, Text: "shorter"},
				{Kind: cw.StreamWarning, Text: "enough"},
			},
			unknown: 1,
		},
	})
}

func FuzzCline(f *testing.F) {
	fuzzJSON(
		f, FormatCline,
		`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","output":[{"result":[1],"success":false}]}}`,
		`{"type":"agent_event","event":{"type":"error","error":"429 try again in 10h","errorClass":"unknown"}}`,
	)
}
