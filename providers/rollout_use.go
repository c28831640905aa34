package providers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"cw/internal/cw"
	"cw/internal/safefile"
)

// RolloutWindows reads from the session's own file how far the usage windows of
// its account were used, as its last good answer told, and when that was; zero
// when the file does not tell when. There are none for a provider without such
// files, and for a session that got no answer.
func (p Preset) RolloutWindows(configDir, sessionID string) (windows []cw.UsageWindow, at time.Time, err error) {
	if p.Rollout.Files == "" || configDir == "" || !sessionIDPattern().MatchString(sessionID) {
		return nil, at, nil
	}
	file, err := p.rolloutFile(configDir, sessionID)
	if err != nil {
		return nil, at, err
	}
	tail, _, err := safefile.ReadTail(file, rolloutTail)
	if err != nil {
		return nil, at, fmt.Errorf("read the session's file: %w", err)
	}
	windows, at = codexRolloutWindows(tail)
	return windows, at, nil
}

// codexRolloutWindows is RolloutWindows for the end of codex's file, whose first
// line may be cut.
func codexRolloutWindows(tail []byte) (windows []cw.UsageWindow, at time.Time) {
	for line := range bytes.Lines(tail) {
		var l struct {
			Timestamp time.Time `json:"timestamp"`
			rolloutLine
		}
		if !bytes.Contains(line, []byte(`"token_count"`)) || json.Unmarshal(line, &l) != nil || l.Payload.Type != "token_count" {
			continue
		}
		told := windowsOf(l.rolloutLine)
		if len(told) == 0 {
			continue
		}
		windows, at = nil, l.Timestamp
		for _, w := range told {
			resets := time.Unix(w.ResetsAt, 0).UTC()
			windows = append(windows, cw.UsageWindow{Kind: windowKind(w.WindowMinutes, "quota"), UsedPercent: max(0, w.UsedPercent), ResetsAt: &resets})
		}
	}
	return windows, at
}
