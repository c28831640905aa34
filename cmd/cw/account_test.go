package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

const aSecret = "sk-ant-oat01-swordfish"

// pool puts accounts in all states in.
func pool(b *bench) {
	at := func(d time.Duration) *time.Time { t := epoch.Add(d); return &t }
	used := []cw.UsageWindow{
		{Kind: "five_hour", UsedPercent: 42.4, ResetsAt: at(2*time.Hour + 55*time.Minute)},
		{Kind: "seven_day", UsedPercent: 103, ResetsAt: at(-time.Minute)}, {Kind: "quota", UsedPercent: 0},
	}
	acc := func(id, name string, change func(*cw.AccountView)) cw.AccountView {
		v := cw.AccountView{Account: cw.Account{
			ID: cw.AccountID(id), Provider: "claude", Name: name, Email: name, Kind: cw.AccountToken, Enabled: true, CreatedAt: epoch.Add(-48 * time.Hour),
			ConfigDir: "/home/lead/.cw/accounts/" + id, Usage: []cw.UsageWindow{},
		}, Agents: []string{}}
		change(&v)
		return v
	}
	b.fake.accounts = []cw.AccountView{
		acc("aaaaaaaaaaaa", "one@example.com", func(v *cw.AccountView) {
			v.Priority, v.Usage, v.UsageAt, v.LastUsedAt = 5, used, at(-3*time.Minute), at(-time.Minute)
			v.Agents, v.CostUSD, v.Tokens = []string{"brave-otter", "calm-fox"}, 12.5, cw.Usage{InputTokens: 1000, OutputTokens: 2000}
		}),
		acc("bbbbbbbbbbbb", "two@example.com", func(v *cw.AccountView) {
			v.ExhaustedUntil, v.ExhaustedKind, v.ExhaustedText = at(time.Hour), "five_hour", "You've hit your limit\n\x1b[31mresets 5pm"
		}),
		acc("dddddddddddd", "three", func(v *cw.AccountView) { v.Invalid = "the provider refused the token (401)" }),
		acc("eeeeeeeeeeee", "four", func(v *cw.AccountView) { v.Enabled = false }),
		acc("ffffffffffff", "five", func(v *cw.AccountView) { v.Draining = true }),
		acc("gggggggggggg", "six", func(v *cw.AccountView) { v.Usage = []cw.UsageWindow{{Kind: "quota", UsedPercent: 96}} }),
		acc("default-claude", "default", func(v *cw.AccountView) { v.Kind, v.Email, v.ConfigDir = cw.AccountOwn, "", "" }),
		acc("hhhhhhhhhhhh", "key", func(v *cw.AccountView) {
			v.Provider, v.Kind, v.Email, v.BaseURL = "codex", cw.AccountKey, "", "http://127.0.0.1:9"
		}),
	}
	b.fake.usage = map[string]cw.AccountUsage{
		"one@example.com": {Account: b.fake.accounts[0].Account, Source: "endpoint", AgeNanos: int64(3 * time.Second)},
		"two@example.com": {
			Account: withUsage(b.fake.accounts[1].Account, used), Source: "stream", AgeNanos: int64(3 * time.Hour), Trouble: "the provider cannot be reached",
		},
	}
	for _, v := range b.fake.accounts[2:] {
		b.fake.usage[v.Name] = cw.AccountUsage{Account: v.Account, Source: "none"}
	}
	b.fake.tried = map[string]cw.AccountTest{
		"one@example.com": {Account: "one@example.com", OK: true, Text: "the provider takes them"},
		"three":           {Account: "three", Text: "401: the token was revoked"},
		"four":            {Account: "four", Unknown: true, Text: "the provider cannot be reached"},
	}
}

func withUsage(a cw.Account, windows []cw.UsageWindow) cw.Account {
	a.Usage = windows
	return a
}

func stdin(text string, more ...func(*bench)) func(*bench) {
	return func(b *bench) {
		b.in = strings.NewReader(text)
		for _, f := range more {
			f(b)
		}
	}
}

