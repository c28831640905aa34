package providers

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rendered is what a preset makes of an invocation, written by hand. The argv
// are those with which the real programs were seen to work (docs/providers.md
// says which were run).
type rendered struct {
	spawn, resume string // the arguments, "" for a provider that cannot resume
	model, mcp    string // what a model and a file with MCP servers add
	env           []string
	stdin         bool
}

// golden has every embedded preset but claude, codex and script, which have
// tables of their own.
var golden = map[string]rendered{
	"claude-code": {
		spawn:  "-p --input-format stream-json --output-format stream-json --verbose --dangerously-skip-permissions --session-id SID",
		resume: "-p --input-format stream-json --output-format stream-json --verbose --dangerously-skip-permissions --resume SID",
		model:  "--model M", mcp: "--mcp-config /r/mcp.json", env: []string{"CLAUDE_ENV_FILE=/r/shell.sh"},
	},
	"opencode": {
		spawn:  "run --format json --auto",
		resume: "run --format json --auto --session SID --dir /w",
		model:  "--model M", env: []string{"OPENCODE_DISABLE_AUTOUPDATE=true"}, stdin: true,
	},
	"gemini": {
		spawn:  "--output-format stream-json --yolo --session-id SID",
		resume: "--output-format stream-json --yolo --resume SID",
		model:  "--model M", env: []string{"GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_CLI_TRUST_WORKSPACE=true"}, stdin: true,
	},
	"qwen": {
		spawn:  "--output-format stream-json --yolo --session-id SID",
		resume: "--output-format stream-json --yolo --resume SID",
		model:  "--model M", mcp: "--mcp-config /r/mcp.json", env: []string{"QWEN_CODE_SUPPRESS_YOLO_WARNING=1"}, stdin: true,
	},
	"copilot": {
		spawn:  "--output-format json --no-ask-user --allow-all --session-id=SID",
		resume: "--output-format json --no-ask-user --allow-all --resume=SID",
		model:  "--model M", mcp: "--additional-mcp-config @/r/mcp.json", env: []string{"COPILOT_AUTO_UPDATE=false"}, stdin: true,
	},
	"cline": {
		spawn:  "acp --cwd=/w -- /bin/cli --acp --auto-approve true",
		resume: "acp --cwd=/w --resume=SID -- /bin/cli --acp --auto-approve true",
		model:  "--model=M", env: []string{"CLINE_SESSION_BACKEND_MODE=local"}, stdin: true,
	},
	"continue": {
		spawn: "-p --auto --prompt /r/prompt.md Do what is written above.",
		env: []string{
			"CONTINUE_CLI_ENABLE_TELEMETRY=0", "CONTINUE_CLI_TEST_SESSION_ID=SID",
			"CONTINUE_METRICS_ENABLED=0", "CONTINUE_TELEMETRY_ENABLED=0",
		},
	},
	"amp": {
		spawn:  "--execute --stream-json --no-archive-after-execute",
		resume: "threads continue SID --execute --stream-json",
		model:  "--mode M", mcp: "--mcp-config /r/mcp.json", stdin: true,
	},
	"pi": {
		spawn:  "-p --mode json",
		resume: "-p --mode json --session SID",
		model:  "--model M", env: []string{"PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"}, stdin: true,
	},
	"cursor-agent": {
		spawn:  "-p --output-format stream-json --force --trust",
		resume: "-p --output-format stream-json --force --trust --resume SID",
		model:  "--model M", stdin: true,
	},
	"aider": {
		spawn: "--message-file /r/prompt.md --yes-always --no-check-update --no-show-release-notes --no-analytics" +
			" --no-detect-urls --no-suggest-shell-commands --no-gitignore --chat-history-file /r/aider.chat.md" +
			" --input-history-file /r/aider.input --no-stream --no-pretty",
		model: "--model M", env: []string{"COLUMNS=4096"},
	},
}

