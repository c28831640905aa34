package orchestrator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
)

// loggedOut makes a provider whose CLI says something when it is asked whether it
// is logged in, and gives its program and a request with its directory.
func loggedOut(e *engine, says string) (command string, req cw.SpawnRequest) {
	e.t.Helper()
	command = filepath.Join(e.books, "login-cli")
	must(e.t, os.WriteFile(command, []byte("#!/bin/sh\necho '"+says+"' >&2\nexit 1\n"), 0o700))
	must(e.t, os.WriteFile(filepath.Join(e.home.Providers(), "kept.yaml"), []byte(`name: kept
command: {names: [login-cli]}
spawn: {args: [run]}
account:
  configDir: [KEPT_HOME]
  key: KEPT_KEY
  login: [login]
  loggedIn: {files: [auth.json], status: [login, status], loggedOut: '^not logged in'}
`), 0o600))
	dir := filepath.Join(e.books, "kept")
	must(e.t, os.MkdirAll(dir, 0o700))
	return command, cw.SpawnRequest{Provider: "kept", Env: map[string]string{"KEPT_HOME": dir, "PATH": os.Getenv("PATH")}}
}

// TestLoggedOutIsNotChosen: the user's own CLI that is not logged in gets no agent
// while another account can, and alone it is refused with the command that mends
// it, once the CLI itself has said so.
func TestLoggedOutIsNotChosen(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	command, req := loggedOut(e, "Not logged in")
	preset := mustGet(e, "kept")
	spawn := func(req cw.SpawnRequest) (cw.AccountID, error) {
		t.Helper()
		a, _, err := e.spawnAccount(t.Context(), req, preset)
		must(t, err)
		return a.ID, e.refuseUnusable(t.Context(), req, preset, a, command)
	}
	_, err := spawn(req)
	if hint := cw.ErrorHint(err); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(hint, "login-cli login") || !strings.Contains(hint, "cw account add --provider kept") {
		t.Errorf("%v, hint %q", err, hint)
	}
	named := req
	named.AccountID = cw.DefaultAccountName
	if _, err := spawn(named); err != nil {
		t.Errorf("named it is refused: %v", err)
	}
	keyed := cw.SpawnRequest{Provider: "kept", Env: map[string]string{"KEPT_KEY": "k"}}
	if _, err := spawn(keyed); err != nil {
		t.Errorf("with a key it is refused: %v", err)
	}

	e.addAccount("kept", "work")
	for range 3 { // it is never the turn of the other
		if id, err := spawn(req); id != "id-work" || err != nil {
			t.Errorf("chosen: %s, %v", id, err)
		}
	}

	must(t, os.WriteFile(filepath.Join(req.Env["KEPT_HOME"], "auth.json"), []byte(`{"tokens":{"a":"b"}}`), 0o600))
	if id, err := spawn(req); id != "default-kept" || err != nil {
		t.Errorf("logged in, it is not due: %s, %v", id, err)
	}
}

// TestRefusedLoginIsNotTriedAgain: a login that the provider refused starts no agent until
// its file changes, in whatever way; one that is named is tried all the same, and so is what
// may be another by now without that it shows.
func TestRefusedLoginIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	command, req := loggedOut(e, "Logged in")
	preset := mustGet(e, "kept")
	file := filepath.Join(req.Env["KEPT_HOME"], "auth.json")
	must(t, os.WriteFile(file, []byte(`{"tokens":{"a":"b"}}`), 0o600))
	must(t, os.WriteFile(file+".other", []byte(`{"tokens":{"a":"c"}}`), 0o600))
	spawn := func(req cw.SpawnRequest) error {
		t.Helper()
		a, _, err := e.spawnAccount(t.Context(), req, preset)
		must(t, err)
		return e.refuseUnusable(t.Context(), req, preset, a, command)
	}
	must(t, spawn(req))
	own, err := e.Store.AccountByID(t.Context(), cw.DefaultAccountID("kept"))
	must(t, err)
	e.setInvalid(t.Context(), own, "the provider refused its credentials")
	for range 2 {
		err := spawn(req)
		if hint := cw.ErrorHint(err); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(hint, "login-cli login") || !strings.Contains(hint, "--account default") {
			t.Errorf("%v, hint %q", err, hint)
		}
	}
	named, keyed := req, cw.SpawnRequest{Provider: "kept", Env: map[string]string{"KEPT_HOME": req.Env["KEPT_HOME"], "KEPT_KEY": "k"}}
	named.AccountID = cw.DefaultAccountName
	must(t, spawn(named))
	must(t, spawn(keyed))
	must(t, os.Rename(file+".other", file)) // keeps the time of its content
	must(t, spawn(req))
}

// TestLoggedOutUnlessItSaysSo: a CLI that says anything else is given the run: its
// files may not show everything.
func TestLoggedOutUnlessItSaysSo(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	command, req := loggedOut(e, "unknown command login")
	preset := mustGet(e, "kept")
	a, _, err := e.spawnAccount(t.Context(), req, preset)
	must(t, err)
	if a.NotLoggedIn == "" {
		t.Error("it is not seen that there is no login")
	}
	if err := e.refuseUnusable(t.Context(), req, preset, a, command); err != nil {
		t.Error(err)
	}
}

// TestLoggedInForFailOver: an agent does not move to a CLI that is not logged in,
// but goes on with one that it has had.
func TestLoggedInForFailOver(t *testing.T) {
	t.Parallel()
	pool := func() []cw.Account {
		return []cw.Account{{ID: "own", Kind: cw.AccountOwn, NotLoggedIn: "there is no login"}, {ID: "key"}}
	}
	if got := loggedIn(pool(), nil); len(got) != 1 || got[0].ID != "key" {
		t.Errorf("%+v", got)
	}
	if got := loggedIn(pool(), []cw.Run{{AccountID: "own"}}); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

// TestRefusedSaysWhatMends: refused credentials are told once, with the command
// that mends them.
func TestRefusedSaysWhatMends(t *testing.T) {
	t.Parallel()
	mends := func(e *evidence) { e.Mend = "codex login" }
	gaveUp := func(e *evidence) { e.GaveUp, e.GaveUpAuth = "it only tried again", true }
	for name, e := range map[string]evidence{
		"the CLI says it":  ended(noAuth, mends),
		"cw gave it up":    ended(gaveUp, mends),
		"nothing mends it": ended(noAuth),
	} {
		v := decide(e)
		want := 1
		if e.Mend == "" {
			want = 0
		}
		if v.Reason != cw.ReasonAuth || strings.Count(v.Error, "log in: codex login") != want {
			t.Errorf("%s: %s: %s", name, v.Reason, v.Error)
		}
	}
}

// TestMendOf: each kind of account is logged in to by its own command.
func TestMendOf(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, tt := range []struct {
		kind cw.AccountKind
		want string
	}{
		{cw.AccountOwn, "codex login"},
		{cw.AccountLogin, "cw account login codex/work"},
		{cw.AccountKey, ""},
	} {
		if got := e.mendOf(cw.Account{Provider: "codex", Name: "work", Kind: tt.kind}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.kind, got, tt.want)
		}
	}
}