func TestAccountAdd(t *testing.T) {
	t.Parallel()
	sessions(t, "account", []sessionCase{
		{"add token", []string{"account", "add", "--email", "one@example.com", "--token", "-"}, stdin(aSecret + "\n"), 0},
		{"add token json", []string{"account", "add", "--email", "one@example.com", "--token", "-", "--json"}, stdin(aSecret + "\n"), 0},
		{"add key", []string{"account", "add", "--provider", "codex", "--name", "work", "--api-key", "--priority", "3", "--base-url", "http://127.0.0.1:9"}, stdin(" " + aSecret), 0},
		{"add directory", []string{"account", "add", "--name", "work", "--config-dir", "../claude"}, nil, 0},
		{"add empty", []string{"account", "add", "--email", "one@example.com"}, nil, 0},
		{"add two ways", []string{"account", "add", "--api-key", "--token", "-"}, stdin(aSecret), 2},
		{"add no secret", []string{"account", "add", "--token", "-"}, stdin(" \n"), 2},
		{"add empty word", []string{"account", "add", "--token", ""}, nil, 2},
		{"add key word", []string{"account", "add", "--api-key", "key"}, nil, 2},
		{"add bad name", []string{"account", "add", "--name", "a b", "--token", "-"}, stdin(aSecret), 2},
		{"add long", []string{"account", "add", "--token", "-"}, stdin(strings.Repeat("x", secretMax+1)), 2},
		{"add refused", []string{"account", "add", "--name", "work", "--token", "-"}, stdin(aSecret, func(b *bench) {
			b.fake.errs["AddAccount"] = cw.Errorf(cw.CodeRefused, "this login is the account one already").WithHint("see: cw account show one")
		}), 4},
	})
}

// TestAccountSecrets: a secret arrives as it is, from the terminal without being
// shown, and only one on the command line is warned of.
func TestAccountSecrets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args  []string
		setup func(*bench)
		warns bool
	}{
		"stdin":    {[]string{"--token", "-"}, stdin("\n" + aSecret + "\r\n"), false},
		"key":      {[]string{"--api-key"}, stdin(aSecret), false},
		"argument": {[]string{"--token", aSecret}, nil, true},
		"terminal": {[]string{"--api-key"}, func(b *bench) {
			b.inTTY = true
			b.hidden = func(prompt string) (string, error) {
				if !strings.Contains(prompt, "API key") {
					return "", errors.New("what is asked for?")
				}
				return aSecret, nil
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.setup != nil {
				c.setup(b)
			}
			code := b.execute(t.Context(), append([]string{"account", "add", "--name", "work"}, c.args...))
			if code != 0 || len(b.fake.added) != 1 {
				t.Fatalf("exit %d, %d added: %s", code, len(b.fake.added), b.stderr)
			}
			if got := b.fake.added[0]; got.Token.Reveal()+got.APIKey.Reveal() != aSecret {
				t.Errorf("it arrived as %q and %q", got.Token.Reveal(), got.APIKey.Reveal())
			}
			if shown := b.stdout.String() + b.stderr.String(); strings.Contains(shown, "swordfish") || strings.Contains(shown, "warning") != c.warns {
				t.Errorf("shown: %s", shown)
			}
		})
	}
}

