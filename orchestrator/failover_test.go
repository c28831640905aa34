package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/accounts"
	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/proc"
)

// wallet holds the credentials of accounts for tests.
type wallet struct {
	mu     sync.Mutex
	fails  map[cw.AccountID]error // guarded by mu: what Ready says
	renews map[cw.AccountID]int   // guarded by mu: how often there are new ones
	told   []cw.AccountID         // guarded by mu: those that were refused
}

func newWallet() *wallet {
	return &wallet{fails: map[cw.AccountID]error{}, renews: map[cw.AccountID]int{}}
}

func keyOf(id cw.AccountID) string { return "key-" + string(id) }

func (w *wallet) Ready(_ context.Context, a cw.Account) (cw.AccountAccess, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails[a.ID]; err != nil {
		return cw.AccountAccess{}, err
	}
	return cw.AccountAccess{ConfigDir: a.ConfigDir, Env: map[string]string{fakecli.KeyVariable: keyOf(a.ID)}}, os.MkdirAll(a.ConfigDir, 0o700)
}

func (w *wallet) Refused(_ context.Context, id cw.AccountID, _ string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, id)
	w.renews[id]--
	return w.renews[id] >= 0, nil
}

func withWallet(w *wallet) setup { return func(c *Config) { c.Accounts = w } }

// pool adds accounts of the provider session, a before b, and takes the user's
// own login out of service.
func (e *engine) pool(names ...string) {
	e.t.Helper()
	own, err := e.db.AccountByID(e.t.Context(), "default-session")
	must(e.t, err)
	own.Enabled = false
	must(e.t, e.db.SetAccount(e.t.Context(), own))
	for _, name := range names {
		e.addAccount("session", name)
	}
}

func (e *engine) addAccount(provider, name string) {
	e.t.Helper()
	id := cw.AccountID("id-" + name)
	a := cw.Account{ID: id, Provider: provider, Name: name, Kind: cw.AccountToken, Enabled: true, ConfigDir: filepath.Join(string(e.home), "accounts", string(id)), CreatedAt: time.Now()}
	ev := cw.NewEvent(cw.EventAccountAdded, cw.Actor{Kind: cw.ActorPerson}, cw.AccountChanged{AccountID: id, Name: name})
	must(e.t, e.db.AddAccount(e.t.Context(), a, ev))
}

func (e *engine) accountByID(id cw.AccountID) cw.Account {
	e.t.Helper()
	a, err := e.db.AccountByID(e.t.Context(), id)
	must(e.t, err)
	return a
}

// limitedOn is a script whose account is at its limit for so many seconds, and
// that does its work in the next run.
func limitedOn(name string, seconds int) fakecli.Script {
	next := does()
	return fakecli.Script{Pieces: 3, Limited: map[string]int{digestOf(name): seconds}, Next: &next}
}

func digestOf(name string) string { return fakecli.Digest(keyOf(cw.AccountID("id-" + name))) }

func switches(t *testing.T, e *engine) (out []cw.AgentAccountSwitched) {
	t.Helper()
	for _, ev := range e.events(cw.EventAgentAccountSwitched) {
		var s cw.AgentAccountSwitched
		must(t, json.Unmarshal(ev.Data, &s))
		out = append(out, s)
	}
	return out
}

