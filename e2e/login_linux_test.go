package e2e

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
)

// withLogin is newLab for claude with a login in a directory of the user's, as
// the account work; its token holds for a while. The daemon and all CLIs reach
// the endpoint that renews it.
func withLogin(t *testing.T, ep *tokenEndpoint, s model.Scenario) (l *lab.Lab, srv *model.Server, file string) {
	t.Helper()
	l, srv = newLab(t, claude, s)
	l.Env = append(l.Env, ep.env()...)
	l.Start()
	file = filepath.Join(filepath.Dir(l.Repo), "theirs", ".credentials.json")
	must(t, os.Mkdir(filepath.Dir(file), 0o700))
	access, refresh := ep.tokens()
	must(t, os.WriteFile(file, loginOf(access, refresh, time.Now().Add(time.Hour)), 0o600))
	cwDo(t, l, "", "account", "add", "--name", "work", "--config-dir", filepath.Dir(file), "--base-url", srv.URL)
	cwDo(t, l, "", "account", "disable", "claude/default")
	return l, srv, file
}

// TestRenewsInTheMiddle: the provider refuses a token in the middle of a task.
// It is renewed, and the same account goes on; the user's own CLI finds the new
// login where it was.
func TestRenewsInTheMiddle(t *testing.T) {
	t.Parallel()
	ep := newTokenEndpoint(t)
	old, spent := ep.tokens()
	l, srv, file := withLogin(t, ep, failsFor(goesOn, model.Unauthorized401(), old))
	a, stderr, code := claude.run(t, l, goal)
	if code != 0 {
		t.Fatalf("exit %d, status %s (%s %s)\n%s\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, stderr, l.DaemonLog())
	}
	v := l.Rest(string(a.Agent.ID))
	finished(t, l, v)
	work := account(t, l, "work")
	if len(v.Runs) != 2 || v.Runs[1].AccountID != work.ID || v.Runs[1].Fresh || v.Runs[1].Reason != cw.RunFailover || work.Invalid != "" {
		t.Errorf("account %+v, runs %+v", work, v.Runs)
	}
	access, refresh := ep.tokens()
	if n := sentAfter(srv, old, access); n > 0 {
		t.Errorf("%d requests came with the old token afterwards", n)
	}
	oneSession(t, srv, old, access)
	if renewals, refusals := ep.counts(); renewals != 1 || refusals != 0 {
		t.Errorf("renewed %d times, refused %d times", renewals, refusals)
	}
	data, err := os.ReadFile(file)
	must(t, err)
	var login claudeLogin
	must(t, json.Unmarshal(data, &login))
	if o := login.OAuth; o.Access != access || o.Refresh != refresh || len(o.Scopes) != 2 {
		t.Errorf("the user's own file holds another login than the last")
	}
	if got := told[cw.AccountChanged](t, l, cw.EventAccountRefreshed); len(got) != 1 || got[0].AccountID != work.ID {
		t.Errorf("told %+v", got)
	}
	if found := holding(t, string(l.Home), spent, refresh); len(found) > 0 {
		t.Errorf("a refresh token is in %q", found)
	}
}

// TestRevoked: a login that is not renewed any more is marked, and another
// account goes on.
func TestRevoked(t *testing.T) {
	t.Parallel()
	ep := newTokenEndpoint(t)
	ep.revoke()
	old, _ := ep.tokens()
	l, srv, _ := withLogin(t, ep, failsFor(goesOn, model.Unauthorized401(), old))
	two := claude.addAccount(t, l, srv.URL, "two")
	a, stderr, code := claude.run(t, l, "--account", "work", goal)
	if code != 0 {
		t.Fatalf("exit %d, status %s (%s %s)\n%s\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, stderr, l.DaemonLog())
	}
	v := l.Rest(string(a.Agent.ID))
	finished(t, l, v)
	if len(v.Runs) != 2 || v.Runs[1].AccountID != two.ID || v.Runs[1].Fresh {
		t.Errorf("runs %+v", v.Runs)
	}
	got := told[cw.AgentAccountSwitched](t, l, cw.EventAgentAccountSwitched)
	if len(got) != 1 || got[0].FromName != "work" || got[0].ToName != "two" || got[0].Reason != cw.ReasonAuth || got[0].Session != "kept" {
		t.Errorf("told %+v", got)
	}
	work := account(t, l, "work")
	if marks := told[cw.AccountInvalid](t, l, cw.EventAccountInvalid); len(marks) != 1 || marks[0].AccountID != work.ID || work.Invalid == "" {
		t.Errorf("account %+v, told %+v", work, marks)
	}
	if n := sentAfter(srv, old, claude.secretOf("two")); n > 0 {
		t.Errorf("%d requests came with the revoked token afterwards", n)
	}
	if _, stderr, code := l.Run(l.Repo, "run", "--account", "work", goal); code != 4 || !strings.Contains(stderr, "cw account login work") {
		t.Errorf("begun with it all the same: exit %d\n%s", code, stderr)
	}
}

// TestOneRenewalForAll: 24 agents begin at once with one login whose token is
// over. It is renewed once, and all of them work: 4 are claude, 20 a CLI that
// renews whatever it can. None was given the refresh token.
func TestOneRenewalForAll(t *testing.T) {
	t.Parallel()
	ep := newTokenEndpoint(t)
	ep.held = make(chan struct{}) // until all agents want the token
	over, spent := ep.tokens()
	var wrong sync.Map
	l, srv := newLab(t, claude, func(t *model.Turn) model.Reply {
		if access, _ := ep.tokens(); t.Credential.Value != access {
			wrong.Store(t.Credential.Value, true)
			return model.Fail(model.Unauthorized401())
		}
		if t.Model == "renewer" {
			return model.Say("Fine.")
		}
		return showsAll(t)
	})
	notes := filepath.Join(filepath.Dir(l.Repo), "notes")
	must(t, os.Mkdir(notes, 0o700))
	self, err := os.Executable()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(l.Home.Providers(), "renewer.yaml"), []byte(renewerPreset(self, notes)), 0o600))
	l.Env = append(l.Env, ep.env()...)
	l.Start()
	cwDo(t, l, string(loginOf(over, spent, time.Now().Add(-time.Minute))), "account", "add", "--name", "work", "--token", "-", "--base-url", srv.URL)

	ids := spawnAll(t, l, 4, "claude", 20, "renewer", func() { close(ep.held) })
	for _, id := range ids {
		if v := restsWhenever(t, l, id); v.Status != cw.StatusIdle || len(v.Runs) != 1 {
			t.Errorf("%s %s: status %s (%s %s), %d runs", v.Provider, v.Alias, v.Status, v.Reason, v.Error, len(v.Runs))
		}
	}
	if renewals, refusals := ep.counts(); renewals != 1 || refusals != 0 {
		t.Errorf("renewed %d times, refused %d times", renewals, refusals)
	}
	wrong.Range(func(token, _ any) bool { t.Errorf("a request came with %v", token); return true })
	given, err := filepath.Glob(filepath.Join(notes, "*.given"))
	must(t, err)
	if len(given) != 20 {
		t.Errorf("%d CLIs wrote down what they were given", len(given))
	}
	noneHolds(t, l, srv, notes, ep)
	renewsIndeed(t, ep, srv.URL)
}