func TestAccount(t *testing.T) {
	t.Parallel()
	found := func(b *bench) {
		b.fake.logins = []cw.FoundLogin{
			{Provider: "claude", ConfigDir: "/home/lead/.claude-work", Email: "one@example.com", Add: "cw account add --config-dir /home/lead/.claude-work"},
			{Provider: "claude", ConfigDir: "/home/lead/.claude", Email: "two@example.com", Account: "default"},
			{Provider: "codex", Variable: "OPENAI_API_KEY", Trouble: "it is empty"},
		}
	}
	sessions(t, "account", []sessionCase{
		{"list", []string{"account", "list"}, pool, 0},
		{"list provider", []string{"account", "ls", "--provider", "codex"}, pool, 0},
		{"list json", []string{"account", "list", "--json"}, pool, 0},
		{"list empty", []string{"account", "list"}, nil, 0},
		{"list empty json", []string{"account", "list", "--json"}, nil, 0},
		{"show", []string{"account", "show", "one@example.com"}, pool, 0},
		{"show at its limit", []string{"account", "show", "claude/two@example.com"}, pool, 0},
		{"show own", []string{"account", "show", "default-claude"}, pool, 0},
		{"show json", []string{"account", "show", "three", "--json"}, pool, 0},
		{"show unknown", []string{"account", "show", "nobody"}, pool, 3},
		{"show nothing", []string{"account", "show"}, nil, 2},
		{"usage", []string{"account", "usage"}, pool, 0},
		{"usage one", []string{"account", "usage", "two@example.com"}, pool, 0},
		{"usage json", []string{"account", "usage", "one@example.com", "--json"}, pool, 0},
		{"usage none", []string{"account", "usage"}, nil, 0},
		{"test", []string{"account", "test", "one@example.com"}, pool, 0},
		{"test bad", []string{"account", "test", "three"}, pool, 1},
		{"test unknown", []string{"account", "test", "four"}, pool, 1},
		{"test bad json", []string{"account", "test", "three", "--json"}, pool, 1},
		{"discover", []string{"account", "discover"}, found, 0},
		{"discover json", []string{"account", "discover", "--json"}, found, 0},
		{"discover nothing", []string{"account", "discover"}, nil, 0},
		{"enable", []string{"account", "enable", "four", "codex/key"}, pool, 0},
		{"disable json", []string{"account", "disable", "one@example.com", "--json"}, pool, 0},
		{"disable nothing", []string{"account", "disable"}, pool, 2},
		{"priority", []string{"account", "priority", "four", "--", "-3"}, pool, 0},
		{"priority word", []string{"account", "priority", "four", "high"}, pool, 2},
		{"priority nothing", []string{"account", "priority", "four"}, pool, 2},
		{"remove", []string{"account", "remove", "three"}, pool, 0},
		{"remove drain", []string{"account", "rm", "--drain", "one@example.com"}, pool, 0},
		{"remove json", []string{"account", "remove", "three", "--json"}, pool, 0},
		{"remove used", []string{"account", "remove", "one@example.com"}, func(b *bench) {
			pool(b)
			b.fake.errs["RemoveAccount"] = cw.Errorf(cw.CodeRefused, "the account one@example.com is used by brave-otter").
				WithHint("stop them, or let it go with its last agent: cw account remove --drain one@example.com")
		}, 4},
		{"no such command", []string{"account", "lst"}, nil, 2},
	})
}

// TestAccountLogin runs the CLI's login with the directory of the account, and
// asks for nothing when that did not end well.
func TestAccountLogin(t *testing.T) {
	t.Parallel()
	for name, failed := range map[string]error{"well": nil, "badly": errors.New("exit status 1")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			pool(b)
			b.env["ANTHROPIC_API_KEY"] = aSecret
			var ran, env []string
			b.child = func(command, environ []string) error {
				ran, env = command, environ
				return failed
			}
			if failed != nil {
				b.fake.errs["FinishLogin"] = errors.New("it was asked for")
			}
			text, code := b.session(t.Context(), "account", "login", "one@example.com")
			golden(t, "account/login "+name, text)
			if finished := code == 0; finished != (failed == nil) {
				t.Errorf("exit %d", code)
			}
			if diff := cmp.Diff([]string{"claude", "/login"}, ran); diff != "" {
				t.Error(diff)
			}
			all := strings.Join(env, "\n")
			if strings.Contains(all, "ANTHROPIC_API_KEY") {
				t.Error("the user's key is in the way of the login")
			}
			if !strings.Contains(all, "CLAUDE_CONFIG_DIR=/home/lead/.cw/accounts/aaaaaaaaaaaa") || !strings.Contains(all, "HOME=/home/lead") {
				t.Errorf("environment:\n%s", all)
			}
		})
	}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	sums := func(b *bench) {
		b.fake.costs = []cw.CostRow{
			{Key: "aaaaaaaaaaaa", Name: "brave-otter", Runs: 3, CostUSD: 1.25, Usage: cw.Usage{InputTokens: 1200, OutputTokens: 3400, CacheReadTokens: 5_000_000}},
			{Key: "bbbbbbbbbbbb", Name: "calm-fox", Runs: 2, CostUSD: 0.05, EstimatedUSD: 0.05, Unpriced: 1, UnderWay: 1, Usage: cw.Usage{InputTokens: 10, OutputTokens: 20}},
		}
	}
	warned := epoch.Add(-time.Hour)
	limits := func(b *bench) {
		b.fake.budgets = []cw.Budget{
			{Scope: cw.BudgetAccount, ScopeID: "cccccccccccc", Name: "claude/work", LimitUSD: 100, SpentUSD: 81, WarnedAt: &warned},
			{Scope: cw.BudgetAgent, ScopeID: "aaaaaaaaaaaa", Name: "brave-otter", LimitUSD: 5, SpentUSD: 5.2, WarnedAt: &warned, SpentAt: &epoch},
			{Scope: cw.BudgetInitiative, ScopeID: "iiiiiiiiiiii", Name: "Spring sale", Slug: "spring-sale", LimitUSD: 40, SpentUSD: 1},
			{Scope: cw.BudgetAgent, ScopeID: "bbbbbbbbbbbb", Name: "calm-fox", LimitUSD: 0.5, Unpriced: 2},
		}
	}
	sessions(t, "cost", []sessionCase{
		{"by agent", []string{"cost"}, sums, 0},
		{"json", []string{"cost", "--by", "agent", "--json"}, sums, 0},
		{"none", []string{"cost", "--by", "day"}, nil, 0},
		{"none since", []string{"cost", "--by", "day", "--since", "7d"}, nil, 0},
		{"none today", []string{"cost", "--today"}, nil, 0},
		{"today and since", []string{"cost", "--today", "--since", "7d"}, nil, 2},
		{"none json", []string{"cost", "--json"}, nil, 0},
		{"bad way", []string{"cost", "--by", "month"}, nil, 2},
		{"bad time", []string{"cost", "--since", "yesterday"}, nil, 2},
		{"budgets", []string{"budget", "list"}, limits, 0},
		{"budgets json", []string{"budget", "ls", "--json"}, limits, 0},
		{"no budgets", []string{"budget", "list"}, nil, 0},
		{"set budget", []string{"budget", "set", "agent", "brave-otter", "$5"}, nil, 0},
		{"set budget json", []string{"budget", "set", "account", "claude/work", "0.5", "--json"}, nil, 0},
		{"take budget away", []string{"budget", "set", "agent", "brave-otter", "0"}, nil, 0},
		{"bad amount", []string{"budget", "set", "agent", "brave-otter", "much"}, nil, 2},
		{"negative amount", []string{"budget", "set", "agent", "brave-otter", "--", "-1"}, nil, 2},
		{"no amount", []string{"budget", "set", "agent", "brave-otter", "NaN"}, nil, 2},
		{"bad scope", []string{"budget", "set", "project", "site", "5"}, nil, 2},
		{"set nothing", []string{"budget", "set", "agent"}, nil, 2},
	})
}

