package parsers

import (
	"testing"

	"cw/internal/cw"
)

// TestRateLimited: which errors that pass are about the account.
func TestRateLimited(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"exceeded retry limit, last status: 429 Too Many Requests": true,
		"Rate limit reached for gpt-5 in organization org-x":       true,
		"litellm.RateLimitError: RateLimitError: OpenAIException":  true,
		`{"type":"error","error":{"type":"rate_limit_error"}}`:     true,
		"Request rejected (429)":                                   true,
		"Selected model is at capacity":                            false,
		"unexpected status 503 Service Unavailable":                false,
		"a file of 1429 lines":                                     false,
		"the limit of the accelerate limiter":                      false,
		"":                                                         false,
	} {
		if RateLimited(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// TestOverloadInSummary: it counts until something goes on, and only where the
// error is one that passes.
func TestOverloadInSummary(t *testing.T) {
	t.Parallel()
	const text = "429 Too Many Requests"
	failed := func(bucket, text string) cw.StreamEvent {
		return cw.StreamEvent{Kind: cw.StreamError, Bucket: bucket, Text: text}
	}
	for name, c := range map[string]struct {
		events []cw.StreamEvent
		want   bool
	}{
		"too many":         {[]cw.StreamEvent{failed(cw.BucketTransient, text)}, true},
		"as a result":      {[]cw.StreamEvent{{Kind: cw.StreamResult, IsError: true, Bucket: cw.BucketTransient, Text: text}}, true},
		"then a usage":     {[]cw.StreamEvent{failed(cw.BucketTransient, text), {Kind: cw.StreamUsage}}, true},
		"then words":       {[]cw.StreamEvent{failed(cw.BucketTransient, text), {Kind: cw.StreamText, Text: "ok"}}, false},
		"then a tool":      {[]cw.StreamEvent{failed(cw.BucketTransient, text), {Kind: cw.StreamToolCall, Tool: "Bash"}}, false},
		"then another one": {[]cw.StreamEvent{failed(cw.BucketTransient, text), failed(cw.BucketTool, "no such file")}, false},
		"then its end":     {[]cw.StreamEvent{failed(cw.BucketTransient, text), {Kind: cw.StreamResult, IsError: true, Text: "failed"}}, true},
		"a tool's":         {[]cw.StreamEvent{failed(cw.BucketTool, text)}, false},
		"a server's":       {[]cw.StreamEvent{failed(cw.BucketTransient, "503")}, false},
	} {
		var s Summary
		for _, ev := range c.events {
			s.Add(ev)
		}
		if s.Overload != c.want {
			t.Errorf("%s: %t", name, s.Overload)
		}
	}
}