// showsAll prints everything that a CLI could find of its login.
func showsAll(t *model.Turn) model.Reply {
	switch t.Number() {
	case 1:
		return model.Say("I look.").Shell(`env; cat "$CLAUDE_CONFIG_DIR/.credentials.json"; tr '\0' '\n' < /proc/$PPID/environ`)
	case 2:
		t.Find(t.Output(), `"accessToken":"sk-ant-oat01-access-`)
		signal := exampleLike(t, `\{"status":"done".*"noChanges".*\}`)
		return model.Say("The signal.").Write(signalOf(t), encode(t, signal))
	}
	return model.Say("There was nothing.")
}

// spawnAll starts agents of two providers with the account work, all at once.
// When there are all of them it says so, before they have begun to work.
func spawnAll(t *testing.T, l *lab.Lab, n int, first string, m int, second string, there func()) []string {
	t.Helper()
	env := map[string]string{}
	for _, kv := range l.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	providers := slices.Concat(slices.Repeat([]string{first}, n), slices.Repeat([]string{second}, m))
	ids := make([]string, len(providers))
	var all sync.WaitGroup
	for i, name := range providers {
		all.Go(func() {
			v, err := l.Client().Spawn(t.Context(), cw.SpawnRequest{
				RequestKey: cw.NewID(), Goal: goal, Projects: []string{l.Repo}, Provider: name, AccountID: "work", Env: env,
			})
			if err != nil {
				t.Errorf("spawn %d: %v", i, err)
			}
			ids[i] = string(v.ID)
		})
	}
	for rows := 0; rows < len(ids) && !t.Failed(); time.Sleep(20 * time.Millisecond) {
		agents, err := cw.AllAgents(t.Context(), l.Client(), cw.AgentFilter{})
		if err != nil {
			t.Error(err)
		}
		rows = len(agents)
	}
	there()
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return ids
}

