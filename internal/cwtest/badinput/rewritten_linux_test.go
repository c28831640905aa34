package badinput

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLoginIsBeingRewritten: a CLI that does not rename leaves half a file for a
// moment. Whoever reads it then looks again.
func TestLoginIsBeingRewritten(t *testing.T) {
	t.Parallel()
	l := started(t)
	text := claudeLogin("at-busy-0000000000")
	dir := login(t, l, "busy", text)
	file := filepath.Join(dir, ".credentials.json")
	for range 3 {
		must(t, os.WriteFile(file, []byte(text[:len(text)/2]), 0o600))
		wasRead := reads(t, file)
		written := make(chan error, 1)
		go func() { // ends when somebody has read the half, or the test is over
			err := <-wasRead
			written <- errors.Join(err, os.WriteFile(file, []byte(text), 0o600))
		}()
		works(t, l, "account", "add", "--name", "busy", "--config-dir", dir)
		must(t, <-written)
		works(t, l, "account", "remove", "busy")
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("the user's file was changed: %s %v", got, err)
	}
}

// reads tells once when a file was read and closed.
func reads(t *testing.T, file string) <-chan error {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(t, err)
	watch := os.NewFile(uintptr(fd), "inotify") // not blocking: Close ends a Read
	t.Cleanup(func() { _ = watch.Close() })
	_, err = unix.InotifyAddWatch(fd, file, unix.IN_CLOSE_NOWRITE)
	must(t, err)
	seen := make(chan error, 1)
	go func() { // ends with the first read, or with the test
		_, err := watch.Read(make([]byte, 4096))
		seen <- err
	}()
	return seen
}
