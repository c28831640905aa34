package accounts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
)

const childEnv = "CW_ACCOUNTS_TEST_CHILD"

// order is what a child process is told to do.
type order struct {
	Home, TokenURL string
	Account        cw.Account
	Kill           string // the step at which it ends itself
	Gather         bool   // it waits before the lock until all processes have seen the old token
}

// noRows is the store of a child: it has one account and takes every change.
type noRows struct {
	Store
	a cw.Account
}

func (s noRows) AccountByRef(context.Context, string) (cw.Account, error)         { return s.a, nil }
func (s noRows) SetAccount(context.Context, cw.Account, ...cw.Event) error        { return nil }
func (s noRows) SetInvalid(context.Context, cw.AccountID, string, cw.Event) error { return nil }

// child asks for an account as one of many processes, and prints the access
// token that its CLI would use.
func child() int {
	var o order
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	vault, err := OpenVault(context.Background(), cw.Home(o.Home), vaultFile, slog.New(slog.DiscardHandler))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	m := New(Options{
		Home: cw.Home(o.Home), Store: noRows{a: o.Account}, Vault: vault, Providers: presets{}, TokenURL: o.TokenURL,
		Fail: func(step string) {
			if step == "refresh/wanted" && o.Gather {
				gather()
			}
			if step == o.Kill {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		},
	})
	access, err := m.Ready(context.Background(), o.Account)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	f, _ := formOf("claude")
	l, err := f.readLogin(context.Background(), access.ConfigDir)
	if err != nil || l.refresh != "" {
		fmt.Fprintln(os.Stderr, "refresh token handed over, or", err)
		return 1
	}
	fmt.Print(l.access)
	return 0
}

// gather says that this process is here, and waits until all are: the first file
// that it was given is for the one, the second for the other.
func gather() {
	_, _ = os.NewFile(3, "here").Write([]byte{1})
	_, _ = io.ReadAll(os.NewFile(4, "go"))
}

// gathering is where processes wait for each other.
type gathering struct {
	files []*os.File // of a process that gathers
	here  *os.File
	let   func() // lets all go on
}

// newGathering lets n processes go on when all of them are there.
func newGathering(t *testing.T, n int) *gathering {
	t.Helper()
	here, arrive, err := os.Pipe()
	must(t, err)
	wait, end, err := os.Pipe()
	must(t, err)
	g := &gathering{files: []*os.File{arrive, wait}, here: here, let: sync.OnceFunc(func() { end.Close() })}
	var reading sync.WaitGroup
	reading.Go(func() {
		_, _ = io.ReadFull(here, make([]byte, n))
		g.let()
	})
	t.Cleanup(func() {
		for _, f := range g.files {
			f.Close()
		}
		reading.Wait() // nobody can write any more
		here.Close()
	})
	return g
}

// run starts a child and gives what it printed.
func (r *rig) run(o order, files ...*os.File) (string, error) {
	o.Home, o.TokenURL = string(r.Home), r.TokenURL
	data, _ := json.Marshal(o)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(data))
	cmd.ExtraFiles = files
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && errs.Len() > 0 {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return out.String(), err
}

// expiring adds a login whose token is over soon: in the vault, or adopted.
func (r *rig) expiring(adopted bool) cw.Account {
	r.t.Helper()
	text := loginFile("sk-ant-oat01-old-0000000000", "rt-first-0000000000", time.Now().Add(time.Minute))
	if !adopted {
		return r.add(cw.AddAccountRequest{Token: cw.NewSecret(text), Name: "work"})
	}
	dir := filepath.Join(r.t.TempDir(), "their")
	must(r.t, os.Mkdir(dir, 0o700))
	must(r.t, os.WriteFile(filepath.Join(dir, ".credentials.json"), []byte(text), 0o600))
	return r.add(cw.AddAccountRequest{ConfigDir: dir, Name: "work"})
}

func kinds(t *testing.T, test func(t *testing.T, adopted bool)) {
	t.Run("vault", func(t *testing.T) { test(t, false) })
	t.Run("adopted", func(t *testing.T) { test(t, true) })
}

// TestOneRefreshForAllProcesses: 24 processes ask at once for an account whose
// token is over soon, and whose refresh token is good for one use.
func TestOneRefreshForAllProcesses(t *testing.T) {
	kinds(t, func(t *testing.T, adopted bool) {
		r := newRig(t)
		a := r.expiring(adopted)
		const many = 24
		g := newGathering(t, many)
		var all sync.WaitGroup
		for range many {
			all.Go(func() {
				got, err := r.run(order{Account: a, Gather: true}, g.files...)
				if err != nil {
					t.Error(err)
					g.let() // it may have ended before it was there
				}
				r.server.mu.Lock()
				defer r.server.mu.Unlock()
				if !r.server.access[got] {
					t.Errorf("a process got %q, which does not work", got)
				}
			})
		}
		all.Wait()
		if spent, asked, bad := r.server.counts(); spent != 1 || asked != 1 || bad != 0 {
			t.Errorf("%d renewals, %d requests, %d with a spent token", spent, asked, bad)
		}
	})
}

// TestKilledWhileRefreshing kills a process at each step; the next one goes on.
// Between the endpoint's answer and the one write nothing can help: that is said
// to a person.
func TestKilledWhileRefreshing(t *testing.T) {
	kinds(t, func(t *testing.T, adopted bool) {
		for _, step := range []string{"refresh/locked", "refresh/prepared", "refresh/answered", "refresh/stored", "refresh/handed"} {
			r := newRig(t)
			a := r.expiring(adopted)
			_, err := r.run(order{Account: a, Kill: step})
			exit := (*exec.ExitError)(nil)
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%s: it was not killed there: %v", step, err)
			}
			if adopted { // the lock of a CLI that was killed is stale later
				old := time.Now().Add(-time.Minute)
				_ = os.Chtimes(a.SourceDir+".lock", old, old)
			}
			got, err := r.run(order{Account: a})
			if step == "refresh/answered" {
				// The old token still has its minute; the login is lost and that is told.
				if _, _, bad := r.server.counts(); bad != 1 || err == nil || !strings.Contains(err.Error(), "cannot be used") {
					t.Errorf("%s: %q, %v, %d bad", step, got, err, bad)
				}
				continue
			}
			if err != nil || got != "sk-ant-oat01-renewed-0000000001" {
				t.Errorf("%s: %q, %v", step, got, err)
			}
			if spent, _, bad := r.server.counts(); spent != 1 || bad != 0 {
				t.Errorf("%s: %d renewals, %d with a spent token", step, spent, bad)
			}
			left, _ := filepath.Glob(filepath.Join(cmp.Or(a.SourceDir, r.Home.AccountDir(a.ID)), "..credentials*.tmp"))
			if len(left) > 0 {
				t.Errorf("%s: left behind: %v", step, left)
			}
		}
	})
}

