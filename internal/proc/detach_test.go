package proc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A detached program holds nothing of its starter's: `cw run … | cat` returns.
func TestDaemonizeInheritsNothing(t *testing.T) {
	t.Parallel()
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil { // not marked close-on-exec
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(p[0]), "r"), os.NewFile(uintptr(p[1]), "w")
	defer r.Close()
	dir := t.TempDir()
	log := filepath.Join(dir, "daemon.log")
	appendFile(t, log, "before\n")
	pid, err := Daemonize(Detached{
		Binary: self(t), Args: []string{"child", "hang", "daemon"},
		Env: []string{"CHILD_DIR=" + dir}, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	id := identity(t, pid)
	defer func() { _ = id.Signal(unix.SIGKILL) }()
	eventually(t, "the daemon", func() bool {
		_, err := os.Stat(filepath.Join(dir, "daemon.pid"))
		return err == nil
	})
	w.Close()
	closed := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(r)
		closed <- err
	}()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the daemon holds the pipe open")
	}
	if !id.Alive() {
		t.Error("the daemon does not live: the test proves nothing")
	}
	if session, err := unix.Getsid(pid); err != nil || session != pid {
		t.Errorf("session %d, %v; want its own, %d", session, err, pid)
	}
	if cwd, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd"); err != nil || cwd != "/" {
		t.Errorf("working directory %q, %v", cwd, err)
	}
}

func TestDaemonizeAppendsToTheLog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "daemon.log")
	appendFile(t, log, "before\n")
	pid, err := Daemonize(Detached{Binary: self(t), Args: []string{"child", "report"}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	var got childReport
	eventually(t, "the report", func() bool {
		b, _ := os.ReadFile(log)
		text, ok := strings.CutPrefix(string(b), "before\n")
		return ok && json.NewDecoder(strings.NewReader(text)).Decode(&got) == nil
	})
	if got.PID != pid || len(got.Env) != 0 || len(got.Descriptors) != 3 {
		t.Errorf("report %+v", got)
	}
	// A child that ended does not stay as a zombie.
	eventually(t, "reaping", func() bool {
		_, err := readProcess(pid)
		return err != nil
	})
	if _, err := Daemonize(Detached{Binary: "/no/such/program", Log: log}); err == nil {
		t.Error("a missing program was started")
	}
}

func TestStartLeavesNoZombie(t *testing.T) {
	t.Parallel()
	r := newRun(t, "exit", "0")
	r.start()
	r.end()
	obs := r.wantState(StateExited)
	eventually(t, "reaping", func() bool {
		p, err := readProcess(obs.Handle.ShimPID)
		return err != nil || p.Identity != obs.Handle.Shim()
	})
}

func TestOutput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script, out, err string
		code                   int
	}{
		{"plain", "echo out; echo err >&2", "out\n", "err\n", 0},
		{"code", "exit 3", "", "", 3},
		{"killed", "kill -9 $$", "", "", -1},
		{"no stdin", "cat; echo end", "end\n", "", 0},
		{"environment and directory", "echo $A; pwd", "b\n/\n", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, errOut, code, err := Output(t.Context(), Command{
				Argv: []string{"sh", "-c", tt.script}, Env: []string{"PATH=/usr/bin:/bin", "A=b"}, Dir: "/",
			})
			if string(out) != tt.out || string(errOut) != tt.err || code != tt.code || err != nil {
				t.Errorf("got %q, %q, %d, %v", out, errOut, code, err)
			}
		})
	}
}

func TestOutputEndsTheGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // once both have said who they are
		for ctx.Err() == nil {
			if b, err := os.ReadFile(filepath.Join(dir, "sleep.pid")); err == nil && bytes.HasSuffix(b, []byte("\n")) {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	began := time.Now()
	_, _, code, err := Output(ctx, Command{
		Argv: []string{"sh", "-c", "echo $$ > sh.pid; sleep 600 & echo $! > sleep.pid; wait"},
		Env:  []string{"PATH=/usr/bin:/bin"}, Dir: dir,
	})
	if err == nil || code != -1 || time.Since(began) > 5*time.Minute {
		t.Errorf("code %d, %v after %v", code, err, time.Since(began))
	}
	for _, name := range []string{"sh.pid", "sleep.pid"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, name+" to end", func() bool {
			_, err := IdentityOf(pid)
			return err != nil
		})
	}
}

// A helper that leaves a process behind, which holds its output open, is not
// waited for.
func TestOutputDoesNotWaitForLeftovers(t *testing.T) {
	t.Parallel()
	began := time.Now()
	out, _, code, err := Output(t.Context(), Command{
		Argv: []string{"sh", "-c", "sleep 20 & echo done"}, Env: []string{"PATH=/usr/bin:/bin"},
	})
	if string(out) != "done\n" || code != 0 || err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("got %q, %d, %v after %v", out, code, err, time.Since(began))
	}
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	out, _, _, err := Output(t.Context(), Command{
		Argv: []string{"sh", "-c", "while :; do echo 0123456789; done"}, Env: []string{"PATH=/usr/bin:/bin"}, MaxBytes: 1000,
	})
	if len(out) != 1000 || !errors.Is(err, ErrTooMuchOutput) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestLookPath(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	for path, mode := range map[string]os.FileMode{
		filepath.Join(dir, "plain"): 0o600, filepath.Join(other, "plain"): 0o700,
		filepath.Join(dir, "only"): 0o600, filepath.Join(dir, "tool"): 0o700,
	} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	list := dir + ":" + other + "::relative"
	tests := []struct{ name, list, want string }{
		{"tool", list, filepath.Join(dir, "tool")},
		{"plain", list, filepath.Join(other, "plain")},
		{"only", list, ""},
		{"sub", list, ""},
		{"none", list, ""},
		{"tool", "", ""},
		{"", list, ""},
		{filepath.Join(dir, "tool"), "", filepath.Join(dir, "tool")},
		{filepath.Join(dir, "only"), list, ""},
	}
	for _, tt := range tests {
		got, err := LookPath(tt.name, tt.list)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: got %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}
