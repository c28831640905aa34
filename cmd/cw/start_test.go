package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"cw/internal/cw"
	"cw/internal/proc"
)

// cli runs one command line of the real program in this process; its daemon is
// a process of its own.
func cli(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	out, errOut := &bytes.Buffer{}, &lockedBuffer{}
	s := streams{in: strings.NewReader(""), out: out, err: errOut, width: func() int { return 80 }}
	code = run(t.Context(), args, s, env)
	return out.String(), errOut.String(), code
}

// TestManyStartAtOnce: however many commands find no daemon, one is started,
// and it serves them all.
func TestManyStartAtOnce(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home))
	t.Cleanup(func() { killDaemon(t, home) })
	const many = 12
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			if _, stderr, code := cli(t, env, "project", "list"); code != 0 {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
	all.Wait()
	out, stderr, code := cli(t, env, "status", "--json")
	var status cw.DaemonStatus
	if err := json.Unmarshal([]byte(out), &status); err != nil || code != 0 {
		t.Fatalf("status: %v, exit code %d: %s", err, code, stderr)
	}
	if holder := lockHolder(home); holder != status.PID {
		t.Errorf("pid %d answers, and %d has the lock", status.PID, holder)
	}
	if _, stderr, code := cli(t, env, "serve"); code != 4 || !strings.Contains(stderr, "already serves") {
		t.Errorf("a second daemon: exit code %d: %s", code, stderr)
	}
	if out, _, code := cli(t, env, "stop"); code != 0 || !strings.Contains(out, "the daemon is stopped") {
		t.Errorf("stop: exit code %d: %s", code, out)
	}
	if pid := lockHolder(home); pid != 0 {
		t.Errorf("the daemon with pid %d still runs", pid)
	}
	left, _ := filepath.Glob(filepath.Join(home.RunState(), "start-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestLostSocket: a daemon whose socket was removed is named, and can be
// replaced and ended.
func TestLostSocket(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home))
	t.Cleanup(func() { killDaemon(t, home) })
	lose := func() (pid int) {
		t.Helper()
		if _, stderr, code := cli(t, env, "project", "list"); code != 0 {
			t.Fatalf("start: exit code %d: %s", code, stderr)
		}
		if err := os.Remove(home.Socket()); err != nil {
			t.Fatal(err)
		}
		return lockHolder(home)
	}
	first := lose()
	if _, stderr, code := cli(t, env, "status"); code != 5 || !strings.Contains(stderr, fmt.Sprintf("pid %d holds", first)) {
		t.Errorf("status: exit code %d: %s", code, stderr)
	}
	if out, stderr, code := cli(t, env, "restart"); code != 0 {
		t.Fatalf("restart: exit code %d: %s%s", code, out, stderr)
	}
	if second := lose(); second == first || second == 0 {
		t.Errorf("pid %d after the restart, %d before", second, first)
	}
	if out, stderr, code := cli(t, env, "stop"); code != 0 || !strings.Contains(out, "the daemon is stopped") {
		t.Errorf("stop: exit code %d: %s%s", code, out, stderr)
	}
	if pid := lockHolder(home); pid != 0 {
		t.Errorf("the daemon with pid %d still runs", pid)
	}
	if out, _, code := cli(t, env, "stop"); code != 0 || !strings.Contains(out, "not running") {
		t.Errorf("second stop: exit code %d: %s", code, out)
	}
}

// TestInsideNeverStarts: a command inside of a run starts no daemon.
func TestInsideNeverStarts(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home), proc.RunVariable+"=r1")
	for _, args := range [][]string{{"serve"}, {"restart"}, {"demo"}} {
		if _, stderr, code := cli(t, env, args...); code != 4 {
			t.Errorf("cw %s: exit code %d: %s", args[0], code, stderr)
		}
	}
	if pid := lockHolder(home); pid != 0 {
		t.Errorf("a daemon with pid %d was started", pid)
		killDaemon(t, home)
	}
}

// killDaemon ends a daemon that a test left.
func killDaemon(t *testing.T, home cw.Home) {
	t.Helper()
	pid := lockHolder(home)
	if pid == 0 {
		return
	}
	id, err := proc.IdentityOf(pid)
	if err == nil {
		err = id.Signal(syscall.SIGKILL)
	}
	t.Logf("killed the daemon with pid %d: %v", pid, err)
}
