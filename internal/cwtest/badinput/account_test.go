package badinput

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
)

const (
	aToken = "sk-ant-oat01-aaaaaaaaaaaaaaaaaaaa"
	aKey   = "sk-ant-api03-bbbbbbbbbbbbbbbbbbbb"
)

// adding is a command that adds an account with what is pasted.
func adding(stdin string, flags ...string) call {
	return call{args: append([]string{"account", "add", "--name", "new"}, flags...), stdin: stdin}
}

// TestAccountsThatAreNone: credentials that cannot be any are refused, and
// nothing is stored of them.
func TestAccountsThatAreNone(t *testing.T) {
	t.Parallel()
	l := started(t)
	token := []string{"--token", "-"}
	over := fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"at-over-0000000000","expiresAt":%d}}`, time.Now().Add(-time.Hour).UnixMilli())
	refusedAll(t, l, []refusal{
		{"nothing", adding("\n", token...), exitUsage, []string{"empty"}, nil},
		{"a sentence", adding("I lost my token\n", token...), exitUsage, []string{"blanks"}, []string{"paste it whole"}},
		{"too short", adding("secret\n", token...), exitUsage, []string{"too short"}, nil},
		{"a key as a token", adding(aKey, token...), exitUsage, []string{"API key"}, []string{"--api-key"}},
		{"a token as a key", adding(aToken, "--api-key"), exitUsage, []string{"token"}, []string{"--token -"}},
		{"another provider's key", adding("sk-proj-cccccccccccccccccccc", "--api-key"), exitUsage, []string{"OpenAI", "Claude"}, []string{"--provider"}},
		{"claude's key for codex", adding(aKey, "--api-key", "--provider", "codex"), exitUsage, []string{"Anthropic", "Codex"}, []string{"--provider"}},
		{"a token of cw's", adding("cwd_dddddddddddddddddddddddd", token...), exitUsage, []string{"credential of cw"}, nil},
		{"a token for who takes none", adding(aToken, "--token", "-", "--provider", "codex"), exitUsage, []string{"takes no token"}, []string{"--api-key"}},
		{"no provider", adding(aToken, "--token", "-", "--provider", "cluade"), exitNotFound, []string{"cluade"}, []string{"claude"}},
		{"no login in it", adding(`{"claudeAiOauth":{"refreshToken":"rt-aaaaaaaaaaaaa"}}`, token...), exitUsage, []string{"JSON"}, nil},
		{"half of it", adding(`{"claudeAiOauth":{"accessTok`, token...), exitUsage, []string{"JSON"}, nil},
		{"of another kind", adding(`{"claudeAiOauth":{"accessToken":["x"]}}`, token...), exitUsage, []string{"JSON"}, nil},
		{"over, and nothing to renew it with", adding(over, token...), exitUsage, []string{"over since"}, []string{"log in again"}},
		{"no address", adding(aToken, "--token", "-", "--base-url", "ftp://gateway"), exitUsage, []string{"base URL"}, []string{"https://"}},
		{"an address that nobody reads", adding("sk-proj-cccccccccccccccccccc", "--api-key", "--provider", "codex", "--base-url", "https://gateway.invalid"), exitUsage, []string{"Codex", "address"}, []string{"config.toml"}},
		{"two secrets", adding(aToken, "--token", "-", "--api-key"), exitUsage, []string{"exclude each other"}, nil},
		{"a name with blanks", call{args: []string{"account", "add", "--name", "a b", "--token", "-"}, stdin: aToken}, exitUsage, []string{"blanks"}, nil},
		{"a directory that is none", adding("", "--config-dir", "no-such-folder"), exitUsage, []string{"no directory"}, []string{"--config-dir"}},
	}, l.Repo)
	if left, err := os.ReadDir(l.Home.Accounts()); err == nil && len(left) > 0 {
		t.Errorf("directories of accounts are left: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(l.Home.Secrets(), "*.age")); len(left) > 0 {
		t.Errorf("secrets are left: %v", left)
	}
}

// login writes a file of credentials into a folder of its own, and gives the
// folder.
func login(t *testing.T, l *lab.Lab, name, text string) string {
	t.Helper()
	dir := filepath.Join(root(l), name)
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, ".credentials.json"), []byte(text), 0o600))
	return dir
}

