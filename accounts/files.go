package accounts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cw/internal/safefile"
)

const (
	// fileMax bounds a file of credentials or settings, in bytes.
	fileMax = 1 << 20
	// dirMode and fileMode: secrets are for the user alone.
	dirMode, fileMode = 0o700, 0o600
)

var (
	errNotPlain = errors.New("it is no plain file")
	errNotOurs  = errors.New("it belongs to another user")
	errTooLarge = fmt.Errorf("it is larger than %d bytes", fileMax)
)

// readOwn reads a small plain file of the user. A link is not followed, and a
// pipe in its place does not block. The error is fs.ErrNotExist when there is
// none.
func readOwn(path string) ([]byte, error) {
	f, err := safefile.Open(path)
	if errors.Is(err, safefile.ErrIrregular) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotPlain}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = checkOwn(info)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	data, err := io.ReadAll(io.LimitReader(f, fileMax+1))
	if err == nil && len(data) > fileMax {
		err = &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
	}
	return data, err
}

// checkOwn refuses what is no plain file of the user.
func checkOwn(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errNotPlain
	case ok && int(st.Uid) != os.Geteuid():
		return errNotOurs
	case info.Size() > fileMax:
		return errTooLarge
	}
	return nil
}

// writeOwn replaces a file: whole or not at all, for the user alone, and on disk
// when it returns.
func writeOwn(path string, data []byte) error {
	d, err := newDraft(path, len(data))
	if err != nil {
		return err
	}
	return d.put(data)
}

// draft is a file whose place and space are there before it is known what will
// stand in it: so that what must not be lost can be written.
type draft struct {
	f    *os.File
	path string
	room int
}

// newDraft takes room bytes beside the file that is to be replaced. One that is
// not put must be dropped.
func newDraft(path string, room int) (*draft, error) {
	f, err := os.CreateTemp(filepath.Dir(path), draftOf(filepath.Base(path))) // 0600
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	d := &draft{f: f, path: path, room: room}
	if _, err := f.Write(make([]byte, room)); err != nil {
		d.drop()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return d, nil
}

// put writes the data and gives the file its name. One sync makes it last.
func (d *draft) put(data []byte) error {
	defer d.drop() // its name is gone already when all went well
	_, err := d.f.WriteAt(data, 0)
	if err == nil && d.room > len(data) {
		err = d.f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = d.f.Sync()
	}
	if err == nil {
		err = os.Rename(d.f.Name(), d.path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(d.path))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", d.path, err)
	}
	return nil
}

func (d *draft) drop() {
	d.f.Close()
	_ = os.Remove(d.f.Name())
}

// draftOf is the pattern of the names of a file's drafts.
func draftOf(file string) string { return "." + file + "-*.tmp" }

func isDraft(name, file string) bool {
	is, _ := filepath.Match(draftOf(file), name)
	return is
}

// sweepDrafts removes what processes that were killed left of a file. The caller
// holds the lock of all that write it.
func sweepDrafts(path string) {
	dir, file := filepath.Dir(path), filepath.Base(path)
	entries, _ := os.ReadDir(dir) // nothing to be read, nothing to be swept
	for _, e := range entries {
		if isDraft(e.Name(), file) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// createOwn writes a file unless there is one.
func createOwn(path string, data []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), draftOf(filepath.Base(path)))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Link(f.Name(), path) // refused when another process was quicker
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
