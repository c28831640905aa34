package parsers

import (
	"strings"

	"cw/internal/cw"
)

// tooMany is how providers and CLIs say that there were too many requests in a
// short time: "429 Too Many Requests", "Rate limit reached for …",
// "rate_limit_error", "litellm.RateLimitError" (seen in codex, opencode, copilot,
// cline, pi and qwen).
var tooMany = cw.Pattern(`(?i)(?:^|[^\w=/.-])429\b|\brate[ _-]?limit|too many requests`)

// RateLimited tells whether an error that will pass says that there were too many
// requests. That is no usage limit; but it is about the account, as a server that
// is down is not.
func RateLimited(text string) bool { return tooMany().MatchString(text) }

// otherTools finds lines that a CLI did not write itself: those of the tools that
// it ran (git, npm, docker, pip and the like), which have limits of their own.
var otherTools = cw.Pattern(`(?i)^\s*(?:(?:npm|npx|pnpm|yarn|bun|pip|pip3|uv|poetry|conda|docker|podman|git|gh|glab|curl|wget|cargo|rustup|go|gem|bundle|bundler|composer|brew|apt|apt-get|dnf|apk|terraform|aws|az|gcloud|gsutil|kubectl|helm|make|mvn|gradle|tar|cp|mv|dd|rsync|scp|ssh|cat|tee|sh|bash|mkdir|touch|ld|gcc)(?::|!| (?:ERR|error|warn|failed|fatal))|(?:sh|bash): (?:line )?\d+:|fatal: |remote: |hint: |[EW]: |Err:\d)|toomanyrequests|pull rate limit|disk quota|EDQUOT|No space left|API rate limit (?:already )?exceeded for|https?://[a-z0-9.-]*(?:github|gitlab|bitbucket|npmjs|pypi|pythonhosted|docker|ghcr|quay|crates|rubygems|golang|maven|packagist)[a-z0-9.-]*\.|registry-1\.docker|HTTP error 429|HTTPError: 429|The requested URL returned error: 429|awaiting response\.\.\. 429`)

// OwnLines is a CLI's standard error without the lines of the tools that it ran.
func OwnLines(stderr string) string {
	return withoutLines(stderr, otherTools().MatchString)
}

// triedAgain finds lines that tell of an error that the CLI goes on after.
var triedAgain = cw.Pattern(`(?i)\bretrying\b|\bwill retry\b|^attempt \d+ failed`)

// FinalLines is OwnLines without those that tell that something is tried again.
func FinalLines(stderr string) string {
	return withoutLines(OwnLines(stderr), triedAgain().MatchString)
}

func withoutLines(text string, left func(line string) bool) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !left(line) {
			out.WriteString(line)
		}
	}
	return out.String()
}
