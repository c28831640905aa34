package providers

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

const aSession = "11111111-1111-4111-8111-111111111111"

func mustDecode(t testing.TB, text string) Preset {
	t.Helper()
	p, problem := decodePreset([]byte(text), func(string) []byte { return nil })
	if problem != nil {
		t.Fatalf("%v in:\n%s", problem, text)
	}
	return p
}

// others are presets of other CLIs as they were seen: the format must carry
// them although they come later.
var others = map[string]string{
	"copilot": `
name: copilot
command: {names: [copilot], native: ["@github/copilot-linux-x64/copilot"]}
spawn: {args: [[-p, "{{prompt}}"], --output-format=json, --allow-all, "--session-id={{sessionId}}"], env: {COPILOT_AUTO_UPDATE: "false"}}
resume: {args: ["--resume={{sessionId}}", [-p, "{{prompt}}"], --output-format=json, --allow-all]}
promptMode: flag
resumeStyle: flag
sessionId: {choose: uuid, from: last-line}
account: {configDir: [COPILOT_HOME], token: COPILOT_GITHUB_TOKEN}
`,
	"opencode": `
name: opencode
command: {names: [opencode]}
spawn: {args: [run, --format, json, --auto, [-m, "{{model}}"]], env: {OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_CONFIG_CONTENT: '{"share":"disabled","model":{{json model}}}'}}
resume: {args: [run, --format, json, --auto, [--session, "{{sessionId}}"], [--dir, "{{cwd}}"]]}
promptMode: stdin
resumeStyle: flag
resumeBoundTo: cwd
sessionId: {from: every-line}
account: {configDir: [XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME]}
patience: {silence: 90s}
`,
	"gemini": `
name: gemini
command: {names: [gemini]}
spawn: {args: [-o, stream-json, --yolo, [--session-id, "{{sessionId}}"], [-m, "{{model}}"]], env: {GEMINI_CLI_NO_RELAUNCH: "true", GEMINI_CLI_TRUST_WORKSPACE: "true"}}
resume: {args: [-o, stream-json, --yolo, [--resume, "{{sessionId}}"]]}
promptMode: stdin
resumeStyle: flag
resumeBoundTo: cwd
sessionId: {choose: uuid, from: first-line}
account: {configDir: [GEMINI_CLI_HOME], key: GEMINI_API_KEY, baseUrl: GOOGLE_GEMINI_BASE_URL}
`,
	"cline": `
name: cline
command: {names: [cline]}
spawn: {args: [--json, "{{configArgs}}", --, "{{prompt}}"], env: {CLINE_SESSION_BACKEND_MODE: local}}
promptMode: arg
account: {configArgs: [[--data-dir, "{{configDir}}"]]}
mcp: {style: env, env: {CLINE_MCP_SETTINGS_PATH: "{{mcpConfig}}"}}
stop: {signal: INT, grace: 30s}
`,
	"aider": `
name: aider
command: {names: [aider]}
spawn: {args: [[--message-file, "{{promptFile}}"], --yes-always, --no-stream, --no-pretty, [--model, "{{model}}"]]}
promptMode: flag
resumeStyle: none
signal: derived
contextLimit: {tokens: 200000}
oneShot: [--message, x]
`,
}

