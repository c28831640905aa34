package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/proc"
)

// world is the machine around a connector: a daemon that is there or not.
type world struct {
	*connector
	home     cw.Home
	launched int
	answers  func() error // of a daemon that is asked who it is; nil: it is there
	report   func(path string)
	dead     bool // the daemon that was launched ended
	lock     int  // pid in the lock file
	sockets  []string
	tokens   []string
}

func gone() error {
	return cw.Errorf(cw.CodeUnreachable, "no daemon is running").Because(syscall.ECONNREFUSED)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{home: cw.Home(t.TempDir()), answers: gone}
	w.connector = &connector{
		env:   environ{},
		home:  func() (cw.Home, error) { return w.home, nil },
		below: func(cw.Home) bool { return false },
		dial: func(socket, token string) cw.Services {
			w.sockets, w.tokens = append(w.sockets, socket), append(w.tokens, token)
			f := newFake()
			f.errs["Whoami"] = w.answers()
			return f
		},
		prepare: func(home cw.Home) error { return os.MkdirAll(home.RunState(), 0o700) },
		launch: func(_ cw.Home, report string) (int, func() bool, error) {
			w.launched++
			if w.report != nil {
				w.report(report)
			}
			return 100, func() bool { return !w.dead }, nil
		},
		holder: func(cw.Home) int { return w.lock },
	}
	return w
}

// after gives answers that change once a time is over.
func after(d time.Duration, before, then func() error) func() error {
	start := time.Now()
	return func() error {
		if time.Since(start) < d {
			return before()
		}
		return then()
	}
}

func there() error { return nil }

