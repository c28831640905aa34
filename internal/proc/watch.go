package proc

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// watchTick is how often everything is woken, for what the system forgot
	// to tell.
	watchTick = time.Second
	// watchFastTick is the same for a file that the system does not watch:
	// its directory is not there yet, or there are no more watches to have.
	watchFastTick = 100 * time.Millisecond
)

// Watcher wakes readers of files when these change: one watch of the system
// for all of them, on directories, and a slow tick beside it.
type Watcher struct {
	log        *slog.Logger
	tick, fast time.Duration

	mu    sync.Mutex
	dirs  map[string]*watchedDir
	notes *fsnotify.Watcher // nil while Run does not run, or has none to have
	// warned: that watching is not to be had was said.
	warned bool
}

// watchedDir is a directory with the files that are waited for in it.
type watchedDir struct {
	watched bool // the system watches it
	files   map[string]map[chan struct{}]bool
}

// NewWatcher makes a Watcher; nothing is watched before Run. A nil log says
// nothing.
func NewWatcher(log *slog.Logger) *Watcher {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Watcher{log: log, tick: watchTick, fast: watchFastTick, dirs: map[string]*watchedDir{}}
}

// Watch asks to be woken when the file at path changes; it need not exist yet.
// wake has room for one and is full at first. A wake is a hint: there may be
// nothing new, and many changes may make one wake. stop ends it; wake is never
// closed.
func (w *Watcher) Watch(path string) (wake <-chan struct{}, stop func()) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	ch := make(chan struct{}, 1)
	ch <- struct{}{}
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.dirs[dir]
	if d == nil {
		d = &watchedDir{files: map[string]map[chan struct{}]bool{}}
		w.dirs[dir] = d
	}
	if d.files[name] == nil {
		d.files[name] = map[chan struct{}]bool{}
	}
	d.files[name][ch] = true
	w.attach(dir, d)
	return ch, func() { w.forget(dir, name, ch) }
}

func (w *Watcher) forget(dir, name string, ch chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.dirs[dir]
	if d == nil {
		return
	}
	delete(d.files[name], ch)
	if len(d.files[name]) == 0 {
		delete(d.files, name)
	}
	if len(d.files) > 0 {
		return
	}
	delete(w.dirs, dir)
	if d.watched && w.notes != nil {
		_ = w.notes.Remove(dir) // the directory may be gone: then so is the watch
	}
}

// Run watches until ctx ends. Without watches to be had from the system it
// ticks faster instead; it never fails for that.
func (w *Watcher) Run(ctx context.Context) error {
	notes := w.open()
	defer w.close(notes)
	return w.loop(ctx, notes)
}

func (w *Watcher) loop(ctx context.Context, notes *fsnotify.Watcher) error {
	var events chan fsnotify.Event
	var faults chan error
	if notes != nil {
		events, faults = notes.Events, notes.Errors
	}
	slow, fast := time.NewTicker(w.tick), time.NewTicker(w.fast)
	defer slow.Stop()
	defer fast.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-events:
			if !ok {
				events = nil
			}
			w.changed(e)
		case err, ok := <-faults:
			if !ok {
				faults = nil
				continue
			}
			w.fault(err)
		case <-slow.C:
			w.wakeAll(false)
		case <-fast.C:
			w.wakeAll(true)
		}
	}
}

func (w *Watcher) open() *fsnotify.Watcher {
	notes, err := fsnotify.NewWatcher()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.warn(err)
		return nil
	}
	w.notes = notes
	for dir, d := range w.dirs {
		w.attach(dir, d)
	}
	return notes
}

func (w *Watcher) close(notes *fsnotify.Watcher) {
	w.mu.Lock()
	w.notes = nil
	for _, d := range w.dirs {
		d.watched = false
	}
	w.mu.Unlock()
	if notes != nil {
		_ = notes.Close()
	}
}

// attach has the system watch a directory, and wakes its readers: what was
// written before nobody will tell. That it is not there yet is no news.
func (w *Watcher) attach(dir string, d *watchedDir) {
	if d.watched || w.notes == nil {
		return
	}
	err := w.notes.Add(dir)
	d.watched = err == nil
	if d.watched {
		d.wake()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.warn(err)
	}
}

func (w *Watcher) warn(err error) {
	if !w.warned {
		w.warned = true
		w.log.Warn("files are watched by looking at them, the system has no watch to give", "every", w.fast, "err", err)
	}
}

func (w *Watcher) changed(e fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.dirs[e.Name]; d != nil && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		d.watched = false // the directory itself is gone
	}
	if d := w.dirs[filepath.Dir(e.Name)]; d != nil {
		for ch := range d.files[filepath.Base(e.Name)] {
			wakeUp(ch)
		}
	}
}

// fault: the system lost track (its queue ran over); nobody knows of what.
func (w *Watcher) fault(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.log.Warn("watching files", "err", err)
	}
	w.wakeAll(false)
}

// wakeAll wakes everybody, or only those whose directory is not watched, and
// tries to have these watched.
func (w *Watcher) wakeAll(unwatched bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for dir, d := range w.dirs {
		if unwatched && d.watched {
			continue
		}
		w.attach(dir, d)
		d.wake()
	}
}

func (d *watchedDir) wake() {
	for _, waiters := range d.files {
		for ch := range waiters {
			wakeUp(ch)
		}
	}
}

func wakeUp(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
