package accounts

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

func TestLogin(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Name: "work"})
	if !strings.Contains(a.Invalid, "nobody") {
		t.Errorf("runs may be given an account without a login: %q", a.Invalid)
	}
	if _, err := r.Ready(t.Context(), a); cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(cw.ErrorHint(err), "cw account login work") {
		t.Errorf("an account without a login is ready: %v", err)
	}
	c, err := r.LoginAccount(t.Context(), "work")
	must(t, err)
	dir := r.Home.AccountDir(a.ID)
	if strings.Join(c.Command, " ") != "claude /login" || c.Env["CLAUDE_CONFIG_DIR"] != dir {
		t.Errorf("%+v", c)
	}
	// A key or token of the user's would be in its way.
	for _, name := range []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"} {
		if value, told := c.Env[name]; !told || value != "" {
			t.Errorf("%s is %q, %v", name, value, told)
		}
	}
	if _, err := r.FinishLogin(t.Context(), "work"); cw.ErrorCode(err) != cw.CodeFailed {
		t.Errorf("no login was left: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, ".claude.json"), []byte(`{"oauthAccount":{"accountUuid":"u-1","emailAddress":"ann@example.com"}}`), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, ".credentials.json"), []byte(loginFile("at-login-00000000", "rt-login-00000000", r.now.Add(time.Hour))), 0o600))
	view, err := r.FinishLogin(t.Context(), "work")
	must(t, err)
	if view.Email != "ann@example.com" || view.Invalid != "" || view.Kind != cw.AccountLogin {
		t.Errorf("%+v", view)
	}
	handed, _ := os.ReadFile(filepath.Join(dir, ".credentials.json"))
	if strings.Contains(string(handed), "rt-login") || !strings.Contains(string(handed), "at-login") {
		t.Errorf("%s", handed)
	}
	// Nobody logged in this time: what lies there is what cw wrote.
	must(t, r.markInvalid(t.Context(), a, "refused"))
	if _, err := r.FinishLogin(t.Context(), "work"); cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(err.Error(), "nobody logged in") {
		t.Errorf("%v", err)
	}
	if v, _ := r.Account(t.Context(), "work"); v.Invalid != "refused" {
		t.Errorf("invalid %q", v.Invalid)
	}
	// Somebody else's account with the same login.
	b := r.add(cw.AddAccountRequest{Name: "second"})
	for _, name := range []string{".claude.json"} {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		must(t, os.WriteFile(filepath.Join(r.Home.AccountDir(b.ID), name), data, 0o600))
	}
	must(t, os.WriteFile(filepath.Join(r.Home.AccountDir(b.ID), ".credentials.json"), []byte(loginFile("at-other-00000000", "rt-other-00000000", time.Time{})), 0o600))
	if _, err := r.FinishLogin(t.Context(), "second"); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "work") {
		t.Errorf("%v", err)
	}
	// It is not taken over by the next run either.
	if _, err := r.Ready(t.Context(), b); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("%v", err)
	}
	r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "token"})
	if _, err := r.LoginAccount(t.Context(), "token"); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("%v", err)
	}
	r.quiet("rt-", "at-login", goodToken)
}

