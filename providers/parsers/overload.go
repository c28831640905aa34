package parsers

import "cw/internal/cw"

// tooMany is how providers and CLIs say that there were too many requests in a
// short time: "429 Too Many Requests", "Rate limit reached for …",
// "rate_limit_error", "litellm.RateLimitError" (seen in codex, opencode, copilot,
// cline, pi and qwen).
var tooMany = cw.Pattern(`(?i)\b429\b|\brate[ _-]?limit|too many requests`)

// RateLimited tells whether an error that will pass says that there were too many
// requests. That is no usage limit; but it is about the account, as a server that
// is down is not.
func RateLimited(text string) bool { return tooMany().MatchString(text) }
