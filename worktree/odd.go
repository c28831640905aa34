package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Agents can leave something that is no file where git reads one: a FIFO makes it
// wait, a device gives bytes without end. What is certain to be read is looked at
// before each call (guard.go); everything else once a call takes long: while it
// runs, whatever is odd is removed and a git that waits at it is let go. Nothing is
// lost with it, since it holds no bytes.

// agentDir is a folder in which agents write and a call of git reads.
type agentDir struct {
	path string
	// shared: a git directory, in which nothing odd has a use. Otherwise a worktree,
	// in which git reads a few names only and the rest is the agent's.
	shared bool
}

// reads tells whether git reads a file of that name for its content, whatever
// else is in the folder.
func (d agentDir) reads(name string) bool {
	return d.shared || slices.Contains([]string{".git", ".gitattributes", ".gitignore", ".gitmodules"}, name)
}

// Times after which a running call is looked at. git rarely takes a second.
const (
	oddPatience = time.Second
	oddPause    = 5 * time.Second
)

// isOdd tells whether something at path, or what a link there leads to, makes
// whoever opens it wait or read without end.
func isOdd(path string) bool {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = os.Stat(path)
	}
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// removeOdd removes it and lets go who waits at it.
func removeOdd(path string) error {
	// Opened first: it cannot be found any more afterwards. Both ends at once never
	// wait, and closing them is the end of the file for whoever was let in.
	fifo := -1
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		if fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0); err == nil {
			fifo = fd
		}
	}
	err := os.Remove(path)
	if fifo >= 0 {
		_ = syscall.Close(fifo)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// clearOdd removes what is odd below the folders and gives its paths.
func clearOdd(ctx context.Context, dirs []agentDir) (removed []string) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir.path, func(path string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return fs.SkipAll
			case err != nil || d.IsDir() || d.Type().IsRegular() || !dir.reads(d.Name()):
				return nil
			}
			if isOdd(path) && removeOdd(path) == nil {
				removed = append(removed, path)
			}
			return nil
		})
	}
	return removed
}

// clearWhile runs clearOdd again and again until the call that it is told of is
// over, and then gives what was removed.
func (r *runner) clearWhile(ctx context.Context, dirs []agentDir) (over func() []string) {
	if len(dirs) == 0 {
		return func() []string { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan []string, 1)
	go func() {
		var removed []string
		timer := time.NewTimer(r.patience)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				done <- removed
				return
			case <-timer.C:
			}
			removed = append(removed, clearOdd(ctx, dirs)...)
			timer.Reset(oddPause)
		}
	}()
	return func() []string {
		cancel()
		return <-done
	}
}

// cleared tells whether something odd was removed while a call failed: it may
// well succeed now.
func cleared(err error) bool {
	var g *gitError
	return errors.As(err, &g) && g.cleared
}
