package parsers

import (
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"cw/internal/cw"
)

// testimony is what a recording says, read from the recording itself and from what
// was served to the CLI then. It is written by hand: no flag writes it anew.
type testimony struct {
	recording string // below testdata
	session   string // as the first line tells it; "" when no line does
	end       end
	usage     cw.Usage // the CLI's own total, else the sum over the messages that there are
	costUSD   float64  // 0 when the CLI does not tell it
	limitKind string
	limitEnds string // RFC 3339; "" when it is not told
}

// end is how a run ended by its output alone.
type end string

const (
	open        end = "open"        // no word on it: it was killed, or waits
	good        end = "good"        // a result that is no error
	failed      end = "failed"      // a result that is an error of no known kind
	limited     end = "limited"     // an error: the usage limit
	refused     end = "refused"     // an error: the credentials
	unreachable end = "unreachable" // an error: overload, network
	aborted     end = "aborted"     // an error: it was interrupted
)

// endOfRun reads the same from a summary.
func endOfRun(s Summary) end {
	switch {
	case !s.HasResult:
		return open
	case !s.ResultIsError:
		return good
	}
	switch s.ResultBucket {
	case cw.BucketLimit:
		return limited
	case cw.BucketAuth:
		return refused
	case cw.BucketTransient:
		return unreachable
	case cw.BucketAbort:
		return aborted
	}
	return failed
}

func tokens(in, out int) cw.Usage { return cw.Usage{InputTokens: in, OutputTokens: out} }

// TestFacts holds the parsers against what was served when the recordings were
// made. Every recording has its fact.
func TestFacts(t *testing.T) {
	t.Parallel()
	facts := slices.Concat(claudeFacts(), codexFacts(), otherFacts())
	formats := []string{FormatClaude, FormatCodex, FormatQwen, FormatContinue, FormatPi, FormatAmp}
	for _, r := range recordedFormats() {
		if !slices.Contains(formats, r.format) {
			continue // its facts stand beside its own tests
		}
		for _, path := range recordings(t, r) {
			name := recordingName(path)
			i := slices.IndexFunc(facts, func(f testimony) bool { return f.recording == name })
			if i < 0 {
				t.Errorf("%s has no fact", name)
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				holdFact(t, r.format, path, facts[i])
			})
		}
	}
}

func holdFact(t *testing.T, format, path string, want testimony) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, format, data).Summary
	got := testimony{recording: want.recording, session: s.SessionID, end: endOfRun(s), usage: s.Usage, costUSD: s.CostUSD}
	if s.Limit != nil {
		got.limitKind = s.Limit.Kind
		if s.Limit.Until != nil {
			got.limitEnds = s.Limit.Until.UTC().Format(time.RFC3339)
		}
	}
	if math.Abs(got.costUSD-want.costUSD) < 1e-9 {
		got.costUSD = want.costUSD
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if (s.Limit != nil) != (want.end == limited) || s.AuthError != (want.end == refused) {
		t.Errorf("limit %+v, refused %v, want those of %q", s.Limit, s.AuthError, want.end)
	}
}
