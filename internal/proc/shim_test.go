package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestEndIsLearned(t *testing.T) {
	t.Parallel()
	tests := []struct {
		script       string
		code, signal int
	}{
		{"exit 0", 0, 0},
		{"exit 3", 3, 0},
		{"exit 255", 255, 0},
		{"kill -KILL $$", 137, 9},
		{"kill -TERM $$", 143, 15},
		{"kill -SEGV $$", 139, 11},
	}
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			t.Parallel()
			r := newRunOf(t, Spec{Argv: []string{"sh", "-c", tt.script}})
			before := time.Now()
			r.start()
			e := r.end()
			want := Exit{Version: ExitVersion, Code: tt.code, Signal: tt.signal, EndedAt: e.EndedAt}
			if diff := cmp.Diff(want, e); diff != "" {
				t.Errorf("exit (-want +got):\n%s", diff)
			}
			if e.EndedAt.Before(before) || e.EndedAt.After(time.Now()) {
				t.Errorf("ended at %v", e.EndedAt)
			}
			r.wantNothingLeft()
		})
	}
}

// The starter is gone before anything is known: the run goes on, and its end
// is there for whoever looks later.
func TestStarterKilled(t *testing.T) {
	t.Parallel()
	r := newRun(t, "exit", "4")
	code := runStarter(t, r)
	if code >= 0 {
		t.Fatalf("the starter ended with %d, want it killed", code)
	}
	eventually(t, "the end", func() bool {
		obs, err := Observe(r.dir)
		return err == nil && obs.State == StateExited
	})
	if e := r.end(); e.Code != 4 {
		t.Errorf("code %d, want 4", e.Code)
	}
}

// TestNoFiles: a command whose specification names no files has the null device
// for all three, and ends as it does with them.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	spec := Spec{RunID: fmt.Sprintf("no-files-%d", os.Getpid()), Argv: []string{"/bin/sh", "-c", "cat; echo out; echo err >&2; exit 3"}, Dir: "/"}
	if err := Prepare(dir, spec); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Launch{Binary: self(t), Dir: dir, Env: os.Environ()}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end", func() bool {
		obs, err := Observe(dir)
		return err == nil && obs.State == StateExited
	})
	obs, err := Observe(dir)
	if err != nil || obs.Exit.Code != 3 || obs.Exit.StartError != "" {
		t.Errorf("ended with %+v, %v; want code 3", obs.Exit, err)
	}
}