// restsWhenever waits for an agent longer than usual: with so many at once each
// one takes its time.
func restsWhenever(t *testing.T, l *lab.Lab, id string) cw.AgentView {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		v, err := l.Client().Agent(t.Context(), id)
		must(t, err)
		if v.Status.AtRest() && !v.Settling || v.Status == cw.StatusParked {
			return v
		}
		if time.Now().After(end) {
			t.Fatalf("agent %s stays %s %s\n%s", v.Alias, v.Status, v.Reason, l.DaemonLog())
		}
	}
}

// noneHolds checks that no refresh token is anywhere where a CLI could find it,
// was sent by one or was stored in the open.
func noneHolds(t *testing.T, l *lab.Lab, srv *model.Server, notes string, ep *tokenEndpoint) {
	t.Helper()
	issued := ep.allIssued()
	if found := holding(t, filepath.Dir(l.Repo), issued...); len(found) > 0 {
		t.Errorf("a refresh token is in %q", found)
	}
	for _, r := range srv.Requests() {
		for _, token := range issued {
			if bytes.Contains(r.Raw, []byte(token)) || r.Credential.Value == token {
				t.Errorf("a request of %s holds a refresh token", r.Session)
			}
		}
	}
	access, _ := ep.tokens() // the same search finds what is there
	if found := holding(t, notes, access); len(found) != 20 {
		t.Errorf("the access token was found in %d notes", len(found))
	}
}

// holding lists the files below a folder that hold one of the texts.
func holding(t *testing.T, dir string, texts ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // gone meanwhile, or nothing to read
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) {
				found = append(found, path)
			}
		}
		return nil
	})
	must(t, err)
	return found
}

// renewsIndeed checks that the CLI of the test does renew what it can: given the
// whole login, once its token is over.
func renewsIndeed(t *testing.T, ep *tokenEndpoint, url string) {
	t.Helper()
	dir := t.TempDir()
	access, refresh := ep.tokens()
	must(t, os.WriteFile(filepath.Join(dir, ".credentials.json"), loginOf(access, refresh, time.Now().Add(-time.Minute)), 0o600))
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, renewerCommand)
	cmd.Dir, cmd.Env = dir, append(ep.env(), "CLAUDE_CONFIG_DIR="+dir, "ANTHROPIC_BASE_URL="+url)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if renewals, _ := ep.counts(); renewals != 2 {
		t.Errorf("it was renewed %d times: the CLI does not renew", renewals)
	}
}
