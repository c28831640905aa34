package providers

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func claudePreset(t testing.TB) Preset {
	t.Helper()
	r, problems := Load("")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, err := r.Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gitNames are set for every run.
func gitNames() []string {
	return []string{
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=commit.gpgSign", "GIT_CONFIG_KEY_1=tag.gpgSign",
		"GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_VALUE_1=false", "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0",
	}
}

func TestRunEnv(t *testing.T) {
	t.Parallel()
	claude := claudePreset(t)
	tests := []struct {
		name string
		in   EnvInput
		want []string // beside gitNames
	}{
		{
			name: "nobody has anything",
			in:   EnvInput{},
			want: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		},
		{
			name: "the caller's own things",
			in: EnvInput{
				Caller: []string{
					"PATH=/a:/b", "LANG=de_DE.UTF-8", "LC_ALL=C", "TZ=UTC", "TERM=xterm", "TMPDIR=/t", "USER=u", "LOGNAME=u",
					"SHELL=/bin/sh", "SSH_AUTH_SOCK=/s", "HTTPS_PROXY=p", "no_proxy=n", "HOME=/wrong", "CANARY=leak",
				},
				Daemon: []string{"PATH=/d", "HTTP_PROXY=daemon", "SSH_AUTH_SOCK=/daemon", "CANARY=leak"},
				Home:   "/home/u", BinDir: "/cw/bin",
			},
			want: []string{
				"HOME=/home/u", "HTTPS_PROXY=p", "LANG=de_DE.UTF-8", "LC_ALL=C", "LOGNAME=u", "PATH=/cw/bin:/a:/b",
				"SHELL=/bin/sh", "SSH_AUTH_SOCK=/s", "TERM=xterm", "TMPDIR=/t", "TZ=UTC", "USER=u", "no_proxy=n",
			},
		},
		{
			name: "no caller: the daemon's",
			in:   EnvInput{Daemon: []string{"PATH=/d", "LANG=C"}, BinDir: "/cw"},
			want: []string{"LANG=C", "PATH=/cw:/d"},
		},
		{
			name: "a caller without PATH",
			in:   EnvInput{Caller: []string{"LANG=C"}, Daemon: []string{"PATH=/d"}},
			want: []string{"LANG=C", "PATH=/d"},
		},
		{
			name: "cw's directory stands once on PATH",
			in:   EnvInput{Caller: []string{"PATH=/a:/cw:/b"}, BinDir: "/cw"},
			want: []string{"PATH=/cw:/a:/b"},
		},
		{
			name: "account default: the daemon's credentials",
			in: EnvInput{
				Preset: claude, Caller: []string{"PATH=/a"},
				Daemon: []string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=u", "CLAUDE_CODE_MAX_RETRIES=0", "OPENAI_API_KEY=leak"},
			},
			want: []string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=u", "CLAUDE_CODE_MAX_RETRIES=0", "PATH=/a"},
		},
		{
			name: "account default: the caller's credentials win as a set",
			in: EnvInput{
				Preset: claude,
				Caller: []string{"PATH=/a", "ANTHROPIC_API_KEY=mine", "CLAUDE_CODE_MAX_RETRIES=1"},
				Daemon: []string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=elsewhere", "ANTHROPIC_MODEL=m", "CLAUDE_CODE_MAX_RETRIES=0"},
			},
			want: []string{"ANTHROPIC_API_KEY=mine", "ANTHROPIC_MODEL=m", "CLAUDE_CODE_MAX_RETRIES=1", "PATH=/a"},
		},
		{
			name: "an account of its own",
			in: EnvInput{
				Preset:  claude,
				Caller:  []string{"PATH=/a", "ANTHROPIC_API_KEY=leak", "ANTHROPIC_AUTH_TOKEN=leak", "CLAUDE_CODE_USE_BEDROCK=1", "AWS_SECRET_ACCESS_KEY=leak"},
				Daemon:  []string{"ANTHROPIC_BASE_URL=leak"},
				Account: map[string]string{"CLAUDE_CONFIG_DIR": "/acct"},
			},
			want: []string{"CLAUDE_CONFIG_DIR=/acct", "PATH=/a"},
		},
		{
			name: "another cloud's credentials only with its switch",
			in: EnvInput{
				Preset: claude,
				Caller: []string{"PATH=/a", "CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=eu", "GOOGLE_APPLICATION_CREDENTIALS=leak"},
			},
			want: []string{"AWS_REGION=eu", "CLAUDE_CODE_USE_BEDROCK=1", "PATH=/a"},
		},
		{
			name: "no switch, no credentials",
			in:   EnvInput{Preset: claude, Caller: []string{"PATH=/a", "AWS_SECRET_ACCESS_KEY=leak"}},
			want: []string{"PATH=/a"},
		},
		{
			name: "an outer agent's marks",
			in: EnvInput{
				Preset: claude,
				Caller: []string{
					"PATH=/a", "CW_TOKEN=outer", "CW_RUN=outer", "CW_HOME=outer", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s",
					"CLAUDE_CODE_ENTRYPOINT=cli", "CODEX_THREAD_ID=t", "GIT_DIR=/evil", "GIT_CONFIG_COUNT=9", "GIT_CONFIG_KEY_8=core.hooksPath",
				},
				CW: map[string]string{"CW_TOKEN": "mine", "CW_RUN": "r"},
			},
			want: []string{"CW_RUN=r", "CW_TOKEN=mine", "PATH=/a"},
		},
		{
			name: "a preset cannot pass what is stripped",
			in: EnvInput{
				Preset: Preset{Account: Account{PassEnv: []string{"CW_*", "GIT_DIR", "CLAUDECODE", "SECRET", "X_*"}}, EnvStrip: []string{"X_NO"}},
				Caller: []string{"PATH=/a", "CW_TOKEN=outer", "GIT_DIR=/evil", "CLAUDECODE=1", "SECRET=s", "X_YES=1", "X_NO=1"},
			},
			want: []string{"PATH=/a", "SECRET=s", "X_YES=1"},
		},
		{
			name: "the preset's own variables, and the last word of cw",
			in: EnvInput{
				Caller:  []string{"PATH=/a"},
				Command: map[string]string{"IS_SANDBOX": "1", "CW_TOKEN": "preset", "GIT_EDITOR": "vi"},
				CW:      map[string]string{"CW_TOKEN": "t"},
			},
			want: []string{"CW_TOKEN=t", "IS_SANDBOX=1", "PATH=/a"},
		},
		{
			name: "lines that are no variables",
			in:   EnvInput{Caller: []string{"PATH=/a", "=x", "LANG", "LANG=a", "LANG=b=c"}},
			want: []string{"LANG=b=c", "PATH=/a"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := slices.Sorted(slices.Values(append(gitNames(), tt.want...)))
			if diff := cmp.Diff(want, RunEnv(tt.in)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRunEnvLeaksNothing: whatever names are in the environments, a value gets
// through only under a name that a list allows.
func TestRunEnvLeaksNothing(t *testing.T) {
	t.Parallel()
	claude := claudePreset(t)
	allowed := append(callerNames(), claude.Account.names()...)
	allowed = append(allowed, claude.Account.PassEnv...)
	for _, names := range claude.Account.PassEnvWhen {
		allowed = append(allowed, names...)
	}
	pool := []string{
		"ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_VERTEX", "GOOGLE_CLOUD_PROJECT", "LC_TIME", "PATH", "CW_TOKEN", "CW_X",
		"GIT_SSH_COMMAND", "CLAUDECODE", "CODEX_SANDBOX_X", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "LD_PRELOAD", "HOME",
		"NODE_OPTIONS", "BASH_ENV", "CLAUDE_CODE_SESSION_ID", "ANTHROPIC_DEFAULT_OPUS_MODEL", "PYTHONPATH",
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom(pool), rapid.StringMatching(`[A-Z_]{1,12}`))
		env := rapid.SliceOf(rapid.Map(name, func(n string) string { return n + "=canary" }))
		in := EnvInput{Preset: claude, Caller: env.Draw(t, "caller"), Daemon: env.Draw(t, "daemon")}
		for _, item := range RunEnv(in) {
			n, value, _ := strings.Cut(item, "=")
			if value == "canary" && (!named(n, allowed) || named(n, strippedNames())) {
				t.Fatalf("%s got through", n)
			}
		}
	})
}

// TestFromCaller: the names of the user's own presets pass as well, and no
// preset can let through what belongs to cw, to git or to an outer agent.
func TestFromCaller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "name: mine\ncommand:\n  names: [mine]\nspawn:\n  args: [run]\naccount:\n  key: MINE_KEY\n  passEnv: [MINE_*, CW_*, GIT_DIR]\nenvStrip: [MINE_OUTER]\n"
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, problems := Load(dir)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := map[string]string{"PATH": "/a", "MINE_KEY": "k", "MINE_REGION": "r", "CODEX_HOME": "/c"}
	caller := maps.Clone(want)
	for _, name := range []string{"MINE_OUTER", "CW_TOKEN", "GIT_DIR", "CODEX_CI", "SECRET"} {
		caller[name] = "no"
	}
	if diff := cmp.Diff(want, r.FromCaller(caller)); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
}
