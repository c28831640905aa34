package parsers

import (
	"encoding/json"
	"testing"

	"cw/internal/cw"
)

// TestGeminiRecordings states by hand what the recordings say. Sections are those
// of the notes on how the CLIs behave: 1 what happens at limits, 2 each CLI.
func TestGeminiRecordings(t *testing.T) {
	t.Parallel()
	const pro = "gemini-2.5-pro"
	holdFacts(t, FormatGemini, []jsonFact{
		// 2: init has the session, result the tokens of all models of the process
		{name: "tool", session: "b9f45973-4899-409e-928e-d45264a81cf7", model: pro, end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "time", session: "89456e21-711f-47cf-89b6-dbebffa4e380", model: pro, end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "time-norelaunch", session: "6e4e4ba1-284c-45ae-8816-ad0914ed7ba3", model: pro, end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "mcp", session: "549f0952-32ca-4d64-9535-925ef0dfbd5e", model: pro, end: goodEnd, input: 1200, output: 34}, // the server was not loaded
		{name: "mcp2", session: "62bb31a3-2568-4273-b898-afd82a901aa5", model: pro, end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "mcp3", session: "70f74979-fb14-4f10-bcd7-84ccdac21d34", model: pro, end: goodEnd, input: 2400, output: 68, tools: 1},
		{name: "ask", session: "d4ed8cde-b268-4e21-8d5a-821ce890cd2c", model: pro, end: goodEnd, input: 1200, output: 34},
		{name: "positional", session: "0f307c59-9f45-43ed-b91f-1b30dd16ba48", model: pro, end: goodEnd, input: 1200, output: 34},
		{name: "stdin", session: "490ceb25-4a2f-4951-b30f-1269728a545c", model: pro, end: goodEnd, input: 1200, output: 34},
		// 2: without -m the router asks a model of its own
		{name: "noauto", session: "4a54cb20-fcdc-4ab9-be04-fa3abb704ebc", model: "auto", end: goodEnd, input: 2400, output: 68},
		// 0: resumed, the same session; the tokens are of this run alone
		{name: "resume", session: "b9f45973-4899-409e-928e-d45264a81cf7", model: pro, end: goodEnd, input: 1200, output: 34},
		{name: "resume-latest", session: "b9f45973-4899-409e-928e-d45264a81cf7", model: pro, end: goodEnd, input: 1200, output: 34},
		{name: "sessionid", session: "11111111-2222-4333-8444-555555555555", model: pro, end: goodEnd, input: 1200, output: 34},
		// 1: the API's error whole in the text, code 401
		{name: "401", session: "8075c2ca-7eb7-4ede-836f-aec24e9d8741", model: pro, end: cw.BucketAuth},
		// 1: the daily quota, at once; when it ends is not told
		{name: "quota", session: "c8111465-1e6c-46c9-ac4c-181d9b1a8069", model: pro, end: cw.BucketLimit, limit: "quota"},
		// 1: a plain 429 after ten requests; its words name a quota and mean any limit
		{name: "429-long", session: "2e4007b1-daa8-4b85-8bbf-d814d2a1212f", model: pro, end: cw.BucketLimit, limit: "rate_limit"},
		// 1: ended while it tried again, which is told on stderr alone
		{name: "429", session: "0287eb33-d154-4f0a-83fb-ba12b2676c32", model: pro, end: noEnd},
		{name: "500", session: "06661d2d-a50c-4cc6-96d7-6fa22efd8fbe", model: pro, end: noEnd},
		// 0: ended by a signal, exit code 0, no result
		{name: "grpterm", session: "bfc68e5c-3f56-4df9-bea1-b7998f75c97a", model: pro, end: noEnd},
		{name: "slow-sigint", session: "34c4d073-3a97-431b-a783-5630e1d80e48", model: pro, end: noEnd},
		{name: "slow-sigterm", session: "749948ce-fa6f-4286-8c0a-627b56c52ca1", model: pro, end: noEnd},
		{name: "slow-sigterm2", session: "4e9446bc-467d-4dda-be44-962d4f993dc9", model: pro, end: noEnd},
		{name: "slow-sigterm-norelaunch", session: "7011ce5b-7b37-4251-91f7-448240c33a3c", model: pro, end: noEnd},
		// -o json: one object over 91 lines, which is another format
		{name: "json", end: noEnd, unknown: 91},
	})
}

