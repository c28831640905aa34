package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names in the mirror that agents share and that decide what git executes,
// reads and hides.
const (
	fileConfig     = "config"
	fileHead       = "HEAD"
	fileExclude    = "info/exclude"
	fileAttributes = "info/attributes"
	// The user's own ignore and attributes files, under names of ours.
	fileGlobalExclude    = "info/global-exclude"
	fileGlobalAttributes = "info/global-attributes"
)

// fileShadowConfig is the configuration of shadows, kept with our copies.
const fileShadowConfig = "shadow-config"

// guarded are the files that must be as we wrote them.
func guarded() []string {
	return []string{fileConfig, fileHead, fileExclude, fileAttributes, fileGlobalExclude, fileGlobalAttributes}
}

// forbidden must not exist in the mirror: each can redirect git or add
// configuration. hooks may be an empty folder.
func forbidden() []string {
	return []string{"hooks", "config.worktree", "commondir", "gitdir", "gitfile", "info/grafts", fileAlternates, "objects/info/http-alternates"}
}

// fileAlternates names other folders of objects. A mirror has all of its own: what
// git finds in another folder, such as a FIFO, it would wait at.
const fileAlternates = "objects/info/alternates"

// mirrorFolders are in every mirror.
func mirrorFolders() []string { return []string{"objects/info", "objects/pack", "refs/heads"} }

// unguarded are files of the mirror that git reads in many calls and that are not
// as we wrote them: only what is odd in their place goes.
func unguarded() []string {
	return []string{filePackedRefs, fileShallow, "objects/info/commit-graph", "objects/info/packs", "objects/pack/multi-pack-index"}
}

// mirrorHead is the HEAD of a mirror: a branch that never exists, as a mirror
// has no checkout of its own.
const mirrorHead = "ref: refs/heads/cw-none\n"

// commonDir is what stands in the commondir file of every linked worktree.
const commonDir = "../..\n"

// guardCopy is where our copy of a guarded file lies.
func guardCopy(mirrorDir, name string) string {
	return filepath.Join(guardDir(mirrorDir), "files", name)
}

// expect stores what the mirror must look like from now on, and writes it
// there.
func (x *mirror) expect(s settings) error {
	files := []struct {
		name string
		want []byte
	}{
		{fileHead, []byte(mirrorHead)},
		{fileExclude, s.renderExclude()},
		{fileAttributes, s.attributes},
		{fileGlobalExclude, s.globalExclude},
		{fileGlobalAttributes, s.globalAttributes},
		{fileFilters, []byte(strings.Join(s.filters, "\n"))},
		// The shadow reads our copies, so that an agent cannot hide files by
		// editing those in the mirror.
		{fileShadowConfig, s.render(false, guardCopy(x.dir, fileGlobalExclude), guardCopy(x.dir, fileGlobalAttributes), "/dev/null")},
		// Last: where it is, all are.
		{fileConfig, s.render(true, filepath.Join(x.dir, fileGlobalExclude), filepath.Join(x.dir, fileGlobalAttributes), filepath.Join(x.dir, "hooks"))},
	}
	if err := os.MkdirAll(guardCopy(x.dir, "info"), 0o700); err != nil {
		return fmt.Errorf("make guard of mirror: %w", err)
	}
	for _, f := range files {
		path := guardCopy(x.dir, f.name)
		if have, err := readSmall(path); err == nil && bytes.Equal(have, f.want) {
			continue
		}
		if err := writeFile(path, f.want); err != nil {
			return fmt.Errorf("guard of mirror: %w", err)
		}
	}
	if _, err := x.restoreFiles(); err != nil {
		return err
	}
	return x.makeView()
}

// guard compares the mirror with our copy and puts back what differs. It runs
// before each git call in the mirror.
func (x *mirror) guard() error {
	if x.m.guards.Off("mirror-own") {
		return nil
	}
	changed, err := x.restoreFiles()
	if err == nil {
		var links []string
		links, err = x.restoreLinks()
		changed = append(changed, links...)
	}
	if err == nil {
		err = x.makeView()
	}
	x.restored = append(x.restored, changed...)
	if err != nil {
		return fmt.Errorf("restore mirror of %s: %w", x.p.Name, err)
	}
	return nil
}

func (x *mirror) restoreFiles() (changed []string, err error) {
	for _, name := range guarded() {
		want, err := readSmall(guardCopy(x.dir, name))
		if err != nil {
			return changed, fmt.Errorf("read our copy of %s: %w", name, err)
		}
		path := filepath.Join(x.dir, name)
		if have, err := readSmall(path); err == nil && bytes.Equal(have, want) && isDir(filepath.Dir(path)) {
			continue
		}
		if err := replaceFile(path, want); err != nil {
			return changed, err
		}
		changed = append(changed, name)
	}
	for _, name := range forbidden() {
		path := filepath.Join(x.dir, name)
		if !exists(path) || name == "hooks" && isEmptyDir(path) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return changed, fmt.Errorf("remove %s: %w", name, err)
		}
		changed = append(changed, name)
	}
	for _, name := range unguarded() {
		path := filepath.Join(x.dir, name)
		if !isOdd(path) {
			continue
		}
		if err := removeOdd(path); err != nil {
			return changed, fmt.Errorf("remove %s: %w", name, err)
		}
		changed = append(changed, name)
	}
	return changed, nil
}