// TestRenewed looks at what a renewal leaves: everything a CLI had written is
// kept, and the refresh token is where it belongs alone.
func TestRenewed(t *testing.T) {
	kinds(t, func(t *testing.T, adopted bool) {
		r := newRig(t)
		a := r.expiring(adopted)
		must(t, r.markInvalid(t.Context(), a, "it was refused"))
		_, err := r.Ready(t.Context(), a)
		must(t, err)
		handed, err := os.ReadFile(filepath.Join(r.Home.AccountDir(a.ID), ".credentials.json"))
		must(t, err)
		info, _ := os.Stat(filepath.Join(r.Home.AccountDir(a.ID), ".credentials.json"))
		if info.Mode().Perm() != 0o600 || strings.Contains(string(handed), "rt-") || strings.Contains(string(handed), "refreshToken") {
			t.Errorf("%v %s", info.Mode(), handed)
		}
		for _, word := range []string{"sk-ant-oat01-renewed-0000000001", `"other":"kept"`, `"new":{"x":1}`, `"subscriptionType":"max"`} {
			if !strings.Contains(string(handed), word) {
				t.Errorf("%s is missing in %s", word, handed)
			}
		}
		f, _ := formOf("claude")
		c, err := r.load(t.Context(), a, f)
		must(t, err)
		if c.refresh != "rt-renewed-0000000001" || !c.expires.Equal(r.now.Add(8*time.Hour)) || string(c.outer["other"]) != `"kept"` {
			t.Errorf("%+v", c)
		}
		if v, _ := r.Account(t.Context(), "work"); v.Invalid != "" {
			t.Errorf("it is still invalid: %s", v.Invalid)
		}
		if len(r.seen(cw.EventAccountRefreshed)) != 1 {
			t.Error("no event")
		}
		if got := r.server.bodies[0]; got["scope"] != "user:inference user:profile" {
			t.Errorf("%v", got)
		}
		for _, s := range []string{"rt-renewed-0000000001", "sk-ant-oat01-old-0000000000", "sk-ant-oat01-renewed-0000000001"} {
			if strings.Contains(r.Redact.MaskString("x "+s), s) {
				t.Errorf("%s is not masked", s)
			}
		}
		r.quiet("rt-", "sk-ant-oat01-old", "sk-ant-oat01-renewed")
		if _, err := os.Lstat(a.SourceDir + ".lock"); adopted && err == nil {
			t.Error("the CLI's lock was left")
		}
	})
}

