package parsers

import (
	"fmt"
	"strings"

	"cw/internal/cw"
)

// errorLine reads an assistant line that the CLI wrote itself to tell an error.
func (p *claudeParser) errorLine(l *claudeLine) []cw.StreamEvent {
	p.failure = l.Error
	text := l.Message.Content.text()
	bucket := p.bucket(l.Error, 0, text)
	if bucket == cw.BucketLimit {
		return one(p.limitEvent(l.Error, text))
	}
	return one(cw.StreamEvent{Kind: cw.StreamError, ParentToolUseID: l.ParentToolUseID, Text: p.rateText(text, l.Error, 0, bucket), Bucket: bucket})
}

// bucket sorts an error by the CLI's own kind, else by the HTTP status, else by
// the preset's patterns.
//
// billing_error ("Credit balance is too low", "spend limit reached") counts as
// a limit and not as auth: the credentials are good, a new login changes
// nothing, and another account goes on. The CLI's own words for it are "usage
// limit reached — check plan". rate_limit is the kind of every 429: it is a limit
// where the account's standing or the words say so, else an overload.
func (p *claudeParser) bucket(kind string, status int, text string) string {
	switch kind {
	case "billing_error":
		return cw.BucketLimit
	case "authentication_failed", "oauth_org_not_allowed":
		return cw.BucketAuth
	case "overloaded", "server_error":
		return cw.BucketTransient
	case "rate_limit":
		status = 429
	}
	if status == 429 && p.limit != nil { // it said exactly which
		return cw.BucketLimit
	}
	bucket := p.opts.Patterns.bucket(apiError{text: text, status: status}, p.now.at)
	if kind == "invalid_request" && bucket == cw.BucketLimit { // it names a limit of requests or models
		return ""
	}
	return bucket
}

// rateText makes sure that the text of an overload says so where only its kind or
// its status does.
func (p *claudeParser) rateText(text, kind string, status int, bucket string) string {
	if kind == "rate_limit" {
		status = 429
	}
	return rateText(text, status, bucket)
}

// rateLimit reads the account's standing. Rejected while overage is in use is
// a warning: the run goes on at extra cost.
func (p *claudeParser) rateLimit(info claudeRateLimit) []cw.StreamEvent {
	limit := cw.Limit{Kind: info.RateLimitType, Until: epoch(info.ResetsAt), UsedPercent: info.Utilization * 100}
	switch {
	case info.Status == "rejected" && !info.IsUsingOverage:
		limit.Text = strings.TrimSpace(limitName(info.RateLimitType) + " limit reached")
		limit.UsedPercent = max(limit.UsedPercent, 100)
		kept := limit
		p.limit = &kept
	case info.Status == "allowed_warning" || info.Status == "rejected":
		limit.Warning = true
		limit.Text = fmt.Sprintf("%.0f%% of the %s limit is used", info.Utilization*100, limitName(info.RateLimitType))
	default:
		return nil
	}
	return one(cw.StreamEvent{Kind: cw.StreamLimit, Limit: &limit})
}

func limitName(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// limitEvent tells the limit in the CLI's words, with what a rate_limit_event
// before it said exactly.
func (p *claudeParser) limitEvent(kind, text string) cw.StreamEvent {
	limit := cw.Limit{Text: text, Kind: limitKind(kind, text)}
	if p.limit != nil {
		limit.Until, limit.Kind = p.limit.Until, p.limit.Kind
	}
	if limit.Until == nil {
		limit.Until = limitEnd(text, p.now.at)
	}
	kept := limit
	p.limit = &kept
	return cw.StreamEvent{Kind: cw.StreamLimit, Limit: &limit}
}

// limitKind names a limit by the words of the message, in the names that
// rate_limit_event uses.
func limitKind(kind, text string) string {
	switch {
	case kind == "billing_error":
		return "credit"
	case strings.Contains(text, "session limit"):
		return "five_hour"
	case strings.Contains(text, "weekly limit"):
		return "seven_day"
	case strings.Contains(text, "Opus limit"):
		return "seven_day_opus"
	}
	return ""
}
