package artifacts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"cw/internal/safefile"
)

// openFolder opens a folder below root, step by step: a link on the way is
// refused, as it could lead into what is not the agent's output. fs.ErrNotExist
// when it is not there. dir has slashes.
func openFolder(root *os.Root, dir string) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil {
		return nil, fmt.Errorf("the folder cannot be opened: %w", err)
	}
	for part := range strings.SplitSeq(dir, "/") {
		next, err := step(at, part)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func step(root *os.Root, name string) (*os.Root, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be looked at: %w", name, err)
	}
	if !seen.IsDir() {
		return nil, fmt.Errorf("%s is %s, not a folder", name, kindOf(seen))
	}
	return openSeen(root, name, seen)
}

// openSeen opens a folder that was looked at, and nothing that took its place.
func openSeen(root *os.Root, name string, seen fs.FileInfo) (*os.Root, error) {
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened: %w", name, err)
	}
	if info, err := next.Stat("."); err != nil || !os.SameFile(seen, info) {
		next.Close()
		return nil, fmt.Errorf("%s was exchanged while it was opened", name)
	}
	return next, nil
}

// namesIn lists a folder, sorted, without hidden files. Of more than entriesMax
// the rest is not looked at, and whole is false.
func namesIn(folder *os.Root) (names []string, whole bool, err error) {
	d, err := folder.Open(".")
	if err != nil {
		return nil, true, fmt.Errorf("it cannot be listed: %w", err)
	}
	defer d.Close()
	names, err = d.Readdirnames(entriesMax + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, true, fmt.Errorf("it cannot be listed: %w", err)
	}
	if whole = len(names) <= entriesMax; !whole {
		names = names[:entriesMax]
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return names, whole, nil
}

// readFile reads a plain file of a folder that an agent may have prepared. It
// reads nothing through a link and never waits.
func readFile(folder *os.Root, name string, limit int64) ([]byte, error) {
	seen, err := folder.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("it cannot be looked at: %w", err)
	}
	if err := acceptable(seen, limit); err != nil {
		return nil, err
	}
	return readSeen(folder, name, seen, limit)
}

// readSeen reads a file that was looked at, and nothing that took its place.
func readSeen(folder *os.Root, name string, seen fs.FileInfo, limit int64) ([]byte, error) {
	// A link that takes the file's place now leads to another file, or to the one that
	// was seen.
	f, err := safefile.OpenLinkedIn(folder, name)
	if errors.Is(err, safefile.ErrIrregular) {
		return nil, errors.New("it was exchanged while it was read")
	}
	if err != nil {
		return nil, fmt.Errorf("it cannot be opened: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if !os.SameFile(seen, info) {
		return nil, errors.New("it was exchanged while it was read")
	}
	if err := acceptable(info, limit); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("it is larger than %d bytes", limit)
	}
	return data, nil
}

// acceptable refuses everything but a plain file with one link and of at most
// that size.
func acceptable(info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is %s, not a plain file", kindOf(info))
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return errors.New("it is a hard link to another file")
	}
	if info.Size() > limit {
		return fmt.Errorf("it has %d bytes, at most %d are taken", info.Size(), limit)
	}
	return nil
}

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a plain file"
}

// shown is a name of an agent's on one line, as it is or in quotes.
func shown(name string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	short := shorten(name, shownMax)
	if short == "" || !utf8.ValidString(short) || strings.ContainsFunc(short, hidden) {
		return strconv.Quote(short)
	}
	return short
}

// shorten cuts a text to a number of bytes and shows that it did.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
