package providers

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func codexPreset(t testing.TB) Preset {
	t.Helper()
	registry, _ := Load("")
	p, err := registry.Get("codex")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCodexCommand holds the command lines that were seen working.
func TestCodexCommand(t *testing.T) {
	t.Parallel()
	p := codexPreset(t)
	const start = "/bin/codex exec --json -c analytics.enabled=false --skip-git-repo-check -c allow_login_shell=false "
	const bypass = "--dangerously-bypass-approvals-and-sandbox"
	tests := []struct {
		name   string
		in     Invocation
		resume bool
		want   string
	}{
		{name: "spawn", want: start + bypass + " -"},
		{name: "a model", in: Invocation{Model: "gpt-x"}, want: start + bypass + " --model gpt-x -"},
		{name: "resume", in: Invocation{SessionID: aSession}, resume: true, want: start + bypass + " resume " + aSession + " -"},
		{
			name: "a sandbox", in: Invocation{Sandbox: true, WritableDirs: []string{"/m/a", "/m/{{model}}"}},
			want: start + "--sandbox workspace-write --add-dir /m/a --add-dir /m/{{model}} -c sandbox_workspace_write.network_access=true -",
		},
		{
			name: "resume in a sandbox without a project", in: Invocation{Sandbox: true, SessionID: aSession}, resume: true,
			want: start + "--sandbox workspace-write -c sandbox_workspace_write.network_access=true resume " + aSession + " -",
		},
		{
			name: "with cw's tools", in: Invocation{Socket: `/s"k`, CW: `/o p"t/cw`},
			want: start + bypass + ` -c mcp_servers.cw.command="/o p\"t/cw" -c mcp_servers.cw.args=["mcp","--socket","/s\"k"] -c mcp_servers.cw.default_tools_approval_mode="approve" -`,
		},
	}
	for _, tt := range tests {
		tt.in.Binary = "/bin/codex"
		make := p.Spawn
		if tt.resume {
			make = p.Resume
		}
		c, err := make(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, strings.Join(c.Argv, " ")); diff != "" || !c.PromptOnStdin || len(c.Env) > 0 {
			t.Errorf("%s: stdin %t, env %v\n%s", tt.name, c.PromptOnStdin, c.Env, diff)
		}
	}
	if id := p.NewSessionID(); id != "" {
		t.Errorf("a session was chosen: %s", id)
	}
	if _, err := p.Resume(Invocation{Binary: "/bin/codex"}); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("resume of nothing: %v", err)
	}
}

// TestNoSandbox: a provider without one never runs as if it had one.
func TestNoSandbox(t *testing.T) {
	t.Parallel()
	_, err := claudePreset(t).Spawn(Invocation{Binary: "/bin/claude", SessionID: aSession, Sandbox: true})
	if cw.ErrorCode(err) != cw.CodeInvalid || cw.ErrorHint(err) == "" {
		t.Errorf("%v, hint %q", err, cw.ErrorHint(err))
	}
	if claudePreset(t).CanSandbox() || !codexPreset(t).CanSandbox() {
		t.Error("who has a sandbox is told wrong")
	}
}

// TestCodexEnv: its credentials pass, an outer codex's marks do not, and an
// account of cw's own keeps a person's key out.
func TestCodexEnv(t *testing.T) {
	t.Parallel()
	in := EnvInput{
		Preset: codexPreset(t), Home: "/home/ada",
		Caller: []string{"PATH=/bin", "CODEX_API_KEY=k", "OPENAI_BASE_URL=http://x", "CODEX_THREAD_ID=t", "CODEX_CI=1", "CODEX_SANDBOX_NETWORK_DISABLED=1", "OTHER=o"},
		Daemon: []string{"CODEX_HOME=/daemon"},
	}
	got := strings.Join(RunEnv(in), "\n")
	for name, want := range map[string]bool{
		"CODEX_API_KEY=k": true, "OPENAI_BASE_URL": false, "CODEX_THREAD_ID": false, "CODEX_CI": false, "CODEX_SANDBOX": false,
		"OTHER": false, "CODEX_HOME": false, // credentials come from one side as a set
	} {
		if strings.Contains(got, name) != want {
			t.Errorf("%s: %t, want %t\n%s", name, !want, want, got)
		}
	}
	in.Account = map[string]string{"CODEX_HOME": "/accounts/1"}
	if got := strings.Join(RunEnv(in), "\n"); strings.Contains(got, "CODEX_API_KEY") || !strings.Contains(got, "CODEX_HOME=/accounts/1") {
		t.Error(got)
	}
}