// replaceFile writes a file even where its folder was replaced by something
// else.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if !isDir(dir) {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return writeFile(path, data)
}

// restoreLinks repairs the admin folders of linked worktrees, ours and those
// that agents made themselves. Measured: one with an empty commondir, as a
// killed git worktree add leaves it, makes every later add, list, fetch and gc
// fail, and so does one whose HEAD is still all zeros in fetch and gc.
func (x *mirror) restoreLinks() (changed []string, err error) {
	dir := filepath.Join(x.dir, "worktrees")
	if exists(dir) && !isDir(dir) {
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
		return []string{"worktrees"}, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	ours, err := x.ownLinks()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		more, err := restoreLink(filepath.Join(dir, e.Name()), ours[e.Name()])
		for _, name := range more {
			changed = append(changed, filepath.Join("worktrees", e.Name(), name))
		}
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// restoreLink repairs one admin folder; gitFile is what its gitdir must hold,
// "" when it is not ours. Half-made files are no tampering and not told.
func restoreLink(admin, gitFile string) (changed []string, err error) {
	if !isDir(admin) {
		return []string{""}, os.RemoveAll(admin)
	}
	changed, err = removeOddIn(admin)
	if err != nil {
		return changed, err
	}
	text, err := readSmall(filepath.Join(admin, "commondir"))
	if err != nil || string(text) != commonDir {
		if err := writeFile(filepath.Join(admin, "commondir"), []byte(commonDir)); err != nil {
			return changed, err
		}
		if half := errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0; !half {
			changed = append(changed, "commondir")
		}
	}
	if path := filepath.Join(admin, "config.worktree"); exists(path) {
		if err := os.RemoveAll(path); err != nil {
			return changed, err
		}
		changed = append(changed, "config.worktree")
	}
	if text, err := readSmall(filepath.Join(admin, "HEAD")); err == nil && isZeroID(string(text)) {
		if err := writeFile(filepath.Join(admin, "HEAD"), []byte(mirrorHead)); err != nil {
			return changed, err
		}
	}
	if gitFile == "" {
		return changed, nil
	}
	if text, err := readSmall(filepath.Join(admin, "gitdir")); err != nil || string(text) != gitFile {
		if err := writeFile(filepath.Join(admin, "gitdir"), []byte(gitFile)); err != nil {
			return changed, err
		}
		changed = append(changed, "gitdir")
	}
	return changed, nil
}

// removeOddIn removes what is odd in an admin folder: git reads most of what is in
// there in every call, of all worktrees.
func removeOddIn(admin string) (removed []string, err error) {
	entries, err := os.ReadDir(admin)
	if err != nil {
		return nil, fmt.Errorf("list admin folder: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(admin, e.Name())
		if e.Type().IsRegular() || e.IsDir() || !isOdd(path) {
			continue
		}
		if err := removeOdd(path); err != nil {
			return removed, fmt.Errorf("remove %s: %w", path, err)
		}
		removed = append(removed, e.Name())
	}
	return removed, nil
}

func isZeroID(text string) bool {
	id := strings.TrimSpace(text)
	return id != "" && strings.Trim(id, "0") == ""
}

// staleAfter is the age from which a lock file inside the mirror counts as left
// behind by a git that was killed. Living ones exist for milliseconds.
const staleAfter = 10 * time.Second

// healLock looks whether a call failed because of such a lock file, waits until
// it is surely stale, and removes it. It tells whether to try again.
func (x *mirror) healLock(ctx context.Context, err error) bool {
	path := x.fromView(lockInTheWay(stderrOf(err)))
	if path == "" || !inside(x.dir, path) || inside(filepath.Join(x.dir, "worktrees"), path) {
		return false
	}
	for {
		info, err := os.Lstat(path)
		if err != nil {
			return errors.Is(err, fs.ErrNotExist) // it was alive, and is gone now
		}
		left := staleAfter - time.Since(info.ModTime())
		if left <= 0 || left > staleAfter { // a time in the future says nothing
			x.m.log.Warn("removed a lock that a killed git left behind", "path", path)
			return os.Remove(path) == nil
		}
		select {
		case <-time.After(min(left, 100*time.Millisecond)):
		case <-ctx.Done():
			return false
		}
	}
}

// lockInTheWay finds the file in "Unable to create '/m/packed-refs.lock': File
// exists."
func lockInTheWay(stderr string) string {
	_, rest, ok := strings.Cut(stderr, "Unable to create '")
	if !ok {
		return ""
	}
	path, _, ok := strings.Cut(rest, "': File exists")
	if !ok || !strings.HasSuffix(path, ".lock") {
		return ""
	}
	return path
}
