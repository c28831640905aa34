package parsers

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// jsonFormats are the formats whose parsers share jsonLines.
func jsonFormats() []string {
	return []string{FormatOpencode, FormatGemini, FormatCopilot, FormatCline}
}

// Ends of runs, as the tables of recordings name them. A bad end is named by its
// bucket, or badEnd when it has none.
const (
	goodEnd = "good"
	noEnd   = "none" // the CLI did not say how it ended
	badEnd  = "bad"
)

// jsonFact is what a recording says, written by hand after the recording.
type jsonFact struct {
	name, session, model string
	end                  string
	input, output        int // tokens
	limit, until         string
	tools, denied        int
	unknown              int
}

// holdFacts holds all recordings of a format against what was written by hand.
// A recording without a row is an error.
func holdFacts(t *testing.T, format string, facts []jsonFact) {
	t.Helper()
	left := map[string]bool{}
	for _, path := range jsonRecordings(t, format) {
		left[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = true
	}
	for _, want := range facts {
		delete(left, want.name)
		got := jsonFactOf(want.name, read(t, format, readRecording(t, format, want.name)))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(jsonFact{})); diff != "" {
			t.Errorf("%s: -want +got:\n%s", want.name, diff)
		}
	}
	for name := range left {
		t.Errorf("%s has no row", name)
	}
}

func jsonFactOf(name string, g golden) jsonFact {
	s := g.Summary
	got := jsonFact{
		name: name, session: s.SessionID, model: s.Model, end: noEnd,
		input: s.Usage.InputTokens, output: s.Usage.OutputTokens,
		tools: s.ToolCalls, denied: s.Denied, unknown: g.Unknown,
	}
	switch {
	case s.HasResult && !s.ResultIsError:
		got.end = goodEnd
	case s.HasResult && s.ResultBucket != "":
		got.end = s.ResultBucket
	case s.HasResult:
		got.end = badEnd
	}
	if s.CostUSD != 0 || s.AuthError != (got.end == cw.BucketAuth) {
		got.end += ", with a cost, or not the word on the credentials"
	}
	if s.Limit != nil {
		got.limit = s.Limit.Kind
		if s.Limit.Until != nil {
			got.until = s.Limit.Until.Format(time.RFC3339)
		}
	}
	return got
}

func jsonRecordings(t testing.TB, format string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "others", format, "*.jsonl"))
	if err != nil || len(paths) < 15 {
		t.Fatalf("%d recordings of %s, %v", len(paths), format, err)
	}
	return paths
}

func readRecording(t testing.TB, format, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "others", format, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// lineTest is what lines that no recording has come to.
type lineTest struct {
	name    string
	lines   []string
	want    []cw.StreamEvent
	unknown int
}

func holdLines(t *testing.T, format string, tests []lineTest) {
	t.Helper()
	tests = append(tests,
		lineTest{name: "blank lines", lines: []string{"", "  ", "\t"}},
		lineTest{name: "no JSON", lines: []string{"Error: boom", `{"type":"error"`, `[]`, `"x"`, `null`, `{}`, `7`}, unknown: 7},
		lineTest{name: "a type that is not known", lines: []string{`{"type":"a_new_thing"}`}, unknown: 1},
	)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := read(t, format, []byte(strings.Join(tt.lines, "\n")+"\n"))
			if diff := cmp.Diff(tt.want, got.Events); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got.Unknown != tt.unknown {
				t.Errorf("%d unknown, want %d", got.Unknown, tt.unknown)
			}
		})
	}
}

// TestJSONOrders: in whatever order the lines come, none of the tokens count
// twice, and there is no good end that the whole recording does not have. Other
// damage is TestMutations'.
func TestJSONOrders(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, format := range jsonFormats() {
		opts := recordedOptions(t, format)
		for _, path := range jsonRecordings(t, format) {
			data := readRecording(t, format, strings.TrimSuffix(filepath.Base(path), ".jsonl"))
			whole := summaryOf(t, format, opts, data)
			lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
			slices.Reverse(lines)
			for n := range 12 {
				s := summaryOf(t, format, opts, bytes.Join(lines, []byte("\n")))
				if s.HasResult && !s.ResultIsError && (!whole.HasResult || whole.ResultIsError) {
					t.Errorf("%s, order %d: a good end", path, n)
				}
				if whole.HasResult && s.Usage.InputTokens > whole.Usage.InputTokens {
					t.Errorf("%s, order %d: %d tokens, the whole has %d", path, n, s.Usage.InputTokens, whole.Usage.InputTokens)
				}
				rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			}
		}
	}
}