// runStarter starts the run from a process that dies at once.
func runStarter(t *testing.T, r *testRun) int {
	t.Helper()
	_, _, code, err := Output(t.Context(), Command{Argv: []string{self(t), "child", "starter", r.dir}, Env: r.env})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// An adopted shim is nobody's child here, and its end is noticed all the same.
func TestAdoptedRun(t *testing.T) {
	t.Parallel()
	r := newRun(t, "polite", "cli")
	runStarter(t, r)
	cli := r.pid("cli")
	obs := r.wantState(StateRunning)
	if obs.Handle.PID != cli || !obs.Handle.Command().Alive() || !obs.Handle.Shim().Alive() {
		t.Errorf("handle %+v, the command is %d", obs.Handle, cli)
	}
	if err := unix.Kill(cli, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if e := r.end(); e.Code != 7 || e.Stopped != "" {
		t.Errorf("end %+v, want code 7 by itself", e)
	}
}

func TestManyShimsOneStart(t *testing.T) {
	t.Parallel()
	ledger := filepath.Join(t.TempDir(), "ledger")
	r := newRun(t, "ledger", ledger)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			// Not Start, which would look first: all are to race for the lock.
			if _, err := r.launch().startShim(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	// Lookers must not get in the way of those who want to start.
	for range 4 {
		wg.Go(func() {
			for range 200 {
				if obs, err := Observe(r.dir); err != nil || obs.State == StateLost {
					t.Errorf("observed %v, %v", obs.State, err)
				}
			}
		})
	}
	wg.Wait()
	r.end()
	b, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n != 1 {
		t.Errorf("%d starts, want 1", n)
	}
	obs := r.start() // on a finished run it only observes
	if obs.State != StateExited {
		t.Errorf("started again: %s", obs.State)
	}
	if again, _ := os.ReadFile(ledger); string(again) != string(b) {
		t.Error("started again")
	}
}

// A shim that is slow between lock and start is waited for, not doubled.
func TestSlowShim(t *testing.T) {
	t.Parallel()
	ledger := filepath.Join(t.TempDir(), "ledger")
	for _, step := range []string{"shim/locked", "shim/starting"} {
		t.Run(filepath.Base(step), func(t *testing.T) {
			r := newRun(t, "ledger", ledger+filepath.Base(step))
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() { r.start(slowVariable + "=" + step) })
			}
			wg.Wait()
			r.end()
			b, _ := os.ReadFile(ledger + filepath.Base(step))
			if n := strings.Count(string(b), "\n"); n != 1 {
				t.Errorf("%d starts, want 1", n)
			}
		})
	}
}

func TestShimKilledAtEachStep(t *testing.T) {
	t.Parallel()
	tests := []struct {
		step, verb, arg string
		want            State
	}{
		{"shim/locked", "exit", "0", StateFresh},
		{"shim/starting", "exit", "0", StateLost},
		{"shim/spawned", "hang", "cli", StateLost},
		{"shim/started", "family", "hang", StateLost},
		{"shim/exited", "family", "exit", StateLost},
		{"shim/swept", "exit", "0", StateLost},
		{"shim/recorded", "exit", "0", StateExited},
	}
	for _, tt := range tests {
		t.Run(filepath.Base(tt.step), func(t *testing.T) {
			t.Parallel()
			r := newRun(t, tt.verb, tt.arg)
			obs, err := Start(t.Context(), r.launch(dieVariable+"="+tt.step))
			if (err != nil) != (tt.want == StateFresh) {
				t.Fatalf("start: %v", err)
			}
			if tt.want != StateFresh {
				obs, err = Wait(t.Context(), r.dir, Handle{})
			} else {
				err = nil
			}
			if err != nil || obs.State != tt.want {
				t.Fatalf("the run is %s, want %s: %v", obs.State, tt.want, err)
			}
			var left []Identity
			switch tt.verb {
			case "family":
				// The command may have died with its shim before it was done.
				if tt.want == StateLost {
					r.pid("family")
				}
				for _, name := range familyNames {
					if id, err := IdentityOf(r.pid(name)); err == nil {
						left = append(left, id)
					}
				}
			case "hang":
				left = []Identity{identity(t, r.pid("cli"))}
			}
			killed, err := KillTree(t.Context(), r.id, obs.Handle)
			if err != nil {
				t.Fatal(err)
			}
			if tt.step == "shim/exited" {
				// A bare child that left the session when command and shim
				// were dead cannot be told from a stranger, and is not hit.
				left = slices.DeleteFunc(left, func(id Identity) bool { return id.PID == r.pid("bare-own-session") })
				endByHand(t, r.pid("bare-own-session"))
			}
			if killed < len(left) {
				t.Errorf("killed %d, want at least %d", killed, len(left))
			}
			r.wantNothingLeft(left...)
			if again, err := KillTree(t.Context(), r.id, obs.Handle); again != 0 || err != nil {
				t.Errorf("second time: killed %d, %v", again, err)
			}
			// Only the fresh one starts now.
			obs, err = Start(t.Context(), r.launch())
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == StateFresh {
				if e := r.end(); e.Code != 0 {
					t.Errorf("end %+v", e)
				}
			} else if obs.State != tt.want {
				t.Errorf("started again: %s", obs.State)
			}
		})
	}
}

// A shim that comes to a lost run leaves it alone, whatever its starter thinks.
func TestLostRunIsNeverStarted(t *testing.T) {
	t.Parallel()
	ledger := filepath.Join(t.TempDir(), "ledger")
	r := newRun(t, "ledger", ledger)
	lost := started{State: StateStarting}
	if err := writeJSON(r.dir, startedName, lost); err != nil {
		t.Fatal(err)
	}
	if said, err := r.launch().startShim(t.Context()); err != nil || said != "" {
		t.Errorf("the shim said %q, %v; want it to leave quietly", said, err)
	}
	r.wantState(StateLost)
	if _, err := os.Stat(ledger); err == nil {
		t.Error("it was started")
	}
}

func endByHand(t *testing.T, pid int) {
	t.Helper()
	if id, err := IdentityOf(pid); err == nil {
		if err := id.Signal(unix.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := file("plain", "#!/bin/sh\n", 0o600)
	garbage := file("garbage", "\x01\x02\x03\x04 nothing a system can run", 0o700)
	noInterpreter := file("script", "#!/no/such/interpreter\n", 0o700)
	tests := []struct {
		name string
		spec Spec
		want string
	}{
		{"missing", Spec{Argv: []string{filepath.Join(dir, "none")}}, "no such file"},
		{"not in PATH", Spec{Argv: []string{"no-such-command-anywhere"}}, "not found"},
		{"not executable", Spec{Argv: []string{plain}}, "not executable"},
		{"garbage", Spec{Argv: []string{garbage}}, "exec format error"},
		{"no interpreter", Spec{Argv: []string{noInterpreter}}, "no such file"},
		{"no directory", Spec{Argv: []string{"/bin/true"}, Dir: filepath.Join(dir, "gone")}, "working directory"},
		{"no stdin", Spec{Argv: []string{"/bin/true"}, Stdin: filepath.Join(dir, "gone")}, "stdin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRunOf(t, tt.spec)
			obs := r.start()
			if obs.State != StateExited || obs.Exit.Code != 127 || !strings.Contains(obs.Exit.StartError, tt.want) {
				t.Errorf("got %s %+v, want a start error with %q", obs.State, obs.Exit, tt.want)
			}
		})
	}
}

func TestStartNeedsAWorkingShim(t *testing.T) {
	t.Parallel()
	r := newRun(t, "exit", "0")
	for _, binary := range []string{"/no/such/program", "/bin/false"} {
		l := r.launch()
		l.Binary = binary
		obs, err := Start(t.Context(), l)
		if err == nil || obs.State != StateFresh {
			t.Errorf("%s: %s, %v; want an error and a fresh run", binary, obs.State, err)
		}
	}
	if _, err := Start(t.Context(), Launch{Binary: self(t), Dir: t.TempDir()}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that was not prepared: %v", err)
	}
	r.start()
	r.end()
}

// What the command sees: its own session, three descriptors, the environment
// with CW_RUN, no core dumps, and signals as a shell would give them.
func TestSurroundingsOfTheCommand(t *testing.T) {
	t.Parallel()
	prompt := filepath.Join(t.TempDir(), "prompt")
	if err := os.WriteFile(prompt, []byte("do it"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRunOf(t, Spec{Argv: []string{self(t), "child", "report"}, Stdin: prompt})
	// A descriptor that is not marked must not get through.
	leak, err := unix.FcntlInt(0, unix.F_DUPFD, 50)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	r.start("CW_RUN=outer", "MARK=1")
	r.end()
	var got childReport
	b, err := os.ReadFile(filepath.Join(r.dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"0 " + prompt, "1 " + filepath.Join(r.dir, "out"), "2 " + filepath.Join(r.dir, "err")}
	if diff := cmp.Diff(want, got.Descriptors); diff != "" {
		t.Errorf("descriptors (-want +got):\n%s", diff)
	}
	if got.Session != got.PID || got.Core != 0 || got.Stdin != "do it" {
		t.Errorf("session %d of %d, core %d, stdin %q", got.Session, got.PID, got.Core, got.Stdin)
	}
	if !slices.Contains(got.Env, "CW_RUN="+r.id) || slices.Contains(got.Env, "CW_RUN=outer") || !slices.Contains(got.Env, "MARK=1") {
		t.Errorf("environment %q", got.Env)
	}
	for _, line := range strings.Split(got.Status, "\n") {
		mask, ok := strings.CutPrefix(line, "SigIgn:\t")
		if !ok {
			continue
		}
		if ignored, _ := strconv.ParseUint(mask, 16, 64); ignored&0x7fff != 0 {
			t.Errorf("ignored signals %s", mask)
		}
	}
	for _, name := range []string{"out", "err", specName, startedName, exitName, lockName, shimLogName} {
		info, err := os.Stat(filepath.Join(r.dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v, want 0600", name, info.Mode(), err)
		}
	}
}

// The shim shuts its ears to a terminal's signals and shows nobody its
// environment.
func TestShimIsUnmoved(t *testing.T) {
	t.Parallel()
	r := newRun(t, "polite", "cli")
	h := r.start("SECRET=1").Handle
	r.pid("cli")
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGHUP} {
		if err := h.Shim().Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() != 0 {
		if b, err := os.ReadFile("/proc/" + strconv.Itoa(h.ShimPID) + "/environ"); err == nil && len(b) > 0 {
			t.Error("the environment of the shim is open to others")
		}
	}
	r.wantState(StateRunning)
	if err := h.Command().Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if e := r.end(); e.Code != 7 || e.Stopped != "" {
		t.Errorf("end %+v", e)
	}
}

func TestLongOutputWithoutLineEnd(t *testing.T) {
	t.Parallel()
	r := newRun(t, "flood", "50")
	r.start()
	if e := r.end(); e.Code != 0 {
		t.Errorf("end %+v", e)
	}
	info, err := os.Stat(filepath.Join(r.dir, "out"))
	if err != nil || info.Size() != 50<<20 {
		t.Errorf("size %d, %v", info.Size(), err)
	}
}

// What the command leaves behind goes with it.
func TestSweep(t *testing.T) {
	t.Parallel()
	r := newRun(t, "family", "exit")
	r.start()
	r.pid("family")
	left := familyOf(r)
	e := r.end()
	r.wantNothingLeft(left...)
	if e.Code != 3 || e.Signal != 0 || e.Stopped != "" || e.Swept != len(familyNames) {
		t.Errorf("end %+v, want code 3 and %d swept", e, len(familyNames))
	}
}

// familyOf are the members of the family that still live.
func familyOf(r *testRun) (ids []Identity) {
	for _, name := range familyNames {
		if id, err := IdentityOf(r.pid(name)); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// A tree that multiplies, or that runs away by forking and ending, loses.
func TestBombAndComet(t *testing.T) {
	t.Parallel()
	// Both end by themselves some time, should the test fail.
	const shell = `trap "" TERM; c() { [ $1 -gt 0 ] && c $(($1-1)) & }; c 40000`
	tests := []struct {
		name string
		argv []string
	}{
		{"bomb", []string{self(t), "child", "bomb", "5"}},
		{"comet", []string{self(t), "child", "comet", "3000"}},
		{"fast comet", []string{"sh", "-c", shell}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRunOf(t, Spec{Argv: tt.argv})
			r.start()
			if tt.name == "bomb" {
				r.pid("bomb0")
			}
			// The command of a comet is gone at once; the rest is still there, or was
			// ended by the shim before anybody looked.
			if len(r.alive()) == 0 && r.end().Swept == 0 {
				t.Fatal("nothing lives: the test proves nothing")
			}
			began := time.Now()
			if err := Stop(t.Context(), r.dir, Handle{}, 0); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			r.wantNothingLeft()
			r.wantState(StateExited)
		})
	}
}

// A file that is larger than a pipe comes through one whole, and a command that
// reads nothing of it does not keep the run from ending.
func TestStdinThroughAPipe(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789abcde\n", 20<<10)
	prompt := filepath.Join(t.TempDir(), "prompt")
	if err := os.WriteFile(prompt, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"test -p /dev/stdin && cat", "exit 0"} {
		r := newRunOf(t, Spec{Argv: []string{"/bin/sh", "-c", script}, Stdin: prompt, StdinPipe: true})
		r.start()
		r.end()
		got, err := os.ReadFile(filepath.Join(r.dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		if want := script != "exit 0"; (string(got) == text) != want {
			t.Errorf("%s: %d bytes came through of %d", script, len(got), len(text))
		}
	}
}
