package parsers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// aiderOutputs are what aider prints, made after its documentation and its
// published source; none of it was seen.
func aiderOutputs(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "aider", "*.txt"))
	if err != nil || len(paths) < 6 {
		t.Fatalf("%d outputs, %v", len(paths), err)
	}
	out := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(path), ".txt")] = string(data)
	}
	return out
}

func aiderSummary(t testing.TB, text string) Summary {
	t.Helper()
	return summaryOf(t, FormatAider, recordedOptions(t, FormatAider), []byte(text))
}

// TestAiderEnds: its exit code is 0 always, so that its words must tell the end.
func TestAiderEnds(t *testing.T) {
	t.Parallel()
	outputs := aiderOutputs(t)
	for name, want := range map[string]struct {
		end      end
		limit    string // its kind
		overload bool
		cost     float64
		in, out  int
	}{
		"done":      {end: good, cost: 0.0213, in: 4500, out: 167},
		"limit":     {end: limited, limit: "quota"},
		"rate":      {end: unreachable, overload: true},
		"overcome":  {end: good, cost: 0.0062, in: 2300, out: 34},
		"refused":   {end: refused},
		"down":      {end: unreachable},
		"too-long":  {end: failed, in: 11000, out: 4100},
		"no-key":    {end: refused},
		"commit":    {end: good, cost: 0.0062, in: 2300, out: 34},
		"midway":    {end: limited, limit: "quota", cost: 0.0062, in: 2300, out: 34},
		"cache":     {end: good, cost: 0.01, in: 1900, out: 120},
		"unstarted": {end: open},
	} {
		text, ok := outputs[name]
		if !ok {
			t.Errorf("there is no %s", name)
			continue
		}
		delete(outputs, name)
		s := aiderSummary(t, text)
		if got := endOfRun(s); got != want.end || s.CostUSD != want.cost || s.Usage.InputTokens != want.in || s.Usage.OutputTokens != want.out {
			t.Errorf("%s: %s, %v dollars, %+v; want %+v", name, got, s.CostUSD, s.Usage, want)
		}
		if (s.Limit != nil) != (want.limit != "") || s.Limit != nil && s.Limit.Kind != want.limit || s.AuthError != (want.end == refused) || s.Overload != want.overload {
			t.Errorf("%s: limit %+v, refused %v, overload %v", name, s.Limit, s.AuthError, s.Overload)
		}
	}
	for name := range outputs {
		t.Errorf("%s has no row", name)
	}
}

// TestAiderLines: what becomes of single lines.
func TestAiderLines(t *testing.T) {
	t.Parallel()
	text := func(s string) cw.StreamEvent { return cw.StreamEvent{Kind: cw.StreamText, Text: s + "\n"} }
	warning := func(s string) cw.StreamEvent { return cw.StreamEvent{Kind: cw.StreamWarning, Text: s} }
	const rate = "litellm.RateLimitError: AnthropicException - slow down"
	for _, tt := range []struct {
		name  string
		lines string
		want  []cw.StreamEvent
	}{
		{"the model's words", "Retrying in 0.2 seconds...\n  litellm.RateLimitError: x\n", []cw.StreamEvent{text("Retrying in 0.2 seconds..."), text("  litellm.RateLimitError: x")}},
		{
			"tries", rate + "\nThe API provider has rate limited you.\n\nRetrying in 0.2 seconds...\n" + rate + "\nRetrying in 0.5 seconds...\nHello.\nTokens: 980 sent, 1.1k received.\n",
			[]cw.StreamEvent{
				warning(rate), warning("The API provider has rate limited you."),
				{Kind: cw.StreamRetry, Attempt: 1, Delay: 200 * time.Millisecond, Bucket: cw.BucketTransient, Text: rate + " The API provider has rate limited you."},
				warning(rate),
				{Kind: cw.StreamRetry, Attempt: 2, Delay: 500 * time.Millisecond, Bucket: cw.BucketTransient, Text: rate},
				text("Hello."), text("Tokens: 980 sent, 1.1k received."),
				{Kind: cw.StreamUsage, Usage: &cw.Usage{InputTokens: 980, OutputTokens: 1100}},
				{Kind: cw.StreamResult},
			},
		},
		{
			"it ends while it tries again", rate + "\nRetrying in 0.2 seconds...\n",
			[]cw.StreamEvent{
				warning(rate),
				{Kind: cw.StreamRetry, Attempt: 1, Delay: 200 * time.Millisecond, Bucket: cw.BucketTransient, Text: rate},
				{Kind: cw.StreamError, Text: rate, Bucket: cw.BucketTransient},
				{Kind: cw.StreamResult, Text: rate, IsError: true, Bucket: cw.BucketTransient},
			},
		},
		{"odd counts", "Tokens: 1.2.3k sent, 9 received.\n", []cw.StreamEvent{
			text("Tokens: 1.2.3k sent, 9 received."), {Kind: cw.StreamUsage, Usage: &cw.Usage{OutputTokens: 9}}, {Kind: cw.StreamResult},
		}},
	} {
		got := read(t, FormatAider, []byte(tt.lines))
		if diff := cmp.Diff(tt.want, got.Events); diff != "" || got.Unknown != 0 {
			t.Errorf("%s: %d unknown, -want +got:\n%s", tt.name, got.Unknown, diff)
		}
	}
}

// TestAiderCuts: of an output that is cut, at whatever byte, nothing is a good
// end after the error that the whole ends with.
func TestAiderCuts(t *testing.T) {
	t.Parallel()
	for name, text := range aiderOutputs(t) {
		if endOfRun(aiderSummary(t, text)) == good {
			continue
		}
		began := strings.Index(text, "litellm.")
		if began < 0 {
			continue
		}
		for at := began + len("litellm.RateLimitError: "); at < len(text); at++ {
			s := aiderSummary(t, text[:at])
			if first, _, _ := strings.Cut(text[began:at], "\n"); strings.Contains(first, "Error: ") && endOfRun(s) == good {
				t.Errorf("%s cut at %d ends well", name, at)
			}
		}
	}
}

func FuzzAider(f *testing.F) {
	for _, text := range aiderOutputs(f) {
		f.Add([]byte(text))
	}
	fuzz(f, FormatAider)
}
