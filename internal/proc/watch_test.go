package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// newTestWatcher runs a watcher that ticks so slowly that only the system can
// wake in time.
func newTestWatcher(t *testing.T) *Watcher {
	t.Helper()
	w := NewWatcher(nil)
	w.tick, w.fast = time.Hour, 20*time.Millisecond
	runWatcher(t, w)
	return w
}

func runWatcher(t *testing.T, w *Watcher) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
}

func wantWake(t *testing.T, wake <-chan struct{}, why string) {
	t.Helper()
	select {
	case <-wake:
	case <-time.After(10 * time.Second):
		t.Fatalf("no wake: %s", why)
	}
}

// drain takes the wakes that are under way, so that the next has a cause.
func drain(wake <-chan struct{}) {
	for {
		select {
		case <-wake:
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

func TestWatcherWakes(t *testing.T) {
	t.Parallel()
	w := newTestWatcher(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	wake, stop := w.Watch(path)
	defer stop()
	wantWake(t, wake, "at first")
	eventually(t, "the watch", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.dirs[dir].watched
	})
	drain(wake)
	appendFile(t, path, "")
	wantWake(t, wake, "the file was made")
	drain(wake)
	appendFile(t, path, "x")
	wantWake(t, wake, "it was written to")
	drain(wake)
	appendFile(t, path+".new", "y")
	rename(t, path+".new", path)
	wantWake(t, wake, "it was replaced")
	drain(wake)
	appendFile(t, path, "z")
	wantWake(t, wake, "the new one was written to")
	drain(wake)
	appendFile(t, filepath.Join(dir, "another"), "x")
	select {
	case <-wake:
		t.Error("woken by another file")
	case <-time.After(100 * time.Millisecond):
	}
}

// What is written between Watch and Run is told too, without any tick.
func TestWatcherWakesWhenItBeginsToWatch(t *testing.T) {
	t.Parallel()
	w := NewWatcher(nil)
	w.tick, w.fast = time.Hour, time.Hour
	path := filepath.Join(t.TempDir(), "out")
	wake, stop := w.Watch(path)
	defer stop()
	wantWake(t, wake, "at first")
	appendFile(t, path, "x")
	runWatcher(t, w)
	wantWake(t, wake, "written before the watch")
}

func TestWatcherDirectoryComesLater(t *testing.T) {
	t.Parallel()
	w := newTestWatcher(t)
	dir := filepath.Join(t.TempDir(), "later")
	wake, stop := w.Watch(filepath.Join(dir, "out"))
	defer stop()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.dirs[dir].watched
	})
	drain(wake)
	appendFile(t, filepath.Join(dir, "out"), "x")
	wantWake(t, wake, "a file in a directory that came later")
}

func TestWatcherTicks(t *testing.T) {
	t.Parallel()
	w := NewWatcher(nil)
	w.tick, w.fast = 10*time.Millisecond, time.Hour
	runWatcher(t, w)
	wake, stop := w.Watch(filepath.Join(t.TempDir(), "out"))
	defer stop()
	for range 5 {
		wantWake(t, wake, "tick")
	}
}

// Many readers, each woken for its own file, and nothing kept of those that
// stopped.
func TestWatcherManyFiles(t *testing.T) {
	t.Parallel()
	w := newTestWatcher(t)
	root := t.TempDir()
	var wg sync.WaitGroup
	for i := range 100 {
		dir := filepath.Join(root, fmt.Sprint(i%10))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprint(i))
		wg.Go(func() {
			wake, stop := w.Watch(path)
			defer stop()
			wantWake(t, wake, "at first")
			appendFile(t, path, "x")
			wantWake(t, wake, path)
		})
	}
	wg.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.dirs) != 0 {
		t.Errorf("%d directories are still watched", len(w.dirs))
	}
	if left := w.notes.WatchList(); len(left) != 0 {
		t.Errorf("the system still watches %v", left)
	}
}

// Where the system has no watch to give, it is said once and looked instead.
func TestWatcherWithoutWatches(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	w := NewWatcher(slog.New(slog.NewTextHandler(&said, nil)))
	w.tick, w.fast = time.Hour, 10*time.Millisecond
	w.warn(errors.New("no space left on device"))
	w.warn(errors.New("no space left on device"))
	if n := strings.Count(said.String(), "\n"); n != 1 {
		t.Errorf("said %d times", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = w.loop(ctx, nil) })
	defer wg.Wait()
	defer cancel()
	wake, stop := w.Watch(filepath.Join(t.TempDir(), "out"))
	defer stop()
	for range 5 {
		wantWake(t, wake, "fast tick")
	}
}