func TestConnect(t *testing.T) {
	t.Parallel()
	skew := func() error { return cw.Errorf(cw.CodeUnreachable, "another version").WithHint("cw restart") }
	forbidden := func() error { return cw.Errorf(cw.CodeForbidden, "not you") }
	newer := cw.Errorf(cw.CodeRefused, "the database is of a newer cw").WithHint("update cw")
	inside := func(w *world) { w.env[proc.RunVariable] = "r1" }
	for _, tc := range []struct {
		name     string
		setup    func(*world)
		code     cw.Code // "" when it connects
		launched int
		took     time.Duration // at least, and not a second longer
		says     string
	}{
		{name: "it runs", setup: func(w *world) { w.answers = there }},
		{name: "started", setup: func(w *world) { w.answers = after(3*time.Second, gone, there) }, launched: 1, took: 3 * time.Second},
		{name: "never comes up", setup: func(*world) {}, code: cw.CodeUnreachable, launched: 1, took: startMax, says: "does not answer 15s after its start"},
		{name: "ended at once", setup: func(w *world) { w.dead = true }, code: cw.CodeUnreachable, launched: 1, says: "ended while it started"},
		{name: "ended with its log", setup: func(w *world) {
			w.dead = true
			w.report = func(string) { _ = os.WriteFile(w.home.DaemonLog(), []byte("panic: oh no\n"), 0o600) }
		}, code: cw.CodeUnreachable, launched: 1, says: "panic: oh no"},
		{name: "says why", setup: func(w *world) {
			w.dead = true
			w.report = func(path string) { _ = writeStartReport(path, newer) }
		}, code: cw.CodeRefused, launched: 1, says: "newer cw"},
		{name: "ended by cw stop", setup: func(w *world) {
			w.lock = 100
			w.report = func(path string) { _ = writeStartReport(path, cw.Errorf(cw.CodeInterrupted, "interrupted")) }
		}, code: cw.CodeUnreachable, launched: 1, says: "ended while it started"},
		{name: "says why, and is not gone yet", setup: func(w *world) {
			w.lock = 100
			w.report = func(path string) { _ = writeStartReport(path, newer) }
		}, code: cw.CodeRefused, launched: 1},
		{name: "another was first", setup: func(w *world) {
			w.lock = 99
			w.answers = after(4*time.Second, gone, there)
			w.report = func(path string) {
				_ = writeStartReport(path, cw.Errorf(cw.CodeRefused, "a daemon (pid 99) already serves"))
			}
		}, launched: 1, took: 4 * time.Second},
		{name: "another was first and hangs", setup: func(w *world) {
			w.lock = 99
			w.report = func(path string) {
				_ = writeStartReport(path, cw.Errorf(cw.CodeRefused, "a daemon (pid 99) already serves"))
			}
		}, code: cw.CodeUnreachable, launched: 1, took: startMax, says: "a daemon with pid 99 holds"},
		{name: "another holds it since long", setup: func(w *world) {
			w.lock = 99
			w.report = func(path string) {
				past := time.Now().Add(-2 * heldMin)
				_ = os.WriteFile(w.home.DaemonLock(), []byte("99\n"), 0o600)
				_ = os.Chtimes(w.home.DaemonLock(), past, past)
				_ = writeStartReport(path, cw.Errorf(cw.CodeRefused, "a daemon (pid 99) already serves"))
			}
		}, code: cw.CodeUnreachable, launched: 1, took: settleMax, says: "a daemon with pid 99 holds"},
		{name: "home cannot be used", setup: func(w *world) {
			w.prepare = func(cw.Home) error { return cw.Errorf(cw.CodeRefused, "its disk is full") }
		}, code: cw.CodeRefused},
		{name: "another version", setup: func(w *world) { w.answers = skew }, code: cw.CodeUnreachable, took: settleMax, says: "another version"},
		{name: "just ending", setup: func(w *world) { w.answers = after(time.Second, skew, there) }, took: time.Second},
		{name: "not allowed", setup: func(w *world) { w.answers = forbidden }, code: cw.CodeForbidden},
		{name: "inside, it restarts", setup: func(w *world) { inside(w); w.answers = after(20*time.Second, gone, there) }, took: 20 * time.Second},
		{name: "inside, it stays away", setup: inside, code: cw.CodeUnreachable, took: insideMax, says: "no daemon answers"},
		{name: "below a shim", setup: func(w *world) { w.below = func(cw.Home) bool { return true } }, code: cw.CodeUnreachable, took: insideMax},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				tc.setup(w)
				begin := time.Now()
				svc, err := w.connect(t.Context())
				if cw.ErrorCode(err) != tc.code || (err == nil) != (svc != nil) {
					t.Errorf("got %v, want code %q", err, tc.code)
				}
				if err != nil && !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%q does not say %q", err, tc.says)
				}
				if w.launched != tc.launched {
					t.Errorf("launched %d daemons, want %d", w.launched, tc.launched)
				}
				if took := time.Since(begin); took < tc.took || took > tc.took+time.Second {
					t.Errorf("took %s, want %s", took, tc.took)
				}
				left, _ := os.ReadDir(w.home.RunState())
				for _, e := range left {
					if strings.HasPrefix(e.Name(), "start-") {
						t.Errorf("%s was left behind", e.Name())
					}
				}
			})
		})
	}
}

// TestStay: a command that waits anyhow waits for the daemon as long as for the
// rest, inside of a run; outside it starts one.
func TestStay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		inside   bool
		back     time.Duration // when the daemon is there again
		most     time.Duration // of the wait; 0: Ctrl-C after three hours
		took     time.Duration
		code     cw.Code
		launched int
	}{
		{name: "it comes back late", inside: true, back: time.Hour, took: time.Hour},
		{name: "its time is over first", inside: true, back: time.Hour, most: time.Minute, took: time.Minute, code: cw.CodeUnreachable},
		{name: "shorter than others wait", inside: true, back: time.Hour, most: time.Second, took: time.Second, code: cw.CodeUnreachable},
		{name: "left", inside: true, back: 9 * time.Hour, took: 3 * time.Hour},
		{name: "outside", back: 2 * time.Second, took: 2 * time.Second, launched: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if tc.inside {
					w.env[proc.RunVariable] = "r1"
				}
				w.answers = after(tc.back, gone, there)
				ctx, cancel := upTo(t.Context(), tc.most)
				defer cancel()
				time.AfterFunc(3*time.Hour, cancel)
				begin := time.Now()
				_, err := w.stay(ctx)
				left := tc.name == "left" && errors.Is(err, context.Canceled)
				if cw.ErrorCode(err) != tc.code && !left {
					t.Errorf("got %v, want code %q", err, tc.code)
				}
				if took := time.Since(begin); took < tc.took || took > tc.took+time.Second || w.launched != tc.launched {
					t.Errorf("took %s, want %s; launched %d", took, tc.took, w.launched)
				}
			})
		})
	}
}

