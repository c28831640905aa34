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

	"cw/internal/safefile"
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
	c := copier{checkout: checkout, from: from, to: to, included: map[string]string{}, bytes: includeMaxBytes}
	chosen, err := m.withinLimits(ctx, &c, paths)
	if err != nil {
		return nil, nil, err
	}
	if err := c.copyAll(ctx, chosen); err != nil {
		return nil, nil, err
	}
	return c.included, c.warnings, nil
}

// withinLimits chooses what is copied. A folder arrives whole or not at all: a
// part of one breaks what uses it, and does so later than a folder that is not
// there. Each one that is left out is a warning.
func (m *Manager) withinLimits(ctx context.Context, c *copier, paths []string) ([]string, error) {
	entries := make([]includeEntry, 0, len(paths))
	for _, name := range paths {
		entries = append(entries, includeEntry{name: name, paths: []string{name}, bytes: c.sizeOf(name)})
	}
	if chosen, left := chooseEntries(entries, includeMaxFiles, includeMaxBytes); len(left) == 0 {
		return chosen, nil
	}
	tracked, err := m.git.run(ctx, inCheckout(c.checkout), nil, "ls-files", "-z", "--cached")
	if err != nil {
		return nil, fmt.Errorf("list what is tracked: %w", err)
	}
	chosen, left := chooseEntries(groupEntries(entries, trackedFolders(tracked)), includeMaxFiles, includeMaxBytes)
	c.warnings = append(c.warnings, leftOut(left)...)
	return chosen, nil
}

// includeEntry is what is copied whole or not at all: a file, or a folder with no
// file that git tracks.
type includeEntry struct {
	name  string // a folder ends in a slash
	paths []string
	bytes int64
}

// chooseEntries takes entries in their order as long as they fit into what is
// left of the limits.
func chooseEntries(entries []includeEntry, files int, bytes int64) (chosen []string, left []includeEntry) {
	for _, e := range entries {
		if len(e.paths) > files || e.bytes > bytes {
			left = append(left, e)
			continue
		}
		chosen = append(chosen, e.paths...)
		files, bytes = files-len(e.paths), bytes-e.bytes
	}
	return chosen, left
}

// groupEntries puts files together that lie in one folder in which git tracks
// nothing: in the highest such folder.
func groupEntries(files []includeEntry, tracked map[string]bool) []includeEntry {
	var out []includeEntry
	at := map[string]int{}
	for _, f := range files {
		name := untrackedFolder(f.name, tracked)
		if name == "" {
			out = append(out, f)
			continue
		}
		i, known := at[name]
		if !known {
			i, at[name] = len(out), len(out)
			out = append(out, includeEntry{name: name + "/"})
		}
		out[i].paths = append(out[i].paths, f.paths...)
		out[i].bytes += f.bytes
	}
	return out
}

// untrackedFolder gives the highest folder of a file in which git tracks nothing;
// "" when there is none.
func untrackedFolder(name string, tracked map[string]bool) string {
	for i, c := range []byte(name) {
		if c == '/' && !tracked[name[:i]] {
			return name[:i]
		}
	}
	return ""
}

// trackedFolders gives all folders of the paths that git listed.
func trackedFolders(listed []byte) map[string]bool {
	folders := map[string]bool{}
	for p := range bytes.SplitSeq(listed, []byte{0}) {
		for dir := path.Dir(string(p)); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	return folders
}

// leftOut says what was not copied: folders one by one, files together.
func leftOut(left []includeEntry) []string {
	var warnings []string
	files := 0
	const hint = "at most %d files and %d MiB are; share a large folder by caches in cw.yaml, or make it in setup"
	for _, e := range left {
		if !strings.HasSuffix(e.name, "/") {
			files++
			continue
		}
		if len(warnings) < listedMax {
			warnings = append(warnings, fmt.Sprintf("%s names %q, of which nothing was copied: it has %d files of %d MiB together, and "+hint,
				includeFile, e.name, len(e.paths), e.bytes>>20, includeMaxFiles, includeMaxBytes>>20))
		}
	}
	if folders := len(left) - files; folders > listedMax {
		warnings = append(warnings, fmt.Sprintf("%d more folders that %s names were not copied", folders-listedMax, includeFile))
	}
	switch {
	case files == 1:
		name := left[slices.IndexFunc(left, func(e includeEntry) bool { return !strings.HasSuffix(e.name, "/") })].name
		warnings = append(warnings, fmt.Sprintf("%s names %q, which was not copied: "+hint, includeFile, name, includeMaxFiles, includeMaxBytes>>20))
	case files > 1:
		warnings = append(warnings, fmt.Sprintf("%d files that %s names were not copied: "+hint, files, includeFile, includeMaxFiles, includeMaxBytes>>20))
	}
	return warnings
}

// listedMax is how many folders that were not copied are named one by one.
const listedMax = 5

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

// copier copies from a checkout into a worktree, and writes nowhere else.
type copier struct {
	checkout string
	from, to *os.Root
	included map[string]string
	warnings []string
	links    []string // to be made when the files are there
	bytes    int64    // left
}

func (c *copier) copyAll(ctx context.Context, paths []string) error {
	for _, name := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.copy(name); err != nil {
			return fmt.Errorf("include %q: %w", name, err)
		}
	}
	return c.linkAll()
}

func (c *copier) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// sizeOf is how much is read when a path is copied; of what cannot be looked at,
// nothing.
func (c *copier) sizeOf(name string) int64 {
	info, err := os.Stat(filepath.Join(c.checkout, filepath.FromSlash(name)))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// copy copies one file. What must not or cannot be read is a warning; a
// worktree that cannot be written is an error.
func (c *copier) copy(name string) error {
	if info, err := c.from.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		c.links = append(c.links, name)
		return nil
	}
	in, err := safefile.OpenLinkedIn(c.from, name)
	if err != nil {
		c.warn("%s names %q, which was not copied: %v", includeFile, name, err)
		return nil
	}
	defer in.Close()
	return c.write(name, in)
}

// write copies an open file to a path of the worktree.
func (c *copier) write(name string, in *os.File) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if info.Size() > c.bytes {
		c.warn("%s names %q, which was not copied: more than %d MiB in all", includeFile, name, includeMaxBytes>>20)
		return nil
	}
	if err := c.makeFolder(name); err != nil {
		return err
	}
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		c.alreadyThere(name)
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
	c.bytes -= n
	c.included[name] = hex.EncodeToString(h.Sum(nil))
	return nil
}

func (c *copier) alreadyThere(name string) {
	c.warn("%s names %q, which is already in the worktree", includeFile, name)
}

// makeFolder makes the folder of a path.
func (c *copier) makeFolder(name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	return c.to.MkdirAll(dir, 0o755)
}
