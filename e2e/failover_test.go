package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
)

// limitOf is the failure of an account at its limit until a time.
func (p provider) limitOf(until time.Time) model.Failure {
	if p.name == "codex" {
		return model.OpenAIUsageLimit(until)
	}
	return model.UsageLimitOAuth(until)
}

// secretOf is what an account of the test has for credentials.
func (p provider) secretOf(name string) string {
	if p.name == "codex" {
		return "sk-proj-" + name + "-00000000000000000000"
	}
	return "sk-ant-oat01-" + name + "-00000000000000000000"
}

// pooled is newLab with accounts in the place of the user's own login: tokens of
// claude, API keys of codex, each with a configuration directory of its own.
func pooled(t *testing.T, p provider, s model.Scenario, names ...string) (*lab.Lab, *model.Server) {
	t.Helper()
	l, srv := newLab(t, p, s)
	l.Start()
	for _, name := range names {
		p.addAccount(t, l, srv.URL, name)
	}
	cwDo(t, l, "", "account", "disable", p.name+"/default")
	return l, srv
}

func (p provider) addAccount(t *testing.T, l *lab.Lab, url, name string) cw.Account {
	t.Helper()
	args := []string{"account", "add", "--json", "--provider", p.name, "--name", name}
	if p.name == "codex" {
		args = append(args, "--api-key")
	} else {
		args = append(args, "--token", "-", "--base-url", url)
	}
	var a cw.AccountView
	must(t, json.Unmarshal([]byte(cwDo(t, l, p.secretOf(name)+"\n", args...)), &a))
	if p.name == "codex" {
		codexSettings(t, l, a.ConfigDir)
	}
	return a.Account
}

// codexSettings leads codex to the model server: its address is a setting in the
// directory of each account.
func codexSettings(t *testing.T, l *lab.Lab, dir string) {
	t.Helper()
	settings, err := os.ReadFile(filepath.Join(filepath.Dir(l.Repo), ".codex/config.toml"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "config.toml"), settings, 0o600))
}

// account finds an account by its name.
func account(t *testing.T, l *lab.Lab, ref string) cw.AccountView {
	t.Helper()
	a, err := l.Client().Account(t.Context(), ref)
	must(t, err)
	return a
}

// told gives the payloads of all events of a type.
func told[T any](t *testing.T, l *lab.Lab, kind cw.EventType) []T {
	t.Helper()
	var out []T
	for e, err := range l.Client().Events(t.Context(), cw.EventQuery{}) {
		must(t, err)
		if e.Type == kind {
			var payload T
			must(t, json.Unmarshal(e.Data, &payload))
			out = append(out, payload)
		}
	}
	return out
}

// sentAfter counts the requests with a credential that came after the first one
// with another, those beside the work too.
func sentAfter(srv *model.Server, credential, other string) int {
	n, switched := 0, false
	for _, e := range srv.Exchanges() {
		switch {
		case e.Request == nil:
		case e.Request.Credential.Value == other:
			switched = true
		case switched && e.Request.Credential.Value == credential:
			n++
		}
	}
	return n
}

// finished checks an agent that went on with its task after a failure: one
// commit with its work, in the worktree that it began in, and nothing left.
func finished(t *testing.T, l *lab.Lab, v cw.AgentView) {
	t.Helper()
	if v.Status != cw.StatusIdle || v.Commits() != 1 || v.Reason != "" || len(v.Warnings) > 0 {
		t.Fatalf("status %s (%s %s), %d commits, warnings %q\n%s", v.Status, v.Reason, v.Error, v.Commits(), v.Warnings, l.DaemonLog())
	}
	if got := committed(t, l, v, "greeting.txt"); got != "Good morning." {
		t.Errorf("it committed %q", got)
	}
	nothingLeft(t, l)
}

