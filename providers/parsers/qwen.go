package parsers

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

// qwenParser reads the output of `qwen -o stream-json`. Its lines are claude's
// with four differences (seen in runs of 0.24.4, recordings in testdata):
//   - an error of the API comes as the model's words, "[API Error: …]", and
//     once more in the result's error.message; no line has a code;
//   - retries are lines of type system/retry, and the first one comes only
//     after some 95 s of silent tries;
//   - input tokens have those read from the cache in them;
//   - requests of qwen's own are in the result's usage only.
//
// Of its good answers nothing tells a cost.
type qwenParser struct{ *claudeParser }

// qwenLine is one line of qwen.
type qwenLine struct {
	claudeLine
	Error qwenError `json:"error"` // of result
	Data  qwenRetry `json:"data"`  // of system/retry
}

// qwenError is why a run ended badly.
type qwenError struct {
	Message string `json:"message"`
}

// qwenRetry is a request that is made again.
type qwenRetry struct {
	Reason     string  `json:"reason"`  // retry, model_fallback (read in the program, not seen)
	Attempt    int     `json:"attempt"` // missing when the wait is over and the attempt begins
	MaxRetries int     `json:"maxRetries"`
	DelayMS    float64 `json:"delayMs"`
}

func newQwen(opts Options) *qwenParser {
	p := newClaude(opts)
	p.edits = []string{"write_file", "edit", "notebook_edit"} // offered by system/init; their input was read, not seen
	return &qwenParser{p}
}

// Line reads one line.
func (p *qwenParser) Line(line []byte) []cw.StreamEvent {
	var l qwenLine
	events := p.read(line, &l, &l.claudeLine, func() ([]cw.StreamEvent, bool) { return p.line(&l) })
	for _, ev := range events {
		if ev.Limit != nil && ev.Limit.Kind == "" {
			ev.Limit.Kind = apiLimitKind(ev.Limit.Text)
		}
	}
	return events
}

func (p *qwenParser) line(l *qwenLine) (events []cw.StreamEvent, known bool) {
	switch {
	case l.Type == "system" && l.Subtype == "retry":
		return l.Data.events(), true
	case l.Type == "assistant" && isQwenError(l.Message):
		return p.apiError(l.ParentToolUseID, l.Message.Content.text()), true
	case l.Type == "assistant":
		l.Message.Usage = l.Message.Usage.withoutCache()
	case l.Type == "result":
		l.Usage = l.Usage.withoutCache()
		if why := l.Error.Message; why != "" { // else a good answer might begin with a number
			l.Result = cmp.Or(l.Result, why)
			l.APIErrorStatus = statusOf(why)
		}
	}
	return p.claudeParser.line(&l.claudeLine)
}

// events tells the retry, or the change of the model. That a wait is over is
// told by what comes next.
func (r qwenRetry) events() []cw.StreamEvent {
	switch {
	case r.Reason == "model_fallback":
		return one(cw.StreamEvent{Kind: cw.StreamWarning, Text: "the request is made again with another model"})
	case r.Attempt == 0:
		return nil
	}
	return one(cw.StreamEvent{
		Kind: cw.StreamRetry, Attempt: r.Attempt,
		Delay: time.Duration(r.DelayMS * float64(time.Millisecond)).Round(time.Millisecond),
		Text:  fmt.Sprintf("try %d of %d", r.Attempt, r.MaxRetries), // why is on stderr only
	})
}

// isQwenError knows the words that qwen puts into the model's mouth. They cost
// no tokens: an answer that quotes an error does.
func isQwenError(m claudeMessage) bool {
	return len(m.Content.blocks) == 1 && strings.HasPrefix(m.Content.text(), "[API Error: ") &&
		(m.Usage == nil || *m.Usage == claudeUsage{})
}

// apiError tells an error of the model's API.
func (p *qwenParser) apiError(parent, text string) []cw.StreamEvent {
	bucket := p.bucket("", statusOf(text), text)
	if bucket == cw.BucketLimit {
		return one(p.limitEvent("", text))
	}
	return one(cw.StreamEvent{Kind: cw.StreamError, ParentToolUseID: parent, Text: text, Bucket: bucket})
}

// withoutCache counts what was read from the cache only there. A count of
// nothing is none.
func (u *claudeUsage) withoutCache() *claudeUsage {
	if u == nil || *u == (claudeUsage{}) {
		return nil
	}
	own := *u
	own.InputTokens = max(0, u.InputTokens-u.CacheReadInputTokens)
	return &own
}
