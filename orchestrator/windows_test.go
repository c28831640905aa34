package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// TestSessionWindows: what only the session's own file tells of the account's
// windows is kept at the end of a run.
func TestSessionWindows(t *testing.T) {
	t.Parallel()
	resets := time.Now().Add(time.Hour).Unix()
	home := t.TempDir()
	dir := filepath.Join(home, "sessions/2026/11/21")
	must(t, os.MkdirAll(dir, 0o700))
	line := fmt.Sprintf(`{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":97,"window_minutes":300,"resets_at":%d}}}}`, resets) + "\n"
	must(t, os.WriteFile(filepath.Join(dir, "rollout-2026-11-21T04-00-00-01a1fc50-b108-7b23-9761-61068029ed4a.jsonl"), []byte(line), 0o600))
	e := newEngine(t, func(c *Config) { c.Environ = append(os.Environ(), "CODEX_HOME="+home) })
	e.fakeCodex("account: {configDir: [CODEX_HOME]}\nrollout: {format: codex, files: \"sessions/*/*/*/rollout-*-{{sessionId}}.jsonl\"}\n")
	req := e.request(fakecli.Script{Raw: codexBegins + codexSays, Signal: done})
	req.Provider = "fakecodex"
	v := e.rest(e.mustSpawn(req).Alias)
	a := e.accountByID("default-fakecodex")
	if v.Status != cw.StatusIdle || len(a.Usage) != 1 || a.Usage[0].Kind != "five_hour" || a.Usage[0].UsedPercent != 97 || a.Usage[0].ResetsAt.Unix() != resets {
		t.Errorf("%s, %+v", v.Status, a.Usage)
	}
}

// TestNewWindows: what was stored a moment ago is not stored again.
func TestNewWindows(t *testing.T) {
	t.Parallel()
	now := time.Now()
	reset, other := now.Add(time.Hour), now.Add(2*time.Hour)
	known := cw.Account{UsageAt: &now, Usage: []cw.UsageWindow{{Kind: "five_hour", UsedPercent: 20, ResetsAt: &reset}, {Kind: "quota", UsedPercent: 1}}}
	same := reset.UTC()
	for name, c := range map[string]struct {
		a    cw.Account
		told cw.UsageWindow
		at   time.Duration
		want bool
	}{
		"nothing was known": {cw.Account{}, cw.UsageWindow{Kind: "quota"}, 0, true},
		"the same":          {known, cw.UsageWindow{Kind: "five_hour", UsedPercent: 20, ResetsAt: &same}, time.Second, false},
		"without an end":    {known, cw.UsageWindow{Kind: "quota", UsedPercent: 1}, time.Second, false},
		"later":             {known, cw.UsageWindow{Kind: "quota", UsedPercent: 1}, windowsEvery, true},
		"more":              {known, cw.UsageWindow{Kind: "quota", UsedPercent: 2}, time.Second, true},
		"another end":       {known, cw.UsageWindow{Kind: "five_hour", UsedPercent: 20, ResetsAt: &other}, time.Second, true},
		"another window":    {known, cw.UsageWindow{Kind: "seven_day", UsedPercent: 20}, time.Second, true},
	} {
		if got := newWindows(c.a, []cw.UsageWindow{c.told}, now.Add(c.at)); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestOutOfService: why an account cannot be had any more is said of it, and not
// of all.
func TestOutOfService(t *testing.T) {
	t.Parallel()
	at := time.Now()
	for want, a := range map[string]cw.Account{
		"the account work is disabled":            {Name: "work"},
		"the account work is removed":             {Name: "work", RemovedAt: &at, Invalid: "x"},
		"the account work is about to be removed": {Name: "work", Enabled: true, Draining: true},
		"the account work is not usable: revoked": {Name: "work", Enabled: true, Invalid: "revoked"},
	} {
		if got := outOfService(a).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
