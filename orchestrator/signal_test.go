package orchestrator

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

const (
	goodSignal = `{"status":"done","result":"mine"}`
	// secret is in every file that is not the agent's own.
	secret     = "OUTSIDE"
	evilSignal = `{"status":"done","result":"` + secret + `"}`
)

// den is an agent's cwd with .cw/output, and a folder outside of it that holds
// a signal of its own.
type den struct {
	t       testing.TB
	cwd     string
	outside string
}

func newDen(t testing.TB) den {
	t.Helper()
	dir := t.TempDir()
	d := den{t: t, cwd: filepath.Join(dir, "cwd"), outside: filepath.Join(dir, "outside")}
	must(t, os.MkdirAll(filepath.Join(d.cwd, ".cw", "output"), 0o755))
	must(t, os.MkdirAll(filepath.Join(d.outside, ".cw", "output"), 0o755))
	d.write(filepath.Join(d.outside, cw.SignalPath), evilSignal)
	return d
}

// in is a path in the cwd.
func (d den) in(name string) string { return filepath.Join(d.cwd, filepath.FromSlash(name)) }

func (d den) signal() string { return d.in(cw.SignalPath) }

func (d den) write(name, text string) {
	d.t.Helper()
	must(d.t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(d.t, os.WriteFile(name, []byte(text), 0o644))
}

// promptly fails the test when do hangs.
func promptly(t testing.TB, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("it hangs")
	}
}