func TestRefreshTrouble(t *testing.T) {
	r := newRig(t)
	a := r.expiring(false)
	r.server.set(func() { r.server.fail = 503 })
	access, err := r.Ready(t.Context(), a) // still good for a minute
	if err != nil || access.ConfigDir == "" {
		t.Fatal(err)
	}
	for range 5 {
		_, err = r.Ready(t.Context(), a)
		must(t, err)
	}
	if _, asked, _ := r.server.counts(); asked != 1 {
		t.Errorf("an endpoint that is down was asked %d times", asked)
	}
	r.now = r.now.Add(2 * time.Minute) // over now
	if _, err = r.Ready(t.Context(), a); cw.ErrorCode(err) != cw.CodeFailed || cw.ErrorHint(err) == "" {
		t.Errorf("%v", err)
	}
	if strings.Contains(err.Error(), "rt-") {
		t.Errorf("the error tells a secret: %v", err)
	}
	if len(r.seen(cw.EventAccountInvalid)) != 0 {
		t.Error("an endpoint that is down made the account invalid")
	}
	r.server.set(func() { r.server.fail = 0 })
	r.now = r.now.Add(time.Hour)
	_, err = r.Ready(t.Context(), a)
	must(t, err)
	r.quiet("rt-", "sk-ant-oat01")
}

// TestClockSetBack: a note of the future does not stop renewals.
func TestClockSetBack(t *testing.T) {
	r := newRig(t)
	a := r.expiring(false)
	dir, err := r.prepareDir(a)
	must(t, err)
	writeState(dir, refreshState{Of: digest("rt-first-0000000000"), Failures: 3, NotBefore: r.now.Add(6 * time.Hour)})
	_, err = r.Ready(t.Context(), a)
	must(t, err)
	if spent, _, _ := r.server.counts(); spent != 1 {
		t.Error("it was not renewed")
	}
}

// TestDamagedState: what stands in the note of failures may be anything, for
// agents can write there.
func TestDamagedState(t *testing.T) {
	for _, note := range []string{"{", "[]", `{"of":7}`, `{"of":"OF","failures":-9}`, `{"of":"OF","failures":99999}`, `{"of":"OF","notBefore":"x","failures":3}`} {
		r := newRig(t)
		a := r.expiring(false)
		r.server.set(func() { r.server.fail = 503 })
		dir, err := r.prepareDir(a)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, stateFile), []byte(strings.ReplaceAll(note, "OF", digest("rt-first-0000000000"))), 0o600))
		_, err = r.Ready(t.Context(), a) // its minute is left
		must(t, err)
		f, _ := formOf("claude")
		c, err := r.load(t.Context(), a, f)
		must(t, err)
		if st := readState(dir, c); !st.waits(r.now) || st.NotBefore.Sub(r.now) > backoffMax {
			t.Errorf("%s became %+v", note, st)
		}
	}
}