// TestFailsOver: an account is at its limit in the middle of a task. Another one
// goes on with the same conversation in the same worktree, and nobody notices
// but by the events; the first one is not asked again.
func TestFailsOver(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		one, two := p.secretOf("one"), p.secretOf("two")
		l, srv := pooled(t, p, failsFor(goesOn, p.atLimit, one), "one", "two")
		a, stderr, code := p.run(t, l, "--no-wait-parked", "--account", "one", goal)
		if code != 0 {
			t.Fatalf("exit %d, status %s (%s %s)\n%s\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, stderr, l.DaemonLog())
		}
		v := l.Rest(string(a.Agent.ID))
		finished(t, l, v)
		from, to := account(t, l, "one"), account(t, l, "two")
		if len(v.Runs) != 2 || v.AccountID != to.ID || v.Runs[0].AccountID != from.ID || v.Runs[1].AccountID != to.ID || v.Runs[1].Reason != cw.RunFailover || v.Runs[1].Fresh {
			t.Errorf("runs %+v", v.Runs)
		}
		wantSwitch := cw.AgentAccountSwitched{
			Name: v.Alias, From: from.ID, FromName: "one", To: to.ID, ToName: "two",
			FromProvider: p.name, ToProvider: p.name, Reason: cw.ReasonUsageLimit, Session: "kept",
		}
		if got := told[cw.AgentAccountSwitched](t, l, cw.EventAgentAccountSwitched); !slices.Equal(got, []cw.AgentAccountSwitched{wantSwitch}) {
			t.Errorf("told %+v", got)
		}
		if got := told[cw.AccountExhausted](t, l, cw.EventAccountExhausted); len(got) != 1 || got[0].AccountID != from.ID || !got[0].Until.Equal(resets) {
			t.Errorf("told %+v, want one until %v", got, resets)
		}
		if n := sentAfter(srv, one, two); n > 0 {
			t.Errorf("the first account was sent %d requests afterwards", n)
		}
		oneSession(t, srv, one, two)
		if shown := cwDo(t, l, "", "account", "list"); !strings.Contains(shown, resets.Local().Format("15:04")) {
			t.Errorf("the list does not tell when it is back:\n%s", shown)
		}
	})
}

// oneSession checks that all requests were of one session, and had one of the
// credentials.
func oneSession(t *testing.T, srv *model.Server, credentials ...string) {
	t.Helper()
	sessions := map[string]bool{}
	for _, r := range srv.Requests() {
		sessions[r.Session] = true
		if !slices.Contains(credentials, r.Credential.Value) {
			t.Errorf("a request came with the credential %q", r.Credential.Value)
		}
	}
	if len(sessions) != 1 {
		t.Errorf("the requests were of %d sessions", len(sessions))
	}
}

// awhile is how long accounts are at their limit where a test waits for them:
// long enough to be seen, on a machine that is busy too.
const awhile = 25 * time.Second

// TestIsParked: all accounts are at their limit. The agent waits, and says until
// when; then it goes on by itself, also when its daemon died meanwhile, and also
// when there is nothing but the user's own login.
func TestIsParked(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		for _, tt := range []struct {
			name     string
			accounts []string
			dies     bool
		}{
			{"two accounts", []string{"one", "two"}, false},
			{"two accounts over a daemon", []string{"one", "two"}, true},
			{"the own login alone", nil, false},
		} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				s := atLimitFor(goesOn, p.limitOf, awhile)
				var l *lab.Lab
				var srv *model.Server
				if tt.accounts != nil {
					l, srv = pooled(t, p, s, tt.accounts...)
				} else {
					l, srv = newLab(t, p, s)
					l.Env = append(l.Env, p.account...)
					l.Start()
				}
				first := p.spawn(t, l)
				parked := l.Until(string(first.ID), func(v cw.AgentView) bool { return v.Status == cw.StatusParked || v.Status.AtRest() })
				showsParked(t, l, parked)
				if tt.dies {
					l.Kill()
					l.Start()
				}
				cwDo(t, l, "", "agent", "attach", first.Alias) // to its end
				v := restsAfter(l, first, len(parked.Runs)+1)
				finished(t, l, v)
				last := v.Runs[len(v.Runs)-1]
				if len(v.Runs) != max(1, len(tt.accounts))+1 || last.Fresh || v.SessionID != parked.SessionID || last.CreatedAt.Before(*parked.RetryAt) {
					t.Errorf("the last of %d runs: %+v, parked until %v", len(v.Runs), last, parked.RetryAt)
				}
				if n := len(srv.Requests()); n < 7 {
					t.Errorf("%d requests", n)
				}
			})
		}
	})
}

