package parsers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
)

// codexTextClip is how many bytes of a warning are kept.
const codexTextClip = 2000

// codexRetry is how an `error` line tells that a request is tried again:
// "Reconnecting... 2/5 (reason)", and for ever "Reconnecting... waiting for
// network (reason)".
var codexRetry = cw.Pattern(`^Reconnecting\.\.\. (?:(\d{1,6})/(\d{1,6})|waiting for network)(?: \((?s:(.*))\))?$`)

// codexParser reads the output of `codex exec --json`. It has no codes, no
// timestamps and no cost: errors are told apart by the preset's patterns. An
// `error` line is never final, only turn.failed is.
type codexParser struct {
	opts    Options
	unknown int
	now     time.Time // the latest moment that is known: the run's start, or what clock told

	calls   map[string]bool // items that were told as tool calls
	attempt int             // of the retry that was announced last; 0 when something went on since
	held    string          // an error line that turn.failed may say again
	said    string          // the last words of the model
}

func newCodex(opts Options) *codexParser {
	return &codexParser{opts: opts, now: opts.Since, calls: map[string]bool{}}
}

// Unknown is the number of lines that were not, or not wholly, understood.
func (p *codexParser) Unknown() int { return p.unknown }

// clock tells when the next lines were written: they carry no time, and a limit
// that ends "at 5:15 AM" may be hit hours after the run began.
func (p *codexParser) clock(at time.Time) {
	if at.After(p.now) && !p.opts.Since.IsZero() {
		p.now = at.In(p.opts.Since.Location())
	}
}

// Line reads one line.
func (p *codexParser) Line(line []byte) []cw.StreamEvent {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var l codexLine
	err := json.Unmarshal(validUTF8(line), &l)
	if err != nil && (!isWrongType(err) || l.Type == "") {
		p.unknown++
		return nil
	}
	events, known := p.line(&l)
	if !known || err != nil {
		p.unknown++
	}
	return events
}

func (p *codexParser) line(l *codexLine) (events []cw.StreamEvent, known bool) {
	before := p.release(l)
	switch l.Type {
	case "thread.started":
		events = one(cw.StreamEvent{Kind: cw.StreamInit, SessionID: l.ThreadID})
	case "turn.started":
	case "turn.completed":
		events = p.completed(l.Usage)
	case "turn.failed":
		events = p.failed(l.Error.Message)
	case "error":
		events = p.trouble(l.Message)
	case "item.started", "item.updated", "item.completed":
		events, known = p.item(l.Type, l.Item)
		return append(before, events...), known
	default:
		return before, false
	}
	return append(before, events...), true
}

// release tells an error line that was held back, unless this line is the
// turn.failed that says the same.
func (p *codexParser) release(l *codexLine) []cw.StreamEvent {
	held := p.held
	p.held = ""
	if held == "" || l.Type == "turn.failed" && l.Error.Message == held {
		return nil
	}
	return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: clip(held, codexTextClip), Bucket: p.opts.Patterns.Bucket(held)})
}

// trouble reads an error line: a retry that is announced, or something that
// the next line may make final.
func (p *codexParser) trouble(text string) []cw.StreamEvent {
	m := codexRetry().FindStringSubmatch(text)
	if m == nil {
		p.held = text
		return nil
	}
	if n, err := strconv.Atoi(m[1]); err == nil {
		p.attempt = n
	} else {
		p.attempt++ // waiting for the network has no numbers
	}
	bucket := p.opts.Patterns.Bucket(m[3])
	if bucket == "" {
		bucket = cw.BucketTransient
	}
	return one(cw.StreamEvent{Kind: cw.StreamRetry, Attempt: p.attempt, Text: clip(text, codexTextClip), Bucket: bucket})
}

// completed reads the good end of a turn. Its words are the model's last ones:
// the line has none of its own.
func (p *codexParser) completed(usage *codexUsage) []cw.StreamEvent {
	end := cw.StreamEvent{Kind: cw.StreamResult, Text: p.said}
	if usage == nil {
		return one(end)
	}
	end.Usage = usage.usage()
	return []cw.StreamEvent{{Kind: cw.StreamUsage, Usage: usage.usage()}, end}
}

// failed reads the bad end of a turn.
func (p *codexParser) failed(text string) []cw.StreamEvent {
	text = cmp.Or(text, noReason)
	bucket := p.opts.Patterns.bucket(apiError{text: text}, p.now)
	told := cw.StreamEvent{Kind: cw.StreamError, Text: text, Bucket: bucket}
	if bucket == cw.BucketLimit {
		told = cw.StreamEvent{Kind: cw.StreamLimit, Limit: &cw.Limit{
			Kind: codexLimitKind(text), Text: text, Until: limitEnd(text, p.now),
		}}
	}
	return []cw.StreamEvent{told, {Kind: cw.StreamResult, Text: text, IsError: true, Bucket: bucket}}
}

// codexLimitKind names a limit by its words. Which window it is (five hours, a
// week) they do not tell; the rollout file does.
func codexLimitKind(text string) string {
	if strings.HasPrefix(text, "Quota exceeded") {
		return "quota" // of an API key: nothing resets it but money
	}
	return "usage_limit"
}