// TestFailOver: an agent whose account is at its limit goes on with the next
// one, in the same session and worktree. The first gets no request afterwards.
func TestFailOver(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	req := e.sessions(limitedOn("a", 3600))
	e.pool("a", "b")
	first := e.mustSpawn(req) // a is due, also for the first agent of a project
	v := e.idleAfter(first.Alias, 2)
	one, two := e.bookOf(v, 1), e.bookOf(v, 2)
	if one.Account() != digestOf("a") || !one.Limited() || two.Account() != digestOf("b") || !two.Start().Resumed || two.Start().Session != one.Start().Session {
		t.Errorf("first %+v\nthen %+v", one.Start(), two.Start())
	}
	r := v.Runs[1]
	if v.AccountID != "id-b" || r.AccountID != "id-b" || r.Reason != cw.RunFailover || r.Fresh || v.Commits() != 1 ||
		v.Runs[0].OutcomeReason != cw.ReasonUsageLimit || v.Runs[0].AccountID != "id-a" {
		t.Errorf("account %s, runs %+v", v.AccountID, v.Runs)
	}
	want := cw.AgentAccountSwitched{Name: v.Alias, From: "id-a", FromName: "a", To: "id-b", ToName: "b", FromProvider: "session", ToProvider: "session", Reason: cw.ReasonUsageLimit, Session: "kept"}
	if got := switches(t, e); !slices.Equal(got, []cw.AgentAccountSwitched{want}) {
		t.Errorf("told %+v", got)
	}
	if n := len(e.events(cw.EventAccountExhausted)); n != 1 {
		t.Errorf("%d exhaustions were told", n)
	}
	a := e.accountByID("id-a")
	if left := time.Until(*a.ExhaustedUntil); !a.Exhausted(time.Now()) || left < 50*time.Minute || left > 61*time.Minute {
		t.Errorf("account a is exhausted until %v", a.ExhaustedUntil)
	}
	if text := e.prompt(v, 2); !strings.Contains(text, "usage limit") || strings.Contains(text, "<role>") {
		t.Errorf("the prompt of the second run:\n%s", text)
	}
	_, err := e.Send(t.Context(), v.Alias, cw.SendRequest{Text: "Also this. " + fakecli.Script{Book: e.books, Signal: done}.Text()})
	must(t, err)
	v = e.until(v.Alias, func(v cw.AgentView) bool { return len(v.Runs) == 3 && v.Status == cw.StatusIdle })
	if v.Runs[2].AccountID != "id-b" || e.bookOf(v, 3).Account() != digestOf("b") {
		t.Errorf("the third run has %s", v.Runs[2].AccountID)
	}
}

const done = `{"status":"done","noChanges":"it is there"}`

// TestFailOverHandsOver: from the user's own login, whose place is not known, to
// an account of the pool no session can be taken: a new one is told what was
// done.
func TestFailOverHandsOver(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	next := does()
	req := e.sessions(fakecli.Script{Pieces: 3, Limited: map[string]int{"": 3600}, Next: &next})
	e.addAccount("session", "a")
	req.AccountID = "default"
	v := e.idleAfter(e.mustSpawn(req).Alias, 2)
	if r := v.Runs[1]; !r.Fresh || r.AccountID != "id-a" || e.bookOf(v, 2).Start().Resumed || v.Commits() != 1 {
		t.Errorf("run %+v", r)
	}
	if text := e.prompt(v, 2); !strings.Contains(text, "<hand_over>") || !strings.Contains(text, "<role>") || strings.Contains(text, "<go_on>") {
		t.Errorf("the prompt of the second run:\n%s", text)
	}
	if got := switches(t, e); len(got) != 1 || got[0].Session != "handover" || got[0].From != "default-session" {
		t.Errorf("told %+v", got)
	}
}

// TestSessionIsGoneOnTheWay: the session's files cannot be taken along, because
// they are not where they should be. A new session is told what was done.
func TestSessionIsGoneOnTheWay(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	s := limitedOn("a", 3600)
	s.Forget = true
	req := e.sessions(s)
	e.pool("a", "b")
	req.AccountID = "a"
	v := e.idleAfter(e.mustSpawn(req).Alias, 3)
	if r := v.Runs[1]; r.OutcomeReason != cw.ReasonStartFailed || r.StartedAt != nil || r.Reason != cw.RunFailover {
		t.Errorf("run %+v", r)
	}
	if r := v.Runs[2]; !r.Fresh || r.AccountID != "id-b" || r.Reason != cw.RunFailover || v.Commits() != 1 {
		t.Errorf("run %+v", r)
	}
	if text := e.prompt(v, 3); !strings.Contains(text, "<hand_over>") {
		t.Errorf("the prompt of the third run:\n%s", text)
	}
}