// claudeLogin is a whole login, with more in it than cw knows.
func claudeLogin(token string) string {
	return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":"rt-%s","expiresAt":%d,"scopes":["user:inference"],"tint":{"a":[1]}},"other":true}`,
		token, token, time.Now().Add(time.Hour).UnixMilli())
}

// TestLoginsThatAreNone: a directory whose login cannot be read is not adopted.
func TestLoginsThatAreNone(t *testing.T) {
	t.Parallel()
	l := started(t)
	adopt := func(dir string) call { return adding("", "--config-dir", dir) }
	linked := filepath.Join(root(l), "linked")
	must(t, os.Mkdir(linked, 0o700))
	must(t, os.Symlink(filepath.Join(login(t, l, "theirs", claudeLogin("at-theirs-0000000000")), ".credentials.json"), filepath.Join(linked, ".credentials.json")))
	all := []refusal{
		{"empty", adopt(login(t, l, "empty", "")), exitUsage, []string{"no login"}, []string{"damaged"}},
		{"half of it", adopt(login(t, l, "half", claudeLogin("at-half-0000000000")[:60])), exitUsage, []string{"no login"}, []string{"damaged"}},
		{"no token", adopt(login(t, l, "none", `{"claudeAiOauth":{"expiresAt":1}}`)), exitUsage, []string{"no login"}, []string{"log in there"}},
		{"another provider's", adopt(login(t, l, "codex", `{"tokens":{"access_token":"x"}}`)), exitUsage, []string{"no login"}, []string{"log in there"}},
		{"a link", adopt(linked), exitUsage, []string{"no login"}, []string{"plain"}},
		{"cw's own", adopt(l.Home.Accounts()), exitUsage, []string{"belongs to an account"}, nil},
	}
	if os.Geteuid() == 0 { // nobody else can give a file away
		foreign := login(t, l, "foreign", claudeLogin("at-foreign-0000000000"))
		must(t, os.Chown(filepath.Join(foreign, ".credentials.json"), 65534, 65534))
		all = append(all, refusal{"of another user", adopt(foreign), exitUsage, []string{"no login"}, []string{"another user"}})
	}
	must(t, os.MkdirAll(l.Home.Accounts(), 0o700))
	refusedAll(t, l, all, l.Repo)
}

// TestLoginsThatAreOdd: a login with more or less in it than usual is taken.
func TestLoginsThatAreOdd(t *testing.T) {
	t.Parallel()
	l := started(t)
	for name, text := range map[string]string{
		"more":       claudeLogin("at-more-0000000000"),
		"no-end":     `{"claudeAiOauth":{"accessToken":"at-no-end-0000000000","refreshToken":null}}`,
		"odd-end":    `{"claudeAiOauth":{"accessToken":"at-odd-end-0000000000","refreshToken":"rt-odd-end-00000","expiresAt":"soon","scopes":7}}`,
		"far-future": `{"claudeAiOauth":{"accessToken":"at-far-0000000000","refreshToken":"rt-far-00000","expiresAt":1e300}}`,
	} {
		dir := login(t, l, name, text)
		works(t, l, "account", "add", "--name", name, "--config-dir", dir)
		got, err := os.ReadFile(filepath.Join(dir, ".credentials.json"))
		must(t, err)
		if string(got) != text {
			t.Errorf("%s: the user's file was changed: %s", name, got)
		}
	}
}

// TestOneLoginTwice: two accounts with one login would share its limit, so the
// second is refused, however it comes.
func TestOneLoginTwice(t *testing.T) {
	t.Parallel()
	l := started(t)
	text := claudeLogin("at-twice-0000000000")
	dir, copied := login(t, l, "first", text), login(t, l, "copied", text)
	worksAs(t, l, call{args: []string{"account", "add", "--name", "work", "--token", "-"}, stdin: aToken})
	works(t, l, "account", "add", "--name", "side", "--config-dir", dir)
	refusedAll(t, l, []refusal{
		{"its token", adding(aToken, "--token", "-"), exitRefused, []string{"work"}, nil},
		{"its directory", adding("", "--config-dir", dir), exitRefused, []string{"side"}, nil},
		{"a copy", adding("", "--config-dir", copied), exitRefused, []string{"side"}, nil},
		{"its file, pasted", adding(text, "--token", "-"), exitRefused, []string{"side"}, nil},
		{"its name", call{args: []string{"account", "add", "--name", "work", "--token", "-"}, stdin: aToken + "b"}, exitRefused, []string{"work"}, nil},
	}, l.Repo)
}

