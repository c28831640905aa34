package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The command has the same user as the daemon and can rewrite its own run
// directory. These tests are what it could gain by that: nothing.

// forge puts a record of the test's own making in the place of a real one.
func (r *testRun) forge(name string, v any) {
	r.t.Helper()
	if err := writeJSON(r.dir, name, v); err != nil {
		r.t.Fatal(err)
	}
}

func (r *testRun) wantKnown(h Handle, want State) {
	r.t.Helper()
	obs, err := ObserveKnown(r.dir, h)
	if err != nil || obs.State != want || obs.Handle != h {
		r.t.Errorf("got %+v, %v; want %s with the handle of the caller", obs, err, want)
	}
}

func TestForgedStartHitsNoStranger(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"running": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, "hang", "cli")
			h := r.start().Handle
			r.pid("cli")
			id := stranger(t)
			f := h
			f.ShimPID, f.ShimStart, f.PID, f.StartTime = id.PID, id.StartTime, id.PID, id.StartTime
			r.forge(startedName, started{State: StateRunning, Handle: f})
			r.wantKnown(h, StateRunning)
			if lost {
				if err := h.Shim().Signal(unix.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			if err := Stop(t.Context(), r.dir, h, 0); err != nil {
				t.Fatal(err)
			}
			if !id.Alive() {
				t.Error("a stranger was killed")
			}
			r.wantNothingLeft(h.Shim(), h.Command())
		})
	}
}

// A run that calls itself by the name of another does not take that one down.
func TestForgedNameHitsNoOtherRun(t *testing.T) {
	t.Parallel()
	r := newRun(t, "family", "hang")
	h := r.start().Handle
	r.pid("family")
	all := append(familyOf(r), h.Command())
	victim := newRun(t, "hang", "cli")
	v := victim.start().Handle
	victim.pid("cli")
	f := h
	f.RunID = victim.id
	r.forge(startedName, started{State: StateRunning, Handle: f})
	r.forge(specName, Spec{Version: SpecVersion, RunID: victim.id, Argv: []string{"true"}, Dir: "/"})
	if err := h.Shim().Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := Stop(t.Context(), r.dir, h, 0); err != nil {
		t.Fatal(err)
	}
	r.wantNothingLeft(all...)
	if !v.Shim().Alive() || !v.Command().Alive() {
		t.Error("the other run was killed")
	}
}

func TestForgedEndEndsNothing(t *testing.T) {
	t.Parallel()
	r := newRun(t, "polite", "cli")
	h := r.start().Handle
	r.pid("cli")
	r.forge(exitName, Exit{Version: ExitVersion})
	r.wantState(StateRunning)
	r.wantKnown(h, StateRunning)
	for _, known := range []Handle{h, {}} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if obs, err := Wait(ctx, r.dir, known); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waited for %s, %v", obs.State, err)
		}
		cancel()
	}
	// The lock can be taken away as well; then only the handle knows better.
	if err := os.Remove(filepath.Join(r.dir, lockName)); err != nil {
		t.Fatal(err)
	}
	r.wantKnown(h, StateRunning)
	if err := Stop(t.Context(), r.dir, h, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	r.wantNothingLeft(h.Shim(), h.Command())
	if e := r.end(); e.Code != 7 { // the shim's own record has replaced it
		t.Errorf("end %+v", e)
	}
}

// spoils are ways to put something in the place of a file that is none.
var spoils = map[string]func(path string) error{
	"directory": func(path string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o700) },
	"pipe":      func(path string) error { return unix.Mkfifo(path, 0o600) },
	"link":      func(path string) error { return os.Symlink("/dev/zero", path) },
	"torn":      func(path string) error { return os.WriteFile(path, []byte(`{"code":`), 0o600) },
	"socket":    func(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) },
	"shut":      func(path string) error { return os.WriteFile(path, nil, 0) },
}

// What cannot be read makes a run neither endless nor an error for ever.
func TestSpoiledRecords(t *testing.T) {
	t.Parallel()
	for _, name := range []string{exitName, startedName} {
		for how, spoil := range spoils {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				r := newRun(t, "hang", "cli")
				h := r.start().Handle
				r.pid("cli")
				path := filepath.Join(r.dir, name)
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				if err := spoil(path); err != nil {
					t.Fatal(err)
				}
				if obs, err := Observe(r.dir); err != nil || !obs.State.Live() {
					t.Errorf("observed %s, %v", obs.State, err)
				}
				r.wantKnown(h, StateRunning)
				if err := h.Shim().Signal(unix.SIGKILL); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := contextWithTimeout(t, 10*time.Second)
				defer cancel()
				if obs, err := Wait(ctx, r.dir, h); err != nil || obs.State != StateLost || obs.Handle != h {
					t.Errorf("waited for %s, %v", obs.State, err)
				}
				r.wantState(StateLost)
				if err := Stop(ctx, r.dir, h, 0); err != nil {
					t.Error(err)
				}
				r.wantNothingLeft(h.Shim(), h.Command())
			})
		}
	}
}