func TestPresetsRender(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	for _, p := range registry.All() {
		want, ok := golden[p.Name]
		if !ok {
			if !slices.Contains([]string{"claude", "codex", "script"}, p.Name) {
				t.Errorf("%s is in no table", p.Name)
			}
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			in := Invocation{
				Binary: "/bin/cli", SessionID: "SID", Prompt: "-do it", PromptFile: "/r/prompt.md",
				Cwd: "/w", RunDir: "/r", CW: "/cw", Root: false,
			}
			spawn := want.check(t, "spawn", p.Spawn, in, want.spawn)
			if want.resume == "" {
				if _, err := p.Resume(in); err == nil || p.CanResume() {
					t.Error("it resumes")
				}
			} else {
				want.check(t, "resume", p.Resume, in, want.resume)
			}
			more := in
			more.Model, more.MCPConfig = "M", "/r/mcp.json"
			with, err := p.Spawn(more)
			if err != nil {
				t.Fatal(err)
			}
			added := strings.Join(without(with.Argv, spawn), " ")
			if parts := strings.TrimSpace(want.model + " " + want.mcp); added != parts && p.MCP.Style != styleACP {
				t.Errorf("a model and servers add %q, want %q", added, parts)
			}
		})
	}
}

// check renders one command and compares it with what was written by hand.
func (r rendered) check(t *testing.T, what string, render func(Invocation) (Command, error), in Invocation, argv string) []string {
	t.Helper()
	got, err := render(in)
	if err != nil {
		t.Fatal(what, err)
	}
	if line := strings.Join(got.Argv[1:], " "); line != argv {
		t.Errorf("%s\ngot  %s\nwant %s", what, line, argv)
	}
	env := []string{}
	for name, value := range got.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	if diff := cmp.Diff(append([]string{}, r.env...), env); diff != "" {
		t.Errorf("%s: env -want +got:\n%s", what, diff)
	}
	if got.PromptOnStdin != r.stdin {
		t.Errorf("%s: prompt on stdin: %t", what, got.PromptOnStdin)
	}
	return got.Argv
}

// without gives the words of a list that are not in another.
func without(list, other []string) []string {
	rest := slices.Clone(other)
	var out []string
	for _, word := range list {
		if i := slices.Index(rest, word); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			continue
		}
		out = append(out, word)
	}
	return out
}

