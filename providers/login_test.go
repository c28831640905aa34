package providers

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestJudgeLogin: only what is certain is missing; what is in doubt is unknown.
func TestJudgeLogin(t *testing.T) {
	t.Parallel()
	bare := loginSeen{Traces: true, Dir: "/home/lead/.codex"}
	with := func(change func(*loginSeen)) loginSeen { s := bare; change(&s); return s }
	for name, tt := range map[string]struct {
		seen loginSeen
		want LoginState
	}{
		"nothing there":                     {bare, LoginMissing},
		"a key":                             {with(func(s *loginSeen) { s.Key = true }), LoginPresent},
		"a login":                           {with(func(s *loginSeen) { s.Held = true }), LoginPresent},
		"a key, and the preset knows none":  {loginSeen{Key: true}, LoginPresent},
		"a login beside a file that is odd": {with(func(s *loginSeen) { s.Held, s.Unread = true, true }), LoginPresent},
		"the preset knows none":             {with(func(s *loginSeen) { s.Traces = false }), LoginUnknown},
		"another variable":                  {with(func(s *loginSeen) { s.Other = true }), LoginUnknown},
		"a file that cannot be read":        {with(func(s *loginSeen) { s.Unread = true }), LoginUnknown},
		"settings that choose another":      {with(func(s *loginSeen) { s.Elsewhere = true }), LoginUnknown},
		"a keyring":                         {with(func(s *loginSeen) { s.Keyring = true }), LoginUnknown},
		"no home":                           {with(func(s *loginSeen) { s.Dir = "" }), LoginUnknown},
	} {
		if got := judgeLogin(tt.seen); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestLogin looks at homes as the presets that come with cw describe them.
func TestLogin(t *testing.T) {
	t.Parallel()
	r, _ := Load(t.TempDir())
	type files map[string]string
	for _, tt := range []struct {
		provider, name string
		files          files
		env            []string
		goos           string
		want           LoginState
	}{
		{"codex", "an empty home", nil, nil, "linux", LoginMissing},
		{"codex", "a login", files{".codex/auth.json": `{"OPENAI_API_KEY":null,"tokens":{"access_token":"x"}}`}, nil, "linux", LoginPresent},
		{"codex", "a login without a value", files{".codex/auth.json": `{"OPENAI_API_KEY":null,"tokens":null}`}, nil, "linux", LoginMissing},
		{"codex", "an empty file", files{".codex/auth.json": ""}, nil, "linux", LoginMissing},
		{"codex", "a damaged file", files{".codex/auth.json": `{"tok`}, nil, "linux", LoginUnknown},
		{"codex", "a key in the environment", nil, []string{"CODEX_API_KEY=k"}, "linux", LoginPresent},
		{"codex", "an empty key", nil, []string{"CODEX_API_KEY="}, "linux", LoginMissing},
		{"codex", "a key that a provider of its own may use", nil, []string{"OPENAI_API_KEY=k"}, "linux", LoginUnknown},
		{"codex", "plain settings", files{".codex/config.toml": "model = \"gpt-5.5\"\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"}, nil, "linux", LoginMissing},
		{"codex", "a provider of its own", files{".codex/config.toml": "model = \"m\"\nmodel_provider = \"mine\"\n"}, nil, "linux", LoginUnknown},
		{"codex", "a table of one", files{".codex/config.toml": "[model_providers.mine]\nbase_url = \"x\"\n"}, nil, "linux", LoginUnknown},
		{"codex", "the keyring", files{".codex/config.toml": "cli_auth_credentials_store = \"keyring\"\n"}, nil, "linux", LoginUnknown},
		{"claude", "an empty home", nil, nil, "linux", LoginMissing},
		{"claude", "an empty home on macOS", nil, nil, "darwin", LoginUnknown},
		{"claude", "a login", files{".claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"x"}}`}, nil, "linux", LoginPresent},
		{"claude", "after a first start", files{".claude.json": `{"numStartups":1}`}, nil, "linux", LoginMissing},
		{"claude", "somebody is logged in", files{".claude.json": `{"oauthAccount":{"accountUuid":"x"}}`}, nil, "linux", LoginUnknown},
		{"claude", "a helper", files{".claude/settings.json": `{"apiKeyHelper":"/bin/key"}`}, nil, "linux", LoginUnknown},
		{"claude", "a token", nil, []string{"CLAUDE_CODE_OAUTH_TOKEN=t"}, "linux", LoginPresent},
		{"claude", "another cloud", nil, []string{"CLAUDE_CODE_USE_BEDROCK=1"}, "linux", LoginUnknown},
		{"gemini", "it cannot be known", nil, nil, "linux", LoginUnknown},
	} {
		t.Run(tt.provider+"/"+tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := r.Get(tt.provider)
			if err != nil {
				t.Fatal(err)
			}
			for name := range p.Account.LoggedIn.Settings { // of the machine: no test depends on them
				if filepath.IsAbs(name) {
					settings := maps.Clone(p.Account.LoggedIn.Settings)
					delete(settings, name)
					p.Account.LoggedIn.Settings = settings
				}
			}
			home := t.TempDir()
			for name, text := range tt.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			seen, changed := p.seeLogin(parseEnv(append([]string{"HOME=" + home}, tt.env...)), tt.goos)
			if got := judgeLogin(seen); got != tt.want {
				t.Errorf("%s, want %s: %+v", got, tt.want, seen)
			}
			if traced := tt.files[".codex/auth.json"] + tt.files[".claude/.credentials.json"]; traced != "" && changed.IsZero() {
				t.Error("it does not tell when the login changed")
			}
		})
	}
}

// TestMissingLogin: what is missing is told with the command that mends it.
func TestMissingLogin(t *testing.T) {
	t.Parallel()
	r, _ := Load(t.TempDir())
	p, err := r.Get("codex")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Settings that choose nothing, so that what the machine has does not count.
	p.Account.LoggedIn.Settings = nil
	got := p.Login([]string{"HOME=" + home})
	for _, says := range []string{"Codex is not logged in", filepath.Join(home, ".codex"), "CODEX_API_KEY", "codex login"} {
		if got.State != LoginMissing || !strings.Contains(got.Missing, says) {
			t.Errorf("%+v does not say %s", got, says)
		}
	}
	if !p.SaysLoggedOut("Not logged in\n") || p.SaysLoggedOut("Logged in using an API key") || p.SaysLoggedOut(`{"error":"you are not logged in"}`) {
		t.Error("what the CLI says is misread")
	}
}

// TestLoginBehindALink: a login that a tool for such files keeps elsewhere is one; a link
// to nothing is none, and what is no plain file is in doubt.
func TestLoginBehindALink(t *testing.T) {
	t.Parallel()
	r, _ := Load(t.TempDir())
	p, err := r.Get("codex")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		make func(home, file string) error
		want LoginState
	}{
		"a link": {func(home, file string) error {
			return errors.Join(os.WriteFile(filepath.Join(home, "kept.json"), []byte(`{"tokens":{"a":"b"}}`), 0o600), os.Symlink("../kept.json", file))
		}, LoginPresent},
		"a link to a link": {func(home, file string) error {
			return errors.Join(os.WriteFile(filepath.Join(home, "kept.json"), []byte(`{"tokens":{"a":"b"}}`), 0o600),
				os.Symlink("kept.json", filepath.Join(home, "again")), os.Symlink("../again", file))
		}, LoginPresent},
		"a link to nothing": {func(_, file string) error { return os.Symlink("nowhere", file) }, LoginMissing},
		"a link to itself":  {func(_, file string) error { return os.Symlink("auth.json", file) }, LoginUnknown},
		"a folder":          {func(_, file string) error { return os.Mkdir(file, 0o700) }, LoginUnknown},
		"a FIFO":            {func(_, file string) error { return unix.Mkfifo(file, 0o600) }, LoginUnknown},
	} {
		home := t.TempDir()
		file := filepath.Join(home, ".codex", "auth.json")
		if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), tt.make(home, file)); err != nil {
			t.Fatal(err)
		}
		if l := p.Login([]string{"HOME=" + home}); l.State != tt.want || l.ByFile != (tt.want == LoginPresent) {
			t.Errorf("%s: %+v, want %s", name, l, tt.want)
		}
	}
}