// TestParked: with every account at its limit the agent waits, says until when,
// and goes on by itself.
func TestParked(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	req := e.sessions(limitedOn("a", 4))
	e.pool("a")
	first := e.mustSpawn(req)
	v := e.until(first.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusParked || v.Status.AtRest() })
	if v.Status != cw.StatusParked || v.Reason != cw.ReasonUsageLimit || v.RetryAt == nil || v.RetryAt.Before(time.Now()) || !strings.Contains(v.Error, "usage limit") {
		t.Fatalf("%s %s until %v: %s", v.Status, v.Reason, v.RetryAt, v.Error)
	}
	_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: "now"})
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "at its limit until") {
		t.Errorf("resumed: %v", err)
	}
	_, err = e.Send(t.Context(), v.Alias, cw.SendRequest{Text: "Mind " + fakecli.Say("this")})
	must(t, err)
	v = e.idleAfter(first.Alias, 2)
	if r := v.Runs[1]; r.Reason != cw.RunFailover || r.Fresh || v.Commits() != 1 || !slices.Contains(e.bookOf(v, 2).Start().Says, fakecli.Say("this")) {
		t.Errorf("run %+v, told %v", r, e.bookOf(v, 2).Start().Says)
	}
	parked := e.events(cw.EventAgentParked)
	if len(parked) != 1 || !strings.Contains(string(parked[0].Data), `"reason":"usage_limit"`) {
		t.Errorf("told %v", parked)
	}
	if n := len(switches(t, e)); n != 0 {
		t.Errorf("%d switches without another account", n)
	}
}

// TestParkedOverADaemon: the next daemon wakes what an earlier one parked.
func TestParkedOverADaemon(t *testing.T) {
	t.Parallel()
	w := newWallet()
	e := newEngine(t, withWallet(w))
	req := e.sessions(limitedOn("a", 3600))
	e.pool("a")
	v := e.mustSpawn(req)
	e.until(v.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusParked })
	e.addAccount("session", "b")
	e.stopRun()
	e.boot(withWallet(w))
	v = e.idleAfter(v.Alias, 2)
	if v.AccountID != "id-b" || len(switches(t, e)) != 1 || v.Runs[1].Fresh {
		t.Errorf("account %s, runs %+v", v.AccountID, v.Runs)
	}
}

// exhausted lets one agent run into the limit of an account.
func (e *engine) exhausted(name string, seconds int) cw.AgentView {
	e.t.Helper()
	req := e.sessions(limitedOn(name, seconds))
	req.AccountID = name
	v := e.mustSpawn(req)
	return e.until(v.Alias, func(v cw.AgentView) bool { return v.Runs[0].EndedAt != nil })
}

// TestSpawnParked: an agent that is made while every account is at its limit has
// its worktree, waits, and begins when somebody adds an account.
func TestSpawnParked(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	e.sessions(does())
	e.pool("a")
	other := e.exhausted("a", 3600)
	v := e.mustSpawn(e.sessions(does()))
	if v.Status != cw.StatusParked || v.RetryAt == nil || v.WorktreeState != cw.WorktreePresent || v.PID != 0 || v.Runs[0].StartedAt != nil {
		t.Fatalf("%s %s until %v, worktree %s, run %+v", v.Status, v.Reason, v.RetryAt, v.WorktreeState, v.Runs[0])
	}
	if _, err := os.Stat(filepath.Join(v.Worktree, "README.md")); err != nil {
		t.Error(err)
	}
	e.addAccount("session", "b")
	e.AccountsChanged()
	v = e.idleAfter(v.Alias, 2)
	if text := e.prompt(v, 2); v.Commits() != 1 || v.AccountID != "id-b" || !strings.Contains(text, "<role>") || strings.Contains(text, "<go_on>") || strings.Contains(text, "<hand_over>") {
		t.Errorf("account %s, prompt:\n%s", v.AccountID, text)
	}
	e.idleAfter(other.Alias, 2) // which waited, too
	if n := len(e.events(cw.EventAgentSpawned)); n != 2 {
		t.Errorf("%d agents were told", n)
	}
}