// summaryOf is read for many readings: the options are made once.
func summaryOf(t testing.TB, format string, opts Options, data []byte) (s Summary) {
	t.Helper()
	p, err := New(format, opts)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReading(p)
	for _, ev := range append(r.Feed(data), r.Flush()...) {
		checkEvent(t, ev)
		s.Add(ev)
	}
	return s
}

// checkEvent: it can be sent as JSON, and a bad end says why.
func checkEvent(t testing.TB, ev cw.StreamEvent) {
	t.Helper()
	out, err := json.Marshal(ev)
	if err != nil || !utf8.Valid(out) {
		t.Fatalf("%+v: %v", ev, err)
	}
	if ev.IsError && ev.Kind == cw.StreamResult && ev.Text == "" {
		t.Fatalf("a bad end without words: %+v", ev)
	}
}

// TestJSONCuts: of a line that is cut off, wherever that is, nothing is told, and
// what comes before the last line is no end.
func TestJSONCuts(t *testing.T) {
	t.Parallel()
	for _, format := range jsonFormats() {
		for _, path := range jsonRecordings(t, format) {
			name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
			t.Run(format+"/"+name, func(t *testing.T) {
				t.Parallel()
				p, err := New(format, recordedOptions(t, format))
				if err != nil {
					t.Fatal(err)
				}
				lines := bytes.Split(bytes.TrimSpace(readRecording(t, format, name)), []byte("\n"))
				for i, line := range lines {
					step := 1
					if i < len(lines)-1 {
						step = 23 // the last line is where an end may stand
					}
					for cut := 0; cut < len(line); cut += step {
						if events := p.Line(line[:cut:cut]); len(events) > 0 {
							t.Fatalf("line %d cut at %d tells %+v", i, cut, events)
						}
					}
					for _, ev := range p.Line(line) {
						if ev.Kind == cw.StreamResult && i < len(lines)-1 {
							t.Errorf("line %d is an end: %+v", i, ev)
						}
					}
				}
			})
		}
	}
}

// TestJSONTexts: what the model says comes once, and nothing of it is missing,
// though some CLIs print it in pieces and again as a whole.
func TestJSONTexts(t *testing.T) {
	t.Parallel()
	type rawLine struct {
		Type, Role, Content string
		Part, Event         struct{ Type, ContentType, Text string }
		Data                struct{ Content string }
	}
	said := map[string]func(l rawLine) string{
		FormatOpencode: func(l rawLine) string {
			if l.Type == "text" {
				return l.Part.Text
			}
			return ""
		},
		FormatGemini: func(l rawLine) string {
			if l.Type == "message" && l.Role == "assistant" {
				return l.Content
			}
			return ""
		},
		FormatCopilot: func(l rawLine) string {
			if l.Type == "assistant.message" {
				return l.Data.Content
			}
			return ""
		},
		FormatCline: func(l rawLine) string {
			if l.Event.Type == "content_end" && l.Event.ContentType == "text" {
				return l.Event.Text
			}
			return ""
		},
	}
	for _, format := range jsonFormats() {
		compared := 0
		for _, path := range jsonRecordings(t, format) {
			data := readRecording(t, format, strings.TrimSuffix(filepath.Base(path), ".jsonl"))
			var want, got strings.Builder
			for line := range bytes.Lines(data) {
				var l rawLine
				_ = json.Unmarshal(line, &l) // what is no line of the format says nothing
				want.WriteString(said[format](l))
			}
			g := read(t, format, data)
			for _, ev := range g.Events {
				if ev.Kind == cw.StreamText {
					got.WriteString(strings.TrimSuffix(ev.Text, "\n"))
				}
			}
			if !g.Summary.HasResult { // it was ended in the middle of a message
				continue
			}
			compared++
			if got.String() != want.String() {
				t.Errorf("%s says %q, want %q", path, &got, &want)
			}
		}
		if compared < 5 {
			t.Errorf("%d recordings of %s were compared", compared, format)
		}
	}
}

