package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cw/internal/safefile"
)

const (
	// smallMax is the greatest size of a file that is read whole for its
	// meaning: configuration, excludes, HEAD.
	smallMax = 4 << 20
	// indexMax is the same for an index: 100 bytes a file are usual.
	indexMax = 1 << 30
)

// readSmall reads a small regular file that somebody else may have written.
func readSmall(path string) ([]byte, error) {
	return readRegular(path, smallMax)
}

// readRegular reads a regular file of at most limit bytes that somebody else may
// have written.
func readRegular(path string, limit int64) ([]byte, error) {
	return safefile.Read(path, limit)
}

// writeFile replaces a file at once: whoever reads it sees the old content or
// the new. Whatever else is at path, even a directory, makes way.
func writeFile(path string, data []byte) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".cw-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// exists tells whether there is anything at path, even a broken link.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isDir tells whether path is a directory itself, not a link to one.
func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// isEmptyDir tells whether path is a directory without entries.
func isEmptyDir(path string) bool {
	if !isDir(path) {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// removeTree removes a folder that holds nothing but what cw put there.
func removeTree(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}
