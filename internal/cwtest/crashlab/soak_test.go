package crashlab

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cw/internal/cwtest/lab"
)

const (
	// soakSeconds is the default length of a soak.
	soakSeconds = 40
	// soakPhases is how often the soak comes to rest and is measured.
	soakPhases = 4
	// readersLost is how many readers of events per phase go away without a
	// word, and stop reading before they do.
	readersLost = 20
)

// drift bounds how much more a daemon may have at the end of a soak than after
// its first phase, both times at rest.
func drift() map[string]func(first, last float64) bool {
	return map[string]func(first, last float64) bool{
		"go_goroutines":                 func(first, last float64) bool { return last <= first+5 },
		"process_open_fds":              func(first, last float64) bool { return last <= first+5 },
		"process_resident_memory_bytes": func(first, last float64) bool { return last <= 1.25*first+16<<20 },
	}
}

// TestSoak lets one daemon live while agents come and go, their processes are
// killed, people deal with them, and readers vanish. It must not grow, and leave
// neither zombies nor orphans. CW_LAB_SOAK is its length in seconds.
func TestSoak(t *testing.T) {
	t.Parallel()
	seconds := setting(t, "CW_LAB_SOAK", soakSeconds)
	s := newStorm(t)
	if err := os.WriteFile(s.Home.Config(), []byte("metrics:\n  enabled: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Start()
	pid := s.Serving().PID
	var first, last map[string]float64
	for phase := range soakPhases {
		s.meanwhile(func() { s.disturb(time.Duration(seconds) * time.Second / soakPhases) })
		s.settle()
		last = s.atRest(first)
		if phase == 0 {
			first = last
		}
		t.Logf("phase %d: %v", phase+1, last)
	}
	for _, p := range append(s.judge(), s.compare()...) {
		s.wrong("%s", p)
	}
	if now := s.Serving().PID; now != pid {
		s.wrong("daemon %d is gone, %d serves", pid, now)
	}
	row := fmt.Sprintf("%d s, %d agents, killed %v, %d requests of people", seconds, len(s.models.all), count(s.killed), s.done.Load())
	for what, flat := range drift() {
		row += fmt.Sprintf("; %s %.0f → %.0f", what, first[what], last[what])
		if !flat(first[what], last[what]) {
			s.wrong("I10: %s grew from %.0f to %.0f", what, first[what], last[what])
		}
	}
	results.row("soak", "%s", row)
}

// disturb kills agents and shims and loses readers for a while.
func (s *storm) disturb(long time.Duration) {
	ctx, stop := context.WithTimeout(s.t.Context(), long)
	defer stop()
	readers := 0
	for n := 0; ctx.Err() == nil; n++ {
		s.wait(time.Duration(200+s.rng.IntN(800)) * time.Millisecond)
		switch {
		case n%7 == 0:
			s.killOne("shim", func(p lab.Process) bool { return p.Shim })
		case n%3 == 0:
			s.killOne("agent", func(p lab.Process) bool { return !p.Shim })
		case readers < readersLost:
			readers++
			s.loseReader(long / readersLost)
		}
	}
}

// loseReader opens a stream of events, does not read it, and goes away.
func (s *storm) loseReader(after time.Duration) {
	conn, err := net.Dial("unix", s.Socket())
	if err != nil {
		s.wrong("%v", err)
		return
	}
	if _, err := io.WriteString(conn, "GET /v1/events?follow=true HTTP/1.1\r\nHost: cw.sock\r\nAccept: text/event-stream\r\n\r\n"); err != nil {
		s.wrong("%v", err)
	}
	time.AfterFunc(after, func() { _ = conn.Close() }) // all that is left of it
}

// atRest measures the daemon when nothing goes on: it is given time to let go
// of what it needs no more, until it has no more than before.
func (s *storm) atRest(before map[string]float64) (now map[string]float64) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; s.wait(500 * time.Millisecond) {
		now = s.metrics()
		small := now["cw_live_runs"] == 0
		for what, flat := range drift() {
			small = small && (before == nil || flat(before[what], now[what]))
		}
		if small || time.Now().After(end) {
			return now
		}
	}
}

// metrics are the gauges of the daemon that have no label.
func (s *storm) metrics() map[string]float64 {
	out := map[string]float64{}
	text := s.get("/metrics")
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil && !strings.Contains(name, "{") {
			out[name] = n
		}
	}
	for _, what := range slices.AppendSeq([]string{"cw_live_runs"}, maps.Keys(drift())) {
		if _, ok := out[what]; !ok {
			s.t.Fatalf("the metric %s is missing in\n%s", what, text)
		}
	}
	return out
}

// get reads a page of the daemon over its socket.
func (s *storm) get(path string) string {
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", s.Socket())
		},
	}}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://cw.sock"+path, nil)
	if err != nil {
		return err.Error()
	}
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