// TestLeftToken: a person whose shell has an agent's token is told.
func TestLeftToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answers = func() error { return cw.Errorf(cw.CodeForbidden, "refused").WithHint("leave CW_TOKEN as cw set it") }
	w.env["CW_TOKEN"] = "t"
	if _, err := w.reach(t.Context()); !strings.Contains(cw.ErrorHint(err), "unset CW_TOKEN") || cw.ErrorCode(err) != cw.CodeForbidden {
		t.Errorf("a person: %v, hint %q", err, cw.ErrorHint(err))
	}
	w.env[proc.RunVariable] = "r1"
	if _, err := w.reach(t.Context()); cw.ErrorHint(err) != "leave CW_TOKEN as cw set it" {
		t.Errorf("an agent: hint %q", cw.ErrorHint(err))
	}
}

// TestConnectHangs: a daemon that takes the connection and says nothing.
func TestConnectHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.dial = func(string, string) cw.Services { return hanging{} }
		_, err := w.reach(t.Context())
		if cw.ErrorCode(err) != cw.CodeUnreachable || absent(err) || !saidItself(err) {
			t.Errorf("got %v", err)
		}
	})
}

type hanging struct{ cw.Services }

func (hanging) Whoami(ctx context.Context) (cw.Whoami, error) {
	<-ctx.Done()
	return cw.Whoami{}, cw.Errorf(cw.CodeTimeout, "the daemon did not answer in time").Because(ctx.Err())
}

// TestConnectInterrupted ends at once.
func TestConnectInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := w.connect(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestSocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	expect := func(want string) {
		t.Helper()
		if got := w.socket(w.home); got != want {
			t.Errorf("socket %s, want %s", got, want)
		}
	}
	expect(w.home.Socket())
	if err := os.MkdirAll(w.home.RunState(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.home.SocketFile(), []byte("/tmp/short.sock\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("/tmp/short.sock")
	w.env["CW_SOCKET"] = "/elsewhere.sock"
	expect("/tmp/short.sock") // outside of a run the variable means nothing
	w.env[proc.RunVariable] = "r1"
	expect("/elsewhere.sock")
}

// TestLaunchEnvironment: nothing of an outer agent reaches the daemon.
func TestLaunchEnvironment(t *testing.T) {
	t.Parallel()
	env := parseEnviron([]string{"CW_RUN=r", "CW_TOKEN=t", "PATH=/bin", "broken", "A=b=c"}).without("CW_")
	if diff := cmp.Diff([]string{"A=b=c", "PATH=/bin"}, env.list()); diff != "" {
		t.Errorf("environment differs (-want +got):\n%s", diff)
	}
}

func TestLockHolder(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	if got := lockHolder(home); got != 0 {
		t.Errorf("no file: %d", got)
	}
	if err := os.MkdirAll(home.RunState(), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := proc.Lock(home.DaemonLock())
	if err != nil {
		t.Fatal(err)
	}
	if got := lockHolder(home); got != os.Getpid() {
		t.Errorf("held: %d, want %d", got, os.Getpid())
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if pid, err := endDaemon(home); pid != 0 || err != nil {
		t.Errorf("end of nobody: %d, %v", pid, err)
	}
}