// TestDeadIsRemembered: a login that is not renewed any more is not asked for
// again and again, and stays what it is.
func TestDeadIsRemembered(t *testing.T) {
	r := newRig(t)
	a := r.expiring(false)
	r.server.set(func() { r.server.refresh = "another-one" })
	for range 3 {
		if _, err := r.Ready(t.Context(), a); err == nil || !strings.Contains(err.Error(), "does not renew it any more") {
			t.Errorf("%v", err)
		}
	}
	if _, asked, _ := r.server.counts(); asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
}

// TestFailuresOfAnotherLogin: that the endpoint failed with one login says
// nothing about the next.
func TestFailuresOfAnotherLogin(t *testing.T) {
	r := newRig(t)
	a := r.expiring(true)
	r.server.set(func() { r.server.refresh = "rt-newer-00000000" })
	if _, err := r.Ready(t.Context(), a); err == nil {
		t.Fatal("it was renewed")
	}
	file := filepath.Join(a.SourceDir, ".credentials.json")
	must(t, os.WriteFile(file, []byte(loginFile("at-newer-00000000", "rt-newer-00000000", r.now.Add(time.Minute))), 0o600))
	_, err := r.Ready(t.Context(), a)
	must(t, err)
	if spent, _, _ := r.server.counts(); spent != 1 {
		t.Error("the new login was not renewed")
	}
}

func TestDeadLogin(t *testing.T) {
	r := newRig(t)
	a := r.expiring(false)
	r.server.set(func() { r.server.refresh = "another-one" })
	r.now = r.now.Add(time.Hour)
	_, err := r.Ready(t.Context(), a)
	if cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(cw.ErrorHint(err), "cw account login work") || strings.Contains(err.Error(), "rt-") {
		t.Errorf("%v, hint %q", err, cw.ErrorHint(err))
	}
	if v, _ := r.Account(t.Context(), "work"); !strings.Contains(v.Invalid, "invalid_grant") {
		t.Errorf("%+v", v)
	}
	if len(r.seen(cw.EventAccountInvalid)) != 1 {
		t.Error("no event")
	}
	r.quiet("rt-", "sk-ant-oat01")
}

func TestExpiredWithoutRefresh(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(loginFile("at-short-00000000", "", r.now.Add(time.Minute))), Name: "work"})
	_, err := r.Ready(t.Context(), a)
	must(t, err) // its last minute
	r.now = r.now.Add(time.Hour)
	if _, err = r.Ready(t.Context(), a); err == nil || !strings.Contains(err.Error(), "none to renew it with") {
		t.Errorf("%v", err)
	}
	if v, _ := r.Account(t.Context(), "work"); v.Invalid == "" {
		t.Error("it is not invalid")
	}
}

func TestRefused(t *testing.T) {
	r := newRig(t)
	a := r.add(cw.AddAccountRequest{Token: cw.NewSecret(loginFile("sk-ant-oat01-old-0000000000", "rt-first-0000000000", r.now.Add(time.Hour))), Name: "work"})
	_, err := r.Ready(t.Context(), a)
	must(t, err)
	for range 3 { // several runs are refused at once
		renewed, err := r.Refused(t.Context(), a.ID, "401")
		if !renewed || err != nil {
			t.Errorf("%v %v", renewed, err)
		}
	}
	if spent, asked, _ := r.server.counts(); spent != 1 || asked != 1 {
		t.Errorf("%d renewals, %d requests", spent, asked)
	}
	r.now = r.now.Add(time.Hour)
	r.server.set(func() { r.server.refresh = "another-one" })
	if renewed, err := r.Refused(t.Context(), a.ID, "401"); renewed || err == nil {
		t.Errorf("%v %v", renewed, err)
	}
	token := r.add(cw.AddAccountRequest{Token: cw.NewSecret(goodToken), Name: "token"})
	if renewed, err := r.Refused(t.Context(), token.ID, "401 for "+goodToken); renewed || err != nil {
		t.Errorf("%v %v", renewed, err)
	}
	if v, _ := r.Account(t.Context(), "token"); !strings.Contains(v.Invalid, "401") {
		t.Errorf("%q", v.Invalid)
	}
	if _, err := r.db.Accounts(t.Context(), "claude"); err != nil {
		t.Fatal(err)
	}
	own := cw.DefaultAccountID("claude")
	if renewed, err := r.Refused(t.Context(), own, "401"); renewed || err != nil {
		t.Errorf("%v %v", renewed, err)
	}
	if v, _ := r.Account(t.Context(), string(own)); v.Invalid != "" {
		t.Error("the own login was marked")
	}
	r.quiet(goodToken, "rt-")
}