// TestGeminiLines covers what no recording shows, after the program itself.
func TestGeminiLines(t *testing.T) {
	t.Parallel()
	holdLines(t, FormatGemini, []lineTest{
		{
			name:  "the cache is not counted twice, thoughts stand in the total alone",
			lines: []string{`{"type":"result","status":"success","stats":{"total_tokens":130,"input_tokens":100,"output_tokens":20,"cached":60,"input":40}}`},
			want: []cw.StreamEvent{{
				Kind:  cw.StreamResult,
				Usage: &cw.Usage{InputTokens: 40, CacheReadTokens: 60, OutputTokens: 30, ReasoningTokens: 10},
			}},
		},
		{
			name: "the words since the last tool call are the result",
			lines: []string{
				`{"type":"message","role":"user","content":"do it"}`,
				`{"type":"message","role":"assistant","content":"first","delta":true}`,
				`{"type":"tool_use","tool_name":"x","tool_id":"a","parameters":{}}`,
				`{"type":"tool_result","tool_id":"a","status":"success"}`,
				`{"type":"message","role":"assistant","content":"la","delta":true}`,
				`{"type":"message","role":"assistant","content":"st","delta":true}`,
				`{"type":"result","status":"success"}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamText, Text: "first"},
				{Kind: cw.StreamToolCall, ToolUseID: "a", Tool: "x", Input: json.RawMessage(`{}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "a"},
				{Kind: cw.StreamText, Text: "la"},
				{Kind: cw.StreamText, Text: "st"},
				{Kind: cw.StreamResult, Text: "last", Turns: 2, Usage: &cw.Usage{}},
			},
		},
		{
			name: "files that changed, tools that failed or were refused, a plan",
			lines: []string{
				`{"type":"tool_use","tool_name":"write_file","tool_id":"a","parameters":{"file_path":"/w/a"}}`,
				`{"type":"tool_use","tool_name":"replace","tool_id":"b","parameters":{"file_path":"/w/b"}}`,
				`{"type":"tool_use","tool_name":"write_todos","tool_id":"c","parameters":{"todos":[]}}`,
				`{"type":"tool_result","tool_id":"a","status":"success","output":"ok"}`,
				`{"type":"tool_result","tool_id":"b","status":"error","error":{"type":"edit_no_occurrence_found","message":"not there"}}`,
				`{"type":"tool_result","tool_id":"c","status":"error","output":"no","error":{"type":"policy_violation","message":"denied"}}`,
				`{"type":"tool_result","tool_id":"d"}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "a", Tool: "write_file", Input: json.RawMessage(`{"file_path":"/w/a"}`)},
				{Kind: cw.StreamToolCall, ToolUseID: "b", Tool: "replace", Input: json.RawMessage(`{"file_path":"/w/b"}`)},
				{Kind: cw.StreamToolCall, ToolUseID: "c", Tool: "write_todos", Input: json.RawMessage(`{"todos":[]}`)},
				{Kind: cw.StreamPlan, ToolUseID: "c", Tool: "write_todos", Input: json.RawMessage(`{"todos":[]}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "a", Text: "ok"},
				{Kind: cw.StreamFileChange, ToolUseID: "a", Path: "/w/a", Change: "modify"},
				{Kind: cw.StreamToolResult, ToolUseID: "b", Text: "not there", IsError: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamToolResult, ToolUseID: "c", Text: "no", IsError: true, Bucket: cw.BucketTool, PermissionDenied: true},
				{Kind: cw.StreamToolResult, ToolUseID: "d", IsError: true, Bucket: cw.BucketTool},
			},
		},
		{
			name: "warnings go on; an error is told once, and the result that follows without words has its",
			lines: []string{
				`{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}`,
				`{"type":"error","severity":"error","message":"Invalid stream"}`,
				`{"type":"result","status":"error"}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamWarning, Text: "Loop detected, stopping execution"},
				{Kind: cw.StreamError, Text: "Invalid stream"},
				{Kind: cw.StreamResult, Text: "Invalid stream", IsError: true, Usage: &cw.Usage{}},
			},
		},
		{
			name: "bad ends by the class of the error, and by the status in its text",
			lines: []string{
				`{"type":"result","status":"error","error":{"type":"FatalAuthenticationError","message":"x"}}`,
				`{"type":"result","status":"error","error":{"type":"FatalCancellationError","message":"Operation cancelled."}}`,
				`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\": 503,\"message\":\"y\"}}]"}}`,
				`{"type":"result","status":"odd"}`,
				`{"type":"result"}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamError, Text: "x", Bucket: cw.BucketAuth},
				{Kind: cw.StreamResult, Text: "x", IsError: true, Bucket: cw.BucketAuth, Usage: &cw.Usage{}},
				{Kind: cw.StreamError, Text: "Operation cancelled.", Bucket: cw.BucketAbort},
				{Kind: cw.StreamResult, Text: "Operation cancelled.", IsError: true, Bucket: cw.BucketAbort, Usage: &cw.Usage{}},
				{Kind: cw.StreamError, Text: `[API Error: {"error":{"code": 503,"message":"y"}}]`, Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: `[API Error: {"error":{"code": 503,"message":"y"}}]`, IsError: true, Bucket: cw.BucketTransient, Usage: &cw.Usage{}},
				{Kind: cw.StreamError, Text: "an error without words"},
				{Kind: cw.StreamResult, Text: "an error without words", IsError: true, Usage: &cw.Usage{}},
				{Kind: cw.StreamError, Text: "an error without words"},
				{Kind: cw.StreamResult, Text: "an error without words", IsError: true, Usage: &cw.Usage{}},
			},
		},
		{
			name:  "a limit that says how long it lasts",
			lines: []string{`{"type":"result","timestamp":"2026-11-21T05:00:00.000Z","status":"error","error":{"message":"[API Error: 429 You exceeded your current quota\nSuggested retry after 37000s.]"}}`},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "quota", Until: at("2026-11-21T15:16:40Z"), Text: "[API Error: 429 You exceeded your current quota\nSuggested retry after 37000s.]"}},
				{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketLimit, Usage: &cw.Usage{}, Text: "[API Error: 429 You exceeded your current quota\nSuggested retry after 37000s.]"},
			},
		},
		{
			name:    "a field of another type spoils only itself",
			lines:   []string{`{"type":"result","status":7,"stats":{"input":"x","output_tokens":2}}`},
			want:    []cw.StreamEvent{{Kind: cw.StreamError, Text: "an error without words"}, {Kind: cw.StreamResult, IsError: true, Text: "an error without words", Usage: &cw.Usage{OutputTokens: 2}}},
			unknown: 1,
		},
	})
}

func FuzzGemini(f *testing.F) {
	fuzzJSON(
		f, FormatGemini,
		`{"type":"error","severity":"error","message":"[API Error: 429 quota exceeded, try again in 99h]"}`,
		`{"type":"result","timestamp":"9999-12-31T23:59:59Z","status":"error","error":{"message":"429 retry in 8000h"}}`,
	)
}
