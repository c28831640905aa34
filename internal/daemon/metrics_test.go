package daemon_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/daemon"
)

// The grammar of the text format, as far as cw uses it.
var (
	helpLine   = regexp.MustCompile(`^# HELP ([a-z][a-z0-9_]*) \S.*$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-z][a-z0-9_]*) (gauge|counter)$`)
	sampleLine = regexp.MustCompile(`^([a-z][a-z0-9_]*)(\{[a-z]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z]+="(?:[^"\\\n]|\\[\\"n])*")*\})? (\S+)$`)
)

// parseMetrics reads the text format strictly: HELP, TYPE, then the samples of
// that one family, each once.
func parseMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	var helped, typed string
	families := map[string]bool{}
	if !strings.HasSuffix(text, "\n") {
		t.Error("the last line has no end")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := helpLine.FindStringSubmatch(line); m != nil {
			if helped = m[1]; families[helped] {
				t.Errorf("%s is there twice", helped)
			}
			families[helped] = true
			continue
		}
		if m := typeLine.FindStringSubmatch(line); m != nil {
			if typed = m[1]; typed != helped {
				t.Errorf("type of %s after the help of %s", typed, helped)
			}
			if m[2] == "counter" != strings.HasSuffix(typed, "_total") {
				t.Errorf("%s is a %s", typed, m[2])
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || m[1] != typed {
			t.Errorf("no line of the format, or in the wrong place: %q", line)
			continue
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if _, double := values[m[1]+m[2]]; err != nil || double {
			t.Errorf("%q: twice, or no number", line)
		}
		values[m[1]+m[2]] = value
	}
	return values
}

// TestMetrics scrapes a daemon that runs agents: the figures are what really
// happened, and nothing that names an agent or a place is among them.
func TestMetrics(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Env = []string{"CW_CONFIG_METRICS_ENABLED=true", "CW_CONFIG_HTTP_ADDRESS=127.0.0.1:0"}
	l.Start()
	st := l.Serving()
	token, err := l.Client().CreateToken(t.Context(), cw.TokenRequest{Name: "prometheus"})
	must(t, err)
	var refs []string
	for _, s := range []fakecli.Script{
		{Pieces: 9, Signal: `{"status":"done","noChanges":"only looked"}`},
		{Pieces: 9, Signal: `{"status":"done","noChanges":"only looked"}`},
		{Pieces: 9, Exit: 3},
	} {
		v := l.Rest(l.MustSpawn(s).Alias)
		refs = append(refs, v.Alias, string(v.ID))
	}
	hanging := l.MustSpawn(fakecli.Script{Pieces: 3, Hang: true})
	l.Until(hanging.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	scrape := func() (map[string]float64, string) {
		code, text := get(t, st.HTTP, "/metrics", token.Secret)
		if code != 200 {
			t.Fatalf("%d: %s", code, text)
		}
		return parseMetrics(t, text), text
	}
	values, text := scrape()
	for end := time.Now().Add(time.Minute); values[`cw_chunk_lag_bytes{of="sum"}`] > 0; values, text = scrape() {
		if time.Now().After(end) {
			t.Fatal("the output of an agent that does nothing is never stored")
		}
	}
	want := map[string]float64{
		`cw_agents{status="idle"}`: 2, `cw_agents{status="crashed"}`: 1, `cw_agents{status="running"}`: 1, `cw_agents{status="parked"}`: 0,
		`cw_runs{outcome="idle",reason="",provider="fake"}`:             2,
		`cw_runs{outcome="crashed",reason="no_signal",provider="fake"}`: 1,
		`cw_run_starts_total{reason="spawn",provider="fake"}`:           4,
		`cw_live_runs`: 1, `cw_chunk_lag_bytes{of="max"}`: 0, `cw_queue_depth{queue="chunks"}`: 0, `cw_queue_depth{queue="events"}`: 0,
		`cw_event_subscriptions`: 1, `cw_open_streams`: 0, // that of the daemon, which wakes parked agents
	}
	for name, value := range want {
		if got, there := values[name]; !there || got != value {
			t.Errorf("%s: %v (there: %v), want %v", name, got, there, value)
		}
	}
	for _, name := range []string{`cw_events_total`, `cw_database_bytes{db="cw"}`, `cw_database_bytes{db="log"}`, "go_goroutines", "process_cpu_seconds_total", "go_memstats_heap_alloc_bytes"} {
		if values[name] <= 0 {
			t.Errorf("%s: %v", name, values[name])
		}
	}
	if started := time.Unix(int64(values["process_start_time_seconds"]), 0); started.Sub(st.StartedAt).Abs() > time.Second {
		t.Errorf("started %s, and it says %s", st.StartedAt, started)
	}
	var last int64
	for ev, err := range l.Client().Events(t.Context(), cw.EventQuery{}) {
		must(t, err)
		last = ev.Seq
	}
	if got := int64(values["cw_events_total"]); got > last || got < last-5 {
		t.Errorf("%d events, and the last has number %d", got, last)
	}
	for _, secret := range append(refs, hanging.Alias, string(hanging.ID), string(l.Home), l.Repo, "prometheus", token.Secret) {
		if strings.Contains(text, secret) {
			t.Errorf("the figures name %q", secret)
		}
	}
	if code, body := get(t, st.HTTP, "/metrics", ""); code != 401 {
		t.Errorf("without a token: %d: %s", code, body)
	}
}

// TestMetricsAreOff: by default there are none.
func TestMetricsAreOff(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Env = []string{"CW_CONFIG_HTTP_ADDRESS=127.0.0.1:0"}
	l.Start()
	token, err := l.Client().CreateToken(t.Context(), cw.TokenRequest{})
	must(t, err)
	if code, body := get(t, l.Serving().HTTP, "/metrics", token.Secret); code != 404 || !strings.Contains(body, "metrics.enabled") {
		t.Errorf("%d: %s", code, body)
	}
}

// TestMetricsText: what a label may hold is escaped as the format wants it.
func TestMetricsText(t *testing.T) {
	t.Parallel()
	want := "# HELP m a\\\\b\\nc\n# TYPE m gauge\nm{l=\"q\\\"b\\\\n\\nü\"} 1.5\n"
	if got := daemon.MetricsText("q\"b\\n\nü"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMetricsDocument: docs/observability.md lists each metric with its labels,
// and no others.
func TestMetricsDocument(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/observability.md")
	must(t, err)
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]*)\\| \\S")
	listed := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(data), -1) {
		listed[m[1]] = strings.NewReplacer("`", "", " ", "").Replace(m[2])
	}
	if diff := cmp.Diff(daemon.Metrics(), listed); diff != "" {
		t.Errorf("the document (-metrics +document):\n%s", diff)
	}
}