// TestHostileSignals: whatever an agent leaves in the place of its signal is
// refused with a reason, nothing outside its cwd is read, and nothing hangs.
func TestHostileSignals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		plant func(d den)
		want  string // in the error
	}{
		{"none", func(den) {}, "not there"},
		{"no folder", func(d den) { must(d.t, os.RemoveAll(d.in(".cw"))) }, "not there"},
		{"no cwd", func(d den) { must(d.t, os.RemoveAll(d.cwd)) }, "not there"},
		{"a link to a file outside", func(d den) {
			must(d.t, os.Symlink(filepath.Join(d.outside, cw.SignalPath), d.signal()))
		}, "symbolic link"},
		{"a relative link outside", func(d den) {
			must(d.t, os.Symlink("../../../outside/"+cw.SignalPath, d.signal()))
		}, "symbolic link"},
		{"a link to a file inside", func(d den) {
			d.write(d.in("real.json"), goodSignal)
			must(d.t, os.Symlink("../../real.json", d.signal()))
		}, "symbolic link"},
		{"a link to nothing", func(d den) { must(d.t, os.Symlink("nothing", d.signal())) }, "symbolic link"},
		{"a link to itself", func(d den) { must(d.t, os.Symlink("signal.json", d.signal())) }, "symbolic link"},
		{".cw is a link outside", func(d den) {
			must(d.t, os.RemoveAll(d.in(".cw")))
			must(d.t, os.Symlink(filepath.Join(d.outside, ".cw"), d.in(".cw")))
		}, ".cw is a symbolic link"},
		{".cw/output is a link outside", func(d den) {
			must(d.t, os.RemoveAll(d.in(".cw/output")))
			must(d.t, os.Symlink(filepath.Join(d.outside, ".cw/output"), d.in(".cw/output")))
		}, ".cw/output is a symbolic link"},
		{".cw/output is a link inside", func(d den) {
			must(d.t, os.Rename(d.in(".cw/output"), d.in("out")))
			d.write(d.in("out/signal.json"), goodSignal)
			must(d.t, os.Symlink("../out", d.in(".cw/output")))
		}, ".cw/output is a symbolic link"},
		{"workspace is a link outside", func(d den) {
			must(d.t, os.RemoveAll(d.in(".cw")))
			must(d.t, os.Symlink(d.outside, d.in("workspace")))
		}, "not there"},
		{"the cwd is a link outside", func(d den) {
			must(d.t, os.RemoveAll(d.cwd))
			must(d.t, os.Symlink(d.outside, d.cwd))
		}, "symbolic link"},
		{".cw/output is a file", func(d den) {
			must(d.t, os.RemoveAll(d.in(".cw/output")))
			d.write(d.in(".cw/output"), goodSignal)
		}, "plain file, not a folder"},
		{"a named pipe", func(d den) { must(d.t, unix.Mkfifo(d.signal(), 0o644)) }, "named pipe"},
		{"a folder", func(d den) { must(d.t, os.Mkdir(d.signal(), 0o755)) }, "a folder"},
		{"a hard link to a file outside", func(d den) {
			must(d.t, os.Link(filepath.Join(d.outside, cw.SignalPath), d.signal()))
		}, "hard link"},
		{"1 TB and sparse", func(d den) {
			d.write(d.signal(), "")
			must(d.t, os.Truncate(d.signal(), 1<<40))
		}, "larger than"},
		{"one byte too large", func(d den) {
			d.write(d.signal(), `{"status":"done","result":"`+strings.Repeat("x", cw.SignalMax-28)+`"}`)
		}, "larger than"},
		{"half written", func(d den) { d.write(d.signal(), goodSignal[:20]) }, "not one JSON object"},
		{"empty", func(d den) { d.write(d.signal(), "") }, "empty"},
		{"an array", func(d den) { d.write(d.signal(), "["+goodSignal+"]") }, "array"},
		{"two objects", func(d den) { d.write(d.signal(), goodSignal+goodSignal) }, "not one JSON object"},
		{"not UTF-8", func(d den) { d.write(d.signal(), "{\"status\":\"\xff\"}") }, "UTF-8"},
		{"of another status", func(d den) { d.write(d.signal(), `{"status":"fine"}`) }, `"fine"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDen(t)
			tt.plant(d)
			promptly(t, func() {
				raw, sig, err := readSignal(d.cwd)
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				if sig.Status != "" && err == nil || bytes.Contains(raw, []byte(secret)) {
					t.Errorf("read %q", raw)
				}
			})
		})
	}
}

// TestSignalSocket needs a short path, which t.TempDir does not promise.
func TestSignalSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "cw-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.MkdirAll(filepath.Join(dir, ".cw", "output"), 0o755))
	l, err := net.Listen("unix", filepath.Join(dir, cw.SignalPath))
	must(t, err)
	defer l.Close()
	promptly(t, func() {
		if _, _, err := readSignal(dir); err == nil || !strings.Contains(err.Error(), "socket") {
			t.Errorf("error %v", err)
		}
	})
}

func TestSignalDevice(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		lab.Lacks(t, "only root makes devices")
	}
	d := newDen(t)
	if err := unix.Mknod(d.signal(), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); err != nil {
		lab.Lacks(t, "no devices here: %v", err)
	}
	promptly(t, func() {
		if _, _, err := readSignal(d.cwd); err == nil || !strings.Contains(err.Error(), "device") {
			t.Errorf("error %v", err)
		}
	})
}

func TestSignalUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	for _, tt := range []struct{ name, path, want string }{
		{"the file", cw.SignalPath, "cannot be opened"},
		{"its folder", ".cw/output", "cannot be looked at"},
	} {
		d := newDen(t)
		d.write(d.signal(), goodSignal)
		must(t, os.Chmod(d.in(tt.path), 0))
		t.Cleanup(func() { os.Chmod(d.in(tt.path), 0o755) }) // so that it can be removed
		if _, _, err := readSignal(d.cwd); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}

// TestGoodSignals: what is read, and from where.
func TestGoodSignals(t *testing.T) {
	t.Parallel()
	largest := `{"status":"done","result":"` + strings.Repeat("x", cw.SignalMax-29) + `"}`
	if len(largest) != cw.SignalMax {
		t.Fatal(len(largest))
	}
	tests := []struct {
		name  string
		plant func(d den)
		want  string // Result; "" for none
	}{
		{"plain", func(d den) { d.write(d.signal(), goodSignal) }, "mine"},
		{"as large as may be", func(d den) { d.write(d.signal(), largest) }, strings.Repeat("x", cw.SignalMax-29)},
		{"in workspace, nothing at the base", func(d den) {
			must(d.t, os.RemoveAll(d.in(".cw")))
			d.write(d.in("workspace/"+cw.SignalPath), goodSignal)
		}, "mine"},
		{"in workspace, an empty .cw at the base", func(d den) {
			must(d.t, os.Remove(d.in(".cw/output")))
			d.write(d.in("workspace/"+cw.SignalPath), goodSignal)
		}, "mine"},
		{"in workspace, with a folder at the base", func(d den) {
			d.write(d.in("workspace/"+cw.SignalPath), goodSignal)
		}, ""},
		{"in both", func(d den) {
			d.write(d.signal(), goodSignal)
			d.write(d.in("workspace/"+cw.SignalPath), evilSignal)
		}, "mine"},
		{"in workspace, with a link at the base", func(d den) {
			must(d.t, os.RemoveAll(d.in(".cw/output")))
			must(d.t, os.Symlink("nowhere", d.in(".cw/output")))
			d.write(d.in("workspace/"+cw.SignalPath), goodSignal)
		}, ""},
	}
	for _, tt := range tests {
		d := newDen(t)
		tt.plant(d)
		_, sig, err := readSignal(d.cwd)
		if sig.Result != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %.20q, %v", tt.name, sig.Result, err)
		}
	}
}

// TestSignalSwapped reads while the file, and the folders above it, are
// exchanged all the time: what is read is the agent's own or nothing.
func TestSignalSwapped(t *testing.T) {
	t.Parallel()
	const swaps = 2000
	d := newDen(t)
	d.write(d.signal(), goodSignal)
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		defer close(stop)
		for n := range swaps {
			swap(d, n)
		}
	})
	read, refused := 0, map[string]int{}
	promptly(t, func() {
		for {
			raw, _, err := readSignal(d.cwd)
			switch {
			case bytes.Contains(raw, []byte(secret)):
				t.Errorf("read from outside: %q", raw)
			case err == nil:
				read++
			default:
				refused[err.Error()]++
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	swapper.Wait()
	t.Logf("%d read, %d kinds of refusals", read, len(refused))
	if len(refused) < 3 {
		t.Errorf("nothing was swapped under the reader: %v", refused)
	}
}

// swap puts the next thing into the signal's place, each at once by a rename.
func swap(d den, n int) {
	next := filepath.Join(d.cwd, "next")
	must(d.t, os.RemoveAll(next))
	target := d.signal()
	switch n % 6 { // 4 puts the folder away and 5 brings it back: in between nothing is written through the link
	case 0:
		d.write(next, goodSignal)
	case 1:
		must(d.t, os.Symlink(filepath.Join(d.outside, cw.SignalPath), next))
	case 2:
		must(d.t, unix.Mkfifo(next, 0o644))
	case 3:
		must(d.t, os.Link(filepath.Join(d.outside, cw.SignalPath), next))
	case 4: // the folder, as a link outside
		target = d.in(".cw/output")
		must(d.t, os.Symlink(filepath.Join(d.outside, ".cw/output"), next))
	case 5: // the folder, a real one again
		target = d.in(".cw/output")
		d.write(filepath.Join(next, "signal.json"), goodSignal)
	}
	if info, err := os.Lstat(target); err == nil && (info.IsDir() || n%6 > 3) {
		must(d.t, os.Rename(target, filepath.Join(d.cwd, fmt.Sprintf("old-%d", n))))
	}
	must(d.t, os.Rename(next, target))
}

// TestCopyOutput: plain files are kept, everything else stays where it is, and
// nothing stops the end of a run.
func TestCopyOutput(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	out := d.in(".cw/output")
	longest := strings.Repeat("n", 255)
	d.write(filepath.Join(out, "progress.md"), "half way")
	d.write(filepath.Join(out, "notes", "a.md"), "a")
	d.write(filepath.Join(out, longest), "long")
	d.write(filepath.Join(out, "\xff\xfe"), "not UTF-8")
	d.write(filepath.Join(out, "\xff-folder", "x"), "in a folder that is not UTF-8")
	must(t, os.Symlink(filepath.Join(d.outside, cw.SignalPath), filepath.Join(out, "link")))
	must(t, os.Symlink(d.outside, filepath.Join(out, "folder-link")))
	must(t, os.Link(filepath.Join(d.outside, cw.SignalPath), filepath.Join(out, "hard")))
	must(t, unix.Mkfifo(filepath.Join(out, "pipe"), 0o644))
	d.write(filepath.Join(out, "huge"), "")
	must(t, os.Truncate(filepath.Join(out, "huge"), 1<<40))
	deep(t, out, 40)
	to := filepath.Join(t.TempDir(), "run", "output")
	for range 2 { // a finish is repeated after a crash
		promptly(t, func() { mustCopy(t, d.cwd, to, outputLimits(), false) })
	}
	for name, want := range map[string]string{"progress.md": "half way", "notes/a.md": "a", longest: "long", "\xff\xfe": "not UTF-8"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); string(got) != want {
			t.Errorf("%.20q: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"link", "folder-link", "hard", "pipe", "huge"} {
		if _, err := os.Lstat(filepath.Join(to, name)); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
}

// deep makes folders below each other until their path is longer than any
// system call takes.
func deep(t *testing.T, dir string, levels int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	part := strings.Repeat("d", 200)
	for range levels {
		must(t, root.Mkdir(part, 0o755))
		must(t, root.WriteFile("leaf", []byte("leaf"), 0o644))
		next, err := root.OpenRoot(part)
		must(t, err)
		root.Close()
		root = next
	}
	root.Close()
}

// TestCopyOutputBounds: many and large files are kept up to a bound, and the
// rest is not even looked at.
func TestCopyOutputBounds(t *testing.T) {
	t.Parallel()
	max := copyLimits{Files: 20, Entries: 100, Bytes: 1 << 20, File: 256 << 10}
	sparse := func(name string, size int64) {
		must(t, os.WriteFile(name, nil, 0o644))
		must(t, os.Truncate(name, size))
	}
	tests := []struct {
		name         string
		plant        func(out string)
		files, bytes int64 // at most
		atLeast      int64 // files
	}{
		{"many files", func(out string) {
			for n := range 200 {
				sparse(filepath.Join(out, fmt.Sprintf("%05d", n)), 1)
			}
		}, 20, 20, 20},
		{"many folders", func(out string) {
			for n := range 200 {
				must(t, os.Mkdir(filepath.Join(out, fmt.Sprintf("%05d", n)), 0o755))
			}
			sparse(filepath.Join(out, "zz"), 1)
		}, 0, 0, 0},
		{"large files", func(out string) {
			for n := range 10 {
				sparse(filepath.Join(out, fmt.Sprint(n)), 256<<10-1)
			}
		}, 5, 1 << 20, 4},
		{"a file too large", func(out string) { sparse(filepath.Join(out, "a"), 256<<10+1) }, 0, 0, 0},
		{"a file as large as may be", func(out string) { sparse(filepath.Join(out, "a"), 256<<10) }, 1, 256 << 10, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDen(t)
			tt.plant(d.in(".cw/output"))
			to := filepath.Join(t.TempDir(), "output")
			mustCopy(t, d.cwd, to, max, tt.name == "a file as large as may be")
			var files, bytes, entries int64
			must(t, filepath.Walk(to, func(_ string, info os.FileInfo, err error) error {
				entries++
				if err == nil && info.Mode().IsRegular() {
					files, bytes = files+1, bytes+info.Size()
				}
				return err
			}))
			if files > tt.files || bytes > tt.bytes || entries > int64(max.Entries) || files < tt.atLeast {
				t.Errorf("copied %d files of %d bytes, %d entries", files, bytes, entries)
			}
		})
	}
}

// TestCopyOutputFromOutside: a link in the place of a folder leads nowhere.
func TestCopyOutputFromOutside(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(d den){
		"the cwd": func(d den) {
			must(t, os.RemoveAll(d.cwd))
			must(t, os.Symlink(d.outside, d.cwd))
		},
		".cw": func(d den) {
			must(t, os.RemoveAll(d.in(".cw")))
			must(t, os.Symlink(filepath.Join(d.outside, ".cw"), d.in(".cw")))
		},
		".cw/output": func(d den) {
			must(t, os.RemoveAll(d.in(".cw/output")))
			must(t, os.Symlink("..", d.in(".cw/output")))
			d.write(d.in("work.txt"), "not output")
		},
		"workspace": func(d den) {
			must(t, os.RemoveAll(d.in(".cw")))
			must(t, os.Symlink(d.outside, d.in("workspace")))
		},
		"nothing": func(d den) { must(t, os.RemoveAll(d.in(".cw"))) },
	} {
		d := newDen(t)
		plant(d)
		to := filepath.Join(t.TempDir(), "output")
		mustCopy(t, d.cwd, to, outputLimits(), true)
		if found, err := os.ReadDir(to); err == nil && len(found) > 0 {
			t.Errorf("%s: copied %v", name, found)
		}
	}
}

// TestTailOf: standard error is a file of the run, but the agent may put
// anything in its place.
func TestTailOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, pipe, link := filepath.Join(dir, "plain"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	must(t, os.WriteFile(plain, []byte("one\ntwo\nthree\n"), 0o600))
	must(t, unix.Mkfifo(pipe, 0o600))
	must(t, os.Symlink(plain, link))
	promptly(t, func() {
		for name, want := range map[string]string{plain: "three\n", pipe: "", link: "", dir: "", filepath.Join(dir, "none"): ""} {
			if got := tailOf(name, 6); string(got) != want {
				t.Errorf("%s: %q", filepath.Base(name), got)
			}
		}
	})
	for _, tt := range []struct{ in, want string }{
		{"  short \n", "short"},
		{"a long first line\nsecond\n", "…second"},
		{strings.Repeat("ü", 20), "…" + strings.Repeat("ü", 7)},
		{"bad \xff byte", "bad \uFFFD byte"},
	} {
		if got := lastPart([]byte(tt.in), 15); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// FuzzSignalPath: no name of a file makes the reader leave the cwd.
func FuzzSignalPath(f *testing.F) {
	for _, name := range []string{cw.SignalPath, "../outside/" + cw.SignalPath, ".", "", "/", "a/../../outside/" + cw.SignalPath, "\x00"} {
		f.Add(name)
	}
	d := newDen(f)
	d.write(d.signal(), goodSignal)
	f.Fuzz(func(t *testing.T, name string) {
		data, err := readOwnFile(d.cwd, name, cw.SignalMax)
		if bytes.Contains(data, []byte(secret)) {
			t.Fatalf("%q leads outside: %q", name, data)
		}
		if err != nil && data != nil {
			t.Fatalf("%q with %v", data, err)
		}
	})
}

// mustCopy copies, and holds whether all of it was copied.
func mustCopy(t *testing.T, dir, to string, limits copyLimits, whole bool) {
	t.Helper()
	got, err := copyOutput(dir, to, limits)
	must(t, err)
	if got != whole {
		t.Errorf("whole: %v, want %v", got, whole)
	}
}
