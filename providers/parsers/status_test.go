package parsers

import (
	"testing"
	"time"

	"cw/internal/cw"
)

// TestRateOrLimit: what a 429 is depends on what is said with it. The texts of
// plain rates were recorded, or are those of the APIs' documentation.
func TestRateOrLimit(t *testing.T) {
	t.Parallel()
	now := recordedAt()
	in := func(d time.Duration) *time.Time { at := now.Add(d); return &at }
	tests := []struct {
		err  apiError
		want string
	}{
		// Too many requests in a short time: the account is good in a minute.
		{apiError{status: 429}, cw.BucketTransient},
		{apiError{text: "Rate limit reached for mock-model in organization org-x on tokens per min (TPM).", status: 429}, cw.BucketTransient},
		{apiError{text: "Rate limit reached for mock-model in organization org-x on tokens per min (TPM)."}, cw.BucketTransient},
		{apiError{text: "This request would exceed your organization's rate limit of 50,000 input tokens per minute.", status: 429}, cw.BucketTransient},
		{apiError{text: "This request would exceed your account's rate limit. Please try again later.", status: 429}, cw.BucketTransient},
		{apiError{text: "litellm.RateLimitError: AnthropicException"}, cw.BucketTransient},
		{apiError{text: "429 Too Many Requests"}, cw.BucketTransient},
		{apiError{text: "Rate limit reached. Please try again in 20s.", status: 429}, cw.BucketTransient},
		{apiError{text: "slow down", status: 429, until: in(59 * time.Second)}, cw.BucketTransient},
		{apiError{text: "You have exceeded a secondary rate limit.", status: 403}, cw.BucketTransient},
		// What lasts.
		{apiError{text: "Rate limit reached. Please try again in 6m0s.", status: 429}, cw.BucketLimit},
		{apiError{text: "slow down", status: 429, until: in(time.Minute)}, cw.BucketLimit},
		{apiError{text: "Rate limit reached on requests per day (RPD)", status: 429}, cw.BucketLimit},
		{apiError{text: "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests", status: 429}, cw.BucketLimit},
		{apiError{text: "You exceeded your current quota, please check your plan and billing details.", status: 429}, cw.BucketLimit},
		{apiError{text: "The usage limit has been reached", status: 429}, cw.BucketLimit},
		{apiError{text: "user_weekly_rate_limited Sorry", status: 429}, cw.BucketLimit},
		{apiError{text: "You have hit the rate limit of your plan"}, cw.BucketLimit},
		{apiError{text: "Payment needed", status: 402}, cw.BucketLimit},
		// Words alone are no limit where nothing says that there is one.
		{apiError{text: "your plan has no such model", status: 404}, ""},
		{apiError{text: "quota service unavailable", status: 503}, cw.BucketTransient},
		{apiError{text: "invalid key, no rate limit applies", status: 401}, cw.BucketAuth},
		{apiError{text: "forbidden", status: 403}, cw.BucketAuth},
		{apiError{text: "the file has no line 430"}, ""},
	}
	for _, tt := range tests {
		if got := (Patterns{}).bucket(tt.err, now); got != tt.want {
			t.Errorf("%d %q, until %v: %q, want %q", tt.err.status, tt.err.text, tt.err.until, got, tt.want)
		}
	}
}

// TestPatternsWin: what a preset calls a limit is one, and its word on
// credentials goes before that of a rate.
func TestPatternsWin(t *testing.T) {
	t.Parallel()
	p := Patterns{Limit: compiled([]string{"has been exhausted"}), Auth: compiled([]string{"log in"})}
	for text, want := range map[string]string{
		"rate limit: it has been exhausted": cw.BucketLimit,
		"log in to raise your rate limit":   cw.BucketAuth,
		"rate limit":                        cw.BucketTransient,
	} {
		if got := p.bucket(apiError{text: text}, recordedAt()); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
