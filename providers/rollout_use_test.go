package providers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRolloutWindows: the last count with windows tells, and when it was.
func TestRolloutWindows(t *testing.T) {
	t.Parallel()
	dated := strings.Replace(openWindow, "{", `{"timestamp":"2026-11-21T18:00:00.123Z",`, 1)
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"two windows":       {[]string{fullWindow}, "five_hour 100, seven_day 80, "},
		"the last counts":   {[]string{fullWindow, openWindow}, "five_hour 42.5, seven_day 7, "},
		"an empty one":      {[]string{openWindow, noWindow, limitEnd}, "five_hour 42.5, seven_day 7, "},
		"with its time":     {[]string{fullWindow, dated}, "five_hour 42.5, seven_day 7, at 18:00"},
		"none":              {[]string{noWindow, goodEnd}, ""},
		"cut and odd lines": {[]string{openWindow[30:], `{"type":"event_msg","payload":"token_count"}`, "token_count"}, ""},
	} {
		windows, at := codexRolloutWindows([]byte(strings.Join(c.lines, "\n")))
		got := ""
		for _, w := range windows {
			got += fmt.Sprintf("%s %v, ", w.Kind, w.UsedPercent)
			if w.ResetsAt == nil || w.ResetsAt.Year() != 2026 {
				t.Errorf("%s: %s resets at %v", name, w.Kind, w.ResetsAt)
			}
		}
		if !at.IsZero() {
			got += at.Format("at 15:04")
		}
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestRolloutWindowsFile: of the session's own file, and of none where there is
// no such thing.
func TestRolloutWindowsFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "sessions", "2026", "11", "21")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rollout-2026-11-21T19-30-50-one.jsonl"), []byte(openWindow+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, at, err := codexPreset(t).RolloutWindows(home, "one"); len(got) != 2 || !at.Equal(time.Time{}) || err != nil {
		t.Errorf("%+v at %s, %v", got, at, err)
	}
	if got, _, err := codexPreset(t).RolloutWindows(home, "two"); got != nil || err == nil {
		t.Errorf("of another session: %+v, %v", got, err)
	}
	for _, c := range []struct{ home, id string }{{"", "one"}, {home, ""}, {home, "*"}} {
		if got, _, err := codexPreset(t).RolloutWindows(c.home, c.id); got != nil || err != nil {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	if got, _, err := claudePreset(t).RolloutWindows(home, "one"); got != nil || err != nil {
		t.Errorf("of a provider without such files: %+v, %v", got, err)
	}
}
