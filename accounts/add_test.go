package accounts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

const (
	goodToken = "sk-ant-oat01-aaaaaaaaaaaaaaaaaaaa"
	goodKey   = "sk-ant-api03-bbbbbbbbbbbbbbbbbbbb"
)

func TestAddRefusesWhatIsNone(t *testing.T) {
	token := func(s string) cw.AddAccountRequest { return cw.AddAccountRequest{Token: cw.NewSecret(s)} }
	key := func(provider, s string) cw.AddAccountRequest {
		return cw.AddAccountRequest{Provider: provider, APIKey: cw.NewSecret(s)}
	}
	r := newRig(t)
	for _, c := range []struct {
		req  cw.AddAccountRequest
		word string
	}{
		{token("   "), "empty"},
		{token("sk-ant-oat01-aaaa bbbbbbb"), "blanks"},
		{token("sk-ant-oat01-aaaa\nbbbbbbb"), "blanks"},
		{token("short"), "too short"},
		{token(strings.Repeat("x", 20<<10)), "longer"},
		{token("sk-ant-oat01-ääääääääää"), "characters"},
		{token(goodKey), "API key"},
		{token("sk-ant-ort01-aaaaaaaaaaaaaaaa"), "refresh token"},
		{token("sk-proj-aaaaaaaaaaaaaaaaa"), "OpenAI"},
		{token("AIzaaaaaaaaaaaaaaaaaaaaaa"), "Google"},
		{token("github_pat_aaaaaaaaaaaaaaaa"), "GitHub"},
		{token("cwa_aaaaaaaaaaaaaaaaaaaaaa"), "cw"},
		{token(`{"claudeAiOauth":{"refreshToken":"rt-aaaaaaaaaaaaa"}}`), "JSON"},
		{token(`{"tokens": "x y"}`), "JSON"},
		{token(loginFile("at-over-0000000000", "", time.Now().Add(-time.Hour))), "over since"},
		{key("claude", goodToken), "token"},
		{key("codex", goodKey), "Anthropic"},
		{key("gemini", "sk-aaaaaaaaaaaaaaaaaaa"), "OpenAI"},
		{key("aider", "sk-aaaaaaaaaaaaaaaaaaa"), "no API key"},
		{cw.AddAccountRequest{Provider: "codex", Token: cw.NewSecret("some-token-here")}, "no token"},
		{cw.AddAccountRequest{Provider: "gemini"}, "no login"},
		{cw.AddAccountRequest{Token: cw.NewSecret(goodToken), APIKey: cw.NewSecret(goodKey)}, "not several"},
		{cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "a b"}, "blanks"},
		{cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "--json"}, "option"},
		{cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "a", Email: "a@b\nc"}, "email"},
		{cw.AddAccountRequest{Token: cw.NewSecret(goodToken), BaseURL: "ftp://x"}, "base URL"},
		{cw.AddAccountRequest{Token: cw.NewSecret(goodToken), BaseURL: "http://u:p@x"}, "base URL"},
		{cw.AddAccountRequest{ConfigDir: "/nowhere/at/all"}, "no directory"},
	} {
		r.refused(c.req, cw.CodeInvalid, c.word)
	}
}

func TestAddRefusesDirectories(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		word string
	}{
		"none":      {func(string) error { return nil }, "no login"},
		"malformed": {func(p string) error { return os.WriteFile(p, []byte(`{"claudeAiOauth":{"accessT`), 0o600) }, "no JSON"},
		"other":     {func(p string) error { return os.WriteFile(p, []byte(`{"mcpOAuth":{}}`), 0o600) }, "no login"},
		"array":     {func(p string) error { return os.WriteFile(p, []byte(`[1]`), 0o600) }, "no JSON"},
		"no access": {func(p string) error { return os.WriteFile(p, []byte(`{"claudeAiOauth":{"refreshToken":"x"}}`), 0o600) }, "no login"},
		"link":      {func(p string) error { return os.Symlink("/etc/hostname", p) }, "no plain file"},
		"directory": {func(p string) error { return os.Mkdir(p, 0o700) }, "no plain file"},
		"huge":      {func(p string) error { return os.WriteFile(p, make([]byte, fileMax+1), 0o600) }, "larger"},
		"expired": {func(p string) error {
			return os.WriteFile(p, []byte(loginFile("at-over-0000000000", "", time.Now().Add(-time.Hour))), 0o600)
		}, "over since"},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRig(t), t.TempDir()
			must(t, c.make(filepath.Join(dir, ".credentials.json")))
			r.refused(cw.AddAccountRequest{ConfigDir: dir}, cw.CodeInvalid, c.word)
		})
	}
}