func TestConfigDir(t *testing.T) {
	t.Parallel()
	p := codexPreset(t)
	for env, want := range map[string]string{
		"CODEX_HOME=/c HOME=/h": "/c", "HOME=/h": "/h/.codex", "CODEX_HOME=relative HOME=/h": "/h/.codex", "CODEX_HOME= HOME=/h": "/h/.codex", "": "", "HOME=h": "",
	} {
		if got := p.ConfigDir(strings.Fields(env)); got != want {
			t.Errorf("%q: %q, want %q", env, got, want)
		}
	}
	if got := claudePreset(t).ConfigDir([]string{"HOME=/h"}); got != "/h/.claude" {
		t.Errorf("claude: %q", got)
	}
	if got := mustDecode(t, "name: x\ncommand: {names: [x]}\n").ConfigDir([]string{"HOME=/h"}); got != "" {
		t.Errorf("a preset without a directory: %q", got)
	}
}

func TestOwnUsage(t *testing.T) {
	t.Parallel()
	p := codexPreset(t)
	first := cw.Usage{InputTokens: 27971, OutputTokens: 58, CacheReadTokens: 10, CacheWriteTokens: 3, ReasoningTokens: 5}
	both := cw.Usage{InputTokens: 56609, OutputTokens: 90, CacheReadTokens: 30, CacheWriteTokens: 3, ReasoningTokens: 9}
	own := cw.Usage{InputTokens: 28638, OutputTokens: 32, CacheReadTokens: 20, ReasoningTokens: 4}
	if got := p.OwnUsage(both, first); got != own || own.Add(first) != both {
		t.Errorf("%+v", got)
	}
	if got := p.OwnUsage(first, both); got != first {
		t.Errorf("a session that began anew: %+v", got)
	}
	if got := p.OwnUsage(first, cw.Usage{}); got != first {
		t.Errorf("the first run: %+v", got)
	}
	if got := claudePreset(t).OwnUsage(both, first); got != both {
		t.Errorf("a count of the run: %+v", got)
	}
}

// Lines of a session's file, as 0.169.0 wrote them, shortened.
const (
	fullWindow   = `{"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{"primary":{"used_percent":100.0,"window_minutes":300,"resets_at":1795293050},"secondary":{"used_percent":80,"window_minutes":10080,"resets_at":1795793050}}}}`
	bothFull     = `{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":100.0,"window_minutes":300,"resets_at":1795293050},"secondary":{"used_percent":100,"window_minutes":10080,"resets_at":1795793050}}}}`
	openWindow   = `{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":42.5,"window_minutes":300,"resets_at":1795293050},"secondary":{"used_percent":7,"window_minutes":10080,"resets_at":1795793000}}}}`
	noWindow     = `{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":null,"secondary":null}}}`
	limitEnd     = `{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,"error":{"message":"You’ve hit your usage limit.","codex_error_info":"usage_limit_exceeded"}}}`
	goodEnd      = `{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"x","error":null}}`
	overloadEnd  = `{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"x","codex_error_info":{"server_overloaded":{}}}}}`
	saysALimit   = `{"type":"response_item","payload":{"type":"task_complete","error":{"codex_error_info":"usage_limit_exceeded"}}}`
	primaryReset = 1795293050 // 2026-11-21 20:30:50 UTC
	weekReset    = 1795793050
)