// TestStopParked: a parked agent is stopped without a process, and resumed by a
// person when there is an account.
func TestStopParked(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	e.sessions(does())
	e.pool("a")
	v := e.exhausted("a", 3600)
	v, err := e.Stop(t.Context(), v.Alias, cw.StopRequest{})
	must(t, err)
	if v.Status != cw.StatusStopped || v.Reason != cw.ReasonUser || v.RetryAt != nil || len(v.Runs) != 1 {
		t.Fatalf("%s %s, %d runs", v.Status, v.Reason, len(v.Runs))
	}
	if n := len(e.events(cw.EventAgentStopped)); n != 1 {
		t.Errorf("%d stops were told", n)
	}
	if err := e.db.StopWaiting(t.Context(), v.ID, e.events(cw.EventAgentStopped)[0]); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("stopped once more: %v", err)
	}
	e.addAccount("session", "b")
	e.AccountsChanged()
	if _, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{}); err != nil {
		t.Fatal(err)
	}
	if v = e.idleAfter(v.Alias, 2); v.AccountID != "id-b" {
		t.Errorf("it went on with %s", v.AccountID)
	}
}

// refusedBy is a script whose credentials are refused with some accounts.
func refusedBy(names ...string) fakecli.Script {
	next := does()
	s := fakecli.Script{Pieces: 3, Next: &next}
	for _, n := range names {
		s.Refused = append(s.Refused, digestOf(n))
	}
	return s
}

// TestRefused: refused credentials are renewed once, then the account is marked
// and another one goes on; without any the agent has crashed.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		renews   int
		next     fakecli.Script // of the second run; the first one is refused
		accounts []string
		used     []cw.AccountID
		status   cw.AgentStatus
		invalid  string // why account a cannot be used
	}{
		{"renewed", 1, does(), []string{"a", "b"}, []cw.AccountID{"id-a", "id-a"}, cw.StatusIdle, ""},
		{"renewed in vain", 2, refusedBy("a"), []string{"a", "b"}, []cw.AccountID{"id-a", "id-a", "id-b"}, cw.StatusIdle, "refused"},
		{"another one", 0, does(), []string{"a", "b"}, []cw.AccountID{"id-a", "id-b"}, cw.StatusIdle, "refused"},
		{"no other one", 0, does(), []string{"a"}, []cw.AccountID{"id-a"}, cw.StatusCrashed, "refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWallet()
			w.renews["id-a"] = tt.renews
			e := newEngine(t, withWallet(w))
			s := refusedBy("a")
			s.Next = &tt.next
			req := e.sessions(s)
			e.pool(tt.accounts...)
			req.AccountID = "a"
			v := e.rest(e.mustSpawn(req).Alias)
			var used []cw.AccountID
			for _, r := range v.Runs {
				used = append(used, r.AccountID)
			}
			if v.Status != tt.status || !slices.Equal(used, tt.used) {
				t.Errorf("%s %s (%s) with %v", v.Status, v.Reason, v.Error, used)
			}
			if v.Status == cw.StatusCrashed && v.Reason != cw.ReasonAuth {
				t.Errorf("crashed for %s", v.Reason)
			}
			if a := e.accountByID("id-a"); (a.Invalid == "") != (tt.invalid == "") || !strings.Contains(a.Invalid, tt.invalid) {
				t.Errorf("account a: %q", a.Invalid)
			}
			if want := min(1, len(tt.invalid)); len(e.events(cw.EventAccountInvalid)) != want {
				t.Errorf("told %d times that it is invalid", len(e.events(cw.EventAccountInvalid)))
			}
		})
	}
}

// TestOwnLoginRefused: the mark of the user's own login goes when it works
// again, and does not keep it from being used while it is alone.
func TestOwnLoginRefused(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	next := does()
	v := e.rest(e.mustSpawn(e.sessions(fakecli.Script{Pieces: 1, Refused: []string{fakecli.AnyAccount}, Next: &next})).Alias)
	if v.Status != cw.StatusCrashed || v.Reason != cw.ReasonAuth || e.accountByID("default-session").Invalid == "" {
		t.Fatalf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{})
	must(t, err)
	e.idleAfter(v.Alias, 2)
	eventually(t, "the mark is gone", func() bool { return e.accountByID("default-session").Invalid == "" })
}

