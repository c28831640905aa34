package parsers

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
)

// The words of aider's own, each on a line that begins with them. All of them
// were read: in its documentation (aider.chat/docs/troubleshooting) and in its
// published source (0.86).
var (
	// an error of the model's API, in the words of the library that it is asked
	// with; more lines may follow. Or: the answer was too long; or: no key is set
	aiderFailed = cw.Pattern(`^(?:litellm\.[A-Za-z]+:(?: |$)|Model \S+ has hit a token limit!|No LLM model was specified)`)
	// it tries again, until the pause would be longer than a minute
	aiderRetries = cw.Pattern(`^Retrying in (\d{1,6}(?:\.\d{1,6})?) seconds\.\.\.$`)
	// an answer is complete; the cost, of this answer and of the run so far, comes
	// on a line of its own where the cache was used
	aiderTokens = cw.Pattern(`^Tokens: ([\d.]+k?) sent, (?:([\d.]+k?) cache write, )?(?:([\d.]+k?) cache hit, )?([\d.]+k?) received\.`)
	aiderCost   = cw.Pattern(`(?:^|\. )Cost: \$[\d.]+ message, \$([\d.]+) session\.$`)
	// it did something with the answer
	aiderWorked = cw.Pattern(`^(?:Applied edit to |Commit [0-9a-f]{7,40} )`)
)

// aiderClip is how many bytes of an error are kept.
const aiderClip = 4000

// aiderParser reads the output of `aider --no-stream --no-pretty`: plain text, in
// which its own words stand between the model's. No run of it was seen.
//
// Nothing is said at its end, and its exit code is 0 also when it gave up. So
// an error after which no answer came and nothing was done is the end of the
// run, which is told when the output is over.
type aiderParser struct {
	linesParser
	opts     Options
	now      moment
	failure  string // the last error, and what was said of it; "" when it was overcome
	retrying bool   // since that error it said that it tries again
	attempt  int    // of that
	answered bool   // an answer came whole
	costUSD  float64
}

func newAider(opts Options) *aiderParser {
	return &aiderParser{opts: opts, now: moment{at: opts.Since}}
}

// clock tells when the next lines were written.
func (p *aiderParser) clock(at time.Time) {
	if !p.opts.Since.IsZero() {
		p.now.tell(at)
	}
}

// Line reads one line. What is none of aider's own words is text.
func (p *aiderParser) Line(line []byte) []cw.StreamEvent {
	text := strings.TrimRight(string(validUTF8(line)), " \t\r")
	if p.failure != "" && !p.retrying {
		if m := aiderRetries().FindStringSubmatch(text); m != nil {
			return one(p.retry(m[1]))
		}
	}
	usage, done := p.report(text)
	switch {
	case done:
		p.failure, p.retrying, p.attempt = "", false, 0
		return append(p.linesParser.Line(line), usage...)
	case aiderFailed().MatchString(text):
		p.failure, p.retrying = clip(text, aiderClip), false
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: p.failure})
	case p.failure != "" && !p.retrying: // the rest of the error, or a sentence on it
		if text == "" {
			return nil
		}
		p.failure = clip(p.failure+" "+text, aiderClip)
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: clip(text, aiderClip)})
	}
	return p.linesParser.Line(line)
}

// retry tells that the request that failed is made again.
func (p *aiderParser) retry(seconds string) cw.StreamEvent {
	p.retrying = true
	p.attempt++
	pause, _ := strconv.ParseFloat(seconds, 64) // a short number by the pattern
	return cw.StreamEvent{
		Kind: cw.StreamRetry, Attempt: p.attempt, Text: p.failure, Bucket: cmp.Or(p.bucket(), cw.BucketTransient),
		Delay: time.Duration(pause * float64(time.Second)).Round(time.Millisecond),
	}
}

// report reads what aider says of an answer; done tells that it is there, or
// that something was done with it.
func (p *aiderParser) report(text string) (usage []cw.StreamEvent, done bool) {
	if m := aiderCost().FindStringSubmatch(text); m != nil {
		if usd, err := strconv.ParseFloat(m[1], 64); err == nil {
			p.costUSD = usd
		}
	}
	m := aiderTokens().FindStringSubmatch(text)
	if m == nil {
		return nil, aiderWorked().MatchString(text)
	}
	p.answered = true
	write, hit := aiderCount(m[2]), aiderCount(m[3])
	return one(cw.StreamEvent{Kind: cw.StreamUsage, Usage: &cw.Usage{
		InputTokens: max(0, aiderCount(m[1])-write-hit), OutputTokens: aiderCount(m[4]),
		CacheReadTokens: hit, CacheWriteTokens: write,
	}}), true
}

// aiderCount reads a count as aider rounds it: 980, 2.3k, 11k; 0 for none.
func aiderCount(text string) int {
	digits, thousands := strings.CutSuffix(text, "k")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n > 1e9 {
		return 0
	}
	if thousands {
		n *= 1000
	}
	return int(n + 0.5)
}

func (p *aiderParser) bucket() string {
	return p.opts.Patterns.bucket(apiError{text: p.failure}, p.now.at)
}

// end tells how the run ended, as far as that is known. Without an answer
// nothing is.
func (p *aiderParser) end() []cw.StreamEvent {
	result := cw.StreamEvent{Kind: cw.StreamResult, CostUSD: p.costUSD}
	switch {
	case p.failure != "":
		result.Text, result.IsError, result.Bucket = p.failure, true, p.bucket()
		return []cw.StreamEvent{p.now.trouble(p.failure, result.Bucket, nil), result}
	case p.answered:
		return one(result)
	}
	return nil
}
