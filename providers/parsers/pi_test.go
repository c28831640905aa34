package parsers

import (
	"testing"
	"time"

	"cw/internal/cw"
)

// TestPiLines covers what no recording shows.
func TestPiLines(t *testing.T) {
	t.Parallel()
	end := func(message string) string { return `{"type":"agent_end","messages":[` + message + `]}` }
	holdLines(t, FormatPi, []lineTest{
		{
			name: "words that come whole only",
			lines: []string{
				`{"type":"message_start","message":{"role":"assistant","content":[]}}`,
				`{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}]}}`,
			},
			want: []cw.StreamEvent{{Kind: cw.StreamThinking, Text: "hm\n"}, {Kind: cw.StreamText, Text: "a\n"}},
		},
		{
			name: "what a killed message said is not repeated by the next one",
			lines: []string{
				`{"type":"message_update","assistantMessageEvent":{"type":"text_start"}}`,
				`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"a"}}`,
				`{"type":"message_start","message":{"role":"assistant","content":[]}}`,
				`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"ab"}]}}`,
			},
			want: []cw.StreamEvent{{Kind: cw.StreamText, Text: "a"}, {Kind: cw.StreamText, Text: "ab\n"}},
		},
		{
			name:  "an answer whose end was cut is no good end",
			lines: []string{end(`{"role":"assistant","content":[{"type":"text","text":"a"}],"stopReason":"length"}`)},
			want: []cw.StreamEvent{
				{Kind: cw.StreamError, Text: "the answer was cut: it reached the length that the model may write"},
				{Kind: cw.StreamResult, Text: "the answer was cut: it reached the length that the model may write", IsError: true},
			},
		},
		{
			name:  "interrupted",
			lines: []string{end(`{"role":"assistant","content":[],"stopReason":"aborted"}`)},
			want: []cw.StreamEvent{
				{Kind: cw.StreamError, Text: "interrupted", Bucket: cw.BucketAbort},
				{Kind: cw.StreamResult, Text: "interrupted", IsError: true, Bucket: cw.BucketAbort},
			},
		},
		{
			name:  "no answer",
			lines: []string{end(`{"role":"user","content":"x"}`)},
			want: []cw.StreamEvent{
				{Kind: cw.StreamError, Text: "it ended without an answer"},
				{Kind: cw.StreamResult, Text: "it ended without an answer", IsError: true},
			},
		},
		{
			name: "a limit with a time of day, after the message's own time",
			lines: []string{
				`{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","timestamp":1795341600000}}`, // 2026-11-22 10:00
				end(`{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 usage limit, resets 9am (UTC)"}`),
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: "rate_limit", Text: "429 usage limit, resets 9am (UTC)", Until: at("2026-11-23T09:00:00Z")}},
				{Kind: cw.StreamResult, Text: "429 usage limit, resets 9am (UTC)", IsError: true, Bucket: cw.BucketLimit},
			},
		},
		{
			name: "a retry, and that it is over", // the error before it is told by agent_end
			lines: []string{
				`{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"fetch failed"}`,
				`{"type":"auto_retry_end","success":true,"attempt":1}`,
			},
			want: []cw.StreamEvent{{Kind: cw.StreamRetry, Attempt: 1, Delay: 2 * time.Second, Text: "fetch failed, try 1 of 3", Bucket: cw.BucketTransient}},
		},
		{
			name: "compaction",
			lines: []string{
				`{"type":"compaction_start","reason":"threshold"}`,
				`{"type":"compaction_end","reason":"threshold","aborted":false,"result":{"summary":"s","tokensBefore":90000}}`,
				`{"type":"compaction_end","reason":"overflow","aborted":true,"errorMessage":"no"}`,
				`{"type":"compaction_end","reason":"manual","aborted":true}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamCompaction, Text: "threshold, 90000 tokens before"},
				{Kind: cw.StreamWarning, Text: "compaction failed: no"},
			},
		},
		{
			name: "an edit that fails changes no file",
			lines: []string{
				`{"type":"tool_execution_start","toolCallId":"t","toolName":"edit","args":{"path":"a"}}`,
				`{"type":"tool_execution_end","toolCallId":"t","toolName":"edit","result":{"content":[{"type":"text","text":"no"}]},"isError":true}`,
			},
			want: []cw.StreamEvent{
				{Kind: cw.StreamToolCall, ToolUseID: "t", Tool: "edit", Input: []byte(`{"path":"a"}`)},
				{Kind: cw.StreamToolResult, ToolUseID: "t", Text: "no", IsError: true, Bucket: cw.BucketTool},
			},
		},
		{
			name:    "a message that is none",
			lines:   []string{`{"type":"message_end","message":"x"}`, `{"type":"message_end"}`},
			unknown: 2,
		},
	})
}

// TestPiRetriedWell: a limit that was overcome leaves a good end.
func TestPiRetriedWell(t *testing.T) {
	t.Parallel()
	s := read(t, FormatPi, joined([]string{
		`{"type":"session","id":"s"}`,
		`{"type":"agent_end","messages":[{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 slow down"}]}`,
		`{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"429 slow down"}`,
		`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"stopReason":"stop"}}`,
		`{"type":"agent_end","messages":[{"role":"assistant","content":[{"type":"text","text":"ok"}],"stopReason":"stop"}]}`,
	})).Summary
	if endOfRun(s) != good || s.Limit != nil || s.Retry != (Retry{}) || s.Result != "ok" {
		t.Errorf("%+v", s)
	}
}

func FuzzPi(f *testing.F) { fuzz(f, FormatPi) }