// TestCredentialsCannotBeHad: an account that has none now is passed over; when
// it is the only one the spawn leaves nothing behind.
func TestCredentialsCannotBeHad(t *testing.T) {
	t.Parallel()
	w := newWallet()
	w.fails["id-a"] = errors.New("the keyring is locked")
	e := newEngine(t, withWallet(w))
	req := e.sessions(does())
	e.pool("a")
	_, err := e.Spawn(t.Context(), req)
	if err == nil || !strings.Contains(err.Error(), "the keyring is locked") {
		t.Fatalf("spawned: %v", err)
	}
	e.wantNothing()
	e.addAccount("session", "b")
	req.AccountID = "a"
	v := e.idleAfter(e.mustSpawn(req).Alias, 2)
	if v.AccountID != "id-b" || v.Runs[0].StartedAt != nil || v.Commits() != 1 {
		t.Errorf("account %s, runs %+v", v.AccountID, v.Runs)
	}
}

// TestFallsBack: when every account of the provider is at its limit an agent
// goes on with another provider of its project, told what was done. Its old
// output is read as what it is.
func TestFallsBack(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	req := e.sessions(limitedOn("a", 3600), "sessionId: {choose", "modelArgs: [\"{{model}}\"]\nsessionId: {choose")
	e.pool("a")
	req.Model = "opus"
	first := e.mustSpawn(req)
	e.until(first.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusParked })
	ev := cw.NewEvent(cw.EventProjectChanged, cw.Actor{Kind: cw.ActorPerson}, cw.ProjectChanged{Name: "shop"})
	_, err := e.db.SetProject(t.Context(), first.Projects[0].ProjectID, cw.ProjectSettings{Fallback: &[]string{"nobody", "fake"}}, ev)
	must(t, err)
	e.AccountsChanged()
	v := e.idleAfter(first.Alias, 2)
	if r := v.Runs[1]; v.Provider != "fake" || r.Provider != "fake" || !r.Fresh || r.AccountID != "default-fake" || v.Model != "" || v.Runs[0].Provider != "session" || v.Runs[0].Model != "opus" {
		t.Errorf("%s with %q, runs %+v", v.Provider, v.Model, v.Runs)
	}
	if text := e.prompt(v, 2); !strings.Contains(text, "<hand_over>") || !strings.Contains(text, "Fake CLI") {
		t.Errorf("the prompt of the second run:\n%s", text)
	}
	if got := switches(t, e); len(got) != 1 || got[0].FromProvider != "session" || got[0].ToProvider != "fake" {
		t.Errorf("told %+v", got)
	}
}

// TestManyFailAtOnce: agents that run into the same limit at the same time
// switch once each, and spread over what is left.
func TestManyFailAtOnce(t *testing.T) {
	t.Parallel()
	const agents = 6
	e := newEngine(t, withWallet(newWallet()))
	s := limitedOn("a", 3600)
	s.Wait = filepath.Join(e.books, "go")
	req := e.sessions(s)
	e.pool("a", "b", "c")
	req.AccountID = "a"
	var names []string
	for range agents {
		names = append(names, e.mustSpawn(req).Alias)
	}
	must(t, os.WriteFile(s.Wait, nil, 0o600))
	on := map[cw.AccountID]int{}
	for _, n := range names {
		v := e.idleAfter(n, 2)
		on[v.AccountID]++
	}
	if len(switches(t, e)) != agents || on["id-b"] != agents/2 || on["id-c"] != agents/2 {
		t.Errorf("%d switches to %v", len(switches(t, e)), on)
	}
	if n := len(e.events(cw.EventAccountExhausted)); n != 1 {
		t.Errorf("one exhaustion was told %d times", n)
	}
}

// TestHangsAtTheLimit: a CLI that says that it is at its limit and waits for
// what will not come is ended when patience is over, whatever the project says
// about silence.
func TestHangsAtTheLimit(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	s := limitedOn("a", 3600)
	s.Hang = true
	req := e.sessions(s, "stop:", "patience: {silence: 1s, toolSilence: 1s}\nstop:")
	e.pool("a", "b")
	req.AccountID = "a"
	v := e.idleAfter(e.mustSpawn(req).Alias, 2)
	if v.AccountID != "id-b" || v.Runs[0].OutcomeReason != cw.ReasonUsageLimit {
		t.Errorf("account %s, runs %+v", v.AccountID, v.Runs)
	}
}