// TestWrittenBack: a CLI that logged in inside the account's directory has a
// newer login than cw.
func TestWrittenBack(t *testing.T) {
	kinds(t, func(t *testing.T, adopted bool) {
		r := newRig(t)
		a := r.expiring(adopted)
		_, err := r.Ready(t.Context(), a)
		must(t, err)
		file := filepath.Join(r.Home.AccountDir(a.ID), ".credentials.json")
		must(t, os.WriteFile(file, []byte(loginFile("at-theirs-00000000", "rt-theirs-00000000", r.now.Add(time.Hour))), 0o600))
		_, err = r.Ready(t.Context(), a)
		must(t, err)
		handed, _ := os.ReadFile(file)
		if strings.Contains(string(handed), "rt-theirs") || !strings.Contains(string(handed), "at-theirs") {
			t.Errorf("%s", handed)
		}
		f, _ := formOf("claude")
		if c, err := r.load(t.Context(), a, f); err != nil || c.refresh != "rt-theirs-00000000" {
			t.Errorf("%+v %v", c, err)
		}
	})
}

// TestAdoptedIsReadAgain: the user's own CLI renewed the login.
func TestAdoptedIsReadAgain(t *testing.T) {
	r := newRig(t)
	a := r.expiring(true)
	must(t, os.WriteFile(filepath.Join(a.SourceDir, ".credentials.json"), []byte(loginFile("at-newer-00000000", "rt-newer-00000000", r.now.Add(time.Hour))), 0o600))
	access, err := r.Ready(t.Context(), a)
	must(t, err)
	handed, _ := os.ReadFile(filepath.Join(access.ConfigDir, ".credentials.json"))
	if !strings.Contains(string(handed), "at-newer") || strings.Contains(string(handed), "rt-newer") {
		t.Errorf("%s", handed)
	}
	if _, asked, _ := r.server.counts(); asked != 0 {
		t.Error("it was renewed all the same")
	}
}

// TestReadWhileRewritten: half a file is read again until it is whole, and not
// for ever.
func TestReadWhileRewritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".credentials.json")
	whole := loginFile("at-0000000000", "rt", time.Time{})
	f, _ := formOf("claude")
	for after, ok := range map[time.Duration]bool{rereadPause + rereadPause/2: true, (rereads + 1) * rereadPause: false} {
		must(t, os.WriteFile(path, []byte(whole[:40]), 0o600))
		synctest.Test(t, func(t *testing.T) {
			time.AfterFunc(after, func() { _ = os.WriteFile(path, []byte(whole), 0o600) })
			l, err := f.readLogin(t.Context(), dir)
			if (err == nil) != ok || ok && l.access != "at-0000000000" {
				t.Errorf("whole after %v: %v", after, err)
			}
			time.Sleep(time.Second) // the writer is done
		})
	}
}

// brokenVault fails to store from a moment on.
type brokenVault struct {
	Vault
	broken *bool
}

func (v brokenVault) Set(ctx context.Context, id cw.AccountID, s cw.Secret) error {
	if *v.broken {
		return keyringTrouble(errors.New("locked"))
	}
	return v.Vault.Set(ctx, id, s)
}

