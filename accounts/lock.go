package accounts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// lockPause is how often a lock that somebody has is tried again.
	lockPause = 15 * time.Millisecond
	// cliLockStale and cliLockTouch are claude's: it takes a lock for left behind
	// that was not touched for the first (the library's default, read in 2.1.197).
	cliLockStale = 10 * time.Second
	cliLockTouch = 3 * time.Second
	// cliLockPatience is how long it is waited for: claude itself holds it for one
	// request.
	cliLockPatience = time.Minute
	lockFile        = "refresh.lock"
)

// lock takes the lock of an account, which all processes of cw respect, and
// waits for it. The system gives it back when the process ends.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return nil, fmt.Errorf("lock the account: %w", err)
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock the account: %w", err)
		}
		if !pause(ctx, lockPause) {
			f.Close()
			return nil, fmt.Errorf("lock the account: %w", ctx.Err())
		}
	}
}

// lockForCLI takes the lock by which claude keeps its own processes from
// renewing a login at once: a directory beside the configuration directory.
func lockForCLI(ctx context.Context, dir string) (unlock func(), err error) {
	path := realPath(dir) + ".lock"
	ctx, cancel := context.WithTimeout(ctx, cliLockPatience)
	defer cancel()
	var touched, since time.Time // when it was last touched, and since when that is known
	for {
		err := os.Mkdir(path, dirMode)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("lock the login: %w", err)
		}
		if info, err := os.Lstat(path); err == nil {
			if !info.ModTime().Equal(touched) {
				touched, since = info.ModTime(), time.Now()
			}
			// By its time, or as long as we look at it: a clock may have been set back.
			if time.Since(touched) > cliLockStale || time.Since(since) > cliLockStale {
				_ = os.Remove(path) // left behind; whoever makes it next has it
				continue
			}
		}
		if !pause(ctx, 10*lockPause) {
			return nil, fmt.Errorf("lock the login: %w", ctx.Err())
		}
	}
	held, stop := context.WithCancel(context.WithoutCancel(ctx))
	var touching sync.WaitGroup
	touching.Go(func() {
		for pause(held, cliLockTouch) {
			now := time.Now()
			_ = os.Chtimes(path, now, now)
		}
	})
	return func() {
		stop()
		touching.Wait()
		_ = os.Remove(path)
	}, nil
}

// pause waits; false when ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
