package parsers

import (
	"cmp"
	"strconv"
	"time"

	"cw/internal/cw"
)

// noReason stands for the words of an error that has none.
const noReason = "it failed and did not say why"

// toldStatus is how CLIs that give no status of their own begin the text of an
// error of the model's API: "401 Incorrect API key provided", "[API Error: 429
// You exceeded your current quota …]" (seen in qwen, cn and pi).
var toldStatus = cw.Pattern(`^(?:\[API Error: )?([45]\d\d)\b`)

// statusOf gives the HTTP status that an error text begins with, 0 for none.
func statusOf(text string) int {
	m := toldStatus().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	status, _ := strconv.Atoi(m[1]) // digits by the pattern
	return status
}

// statusBucket sorts an error by the HTTP status alone, "" when that says
// nothing. A 429 alone is a rate that is over soon.
func statusBucket(status int) string {
	switch {
	case status == 402:
		return cw.BucketLimit
	case status == 401 || status == 403 || status == 407:
		return cw.BucketAuth
	case status == 408 || status == 429 || status >= 500:
		return cw.BucketTransient
	}
	return ""
}

// rateOver is the shortest wait that makes a limit of the account out of a 429:
// rates are counted by the minute.
const rateOver = time.Minute

// lastingLimit finds the words of a limit that a minute does not lift: a quota,
// a plan, credits, or a window of an hour and more (all of them read, but
// "quota").
var lastingLimit = cw.Pattern(`(?i)quota|usage[ _-]limit|\bplan\b|credit|spend|hourly|daily|weekly|monthly|today|per[ -](?:hour|day|week|month)`)

// apiError is what is known of an error of a model's API.
type apiError struct {
	text   string
	status int        // of HTTP; 0 when it is not told
	until  *time.Time // when it is over, where that is told beside the text
}

// bucket sorts an error of the API. Of a 429, and of words that say as much,
// only a limit that lasts is one of the account: one that names a quota, or is
// over in a minute or later. All others are an overload.
func (p Patterns) bucket(e apiError, now time.Time) string {
	told := p.Bucket(e.text)
	rate := e.status == 429 || (e.status == 0 || e.status == 403) && told != cw.BucketAuth && RateLimited(e.text) // 403 is GitHub's (read)
	if told == cw.BucketLimit || rate && (lastingLimit().MatchString(e.text) || e.lasts(now)) {
		return cw.BucketLimit
	}
	if rate {
		return cw.BucketTransient
	}
	return cmp.Or(statusBucket(e.status), told)
}

// lasts tells whether the error says that it is not over within a minute.
func (e apiError) lasts(now time.Time) bool {
	until := e.until
	if until == nil {
		until = limitEnd(e.text, now)
	}
	return until != nil && !until.Before(now.Add(rateOver))
}

// limitEnd reads from an error text when a limit is over: a moment, or how long to
// wait from now on. nil when it does not tell.
func limitEnd(text string, now time.Time) *time.Time {
	if until := ResetTime(text, now); until != nil {
		return until
	}
	return waitEnd(text, now)
}

// rateText makes sure that the text of an overload says that there were too many
// requests, where only its status does.
func rateText(text string, status int, bucket string) string {
	if status == 429 && bucket == cw.BucketTransient && !RateLimited(text) {
		return "429 " + text
	}
	return text
}
