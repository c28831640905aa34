package parsers

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
)

// jsonLines is what the parsers of output with one JSON object a line, each
// with its own time, have in common.
type jsonLines struct {
	opts    Options
	unknown int
	now     moment
}

func newJSONLines(opts Options) jsonLines { return jsonLines{opts: opts, now: moment{at: opts.Since}} }

// Unknown is the number of lines that were not, or not wholly, understood.
func (j *jsonLines) Unknown() int { return j.unknown }

// read decodes a line and has it told. A field of another type spoils only
// itself; the line counts as unknown then.
func (j *jsonLines) read(line []byte, into any, tell func() (events []cw.StreamEvent, known bool)) []cw.StreamEvent {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	err := json.Unmarshal(validUTF8(line), into)
	if unlessWrongType(err) != nil {
		j.unknown++
		return nil
	}
	events, known := tell()
	if !known || err != nil {
		j.unknown++
	}
	return events
}

// moveTo takes a line's own time.
func (j *jsonLines) moveTo(at time.Time) { j.now.tell(at) }

// moveToText takes a line's own time as RFC 3339 writes it.
func (j *jsonLines) moveToText(text string) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		j.moveTo(at)
	}
}

// bucketOf sorts an error of the API.
func (j *jsonLines) bucketOf(e apiError) string { return j.opts.Patterns.bucket(e, j.now.at) }

// trouble tells an error by its bucket. A limit ends at until; when that is nil
// its text may say so.
func (j *jsonLines) trouble(text, bucket string, until *time.Time) cw.StreamEvent {
	return j.now.trouble(text, bucket, until)
}

// trouble tells an error of this moment.
func (m moment) trouble(text, bucket string, until *time.Time) cw.StreamEvent {
	if bucket != cw.BucketLimit {
		return cw.StreamEvent{Kind: cw.StreamError, Text: text, Bucket: bucket}
	}
	if until == nil {
		until = limitEnd(text, m.at)
	}
	return cw.StreamEvent{Kind: cw.StreamLimit, Limit: &cw.Limit{Kind: apiLimitKind(text), Text: text, Until: until}}
}

// What the APIs of models say about their limits. Most CLIs pass it on as it is.
var (
	// a quota that was paid for or granted is used up: waiting a minute does not help
	apiQuota = cw.Pattern(`(?i)insufficient_quota|(?:exceeded|exhausted) your [a-z ]*quota|quota[ _]exceeded|credit balance`)
	// "Suggested retry after 37000s." (read in gemini-cli), "Please retry in 12.3s"
	// (read there, of Google's API), "Please try again in 6m0s" (OpenAI, not seen),
	// "retryDelay": "37000s" in a body of Google's, "try again in 5 days 22 hours 11
	// minutes" (codex), "Please wait 2 minutes before" (copilot), "resets in 4hr 29min"
	apiWait = cw.Pattern(`(?i)(?:(?:retry|reset|available|again|refreshes|renews)s?[- ](?:after|in):? |please wait |wait (?:for )?|"retryDelay":\s*"|retry-after"?: ?"?)(?:about |approximately |another |~)?(` + waitPart + `(?:(?:,? and |,? )?` + waitPart + `)*)`)
	// one of the numbers of a wait, with its unit; without one it is of seconds
	waitPiece = cw.Pattern(`(?i)` + waitPartNamed)
)

const (
	waitUnit      = `(?:milliseconds?|months?|minutes?|mins?|ms|m|seconds?|secs?|s|hours?|hrs?|h|days?|d|weeks?|w)`
	waitPart      = `(?:\d+(?:\.\d+)? ?` + waitUnit + `|an? (?:minute|hour|day|week|month)\b)`
	waitPartNamed = `(\d+(?:\.\d+)?|an?\b) ?(` + waitUnit + `)`
)

// apiLimitKind names a limit by the words of the API: quota, seven_day (copilot's
// user_weekly_rate_limited), or rate_limit.
func apiLimitKind(text string) string {
	switch {
	case apiQuota().MatchString(text):
		return "quota"
	case strings.Contains(strings.ToLower(text), "weekly"):
		return "seven_day"
	}
	return "rate_limit"
}

// waitEnd reads from an error text how long to wait from ref on.
func waitEnd(text string, ref time.Time) *time.Time {
	m := apiWait().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	var wait float64
	for _, piece := range waitPiece().FindAllStringSubmatch(m[1], -1) {
		number, err := strconv.ParseFloat(piece[1], 64)
		if err != nil { // a, an
			number = 1
		}
		wait += number * waitSeconds(strings.ToLower(piece[2]))
	}
	return afterSeconds(ref, wait)
}

// waitSeconds is how many seconds a unit of waitUnit lasts.
func waitSeconds(unit string) float64 {
	switch {
	case strings.HasPrefix(unit, "mo"):
		return 30 * 24 * 3600
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "milli"):
		return 0.001
	case strings.HasPrefix(unit, "m"):
		return 60
	case strings.HasPrefix(unit, "h"):
		return 3600
	case strings.HasPrefix(unit, "d"):
		return 24 * 3600
	case strings.HasPrefix(unit, "w"):
		return 7 * 24 * 3600
	}
	return 1
}

// retryAfter reads the same from the headers of an answer, whose names are in
// lower case: retry-after has seconds or a date, retry-after-ms is what OpenAI
// and Anthropic add.
func retryAfter(headers map[string]string, ref time.Time) *time.Time {
	if ms, err := strconv.ParseFloat(headers["retry-after-ms"], 64); err == nil {
		return afterSeconds(ref, ms/1000)
	}
	text := headers["retry-after"]
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return afterSeconds(ref, seconds)
	}
	if at, err := time.Parse(time.RFC1123, text); err == nil {
		utc := at.UTC()
		return &utc
	}
	return nil
}

// waitMax is the longest wait that is believed.
const waitMax = 366 * 24 * time.Hour

func afterSeconds(ref time.Time, seconds float64) *time.Time {
	if seconds >= 0 && seconds <= waitMax.Seconds() { // not a number is neither
		return after(ref, time.Duration(seconds*float64(time.Second)))
	}
	return nil
}

// after is the moment that long after ref, nil when ref is not known or the wait
// is none that can be.
func after(ref time.Time, wait time.Duration) *time.Time {
	if ref.IsZero() || wait < 0 || wait > waitMax {
		return nil
	}
	at := ref.Add(wait).UTC()
	return &at
}
