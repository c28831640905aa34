package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
	"cw/providers"
)

// Lines of codex.
const (
	codexBegins  = `{"type":"thread.started","thread_id":"01a1fc50-b108-7b23-9761-61068029ed4a"}` + "\n"
	codexRetries = `{"type":"error","message":"Reconnecting... waiting for network (no route to host)"}` + "\n"
	codexSays    = `{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"on"}}` + "\n"
	codexLimit   = `{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again at 5:15 AM."}}` + "\n"
)

// fakeCodex gives the engine a provider that runs the scripted CLI and reads it
// as codex, with more keys of the preset.
func (e *engine) fakeCodex(more string) {
	e.t.Helper()
	self, err := os.Executable()
	must(e.t, err)
	preset := strings.NewReplacer(
		"parser: lines", "parser: codex",
		"]\npromptMode", ", \"{{autoApproveArgs}}\"]\npromptMode", // the scripted CLI takes any
	).Replace(fakecli.Preset("fakecodex", self))
	must(e.t, os.WriteFile(filepath.Join(e.home.Providers(), "fakecodex.yaml"), []byte(preset+more), 0o600))
}

func TestTrouble(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	retry := cw.StreamEvent{Kind: cw.StreamRetry, Text: "r"}
	tests := []struct {
		name   string
		events []cw.StreamEvent // one a minute
		since  time.Time
	}{
		{"nothing", nil, time.Time{}},
		{"retries count from the first", []cw.StreamEvent{{Kind: cw.StreamInit}, retry, retry}, start.Add(time.Minute)},
		{"warnings beside them do not count", []cw.StreamEvent{retry, {Kind: cw.StreamWarning}, retry}, start},
		{"words end it", []cw.StreamEvent{retry, {Kind: cw.StreamText}}, time.Time{}},
		{"a tool ends it", []cw.StreamEvent{retry, {Kind: cw.StreamToolCall}}, time.Time{}},
		{"a result ends it", []cw.StreamEvent{retry, {Kind: cw.StreamResult}}, time.Time{}},
		{"it begins anew", []cw.StreamEvent{retry, {Kind: cw.StreamThinking}, retry}, start.Add(2 * time.Minute)},
	}
	for _, tt := range tests {
		var tr trouble
		for i, ev := range tt.events {
			tr = tr.after(ev, start.Add(time.Duration(i)*time.Minute))
		}
		if !tr.Since.Equal(tt.since) {
			t.Errorf("%s: since %v, want %v", tt.name, tr.Since, tt.since)
		}
		if tt.since.IsZero() && (!tr.deadline(time.Minute).IsZero() || tr.over(time.Minute, start.Add(time.Hour))) {
			t.Errorf("%s: it has a deadline", tt.name)
		}
	}
	tr := trouble{Since: start}
	for _, tt := range []struct {
		patience time.Duration
		at       time.Time
		want     bool
	}{
		{time.Minute, start.Add(time.Minute), true},
		{time.Minute, start.Add(time.Minute - 1), false},
		{0, start.Add(time.Hour), false},
	} {
		if got := tr.over(tt.patience, tt.at); got != tt.want {
			t.Errorf("patience %s at %s: over %t", tt.patience, tt.at.Sub(start), got)
		}
	}
}