func TestDiscover(t *testing.T) {
	r := newRig(t)
	own := filepath.Join(r.UserHome, ".claude")
	must(t, os.Mkdir(own, 0o700))
	must(t, os.WriteFile(filepath.Join(own, ".credentials.json"), []byte(loginFile("at-own-0000000000", "rt-own-0000000000", time.Time{})), 0o600))
	must(t, os.WriteFile(filepath.Join(r.UserHome, ".claude.json"), []byte(`{"oauthAccount":{"accountUuid":"u-9","emailAddress":"own@example.com"}}`), 0o600))
	other := filepath.Join(t.TempDir(), "it's mine")
	must(t, os.Mkdir(other, 0o700))
	must(t, os.WriteFile(filepath.Join(other, ".credentials.json"), []byte(`{"claudeAi`), 0o600))
	r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "has"})
	env := map[string]string{
		"CLAUDE_CONFIG_DIR": other, "CLAUDE_CODE_OAUTH_TOKEN": goodToken, "ANTHROPIC_API_KEY": goodKey,
		"GEMINI_API_KEY": "sk-aaaaaaaaaaaaaa", "HOME": r.UserHome, "SHOP_PASSWORD": "hunter2hunter2",
	}
	found, err := r.DiscoverAccounts(t.Context(), env)
	must(t, err)
	text, _ := json.MarshalIndent(found, "", " ")
	for _, s := range []string{goodToken, goodKey, "at-own", "rt-own", "sk-aaaa", "hunter2", "SHOP"} {
		if strings.Contains(string(text), s) {
			t.Errorf("%s is told", s)
		}
	}
	by := map[string]cw.FoundLogin{}
	for _, f := range found {
		by[f.ConfigDir+f.Variable] = f
	}
	if f := by[own]; f.Email != "own@example.com" || f.Add != "cw account add --provider claude --config-dir "+own || f.Trouble != "" {
		t.Errorf("%+v", f)
	}
	if f := by[other]; f.Trouble == "" || f.Add != "" {
		t.Errorf("%+v", f)
	}
	if f := by["CLAUDE_CODE_OAUTH_TOKEN"]; f.Account != "has" || f.Add != "" {
		t.Errorf("%+v", f)
	}
	if f := by["ANTHROPIC_API_KEY"]; f.Add != "printenv ANTHROPIC_API_KEY | cw account add --provider claude --api-key" {
		t.Errorf("%+v", f)
	}
	if f := by["GEMINI_API_KEY"]; !strings.Contains(f.Trouble, "OpenAI") {
		t.Errorf("%+v", f)
	}
	if len(found) != 5 {
		t.Errorf("%s", text)
	}
	if len(r.seen(cw.EventAccountAdded)) != 1 {
		t.Error("something was added")
	}
	if cw.ShellWord(other) != "'"+strings.ReplaceAll(other, "'", `'\''`)+"'" {
		t.Error(cw.ShellWord(other))
	}
}

func TestUsageOfClaude(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work", BaseURL: r.server.URL})
	r.server.set(func() {
		r.server.access[goodToken] = true
		r.server.usage = `{"five_hour":{"utilization":42.5,"resets_at":"2026-11-22T05:13:00.1+00:00"},"seven_day":{"utilization":7,"resets_at":null},"seven_day_opus":null,"extra_usage":{"is_enabled":false,"utilization":null},"limits":[{"percent":1}],"x":"y"}`
	})
	u, err := r.AccountUsage(t.Context(), "work")
	must(t, err)
	if u.Source != fromEndpoint || u.Trouble != "" || len(u.Account.Usage) != 2 || u.Account.Usage[0].UsedPercent != 42.5 || u.Account.Usage[0].ResetsAt.Unix() != 1795324380 || u.Account.Usage[1].ResetsAt != nil {
		t.Errorf("%+v", u)
	}
	// It is down: the last known figures, with their age.
	r.server.set(func() { r.server.usage = "" })
	r.now = r.now.Add(90 * time.Second)
	u, err = r.AccountUsage(t.Context(), "work")
	must(t, err)
	if u.Trouble == "" || u.AgeNanos != int64(90*time.Second) || len(u.Account.Usage) != 2 {
		t.Errorf("%+v", u)
	}
	r.now = r.now.Add(-5 * time.Hour) // the clock was set back
	if u, _ = r.AccountUsage(t.Context(), "work"); u.AgeNanos != 0 {
		t.Errorf("%d", u.AgeNanos)
	}
	r.add(cw.AddAccountRequest{APIKey: cw.NewSecret(goodKey), Name: "key"})
	if u, err = r.AccountUsage(t.Context(), "key"); err != nil || u.Source != fromNowhere || u.Trouble == "" {
		t.Errorf("%+v %v", u, err)
	}
	if _, err := r.AccountUsage(t.Context(), "nobody"); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Error(err)
	}
	_ = a
}

