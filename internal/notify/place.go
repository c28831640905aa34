package notify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// place is the file that remembers the last event a hook has handled.
type place string

// read gives the number, and whether there is one. A file that holds none is an
// error.
func (p place) read() (seq int64, known bool, err error) {
	data, err := os.ReadFile(string(p))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read the last event that was told: %w", err)
	}
	seq, err = strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || seq < 0 {
		return 0, false, fmt.Errorf("read the last event that was told: %s holds no number", p)
	}
	return seq, true, nil
}

// write replaces the number, so that the file is whole after any crash.
func (p place) write(seq int64) error {
	dir := filepath.Dir(string(p))
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(string(p))+"-*")
	if err != nil {
		return fmt.Errorf("remember the last event that was told: %w", err)
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	_, err = fmt.Fprintf(tmp, "%d\n", seq)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), string(p))
	}
	if err != nil {
		return fmt.Errorf("remember the last event that was told: %w", err)
	}
	return nil
}

// forget takes the file away: a hook that is switched on again later tells
// nothing of the time between.
func (p place) forget() error {
	if err := os.Remove(string(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the last event that was told: %w", err)
	}
	return nil
}