// accountsOf has, by hand, what reaches a run of an account of cw's own, beside
// the caller's key, which must not.
var accountsOf = map[string]struct{ of, key, token, baseURL, configDir, login string }{
	"claude":       {"claude", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR", "auth login"},
	"claude-code":  {"claude", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR", "auth login"},
	"codex":        {"codex", "CODEX_API_KEY", "", "", "CODEX_HOME", "login"},
	"opencode":     {"opencode", "OPENCODE_API_KEY", "", "", "XDG_DATA_HOME", "auth login"},
	"gemini":       {"gemini", "GEMINI_API_KEY", "", "GOOGLE_GEMINI_BASE_URL", "GEMINI_CLI_HOME", "--prompt-interactive /auth"},
	"qwen":         {"qwen", "OPENAI_API_KEY", "", "OPENAI_BASE_URL", "QWEN_HOME", "--prompt-interactive /auth"},
	"copilot":      {"copilot", "COPILOT_PROVIDER_API_KEY", "COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL", "COPILOT_HOME", "login"},
	"cline":        {"cline", "CLINE_API_KEY", "", "", "CLINE_DATA_DIR", "auth"},
	"continue":     {"continue", "ANTHROPIC_API_KEY", "", "", "CONTINUE_GLOBAL_DIR", ""},
	"amp":          {"amp", "AMP_API_KEY", "", "AMP_URL", "", "login"},
	"pi":           {"pi", "ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "", "PI_CODING_AGENT_DIR", ""},
	"cursor-agent": {"cursor-agent", "CURSOR_API_KEY", "", "", "", "login"},
	"aider":        {"aider", "ANTHROPIC_API_KEY", "", "ANTHROPIC_API_BASE", "", ""},
	"script":       {"script", "", "", "", "", ""},
}

func TestAccountsReachTheRun(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	for _, p := range registry.All() {
		want, ok := accountsOf[p.Name]
		if !ok {
			t.Errorf("%s is not in the table", p.Name)
			continue
		}
		a := p.Account
		got := struct{ of, key, token, baseURL, configDir, login string }{
			p.AccountsOf(), a.Key, a.Token, a.BaseURL, strings.Join(a.ConfigDir, " "), "",
		}
		for _, g := range a.Login {
			got.login = strings.TrimSpace(got.login + " " + strings.Join(g, " "))
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", p.Name, got, want)
		}
		caller := []string{"PATH=/bin"}
		for _, name := range a.names() {
			caller = append(caller, name+"=callers")
		}
		account := map[string]string{}
		if a.Key != "" {
			account[a.Key] = "accounts"
		}
		env := RunEnv(EnvInput{Preset: p, Caller: caller, Account: account})
		if text := strings.Join(env, "\n"); strings.Contains(text, "callers") || a.Key != "" && !slices.Contains(env, a.Key+"=accounts") {
			t.Errorf("%s: an account's run has\n%s", p.Name, text)
		}
		if text := strings.Join(RunEnv(EnvInput{Preset: p, Caller: caller}), "\n"); strings.Count(text, "callers") != len(a.names()) {
			t.Errorf("%s: the account default's run has\n%s", p.Name, text)
		}
	}
}

// TestConfigArgs: a CLI that takes its directory as an option.
func TestConfigArgs(t *testing.T) {
	t.Parallel()
	p := mustDecode(t, `{name: x, command: {names: [x]}, spawn: {args: [run, "{{configArgs}}"]}, account: {configArgs: [[--data-dir, "{{configDir}}"]]}}`)
	got, err := p.Spawn(Invocation{Binary: "/c", Cwd: "/w", ConfigDir: "/accounts/1"})
	if err != nil || !strings.HasSuffix(strings.Join(got.Argv, " "), "--data-dir /accounts/1") {
		t.Error(got.Argv, err)
	}
}

// TestStdinFile: the prompt of claude-code is one line of JSON, whatever is in it.
func TestStdinFile(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	p, _ := registry.Get("claude-code")
	path, text := p.StdinFile(Invocation{RunDir: "/r", Prompt: "say \"hi\"\n{{model}}"})
	want := `{"type":"user","message":{"role":"user","content":"say \"hi\"\n{{model}}"}}` + "\n"
	if path != "/r/stdin.jsonl" || text != want {
		t.Errorf("%s: %s", path, text)
	}
	if path, text := claudePreset(t).StdinFile(Invocation{RunDir: "/r", Prompt: "x"}); path+text != "" {
		t.Error("claude reads", path)
	}
}

// TestVersionsAreRead has what each program printed when it was asked.
func TestVersionsAreRead(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	for name, printed := range map[string][2]string{
		"claude":       {"2.1.197 (Claude Code)\n", "2.1.197"},
		"codex":        {"codex-cli 0.169.0\n", "0.169.0"},
		"opencode":     {"1.18.33\n", "1.18.33"},
		"gemini":       {"0.61.0\n", "0.61.0"},
		"qwen":         {"0.24.4\n", "0.24.4"},
		"copilot":      {"GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n", "1.0.102"},
		"cline":        {"3.0.65\n", "3.0.65"},
		"continue":     {"1.5.47\n", "1.5.47"},
		"pi":           {"0.73.1\n", "0.73.1"},
		"amp":          {"0.0.1790142911-g7618fb (released 2026-09-23T05:55:11.000Z, 1mo ago)\n", "0.0.1790142911"},
		"cursor-agent": {"2025.09.18-7ae6800\n", "2025.09.18"},
		"aider":        {"aider 0.86.1\n", "0.86.1"},
	} {
		p, err := registry.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.CheckVersion(printed[0]); got != printed[1] || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if _, err := p.CheckVersion("0.0.1\n"); name != "cursor-agent" && err == nil {
			t.Errorf("%s: 0.0.1 is new enough", name)
		}
	}
}

// TestPresetsAreWhole: what every provider of an installed CLI has to say.
func TestPresetsAreWhole(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	for _, p := range registry.All() {
		if p.Name == "script" {
			continue
		}
		if p.Command.Install == "" || p.compiled.version == nil || len(p.Traps) == 0 || len(p.Patterns.Auth) == 0 {
			t.Errorf("%s: no install line, version, trap or pattern", p.Name)
		}
		if p.Patience.Silence.Duration < time.Minute || p.Stop.Grace.Duration == 0 {
			t.Errorf("%s: patience %v, grace %v", p.Name, p.Patience.Silence, p.Stop.Grace)
		}
	}
}

// said is a text that a CLI printed, and what it is taken for. Where "read"
// stands, nobody here saw it: it is from the documentation.
type said struct{ provider, kind, text, source string }

// recorded has texts of error events and of stderr as they were recorded in
// runs against a scripted model server.
var recorded = []said{
	{"opencode", "limit", `"message":"You exceeded your current quota, please check your plan and billing details."`, "opencode-quota-long"},
	{"opencode", "limit", `"code":"insufficient_quota"`, "opencode-quota-long"},
	{"opencode", "auth", `"message":"Incorrect API key provided: sk-dummy."`, "opencode-401"},
	{"opencode", "auth", `"statusCode":401,"isRetryable":false`, "opencode-401"},
	{"opencode", "auth", `"code":"invalid_api_key"`, "opencode-401"},
	{"opencode", "overload", "Rate limit reached for mock-model in organization org-x on tokens per min (TPM).", "opencode-429"},
	{"opencode", "overload", "Unexpected server error. Check server logs for details.", "opencode-badmodel"},
	{"opencode", "sessionGone", "\x1b[91m\x1b[1mError: \x1b[0mSession not found", "opencode-resume-badid"},
	{"gemini", "limit", "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.", "gemini-quota"},
	{"gemini", "limit", "[API Error: Resource has been exhausted (e.g. check quota).]", "gemini-429-long"},
	{"gemini", "auth", `_ApiError: {"error":{"code":401,"message":"API key not valid. Please pass a valid API key.","status":"UNAUTHENTICATED"}}`, "gemini-401"},
	{"gemini", "auth", `"status":"UNAUTHENTICATED"`, "gemini-401"},
	{"gemini", "auth", "Invalid auth method selected.", "gemini-noauth"},
	{"gemini", "sessionGone", "Error resuming session: No previous sessions found for this project.", "gemini-resume-othercwd"},
	{"qwen", "limit", "Retrying in 60s (attempt 1/10): [API Error: 429 You exceeded your current quota, please check your plan and billing details.]", "qwen-quota-long"},
	{"qwen", "auth", "[API Error: 401 Incorrect API key provided: sk-dummy.]", "qwen-401"},
	{"qwen", "auth", "No auth type is selected. Please configure an auth type (e.g. via settings or `--auth-type`) before running in non-interactive mode.", "qwen-noauth"},
	{"qwen", "overload", "[API Error: 429 Rate limit reached for mock-model in organization org-x on tokens per min (TPM).]", "qwen-429"},
	{"qwen", "sessionGone", "No saved session found with ID 0c409708-00e6-4e0a-944f-ab55d923a8c8. Run `qwen --resume` without an ID to choose from existing sessions.", "qwen-resume-othercwd"},
	{"copilot", "limit", "Failed to get response from the AI model; retried 5 times (total retry wait time: 59.67 seconds) Last error: 429 You exceeded your current quota, please check your plan and billing details.", "copilot-quota-long"},
	{"copilot", "limit", `"errorType":"insufficient_quota"`, "copilot-quota"},
	{"copilot", "auth", "Authentication failed with provider at http://127.0.0.1:18080/s/401/v1 (HTTP 401).", "copilot-401"},
	{"copilot", "auth", "Error: No authentication information found.", "copilot-noauth"},
	{"copilot", "overload", "429 Rate limit reached for mock-model in organization org-x on tokens per min (TPM).", "copilot-429ra"},
	{"copilot", "overload", "Request failed due to a transient API error. Retrying...", "copilot-401"},
	{"copilot", "sessionGone", "Error: No session, task, or name matched '00000000-1111-4222-8333-444444444444'.", "copilot-resume-badid"},
	{"cline", "limit", "You exceeded your current quota, please check your plan and billing details.", "cline-quota-long"},
	{"cline", "auth", "Internal error: Incorrect API key provided: sk-dummy.", "cline-acp-err-401"},
	{"cline", "auth", "Authentication required", "the error -32000 of session/new"},
	{"cline", "overload", "Rate limit reached for mock-model in organization org-x on tokens per min (TPM).", "cline-429"},
	{"continue", "limit", `{"status":"error","message":"429 You exceeded your current quota, please check your plan and billing details."}`, "cn-quota-long"},
	{"continue", "auth", `{"status":"error","message":"401 Incorrect API key provided: sk-dummy."}`, "cn-401"},
	{"amp", "auth", "No API key found. Starting login flow...", "amp-noauth"},
	{"amp", "auth", "Error: API request for getUserInfo failed: 404", "amp-loopback"},
	{"amp", "limit", "You are out of credits", "read"},
	{"amp", "limit", "insufficient credits", "read"},
	{"pi", "limit", `"errorMessage":"429 You exceeded your current quota, please check your plan and billing details."`, "a run of 0.73.1"},
	{"pi", "auth", `"errorMessage":"401 Incorrect API key provided: sk-dummy."`, "a run of 0.73.1"},
	{"pi", "auth", "No API key found for the selected model.", "stderr of 0.73.1"},
	{"pi", "overload", `"finalError":"429 Rate limit reached for mock-model in organization org-x on tokens per min (TPM)."`, "a run of 0.73.1"},
	{"pi", "sessionGone", "No session found matching 'a2cbadda-52d3-4a5d-afd8-dd184f28153f'", "stderr of 0.73.1"},
	{"cursor-agent", "limit", "You've hit your usage limit", "read"},
	{"cursor-agent", "auth", "Error: Authentication required. Please run 'cursor-agent login' first, or set CURSOR_API_KEY environment variable.", "read"},
	{"cursor-agent", "auth", "Not logged in", "read"},
	{"aider", "overload", "litellm.RateLimitError: AnthropicException", "read"},
	{"aider", "limit", "Insufficient credits with the API provider. Please add credits.", "read"},
	{"aider", "limit", "OpenAIException - You exceeded your current quota, please check your plan and billing details.", "read"},
	{"aider", "limit", "AnthropicException - Your credit balance is too low to access the Anthropic API.", "read"},
	{"aider", "auth", "litellm.AuthenticationError: geminiException", "read"},
	{"aider", "auth", "No LLM model was specified and no API keys were provided.", "read"},
	{"aider", "overload", "litellm.InternalServerError: AnthropicException - Overloaded.", "read"},
}

// TestPatternsAreHit: a pattern that no text ever had is a guess, and a text
// that is taken for something else as well is a trap.
func TestPatternsAreHit(t *testing.T) {
	t.Parallel()
	registry, _ := Load("")
	own := []string{"claude", "claude-code", "codex", "script"} // with tests of their own
	for _, p := range registry.All() {
		if slices.Contains(own, p.Name) {
			continue
		}
		kinds := map[string][]*regexp.Regexp{
			"limit": p.compiled.errors.Limit, "auth": p.compiled.errors.Auth,
			"overload": p.compiled.errors.Overload, "sessionGone": p.compiled.sessionGone,
		}
		for kind, patterns := range kinds {
			for _, pattern := range patterns {
				hit := func(s said) bool { return s.provider == p.Name && s.kind == kind && pattern.MatchString(s.text) }
				if !slices.ContainsFunc(recorded, hit) {
					t.Errorf("%s: no text is hit by %s %q", p.Name, kind, pattern)
				}
			}
		}
		for _, s := range recorded {
			for kind, patterns := range kinds {
				if hit := firstMatch(patterns, s.text) != ""; s.provider == p.Name && hit != (kind == s.kind) {
					t.Errorf("%s: %q is taken for %s: %t, and it is %s", p.Name, s.text, kind, hit, s.kind)
				}
			}
		}
	}
}