func TestRolloutLimit(t *testing.T) {
	t.Parallel()
	told := time.Date(2026, 11, 21, 18, 30, 0, 0, time.UTC) // 8:30 PM in a zone two hours east
	other := time.Date(2026, 11, 21, 5, 17, 0, 0, time.UTC)
	tests := []struct {
		name  string
		lines []string
		said  *cw.Limit
		until int64 // 0: nothing is known
		kind  string
		none  bool
	}{
		{name: "a full window", lines: []string{fullWindow, limitEnd}, until: primaryReset, kind: "five_hour"},
		{name: "it beats the words", lines: []string{fullWindow, limitEnd}, said: &cw.Limit{Kind: "usage_limit", Text: "words", Until: &other}, until: primaryReset, kind: "five_hour"},
		{name: "two full windows: the longer", lines: []string{bothFull, limitEnd}, until: weekReset, kind: "seven_day"},
		{name: "an empty count after it", lines: []string{fullWindow, noWindow, limitEnd}, until: primaryReset, kind: "five_hour"},
		{name: "an older count of the minute that is told, in another zone", lines: []string{openWindow, limitEnd}, said: &cw.Limit{Until: &told}, until: primaryReset, kind: "five_hour"},
		{name: "an older count of another minute", lines: []string{openWindow, limitEnd}, said: &cw.Limit{Until: &other}, until: other.Unix()},
		{name: "an older count and no word", lines: []string{openWindow, limitEnd}, until: primaryReset, kind: "five_hour"},
		{name: "no window", lines: []string{noWindow, limitEnd}, kind: "usage_limit"},
		{name: "a good end", lines: []string{fullWindow, goodEnd}, none: true},
		{name: "a good end after a limit", lines: []string{fullWindow, limitEnd, goodEnd}, none: true},
		{name: "another error", lines: []string{fullWindow, overloadEnd}, none: true},
		{name: "what the model quotes is no end", lines: []string{fullWindow, saysALimit}, none: true},
		{name: "cut lines, odd lines", lines: []string{fullWindow[30:], "", "null", `{"type":"event_msg","payload":5}`, `{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"resets_at":-1}}}}`, limitEnd}, kind: "usage_limit"},
		{name: "nothing", none: true},
	}
	for _, tt := range tests {
		got := codexRolloutLimit([]byte(strings.Join(tt.lines, "\n")), tt.said)
		if tt.none {
			if got != tt.said {
				t.Errorf("%s: %+v", tt.name, got)
			}
			continue
		}
		if got == nil || got.Kind != tt.kind || (got.Until == nil) != (tt.until == 0) || got.Until != nil && got.Until.Unix() != tt.until {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if tt.said != nil && got != nil && got.Text != tt.said.Text {
			t.Errorf("%s: text %q", tt.name, got.Text)
		}
	}
}

// TestRolloutFile: only a plain file of the session itself is read, and only
// its end.
func TestRolloutFile(t *testing.T) {
	t.Parallel()
	p := codexPreset(t)
	home := filepath.Join(t.TempDir(), "odd[1]*")
	dir := filepath.Join(home, "sessions", "2026", "11", "21")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fullWindow + "\n" + limitEnd + "\n"
	file := func(id string) string { return filepath.Join(dir, "rollout-2026-11-21T19-30-50-"+id+".jsonl") }
	put := func(id, text string) {
		if err := os.WriteFile(file(id), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("good", text)
	put("long", strings.Repeat("x", rolloutTail)+"\n"+text)
	put("early", text+strings.Repeat("x", rolloutTail)+"\n")
	if err := os.Symlink(file("good"), file("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	said := &cw.Limit{Text: "said"}
	for _, tt := range []struct {
		home, id   string
		found, bad bool
	}{
		{home, "good", true, false},
		{home, "long", true, false},
		{home, "early", false, false},
		{home, "link", false, true},
		{home, "pipe", false, true},
		{home, "folder", false, true},
		{home, "none", false, true},
		{home, "*", false, false}, // no id: nothing is looked for
		{home, "../21/good", false, false},
		{home, "", false, false},
		{"", "good", false, false},
	} {
		got, err := p.RolloutLimit(tt.home, tt.id, said)
		if (err != nil) != tt.bad || (got != said) != tt.found || tt.found && got.Until.Unix() != primaryReset {
			t.Errorf("%q: %+v, %v", tt.id, got, err)
		}
		if odd := tt.id == "pipe" || tt.id == "folder"; odd && !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%q: %v", tt.id, err)
		}
	}
	if got, err := claudePreset(t).RolloutLimit(home, "good", said); got != said || err != nil {
		t.Errorf("a provider without such files: %+v, %v", got, err)
	}
}

// FuzzRollout: no file takes the program down, and what it says of a limit is
// whole.
func FuzzRollout(f *testing.F) {
	for _, line := range []string{fullWindow, bothFull, openWindow, noWindow, limitEnd, goodEnd, overloadEnd, saysALimit} {
		f.Add([]byte(line + "\n" + limitEnd))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if limit := codexRolloutLimit(data, nil); limit != nil && (limit.Kind == "" || limit.Until != nil && limit.Until.Unix() <= 0) {
			t.Errorf("%+v", limit)
		}
	})
}

// TestCodexPatterns holds the texts that were seen, and those that must not be
// taken for a limit.
func TestCodexPatterns(t *testing.T) {
	t.Parallel()
	p := codexPreset(t)
	for text, want := range map[string]string{
		"You’ve hit your usage limit. Upgrade to Pro":                                            cw.BucketLimit,
		"You've hit your usage limit.":                                                           cw.BucketLimit,
		"Quota exceeded. Check your plan and billing details.":                                   cw.BucketLimit,
		"exceeded retry limit, last status: 429 Too Many Requests":                               cw.BucketTransient,
		"Selected model is at capacity. Please try a different model.":                           cw.BucketTransient,
		"stream disconnected before completion: stream closed":                                   cw.BucketTransient,
		"unexpected status 401 Unauthorized: Incorrect API key provided: dummy., url: http://x/": cw.BucketAuth,
		"unexpected status 502 Bad Gateway":                                                      cw.BucketTransient,
		"Missing environment variable: `MOCK_KEY`.":                                              cw.BucketAuth,
		"Codex ran out of room in the model's context window. Start a new thread":                "",
		"thread/resume failed: no rollout found for thread id x":                                 "",
	} {
		if got := p.compiled.errors.Bucket(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if gone := p.SessionGone(text); gone != strings.Contains(text, "no rollout") {
			t.Errorf("%q: gone %t", text, gone)
		}
	}
	noise := "Reading prompt from stdin...\nWARNING: proceeding, even though we could not create PATH aliases\n" +
		"2026-11-21T19:30:12.395617Z ERROR codex_api::endpoint::responses_websocket: failed to connect to Responses WebSocket stage=Unknown\n"
	if limit, auth, gone := p.JudgeStderr([]byte(noise), time.Now()); limit != nil || auth || gone {
		t.Errorf("noise of every run: %+v, %t, %t", limit, auth, gone)
	}
	if version, err := p.CheckVersion("codex-cli 0.169.0\n"); version != "0.169.0" || err != nil {
		t.Errorf("%q, %v", version, err)
	}
}

func TestBadRollout(t *testing.T) {
	t.Parallel()
	const good = "name: x\ncommand: {names: [a]}\n"
	for text, says := range map[string]string{
		good + "rollout: {files: a, format: x}\n":                                                "rollout.format",
		good + "rollout: {files: '/a/{{sessionId}}', format: codex}\n":                           "not below",
		good + "rollout: {files: '../{{sessionId}}', format: codex}\n":                           "not below",
		good + "rollout: {files: 'a', format: codex}\n":                                          "does not name",
		good + "rollout: {files: 'a/{{sessionId}}', format: codex}\n":                            "account.configDir",
		good + "account: {configHome: ../x}\n":                                                   "account.configHome",
		good + "usage: week\n":                                                                   "run, session",
		good + "patience: {retrying: -1s}\n":                                                     "negative",
		good + "rollout: {files: 'a/{{sessionId}}', format: codex}\naccount: {configHome: .x}\n": "",
	} {
		_, problem := decodePreset([]byte(text), func(string) []byte { return nil })
		if (problem != nil) != (says != "") || problem != nil && !strings.Contains(problem.Message, says) {
			t.Errorf("%s: %v, want %q", text, problem, says)
		}
	}
}