// TestSpawnAccount: which account a spawn gets, and which names are refused.
func TestSpawnAccount(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	e.sessions(does())
	e.pool("a", "b")
	e.addAccount("fake", "elsewhere")
	off := e.accountByID("id-b")
	off.Enabled = false
	must(t, e.db.SetAccount(t.Context(), off))
	preset := mustGet(e, "session")
	for _, tt := range []struct{ ref, want, refused string }{
		{"", "id-a", ""},
		{"a", "id-a", ""},
		{"id-a", "id-a", ""},
		{"session/a", "id-a", ""},
		{"b", "", "is disabled"},
		{"default", "", "is disabled"},
		{"elsewhere", "", "is one of fake"},
		{"nobody", "", "no account"},
	} {
		a, _, err := e.spawnAccount(t.Context(), cw.SpawnRequest{AccountID: tt.ref}, preset)
		if tt.refused == "" && (err != nil || string(a.ID) != tt.want) || tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
			t.Errorf("%q: %s, %v", tt.ref, a.ID, err)
		}
	}
	// An account that is named without its provider says whose it is.
	req := cw.SpawnRequest{AccountID: "elsewhere"}
	if err := e.providerOfAccount(t.Context(), &req); err != nil || req.Provider != "fake" {
		t.Errorf("provider %q, %v", req.Provider, err)
	}
}

// TestFailOverDecides: what follows when the account of a run cannot be used.
func TestFailOverDecides(t *testing.T) {
	t.Parallel()
	back := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	other := cw.Account{ID: "b"}
	limit, auth := limited(nil), func(e *evidence) { e.Summary.AuthError = true }
	with := func(r reserve) func(*evidence) { return func(e *evidence) { e.Reserve = &r } }
	tests := []struct {
		name   string
		e      evidence
		status cw.AgentStatus
		to     cw.AccountID // of the run that follows; "" for none
		back   *time.Time
	}{
		{"a limit, and another account", ended(limit, with(reserve{Next: &successor{Account: other}})), cw.StatusCrashed, "b", nil},
		{"a limit, and none", ended(limit, with(reserve{Back: &back})), cw.StatusParked, "", &back},
		{"a limit, and nobody knows until when", ended(limit, with(reserve{})), cw.StatusParked, "", nil},
		{"refused, and another account", ended(auth, with(reserve{Next: &successor{Account: other}})), cw.StatusCrashed, "b", nil},
		{"refused and renewed", ended(auth, with(reserve{Has: successor{Account: cw.Account{ID: "a"}}, Renewed: true})), cw.StatusCrashed, "a", nil},
		{"refused, and another one later", ended(auth, with(reserve{Back: &back})), cw.StatusParked, "", &back},
		{"refused, and no other", ended(auth, with(reserve{})), cw.StatusCrashed, "", nil},
		{"lost at its limit", ended(limit, lost, with(reserve{Next: &successor{Account: other}})), cw.StatusCrashed, "b", nil},
		{"stopped at its limit", ended(limit, stop, with(reserve{Next: &successor{Account: other}})), cw.StatusStopped, "", nil},
		{"done at its limit", ended(limit, signalled(cw.Signal{Status: cw.SignalDone, NoChanges: "x"}), with(reserve{Next: &successor{Account: other}})), cw.StatusIdle, "", nil},
		{"another end", ended(killedBy9, with(reserve{Next: &successor{Account: other}})), cw.StatusCrashed, "", nil},
	}
	for _, tt := range tests {
		tt.e.Retries = cw.Retries{Stall: 1}
		v := outcome(tt.e)
		to := cw.AccountID("")
		if v.Next != nil && v.Next.To != nil {
			to = v.Next.To.Account.ID
		}
		if v.Status != tt.status || to != tt.to || (v.Next != nil) != (tt.to != "") || (v.RetryAt == nil) != (tt.back == nil) {
			t.Errorf("%s: %s, then %+v, back %v", tt.name, v.Status, v.Next, v.RetryAt)
		}
		if (v.Next != nil || v.Status == cw.StatusParked) && v.Retries != tt.e.Retries {
			t.Errorf("%s: the counters are %+v", tt.name, v.Retries)
		}
	}
}

