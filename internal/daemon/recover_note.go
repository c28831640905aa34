package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A recovery that is interrupted leaves a home whose databases are whole and
// hold too little. So it notes first where the damaged files go, and forgets
// that last: the next one reads them again.

func (r *recovery) notePath() string { return filepath.Join(r.Home.Damaged(), "recovering") }

// note adds the folder of this recovery.
func (r *recovery) note() error {
	dirs := r.noted()
	if slices.Contains(dirs, r.aside) {
		return nil
	}
	if err := os.MkdirAll(r.Home.Damaged(), homeMode); err != nil {
		return fmt.Errorf("make the folder of damaged databases: %w", err)
	}
	var text bytes.Buffer
	for _, dir := range append(dirs, r.aside) {
		fmt.Fprintln(&text, dir)
	}
	return writeWhole(r.notePath(), text.Bytes(), 0o600)
}

// noted are the folders whose files were not taken over to the end.
func (r *recovery) noted() []string {
	data, err := os.ReadFile(r.notePath())
	if err != nil {
		return nil
	}
	var dirs []string
	for line := range bytes.Lines(data) {
		dirs = append(dirs, string(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return dirs
}

func (r *recovery) unfinished() bool { return len(r.noted()) > 0 }

func (r *recovery) forget() error {
	if err := os.Remove(r.notePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the recovery: %w", err)
	}
	return nil
}

func plainExists(path string) bool {
	_, ok := plainSize(path)
	return ok
}
