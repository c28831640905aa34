package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cw/internal/cwtest/lab"
)

// An end can be written on a disk that has become full.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		lab.Lacks(t, "full disk: only root can mount a small file system; a container may not let it either")
	}
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=256k"); err != nil {
		lab.Lacks(t, "full disk: mounting a small file system is not allowed here: %v", err)
	}
	defer func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	fill := func() {
		f, err := os.Create(filepath.Join(disk, "ballast"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for size := 4096; size > 0; {
			if _, err := f.Write(make([]byte, size)); err != nil {
				size /= 2
			}
		}
	}
	dir := filepath.Join(disk, "run")
	r := &testRun{t: t, dir: dir, id: "full-disk-" + strconv.Itoa(os.Getpid()), env: os.Environ()}
	spec := Spec{RunID: r.id, Dir: "/", Argv: []string{self(t), "child", "polite", "cli"}, Stdout: "out", Stderr: "err"}
	if err := Prepare(dir, spec); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.sweep)
	h := r.start().Handle
	r.pid("cli")
	fill()
	if err := writeJSON(dir, "probe", "x"); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if err := h.Command().Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if e := r.end(); e.Code != 7 {
		t.Errorf("end %+v, want code 7", e)
	}
	// On a full disk nothing is begun, and it can be tried again.
	full := filepath.Join(disk, "full")
	if err := os.Remove(filepath.Join(disk, "ballast")); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(full, spec); err != nil {
		t.Fatal(err)
	}
	fill()
	obs, err := Start(t.Context(), Launch{Binary: self(t), Dir: full, Env: r.env})
	if err == nil || obs.State != StateFresh || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("start on a full disk: %s, %v", obs.State, err)
	}
	if err := os.Remove(filepath.Join(disk, "ballast")); err != nil {
		t.Fatal(err)
	}
	r.dir = full
	h = r.start().Handle
	r.pid("cli")
	if err := h.Command().Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if e := r.end(); e.Code != 7 {
		t.Errorf("end %+v, want code 7", e)
	}
}
