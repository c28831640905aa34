package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func appendFile(t testing.TB, path, text string) {
	t.Helper()
	f, err := openAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// readAll takes everything there is, a little at a time.
func readAll(t testing.TB, r *Raw) string {
	t.Helper()
	var all []byte
	buf := make([]byte, 7)
	for {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return string(all)
		}
		all = append(all, buf[:n]...)
		r.Advance(buf[:n])
	}
}

func TestRawFollowsAppends(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	if _, err := OpenRaw(path, 0, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	appendFile(t, path, "")
	r, err := OpenRaw(path, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := ""
	for _, text := range []string{"", "one\n", strings.Repeat("long ", 1000), "\xff\x00\n"} {
		appendFile(t, path, text)
		want += text
		if got := readAll(t, r); got != text {
			t.Errorf("read %q, want %q", got, text)
		}
	}
	if r.Offset() != int64(len(want)) {
		t.Errorf("offset %d, want %d", r.Offset(), len(want))
	}
	// Another reader goes on where this one is.
	again, err := OpenRaw(path, r.Offset(), []byte(want))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	appendFile(t, path, "more")
	if got := readAll(t, again); got != "more" || again.ID() != r.ID() {
		t.Errorf("read %q", got)
	}
	// What was read and not taken is read again.
	buf := make([]byte, 100)
	for range 2 {
		if n, err := r.Read(buf); err != nil || string(buf[:n]) != "more" {
			t.Errorf("read %q, %v", buf[:n], err)
		}
	}
}

func TestRawChanged(t *testing.T) {
	t.Parallel()
	const text = "0123456789\n"
	tests := []struct {
		name   string
		change func(t *testing.T, path string)
		want   RawChange
	}{
		{"cut short", func(t *testing.T, path string) { truncate(t, path, 5) }, RawTruncated},
		{"emptied and grown again", func(t *testing.T, path string) {
			truncate(t, path, 0)
			appendFile(t, path, "another text, longer than the first\n")
		}, RawRewritten},
		{"replaced", func(t *testing.T, path string) {
			appendFile(t, path+".new", text)
			rename(t, path+".new", path)
		}, RawReplaced},
		{"replaced by a link", func(t *testing.T, path string) {
			rename(t, path, path+".old")
			if err := os.Symlink(path+".old", path); err != nil {
				t.Fatal(err)
			}
		}, RawReplaced},
		{"removed", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, RawMissing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out")
			appendFile(t, path, text)
			r, err := OpenRaw(path, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			readAll(t, r)
			tt.change(t, path)
			_, err = r.Read(make([]byte, 100))
			var changed *RawChangedError
			if !errors.As(err, &changed) || changed.Change != tt.want || changed.Offset != int64(len(text)) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A file that was replaced is still read to its end first.
func TestRawReadsTheOldFileToItsEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	appendFile(t, path, "first\nlast\n")
	r, err := OpenRaw(path, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rename(t, path, path+".old")
	buf := make([]byte, 100)
	n, err := r.Read(buf)
	if err != nil || string(buf[:n]) != "first\nlast\n" {
		t.Fatalf("read %q, %v", buf[:n], err)
	}
	r.Advance(buf[:n])
	var changed *RawChangedError
	if _, err := r.Read(buf); !errors.As(err, &changed) {
		t.Errorf("then %v", err)
	}
}

// A reader that comes back after a restart knows the last bytes it took.
func TestRawResumesOnlyTheSameFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	appendFile(t, path, "other bytes of the same length\n")
	r, err := OpenRaw(path, 10, []byte("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var changed *RawChangedError
	if _, err := r.Read(make([]byte, 10)); !errors.As(err, &changed) || changed.Change != RawRewritten {
		t.Errorf("got %v", err)
	}
}

func TestRawOpensPlainFilesOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	appendFile(t, filepath.Join(dir, "target"), "x")
	if err := os.Symlink(filepath.Join(dir, "target"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, link, dir, "/dev/zero"} {
		if r, err := OpenRaw(path, 0, nil); err == nil {
			r.Close()
			t.Errorf("%s was opened", path)
		}
	}
}

// Cut and Raw together: 9 MB with torn writes and a line of 5 MB come through
// whole, in chunks.
func TestRawAndCut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	var want, got []byte
	appendFile(t, path, "")
	r, err := OpenRaw(path, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	take := func(final bool) {
		buf := make([]byte, 3*MaxChunk)
		for {
			n, err := r.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			chunks, _ := Cut(buf[:n], final && n < len(buf))
			if len(chunks) == 0 {
				return
			}
			for _, c := range chunks {
				got = append(got, c...)
				r.Advance(c)
			}
		}
	}
	pieces := []string{"a line\n", "torn ", "write\n", strings.Repeat("z", 5<<20), "\n", strings.Repeat("line\n", 1<<20), "no end"}
	for _, p := range pieces {
		appendFile(t, path, p)
		want = append(want, p...)
		take(false)
	}
	if bytes.Equal(got, want) {
		t.Error("the unfinished line was taken")
	}
	take(true)
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// TestRawMaskedTail: where a secret was stored as a mask, the file still holds
// it, and every other byte must be as it was.
func TestRawMaskedTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	appendFile(t, path, "a secret, and more")
	r, err := OpenRaw(path, 9, []byte("a ******,"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := readAll(t, r); got != " and more" {
		t.Error(got)
	}
	if got := string(r.Before(4)); got != "more" {
		t.Error(got)
	}
	if got := r.Before(1000); len(got) != 18 {
		t.Error(got)
	}
	r, err = OpenRaw(path, 9, []byte("b ******,"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var changed *RawChangedError
	if _, err := r.Read(make([]byte, 9)); !errors.As(err, &changed) || changed.Change != RawRewritten {
		t.Error(err)
	}
}

// TestRawTellsHoles: a hole is nothing that a command wrote, wherever it lies.
// Bytes before it are read, none of it or behind it.
func TestRawTellsHoles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	appendFile(t, path, strings.Repeat("x", 1<<16-9))
	r, err := OpenRaw(path, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	buf := make([]byte, 1<<20)
	n, err := r.Read(buf)
	if n != 1<<16-9 || err != nil {
		t.Fatalf("without a hole: %d %v", n, err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	appendFile(t, path, "behind it")
	for range 2 {
		n, err := r.Read(buf)
		var changed *RawChangedError
		if !errors.As(err, &changed) || changed.Change != RawHollow {
			t.Fatalf("%d bytes, %v", n, err)
		}
		if bytes.Count(buf[:n], []byte("x")) != n || r.Offset() == 0 && n != 1<<16-9 {
			t.Fatalf("%d bytes are read, %q…", n, buf[:min(n, 20)])
		}
		r.Advance(buf[:n])
	}
	if r.Offset() != 1<<16-9 {
		t.Errorf("read up to %d", r.Offset())
	}
}
