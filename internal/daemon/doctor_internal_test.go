package daemon

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/store"
	"cw/providers"
)

// wantCheck fails unless a finding is as wanted and, when it warns, says what to do.
func wantCheck(t *testing.T, c Check, want CheckStatus, fix string) {
	t.Helper()
	if c.Status != want || !strings.Contains(c.Fix, fix) || (want == CheckOK) != (c.Fix == "") {
		t.Errorf("%+v, want %s with %q", c, want, fix)
	}
}

// TestDoctorLimits: limits that are too low are warned of, with the way to raise
// them.
func TestDoctorLimits(t *testing.T) {
	t.Parallel()
	wantCheck(t, openFilesCheck(filesNeeded), CheckOK, "")
	wantCheck(t, openFilesCheck(filesNeeded-1), CheckWarn, "ulimit -n 1024")
	limit := filepath.Join(t.TempDir(), "limit")
	for text, want := range map[string]CheckStatus{"64\n": CheckOK, "63\n": CheckWarn, "many\n": CheckWarn} {
		if err := os.WriteFile(limit, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		fix := ""
		if want == CheckWarn {
			fix = "sysctl fs.inotify.max_user_instances=64"
		}
		wantCheck(t, inotifyCheck("file watchers", limit, watchersLow, "fs.inotify.max_user_instances"), want, fix)
	}
}

// TestDoctorLinger: a system that ends a user's processes at log-out is warned
// of; one that has nothing of the kind is well.
func TestDoctorLinger(t *testing.T) {
	for _, tt := range []struct {
		name, loginctl string
		want           CheckStatus
		fix            string
	}{
		{"it lingers", "echo yes", CheckOK, ""},
		{"it does not", "echo no", CheckWarn, "loginctl enable-linger"},
		{"nobody is logged in", "exit 1", CheckOK, ""},
		{"there is none", "", CheckOK, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			if tt.loginctl != "" {
				program := "#!/bin/sh\n" + tt.loginctl + "\n"
				if err := os.WriteFile(filepath.Join(dir, "loginctl"), []byte(program), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			wantCheck(t, lingerCheck(t.Context()), tt.want, tt.fix)
		})
	}
}

// TestDoctorPrices: a table of prices that is not used is told of, with the place
// of the fault.
func TestDoctorPrices(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	wantCheck(t, pricesCheck(home), CheckOK, "")
	must(t, os.WriteFile(home.Prices(), []byte("prices:\n  - {model: mine, input: 1, output: 2}\n"), 0o600))
	if c := pricesCheck(home); c.Status != CheckOK || !strings.Contains(c.Detail, home.Prices()) {
		t.Errorf("%+v", c)
	}
	must(t, os.WriteFile(home.Prices(), []byte("prices:\n  - {model: mine, input: dear, output: 2}\n"), 0o600))
	c := pricesCheck(home)
	wantCheck(t, c, CheckFail, "cw restart")
	if !strings.Contains(c.Detail, home.Prices()+":2:") {
		t.Errorf("it does not tell where: %s", c.Detail)
	}
}

// TestDoctorAsksASilentDaemon: a daemon that takes a call and never answers is
// told of, and leaves time for the other checks.
func TestDoctorAsksASilentDaemon(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "cw-silent-") // not t.TempDir: its path is too long for a socket
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	home := cw.Home(dir)
	must(t, os.MkdirAll(home.RunState(), 0o700))
	silent, err := net.Listen("unix", home.Socket())
	must(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*doctorProbe)
	defer cancel()
	unwell, _ := daemonCheck(ctx, home)
	wantCheck(t, unwell, CheckFail, "cw restart")
	if ctx.Err() != nil {
		t.Error("no time is left")
	}
}

// TestIntegrityCheck: the doctor says what of the state is covered.
func TestIntegrityCheck(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	path := filepath.Join(string(home), store.StateName)
	for _, c := range []struct {
		size   int64 // -1: there is none
		status CheckStatus
		says   string
	}{
		{-1, CheckOK, "no state yet"},
		{96 << 20, CheckOK, "every page of cw.db (96 MiB)"},
		{store.SealMax, CheckOK, "every page of cw.db (1024 MiB)"},
		{store.SealMax + 1, CheckWarn, "is not noticed"},
	} {
		if c.size >= 0 {
			must(t, os.WriteFile(path, nil, 0o600))
			must(t, os.Truncate(path, c.size))
		}
		got := integrityCheck(home)
		if got.Status != c.status || !strings.Contains(got.Detail, c.says) || (got.Fix == "") != (c.status == CheckOK) {
			t.Errorf("%d bytes: %+v", c.size, got)
		}
	}
}

// TestDoctorLogin: a CLI that is there and not logged in is warned of, with the
// command that mends it, unless another account can be used. The list of providers
// says the same.
func TestDoctorLogin(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	must(t, os.MkdirAll(home.Providers(), 0o700))
	must(t, os.WriteFile(filepath.Join(home.Providers(), "kept.yaml"), []byte("name: kept\ncommand: {names: [kept]}\nspawn: {args: [run]}\n"+
		"account: {configHome: .kept, key: KEPT_KEY, login: [login], loggedIn: {files: [auth.json]}}\n"), 0o600))
	presets, _ := providers.Load(home.Providers())
	p, err := presets.Get("kept")
	must(t, err)
	bin := t.TempDir()
	must(t, os.WriteFile(filepath.Join(bin, "kept"), []byte("#!/bin/sh\n"), 0o700))
	well := Check{Name: "provider kept", Status: CheckOK, Detail: "at /bin/kept"}
	environ := []string{"HOME=" + t.TempDir()}
	key := cw.AccountView{Account: cw.Account{Provider: "kept", Kind: cw.AccountKey, Enabled: true}}
	own, refused := key, key
	own.Kind, refused.Invalid = cw.AccountOwn, "401"
	for name, tt := range map[string]struct {
		environ []string
		others  []cw.AccountView
		want    CheckStatus
		fix     string
	}{
		"not logged in":        {environ, []cw.AccountView{own, refused}, CheckWarn, "kept login, or cw account add --provider kept"},
		"a key is there":       {append([]string{"KEPT_KEY=k"}, environ...), nil, CheckOK, ""},
		"another account is":   {environ, []cw.AccountView{own, key}, CheckOK, ""},
		"nothing to log in to": {[]string{"HOME="}, nil, CheckOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := loginCheck(well, p, tt.environ, tt.others)
			wantCheck(t, got, tt.want, tt.fix)
			if (tt.want == CheckWarn) != strings.Contains(got.Detail, "not logged in") {
				t.Errorf("it says: %s", got.Detail)
			}
			listed := providerService{presets: presets, environ: tt.environ, probes: newProbes()}.view(t.Context(), p, bin, nil, tt.others)
			if !listed.Installed || (tt.want == CheckWarn) != strings.Contains(listed.NotLoggedIn, "kept login") {
				t.Errorf("listed: installed %v, %q", listed.Installed, listed.NotLoggedIn)
			}
		})
	}
}