// TestWaitsForTheNetworkInVain: a CLI that only tries again is ended whole, and
// its agent says what it waited for.
func TestWaitsForTheNetworkInVain(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.fakeCodex("patience:\n  retrying: 300ms\n")
	req := e.request(fakecli.Script{Raw: codexBegins + codexRetries + codexRetries, Child: true, Hang: true})
	req.Provider = "fakecodex"
	agent := e.mustSpawn(req)
	v := e.rest(agent.Alias)
	if v.Status != cw.StatusCrashed || v.Reason != cw.ReasonAgentError {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	for _, says := range []string{"300ms", "waiting for network (no route to host)", "login of fakecodex", "patience.retrying"} {
		if !strings.Contains(v.Error, says) {
			t.Errorf("%q is not in %q", says, v.Error)
		}
	}
	if v.Runs[0].StopRequested != "" {
		t.Errorf("a person asked for %q", v.Runs[0].StopRequested)
	}
	if left := lab.Processes(string(e.home)); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
	if v.SessionID != "01a1fc50-b108-7b23-9761-61068029ed4a" {
		t.Errorf("session %q", v.SessionID)
	}
}

// TestGaveUpText: a run that somebody ended in such a time was ended for it,
// also when another daemon than the one that ended it looks.
func TestGaveUpText(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	retries := trouble{Since: start, Text: "r"}
	limits := providers.Patience{Retrying: providers.Duration{Duration: time.Minute}}
	ended := func(after time.Duration, stopped string) proc.Observation {
		return proc.Observation{Exit: &proc.Exit{EndedAt: start.Add(after), Stopped: stopped}}
	}
	for _, tt := range []struct {
		name string
		f    *follower
		obs  proc.Observation
		want bool
	}{
		{"ended in time", &follower{trouble: retries, limits: limits}, ended(time.Minute, proc.StoppedTerm), true},
		{"ended by this daemon, whatever the clock says", &follower{trouble: retries, limits: limits, gaveUp: true}, ended(time.Second, proc.StoppedTerm), true},
		{"ended before that", &follower{trouble: retries, limits: limits}, ended(time.Second, proc.StoppedTerm), false},
		{"ended by itself", &follower{trouble: retries, limits: limits, gaveUp: true}, ended(time.Hour, ""), false},
		{"it went on", &follower{limits: limits, gaveUp: true}, ended(time.Hour, proc.StoppedTerm), false},
		{"for ever", &follower{trouble: retries}, ended(time.Hour, proc.StoppedTerm), false},
		{"no end is known", &follower{trouble: retries, limits: limits, gaveUp: true}, proc.Observation{}, false},
	} {
		tt.f.state.Agent.Provider = "codex"
		if got := tt.f.gaveUpText(tt.obs); (got != "") != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// TestNextDaemonEndsTheVainWait: the time counts from the first retry, also for
// a daemon that comes later.
func TestNextDaemonEndsTheVainWait(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.fakeCodex("patience:\n  retrying: 1h\n")
	req := e.request(fakecli.Script{Raw: codexBegins + codexRetries, Hang: true})
	req.Provider = "fakecodex"
	agent := e.mustSpawn(req)
	v := e.until(agent.Alias, func(v cw.AgentView) bool { return v.Activity != nil && v.Activity.Attempt > 0 })
	if a := v.Activity; a.State != cw.ActivityRetrying || a.Attempt != 1 || a.Bucket != cw.BucketTransient || a.NextRetry != nil {
		t.Errorf("activity %+v", a)
	}
	e.stopRun()
	e.fakeCodex("patience:\n  retrying: 1ms\n")
	e.boot()
	if v := e.rest(agent.Alias); v.Reason != cw.ReasonAgentError || !strings.Contains(v.Error, "only tried again") {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
}

// TestPatienceIsForRetriesOnly: what goes on is left alone, and who stops such a
// run is told as ever.
func TestPatienceIsForRetriesOnly(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.fakeCodex("patience:\n  retrying: 1ms\n")
	gate := filepath.Join(e.books, "gate")
	req := e.request(fakecli.Script{Raw: codexBegins + codexSays, Wait: gate, Signal: `{"status":"done","noChanges":"none"}`})
	req.Provider = "fakecodex"
	agent := e.mustSpawn(req)
	e.until(agent.Alias, func(v cw.AgentView) bool { return v.SessionID != "" })
	must(t, os.WriteFile(gate, nil, 0o600))
	if v := e.rest(agent.Alias); v.Status != cw.StatusIdle {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}

	e.fakeCodex("patience:\n  retrying: 0s\n")
	req = e.request(fakecli.Script{Raw: codexBegins + codexRetries, Hang: true})
	req.Provider = "fakecodex"
	agent = e.mustSpawn(req)
	e.until(agent.Alias, func(v cw.AgentView) bool { return v.Activity != nil && v.Activity.Attempt > 0 })
	v, err := e.Stop(t.Context(), agent.Alias, cw.StopRequest{})
	must(t, err)
	if v.Status != cw.StatusStopped || v.Reason != cw.ReasonUser {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
}

// TestSessionFileBeatsTheWords: the end of a usage limit stands to the second in
// the session's own file; without it the words count.
func TestSessionFileBeatsTheWords(t *testing.T) {
	t.Parallel()
	resets := time.Now().Add(3*time.Hour).Unix() + 7
	line := fmt.Sprintf(`{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":100.0,"window_minutes":300,"resets_at":%d}}}}`, resets) + "\n" +
		`{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"x","codex_error_info":"usage_limit_exceeded"}}}` + "\n"
	home := t.TempDir()
	dir := filepath.Join(home, "sessions/2026/11/21")
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "rollout-2026-11-21T04-00-00-01a1fc50-b108-7b23-9761-61068029ed4a.jsonl"), []byte(line), 0o600))
	const rollout = "patterns: {limit: [hit your usage limit]}\nusage: session\naccount: {configDir: [CODEX_HOME]}\nrollout: {format: codex, files: \"sessions/*/*/*/rollout-*-{{sessionId}}.jsonl\"}\n"
	for _, tt := range []struct {
		session string
		exact   bool
	}{
		{"01a1fc50-b108-7b23-9761-61068029ed4a", true},
		{"01a1fc50-b108-7b23-9761-000000000000", false},
	} {
		e := newEngine(t, func(c *Config) { c.Environ = append(os.Environ(), "CODEX_HOME="+home) })
		e.fakeCodex(rollout)
		req := e.request(fakecli.Script{Raw: strings.Replace(codexBegins, "01a1fc50-b108-7b23-9761-61068029ed4a", tt.session, 1) + codexLimit, Exit: 1})
		req.Provider = "fakecodex"
		v := e.until(e.mustSpawn(req).Alias, func(v cw.AgentView) bool { return v.Runs[0].EndedAt != nil })
		if v.Status != cw.StatusParked || v.Reason != cw.ReasonUsageLimit || v.RetryAt == nil || (v.RetryAt.Unix() == resets) != tt.exact {
			t.Errorf("%s: %s %s, again at %v", tt.session, v.Status, v.Reason, v.RetryAt)
		}
	}
}

// TestUsageBefore sums earlier sessions only.
func TestUsageBefore(t *testing.T) {
	t.Parallel()
	runs := []cw.Run{
		{SessionNumber: 1, Usage: cw.Usage{InputTokens: 1}}, {SessionNumber: 2, Usage: cw.Usage{InputTokens: 2}},
		{SessionNumber: 3, Usage: cw.Usage{InputTokens: 4}},
	}
	if got := usageBefore(runs, 3); got.InputTokens != 3 {
		t.Errorf("%+v", got)
	}
}
