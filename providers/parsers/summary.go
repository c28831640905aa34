package parsers

import (
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// Summary is what a run's events say as a whole. It is a pure fold: the same
// events in the same order give the same summary, and no clock is read.
type Summary struct {
	SessionID string // as the CLI's first line said it
	Model     string

	HasResult     bool   // the CLI said itself how it ended
	Result        string // its words on that
	ResultIsError bool
	ResultBucket  string // why, when it is an error and known
	CostUSD       float64
	Usage         cw.Usage
	Turns         int
	// Models are the tokens in Usage by model, and Later those of them that were
	// told after CostUSD was.
	Models, Later []cw.ModelUsage `json:"-"`

	// Limit is the usage limit that the account is at. A warning is none, and
	// one that was overcome by later progress does not count.
	Limit *cw.Limit
	// AuthError is true when the credentials were refused, and nothing went on
	// after that.
	AuthError bool
	// Overload is true when the last error says that there were too many requests
	// in a short time, and nothing went on after that.
	Overload  bool
	LastError Failure
	Retry     Retry // a transient error that is being retried; zero when it was overcome

	LastText      Words // the end of the main conversation's words since the last tool call
	LastTool      string
	ToolCalls     int
	Denied        int // tool calls that were refused for want of permission
	Compactions   int
	ContextTokens int // of the main conversation, after the last answer
	ContextLimit  int // 0 when the CLI does not tell

	textOver bool // a tool call ended the words in LastText
}

// Failure is an error as the CLI told it.
type Failure struct {
	Text   string
	Bucket string // "" when it is none of the known kinds
}

// Retry is an attempt that the CLI announced.
type Retry struct {
	Attempt int
	Delay   time.Duration // from the moment of the announcement
	Text    string
}

// Add takes the next event.
func (s *Summary) Add(ev cw.StreamEvent) {
	switch ev.Kind {
	case cw.StreamInit:
		s.SessionID, s.Model = ev.SessionID, ev.Model
	case cw.StreamText:
		s.progress()
		if ev.ParentToolUseID == "" {
			s.addText(ev.Text)
		}
	case cw.StreamThinking:
		s.progress()
	case cw.StreamToolCall:
		s.progress()
		s.ToolCalls++
		s.LastTool, s.textOver = ev.Tool, true
	case cw.StreamUsage:
		s.addUsage(ev)
	case cw.StreamLimit:
		s.addLimit(ev.Limit)
	case cw.StreamRetry:
		s.Retry = Retry{Attempt: ev.Attempt, Delay: ev.Delay, Text: ev.Text}
	case cw.StreamError:
		s.fail(ev.Text, ev.Bucket)
	case cw.StreamCompaction:
		s.Compactions++
		s.setContext(ev.Context)
	case cw.StreamResult:
		s.addResult(ev)
	}
	if ev.PermissionDenied {
		s.Denied++
	}
}

// progress forgets the trouble that the CLI came through.
func (s *Summary) progress() {
	s.Limit, s.AuthError, s.Overload, s.Retry = nil, false, false, Retry{}
}

func (s *Summary) addText(text string) {
	if s.textOver {
		s.LastText, s.textOver = Words{}, false
	}
	s.LastText.add(text)
}

func (s *Summary) addUsage(ev cw.StreamEvent) {
	if ev.Usage != nil {
		s.Usage = s.Usage.Add(*ev.Usage)
		s.Models = addModel(s.Models, ev.Model, *ev.Usage)
		if s.HasResult {
			s.Later = addModel(s.Later, ev.Model, *ev.Usage)
		}
	}
	s.setContext(ev.Context)
}

func (s *Summary) setContext(use *cw.ContextUse) {
	if use == nil {
		return
	}
	if use.Tokens > 0 {
		s.ContextTokens = use.Tokens
	}
	if use.Limit > 0 {
		s.ContextLimit = use.Limit
	}
}

// addLimit merges what several lines say about the same limit.
func (s *Summary) addLimit(limit *cw.Limit) {
	if limit == nil || limit.Warning {
		return
	}
	merged := *limit
	if s.Limit != nil {
		merged = mergeLimit(*s.Limit, merged)
	}
	s.Limit = &merged
	s.LastError = Failure{Text: limit.Text, Bucket: cw.BucketLimit}
}

// addResult takes the CLI's own totals in place of the sums, where it gives
// any: they count requests that have no line of their own.
func (s *Summary) addResult(ev cw.StreamEvent) {
	s.HasResult, s.Result, s.ResultIsError, s.ResultBucket = true, ev.Text, ev.IsError, ev.Bucket
	s.Turns, s.Retry = ev.Turns, Retry{}
	if ev.CostUSD >= s.CostUSD { // each is of all so far; one that tells none does not take it back
		s.CostUSD, s.Later = ev.CostUSD, nil
	}
	if ev.Usage != nil && *ev.Usage != (cw.Usage{}) {
		s.Models = finalModels(s.Models, ev.Models, *ev.Usage)
		s.Usage = sumOf(s.Models)
	}
	s.setContext(ev.Context)
	if !ev.IsError {
		s.progress()
		return
	}
	s.fail(ev.Text, ev.Bucket)
}

func (s *Summary) fail(text, bucket string) {
	s.LastError = Failure{Text: text, Bucket: bucket}
	s.AuthError = s.AuthError || bucket == cw.BucketAuth
	switch {
	case bucket == cw.BucketTransient && RateLimited(text):
		s.Overload = true
	case bucket != "": // else it may be the same, said once more
		s.Overload = false
	}
	s.Retry = Retry{}
}

// mergeLimit lets the newer word win and keeps what only the older one knows.
func mergeLimit(older, newer cw.Limit) cw.Limit {
	if newer.Until == nil {
		newer.Until = older.Until
	}
	if newer.Kind == "" {
		newer.Kind = older.Kind
	}
	if newer.Text == "" {
		newer.Text = older.Text
	}
	return newer
}

// addModel adds tokens of a model. The list that it was given stays as it is:
// copies of a summary share it.
func addModel(list []cw.ModelUsage, model string, u cw.Usage) []cw.ModelUsage {
	out := slices.Clone(list)
	i := slices.IndexFunc(out, func(m cw.ModelUsage) bool { return m.Model == model })
	if i < 0 {
		return append(out, cw.ModelUsage{Model: model, Usage: u})
	}
	out[i].Usage = out[i].Usage.Add(u)
	return out
}

func sumOf(list []cw.ModelUsage) (sum cw.Usage) {
	for _, m := range list {
		sum = sum.Add(m.Usage)
	}
	return sum
}

// finalModels gives the tokens by model at the end, when the CLI told total. What
// it tells by model itself counts, with the share of cache writes for an hour that
// only the lines before told. Else what is more than those lines told is of the
// run's model, or of the only one that they named.
func finalModels(live, told []cw.ModelUsage, total cw.Usage) []cw.ModelUsage {
	if len(told) > 0 {
		out := slices.Clone(told)
		for i, m := range out {
			at := slices.IndexFunc(live, func(l cw.ModelUsage) bool { return bareModel(l.Model) == bareModel(m.Model) })
			if at >= 0 && m.Usage.CacheWriteHourTokens == 0 {
				out[i].Usage.CacheWriteHourTokens = min(live[at].Usage.CacheWriteHourTokens, m.Usage.CacheWriteTokens)
			}
		}
		return out
	}
	sum := sumOf(live)
	if total.CacheWriteHourTokens == 0 {
		total.CacheWriteHourTokens = min(sum.CacheWriteHourTokens, total.CacheWriteTokens)
	}
	rest := total.Sub(sum)
	switch {
	case rest == (cw.Usage{}):
		return live
	case len(live) == 1:
		return []cw.ModelUsage{{Model: live[0].Model, Usage: total}}
	case rest.Least() < 0 || len(live) == 0:
		return []cw.ModelUsage{{Usage: total}}
	}
	return addModel(live, "", rest)
}

// bareModel is a model's name without the size of its window in brackets, which
// only some lines write.
func bareModel(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name
}