func TestUsageOfCodex(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Provider: "codex", APIKey: cw.NewSecret("sk-cccccccccccccccccccc"), Name: "work"})
	if u, err := r.AccountUsage(t.Context(), "work"); err != nil || u.Source != fromNowhere || u.Trouble == "" {
		t.Errorf("%+v %v", u, err)
	}
	write := func(day, text string) {
		dir := filepath.Join(r.Home.AccountDir(a.ID), "sessions", "2026", "11", day)
		must(t, os.MkdirAll(dir, 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "rollout-2026-11-"+day+"T01-00-00-x.jsonl"), []byte(text), 0o600))
	}
	told := r.now.Add(-3 * time.Hour).Truncate(time.Second)
	at := func(when time.Time, percent int) string {
		return fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":%d,"window_minutes":300,"resets_at":1795238119},"secondary":null}}}`+"\n", when.Format(time.RFC3339), percent)
	}
	line := func(percent int) string {
		return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":%d.5,"window_minutes":300,"resets_at":1795238119},"secondary":null}}}`+"\n", percent)
	}
	write("20", line(10)+line(11))
	write("21", `{"type":"event_msg","payload":{"type":"token_count","rate_limits":null}}`+"\n")
	u, err := r.AccountUsage(t.Context(), "work")
	must(t, err)
	if u.Source != fromSession || len(u.Account.Usage) != 1 || u.Account.Usage[0].UsedPercent != 11.5 || u.Account.Usage[0].Kind != "five_hour" {
		t.Errorf("%+v", u)
	}
	write("22", "cut"+line(1)+line(42)+`{"token_count`)
	if u, _ = r.AccountUsage(t.Context(), "work"); u.Account.Usage[0].UsedPercent != 42.5 {
		t.Errorf("%+v", u)
	}
	// What was told hours ago is no news, and does not count as such.
	write("23", at(told, 77))
	if u, err = r.AccountUsage(t.Context(), "work"); err != nil || u.Account.Usage[0].UsedPercent != 42.5 || u.Trouble != "" {
		t.Errorf("%+v %v", u, err)
	}
	r.add(cw.AddAccountRequest{Provider: "codex", APIKey: cw.NewSecret("sk-dddddddddddddddddddd"), Name: "other"})
	other, err := r.Account(t.Context(), "other")
	must(t, err)
	must(t, os.Rename(filepath.Join(r.Home.AccountDir(a.ID), "sessions"), filepath.Join(r.Home.AccountDir(other.ID), "sessions")))
	if u, err = r.AccountUsage(t.Context(), "other"); err != nil || u.Account.Usage[0].UsedPercent != 77 || u.AgeNanos != r.now.Sub(told).Nanoseconds() || u.Source != fromSession {
		t.Errorf("%+v %v", u, err)
	}
	if other, err = r.Account(t.Context(), "other"); err != nil || other.UsageAt == nil || !other.UsageAt.Equal(told) {
		t.Errorf("stored as of %v, %v", other.UsageAt, err)
	}
}

// TestUsageOfAnybody: an answer comes from whoever the account's address names.
func TestUsageOfAnybody(t *testing.T) {
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf(`"window-%04d":{"utilization":1e300}`, i))
	}
	windows, err := readClaudeUsage([]byte("{" + strings.Join(many, ",") + `,"` + strings.Repeat("k", 1<<16) + `":{"utilization":1}}`))
	if err != nil || len(windows) != windowsMax || windows[0].UsedPercent != usedMost {
		t.Errorf("%d windows, %v", len(windows), err)
	}
}

func TestTest(t *testing.T) {
	r := newRig(t)
	r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "work", BaseURL: r.server.URL})
	got, err := r.TestAccount(t.Context(), "work")
	if err != nil || got.OK || got.Unknown || strings.Contains(got.Text, goodToken) {
		t.Errorf("%+v %v", got, err)
	}
	if v, _ := r.Account(t.Context(), "work"); v.Invalid == "" {
		t.Error("it is not marked")
	}
	r.server.set(func() { r.server.access[goodToken] = true })
	if got, err = r.TestAccount(t.Context(), "work"); err != nil || !got.OK {
		t.Errorf("%+v %v", got, err)
	}
	if v, _ := r.Account(t.Context(), "work"); v.Invalid != "" {
		t.Error("it is still marked")
	}
	r.server.Close()
	if got, err = r.TestAccount(t.Context(), "work"); err != nil || got.OK || !got.Unknown || !strings.Contains(got.Text, "nothing is known") {
		t.Errorf("%+v %v", got, err)
	}
	if v, _ := r.Account(t.Context(), "work"); v.Invalid != "" {
		t.Error("a provider that is down made it invalid")
	}
	r.quiet(goodToken)
}

