package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// Variables by which a test tells a shim where to fail.
const (
	dieVariable  = "PROC_TEST_DIE"  // the step at which the shim kills itself
	hangVariable = "PROC_TEST_HANG" // the step at which it stands still
	slowVariable = "PROC_TEST_SLOW" // the step at which it waits half a second
)

// TestMain makes three programs of the test binary: the tests, a shim, and the
// little commands that shims run.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == shimCommand {
		os.Exit(RunShim(os.Args[2], failpoint))
	}
	if len(os.Args) >= 3 && os.Args[1] == "child" {
		os.Exit(runChild(os.Args[2], os.Args[3:]))
	}
	goleak.VerifyTestMain(m,
		// One watch for the whole process, which the tail library never ends.
		goleak.IgnoreAnyFunction("github.com/nxadm/tail/watch.(*InotifyTracker).run"),
		goleak.IgnoreAnyFunction("github.com/fsnotify/fsnotify.(*inotify).readEvents"),
	)
}

func failpoint(step string) {
	switch step {
	case os.Getenv(dieVariable):
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	case os.Getenv(hangVariable):
		time.Sleep(time.Minute) // an end, should the test fail
	case os.Getenv(slowVariable):
		time.Sleep(500 * time.Millisecond)
	}
}

// testRun is a prepared run.
type testRun struct {
	t   testing.TB
	dir string
	id  string
	env []string
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// newRun prepares a run of a child of the test binary. At the end of the test
// nothing of it may be left.
func newRun(t testing.TB, verb string, args ...string) *testRun {
	t.Helper()
	return newRunOf(t, Spec{Argv: append([]string{self(t), "child", verb}, args...)})
}

func newRunOf(t testing.TB, s Spec) *testRun {
	t.Helper()
	r := &testRun{t: t, dir: filepath.Join(t.TempDir(), "runs", "brave-otter", "1")}
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	r.id = fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "-"), self.PID, time.Now().UnixNano())
	// With -race a program sleeps a second before it ends, unless told not to.
	r.env = append(os.Environ(), "HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	s.RunID, s.Stdout, s.Stderr = r.id, "out", "err"
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	if err := Prepare(r.dir, s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.sweep)
	return r
}

func (r *testRun) sweep() {
	if r.t.Failed() {
		for _, name := range []string{shimLogName, startedName, exitName, "out", "err"} {
			b, _ := os.ReadFile(filepath.Join(r.dir, name))
			if len(b) < 10000 {
				r.t.Logf("%s: %s", name, b)
			}
		}
	}
	obs, _ := Observe(r.dir)
	h := obs.Handle
	h.BootID, _ = BootID()
	h.ShimStart = 0
	if _, err := KillTree(context.Background(), r.id, h); err != nil {
		r.t.Errorf("clean up: %v", err)
	}
}

// launch is what Start gets for the run; env entries are added.
func (r *testRun) launch(env ...string) Launch {
	return Launch{Binary: self(r.t), Dir: r.dir, Env: slices.Concat(r.env, env)}
}

func (r *testRun) start(env ...string) Observation {
	r.t.Helper()
	obs, err := Start(r.t.Context(), r.launch(env...))
	if err != nil {
		r.t.Fatal(err)
	}
	return obs
}

// end waits until the run is over and returns how it ended.
func (r *testRun) end() Exit {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	obs, err := Wait(ctx, r.dir, Handle{})
	if err != nil {
		r.t.Fatal(err)
	}
	if obs.State != StateExited || obs.Exit == nil {
		r.t.Fatalf("the run is %s, want exited", obs.State)
	}
	return *obs.Exit
}

func (r *testRun) wantState(want State) Observation {
	r.t.Helper()
	obs, err := Observe(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	if obs.State != want {
		r.t.Fatalf("the run is %s, want %s", obs.State, want)
	}
	return obs
}

// pid waits for the pid that a child puts down under a name.
func (r *testRun) pid(name string) int {
	r.t.Helper()
	var pid int
	eventually(r.t, "pid of "+name, func() bool {
		b, err := os.ReadFile(filepath.Join(r.dir, name+".pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil && pid > 0
	})
	return pid
}

// wantNothingLeft checks that no process with CW_RUN of this run lives, and
// none of those named.
func (r *testRun) wantNothingLeft(named ...Identity) {
	r.t.Helper()
	for _, id := range named {
		if id.Alive() {
			r.t.Errorf("process %d lives on", id.PID)
		}
	}
	obs, _ := Observe(r.dir)
	for _, id := range r.alive() {
		if obs.State == StateExited && id == obs.Handle.Shim() {
			continue // about to end, with nothing left to do
		}
		argv, _ := commandLine(id.PID)
		r.t.Errorf("process %d of the run lives on: %q", id.PID, argv)
	}
}

func (r *testRun) alive() (ids []Identity) {
	r.t.Helper()
	table, err := listProcesses()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range table {
		if !p.Dead && startedWithVariable(p.PID, RunVariable, r.id) {
			ids = append(ids, p.Identity)
		}
	}
	return ids
}

func identity(t testing.TB, pid int) Identity {
	t.Helper()
	id, err := IdentityOf(pid)
	if err != nil {
		t.Fatalf("identity of %d: %v", pid, err)
	}
	return id
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(15 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%s: not within 15 s", what)
		}
	}
}

// stranger is a process that has nothing to do with any run.
func stranger(t testing.TB) Identity {
	t.Helper()
	dir := t.TempDir()
	pid, err := Daemonize(Detached{
		Binary: self(t), Args: []string{"child", "hang", "stranger"},
		Env: []string{"CHILD_DIR=" + dir}, Log: filepath.Join(dir, "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	id := identity(t, pid)
	t.Cleanup(func() {
		if err := id.Signal(unix.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
	})
	return id
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
