package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// includeFile names the files of a checkout that a worktree needs although git
// ignores them (.env, local certificates), in the syntax of .gitignore.
const includeFile = ".worktreeinclude"

// Bounds of what is copied.
const (
	includeMaxFiles = 2000
	includeMaxBytes = 200 << 20
)

// include copies what includeFile of the user's checkout, and more patterns, name
// into a new worktree: files that are untracked, ignored and matched. It gives
// path → SHA-256 of what it copied, and warnings about what it did not.
func (m *Manager) include(ctx context.Context, checkout, worktree string, more []string) (map[string]string, []string, error) {
	if checkout == "" {
		return nil, nil, nil
	}
	var patterns []string
	file := filepath.Join(checkout, includeFile)
	if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
		patterns = append(patterns, "--exclude-from="+file)
	}
	for _, p := range more {
		patterns = append(patterns, "--exclude="+p)
	}
	if len(patterns) == 0 {
		return nil, nil, nil
	}
	paths, err := m.includePaths(ctx, checkout, patterns)
	if err != nil || len(paths) == 0 {
		return nil, nil, err
	}
	from, err := os.OpenRoot(checkout)
	if err != nil {
		return nil, nil, fmt.Errorf("open checkout: %w", err)
	}
	defer from.Close()
	to, err := os.OpenRoot(worktree)
	if err != nil {
		return nil, nil, fmt.Errorf("open worktree: %w", err)
	}
	defer to.Close()
	c := copier{from: from, to: to, included: map[string]string{}, files: includeMaxFiles, bytes: includeMaxBytes}
	if err := c.copyAll(ctx, paths); err != nil {
		return nil, nil, err
	}
	return c.included, c.warnings, nil
}

// includePaths asks git twice: what matches, and what of that it ignores.
func (m *Manager) includePaths(ctx context.Context, checkout string, patterns []string) ([]string, error) {
	at := inCheckout(checkout)
	matched, err := m.git.run(ctx, at, nil, append([]string{"ls-files", "-z", "--others", "--ignored"}, patterns...)...)
	if err != nil {
		return nil, fmt.Errorf("match %s: %w", includeFile, err)
	}
	if len(matched) == 0 {
		return nil, nil
	}
	ignored, err := m.git.run(ctx, at, matched, "check-ignore", "-z", "--stdin")
	if err != nil && exitCode(err) != 1 { // 1: none is
		return nil, fmt.Errorf("match %s: %w", includeFile, err)
	}
	var paths []string
	for p := range bytes.SplitSeq(ignored, []byte{0}) {
		name := string(p)
		if name != "" && filepath.IsLocal(name) && !reserved(name) && !strings.HasSuffix(name, "/") && !hasGitDir(name) {
			paths = append(paths, name)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// hasGitDir tells whether a path leads into a git directory.
func hasGitDir(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// copier copies between two folders without ever leaving them.
type copier struct {
	from, to *os.Root
	included map[string]string
	warnings []string
	files    int   // left
	bytes    int64 // left
}

func (c *copier) copyAll(ctx context.Context, paths []string) error {
	for i, name := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.files == 0 {
			c.warn("%d of %d files of %s were not copied: at most %d files", len(paths)-i, len(paths), includeFile, includeMaxFiles)
			return nil
		}
		if err := c.copy(name); err != nil {
			return fmt.Errorf("include %q: %w", name, err)
		}
	}
	return nil
}

func (c *copier) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// copy copies one file. What must not or cannot be read is a warning; a
// worktree that cannot be written is an error.
func (c *copier) copy(name string) error {
	in, err := openRegular(c.from, name)
	if err != nil {
		c.warn("%s names %q, which was not copied: %v", includeFile, name, err)
		return nil
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if info.Size() > c.bytes {
		c.warn("%s names %q, which was not copied: more than %d MiB in all", includeFile, name, includeMaxBytes>>20)
		return nil
	}
	if dir := path.Dir(name); dir != "." {
		if err := c.to.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		c.warn("%s names %q, which is already in the worktree", includeFile, name)
		return nil
	}
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, h), io.LimitReader(in, c.bytes))
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	c.files--
	c.bytes -= n
	c.included[name] = hex.EncodeToString(h.Sum(nil))
	return nil
}

// openRegular opens a regular file in a folder. It follows symbolic links that
// stay in the folder, and never waits for a FIFO.
func openRegular(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