// keyed adds an account of the scripted CLI.
func keyed(t *testing.T, l *lab.Lab, name string) {
	t.Helper()
	worksAs(t, l, call{args: []string{"account", "add", "--provider", "fake", "--name", name, "--api-key"}, stdin: "key-of-" + name})
}

// TestRemoveOneInUse: an account that an agent works with is not removed; it may
// be told to go with its last agent.
func TestRemoveOneInUse(t *testing.T) {
	t.Parallel()
	l := started(t)
	keyed(t, l, "work")
	release := filepath.Join(root(l), "release")
	name := waiting(t, l, commits("a.txt"), release, "--account", "work")
	refused(t, l, refusal{"in use", call{args: []string{"account", "remove", "work"}}, exitRefused, []string{"work", name}, []string{"--drain"}}, l.Repo)
	refused(t, l, refusal{"the own login", call{args: []string{"account", "remove", "fake/default"}}, exitRefused, []string{"your own login"}, []string{"disable"}}, l.Repo)
	holds(t, "the answer", works(t, l, "account", "remove", "--drain", "work").stdout, "last agent")
	refused(t, l, refusal{"given to another", call{args: []string{"run", "--provider", "fake", "--account", "work", commits("b.txt").Goal()}}, exitRefused, []string{"about to be removed"}, nil}, l.Repo)
	must(t, os.WriteFile(release, nil, 0o600))
	until(t, "it is done", func() bool { return show(t, l, name).Status == "idle" })
	l.Kill()
	l.Start() // looks at once
	until(t, "the account goes", func() bool {
		return !strings.Contains(works(t, l, "account", "list", "--provider", "fake").stdout, "work")
	})
	if left, _ := filepath.Glob(filepath.Join(l.Home.Secrets(), "*.age")); len(left) > 0 {
		t.Errorf("its secret is left: %v", left)
	}
}

// TestSecretsCannotBeRead: without the vault no account can be used, and nothing
// is held against the accounts; the user's own login goes on.
func TestSecretsCannotBeRead(t *testing.T) {
	t.Parallel()
	l := started(t)
	keyed(t, l, "work")
	key, err := filepath.Glob(filepath.Join(l.Home.Secrets(), "*key*"))
	if err != nil || len(key) != 1 {
		t.Fatalf("keys %q, %v", key, err)
	}
	was, err := os.ReadFile(key[0])
	must(t, err)
	must(t, os.WriteFile(key[0], []byte("rubbish\n"), 0o600))
	refuses(t, l, refusal{"add another", call{args: []string{"account", "add", "--provider", "fake", "--name", "more", "--api-key"}, stdin: "key-of-more"}, exitFailed, []string{"secrets"}, nil})
	holds(t, "the test", ask(t, l, "account", "test", "fake/work").stderr, "secrets")
	works(t, l, "account", "disable", "fake/default") // else it goes on with that
	refuses(t, l, refusal{"begin with it", call{args: []string{"run", "--provider", "fake", "--account", "work", commits("a.txt").Goal()}}, exitFailed, []string{"secrets"}, []string{"yours alone"}})
	if left := works(t, l, "agent", "list", "--json").stdout; strings.TrimSpace(left) != "[]" {
		t.Errorf("an agent is left: %s", left)
	}
	if v := decode[cw.AccountView](t, works(t, l, "account", "show", "--json", "fake/work").stdout); v.Invalid != "" || v.ExhaustedUntil != nil {
		t.Errorf("it is held against the account: %q, until %v", v.Invalid, v.ExhaustedUntil)
	}
	works(t, l, "account", "enable", "fake/default")
	if r, a := runs(t, l, commits("own.txt"), "--account", "fake/default"); a.code != exitOK || r.Commits != 1 {
		t.Errorf("with the own login: %s", a)
	}
	must(t, os.WriteFile(key[0], was, 0o600))
	if r, a := runs(t, l, commits("b.txt"), "--account", "work"); a.code != exitOK || r.Commits != 1 {
		t.Errorf("with its key again: %s", a)
	}
}

