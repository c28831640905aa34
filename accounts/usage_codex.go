package accounts

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cw/internal/cw"
	"cw/internal/safefile"
)

const (
	// rolloutTail is how much of the end of a session's file is read, in bytes.
	rolloutTail = 1 << 20
	// rolloutsTried is how many of the newest sessions are looked at: one without
	// an answer tells no use.
	rolloutsTried = 5
)

// codexUsage reads the use of the windows from the newest session below a
// configuration directory that tells it. Seen in 0.169.0: event_msg/token_count
// with rate_limits. now bounds when it was told: clocks may differ.
func codexUsage(dir string, now time.Time) (usage, error) {
	var files []string
	if dir != "" {
		files = newestRollouts(filepath.Join(dir, "sessions"))
	}
	for _, file := range files {
		tail, info, err := safefile.ReadTail(file, rolloutTail)
		if err != nil {
			continue // gone, or not ours to read: an older one may do
		}
		if told := readCodexUsage(tail); len(told.windows) > 0 {
			if told.at.IsZero() {
				told.at = info.ModTime()
			}
			if told.at.After(now) {
				told.at = now
			}
			told.at = told.at.UTC()
			return told, nil
		}
	}
	return usage{}, errors.New("no session of codex tells the use yet")
}

// newestRollouts lists the newest sessions' files: years, months, days and files
// are named so that their order is that of time.
func newestRollouts(dir string) []string {
	return descend(dir, []string{"[0-9]*", "[0-9]*", "[0-9]*", "rollout-*.jsonl"}, rolloutsTried)
}

func descend(dir string, patterns []string, want int) []string {
	entries, _ := os.ReadDir(dir) // sorted; none when it cannot be read
	var out []string
	for _, e := range slices.Backward(entries) {
		if ok, _ := filepath.Match(patterns[0], e.Name()); !ok || len(out) >= want {
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case len(patterns) == 1:
			out = append(out, path)
		case e.IsDir():
			out = append(out, descend(path, patterns[1:], want-len(out))...)
		}
	}
	return out
}

// readCodexUsage takes the last windows out of a session's lines, the first of
// which may be cut, and when they were told; the zero time when that line does
// not say.
func readCodexUsage(tail []byte) usage {
	var out usage
	for line := range bytes.Lines(tail) {
		var l struct {
			At      json.RawMessage `json:"timestamp"`
			Payload struct {
				Type   string `json:"type"`
				Limits struct {
					Primary   *codexWindow `json:"primary"`
					Secondary *codexWindow `json:"secondary"`
				} `json:"rate_limits"`
			} `json:"payload"`
		}
		if !bytes.Contains(line, []byte(`"token_count"`)) || json.Unmarshal(line, &l) != nil || l.Payload.Type != "token_count" {
			continue
		}
		var windows []cw.UsageWindow
		for _, w := range []*codexWindow{l.Payload.Limits.Primary, l.Payload.Limits.Secondary} {
			if w != nil {
				windows = append(windows, w.window())
			}
		}
		if len(windows) > 0 {
			out = usage{windows: windows}
			_ = json.Unmarshal(l.At, &out.at)
		}
	}
	return out
}

// codexWindow is a span of time with a limit of its own.
type codexWindow struct {
	UsedPercent   float64 `json:"used_percent"`
	WindowMinutes int     `json:"window_minutes"`
	ResetsAt      int64   `json:"resets_at"` // seconds of the epoch
}

func (w codexWindow) window() cw.UsageWindow {
	out := cw.UsageWindow{Kind: "quota", UsedPercent: max(0, w.UsedPercent)}
	switch w.WindowMinutes {
	case 5 * 60:
		out.Kind = "five_hour"
	case 7 * 24 * 60:
		out.Kind = "seven_day"
	}
	if w.ResetsAt > 0 {
		at := time.Unix(w.ResetsAt, 0).UTC()
		out.ResetsAt = &at
	}
	return out
}
