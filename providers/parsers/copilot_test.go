package parsers

import (
	"encoding/json"
	"testing"

	"cw/internal/cw"
)

// TestCopilotRecordings states by hand what the recordings say. Sections are those
// of the notes on how the CLIs behave: 1 what happens at limits, 2 each CLI. No
// line of a run against an API of one's own tells tokens or a cost.
func TestCopilotRecordings(t *testing.T) {
	t.Parallel()
	const gpt = "gpt-4.1"
	holdFacts(t, FormatCopilot, []jsonFact{
		// 2: the session in the last line, exit code 0
		{name: "tool", session: "3f5a01e8-790e-4965-8234-b07a79ca7df5", model: gpt, end: goodEnd, tools: 1},
		{name: "time", session: "94ba35ca-ef20-4eb6-83d8-be5e798738c9", model: gpt, end: goodEnd, tools: 1},
		{name: "mcp", session: "d405c17c-c62a-4a7e-ba35-6099418e0f9b", model: gpt, end: goodEnd, tools: 1},
		{name: "ask", session: "cdc717ca-9ba2-4917-ad19-733293b6f874", model: gpt, end: goodEnd},
		{name: "cdir", session: "067803f4-2124-4390-be58-002aa338c462", model: gpt, end: goodEnd},
		{name: "home", session: "fcd08a1b-f27b-4f2e-9fc1-65a8c5b0bad2", model: gpt, end: goodEnd},
		{name: "stdin", session: "8df8e35d-de90-4a0d-8959-4f86b3de9b7e", model: gpt, end: goodEnd},
		// 0: resumed, from another directory too; an id that was chosen, and again
		{name: "resume", session: "3f5a01e8-790e-4965-8234-b07a79ca7df5", model: gpt, end: goodEnd},
		{name: "resume-othercwd", session: "3f5a01e8-790e-4965-8234-b07a79ca7df5", model: gpt, end: goodEnd},
		{name: "sessionid", session: "11111111-2222-4333-8444-555555555555", model: gpt, end: goodEnd},
		{name: "sessionid-again", session: "11111111-2222-4333-8444-555555555555", model: gpt, end: goodEnd},
		// 0: a tool that is denied, exit code 0 all the same
		{name: "noauto", session: "8d2de738-76b1-4f22-a484-c845eeace327", model: gpt, end: goodEnd, tools: 1, denied: 1},
		// 1: errorType authentication, rate_limit; retry-after is not told, the words
		// are of tokens per minute
		{name: "401", session: "1b6d3187-3807-4082-8c5a-0c90de372e20", model: gpt, end: cw.BucketAuth},
		{name: "429", session: "797e9a4b-8e4e-43ec-94db-f5121526472b", model: gpt, end: cw.BucketTransient},
		{name: "429ra", session: "06761bd1-d571-4dcd-8de1-ec1a762ec2ac", model: gpt, end: cw.BucketTransient},
		// 1: the same errorType, its words name the quota
		{name: "quota-long", session: "f0438dac-a52b-4662-82a2-9c2b0f03a803", model: gpt, end: cw.BucketLimit, limit: "quota"},
		{name: "quota", model: gpt, end: noEnd}, // ended while it tried again
		// 2: ended by a signal: abort, no result, and so no session
		{name: "native-sigint", model: gpt, end: noEnd},
		{name: "native-sigterm", model: gpt, end: noEnd},
		{name: "grpterm", model: gpt, end: noEnd},
		{name: "slow-sigterm", model: gpt, end: noEnd}, // its wrapper died, it went on
	})
}

// TestCopilotRetries: what is tried again is told while it goes on.
func TestCopilotRetries(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"401": 2, "429": 5, "429ra": 0, "quota": 4, "quota-long": 5, "tool": 0} {
		retries := 0
		for _, ev := range read(t, FormatCopilot, readRecording(t, FormatCopilot, name)).Events {
			if ev.Kind == cw.StreamRetry {
				retries++
				if ev.Attempt != retries || ev.Bucket == "" || ev.Text == "" {
					t.Errorf("%s: %+v", name, ev)
				}
			}
		}
		if retries != want {
			t.Errorf("%s: %d retries, want %d", name, retries, want)
		}
	}
}