// TestDerived: the end of a CLI that cannot write a signal.
func TestDerived(t *testing.T) {
	t.Parallel()
	derived := func(e *evidence) { e.Derived = true }
	tree := func(commits int, dirty ...string) func(*evidence) {
		return func(e *evidence) {
			t := treeEvidence{Project: "shop", Dir: "."}
			t.Commits, t.Dirty = commits, dirty
			e.Trees = append(e.Trees, t)
		}
	}
	code := func(e *evidence) { e.Exit = proc.Exit{Code: 2} }
	broken := func(e *evidence) { e.SignalBroken, e.SignalTrouble = true, "it is empty" }
	script := func(e *evidence) { e.NoRetries = true }
	tests := []struct {
		name   string
		e      evidence
		status cw.AgentStatus
		reason cw.Reason
		next   cw.RunReason
	}{
		{"commits", ended(derived, tree(1)), cw.StatusIdle, "", ""},
		{"nothing to do", ended(derived, tree(0)), cw.StatusIdle, "", ""},
		{"without a project", ended(derived), cw.StatusIdle, "", ""},
		{"left uncommitted", ended(derived, tree(0, "a.txt")), cw.StatusIdle, "", cw.RunCommit},
		{"an exit code", ended(derived, tree(1), code), cw.StatusCrashed, cw.ReasonAgentError, ""},
		{"a signal", ended(derived, tree(1), killedBy9), cw.StatusCrashed, cw.ReasonKilled, ""},
		{"a limit", ended(derived, tree(1), limited(nil)), cw.StatusCrashed, cw.ReasonUsageLimit, ""},
		{"refused", ended(derived, tree(1), noAuth), cw.StatusCrashed, cw.ReasonAuth, ""},
		{"an error of its own", ended(derived, tree(1), failedResult), cw.StatusCrashed, cw.ReasonAgentError, ""},
		{"lost", ended(derived, tree(1), lost), cw.StatusCrashed, cw.ReasonLost, ""},
		{"gave up", ended(derived, tree(1), func(e *evidence) { e.GaveUp = "in vain" }), cw.StatusCrashed, cw.ReasonAgentError, ""},
		{"nobody could look", ended(derived, func(e *evidence) { e.Trees = []treeEvidence{{Trouble: "it is a link"}} }), cw.StatusCrashed, cw.ReasonAgentError, ""},
		{"a signal that cannot be read", ended(derived, tree(1), broken), cw.StatusCrashed, cw.ReasonNoSignal, cw.RunMissingSignal},
		{"a signal that cannot be read, of a script", ended(derived, tree(1), broken, script), cw.StatusCrashed, cw.ReasonNoSignal, ""},
		{"a signal that cannot be read, and an exit code", ended(derived, tree(1), broken, code), cw.StatusCrashed, cw.ReasonAgentError, ""},
		{"its signal says error", ended(derived, tree(1), signalled(cw.Signal{Status: cw.SignalError, Error: "x"})), cw.StatusCrashed, cw.ReasonAgentError, ""},
		{"its signal all the same", ended(derived, code, signalled(cw.Signal{Status: cw.SignalDone, NoChanges: "x"})), cw.StatusIdle, "", ""},
	}
	for _, tt := range tests {
		v := outcome(tt.e)
		next := cw.RunReason("")
		if v.Next != nil {
			next = v.Next.Reason
		}
		if v.Status != tt.status || v.Reason != tt.reason || next != tt.next {
			t.Errorf("%s: %s %q (%s), then %q", tt.name, v.Status, v.Reason, v.Error, next)
		}
	}
}