// TestVaultLockedInTheMiddle: before the endpoint is asked nothing is spent;
// after its answer nothing is lost.
func TestVaultLockedInTheMiddle(t *testing.T) {
	r := newRig(t)
	a := r.expiring(false)
	broken := true
	r.Vault = brokenVault{r.Vault, &broken}
	if _, err := r.Ready(t.Context(), a); err != nil { // its minute is left
		t.Fatal(err)
	}
	if _, asked, _ := r.server.counts(); asked != 0 {
		t.Error("a token was spent that could not be stored")
	}
	broken = false
	r.Fail = func(step string) { broken = broken || step == "refresh/answered" }
	_, err := r.Ready(t.Context(), a)
	must(t, err)
	broken, r.Fail = false, nil
	_, err = r.Ready(t.Context(), a)
	must(t, err)
	other := New(r.Options)
	f, _ := formOf("claude")
	if c, err := other.load(t.Context(), a, f); err != nil || c.refresh != "rt-renewed-0000000001" {
		t.Errorf("%+v %v", c, err)
	}
}

// TestNoRedirect: a token endpoint that sends elsewhere gets nothing sent there.
func TestNoRedirect(t *testing.T) {
	r := newRig(t)
	a := r.expiring(false)
	elsewhere := newEndpoint(t)
	moved := http.RedirectHandler(elsewhere.URL+"/v1/oauth/token", http.StatusTemporaryRedirect)
	r.server.Config.Handler = moved
	_, err := r.Ready(t.Context(), a)
	must(t, err)
	if _, asked, _ := elsewhere.counts(); asked != 0 {
		t.Error("the refresh token went elsewhere")
	}
}

// TestTheirCLIWasQuicker: the user's own CLI renews an adopted login between our
// look at it and the lock that both respect.
func TestTheirCLIWasQuicker(t *testing.T) {
	r := newRig(t)
	a := r.expiring(true)
	r.Fail = func(step string) {
		if step == "refresh/read" {
			must(t, os.WriteFile(filepath.Join(a.SourceDir, ".credentials.json"), []byte(loginFile("at-newer-00000000", "rt-newer-00000000", r.now.Add(time.Hour))), 0o600))
		}
	}
	access, err := r.Ready(t.Context(), a)
	must(t, err)
	handed, _ := os.ReadFile(filepath.Join(access.ConfigDir, ".credentials.json"))
	source, _ := os.ReadFile(filepath.Join(a.SourceDir, ".credentials.json"))
	if _, asked, _ := r.server.counts(); asked != 0 || !strings.Contains(string(handed), "at-newer") || !strings.Contains(string(source), "rt-newer") {
		t.Errorf("%d requests, handed %s, source %s", asked, handed, source)
	}
}

// TestTheirCLIWasQuickerAtTheEndpoint: both spend the refresh token, theirs
// first; what it got is used, and nothing is marked.
func TestTheirCLIWasQuickerAtTheEndpoint(t *testing.T) {
	r := newRig(t)
	a := r.expiring(true)
	r.Fail = func(step string) {
		if step == "refresh/prepared" {
			must(t, os.WriteFile(filepath.Join(a.SourceDir, ".credentials.json"), []byte(loginFile("at-newer-00000000", "rt-newer-00000000", r.now.Add(time.Hour))), 0o600))
			r.server.set(func() { r.server.refresh = "rt-newer-00000000" })
		}
	}
	access, err := r.Ready(t.Context(), a)
	must(t, err)
	handed, _ := os.ReadFile(filepath.Join(access.ConfigDir, ".credentials.json"))
	if v, _ := r.Account(t.Context(), "work"); v.Invalid != "" || !strings.Contains(string(handed), "at-newer") {
		t.Errorf("invalid %q, handed %s", v.Invalid, handed)
	}
	if _, asked, bad := r.server.counts(); asked != 1 || bad != 1 {
		t.Errorf("asked %d times, %d bad", asked, bad)
	}
}

