package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"cw/internal/cw"
)

const (
	// lockLimit is how long one waits for the lock of a mirror. A checkout of
	// 50,000 files takes 5 s.
	lockLimit = 10 * time.Minute
	// lockTick is the time between two tries.
	lockTick = 2 * time.Millisecond
)

// lockFile takes the lock at path, an flock: the system frees it when its last
// holder is gone, also after a kill. The file is not inside the mirror, where
// an agent could remove it by accident.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockLimit, errTooLong)
	defer cancel()
	for {
		f, err := tryLock(path)
		if f != nil || err != nil {
			return f, err
		}
		select {
		case <-time.After(lockTick):
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errTooLong) {
				return nil, cw.Errorf(cw.CodeTimeout, "the lock %s is held for more than %s", path, lockLimit).
					WithHint("another cw or a git it started hangs; see: fuser %s", path)
			}
			return nil, fmt.Errorf("wait for lock %s: %w", path, ctx.Err())
		}
	}
}

// tryLock gives nil without an error when somebody else has the lock.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil && sameFile(f, path) {
		return f, nil
	}
	_ = f.Close()
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return nil, nil
}

// sameFile tells whether the open file is still the one at path: it is not
// when the mirror was removed while we waited.
func sameFile(f *os.File, path string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// mirror is a project's mirror under its lock. All git in a mirror goes
// through it.
type mirror struct {
	m        *Manager
	p        cw.Project
	dir      string
	lock     *os.File
	restored []string          // what was found changed and put back
	links    map[string]string // see ownLinks
}

// lockMirror takes the lock of a project's mirror. The caller must close it.
func (m *Manager) lockMirror(ctx context.Context, p cw.Project) (*mirror, error) {
	dir, err := m.mirrorDir(p)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(m.repos, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of mirrors: %w", err)
	}
	lock, err := lockFile(ctx, dir+".lock")
	if err != nil {
		return nil, fmt.Errorf("mirror of %s: %w", p.Name, err)
	}
	return &mirror{m: m, p: p, dir: dir, lock: lock}, nil
}

// openMirror is lockMirror for a mirror that must exist.
func (m *Manager) openMirror(ctx context.Context, p cw.Project) (*mirror, error) {
	x, err := m.lockMirror(ctx, p)
	if err != nil {
		return nil, err
	}
	if !isDir(x.dir) || !isDir(x.guardDir()) {
		x.close()
		return nil, noMirror(p, x.dir)
	}
	return x, nil
}

func noMirror(p cw.Project, dir string) error {
	return cw.Errorf(cw.CodeNotFound, "project %s has no mirror at %s", p.Name, dir).
		WithHint("cw makes it again at the next spawn, if it was removed with all agents' worktrees")
}

// close frees the lock and then tells what was restored. Closing again does
// nothing.
func (x *mirror) close() {
	_ = x.lock.Close()
	theirs, changed := x.m.bySetUp(x.p, x.restored)
	if len(theirs) > 0 {
		x.m.log.Info("mirror was changed by a set-up; restored", "project", x.p.Name, "changed", theirs)
	}
	if len(changed) > 0 {
		x.m.log.Warn("mirror was changed by somebody else; restored", "project", x.p.Name, "changed", changed)
		x.m.onRestored(x.p.Name, changed)
	}
	x.restored = nil
}

// place is the mirror for git.
func (x *mirror) place() place {
	return place{name: "mirror", dir: x.dir, env: append(cleanEnv(), "GIT_DIR="+x.dir), lock: x.lock, limit: transferLimit}
}

// git runs git in the mirror, after the guard.
func (x *mirror) git(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return x.gitAt(ctx, x.place(), stdin, args...)
}

// gitAt is git with a place that may differ, such as its working directory.
// A lock file that a killed git left in the mirror is removed and the call
// repeated.
func (x *mirror) gitAt(ctx context.Context, at place, stdin []byte, args ...string) ([]byte, error) {
	if err := x.guard(); err != nil {
		return nil, err
	}
	out, err := x.m.git.run(ctx, at, stdin, args...)
	if err == nil || !x.healLock(ctx, err) {
		return out, err
	}
	if err := x.guard(); err != nil {
		return nil, err
	}
	return x.m.git.run(ctx, at, stdin, args...)
}

// guardDir holds our copy of what must not change in the mirror, and a record
// of each of our worktrees.
func (x *mirror) guardDir() string { return guardDir(x.dir) }

func guardDir(mirrorDir string) string { return mirrorDir + ".guard" }

// shadowDir holds the short-lived git directories that look at worktrees.
func shadowDir(mirrorDir string) string { return mirrorDir + ".shadow" }

// inside tells whether path lies in dir.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
