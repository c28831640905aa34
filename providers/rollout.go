package providers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/internal/safefile"
)

const (
	// rolloutCodex is the format of codex's session files: one JSON object a line.
	rolloutCodex = "codex"
	// rolloutTail is how much of the end of a session's file is read, in bytes.
	// The facts about a run's end are its last lines; one of them may hold a
	// tool's whole output.
	rolloutTail = 1 << 20
	// sessionIDPlace is where the files' pattern names the session.
	sessionIDPlace = "{{sessionId}}"
)

// sessionIDPattern keeps what is no id, but a pattern or a path, out of the
// search for a file.
var sessionIDPattern = cw.Pattern(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

// ConfigDir gives the CLI's configuration directory in the environment of a
// run, which is NAME=value lines; "" when it is not known.
func (p Preset) ConfigDir(env []string) string { return p.configDir(parseEnv(env)) }

func (p Preset) configDir(values map[string]string) string {
	for _, name := range p.Account.ConfigDir {
		if dir := values[name]; filepath.IsAbs(dir) {
			return dir
		}
	}
	if p.Account.ConfigHome == "" || !filepath.IsAbs(values["HOME"]) {
		return ""
	}
	return filepath.Join(values["HOME"], p.Account.ConfigHome)
}

// RolloutLimit reads from the session's own file what usage limit ended its
// last turn. said is what the output told of it; what the file knows better
// stands in its place. A session that ended otherwise gives said, as does one
// whose file is not there, not plain or not to be read: then with the reason.
func (p Preset) RolloutLimit(configDir, sessionID string, said *cw.Limit) (*cw.Limit, error) {
	if p.Rollout.Files == "" || configDir == "" || !sessionIDPattern().MatchString(sessionID) {
		return said, nil
	}
	file, err := p.rolloutFile(configDir, sessionID)
	if err != nil {
		return said, err
	}
	tail, _, err := safefile.ReadTail(file, rolloutTail)
	if err != nil {
		return said, fmt.Errorf("read the session's file: %w", err)
	}
	return codexRolloutLimit(tail, said), nil
}

// rolloutFile finds the session's file, the newest by name when there are
// several. The configuration directory's own name is not a pattern.
func (p Preset) rolloutFile(configDir, sessionID string) (string, error) {
	files, err := filepath.Glob(filepath.Join(escapeGlob(configDir), strings.Replace(p.Rollout.Files, sessionIDPlace, sessionID, 1)))
	if err != nil {
		return "", fmt.Errorf("find the session's file: %w", err)
	}
	if len(files) == 0 {
		return "", fmt.Errorf("find the session's file: there is none for %s in %s", sessionID, configDir)
	}
	return slices.Max(files), nil
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// rolloutLine is a line of codex's session file, as far as it matters here.
// Seen in 0.169.0.
type rolloutLine struct {
	Type    string `json:"type"` // event_msg
	Payload struct {
		Type  string `json:"type"` // task_complete, token_count
		Error struct {
			Message string `json:"message"`
			// Info is a word; nobody says that it always is.
			Info json.RawMessage `json:"codex_error_info"`
		} `json:"error"` // of task_complete; null at a good end
		RateLimits struct {
			Primary   *rolloutWindow `json:"primary"`
			Secondary *rolloutWindow `json:"secondary"`
		} `json:"rate_limits"` // of token_count; windows are null when the server told none
	} `json:"payload"`
}

// rolloutWindow is a span of time with a limit of its own.
type rolloutWindow struct {
	UsedPercent   float64 `json:"used_percent"`
	WindowMinutes int     `json:"window_minutes"`
	ResetsAt      int64   `json:"resets_at"` // seconds of the epoch
}

// codexRolloutLimit is RolloutLimit for the end of codex's file, whose first
// line may be cut.
func codexRolloutLimit(tail []byte, said *cw.Limit) *cw.Limit {
	var ended bool // the last turn ended with a usage limit
	var windows []rolloutWindow
	text := ""
	for line := range bytes.Lines(tail) {
		var l rolloutLine
		if !bytes.Contains(line, []byte(`"event_msg"`)) || json.Unmarshal(line, &l) != nil {
			continue
		}
		switch l.Payload.Type {
		case "task_complete":
			ended = string(l.Payload.Error.Info) == `"usage_limit_exceeded"`
			text = l.Payload.Error.Message
		case "token_count":
			if w := windowsOf(l); len(w) > 0 {
				windows = w
			}
		}
	}
	if !ended {
		return said
	}
	limit := cw.Limit{Kind: "usage_limit", Text: text}
	if said != nil {
		limit = *said
	}
	if w := chooseWindow(windows, limit.Until); w != nil {
		until := time.Unix(w.ResetsAt, 0).UTC()
		limit.Until, limit.Kind = &until, windowKind(w.WindowMinutes, limit.Kind)
	}
	return &limit
}

func windowsOf(l rolloutLine) []rolloutWindow {
	var out []rolloutWindow
	for _, w := range []*rolloutWindow{l.Payload.RateLimits.Primary, l.Payload.RateLimits.Secondary} {
		if w != nil && w.ResetsAt > 0 {
			out = append(out, *w)
		}
	}
	return out
}

// chooseWindow gives the window whose limit was hit: of those that are used up
// the one that lasts longest. The last count may be older than the limit: then
// it is the one that ends at the minute that the output told, in whatever zone,
// and without such a word the fullest.
func chooseWindow(windows []rolloutWindow, told *time.Time) *rolloutWindow {
	var best *rolloutWindow
	for i, w := range windows {
		if w.UsedPercent >= 100 && (best == nil || w.ResetsAt > best.ResetsAt) {
			best = &windows[i]
		}
	}
	if best != nil {
		return best
	}
	for i, w := range windows {
		switch {
		case told != nil && sameMinute(w.ResetsAt, *told):
			return &windows[i]
		case told == nil && (best == nil || w.UsedPercent > best.UsedPercent):
			best = &windows[i]
		}
	}
	return best
}

// sameMinute tells whether two moments show the same minute on some clock of
// the world: zones differ by quarters of an hour.
func sameMinute(seconds int64, told time.Time) bool {
	const quarter = 15 * 60
	return (seconds/60*60-told.Unix()/60*60)%quarter == 0
}

// windowKind names a window as other CLIs do.
func windowKind(minutes int, otherwise string) string {
	switch minutes {
	case 5 * 60:
		return "five_hour"
	case 7 * 24 * 60:
		return "seven_day"
	}
	return otherwise
}
