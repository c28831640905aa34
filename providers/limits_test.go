package providers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/providers/parsers"
)

// limitNow is when the errors of these tests were told: a Wednesday, 03:00 in New
// York.
var limitNow = time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)

// failedWith makes the output of a run whose CLI failed with that error. kind is
// the CLI's own word for it, where it has one.
func failedWith(provider, kind string, status int, text string) string {
	quoted := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(data)
	}
	at := limitNow.Format(time.RFC3339)
	switch provider {
	case "claude":
		line := fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":"x"}}`+"\n", at)
		if kind != "" {
			line += fmt.Sprintf(`{"type":"assistant","message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":%s}]},"error":%q}`+"\n", quoted(text), kind)
		}
		return line + fmt.Sprintf(`{"type":"result","subtype":"success","is_error":true,"api_error_status":%d,"result":%s}`+"\n", status, quoted(text))
	case "codex":
		return fmt.Sprintf(`{"type":"thread.started","thread_id":"t"}`+"\n"+`{"type":"turn.failed","error":{"message":%s}}`+"\n", quoted(text))
	case "gemini":
		return fmt.Sprintf(`{"type":"result","timestamp":%q,"status":"error","error":{"type":"unknown","message":%s}}`+"\n", at, quoted("[API Error: "+text+"]"))
	case "copilot":
		return fmt.Sprintf(`{"type":"session.error","timestamp":%q,"data":{"errorType":%q,"message":%s,"statusCode":%d}}`+"\n"+`{"type":"result","exitCode":1}`+"\n", at, kind, quoted(text), status)
	case "opencode":
		return fmt.Sprintf(`{"type":"error","timestamp":%d,"sessionID":"s","error":{"name":"APIError","data":{"message":%s,"statusCode":%d}}}`+"\n", limitNow.UnixMilli(), quoted(text), status)
	}
	panic(provider)
}

// toldLimit is what is asked of one wording.
type toldLimit struct {
	provider, kind string
	status         int
	text           string
	want           string // limit, transient, auth or nothing
	until          string // how long it lasts from limitNow, or when it ends; "": not told
}

