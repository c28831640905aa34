package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestIdentify(t *testing.T) {
	t.Parallel()
	family := newRun(t, "family", "hang")
	h := family.start().Handle
	family.pid("family")
	nest := newRun(t, "nest", "5")
	nest.start()
	other := stranger(t)
	tests := []struct {
		name string
		run  *testRun
		pid  int
		ok   bool
	}{
		{"command", family, h.PID, true},
		{"shim", family, h.ShimPID, true},
		{"child in another session", family, family.pid("own-session"), true},
		{"grandchild without a parent", family, family.pid("double-fork"), true},
		{"child without environment", family, family.pid("bare-own-session"), true},
		{"deep", nest, nest.pid("deep"), true},
		{"of another home", nest, h.PID, false},
		{"stranger", family, other.PID, false},
		{"ourselves", family, os.Getpid(), false},
		{"first process", family, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs := filepath.Dir(filepath.Dir(tt.run.dir))
			dir, ok, err := Identify(tt.pid, runs)
			if err != nil || ok != tt.ok || ok && dir != tt.run.dir {
				t.Errorf("got %q, %v, %v; want %v", dir, ok, err, tt.ok)
			}
		})
	}
	if err := Stop(t.Context(), family.dir, h, 0); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := Identify(h.PID, filepath.Dir(filepath.Dir(family.dir))); ok || !errors.Is(err, ErrVanished) {
		t.Errorf("a process that is gone: %v, %v", ok, err)
	}
}

// A command line alone proves nothing.
func TestIdentifyForgedShim(t *testing.T) {
	t.Parallel()
	r := newRun(t, "hang", "cli")
	r.start()
	r.pid("cli")
	forged := exec.Command("/bin/sh", "-c", "read x", shimCommand, r.dir)
	in, err := forged.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := forged.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = forged.Wait() }()
	eventually(t, "the forged command line", func() bool { // empty for a moment after exec
		argv, err := commandLine(forged.Process.Pid)
		return err == nil && len(argv) > 2 && argv[len(argv)-2] == shimCommand
	})
	if dir, ok, err := Identify(forged.Process.Pid, filepath.Dir(filepath.Dir(r.dir))); ok || err != nil {
		t.Errorf("got %q, %v, %v", dir, ok, err)
	}
}

// When the shim is gone its tree is no run's any more.
func TestIdentifyOfALostRun(t *testing.T) {
	t.Parallel()
	r := newRun(t, "hang", "cli")
	h := r.start().Handle
	r.pid("cli")
	if err := h.Shim().Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := Wait(t.Context(), r.dir, h); err != nil {
		t.Fatal(err)
	}
	if dir, ok, err := Identify(h.PID, filepath.Dir(filepath.Dir(r.dir))); ok || err != nil {
		t.Errorf("got %q, %v, %v", dir, ok, err)
	}
}