// TestScriptExitCode: a script says by its exit code how it ended, and by a signal
// where it writes one.
func TestScriptExitCode(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	const commit = "echo x > new.txt && git add new.txt && git commit -q -m New"
	tests := []struct {
		name, text string
		status     cw.AgentStatus
		reason     cw.Reason
	}{
		{"exit code 0", commit, cw.StatusIdle, ""},
		{"exit code 3", commit + "; exit 3", cw.StatusCrashed, cw.ReasonAgentError},
		{"a signal", commit + `; echo '{"status":"questions","questions":["Which?"]}' > .cw/output/signal.json; exit 3`, cw.StatusWaitingForInput, ""},
		{"half a signal", commit + `; echo '{"status":"quest' > .cw/output/signal.json`, cw.StatusCrashed, cw.ReasonNoSignal},
	}
	for i, tt := range tests {
		script := filepath.Join(t.TempDir(), fmt.Sprintf("%d.sh", i))
		must(t, os.WriteFile(script, []byte("#!/bin/sh\n"+tt.text+"\n"), 0o755)) //nolint:gosec // it is run
		req := e.request(fakecli.Script{})
		req.Provider, req.Script = providerScript, script
		v := e.rest(e.mustSpawn(req).Alias)
		if v.Status != tt.status || v.Reason != tt.reason || v.Commits() != 1 || len(v.Runs) != 1 {
			t.Errorf("%s: %s %q (%s), %d commits, %d runs", tt.name, v.Status, v.Reason, v.Error, v.Commits(), len(v.Runs))
		}
	}
}

// TestTriedInVain: only refusals at the end of an agent's life count, one after
// the other.
func TestTriedInVain(t *testing.T) {
	t.Parallel()
	at := time.Now()
	run := func(id cw.AccountID, reason cw.Reason) cw.Run {
		return cw.Run{AccountID: id, OutcomeReason: reason, EndedAt: &at}
	}
	runs := []cw.Run{run("x", cw.ReasonAuth), run("x", ""), run("a", cw.ReasonAuth), run("b", cw.ReasonUsageLimit), run("c", cw.ReasonAuth), {AccountID: "d"}}
	if got := fmt.Sprint(triedInVain(runs)); got != "[c a]" {
		t.Error(got)
	}
}

// TestWindows: what a run tells of its account's windows is kept, and one that
// is nearly at its limit gets no new agents.
func TestWindows(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	e.pool("a", "b")
	known := []cw.UsageWindow{{Kind: "five_hour", UsedPercent: 20}, {Kind: "seven_day", UsedPercent: 30}}
	must(t, e.db.SaveUsage(t.Context(), "id-a", known, time.Now().Add(-time.Hour)))
	s := does()
	s.Raw = "\n" + `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":4102444800,"rateLimitType":"five_hour","utilization":0.97}}` + "\n"
	req := e.sessions(s, "parser: lines", "parser: claude")
	req.AccountID = "a"
	e.idleAfter(e.mustSpawn(req).Alias, 1)
	kinds := map[string]float64{}
	for _, w := range e.accountByID("id-a").Usage {
		kinds[w.Kind] = w.UsedPercent
	}
	if len(kinds) != 2 || kinds["five_hour"] != 97 || kinds["seven_day"] != 30 {
		t.Fatalf("the windows are %v", kinds)
	}
	for range 3 {
		req := e.sessions(does(), "parser: lines", "parser: claude")
		if v := e.mustSpawn(req); v.AccountID != "id-b" {
			t.Errorf("%s was given %s", v.Alias, v.AccountID)
		}
	}
}

// TestTurns: of agents that choose at the same time each takes another account,
// in whatever order the choices are stored.
func TestTurns(t *testing.T) {
	t.Parallel()
	r, begin := newRota(), time.Now()
	pool := []cw.Account{{ID: "id-a", Name: "a", Enabled: true}, {ID: "id-b", Name: "b", Enabled: true}}
	var got []cw.AccountID
	next := func(after time.Duration) {
		got = append(got, r.choose(pool, accounts.Need{}, begin.Add(after)).Account.ID)
	}
	stored := func(i int, after time.Duration) {
		at := begin.Add(after)
		pool[i].LastUsedAt = &at
	}
	next(0)
	next(time.Second)
	stored(0, 2*time.Second)
	next(3 * time.Second)
	stored(1, 4*time.Second) // the second choice, stored after the third was made
	next(5 * time.Second)
	if want := []cw.AccountID{"id-a", "id-b", "id-a", "id-b"}; !slices.Equal(got, want) {
		t.Errorf("given %v", got)
	}
	stored(1, turnKept+6*time.Second) // what was used since counts
	next(turnKept + 7*time.Second)
	if got[4] != "id-a" {
		t.Errorf("then given %v", got)
	}
}
