package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
)

// TestCodexInItsSandbox: in codex's own sandbox an agent commits in its
// worktree and reaches cw, and writes nowhere else.
func TestCodexInItsSandbox(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, codex, confined)
	// Not below /tmp or TMPDIR: there the sandbox lets everybody write.
	outside, err := os.MkdirTemp("/var/tmp", "cw-outside-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(outside) })
	a, stderr, code := codex.run(t, l, "--sandbox", "workspace", goal+" Leave `"+outside+"` alone.")
	if code != 0 || a.Agent.Status != cw.StatusIdle || a.Commits != 1 {
		t.Fatalf("exit %d, status %s (%s %s), %d commits\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, a.Commits, stderr)
	}
	if got := lab.Git(t, l.Repo, "show", a.Branch+":greeting.txt"); got != "Good morning." {
		t.Errorf("committed %q", got)
	}
}

// confined does its task, then tries to write where it must not.
func confined(t *model.Turn) model.Reply {
	switch t.Number() {
	case 5:
		t.Output()
		forbidden := t.Find(t.Block("task"), "Leave `([^`]+)` alone")
		return model.Say("One more thing.").Shell("touch " + forbidden + "/mine")
	case 6:
		results := t.Current().Results()
		last := results[len(results)-1]
		t.Require(last.Failed, "it wrote outside its worktree: %+v", last)
		t.Find(last.Text, `Read-only file system|Permission denied|Operation not permitted`)
		return model.Say("I am confined.")
	}
	return done(t)
}

// TestCodexWithoutANetwork: codex by itself would wait for the network for ever;
// cw waits as long as the preset says.
func TestCodexWithoutANetwork(t *testing.T) {
	t.Parallel()
	l, srv := newLab(t, codex, done)
	srv.Close() // nothing answers any more
	impatient := "name: codex\nextends: codex\npatience: {retrying: 1s}\n"
	if err := os.WriteFile(filepath.Join(l.Home.Providers(), "codex.yaml"), []byte(impatient), 0o600); err != nil {
		t.Fatal(err)
	}
	v := l.Rest(string(codex.spawn(t, l).ID))
	if v.Status != cw.StatusCrashed || !strings.Contains(v.Error, "Reconnecting...") || !strings.Contains(v.Error, "patience.retrying") {
		t.Errorf("status %s %s: %s", v.Status, v.Reason, v.Error)
	}
	nothingLeft(t, l)
}

// TestCodexLoginsFailOver: logins of codex, each adopted from a directory of the
// user's, take over from one another. The CLI gets no refresh token, and works.
func TestCodexLoginsFailOver(t *testing.T) {
	t.Parallel()
	one, two := codexToken("one"), codexToken("two")
	l, srv := newLab(t, codex, failsFor(goesOn, codex.atLimit, one))
	l.Start()
	for name, token := range map[string]string{"one": one, "two": two} {
		theirs := filepath.Join(filepath.Dir(l.Repo), name)
		must(t, os.Mkdir(theirs, 0o700))
		must(t, os.WriteFile(filepath.Join(theirs, "auth.json"), codexLogin(name, token), 0o600))
		cwDo(t, l, "", "account", "add", "--provider", "codex", "--name", name, "--config-dir", theirs)
		codexSettings(t, l, account(t, l, name).ConfigDir)
	}
	cwDo(t, l, "", "account", "disable", "codex/default")
	a, stderr, code := codex.run(t, l, "--no-wait-parked", "--account", "one", goal)
	if code != 0 {
		t.Fatalf("exit %d, status %s (%s %s)\n%s\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, stderr, l.DaemonLog())
	}
	v := l.Rest(string(a.Agent.ID))
	finished(t, l, v)
	if to := account(t, l, "two"); len(v.Runs) != 2 || v.Runs[1].AccountID != to.ID || v.Runs[1].Fresh {
		t.Errorf("runs %+v", v.Runs)
	}
	if n := sentAfter(srv, one, two); n > 0 {
		t.Errorf("the first account was sent %d requests afterwards", n)
	}
	oneSession(t, srv, one, two)
	if got := told[cw.AccountExhausted](t, l, cw.EventAccountExhausted); len(got) != 1 || !got[0].Until.Equal(resets) {
		t.Errorf("told %+v, want one until %v", got, resets)
	}
	for _, name := range []string{"one", "two"} {
		handed, err := os.ReadFile(filepath.Join(account(t, l, name).ConfigDir, "auth.json"))
		if err != nil || strings.Contains(string(handed), "rt-") {
			t.Errorf("the CLI had the refresh token: %v\n%s", err, handed)
		}
		theirs, err := os.ReadFile(filepath.Join(filepath.Dir(l.Repo), name, "auth.json"))
		if err != nil || string(theirs) != string(codexLogin(name, codexToken(name))) {
			t.Errorf("the user's own login was changed: %v\n%s", err, theirs)
		}
	}
}

// codexToken is an access token that holds for an hour.
func codexToken(name string) string {
	claims := fmt.Sprintf(`{"exp":%d,"sub":%q}`, resets.Unix(), name)
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".e30"
}

// codexLogin is a login as codex writes it down.
func codexLogin(name, token string) []byte {
	id := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"email":"%s@example.com"}`, name))
	return fmt.Appendf(nil, `{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"e30.%s.e30","access_token":%q,"refresh_token":"rt-%s-0000000000","account_id":%q},"last_refresh":%q}`,
		id, token, name, "account-"+name, resets.Add(-time.Hour).UTC().Format(time.RFC3339))
}