func TestParseSince(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"7d": epoch.AddDate(0, 0, -7), "0d": epoch, "90m": epoch.Add(-90 * time.Minute), "12h": epoch.Add(-12 * time.Hour),
		"2025-12-31": time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC), "2025-12-31T10:00:00+02:00": time.Date(2025, 12, 31, 8, 0, 0, 0, time.UTC),
	} {
		got, err := parseSince(text, epoch)
		if err != nil || !got.Equal(want) {
			t.Errorf("%s is %v, want %v (%v)", text, got, want, err)
		}
	}
	for _, text := range []string{"d", "-7d", "7 d", "-1h", "2025-13-01", "yesterday", "1e9d"} {
		if got, err := parseSince(text, epoch); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("%q is %v (%v)", text, got, err)
		}
	}
}

// TestSpawnWithAccountAndBudget: both commands send them, and refuse amounts
// that are none before anything is started.
func TestSpawnWithAccountAndBudget(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"run", "--detach"}, {"agent", "spawn"}} {
		b := newBench(t)
		b.fake.add(running("brave-otter"), nil)
		code := b.execute(t.Context(), append(command, "--account", "claude/work", "--budget", "2.5", "do it"))
		if code != 0 || len(b.fake.spawns) != 1 || b.fake.spawns[0].AccountID != "claude/work" || b.fake.spawns[0].BudgetUSD != 2.5 {
			t.Errorf("%v: exit %d, %+v", command, code, b.fake.spawns)
		}
		for _, bad := range []string{"-1", "x", "NaN", "Inf"} {
			b := newBench(t)
			if code := b.execute(t.Context(), append(command, "--budget="+bad, "do it")); code != 2 || len(b.fake.spawns) != 0 {
				t.Errorf("%v --budget %s: exit %d", command, bad, code)
			}
		}
	}
}

func TestAccountOptions(t *testing.T) {
	t.Parallel()
	add, err := parsed(t, []string{"--token", "-", "--email", "e", "--priority", "2"},
		func(a *app, f func(context.Context, *accountAddOptions) error) runner { return newAccountAddCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &accountAddOptions{token: "-", hasToken: true, provider: "claude", email: "e", priority: 2}, add)
	budget, err := parsed(t, []string{"account", "work", "3"},
		func(a *app, f func(context.Context, *budgetSetOptions) error) runner { return newBudgetSetCmd(a, f) })
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &budgetSetOptions{scope: cw.BudgetAccount, ref: "work", limit: 3}, budget)
}
