package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The failures below are those that claude 2.1.197 is known to react to; what
// it does is measured. Bodies and headers were written for tests: that the
// provider sends exactly these is not established.

// UsageLimitOAuth is the five-hour limit of a subscription. With an OAuth login
// claude ends at once, says "You've hit your session limit" and writes a
// rate_limit_event with status rejected; with an API key it ends at once
// without that event.
func UsageLimitOAuth(resets time.Time) Failure { return usageLimit("five_hour", "5h", resets) }

// WeeklyLimitOAuth is the seven-day limit of a subscription: "You've hit your
// weekly limit".
func WeeklyLimitOAuth(resets time.Time) Failure { return usageLimit("seven_day", "7d", resets) }

func usageLimit(claim, window string, resets time.Time) Failure {
	h := unifiedLimit("rejected", claim, window, resets, 1)
	h.Set("Anthropic-Ratelimit-Unified-Overage-Status", "rejected")
	h.Set("Anthropic-Ratelimit-Unified-Overage-Disabled-Reason", "org_level_disabled")
	h.Set("Retry-After", strconv.Itoa(max(1, int(time.Until(resets).Seconds()))))
	h.Set("X-Should-Retry", "false")
	return Failure{
		Status: http.StatusTooManyRequests,
		Header: h,
		Body:   anthropicError("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
	}
}

// LimitWarning is the header of a good answer to a subscription that has used
// the given share (0 to 1) of its five-hour limit. With an OAuth login claude
// writes a rate_limit_event with status allowed_warning.
func LimitWarning(used float64, resets time.Time) http.Header {
	h := unifiedLimit("allowed_warning", "five_hour", "5h", resets, used)
	h.Set("Anthropic-Ratelimit-Unified-5h-Surpassed-Threshold", "0.9")
	return h
}

func unifiedLimit(status, claim, window string, resets time.Time, used float64) http.Header {
	const prefix = "Anthropic-Ratelimit-Unified-"
	reset := strconv.FormatInt(resets.Unix(), 10)
	h := http.Header{}
	h.Set(prefix+"Status", status)
	h.Set(prefix+"Reset", reset)
	h.Set(prefix+"Representative-Claim", claim)
	h.Set(prefix+window+"-Status", status)
	h.Set(prefix+window+"-Reset", reset)
	h.Set(prefix+window+"-Utilization", strconv.FormatFloat(used, 'f', -1, 64))
	return h
}

// UsageLimitText is the limit told in words alone; claude passes the words on
// ("… usage limit reached|<epoch>") and ends at once.
func UsageLimitText(resets time.Time) Failure {
	return Failure{
		Status: http.StatusTooManyRequests,
		Header: http.Header{"X-Should-Retry": {"false"}},
		Body:   anthropicError("rate_limit_error", fmt.Sprintf("Claude AI usage limit reached|%d", resets.Unix())),
	}
}

// RateLimit is a short-lived limit on requests per minute. claude tries again:
// 10 times, about 185 s in all, unless CLAUDE_CODE_MAX_RETRIES says otherwise.
func RateLimit(retryAfter time.Duration) Failure {
	return Failure{
		Status: http.StatusTooManyRequests,
		Header: http.Header{"Retry-After": {strconv.Itoa(int(retryAfter.Seconds()))}},
		Body:   anthropicError("rate_limit_error", "This request would exceed your organization's rate limit of 50,000 input tokens per minute."),
	}
}

// Overloaded529 is a provider without capacity; claude tries again as with
// RateLimit. Inside a stream (InStream) it recovers without a word.
func Overloaded529() Failure {
	return Failure{Status: 529, Body: anthropicError("overloaded_error", "Overloaded")}
}

// Unauthorized401 is a key that does not hold. claude tries 10 times, about
// 180 s in all, then ends with authentication_failed.
func Unauthorized401() Failure {
	return Failure{Status: http.StatusUnauthorized, Body: anthropicError("authentication_error", "invalid x-api-key")}
}

// CreditBalance400 is a key without money; claude ends at once with
// billing_error.
func CreditBalance400() Failure {
	return Failure{
		Status: http.StatusBadRequest,
		Body: anthropicError("invalid_request_error",
			"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."),
	}
}

// anthropicError is the body of every error of the API.
func anthropicError(kind, message string) string {
	b, err := json.Marshal(object{"type": "error", "error": object{"type": kind, "message": message}})
	if err != nil { // two strings always marshal
		panic(err)
	}
	return string(b)
}
