package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "daemon.lock")
	first, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Lock(path); !errors.As(err, &held) || held.PID != os.Getpid() || held.Path != path {
		t.Errorf("second: %v", err)
	}
	if err := first.Unlock(); err != nil {
		t.Error(err)
	}
	again, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Unlock(); err != nil {
		t.Error(err)
	}
	if _, err := Lock(filepath.Join(t.TempDir(), "none", "lock")); err == nil || errors.As(err, &held) {
		t.Errorf("no directory: %v", err)
	}
}

func TestLockHasOneHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	var got atomic.Int32
	var wg sync.WaitGroup
	locks := make(chan *FileLock, 50)
	for range 50 {
		wg.Go(func() {
			l, err := Lock(path)
			var held *HeldError
			switch {
			case err == nil:
				got.Add(1)
				locks <- l
			case !errors.As(err, &held):
				t.Error(err)
			case held.PID != os.Getpid():
				t.Errorf("holder %d", held.PID)
			}
		})
	}
	wg.Wait()
	if got.Load() != 1 {
		t.Errorf("%d holders", got.Load())
	}
	_ = (<-locks).Unlock()
}

// The lock goes with its holder, however it ends, and is not handed down to
// what the holder starts.
func TestLockOfAKilledHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	pid, err := Daemonize(Detached{
		Binary: self(t), Args: []string{"child", "lock", path},
		Env: []string{"CHILD_DIR=" + dir}, Log: filepath.Join(dir, "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lock", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "lock.pid"))
		return string(b) == strconv.Itoa(pid)
	})
	var held *HeldError
	if _, err := Lock(path); !errors.As(err, &held) || held.PID != pid {
		t.Fatalf("held by %d: %v", pid, err)
	}
	id := identity(t, pid)
	if err := id.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := id.waitGone(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Unlock()
}