// limitWordings are errors as people reported them, or as they were seen in runs.
var limitWordings = []toldLimit{
	// claude, by kind and status.
	{"claude", "rate_limit", 429, "You've hit your limit · resets 1:30am (Asia/Dhaka)", "limit", "2026-11-25T19:30:00Z"},
	{"claude", "rate_limit", 429, "You've hit your session limit · resets 12:50am (America/Los_Angeles)", "limit", "50m"},
	{"claude", "rate_limit", 429, "You've hit your session limit · resets 5:10pm (Europe/Paris)", "limit", "2026-11-25T16:10:00Z"},
	{"claude", "rate_limit", 429, "You've hit your session limit · resets 8:30pm (Asia/Tokyo)", "limit", "3h30m"},
	{"claude", "rate_limit", 429, "You've hit your session limit · resets 5pm", "limit", "2026-11-25T22:00:00Z"},
	{"claude", "rate_limit", 429, "You've hit your session limit · resets 5pm (Mars/Olympus)", "limit", "2026-11-25T22:00:00Z"},
	{"claude", "rate_limit", 429, "You've hit your session limit · resets 2:55am", "limit", "2026-11-25T07:55:00Z"},
	{"claude", "rate_limit", 429, "You've hit your weekly limit · resets Nov 29, 10:30am (UTC)", "limit", "2026-11-29T10:30:00Z"},
	{"claude", "rate_limit", 429, "You've hit your weekly limit · resets December 1, 9am (Europe/Berlin)", "limit", "2026-12-01T08:00:00Z"},
	{"claude", "rate_limit", 429, "You've hit your weekly limit · resets Jan 2, 2027, 5am (UTC)", "limit", "2027-01-02T05:00:00Z"},
	{"claude", "rate_limit", 429, "You've hit your Opus limit · resets Friday 9am (UTC)", "limit", "2026-11-27T09:00:00Z"},
	{"claude", "rate_limit", 429, "You've hit your limit for Claude messages. Limits will reset at 9:30 AM.", "limit", "6h30m"},
	{"claude", "rate_limit", 429, "Claude usage limit reached. Your limit will reset at 9am (America/Chicago).", "limit", "7h"},
	{"claude", "rate_limit", 429, "Claude usage limit reached. Your limit will reset at 3pm (America/Bogota).", "limit", "12h"},
	{"claude", "rate_limit", 429, "Claude AI usage limit reached|1795604400", "limit", "3h"},
	{"claude", "rate_limit", 429, "API Error: Request rejected (429) · Claude AI usage limit reached|1795604400", "limit", "3h"},
	{"claude", "rate_limit", 429, "You're out of extra usage · resets 5pm (UTC)", "limit", "9h"},
	{"claude", "rate_limit", 429, "You're out of extra usage · add more in your settings", "limit", ""},
	{"claude", "rate_limit", 429, "You've reached your monthly spend limit", "limit", ""},
	{"claude", "billing_error", 400, "Credit balance is too low", "limit", ""},
	{"claude", "", 400, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.", "limit", ""},
	{"claude", "rate_limit", 429, "API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited", "transient", ""},
	{"claude", "rate_limit", 429, "This request would exceed your organization's rate limit of 50,000 input tokens per minute.", "transient", ""},
	{"claude", "rate_limit", 429, "This request would exceed your account's rate limit. Please try again later.", "transient", ""},
	{"claude", "rate_limit", 429, "Number of concurrent connections has exceeded your rate limit.", "transient", ""},
	{"claude", "rate_limit", 429, "words that nobody has seen before", "transient", ""},
	{"claude", "overloaded", 529, "API Error: 529 Overloaded", "transient", ""},
	{"claude", "server_error", 500, "API Error: 500 Internal server error, check your quota", "transient", ""},
	{"claude", "authentication_failed", 401, "Please run /login · API Error: 401 OAuth token has expired", "auth", ""},
	{"claude", "authentication_failed", 401, "Invalid API key · Fix external API key, no usage limit applies", "auth", ""},
	{"claude", "invalid_request", 400, "Prompt is too long", "", ""},
	{"claude", "invalid_request", 413, "Request too large (max 32MB) for your plan", "", ""},
	{"claude", "invalid_request", 404, "your plan has reached its model limit: no such model", "", ""},
	// claude before 2.1, by words alone.
	{"claude", "", 0, "5-hour limit reached ∙ resets 12:30am", "limit", "2026-11-26T05:30:00Z"},
	{"claude", "", 0, "Weekly limit reached ∙ resets Monday 9am", "limit", "2026-11-30T14:00:00Z"},
	{"claude", "", 0, "Opus weekly limit reached ∙ resets Nov 28, 5pm", "limit", "2026-11-28T22:00:00Z"},
	{"claude", "", 0, "Session limit reached ∙ resets 17:30", "limit", "2026-11-25T22:30:00Z"},
	{"claude", "", 0, "Spending cap reached resets 9pm", "limit", "2026-11-26T02:00:00Z"},
	{"claude", "", 0, "You've hit your usage limit. Your limit will reset at tomorrow at 9am.", "limit", "30h"},
	// codex, which tells neither.
	{"codex", "", 0, "You’ve hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing), visit https://chatgpt.com/codex/settings/usage or try again at 5:15 AM.", "limit", "2h15m"},
	{"codex", "", 0, "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 5 days 22 hours 11 minutes.", "limit", "142h11m"},
	{"codex", "", 0, "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 2 days 17 hours 14 minutes.", "limit", "65h14m"},
	{"codex", "", 0, "You've hit your usage limit. Try again in 1 hour 3 minutes.", "limit", "1h3m"},
	{"codex", "", 0, "You've hit your usage limit. Purchase more credits or try again at Nov 28th, 2026 4:13 PM.", "limit", "2026-11-28T21:13:00Z"},
	{"codex", "", 0, "You've hit your usage limit. To get more access now, send a request to your admin or try again at Dec 1st, 2026 9:00 AM.", "limit", "2026-12-01T14:00:00Z"},
	{"codex", "", 0, "You've reached your usage limit. Upgrade your plan or add credits to continue", "limit", ""},
	{"codex", "", 0, "Your workspace is out of credits. Ask your workspace owner to refill in order to continue.", "limit", ""},
	{"codex", "", 0, "Quota exceeded. Check your plan and billing details.", "limit", ""},
	{"codex", "", 0, "The usage limit has been reached", "limit", ""},
	{"codex", "", 0, "exceeded retry limit, last status: 429 Too Many Requests", "transient", ""},
	{"codex", "", 0, "Rate limit reached for gpt-x in organization org-x on tokens per min (TPM): Limit 30000. Please try again in 1.5s.", "transient", ""},
	{"codex", "", 0, "Rate limit reached for gpt-x on requests per day (RPD). Please try again in 6m0s.", "limit", "6m"},
	{"codex", "", 0, "Selected model is at capacity. Please try a different model.", "transient", ""},
	{"codex", "", 0, "Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.", "auth", ""},
	{"codex", "", 0, "Your access token could not be refreshed because you have since logged out or signed in to another account. Please sign in again.", "auth", ""},
	{"codex", "", 0, "Your access token could not be refreshed because your refresh token was revoked. Please log out and sign in again.", "auth", ""},
	{"codex", "", 0, "Your access token could not be refreshed. Please log out and sign in again.", "auth", ""},
	{"codex", "", 0, "Failed to refresh token: 401 Unauthorized: Your refresh token has already been used to generate a new access token. Please try signing in again.", "auth", ""},
	{"codex", "", 0, "unexpected status 401 Unauthorized: Missing bearer", "auth", ""},
	{"codex", "", 0, "write failed: Disk quota exceeded (os error 122)", "", ""},
	{"codex", "", 0, "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.", "", ""},
	// gemini.
	{"gemini", "", 0, "You have exhausted your capacity on this model. Your quota will reset after 18h30m12s.", "limit", "18h30m12s"},
	{"gemini", "", 0, "You have exhausted your capacity on this model. Your quota will reset after 8h44m7s.", "limit", "8h44m7s"},
	{"gemini", "", 0, `[{ "error": { "code": 429, "message": "You have exhausted your capacity on this model. Your quota will reset after 8h44m7s." } }]`, "limit", "8h44m7s"},
	{"gemini", "", 0, "You have exhausted your daily quota on this model.", "limit", ""},
	{"gemini", "", 0, "Resource has been exhausted (e.g. check quota).", "limit", ""},
	{"gemini", "", 0, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}`, "limit", ""},
	{"gemini", "", 0, `{"error":{"code":429,"message":"You exceeded your current quota","details":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"},{"retryDelay":"37000s"}]}}`, "limit", "37000s"},
	{"gemini", "", 0, `{"error":{"code":429,"message":"Quota exceeded for quota metric 'Generate Content API requests per minute'","status":"RESOURCE_EXHAUSTED"}}`, "transient", ""},
	{"gemini", "", 0, `{"error":{"code":429,"message":"words that nobody has seen before","status":"Too Many Requests"}}`, "transient", ""},
	{"gemini", "", 0, `{"error":{"code":503,"message":"The model is overloaded. Check your quota.","status":"UNAVAILABLE"}}`, "transient", ""},
	{"gemini", "", 0, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}`, "auth", ""},
	{"gemini", "", 0, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}`, "", ""},
	// copilot.
	{"copilot", "rate_limit", 429, "Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in 2 hours.", "limit", "2h"},
	{"copilot", "rate_limit", 429, "Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in 58 hours.", "limit", "58h"},
	{"copilot", "rate_limit", 429, "You've reached your weekly rate limit. Please wait for your limit to reset on November 27, 2026 at 2:00 AM or switch to auto model to continue.", "limit", "2026-11-27T07:00:00Z"},
	{"copilot", "rate_limit", 429, "Sorry, you have been rate-limited. Please wait 2 minutes before trying again or consider switching to Auto.", "limit", "2m"},
	{"copilot", "rate_limit", 429, "Sorry, you have been rate-limited. Please wait a moment before trying again.", "transient", ""},
	{"copilot", "rate_limit", 429, `{"message":"rate limit exceeded","code":"rate_limited"}`, "transient", ""},
	{"copilot", "quota", 402, "You have no quota", "limit", ""},
	{"copilot", "query", 402, "You have exceeded your premium request allowance.", "limit", ""},
	{"copilot", "query", 0, "You have exceeded your premium request allowance. Allowance resets December 1, 2026 at 5:30 AM.", "limit", "2026-12-01T10:30:00Z"},
	{"copilot", "rate_limit", 429, "429 Rate limit reached for mock-model in organization org-x on tokens per min (TPM).", "transient", ""},
	{"copilot", "authentication", 401, "Authentication failed with provider", "auth", ""},
	// Others, whose errors are those of the API.
	{"opencode", "", 429, "Monthly usage limit reached", "limit", ""},
	{"opencode", "", 429, "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests", "limit", ""},
	{"opencode", "", 429, "Too many requests. Retry after 2026-11-25 11:00:00 UTC", "limit", "3h"},
	{"opencode", "", 429, "Rate limited, resets at 2026-11-25T11:00:00Z", "limit", "3h"},
	{"opencode", "", 402, "This request requires more credits, or fewer max_tokens.", "limit", ""},
	{"opencode", "", 402, "Insufficient Balance", "limit", ""},
	{"opencode", "", 429, "You exceeded your current quota, please check your plan and billing details.", "limit", ""},
	{"opencode", "", 429, "slow down", "transient", ""},
	{"opencode", "", 429, "words that nobody has seen before", "transient", ""},
	{"opencode", "", 404, "insufficient quota of such models", "", ""},
	{"opencode", "", 400, "This model's maximum context length is 128000 tokens, you have reached your token limit", "", ""},
}

// variants are other ways in which the same words reach cw.
func (l toldLimit) variants() []string {
	return []string{
		l.text,
		strings.ReplaceAll(l.text, "'", "’"),
		strings.ReplaceAll(l.text, " limit", "\n      limit"),
		l.text + " (Request ID: E942:3A5438:35DBCE:3F8F3D:69DD984)",
		l.text + " Learn more: https://docs.example.com/rates?id=429",
		strings.ReplaceAll(strings.ReplaceAll(l.text, " AM", "\u202fAM"), " PM", "\u202fPM"),
	}
}

// TestLimitWordings: what an error is and when it is over is read from what CLIs
// were seen to tell.
func TestLimitWordings(t *testing.T) {
	t.Parallel()
	if len(limitWordings) < 80 {
		t.Fatalf("only %d wordings", len(limitWordings))
	}
	local, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	registry, _ := Load("")
	for _, l := range limitWordings {
		preset, err := registry.Get(l.provider)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range l.variants() {
			reading, err := preset.NewReading(limitNow.In(local))
			if err != nil {
				t.Fatal(err)
			}
			var s parsers.Summary
			for _, ev := range append(reading.Feed([]byte(failedWith(l.provider, l.kind, l.status, text))), reading.Flush()...) {
				s.Add(ev)
			}
			want, wantUntil := l.want, l.endsAt(t)
			until := ""
			if s.Limit != nil && s.Limit.Until != nil {
				until = s.Limit.Until.Format(time.RFC3339)
			}
			if !s.ResultIsError || s.ResultBucket != want || until != wantUntil || (s.Limit != nil) != (want == cw.BucketLimit) {
				t.Errorf("%s %s %d %q:\n is %q until %q, want %q until %q", l.provider, l.kind, l.status, text, s.ResultBucket, until, want, wantUntil)
			}
			if parks := s.Limit != nil || s.Overload; l.status == 429 && !parks {
				t.Errorf("%s 429 %q parks nothing", l.provider, text)
			}
		}
	}
}

// endsAt is until as a moment.
func (l toldLimit) endsAt(t *testing.T) string {
	t.Helper()
	if l.until == "" || strings.HasSuffix(l.until, "Z") {
		return l.until
	}
	lasts, err := time.ParseDuration(l.until)
	if err != nil {
		t.Fatal(err)
	}
	return limitNow.Add(lasts).Format(time.RFC3339)
}