// TestCopilotLines covers what no recording shows, after the types that GitHub
// publishes.
func TestCopilotLines(t *testing.T) {
	t.Parallel()
	good := `{"type":"result","sessionId":"s","exitCode":0}`
	ends := []cw.StreamEvent{{Kind: cw.StreamInit, SessionID: "s"}, {Kind: cw.StreamResult}}
	holdLines(t, FormatCopilot, []lineTest{
		{
			name: "words in pieces and whole, a message that is whole alone, one that comes again",
			lines: []string{
				`{"type":"assistant.message_start","data":{"messageId":"a"},"ephemeral":true}`,
				`{"type":"assistant.message_delta","data":{"messageId":"a","deltaContent":"he"},"ephemeral":true}`,
				`{"type":"assistant.message_delta","data":{"messageId":"a","deltaContent":"l"},"ephemeral":true}`,
				`{"type":"assistant.message","data":{"messageId":"a","content":"hello"}}`,
				`{"type":"assistant.message","data":{"messageId":"a","content":"hello"}}`,
				`{"type":"assistant.message","data":{"messageId":"b","content":"there"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamText, Text: "he"}, {Kind: cw.StreamText, Text: "l"},
				{Kind: cw.StreamText, Text: "lo\n"}, {Kind: cw.StreamText, Text: "there\n"},
			},
		},
		{
			name: "a message without words leaves nothing behind",
			lines: []string{
				`{"type":"assistant.message_start","data":{"messageId":"a"}}`,
				`{"type":"assistant.message","data":{"messageId":"a","content":""}}`,
				`{"type":"assistant.message_start","data":{"messageId":"b"}}`,
				`{"type":"assistant.message_delta","data":{"messageId":"b","deltaContent":"x"}}`,
				`{"type":"assistant.message","data":{"messageId":"b","content":"x"}}`,
			},
			want: []cw.StreamEvent{{Kind: cw.StreamText, Text: "x"}, {Kind: cw.StreamText, Text: "\n"}},
		},
		{
			name: "thoughts come whole; a sub-agent has words of its own",
			lines: []string{
				`{"type":"assistant.reasoning_delta","data":{"reasoningId":"r","deltaContent":"h"}}`,
				`{"type":"assistant.reasoning","data":{"reasoningId":"r","content":"hm"}}`,
				`{"type":"assistant.message","data":{"messageId":"a","content":"sub","parentToolCallId":"t"}}`,
				good,
			},
			want: append([]cw.StreamEvent{
				{Kind: cw.StreamThinking, Text: "hm\n"},
				{Kind: cw.StreamText, ParentToolUseID: "t", Text: "sub\n"},
			}, ends...),
		},
		{
			name: "the tokens of an answer count once; how full the context is",
			lines: []string{
				`{"type":"assistant.usage","data":{"apiCallId":"a","inputTokens":100,"cacheReadTokens":60,"outputTokens":5,"reasoningTokens":2}}`,
				`{"type":"assistant.usage","data":{"apiCallId":"a","inputTokens":100}}`,
				`{"type":"session.usage_info","data":{"currentTokens":120,"tokenLimit":200}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 40, CacheReadTokens: 60, OutputTokens: 5, ReasoningTokens: 2}},
				{Kind: cw.StreamUsage, Context: &cw.ContextUse{Tokens: 120, Limit: 200}},
			},
		},
		{
			name: "files that changed are told once, one that nothing told before at the end",
			lines: []string{
				`{"type":"tool.execution_start","data":{"toolCallId":"a","toolName":"create","arguments":{"path":"/w/a"}}}`,
				`{"type":"tool.execution_start","data":{"toolCallId":"b","toolName":"edit","arguments":{"path":"/w/b"}}}`,
				`{"type":"tool.execution_complete","data":{"toolCallId":"a","success":true,"result":{"content":"made"}}}`,
				`{"type":"tool.execution_complete","data":{"toolCallId":"b","error":{"message":"not there","code":"failure"}}}`,
				`{"type":"result","sessionId":"s","exitCode":0,"usage":{"codeChanges":{"filesModified":["/w/a","/w/c"]}}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "a", Tool: "create", Input: json.RawMessage(`{"path":"/w/a"}`)},
				{Kind: cw.StreamToolCall, ToolUseID: "b", Tool: "edit", Input: json.RawMessage(`{"path":"/w/b"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "a", Text: "made"},
				{Kind: cw.StreamFileChange, ToolUseID: "a", Path: "/w/a", Change: "add"},
				{Kind: cw.StreamToolResult, ToolUseID: "b", Text: "not there", IsError: true, Bucket: cw.BucketTool},
				{Kind: cw.StreamInit, SessionID: "s"},
				{Kind: cw.StreamFileChange, Path: "/w/c", Change: "modify"},
				{Kind: cw.StreamResult},
			},
		},
		{
			name: "limits by their kinds",
			lines: []string{
				`{"type":"session.error","data":{"errorType":"quota","errorCode":"quota_exceeded","message":"no more"}}`,
				`{"type":"session.error","data":{"errorType":"rate_limit","errorCode":"user_weekly_rate_limited","message":"Sorry"}}`,
				`{"type":"session.error","timestamp":"2026-11-21T05:00:00Z","data":{"errorType":"rate_limit","message":"Please try again in 2h0m0s."}}`,
				`{"type":"session.error","data":{"errorType":"rate_limit","message":"Please try again in 2s."}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "quota", Text: "no more"}},
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "seven_day", Text: "Sorry"}},
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "rate_limit", Text: "Please try again in 2h0m0s.", Until: at("2026-11-21T07:00:00Z")}},
				{Kind: cw.StreamError, Text: "429 Please try again in 2s.", Bucket: cw.BucketTransient},
			},
		},
		{
			name: "an error without a kind goes by its status; the bad end has its words",
			lines: []string{
				`{"type":"session.error","data":{"errorType":"query","message":"oh","statusCode":502}}`,
				`{"type":"result","exitCode":1}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamError, Text: "oh", Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: "oh", IsError: true, Bucket: cw.BucketTransient},
			},
		},
		{
			name:    "a result without an exit code is no good end",
			lines:   []string{`{"type":"result"}`, `{"type":"result","exitCode":"0"}`},
			want:    []cw.StreamEvent{{Kind: cw.StreamResult, IsError: true, Text: "it failed without a word"}, {Kind: cw.StreamResult, IsError: true, Text: "it failed without a word"}},
			unknown: 1,
		},
		{
			name: "a session that is told early, and a model that changes",
			lines: []string{
				`{"type":"session.start","data":{"sessionId":"s"}}`,
				`{"type":"session.tools_updated","data":{"model":"a"}}`,
				`{"type":"session.tools_updated","data":{"model":"a"}}`,
				`{"type":"session.tools_updated","data":{"model":"b"}}`,
				good,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamInit, SessionID: "s"},
				{Kind: cw.StreamInit, SessionID: "s", Model: "a"},
				{Kind: cw.StreamInit, SessionID: "s", Model: "b"},
				{Kind: cw.StreamResult},
			},
		},
		{
			name: "the context was shortened, or could not be; a warning",
			lines: []string{
				`{"type":"session.compaction_complete","data":{"success":true,"postCompactionTokens":9}}`,
				`{"type":"session.compaction_complete","data":{"success":false,"error":"too long"}}`,
				`{"type":"session.warning","data":{"message":"mind"}}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamCompaction, Context: &cw.ContextUse{Tokens: 9}},
				{Kind: cw.StreamWarning, Text: "the context could not be shortened: too long"},
				{Kind: cw.StreamWarning, Text: "mind"},
			},
		},
		{
			name:  "an answer that is asked for again, of which nothing is known",
			lines: []string{`{"type":"assistant.turn_retry","data":{"reason":"odd"}}`},
			want:  []cw.StreamEvent{{Kind: cw.StreamRetry, Attempt: 1, Text: "odd", Bucket: cw.BucketTransient}},
		},
	})
}

func FuzzCopilot(f *testing.F) {
	fuzzJSON(
		f, FormatCopilot,
		`{"type":"assistant.usage","data":{"apiCallId":"a","inputTokens":1}}`,
		`{"type":"session.error","data":{"errorType":"rate_limit","message":"try again in 9h"}}`,
	)
}