// TestTheirFileIsKept: what a CLI writes beside its login while that is renewed
// stays, and no CLI of cw's gets the logins to MCP servers that are among it.
func TestTheirFileIsKept(t *testing.T) {
	r := newRig(t)
	a := r.expiring(true)
	file := filepath.Join(a.SourceDir, ".credentials.json")
	r.Fail = func(step string) {
		if step == "refresh/answered" {
			data, err := os.ReadFile(file)
			must(t, err)
			must(t, os.WriteFile(file, []byte(strings.Replace(string(data), `"other":"kept"`, `"other":"newer","mcpOAuth":{"s":{"refreshToken":"rt-mcp-0000000000"}}`, 1)), 0o600))
		}
	}
	access, err := r.Ready(t.Context(), a)
	must(t, err)
	source, _ := os.ReadFile(file)
	for _, word := range []string{"rt-renewed-0000000001", `"other":"newer"`, "rt-mcp-0000000000"} {
		if !strings.Contains(string(source), word) {
			t.Errorf("%s is missing in %s", word, source)
		}
	}
	_, err = r.Ready(t.Context(), a)
	must(t, err)
	handed, _ := os.ReadFile(filepath.Join(access.ConfigDir, ".credentials.json"))
	if strings.Contains(string(handed), "rt-") || !strings.Contains(string(handed), "renewed-0000000001") {
		t.Errorf("%s", handed)
	}
}

// TestUnsavedGivesWay: a renewed login could not be stored, and the user logged in
// again meanwhile: that login counts.
func TestUnsavedGivesWay(t *testing.T) {
	for _, again := range []bool{false, true} {
		r := newRig(t)
		a := r.expiring(true)
		file := filepath.Join(a.SourceDir, ".credentials.json")
		old, err := os.ReadFile(file)
		must(t, err)
		r.Fail = func(step string) {
			if step == "refresh/answered" { // a folder in its place cannot be replaced
				must(t, os.Remove(file))
				must(t, os.MkdirAll(filepath.Join(file, "x"), 0o700))
			}
		}
		_, err = r.Ready(t.Context(), a)
		must(t, err)
		if !r.isUnsaved(a.ID) {
			t.Fatal("it was stored")
		}
		r.Fail = nil
		must(t, os.RemoveAll(file))
		text, want := string(old), "rt-renewed-0000000001"
		if again {
			text, want = loginFile("at-newer-00000000", "rt-newer-00000000", r.now.Add(time.Hour)), "rt-newer-00000000"
		}
		must(t, os.WriteFile(file, []byte(text), 0o600))
		_, err = r.Ready(t.Context(), a)
		must(t, err)
		f, _ := formOf("claude")
		l, err := f.readLogin(t.Context(), a.SourceDir)
		if err != nil || l.refresh != want || r.isUnsaved(a.ID) || !isHanded(r.Home.AccountDir(a.ID), f, l.credentials) {
			t.Errorf("again %v: %+v %v", again, l, err)
		}
	}
}

// TestLockOfAnotherClock: a lock that was left behind by a clock that is ahead is
// no lock for ever; one that is touched is.
func TestLockOfAnotherClock(t *testing.T) {
	dir := t.TempDir()
	for touched, free := range map[bool]bool{false: true, true: false} {
		must(t, os.MkdirAll(dir+".lock", 0o700))
		synctest.Test(t, func(t *testing.T) { // its clock is decades behind that of the files
			ctx, cancel := context.WithTimeout(t.Context(), cliLockPatience)
			defer cancel()
			for n := 1; touched && n < 30; n++ {
				time.AfterFunc(time.Duration(n)*cliLockTouch, func() {
					at := time.Now().AddDate(20, 0, 0)
					_ = os.Chtimes(dir+".lock", at, at)
				})
			}
			unlock, err := lockForCLI(ctx, dir)
			if (err == nil) != free {
				t.Errorf("touched %v: %v", touched, err)
			}
			if err == nil {
				unlock()
			}
			time.Sleep(time.Hour) // all touches are over
		})
	}
}

func TestLockForCLI(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lockForCLI(t.Context(), dir)
	must(t, err)
	short, cancel := context.WithTimeout(t.Context(), 5*lockPause)
	defer cancel()
	if _, err := lockForCLI(short, dir); err == nil {
		t.Error("it was taken twice")
	}
	unlock()
	must(t, os.Mkdir(dir+".lock", 0o700)) // left behind
	old := time.Now().Add(-time.Minute)
	must(t, os.Chtimes(dir+".lock", old, old))
	unlock, err = lockForCLI(t.Context(), dir)
	must(t, err)
	unlock()
	if _, err := os.Lstat(dir + ".lock"); err == nil {
		t.Error("it stays")
	}
}