// TestOthersFile: a file of another user is no login. Root gives one away; for
// everybody else there are those of root.
func TestOthersFile(t *testing.T) {
	path := "/etc/passwd"
	if os.Geteuid() == 0 {
		path = filepath.Join(t.TempDir(), ".credentials.json")
		must(t, os.WriteFile(path, []byte(loginFile("at-0000000000", "", time.Time{})), 0o600))
		must(t, os.Chown(path, 12345, -1))
	}
	f := form{file: filepath.Base(path), object: "claudeAiOauth", access: "accessToken"}
	_, err := f.readLogin(t.Context(), filepath.Dir(path))
	if !errors.Is(err, errNotOurs) {
		t.Fatalf("it was read: %v", err)
	}
	if e := cannotRead("/dir", err); e.Code != cw.CodeInvalid || !strings.Contains(e.Error(), "another user") || !strings.Contains(e.Hint, "as yourself") {
		t.Errorf("%v, hint %q", e, e.Hint)
	}
}

func TestAddToken(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken + "\n"), Email: "ann@example.com"})
	if a.Name != "ann@example.com" || a.Kind != cw.AccountToken || a.ID == "" {
		t.Errorf("%+v", a)
	}
	access, err := r.Ready(t.Context(), a)
	must(t, err)
	dir := r.Home.AccountDir(a.ID)
	if access.ConfigDir != dir || access.Env["CLAUDE_CODE_OAUTH_TOKEN"] != goodToken || access.Env["CLAUDE_CONFIG_DIR"] != dir || len(access.Env) != 2 {
		t.Errorf("%+v", access)
	}
	config, err := os.ReadFile(filepath.Join(dir, ".claude.json"))
	if string(config) != onboarded+"\n" || err != nil {
		t.Errorf("%q %v", config, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".credentials.json")); err == nil {
		t.Error("the token travels both ways")
	}
	// What the CLI writes stays, but a file of credentials would be a second way.
	must(t, os.WriteFile(filepath.Join(dir, ".claude.json"), []byte(`{"theme":"dark"}`), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, ".credentials.json"), []byte(loginFile("at", "rt", time.Time{})), 0o600))
	_, err = r.Ready(t.Context(), a)
	must(t, err)
	if config, _ = os.ReadFile(filepath.Join(dir, ".claude.json")); string(config) != `{"theme":"dark"}` {
		t.Errorf("the CLI's settings were overwritten: %s", config)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".credentials.json")); err == nil {
		t.Error("the token travels both ways")
	}
	if got := r.Redact.MaskString("x " + goodToken); strings.Contains(got, goodToken) {
		t.Error("the token is not masked")
	}
	if len(r.seen(cw.EventAccountAdded)) != 1 {
		t.Error("no event")
	}
	r.refused(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "again"}, cw.CodeRefused, "ann@example.com already")
	b := r.add(cw.AddAccountRequest{APIKey: cw.NewSecret(goodKey), BaseURL: "http://gateway.invalid"})
	if b.Name != "account-2" || b.Kind != cw.AccountKey {
		t.Errorf("%+v", b)
	}
	access, err = r.Ready(t.Context(), b)
	must(t, err)
	if access.Env["ANTHROPIC_API_KEY"] != goodKey || access.Env["ANTHROPIC_BASE_URL"] != "http://gateway.invalid" || access.Env["CLAUDE_CODE_OAUTH_TOKEN"] != "" {
		t.Errorf("%+v", access)
	}
	r.quiet(goodToken, goodKey)
}

func TestPastedCredentialsAreTaken(t *testing.T) {
	r := newRig(t)
	plain := r.add(cw.AddAccountRequest{Token: cw.NewSecret(`{"claudeAiOauth":{"accessToken":"` + goodToken + `"}}`), Name: "plain"})
	if plain.Kind != cw.AccountToken {
		t.Errorf("%+v", plain)
	}
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(loginFile("at-pasted-00000000", "rt-first-0000000000", r.now.Add(time.Hour))), Name: "login"})
	if a.Kind != cw.AccountLogin {
		t.Errorf("%+v", a)
	}
	access, err := r.Ready(t.Context(), a)
	must(t, err)
	if len(access.Env) != 1 || access.Env["CLAUDE_CONFIG_DIR"] != access.ConfigDir {
		t.Errorf("%+v", access.Env)
	}
	r.quiet("at-pasted-00000000", "rt-first-0000000000")
}

