package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"cw/internal/cw"
)

// presets puts providers of all kinds in.
func presets(b *bench) {
	none := []string{}
	claude := cw.ProviderView{
		Name: "claude", Title: "Claude Code", Aliases: none, Origin: cw.OriginEmbedded, Changes: none,
		Installed: true, Command: "/usr/bin/claude", Version: "2.1.197", Minimum: "2.0.0", Install: "npm install -g claude",
		SpawnArgv:  []string{"/usr/bin/claude", "-p", "--session-id", "{{sessionId}}", "--settings", "{{runDir}}/a b.json"},
		ResumeArgv: []string{"/usr/bin/claude", "-p", "--resume", "{{sessionId}}"}, EnvNames: []string{"IS_SANDBOX"},
		Accounts: "claude", AccountEnv: []string{"ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR"},
		Resume: "flag", BoundTo: "repo", SessionID: "uuid", Prompt: "stdin", Parser: "claude", Structured: true, Signal: "agent",
		Driver: "native", MCP: "flag", Silence: 5 * time.Minute, ToolSilence: time.Hour, StopSignal: "TERM", StopGrace: 10 * time.Second,
		ProviderRuns: cw.ProviderRuns{Runs: 12, UnknownLines: 3}, Traps: []string{"exit code 0\nproves nothing", "it waits"},
	}
	careful := claude
	careful.Name, careful.Title, careful.Origin = "careful", "Careful", "/home/lead/.cw/providers/careful.yaml"
	careful.Overrides, careful.Changes = "claude", []string{"autoApproveArgs", "patience.silence"}
	careful.Trouble, careful.ProviderRuns, careful.Traps = careful.Origin+":5:3: unknown key \"silnce\"; did you mean \"silence\"?\x1b[31m", cw.ProviderRuns{}, none
	aider := cw.ProviderView{
		Name: "aider", Title: "aider", Aliases: []string{"aid"}, Origin: cw.OriginEmbedded, Changes: none, Install: "pip install aider",
		SpawnArgv: []string{"aider", "--message-file", "{{promptFile}}"}, ResumeArgv: none, EnvNames: none, AccountEnv: none,
		Resume: "none", BoundTo: "none", SessionID: "none", Prompt: "flag", Parser: "lines", Signal: "derived", Driver: "native", MCP: "none",
		Silence: 90 * time.Second, ToolSilence: 90 * time.Minute, Retrying: 30 * time.Minute, StopSignal: "INT", StopGrace: 70 * time.Second, Traps: none,
	}
	broken := cw.ProviderView{
		Name: "broken", Title: "broken", Aliases: none, Origin: "/home/lead/.cw/providers/broken.yaml", Changes: none,
		SpawnArgv: none, ResumeArgv: none, EnvNames: none, AccountEnv: none, Traps: none,
		Trouble: "/home/lead/.cw/providers/broken.yaml:1:1: name is missing",
	}
	b.fake.providers = []cw.ProviderView{aider, broken, careful, claude}
}

func TestProvider(t *testing.T) {
	t.Parallel()
	sessions(t, "provider", []sessionCase{
		{"list", []string{"provider", "list"}, presets, 0},
		{"list logged out", []string{"provider", "list"}, func(b *bench) {
			presets(b)
			b.fake.providers = b.fake.providers[3:]
			b.fake.providers[0].NotLoggedIn = "Claude Code is not logged in: log in: claude auth login"
		}, 0},
		{"list json", []string{"provider", "list", "--json"}, func(b *bench) { presets(b); b.fake.providers = b.fake.providers[3:] }, 0},
		{"list argument", []string{"provider", "list", "claude"}, presets, 2},
		{"show", []string{"provider", "show", "claude"}, presets, 0},
		{"show changed", []string{"provider", "show", "careful"}, presets, 0},
		{"show not installed", []string{"provider", "show", "aider"}, presets, 0},
		{"show broken", []string{"provider", "show", "broken"}, presets, 0},
		{"show unknown", []string{"provider", "show", "nobody"}, presets, 3},
		{"show json", []string{"provider", "show", "aider", "--json"}, presets, 0},
		{"test none", []string{"provider", "test"}, presets, 2},
		{"test no time", []string{"provider", "test", "claude", "--timeout", "-1s"}, presets, 2},
		{"test inside", []string{"provider", "test", "claude"}, func(b *bench) { b.env["CW_RUN"] = "r" }, 4},
	})
}

// TestProviderPath: what is installed is looked for where the caller would.
func TestProviderPath(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	presets(b)
	b.execute(t.Context(), []string{"provider", "list"})
	b.execute(t.Context(), []string{"provider", "show", "claude"})
	if want := []string{"/bin:/usr/bin", "/bin:/usr/bin"}; !slices.Equal(b.fake.lookedOn, want) {
		t.Errorf("looked on %q", b.fake.lookedOn)
	}
}

func TestProviderTryOptions(t *testing.T) {
	t.Parallel()
	got, err := parsed(t, []string{"claude", "--model", "small", "--timeout", "3m", "--keep", "--script", "./x"},
		func(a *app, f func(context.Context, *providerTryOptions) error) runner {
			return newProviderTryCmd(a, f)
		})
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &providerTryOptions{name: "claude", model: "small", timeout: 3 * time.Minute, keep: true, script: "./x"}, got)
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "", 30 * time.Second: "30s", 70 * time.Second: "1m10s", 5 * time.Minute: "5m", time.Hour: "1h", 90 * time.Minute: "1h30m",
		10 * time.Minute: "10m", 10 * time.Hour: "10h", 20 * time.Second: "20s", 100 * time.Millisecond: "100ms",
	} {
		if got := span(d); got != want {
			t.Errorf("%v is %q, want %q", int64(d), got, want)
		}
	}
}
