// Package safefile opens files that somebody else may have prepared: an agent in
// its worktree, a CLI in its folder. Another kind of file in the place of a
// regular one, such as a FIFO, a device, a socket or a symbolic link, is an error
// and never waits, and no more is read than the caller allows.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrIrregular says that something else than a regular file is at the path.
var ErrIrregular = errors.New("not a regular file")

// ErrTooLarge says that a file is larger than the caller allows.
var ErrTooLarge = errors.New("the file is too large")

// flags of every open. Without O_NONBLOCK the open of a FIFO waits for a writer;
// it means nothing for a regular file.
const flags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// Open opens the regular file at path for reading. Links in its last element are
// not followed.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0)
	return regular(f, path, err)
}

// OpenLinked opens the regular file for reading that path, or a link at path, leads
// to. It is for files of the user's, who may link them.
func OpenLinked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return regular(f, path, err)
}

// OpenAppend opens the regular file at path for appending, and creates it with mode
// 0600 when it does not exist. A link in its last element is not followed.
func OpenAppend(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	return regular(f, path, err)
}

// OpenIn is Open for a name inside root, which the links of no element leave. A
// link as the last element is not followed.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	// A root follows links inside it, whatever the flags say.
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrIrregular}
	}
	return OpenLinkedIn(root, name)
}

// OpenLinkedIn is OpenIn that follows a link to a regular file inside root.
func OpenLinkedIn(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return regular(f, name, err)
}

// regular passes an open file on when it is one, and closes any other.
func regular(f *os.File, name string, err error) (*os.File, error) {
	switch {
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO): // a link; a socket
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.Join(ErrIrregular, err)}
	case err != nil:
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrIrregular}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Read reads the regular file at path whole. ErrTooLarge when it has more than
// limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

// ReadLinked is Read for a file that may be a link, as OpenLinked opens it.
func ReadLinked(path string, limit int64) ([]byte, error) {
	f, err := OpenLinked(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

// ReadTail returns the last n bytes of the regular file at path, or all of them, and
// what is known of the file.
func ReadTail(path string, n int64) ([]byte, fs.FileInfo, error) {
	f, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-n), n))
	return data, info, err
}

// ReadIn is Read for a name inside root, as OpenIn opens it.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

// RemoveAll deletes what is at path with everything in it, also folders whose owner
// took the right to write away. Links are not followed. Nothing there is no error.
func RemoveAll(path string) error {
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) // before it is looked into
		}
		return nil
	}) // what cannot be changed fails below
	return os.RemoveAll(path)
}

func readAll(f *os.File, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes: %w", f.Name(), limit, ErrTooLarge)
	}
	return data, nil
}
