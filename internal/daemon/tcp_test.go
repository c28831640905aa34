package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/daemon"
)

// TestTCPDoor: the daemon answers on TCP beside its socket, on the port that
// it tells, and to nobody without a token.
func TestTCPDoor(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Env = []string{"CW_CONFIG_HTTP_ADDRESS=127.0.0.1:0"}
	l.Start()
	st := l.Serving()
	address, err := netip.ParseAddrPort(st.HTTP)
	if err != nil || !address.Addr().IsLoopback() || address.Port() == 0 {
		t.Fatalf("it listens on %q: %v", st.HTTP, err)
	}
	token, err := l.Client().CreateToken(t.Context(), cw.TokenRequest{Name: "board"})
	must(t, err)
	for secret, want := range map[string]int{"": 401, "cwd_no": 401, token.Secret: 200} {
		if code, body := get(t, st.HTTP, "/v1/agents", secret); code != want {
			t.Errorf("with token %.4q: %d, want %d: %s", secret, code, want, body)
		}
	}
	if stdout, _, _ := l.Run(l.Repo, "status"); !strings.Contains(stdout, "http      "+st.HTTP) {
		t.Errorf("cw status says\n%s", stdout)
	}
	second := lab.New(t, binary)
	_, stderr, code := second.Run(second.Repo, "serve", "--http", st.HTTP)
	if want := fmt.Sprintf("port %d of 127.0.0.1 is taken", address.Port()); code != 1 || !strings.Contains(stderr, want) || !strings.Contains(stderr, "hint:") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	// The detached daemon after a restart reads the same configuration.
	if _, stderr, code := l.Run(l.Repo, "restart"); code != 0 {
		t.Fatalf("restart: exit %d: %s", code, stderr)
	}
	t.Cleanup(func() { l.Run(l.Repo, "stop") })
	after := l.Serving()
	if after.PID == st.PID || after.HTTP == "" {
		t.Errorf("after the restart: %+v", after)
	}
	if code, body := get(t, after.HTTP, "/v1/agents", token.Secret); code != 200 {
		t.Errorf("after the restart: %d: %s", code, body)
	}
}

// get asks over TCP and gives status and body.
func get(t *testing.T, address, path, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	must(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, string(body)
}

// TestPublicAddressesAreRefused: from the command line, the environment and
// the file, before anything listens.
func TestPublicAddressesAreRefused(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	refused := func(l *lab.Lab, args ...string) {
		t.Helper()
		_, stderr, code := l.Run(l.Repo, args...)
		if code != 2 || !strings.Contains(stderr, "needs TLS and identities") {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
		if _, err := os.Stat(l.Home.Socket()); err == nil {
			t.Error("it listened")
		}
	}
	refused(l, "serve", "--http", "0.0.0.0:0")
	refused(l, "serve", "--http", ":0")
	l.Env = []string{"CW_CONFIG_HTTP_ADDRESS=[::]:0"}
	refused(l, "project", "list")
	l.Env = nil
	must(t, os.WriteFile(l.Home.Config(), []byte("http:\n  address: 192.0.2.1:0\n"), 0o600))
	refused(l, "project", "list")
	refused(l, "serve")
}

// TestLocalhostElsewhere: the name localhost is believed only where it means
// this machine.
func TestLocalhostElsewhere(t *testing.T) {
	t.Parallel()
	tests := []struct {
		found []string
		want  string
	}{
		{[]string{"::1", "127.0.0.1"}, "127.0.0.1:80"},
		{[]string{"::1"}, "[::1]:80"},
		{[]string{"::ffff:127.0.0.1"}, "127.0.0.1:80"},
		{[]string{"127.0.0.1", "192.0.2.1"}, ""},
		{[]string{"192.0.2.1"}, ""},
		{nil, ""},
	}
	for _, tt := range tests {
		got, err := daemon.Loopback(t.Context(), "localhost:80", func(context.Context, string, string) ([]netip.Addr, error) {
			var all []netip.Addr
			for _, text := range tt.found {
				all = append(all, netip.MustParseAddr(text))
			}
			return all, nil
		})
		if tt.want == "" && (err == nil || cw.ErrorHint(err) == "") || tt.want != "" && got.String() != tt.want {
			t.Errorf("%v: %v, %v", tt.found, got, err)
		}
	}
}

// TestTogether: one that breaks ends the other, and its error is told.
func TestTogether(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, first := range map[string]error{"breaks": broken, "ends": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				err := daemon.Together(ctx, end, map[string]func() error{
					"one": func() error { return first },
					"two": func() error { <-ctx.Done(); return ctx.Err() },
				})
				if !errors.Is(err, first) || errors.Is(err, context.Canceled) || ctx.Err() == nil {
					t.Errorf("%v, %v", err, ctx.Err())
				}
			})
		})
	}
}

// TestBadConfigurationStopsNobody: with a configuration that is wrong no
// daemon starts and everybody is told why; agents run on, and the daemon after
// the mending has them.
func TestBadConfigurationStopsNobody(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	gate := filepath.Join(l.Books, "go")
	v := l.MustSpawn(fakecli.Script{Pieces: 5, Wait: gate, File: "a.txt", Commit: "Add a", Signal: `{"status":"done"}`})
	l.Kill()
	must(t, os.WriteFile(l.Home.Config(), []byte("log:\n  levle: debug\nhttp:\n  address: 127.0.0.1\n"), 0o600))
	for _, args := range [][]string{{"agent", "list"}, {"serve"}, {"restart"}} {
		_, stderr, code := l.Run(l.Repo, args...)
		for _, want := range []string{l.Home.Config() + ":2", "did you mean log.level?", ":4", "HOST:PORT", "hint: mend the file"} {
			if code != 2 || !strings.Contains(stderr, want) {
				t.Errorf("%v: exit %d, without %s: %s", args, code, want, stderr)
			}
		}
	}
	if stdout, _, code := l.Run(l.Repo, "doctor"); code != 1 || !strings.Contains(stdout, "fail  configuration") {
		t.Errorf("doctor: exit %d: %s", code, stdout)
	}
	if stdout, _, code := l.Run(l.Repo, "config", "path"); code != 0 || strings.TrimSpace(stdout) != l.Home.Config() {
		t.Errorf("config path: exit %d: %s", code, stdout)
	}
	must(t, os.WriteFile(gate, nil, 0o600))
	must(t, os.WriteFile(l.Home.Config(), []byte("log:\n  level: debug\n"), 0o600))
	l.Start()
	if v = l.Rest(string(v.ID)); v.Status != cw.StatusIdle || v.Commits() != 1 {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
}
