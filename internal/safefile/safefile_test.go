package safefile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"cw/internal/safefile"
)

// TestOdd opens what an agent can put in the place of a file. None of it waits:
// without O_NONBLOCK this test hangs at the FIFO.
func TestOdd(t *testing.T) {
	dir, err := os.MkdirTemp("", "odd") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(at("file"), []byte("four"), 0o600))
	must(os.Symlink("file", at("link")))
	must(os.Symlink("fifo", at("link-to-fifo")))
	must(os.Mkdir(at("folder"), 0o700))
	must(syscall.Mkfifo(at("fifo"), 0o600))
	l, err := net.Listen("unix", at("socket"))
	must(err)
	defer l.Close()
	root, err := os.OpenRoot(dir)
	must(err)
	defer root.Close()

	for _, name := range []string{"link", "link-to-fifo", "folder", "fifo", "socket"} {
		if _, err := safefile.Open(at(name)); !errors.Is(err, safefile.ErrIrregular) {
			t.Errorf("Open(%s) = %v, want ErrIrregular", name, err)
		}
		if _, err := safefile.ReadIn(root, name, 10); !errors.Is(err, safefile.ErrIrregular) {
			t.Errorf("ReadIn(%s) = %v, want ErrIrregular", name, err)
		}
	}
	for _, name := range []string{"link", "link-to-fifo", "folder", "fifo", "socket"} {
		if _, _, err := safefile.ReadTail(at(name), 2); !errors.Is(err, safefile.ErrIrregular) {
			t.Errorf("ReadTail(%s) = %v, want ErrIrregular", name, err)
		}
		if f, err := safefile.OpenAppend(at(name)); err == nil {
			t.Errorf("OpenAppend(%s) opens it", name)
			_ = f.Close()
		}
	}
	for _, name := range []string{"link-to-fifo", "folder", "fifo", "socket"} {
		if _, err := safefile.OpenLinked(at(name)); !errors.Is(err, safefile.ErrIrregular) {
			t.Errorf("OpenLinked(%s) = %v, want ErrIrregular", name, err)
		}
	}
	if f, err := safefile.OpenLinked(at("link")); err != nil {
		t.Errorf("OpenLinked(link) = %v", err)
	} else {
		_ = f.Close()
	}
	for n, want := range map[int64]string{2: "ur", 9: "four"} {
		if got, info, err := safefile.ReadTail(at("file"), n); err != nil || string(got) != want || info.Size() != 4 {
			t.Errorf("ReadTail(file, %d) = %q, %v", n, got, err)
		}
	}
	for _, want := range []string{"one", "onetwo"} {
		f, err := safefile.OpenAppend(at("log"))
		must(err)
		_, err = f.WriteString(want[len(want)-3:])
		must(errors.Join(err, f.Close()))
		if got, err := safefile.Read(at("log"), 10); err != nil || string(got) != want {
			t.Errorf("the log is %q, %v, want %q", got, err, want)
		}
	}
	if _, err := safefile.OpenLinkedIn(root, "link-to-fifo"); !errors.Is(err, safefile.ErrIrregular) {
		t.Errorf("OpenLinkedIn(link-to-fifo) = %v, want ErrIrregular", err)
	}
	if f, err := safefile.OpenLinkedIn(root, "link"); err != nil {
		t.Errorf("OpenLinkedIn(link) = %v", err)
	} else {
		_ = f.Close()
	}
	if _, err := safefile.Open("/dev/null"); !errors.Is(err, safefile.ErrIrregular) {
		t.Errorf("Open(/dev/null) = %v, want ErrIrregular", err)
	}
	if _, err := safefile.Open(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open(none) = %v, want ErrNotExist", err)
	}
	for limit, want := range map[int64]error{4: nil, 3: safefile.ErrTooLarge} {
		if _, err := safefile.Read(at("file"), limit); !errors.Is(err, want) {
			t.Errorf("Read(file, %d) = %v, want %v", limit, err, want)
		}
		if _, err := safefile.ReadIn(root, "file", limit); !errors.Is(err, want) {
			t.Errorf("ReadIn(file, %d) = %v, want %v", limit, err, want)
		}
	}
}
