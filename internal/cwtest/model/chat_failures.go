package model

import (
	"net/http"
	"strconv"
	"time"
)

// The failures of Chat Completions are those of Responses: [OpenAIQuota],
// [OpenAI401], and the ones below. What the CLIs do on them is measured (opencode
// 1.18.33, qwen 0.24.4, copilot 1.0.102, cline 3.0.65, cn 1.5.47):
//
//   - OpenAIQuota: copilot asks 6 times in 60 s and cline in 72 s, opencode 5
//     times in 86 s and cn 33 times in 111 s, then each ends with exit code 1;
//     qwen goes on for hours.
//   - OpenAI401: all end at once with exit code 1, cn after a few tries.

// OpenAIRateLimitFor is a limit that passes when retryAfter, told in whole
// seconds, is over; at 0 nothing is told. Without it, or after a second,
// opencode, copilot and cline ask 6 times in about 6 s and end. With an hour
// copilot ends at once, opencode waits without a word, and cline tries as if
// nothing had been told.
func OpenAIRateLimitFor(retryAfter time.Duration) Failure {
	f := Failure{
		Status: http.StatusTooManyRequests,
		Body:   openAIError("requests", "rate_limit_exceeded", "Rate limit reached for mock-model on requests per min (RPM): Limit 3, Used 3, Requested 1.", nil),
	}
	if retryAfter > 0 {
		f.Header = http.Header{"Retry-After": {strconv.Itoa(int(retryAfter.Seconds()))}}
	}
	return f
}

// OpenAI500 is trouble on the provider's side; every CLI tries again.
func OpenAI500() Failure {
	return Failure{
		Status: http.StatusInternalServerError,
		Body:   openAIError("server_error", "", "The server had an error while processing your request.", nil),
	}
}
