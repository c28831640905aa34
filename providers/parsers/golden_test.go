package parsers

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

var update = flag.Bool("update", false, "write the golden files anew")

// recordedAt is when the recordings were made: the reference for times of day.
func recordedAt() time.Time { return time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC) }

// golden is what a recording must come to.
type golden struct {
	Summary Summary          `json:"summary"`
	Unknown int              `json:"unknown"`
	Events  []cw.StreamEvent `json:"events"`
}

func read(t testing.TB, format string, data []byte) golden {
	t.Helper()
	p, err := New(format, recordedOptions(t, format))
	if err != nil {
		t.Fatal(err)
	}
	r := NewReading(p)
	var g golden
	g.Events = append(r.Feed(data), r.Flush()...)
	g.Unknown = r.Unknown()
	for _, ev := range g.Events {
		g.Summary.Add(ev)
	}
	return g
}

// recordedOptions are what the recordings of a format are read with.
func recordedOptions(t testing.TB, format string) Options {
	t.Helper()
	opts := Options{Since: recordedAt()}
	switch format {
	case FormatClaude, FormatCodex, FormatAider, FormatOpencode, FormatGemini, FormatCopilot, FormatCline, FormatQwen, FormatPi, FormatAmp:
		opts.Patterns = presetPatterns(t, format)
	case FormatACP: // opencode's and cline's error has no status
		opts.Patterns.Auth = []*regexp.Regexp{regexp.MustCompile("Incorrect API key")}
	}
	return opts
}

// recorded tells how many recordings there are of a format at least, and where.
type recorded struct {
	format string
	glob   string // below testdata
	least  int
}

func recordedFormats() []recorded {
	return []recorded{
		{FormatClaude, "claude/*.jsonl", 70},
		{FormatCodex, "codex/*.jsonl", 65},
		{FormatQwen, "others/qwen/*.jsonl", 17},
		{FormatContinue, "others/cn/*", 11},
		{FormatPi, "others/pi/*.jsonl", 9},
		{FormatAmp, "others/amp/*.txt", 1},
		{FormatOpencode, "others/opencode/*.jsonl", 15},
		{FormatGemini, "others/gemini/*.jsonl", 24},
		{FormatCopilot, "others/copilot/*.jsonl", 21},
		{FormatCline, "others/cline/*.jsonl", 18},
		{FormatACP, "acp/*.jsonl", 22},
	}
}

// TestRecordings holds the parser against output that real CLIs wrote.
func TestRecordings(t *testing.T) {
	t.Parallel()
	for _, r := range recordedFormats() {
		for _, path := range recordings(t, r) {
			t.Run(recordingName(path), func(t *testing.T) {
				t.Parallel()
				holdRecording(t, r.format, path)
			})
		}
	}
}

// recordingName gives the path below testdata, without its ending.
func recordingName(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "testdata/"), filepath.Ext(path))
}

func holdRecording(t *testing.T, format, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := encodeGolden(t, read(t, format, data))
	goldenPath := strings.TrimSuffix(path, filepath.Ext(path)) + ".golden"
	if *update {
		if err := os.WriteFile(goldenPath, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", goldenPath, firstDifference(got, want))
	}
}

// presetPatterns gives the patterns of an embedded preset, as providers compiles
// them.
func presetPatterns(t testing.TB, name string) Patterns {
	t.Helper()
	all, err := embeddedPatterns()
	if err != nil {
		t.Fatal(err)
	}
	patterns, ok := all[name]
	if !ok {
		t.Fatalf("there is no preset %s", name)
	}
	return patterns
}

// embeddedPatterns reads the patterns of all embedded presets, once: they are
// asked for thousands of times.
var embeddedPatterns = sync.OnceValues(func() (map[string]Patterns, error) {
	files, err := filepath.Glob(filepath.Join("..", "presets", "*.yaml"))
	if err != nil {
		return nil, err
	}
	all := map[string]Patterns{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var preset struct {
			Patterns struct{ Limit, Auth, Overload []string } `yaml:"patterns"`
		}
		if err := yaml.Unmarshal(data, &preset); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = Patterns{
			Limit: compiled(preset.Patterns.Limit), Auth: compiled(preset.Patterns.Auth), Overload: compiled(preset.Patterns.Overload),
		}
	}
	return all, nil
})

func compiled(texts []string) (out []*regexp.Regexp) {
	for _, text := range texts {
		out = append(out, regexp.MustCompile("(?i)"+text))
	}
	return out
}

func recordings(t testing.TB, r recorded) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", r.glob))
	paths = slices.DeleteFunc(paths, func(path string) bool { return filepath.Ext(path) == ".golden" })
	if err != nil || len(paths) < r.least {
		t.Fatalf("%d recordings in %s, %v", len(paths), r.glob, err)
	}
	return paths
}

// encodeGolden writes one event a line, so that a difference is readable.
func encodeGolden(t *testing.T, g golden) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string]any{"summary": g.Summary, "unknown": g.Unknown}); err != nil {
		t.Fatal(err)
	}
	enc.SetIndent("", "")
	for _, ev := range g.Events {
		if err := enc.Encode(ev); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return "got  " + a + "\nwant " + b
		}
	}
	return "nothing"
}