func TestSpoiledLock(t *testing.T) {
	t.Parallel()
	for how, spoil := range spoils {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, "hang", "cli")
			h := r.start().Handle
			r.pid("cli")
			if err := os.Remove(filepath.Join(r.dir, lockName)); err != nil {
				t.Fatal(err)
			}
			if err := spoil(filepath.Join(r.dir, lockName)); err != nil {
				t.Fatal(err)
			}
			r.wantKnown(h, StateRunning)
			if err := Stop(t.Context(), r.dir, h, 0); err != nil {
				t.Error(err)
			}
			r.wantNothingLeft(h.Shim(), h.Command())
			if obs, err := ObserveKnown(r.dir, h); err != nil || obs.State.Live() || obs.State == StateFresh {
				t.Errorf("after the stop %s, %v", obs.State, err)
			}
		})
	}
}

// Without its directory, or with an empty one, a run is what its shim is.
func TestObserveKnownWithoutTheDirectory(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"removed", "emptied", "a file"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, "hang", "cli")
			h := r.start().Handle
			r.pid("cli")
			err := os.RemoveAll(r.dir)
			if how == "emptied" {
				err = errors.Join(err, os.Mkdir(r.dir, 0o700))
			} else if how == "a file" {
				err = errors.Join(err, os.WriteFile(r.dir, nil, 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			r.wantKnown(h, StateRunning)
			if err := h.Shim().Signal(unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if obs, err := Wait(t.Context(), r.dir, h); err != nil || obs.State != StateLost || obs.Handle != h {
				t.Errorf("waited for %+v, %v", obs, err)
			}
			if err := Stop(t.Context(), r.dir, h, 0); err != nil {
				t.Error(err)
			}
			r.wantNothingLeft(h.Command())
		})
	}
	gone := filepath.Join(t.TempDir(), "none")
	if _, err := ObserveKnown(gone, Handle{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no handle: %v", err)
	}
	me, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	rebooted := Handle{BootID: "another", ShimPID: me.PID, ShimStart: me.StartTime}
	if obs, err := ObserveKnown(gone, rebooted); err != nil || obs.State != StateLost {
		t.Errorf("of another boot: %s, %v", obs.State, err)
	}
}

// Somebody who holds the lock of a run whose shim is gone does not make it
// run, and Stop comes back.
func TestLockInStrangeHands(t *testing.T) {
	t.Parallel()
	r := newRun(t, "exit", "0")
	r.start()
	r.end()
	h := r.wantState(StateExited).Handle
	if err := h.Shim().waitGone(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.wantKnown(h, StateExited)
	l, err := Lock(filepath.Join(r.dir, lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	r.wantKnown(h, StateLost)
	ctx, cancel := contextWithTimeout(t, 10*time.Second)
	defer cancel()
	if err := Stop(ctx, r.dir, h, 0); err != nil {
		t.Error(err)
	}
}

func TestSpoiledIsNoFaultOfTheSystem(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		unix.EIO: false, unix.EMFILE: false, unix.ENFILE: false, unix.ENOMEM: false, unix.ENOENT: false,
		unix.EACCES: true, unix.ELOOP: true, unix.ENXIO: true, unix.ENOTDIR: true, errDamaged: true,
	} {
		if got := spoiled(fmt.Errorf("open: %w", err)); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

func TestAncestors(t *testing.T) {
	t.Parallel()
	nest := newRun(t, "nest", "5")
	hn := nest.start().Handle
	orphan := newRun(t, "family", "hang")
	ho := orphan.start().Handle
	orphan.pid("family")
	tests := []struct {
		name  string
		pid   int
		depth int // of the shim in the chain
		h     Handle
	}{
		{"command", ho.PID, 1, ho},
		{"child", orphan.pid("bare-own-session"), 2, ho},
		{"deep", nest.pid("deep"), 6, hn},
		{"a grandchild that the shim took over", orphan.pid("double-fork"), 1, ho},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ids []Identity
			eventually(t, "the shim in its place", func() bool { // the orphan's parent may still be there
				var err error
				ids, err = Ancestors(tt.pid)
				return err == nil && len(ids) > tt.depth && ids[tt.depth] == tt.h.Shim()
			})
			if ids[0] != identity(t, tt.pid) || tt.pid != tt.h.PID && tt.depth > 1 && ids[tt.depth-1] != tt.h.Command() {
				t.Errorf("got %v; command %v, shim %v", ids, tt.h.Command(), tt.h.Shim())
			}
			for i, id := range ids {
				if id.PID <= 1 || i > 0 && id.StartTime > ids[i-1].StartTime {
					t.Errorf("ancestor %d of %v", i, ids)
				}
			}
		})
	}
	if err := Stop(t.Context(), orphan.dir, ho, 0); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{ho.PID, 1 << 30, 0, -1} {
		if ids, err := Ancestors(pid); !errors.Is(err, ErrVanished) {
			t.Errorf("process %d: %v, %v", pid, ids, err)
		}
	}
}