func TestCommands(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	in := Invocation{
		Binary: "/bin/cli", SessionID: aSession, PromptFile: "/r/prompt.md", Prompt: "do it", Cwd: "/w", RunDir: "/r", CW: "/cw",
	}
	tests := []struct {
		provider string
		resume   bool
		change   func(*Invocation)
		argv     string
		env      map[string]string
		stdin    bool
		inArgv   bool
	}{
		{provider: "claude", argv: "/bin/cli -p --output-format stream-json --verbose --dangerously-skip-permissions --session-id " + aSession, env: map[string]string{"CLAUDE_ENV_FILE": "/r/shell.sh"}, stdin: true},
		{
			provider: "claude", change: func(in *Invocation) {
				in.Model, in.Root, in.MCPConfig, in.HookConfig = "sonnet", true, "/r/mcp.json", "/r/hooks.json"
			},
			argv: "/bin/cli -p --output-format stream-json --verbose --dangerously-skip-permissions --session-id " + aSession +
				" --model sonnet --mcp-config /r/mcp.json --settings /r/hooks.json",
			env: map[string]string{"IS_SANDBOX": "1", "CLAUDE_ENV_FILE": "/r/shell.sh"}, stdin: true,
		},
		{provider: "claude", resume: true, argv: "/bin/cli -p --output-format stream-json --verbose --dangerously-skip-permissions --resume " + aSession, env: map[string]string{"CLAUDE_ENV_FILE": "/r/shell.sh"}, stdin: true},
		{provider: "script", change: func(in *Invocation) { in.Script, in.Binary = "/s/x.sh", "" }, argv: "/s/x.sh", stdin: true},
		{provider: "copilot", argv: "/bin/cli -p do it --output-format=json --allow-all --session-id=" + aSession, env: map[string]string{"COPILOT_AUTO_UPDATE": "false"}, inArgv: true},
		{
			provider: "opencode", change: func(in *Invocation) { in.Model = `a"b` }, argv: `/bin/cli run --format json --auto -m a"b`,
			env:   map[string]string{"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_CONFIG_CONTENT": `{"share":"disabled","model":"a\"b"}`},
			stdin: true,
		},
		{provider: "opencode", argv: `/bin/cli run --format json --auto`, env: map[string]string{"OPENCODE_DISABLE_AUTOUPDATE": "1"}, stdin: true},
		{
			provider: "cline", change: func(in *Invocation) { in.Prompt, in.ConfigDir, in.MCPConfig = "-dash", "/acct", "/m.json" },
			argv: "/bin/cli --json --data-dir /acct -- -dash", inArgv: true,
			env: map[string]string{"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_MCP_SETTINGS_PATH": "/m.json"},
		},
		{provider: "aider", argv: "/bin/cli --message-file /r/prompt.md --yes-always --no-stream --no-pretty", inArgv: true},
	}
	for _, tt := range tests {
		t.Run(tt.provider, func(t *testing.T) {
			t.Parallel()
			p, err := registry.Get(tt.provider)
			if text, ok := others[tt.provider]; ok {
				p, err = mustDecode(t, text), nil
			}
			if err != nil {
				t.Fatal(err)
			}
			in := in
			if tt.change != nil {
				tt.change(&in)
			}
			make := p.Spawn
			if tt.resume {
				make = p.Resume
			}
			got, err := make(in)
			if err != nil {
				t.Fatal(err)
			}
			if line := strings.Join(got.Argv, " "); line != tt.argv {
				t.Errorf("argv\ngot  %s\nwant %s", line, tt.argv)
			}
			if tt.env == nil {
				tt.env = map[string]string{}
			}
			if diff := cmp.Diff(tt.env, got.Env); diff != "" {
				t.Errorf("env -want +got:\n%s", diff)
			}
			if got.PromptOnStdin != tt.stdin || got.PromptInArgv != tt.inArgv {
				t.Errorf("stdin %v, argv %v", got.PromptOnStdin, got.PromptInArgv)
			}
		})
	}
}

func TestCommandRefusals(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	tests := []struct {
		name     string
		provider string
		resume   bool
		in       Invocation
		code     cw.Code
		says     string
	}{
		{"a model that is an option", "claude", false, Invocation{Binary: "/c", SessionID: aSession, Model: "--dangerous"}, cw.CodeInvalid, "taken for an option"},
		{"a session that is an option", "claude", true, Invocation{Binary: "/c", SessionID: "-x"}, cw.CodeInvalid, "taken for an option"},
		{"a prompt that is an option", "copilot", false, Invocation{Binary: "/c", SessionID: aSession, Prompt: "-rf"}, cw.CodeInvalid, "taken for an option"},
		{"a zero byte", "claude", false, Invocation{Binary: "/c", SessionID: aSession, Model: "a\x00b"}, cw.CodeInvalid, "zero byte"},
		{"a prompt that is too long", "copilot", false, Invocation{Binary: "/c", SessionID: aSession, Prompt: strings.Repeat("x", 128<<10)}, cw.CodeInvalid, "131072 bytes"},
		{"no session id", "claude", false, Invocation{Binary: "/c"}, cw.CodeInternal, "no session id"},
		{"no session to resume", "claude", true, Invocation{Binary: "/c"}, cw.CodeRefused, "not known"},
		{"no resume", "script", true, Invocation{Script: "/s"}, cw.CodeRefused, "cannot resume"},
		{"no script", "script", false, Invocation{}, cw.CodeInvalid, "needs a script"},
		{"a relative script", "script", false, Invocation{Script: "./x.sh"}, cw.CodeInternal, "no absolute path"},
		{"a relative binary", "claude", false, Invocation{Binary: "claude", SessionID: aSession}, cw.CodeInternal, "no absolute path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := registry.Get(tt.provider)
			if text, ok := others[tt.provider]; ok {
				p, err = mustDecode(t, text), nil
			}
			if err != nil {
				t.Fatal(err)
			}
			make := p.Spawn
			if tt.resume {
				make = p.Resume
			}
			_, err = make(tt.in)
			if err == nil || cw.ErrorCode(err) != tt.code || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v (%s), want %s and %q", err, cw.ErrorCode(err), tt.code, tt.says)
			}
		})
	}
}

