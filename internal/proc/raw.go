package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// rawTail is how many bytes before the offset are compared at each read.
const rawTail = 64

// RawChange says in which way an output file is no longer the one that was
// read so far.
type RawChange string

// The ways an output file can change under its reader.
const (
	// RawTruncated: it is shorter than what was read of it.
	RawTruncated RawChange = "truncated"
	// RawRewritten: the bytes before the offset are not those that were read.
	RawRewritten RawChange = "rewritten"
	// RawReplaced: another file has its name.
	RawReplaced RawChange = "replaced"
	// RawMissing: its name is gone.
	RawMissing RawChange = "missing"
	// RawHollow: it was made longer without anything being written there.
	RawHollow RawChange = "extended with a hole"
)

// RawChangedError says that an output file was changed by somebody other than
// the command appending to it. What was read before is good, what follows
// cannot be trusted to follow.
type RawChangedError struct {
	Path   string
	Change RawChange
	// Offset is how far it was read, Size how long it is now (-1: unknown).
	Offset, Size int64
}

func (e *RawChangedError) Error() string {
	return fmt.Sprintf("output file %s was %s: read up to byte %d, its size is %d", e.Path, e.Change, e.Offset, e.Size)
}

// FileID names a file beyond its path.
type FileID struct{ Dev, Ino uint64 }

// Raw reads an output file by offset while a command appends to it. It is for
// one goroutine.
type Raw struct {
	f      *os.File
	path   string
	id     FileID
	offset int64
	tail   []byte // the last bytes before offset
}

// masked is what a stored secret was replaced with, byte by byte: such a byte of
// a tail stands for any.
const masked = '*'

// OpenRaw opens an output file to go on at offset. tail are the last bytes
// that were read before it, as they were stored and as far as they are known: by
// them a file that was rewritten meanwhile is told. Only a plain file is opened;
// the error is fs.ErrNotExist while there is none.
func OpenRaw(path string, offset int64, tail []byte) (*Raw, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("open output file: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open output file: %w", err)
	}
	r := &Raw{f: f, path: path, id: fileID(info), offset: offset}
	r.keepTail(tail)
	for i, b := range r.Before(len(r.tail)) {
		if r.tail[i] == masked {
			r.tail[i] = b
		}
	}
	return r, nil
}

// Before gives the last n bytes before the offset, fewer where the file begins.
// What cannot be read is empty: Read tells why.
func (r *Raw) Before(n int) []byte {
	b := make([]byte, min(int64(n), r.offset))
	if _, err := r.f.ReadAt(b, r.offset-int64(len(b))); err != nil {
		return nil
	}
	return b
}

// ID names the file that is read.
func (r *Raw) ID() FileID { return r.id }

// Offset is where the next Read begins.
func (r *Raw) Offset() int64 { return r.offset }

// Close gives the file back.
func (r *Raw) Close() error { return r.f.Close() }

// Read fills buf from the offset on and leaves the offset where it is; Advance
// moves it. n is 0 at the end of the file, without an error: more may come.
// The error is a *RawChangedError when the file is not the one read so far, or
// has a hole behind the n bytes: nobody wrote what would be read there, and it
// has no end that counts.
func (r *Raw) Read(buf []byte) (n int, err error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	n, err = r.f.ReadAt(buf, r.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("read output file: %w", err)
	}
	if hole := r.hole(n); hole < n {
		// The block in which the writing ended is filled up with zeros.
		written := bytes.TrimRight(buf[:hole], "\x00")
		return len(written), &RawChangedError{Path: r.path, Change: RawHollow, Offset: r.offset + int64(len(written)), Size: -1}
	}
	if n > 0 || len(buf) == 0 {
		return n, nil
	}
	// The file that was opened is read to its end, whatever became of its
	// name: the command still writes to it.
	return 0, r.checkName()
}

// Advance moves the offset over bytes that were read and are dealt with.
func (r *Raw) Advance(read []byte) {
	r.offset += int64(len(read))
	r.keepTail(read)
}

func (r *Raw) keepTail(read []byte) {
	all := append(r.tail, read[max(0, len(read)-rawTail):]...)
	all = all[max(0, len(all)-rawTail):]
	if int64(len(all)) > r.offset {
		all = all[int64(len(all))-r.offset:]
	}
	r.tail = bytes.Clone(all)
}

// check compares the size and the bytes before the offset.
func (r *Raw) check() error {
	info, err := r.f.Stat()
	if err != nil {
		return fmt.Errorf("read output file: %w", err)
	}
	if info.Size() < r.offset {
		return r.changed(RawTruncated, info.Size())
	}
	var now [rawTail]byte
	b := now[:len(r.tail)]
	if _, err := r.f.ReadAt(b, r.offset-int64(len(b))); err != nil {
		if errors.Is(err, io.EOF) {
			return r.changed(RawTruncated, info.Size())
		}
		return fmt.Errorf("read output file: %w", err)
	}
	if !bytes.Equal(b, r.tail) {
		return r.changed(RawRewritten, info.Size())
	}
	return nil
}

// hole gives how many of the next n bytes lie before a hole; n where there is
// none, or the file system does not tell. Some turn long rows of zeros into holes,
// but no command that is followed writes such.
func (r *Raw) hole(n int) int {
	at, err := unix.Seek(int(r.f.Fd()), r.offset, unix.SEEK_HOLE)
	if err != nil || at < r.offset || at >= r.offset+int64(n) {
		return n
	}
	return int(at - r.offset)
}

// checkName looks whether the path still leads to the file.
func (r *Raw) checkName() error {
	info, err := os.Lstat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.changed(RawMissing, -1)
	case err != nil:
		return fmt.Errorf("read output file: %w", err)
	case fileID(info) != r.id:
		return r.changed(RawReplaced, info.Size())
	}
	return nil
}

func (r *Raw) changed(how RawChange, size int64) error {
	return &RawChangedError{Path: r.path, Change: how, Offset: r.offset, Size: size}
}

func fileID(info fs.FileInfo) FileID {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return FileID{Dev: uint64(st.Dev), Ino: uint64(st.Ino)}
	}
	return FileID{}
}
