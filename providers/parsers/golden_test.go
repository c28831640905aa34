package parsers

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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
	opts := Options{Since: recordedAt()}
	if format == FormatCodex {
		opts.Patterns = presetPatterns(t, "codex") // it has no codes: the patterns are all
	}
	p, err := New(format, opts)
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

// TestRecordings holds the parser against output that real CLIs wrote.
func TestRecordings(t *testing.T) {
	t.Parallel()
	for _, format := range []string{FormatClaude, FormatCodex} {
		for _, path := range recordings(t, format) {
			t.Run(format+"/"+strings.TrimSuffix(filepath.Base(path), ".jsonl"), func(t *testing.T) {
				t.Parallel()
				holdRecording(t, format, path)
			})
		}
	}
}

func holdRecording(t *testing.T, format, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := encodeGolden(t, read(t, format, data))
	goldenPath := strings.TrimSuffix(path, ".jsonl") + ".golden"
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

// presetPatterns reads the patterns of an embedded preset, as providers
// compiles them.
func presetPatterns(t testing.TB, name string) Patterns {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "presets", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var preset struct {
		Patterns struct{ Limit, Auth, Overload []string } `yaml:"patterns"`
	}
	if err := yaml.Unmarshal(data, &preset); err != nil {
		t.Fatal(err)
	}
	compile := func(texts []string) (out []*regexp.Regexp) {
		for _, text := range texts {
			out = append(out, regexp.MustCompile("(?i)"+text))
		}
		return out
	}
	return Patterns{
		Limit: compile(preset.Patterns.Limit), Auth: compile(preset.Patterns.Auth), Overload: compile(preset.Patterns.Overload),
	}
}

func recordings(t testing.TB, format string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", format, "*.jsonl"))
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d recordings, %v", len(paths), err)
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