// TestTestRenews: a login whose token is refused is renewed, as for a run, and not
// marked; one that cannot be renewed now is not known to be bad.
func TestTestRenews(t *testing.T) {
	r := newRig(t)
	r.add(cw.AddAccountRequest{Token: cw.NewSecret(loginFile("sk-ant-oat01-old-0000000000", "rt-first-0000000000", r.now.Add(time.Hour))), Name: "work", BaseURL: r.server.URL})
	if got, err := r.TestAccount(t.Context(), "work"); err != nil || !got.OK || got.Unknown {
		t.Errorf("%+v %v", got, err)
	}
	if v, _ := r.Account(t.Context(), "work"); v.Invalid != "" || len(r.seen(cw.EventAccountInvalid)) != 0 {
		t.Errorf("it was marked: %q", v.Invalid)
	}
	r.now = r.now.Add(24 * time.Hour)
	r.server.set(func() { r.server.fail = 503 })
	if got, err := r.TestAccount(t.Context(), "work"); err != nil || got.OK || !got.Unknown {
		t.Errorf("the endpoint is down: %+v %v", got, err)
	}
	r.now = r.now.Add(time.Hour)
	r.server.set(func() { r.server.fail, r.server.refresh = 0, "another-one" })
	if got, err := r.TestAccount(t.Context(), "work"); err != nil || got.OK || got.Unknown {
		t.Errorf("it is dead: %+v %v", got, err)
	}
	// The user's own, which is not there at all, is known not to work.
	if _, err := r.db.Accounts(t.Context(), "claude"); err != nil {
		t.Fatal(err)
	}
	if got, err := r.TestAccount(t.Context(), "default-claude"); err != nil || got.OK || got.Unknown {
		t.Errorf("no login: %+v %v", got, err)
	}
}

func jwt(claims string) string {
	return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".s"
}

// TestCodexLogin: the same for a login of codex, whose token tells its own end.
func TestCodexLogin(t *testing.T) {
	r, dir := newRig(t), t.TempDir()
	over := jwt(fmt.Sprintf(`{"exp":%d}`, r.now.Add(time.Minute).Unix()))
	file := fmt.Sprintf(`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":%q,"access_token":%q,"refresh_token":"rt-first-0000000000","account_id":"acc-1"},"last_refresh":"2026-11-01T00:00:00Z"}`, jwt(`{"email":"ann@example.com"}`), over)
	must(t, os.WriteFile(filepath.Join(dir, "auth.json"), []byte(file), 0o600))
	a := r.add(cw.AddAccountRequest{Provider: "codex", ConfigDir: dir})
	if a.Email != "ann@example.com" || a.Identity != digest("acc-1") {
		t.Errorf("%+v", a)
	}
	access, err := r.Ready(t.Context(), a)
	must(t, err)
	handed, err := os.ReadFile(filepath.Join(access.ConfigDir, "auth.json"))
	if err != nil || strings.Contains(string(handed), "rt-") || !strings.Contains(string(handed), `"refresh_token":""`) || !strings.Contains(string(handed), "renewed-0000000001") || access.Env["CODEX_HOME"] != access.ConfigDir {
		t.Errorf("%s %v %v", handed, access, err)
	}
	source, _ := os.ReadFile(filepath.Join(dir, "auth.json"))
	if masked := r.Redact.MaskString("x " + jwt(`{"email":"ann@example.com"}`)); strings.Contains(masked, "h.") {
		t.Errorf("the token that says who it is is not masked: %s", masked)
	}
	if !strings.Contains(string(source), "rt-renewed-0000000001") || !strings.Contains(string(source), `"auth_mode":"chatgpt"`) || strings.Contains(string(source), "2026-11-01") {
		t.Errorf("%s", source)
	}
}

// FuzzCredentials: no file takes the program down, and what is taken can be
// written and read again.
func FuzzCredentials(f *testing.F) {
	f.Add([]byte(loginFile("at", "rt", time.Unix(1795238119, 0))), true)
	f.Add([]byte(`{"claudeAiOauth":{"accessToken":"x","expiresAt":null,"refreshToken":null}}`), true)
	f.Add([]byte(`{"claudeAiOauth":{"accessToken":"x","expiresAt":1e400,"refreshToken":7}}`), true)
	f.Add([]byte(`{"tokens":{"access_token":"a.eyJleHAiOjF9.c","refresh_token":"r"}}`), false)
	f.Fuzz(func(t *testing.T, data []byte, claude bool) {
		fm, _ := formOf(map[bool]string{true: "claude", false: "codex"}[claude])
		c, err := fm.read(data)
		if err != nil {
			return
		}
		again, err := fm.read(fm.whole(c))
		if err != nil || again.access != c.access || again.refresh != c.refresh || !again.expires.Equal(c.expires) {
			t.Fatalf("%+v became %+v: %v", c, again, err)
		}
		handed, err := fm.read(fm.handed(c))
		if err != nil || handed.access != c.access || handed.refresh != "" {
			t.Fatalf("handed %+v: %v", handed, err)
		}
		if c.expires.IsZero() && c.isExpired(time.Now()) {
			t.Fatal("over without an end")
		}
	})
}
