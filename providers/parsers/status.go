package parsers

import (
	"cmp"
	"strconv"
	"strings"
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

var (
	// longWindow finds a window of an hour and more, which a minute does not lift
	// (all of these read).
	longWindow = cw.Pattern(`(?i)hourly|daily|weekly|monthly|today|\bper[ -]?(?:hour|day|week|month)|\d[ -]hour limit|perday`)
	// passingRate finds the words of a rate that is over soon, whatever limits the
	// same text names to say that they are not meant.
	passingRate = cw.Pattern(`(?i)not your usage limit|temporarily (?:limiting|limited|throttl|rate)|per[ -]?min(?:ute)?\b|per[ -]?sec(?:ond)?\b|PerMinute|\b[rt]pm\b|secondary rate limit|concurren|acceleration limit|slow down|wait a moment|server is (?:busy|overloaded)`)
	// lastingLimit finds the words of a limit of the account in an error of which
	// the status says that there were too many requests: a quota, a plan, credits.
	lastingLimit = cw.Pattern(`(?i)quota|usage[ _-]limit|extra usage|\bplan\b|credit|spend|allowance|\bbilling\b|limit will reset|limit to reset`)
	// limitWords finds a limit of the account by words alone, as CLIs that give
	// neither kind nor status tell it (claude 2.0, codex, copilot, cursor).
	limitWords = cw.Pattern(`(?i)` + strings.Join([]string{
		`(?:usage|session|weekly|daily|monthly|hourly|\d+[ -]hour|opus|sonnet|haiku|fable|spend(?:ing)?|message|messages|credits?|premium requests?|free[ -]tier|plan|account|budget) (?:usage )?(?:limit|cap)s? (?:has been |have been |was |is )?(?:reached|exceeded|hit|exhausted)`,
		`(?:hit|reached|exceeded|exhausted|used up|at|over) (?:all )?(?:of )?(?:your|the|its) (?:(?:current|own|usage|session|weekly|daily|monthly|hourly|\d+[ -]hour|opus|sonnet|haiku|fable|free|pro|max|plus|team|plan|plan's|account|account's|organization's|org's|workspace|workspace's|individual|additional|paid|premium|request|requests|message|messages|spend|spending|extra|included|model|models|chat|agent|copilot|gemini|claude|codex|cursor|api|token|billing|cost|credit|usage-based|rate|all|,|and) ?){0,6}(?:limit|quota|allowance|capacity|credits|cap|usage)s?\b`,
		`out of (?:extra usage|usage|credits?|quota|(?:free|premium|fast) requests|messages)\b`,
		`insufficient[ _](?:credits?|quota|balance|funds)`,
		`credit balance is too low`,
		`(?:credits?|quota|balance|allowance) (?:has been |have been |is |are |was )?(?:exhausted|depleted|used up|exceeded|reached)`,
		`(?:exceeded|exhausted) (?:the |your |its )?(?:current |daily |monthly |premium |free )*quota`,
		`\bno (?:remaining |more )?(?:quota|credits)\b`,
		`(?:usage|request) limit has been reached`,
		`usage_limit_(?:reached|exceeded)`,
	}, "|"))
	// noLimitWords finds what is full or limited besides an account.
	noLimitWords = cw.Pattern(`(?i)disk quota|context|prompt is too long|output tokens?|max[ _]tokens|file size|time limit|recursion|memory|turn limit|step limit`)
)

// apiError is what is known of an error of a model's API.
type apiError struct {
	text   string
	status int        // of HTTP; 0 when it is not told
	until  *time.Time // when it is over, where that is told beside the text
}

// bucket sorts an error of the API: by its status first, and by its words where
// that leaves open what it is. Of a 429, and of words that say as much, only a
// limit that lasts is one of the account: one that names a quota or a window, or
// is over in a minute or later. All others are an overload.
func (p Patterns) bucket(e apiError, now time.Time) string {
	e.text = oneLine(e.text)
	told := p.Bucket(e.text)
	open := e.status == 0 || e.status == 400 || e.status == 403 // 400 is Anthropic's for credits, 403 is GitHub's for rates (read)
	rate := e.status == 429 || open && told != cw.BucketAuth && RateLimited(e.text)
	limit := told == cw.BucketLimit || limitWords().MatchString(e.text) && !noLimitWords().MatchString(e.text)
	switch {
	case rate && longWindow().MatchString(e.text):
		return cw.BucketLimit
	case (rate || limit && open) && passingRate().MatchString(e.text) && !e.lasts(now):
		return cw.BucketTransient
	case (rate || open) && limit, rate && (lastingLimit().MatchString(e.text) || e.lasts(now)):
		return cw.BucketLimit
	case rate:
		return cw.BucketTransient
	case told == cw.BucketLimit && statusBucket(e.status) == "":
		return cw.BucketLimit
	}
	if told == cw.BucketLimit {
		told = ""
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

// LimitEnd reads from an error text of that moment when a limit is over, nil when
// it does not tell.
func LimitEnd(text string, now time.Time) *time.Time { return limitEnd(text, now) }

// limitEnd reads from an error text when a limit is over: a moment, or how long to
// wait from now on. nil when it does not tell.
func limitEnd(text string, now time.Time) *time.Time {
	text = oneLine(text)
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

// errorTextRead is how much of an error text is looked at.
const errorTextRead = 16 << 10

// oneLine is a text as it would be on a line of any width.
func oneLine(text string) string {
	return strings.Join(strings.Fields(clip(text, errorTextRead)), " ")
}
