package model

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// The failures below are those that codex 0.169.0 is known to react to; what it
// does is measured. Bodies and headers were written for tests: that the provider
// sends exactly these is not established. Those marked so may be sent InStream.

// OpenAIUsageLimit is the five-hour limit of a subscription. codex ends at once
// with "You’ve hit your usage limit … try again at 5:15 AM." in local time; the
// exact time is in its rollout file alone.
func OpenAIUsageLimit(resets time.Time) Failure {
	return Failure{
		Status: http.StatusTooManyRequests,
		Header: OpenAIRateLimits(100, resets),
		Body: openAIError("usage_limit_reached", "", "The usage limit has been reached", object{
			"plan_type": "plus", "resets_at": resets.Unix(), "resets_in_seconds": max(1, int(time.Until(resets).Seconds())),
		}),
	}
}

// OpenAIRateLimits is the header of any answer to a subscription: how much of
// the five-hour limit is used (percent) and when it begins anew. codex writes it
// into its rollout file, not to stdout.
func OpenAIRateLimits(usedPercent float64, resets time.Time) http.Header {
	reset := strconv.FormatInt(resets.Unix(), 10)
	h := http.Header{}
	h.Set("X-Codex-Primary-Used-Percent", strconv.FormatFloat(usedPercent, 'f', -1, 64))
	h.Set("X-Codex-Primary-Window-Minutes", "300")
	h.Set("X-Codex-Primary-Reset-At", reset)
	h.Set("X-Codex-Secondary-Used-Percent", "12")
	h.Set("X-Codex-Secondary-Window-Minutes", "10080")
	h.Set("X-Codex-Secondary-Reset-At", reset)
	return h
}

// OpenAIRateLimit is a short-lived limit on tokens per minute. codex tries 5
// times more, about 6 s in all, then ends with "exceeded retry limit"; InStream
// it waits for the 1.5 s of the message first.
func OpenAIRateLimit() Failure {
	return Failure{
		Status: http.StatusTooManyRequests,
		Header: http.Header{"Retry-After": {"1"}},
		Body:   openAIError("tokens", "rate_limit_exceeded", "Rate limit reached on tokens per min. Please try again in 1.5s.", nil),
	}
}

// OpenAIQuota is a key without money; codex ends at once with "Quota exceeded".
// May be sent InStream.
func OpenAIQuota() Failure {
	return Failure{
		Status: http.StatusTooManyRequests,
		Body: openAIError("insufficient_quota", "insufficient_quota",
			"You exceeded your current quota, please check your plan and billing details.", nil),
	}
}

// OpenAI401 is a key that does not hold. codex tries 5 times more, about 6 s in
// all, then ends with "unexpected status 401 Unauthorized".
func OpenAI401() Failure {
	return Failure{
		Status: http.StatusUnauthorized,
		Body:   openAIError("invalid_request_error", "invalid_api_key", "Incorrect API key provided.", nil),
	}
}

// OpenAIOverloaded is a provider without capacity; codex tries again a few times
// without a word, then ends with "Selected model is at capacity". May be sent
// InStream.
func OpenAIOverloaded() Failure {
	return Failure{
		Status: http.StatusServiceUnavailable,
		Body:   openAIError("server_error", "server_is_overloaded", "Our servers are currently overloaded. Please try again later.", nil),
	}
}

// OpenAIContextLength is a conversation that is too long; codex ends at once with
// "ran out of room in the model's context window". Sent InStream.
func OpenAIContextLength() Failure {
	return Failure{
		Status: http.StatusBadRequest, InStream: true,
		Body: openAIError("invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model.", nil),
	}
}

// openAIError is the body of every error of the API.
func openAIError(kind, code, message string, more object) string {
	inner := object{"type": kind, "code": nil, "message": message}
	if code != "" {
		inner["code"] = code
	}
	maps.Copy(inner, more)
	b, err := json.Marshal(object{"error": inner})
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	return string(b)
}