// TestKeyringIsNotThere: a home that must use a keyring where there is none has
// no accounts, says why, and works with the user's own login.
func TestKeyringIsNotThere(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.Env = append(l.Env, "CW_VAULT=keyring", "DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(root(l), "no-bus"))
	l.Start()
	refuses(t, l, refusal{"add", adding(aToken, "--token", "-"), exitFailed, []string{"keyring"}, nil})
	if r, a := runs(t, l, commits("a.txt")); a.code != exitOK || r.Commits != 1 {
		t.Errorf("%s", a)
	}
}

// TestUsageCannotBeAsked: a provider that does not answer is told as that, and
// is held against nobody.
func TestUsageCannotBeAsked(t *testing.T) {
	t.Parallel()
	l := started(t)
	worksAs(t, l, call{args: []string{"account", "add", "--name", "work", "--token", "-", "--base-url", "http://127.0.0.1:1"}, stdin: aToken})
	asked := works(t, l, "account", "usage", "work")
	holds(t, "the usage", asked.stdout+asked.stderr, "cannot be reached")
	tried := ask(t, l, "account", "test", "work")
	holds(t, "the test", tried.stdout+tried.stderr, "cannot be reached", "nothing is known")
	list := decode[[]cw.AccountView](t, works(t, l, "account", "list", "--json", "--provider", "claude").stdout)
	for _, v := range list {
		if v.Invalid != "" || v.ExhaustedUntil != nil {
			t.Errorf("it is held against %s: %q, until %v", v.Name, v.Invalid, v.ExhaustedUntil)
		}
	}
	if strings.Contains(asked.String()+tried.String()+l.DaemonLog(), aToken) {
		t.Error("the token is told")
	}
}

// TestLimitByAWrongClock: a limit that ended hours ago, or that ends in a year,
// was told by a clock that is wrong. The account is left alone for an hour.
func TestLimitByAWrongClock(t *testing.T) {
	t.Parallel()
	for name, hours := range map[string]int{"behind": -3, "far ahead": 24 * 365} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := started(t)
			_, a := runs(t, l, fakecli.Script{Limited: map[string]int{fakecli.AnyAccount: hours * 3600}}, "--no-wait-parked")
			if a.code != exitTimeout {
				t.Fatalf("%s", a)
			}
			v := decode[struct{ Agent cw.AgentView }](t, a.stdout).Agent
			if v.Status != cw.StatusParked || v.RetryAt == nil || v.RetryAt.Before(time.Now().Add(50*time.Minute)) || v.RetryAt.After(time.Now().Add(70*time.Minute)) {
				t.Errorf("%s until %v", v.Status, v.RetryAt)
			}
		})
	}
}

// TestUpgradedWhileItRuns: the program of a provider is replaced while an agent
// runs. That run goes on to its end, and the next one has the new program.
func TestUpgradedWhileItRuns(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	release := filepath.Join(root(l), "release")
	version := func(v string) string {
		return "#!/bin/sh\n[ \"$1\" = --version ] && echo 'cli " + v + "' && exit\ncat > /dev/null\necho 'This is " + v +
			"'\nwhile [ ! -e '" + release + "' ]; do sleep 0.05; done\necho '" + done + "' > .cw/output/signal.json\n"
	}
	preset(t, l, "moving", "", versioned)
	executable(t, root(l), "moving-cli", version("2.1.0"))
	l.Start()
	first := strings.TrimSpace(works(t, l, "run", "--detach", "--provider", "moving", "work").stdout)
	until(t, "it runs", func() bool { return strings.Contains(works(t, l, "agent", "logs", first).stdout, "This is 2.1.0") })
	must(t, os.Rename(executable(t, root(l), "moving-new", version("3.0.0")), filepath.Join(root(l), "moving-cli")))
	second := strings.TrimSpace(works(t, l, "run", "--detach", "--provider", "moving", "work").stdout)
	until(t, "the next one runs", func() bool { return strings.Contains(works(t, l, "agent", "logs", second).stdout, "This is 3.0.0") })
	must(t, os.WriteFile(release, nil, 0o600))
	for _, name := range []string{first, second} {
		until(t, name+" is done", func() bool { return show(t, l, name).Status == "idle" })
	}
	works(t, l, "agent", "resume", first, "more")
	until(t, "it goes on", func() bool { return strings.Contains(works(t, l, "agent", "logs", first).stdout, "This is 3.0.0") })
}