// showsParked checks how a parked agent is shown.
func showsParked(t *testing.T, l *lab.Lab, v cw.AgentView) {
	t.Helper()
	if v.Status != cw.StatusParked || v.Reason != cw.ReasonUsageLimit || v.RetryAt == nil {
		t.Fatalf("status %s (%s %s), goes on at %v\n%s", v.Status, v.Reason, v.Error, v.RetryAt, l.DaemonLog())
	}
	at := v.RetryAt.Local().Format("15:04")
	for _, args := range [][]string{{"agent", "show", v.Alias}, {"agent", "list"}} {
		if out := cwDo(t, l, "", args...); !strings.Contains(out, "parked") || !strings.Contains(out, at) {
			t.Errorf("cw %s does not tell until %s:\n%s", strings.Join(args, " "), at, out)
		}
	}
}

// TestRunWaitsWhileParked: `cw run` says that the agent is parked and until
// when, and ends with its work done.
func TestRunWaitsWhileParked(t *testing.T) {
	t.Parallel()
	l, _ := pooled(t, claude, atLimitFor(goesOn, claude.limitOf, awhile/2), "one")
	a, stderr, code := claude.run(t, l, goal)
	if code != 0 || a.Commits != 1 || strings.Count(stderr, "is parked until") != 1 {
		t.Errorf("exit %d, %d commits\n%s", code, a.Commits, stderr)
	}
}

// TestFallsBack: where all accounts of claude are at their limit, codex goes on
// when the project says so. It is told what happened.
func TestFallsBack(t *testing.T) {
	t.Parallel()
	l, srv := newLab(t, claude, func(t *model.Turn) model.Reply {
		if t.Protocol == "anthropic" && inTheMiddle(t) {
			return model.Fail(claude.atLimit)
		}
		return goesOnElsewhere(t)
	})
	_, also := codex.ready(t, codex.version, filepath.Dir(l.Repo), srv.URL)
	l.Env = append(append(also, l.Env...), claude.account...)
	l.Start()
	cwDo(t, l, "", "project", "add", ".")
	cwDo(t, l, "", "project", "set", ".", "fallback", "codex")
	a, stderr, code := claude.run(t, l, "--no-wait-parked", goal)
	if code != 0 {
		t.Fatalf("exit %d, status %s (%s %s)\n%s\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, stderr, l.DaemonLog())
	}
	v := l.Rest(string(a.Agent.ID))
	finished(t, l, v)
	if len(v.Runs) != 2 || v.Provider != "codex" || v.Runs[0].Provider != "claude" || v.Runs[1].Provider != "codex" || !v.Runs[1].Fresh {
		t.Errorf("provider %s, runs %+v", v.Provider, v.Runs)
	}
	got := told[cw.AgentAccountSwitched](t, l, cw.EventAgentAccountSwitched)
	if len(got) != 1 || got[0].FromProvider != "claude" || got[0].ToProvider != "codex" || got[0].Session != "handover" {
		t.Errorf("told %+v", got)
	}
}

// TestOwnLoginAlone: who has added no account sees none but their own, and a
// task goes as it always did.
func TestOwnLoginAlone(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, srv := newLab(t, p, done)
		a, stderr, code := p.run(t, l, goal)
		if code != 0 || a.Commits != 1 || a.Agent.AccountID != cw.DefaultAccountID(p.name) {
			t.Fatalf("exit %d, account %s\n%s", code, a.Agent.AccountID, stderr)
		}
		var all []cw.AccountView
		must(t, json.Unmarshal([]byte(cwDo(t, l, "", "account", "list", "--json", "--provider", p.name)), &all))
		if len(all) != 1 || all[0].Kind != cw.AccountOwn || all[0].ConfigDir != "" {
			t.Errorf("accounts %+v", all)
		}
		if entries, err := os.ReadDir(l.Home.Accounts()); err == nil && len(entries) > 0 {
			t.Errorf("there are directories of accounts: %v", entries)
		}
		for _, r := range srv.Requests() {
			if r.Credential.Value != "dummy" {
				t.Errorf("a request came with %q", r.Credential.Value)
			}
		}
		if shown := fmt.Sprint(told[cw.AccountChanged](t, l, cw.EventAccountAdded)); shown != "[]" {
			t.Errorf("accounts were added: %s", shown)
		}
	})
}
