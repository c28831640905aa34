package artifacts

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestExchanged: what takes the place of a file or a folder after it was looked
// at is not read, and never waited for.
func TestExchanged(t *testing.T) {
	t.Parallel()
	const name = "a.md"
	tests := []struct {
		name  string
		plant func(root *os.Root, dir string) error // in the place of the file, which is at "own" now
		want  string
	}{
		{"nothing", func(root *os.Root, _ string) error { return nil }, "cannot be opened"},
		{"a link to another file", func(root *os.Root, _ string) error {
			if err := root.WriteFile("other", []byte("x"), 0o644); err != nil {
				return err
			}
			return root.Symlink("other", name)
		}, "exchanged"},
		{"another file", func(root *os.Root, _ string) error { return root.WriteFile(name, []byte("x"), 0o644) }, "exchanged"},
		{"a named pipe", func(_ *os.Root, dir string) error { return syscall.Mkfifo(dir+"/"+name, 0o644) }, "exchanged"},
		{"a folder", func(root *os.Root, _ string) error { return root.Mkdir(name, 0o755) }, "exchanged"},
		{"the file, linked", func(root *os.Root, _ string) error { return root.Link("own", name) }, "hard link"},
		{"the file, grown", func(root *os.Root, dir string) error {
			if err := os.Truncate(dir+"/own", 100); err != nil {
				return err
			}
			return root.Rename("own", name)
		}, "100 bytes, at most 10"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			must(t, err)
			defer root.Close()
			must(t, root.WriteFile(name, []byte("mine"), 0o644))
			seen, err := root.Lstat(name)
			must(t, err)
			must(t, root.Rename(name, "own"))
			must(t, tt.plant(root, dir))
			done := make(chan error, 1)
			go func() { // ends with the read; one that hangs fails the test
				_, err := readSeen(root, name, seen, 10)
				done <- err
			}()
			select {
			case err := <-done:
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, wanted %q", err, tt.want)
				}
			case <-time.After(time.Minute):
				t.Fatal("it hangs")
			}
		})
	}
}

// TestExchangedFolder: a folder that took the place of the one that was looked
// at is not opened.
func TestExchangedFolder(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(root *os.Root) error{
		"another folder":       func(root *os.Root) error { return root.Mkdir("a", 0o755) },
		"a link to another":    func(root *os.Root) error { return root.Symlink("other", "a") },
		"nothing":              func(*os.Root) error { return nil },
		"a link that leads up": func(root *os.Root) error { return root.Symlink("..", "a") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := os.OpenRoot(t.TempDir())
			must(t, err)
			defer root.Close()
			must(t, root.Mkdir("a", 0o755))
			must(t, root.Mkdir("other", 0o755))
			seen, err := root.Lstat("a")
			must(t, err)
			must(t, root.Rename("a", "own"))
			must(t, plant(root))
			if opened, err := openSeen(root, "a", seen); err == nil {
				opened.Close()
				t.Error("it is opened")
			}
		})
	}
}