func TestNewSessionID(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	claude, _ := registry.Get("claude")
	script, _ := registry.Get("script")
	uuid4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	a, b := claude.NewSessionID(), claude.NewSessionID()
	if !uuid4.MatchString(a) || a == b {
		t.Errorf("claude: %q, %q", a, b)
	}
	if id := script.NewSessionID(); id != "" {
		t.Errorf("script: %q", id)
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	claude := claudePreset(t)
	tests := []struct {
		output, version string
		ok              bool
	}{
		{"2.1.197 (Claude Code)\n", "2.1.197", true},
		{"2.0.0\n", "2.0.0", true},
		{"10.0.0\n", "10.0.0", true},
		{"1.99.99 (Claude Code)", "1.99.99", false},
		{"", "", false},
		{"command not found", "", false},
	}
	for _, tt := range tests {
		version, err := claude.CheckVersion(tt.output)
		if version != tt.version || (err == nil) != tt.ok {
			t.Errorf("%q: %q, %v", tt.output, version, err)
		}
		if err != nil && (cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "npm install -g")) {
			t.Errorf("%q: code %s, hint %q", tt.output, cw.ErrorCode(err), cw.ErrorHint(err))
		}
	}
	script := mustDecode(t, "name: s\ncommand: {from: script}\n")
	if v, err := script.CheckVersion("anything"); v != "" || err != nil {
		t.Errorf("a preset without probe: %q, %v", v, err)
	}
}

func TestJudgeStderr(t *testing.T) {
	t.Parallel()
	claude := claudePreset(t)
	tests := []struct {
		stderr     string
		limit      string
		until      int64
		auth, gone bool
	}{
		{stderr: ""},
		{stderr: "some warning\n"},
		{stderr: "x\n  Claude AI usage limit reached|1795237769\ny", limit: "Claude AI usage limit reached|1795237769", until: 1795237769},
		{stderr: "Invalid API key · Please run /login\n", auth: true},
		{stderr: "usage limit reached, not logged in", limit: "usage limit reached, not logged in"},
		{stderr: "No conversation found with session ID: 9999\n", gone: true},
		{stderr: "npm ERR! 429 Too Many Requests: usage limit reached\nfatal: usage limit reached\n"},
		{stderr: "Error response from daemon: toomanyrequests: You have hit your pull rate limit.\n"},
		{stderr: "pip: usage limit reached\nremote: Invalid API key\ngh: not logged in\n"},
		{stderr: "Attempt 1 failed: usage limit reached. Retrying after 5173ms...\n"},
		{stderr: strings.Repeat("noise\n", 50000) + "Not logged in", auth: true},
		{stderr: "\xff\xfe usage limit reached \xff", limit: "\uFFFD usage limit reached \uFFFD"},
	}
	for _, tt := range tests {
		limit, auth, gone := claude.JudgeStderr([]byte(tt.stderr), time.Now())
		var text string
		var until int64
		if limit != nil {
			text = limit.Text
			if limit.Until != nil {
				until = limit.Until.Unix()
			}
		}
		if text != tt.limit || until != tt.until || auth != tt.auth || gone != tt.gone {
			t.Errorf("%.40q: %q %d %v %v", tt.stderr, text, until, auth, gone)
		}
	}
}