func TestSameLoginIsRefused(t *testing.T) {
	r, dir, other := newRig(t), t.TempDir(), t.TempDir()
	for i, d := range []string{dir, other} {
		must(t, os.WriteFile(filepath.Join(d, ".credentials.json"), []byte(loginFile("at-"+string(rune('a'+i))+"0000000000", "rt-"+d, time.Time{})), 0o600))
		must(t, os.WriteFile(filepath.Join(d, ".claude.json"), []byte(`{"oauthAccount":{"accountUuid":"u-1","organizationUuid":"o-1","emailAddress":"ann@example.com"}}`), 0o600))
	}
	a := r.add(cw.AddAccountRequest{ConfigDir: dir})
	if a.Name != "ann@example.com" || a.SourceDir != dir {
		t.Errorf("%+v", a)
	}
	r.refused(cw.AddAccountRequest{ConfigDir: other, Name: "second"}, cw.CodeRefused, "the account ann@example.com already")
	r.refused(cw.AddAccountRequest{ConfigDir: r.Home.AccountDir(a.ID)}, cw.CodeInvalid, "belongs to an account")
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(r.Home.AccountDir(a.ID), link))
	r.refused(cw.AddAccountRequest{ConfigDir: link}, cw.CodeInvalid, "belongs to an account")
}

func TestRemove(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work"})
	used := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken + "2"), Name: "used"})
	session := filepath.Join(r.Home.AccountDir(used.ID), "projects", "-shop", "s.jsonl")
	must(t, os.MkdirAll(filepath.Dir(session), 0o700))
	must(t, os.WriteFile(session, []byte("{}\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(r.Home.AccountDir(used.ID), ".credentials.json"), []byte("{}"), 0o600))
	for _, name := range []string{"work", "used"} {
		_, err := r.RemoveAccount(t.Context(), name, false)
		must(t, err)
	}
	if _, err := os.Lstat(r.Home.AccountDir(a.ID)); err == nil {
		t.Error("an empty directory stays")
	}
	if _, err := os.Lstat(session); err != nil {
		t.Error("a session is gone")
	}
	if _, err := os.Lstat(filepath.Join(r.Home.AccountDir(used.ID), ".credentials.json")); err == nil {
		t.Error("credentials stay")
	}
	for _, id := range []cw.AccountID{a.ID, used.ID} {
		if _, err := r.Vault.Get(t.Context(), id); cw.ErrorCode(err) != cw.CodeNotFound {
			t.Errorf("the secret stays: %v", err)
		}
	}
	_, err := r.Accounts(t.Context(), "claude")
	must(t, err)
	if _, err := r.db.Accounts(t.Context(), "claude"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.RemoveAccount(t.Context(), string(cw.DefaultAccountID("claude")), true); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("the own login can be removed: %v", err)
	}
}

// TestTidy takes what a crash between the steps of adding and removing leaves.
func TestTidy(t *testing.T) {
	for _, step := range []string{"add/secret", "remove/row"} {
		r := newRig(t)
		r.Fail = func(s string) {
			if s == step {
				panic("ended here")
			}
		}
		func() {
			defer func() { _ = recover() }()
			r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work"})
			_, err := r.RemoveAccount(t.Context(), "work", false)
			must(t, err)
		}()
		r.Fail = nil
		files := func() []string {
			f, _ := filepath.Glob(filepath.Join(r.Home.Secrets(), "*.age"))
			return f
		}
		if len(files()) != 1 {
			t.Fatalf("%s: nothing was left behind", step)
		}
		keep := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken + "-keep"), Name: "keep"})
		must(t, r.Tidy(t.Context()))
		if f := files(); len(f) != 1 || !strings.Contains(f[0], string(keep.ID)) {
			t.Errorf("%s: %v", step, f)
		}
	}
}

func TestSet(t *testing.T) {
	r := newRig(t)
	r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work"})
	off, name, prio := false, "home", 7
	v, err := r.SetAccount(t.Context(), "work", cw.AccountSettings{Enabled: &off, Name: &name, Priority: &prio})
	must(t, err)
	if v.Enabled || v.Name != "home" || v.Priority != 7 {
		t.Errorf("%+v", v)
	}
	bad := "x y"
	if _, err := r.SetAccount(t.Context(), "home", cw.AccountSettings{Name: &bad}); cw.ErrorCode(err) != cw.CodeInvalid {
		t.Error(err)
	}
	if _, err := r.SetAccount(t.Context(), "nobody", cw.AccountSettings{}); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Error(err)
	}
}