// TestAPIWaits: when a limit ends, as APIs and their headers say it.
func TestAPIWaits(t *testing.T) {
	t.Parallel()
	texts := []struct{ text, want string }{
		{"You exceeded your current quota.\nSuggested retry after 37000s.", "2026-11-21T14:16:40Z"},
		{"Please retry in 12.5s", "2026-11-21T04:00:12.5Z"},
		{"Rate limit reached. Please try again in 6m0s.", "2026-11-21T04:06:00Z"},
		{"Please try again in 120ms.", "2026-11-21T04:00:00.12Z"},
		{`{"retryDelay": "34s"}`, "2026-11-21T04:00:34Z"},
		{"Your quota will reset after 1h2m3s.", "2026-11-21T05:02:03Z"},
		{"Please try again in 99999999999999999999s.", ""},
		{"Please try again in 9000000h.", ""},
		{"Please try again in 9000h.", ""}, // longer than a year
		{"Please try again in a minute.", "2026-11-21T04:01:00Z"},
		{"Please wait a moment.", ""},
		{"Please wait and try again later.", ""},
	}
	for _, tt := range texts {
		if got := waitEnd(tt.text, recordedAt()); timeText(got) != tt.want {
			t.Errorf("%q: %s, want %q", tt.text, timeText(got), tt.want)
		}
	}
	headers := []struct{ name, value, want string }{
		{"retry-after", "1", "2026-11-21T04:00:01Z"},
		{"retry-after", "3600", "2026-11-21T05:00:00Z"},
		{"retry-after", "Sat, 21 Nov 2026 06:00:00 GMT", "2026-11-21T06:00:00Z"},
		{"retry-after-ms", "1500", "2026-11-21T04:00:01.5Z"},
		{"retry-after-ms", "1e300", ""},
		{"retry-after-ms", "NaN", ""},
		{"retry-after", "-5", ""},
		{"retry-after", "1e300", ""},
		{"retry-after", "NaN", ""},
		{"retry-after", "soon", ""},
		{"date", "Sat, 21 Nov 2026 06:00:00 GMT", ""},
	}
	for _, tt := range headers {
		if got := retryAfter(map[string]string{tt.name: tt.value}, recordedAt()); timeText(got) != tt.want {
			t.Errorf("%s: %s: %s, want %q", tt.name, tt.value, timeText(got), tt.want)
		}
	}
	if got := waitEnd("try again in 5s", time.Time{}); got != nil {
		t.Errorf("from no moment on: %v", got)
	}
}

func timeText(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.Format(time.RFC3339Nano)
}

// TestJSONMemoryIsBounded: what never ends is forgotten.
func TestJSONMemoryIsBounded(t *testing.T) {
	t.Parallel()
	opencode, gemini, copilot, cline := newOpencode(Options{}), newGemini(Options{}), newCopilot(Options{}), newCline(Options{})
	for i := range claudeMemory + 100 {
		id := string(rune('a'+i%26)) + time.Duration(i).String()
		line := func(text string) []byte { return []byte(strings.ReplaceAll(text, "ID", id)) }
		opencode.Line(line(`{"type":"step_start","part":{"id":"ID"}}`))
		gemini.Line(line(`{"type":"tool_use","tool_name":"write_file","tool_id":"ID","parameters":{"file_path":"/a"}}`))
		copilot.Line(line(`{"type":"tool.execution_start","data":{"toolName":"edit","toolCallId":"ID","arguments":{"path":"/a"}}}`))
		copilot.Line(line(`{"type":"assistant.message","data":{"messageId":"ID","content":"x"}}`))
		copilot.Line(line(`{"type":"assistant.message_start","data":{"parentToolCallId":"ID"}}`))
		cline.Line(line(`{"type":"agent_event","event":{"type":"content_start","contentType":"tool","toolName":"editor","toolCallId":"ID","input":{"path":"/a"}}}`))
		cline.Line(line(`{"type":"agent_event","event":{"type":"usage","agentId":"ID","inputTokens":1,"totalInputTokens":1}}`))
	}
	for what, n := range map[string]int{
		"parts": len(opencode.seen), "gemini's changes": len(gemini.changes), "copilot's changes": len(copilot.changes),
		"messages": len(copilot.told), "conversations": len(copilot.partial), "cline's changes": len(cline.changes), "agents": len(cline.totals),
	} {
		if n == 0 || n > claudeMemory {
			t.Errorf("%d %s are remembered", n, what)
		}
	}
}

// fuzzJSON: no output takes the program down.
func fuzzJSON(f *testing.F, format string, lines ...string) {
	f.Helper()
	for _, path := range jsonRecordings(f, format) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, line := range lines {
		f.Add([]byte(line))
	}
	opts := recordedOptions(f, format)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := summaryOf(t, format, opts, data)
		if !utf8.ValidString(s.LastText.String()) || len(s.LastText.String()) > lastTextMax {
			t.Fatalf("last text %q", s.LastText)
		}
	})
}
