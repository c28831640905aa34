package badinput

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	cwhome "cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// fingerprint sums up all files of a folder, so that a refused home can be
// held against what it was. An empty -wal or -shm file says nothing: SQLite
// makes them even to read. The log is there to be written.
func fingerprint(t *testing.T, dir string) state {
	t.Helper()
	s := state{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		s[path] = info.Mode().String()
		switch {
		case strings.HasSuffix(name, "-shm"), strings.HasSuffix(name, "-wal") && info.Size() == 0, name == "daemon.log", name == "daemon.lock":
			delete(s, path)
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			s[path] = fmt.Sprintf("%s %d bytes %x", info.Mode(), len(data), sha256.Sum256(data))
		}
		return nil
	})
	must(t, err)
	return s
}

// noDaemon waits until nothing runs in the home.
func noDaemon(t *testing.T, l *lab.Lab) {
	t.Helper()
	until(t, "the end of everything in "+string(l.Home), func() bool { return len(processes(l)) == 0 })
}

// databases is the part of a home's fingerprint that no refusal may change.
func databases(t *testing.T, l *lab.Lab) state {
	t.Helper()
	s := state{}
	for path, sum := range fingerprint(t, string(l.Home)) {
		if base := filepath.Base(path); strings.Contains(base, ".db") && !strings.HasSuffix(base, "-seal") { // the seal of the other one
			s[path] = sum
		}
	}
	return s
}

// TestHomes: homes that cannot be used are refused and left as they are. Any
// command that needs the daemon says so.
func TestHomes(t *testing.T) {
	t.Parallel()
	mode := func(m os.FileMode) func(*testing.T, *lab.Lab) {
		return func(t *testing.T, l *lab.Lab) { must(t, os.Chmod(string(l.Home), m)) }
	}
	tests := []struct {
		name  string
		spoil func(*testing.T, *lab.Lab)
		says  []string
		hints []string
	}{
		{"world-readable", mode(0o755), []string{"CW_HOME", "open to other users", "0755"}, []string{"chmod 700"}},
		{"group-writable", mode(0o770), []string{"CW_HOME", "open to other users", "0770"}, []string{"chmod 700"}},
		{"a file", func(t *testing.T, l *lab.Lab) {
			must(t, os.RemoveAll(string(l.Home)))
			must(t, os.WriteFile(string(l.Home), []byte("mine"), 0o600))
		}, []string{"CW_HOME", "home"}, []string{"CW_HOME"}},
		{"below a file", func(t *testing.T, l *lab.Lab) {
			file := filepath.Join(root(l), "file")
			must(t, os.WriteFile(file, []byte("mine"), 0o600))
			l.Home = cwhome.Home(filepath.Join(file, "home"))
		}, []string{"CW_HOME", "not a directory"}, []string{"CW_HOME"}},
		{"a dangling link", func(t *testing.T, l *lab.Lab) {
			must(t, os.RemoveAll(string(l.Home)))
			must(t, os.Symlink(filepath.Join(root(l), "nowhere", "home"), string(l.Home)))
		}, []string{"CW_HOME"}, []string{"CW_HOME"}},
		{"a read-only disk", func(t *testing.T, l *lab.Lab) {
			disk(t, l, "size=64m")
			must(t, remountReadOnly(string(l.Home), "size=64m"))
		}, []string{"CW_HOME", "read-only"}, []string{"writable", "CW_HOME"}},
		{"a full disk", func(t *testing.T, l *lab.Lab) {
			disk(t, l, "size=256k")
			for _, used := range []string{l.Home.RunState(), l.Home.Bin(), l.Home.Repos(), l.Home.Runs(), l.Home.Providers()} {
				must(t, os.Mkdir(used, 0o700)) // empty folders take no space
			}
			fill(t, string(l.Home))
		}, []string{"CW_HOME", "no space left"}, []string{"free some space"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			tt.spoil(t, l)
			before := fingerprint(t, root(l))
			for _, args := range [][]string{{"agent", "list"}, {"project", "add", "."}, {"run", "--provider", "fake", "work"}} {
				refuses(t, l, refusal{"", call{args: args}, exitRefused, tt.says, tt.hints})
			}
			serve := ask(t, l, "serve")
			if serve.code != exitRefused {
				t.Errorf("%s", serve)
			}
			holds(t, "serve", serve.stderr, tt.says...)
			noDaemon(t, l)
			untouched(t, before, fingerprint(t, root(l)))
		})
	}
}

// disk puts a small disk in the place of a lab's home, for the test.
func disk(t *testing.T, l *lab.Lab, options string) {
	t.Helper()
	if os.Geteuid() != 0 {
		lab.Lacks(t, "only root may mount a disk")
	}
	if err := mountMemory(string(l.Home), "mode=700,"+options); err != nil {
		lab.Lacks(t, "no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		l.Kill()
		for _, p := range processes(l) {
			lab.KillProcess(p) // it has this test's home in its environment
		}
		must(t, unmount(string(l.Home)))
	})
}

// fill takes all space of a disk and gives the file that holds it.
func fill(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	for block := bytes.Repeat([]byte{1}, 1<<20); len(block) > 0; {
		n, err := f.Write(block)
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if err != nil && n == 0 {
			block = block[:len(block)/2]
		}
	}
	return name
}

// TestDiskFills: the disk of a home that is in use becomes full. What is
// refused leaves nothing behind, and all goes on when there is space again.
func TestDiskFills(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	preset, err := os.ReadFile(filepath.Join(l.Home.Providers(), "fake.yaml"))
	must(t, err)
	disk(t, l, "size=192m")
	must(t, os.MkdirAll(l.Home.Providers(), 0o700))
	must(t, os.WriteFile(filepath.Join(l.Home.Providers(), "fake.yaml"), preset, 0o600))
	l.Start()
	if got, a := runs(t, l, commits("before.txt")); a.code != exitOK {
		t.Fatalf("%s", a)
	} else {
		// A copy in place of hard links takes space, so it is told.
		holds(t, "the warnings", strings.Join(got.Agent.Warnings, "\n"), "copied")
	}
	ballast := fill(t, string(l.Home))
	script := commits("meanwhile.txt")
	script.Book = l.Books
	run := refusal{"", call{args: []string{"run", "--provider", "fake", script.Goal()}}, exitRefused, []string{"disk", "full"}, []string{"free some space"}}
	refused(t, l, run, l.Repo)
	other := filepath.Join(root(l), "other")
	lab.NewRepo(t, other)
	run.call.dir = other
	refused(t, l, run, l.Repo, other)
	must(t, os.Remove(ballast))
	if got, a := runs(t, l, commits("after.txt")); a.code != exitOK || got.HandedOver == "" {
		t.Errorf("%s", a)
	}
}

// TestUnwritableHome: somebody who is not root has a home where he may not
// write.
func TestUnwritableHome(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	dir, err := os.MkdirTemp("", "cw-unwritable-") // not t.TempDir: others cannot look into that
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	program := filepath.Join(dir, "cw")
	data, err := os.ReadFile(binary)
	must(t, err)
	must(t, os.WriteFile(program, data, 0o755))
	var attr syscall.SysProcAttr
	owner := os.Geteuid()
	if owner == 0 {
		owner = nobody
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	repo := filepath.Join(dir, "shop")
	lab.NewRepo(t, repo)
	must(t, filepath.WalkDir(repo, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, owner, -1))
	}))
	locked := filepath.Join(dir, "locked")
	must(t, os.Mkdir(locked, 0o500))
	must(t, os.Chown(locked, owner, -1))
	foreign := filepath.Join(dir, "foreign")
	must(t, os.Mkdir(foreign, 0o700)) // root's, when root runs the test
	for name, home := range map[string]string{"no right to write": locked, "parent not writable": filepath.Join(locked, "home"), "of somebody else": foreign} {
		t.Run(name, func(t *testing.T) {
			if home == foreign && owner == os.Geteuid() {
				lab.Lacks(t, "only root can make a folder of somebody else")
			}
			for _, args := range [][]string{{"agent", "list"}, {"run", "--provider", "script", "--script", "/bin/true", "work"}} {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				cmd := exec.CommandContext(ctx, program, args...)
				cmd.Dir, cmd.SysProcAttr = repo, &attr
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CW_HOME=" + home}
				var out, errOut bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errOut
				if err := cmd.Run(); errors.Is(err, syscall.EPERM) {
					lab.Lacks(t, "this process may not become another user")
				}
				a := answer{args, out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
				if a.code != exitRefused || a.stdout != "" {
					t.Errorf("%s", a)
				}
				holds(t, "standard error", a.stderr, "CW_HOME", home, "hint: ", "CW_HOME")
			}
			if left := lab.Processes(home); len(left) > 0 {
				t.Errorf("left behind: %+v", left)
			}
			entries, err := os.ReadDir(locked)
			must(t, err)
			if len(entries) > 0 {
				t.Errorf("made: %v", entries)
			}
		})
	}
}

// TestDatabases: a database that is damaged or of a newer cw is refused and
// not touched; nothing runs on.
func TestDatabases(t *testing.T) {
	t.Parallel()
	l := started(t)
	if _, a := runs(t, l, commits("a.txt")); a.code != exitOK {
		t.Fatalf("%s", a)
	}
	works(t, l, "stop")
	l.Kill()
	noDaemon(t, l)
	edit := func(do func(data []byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, do(data), 0o600))
		}
	}
	newer := func(t *testing.T, path string) {
		db := openDatabase(t, path, "rw")
		_, err := db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied, tstamp) VALUES (9001, 1, datetime('now'))")
		must(t, errors.Join(err, db.Close()))
	}
	damaged := []string{"damaged"}
	aside := []string{"cw recover", "aside", "backups"}
	tests := []struct {
		name  string
		spoil func(t *testing.T, path string)
		code  int
		says  []string
		hints []string
	}{
		{"a letter", edit(func([]byte) []byte { return []byte(strings.Repeat("this is a letter to my mother\n", 500)) }), exitFailed, damaged, aside},
		{"cut in the middle", edit(func(data []byte) []byte { return data[:len(data)/2] }), exitFailed, damaged, aside},
		{"a page overwritten", edit(func(data []byte) []byte { copy(data[4096:8192], bytes.Repeat([]byte{0x5a}, 4096)); return data }), exitFailed, damaged, aside},
		{"a folder", func(t *testing.T, path string) { must(t, os.Remove(path)); must(t, os.Mkdir(path, 0o700)) }, exitFailed, damaged, aside},
		{"of a newer cw", newer, exitRefused, []string{"newer cw", "9001"}, []string{"upgrade cw", "backups"}},
	}
	for _, name := range []string{"cw.db", "log.db"} {
		for _, tt := range tests {
			t.Run(name+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				one := newLab(t)
				for _, db := range []string{"cw.db", "log.db"} {
					data, err := os.ReadFile(filepath.Join(string(l.Home), db))
					must(t, err)
					must(t, os.WriteFile(filepath.Join(string(one.Home), db), data, 0o600))
				}
				tt.spoil(t, filepath.Join(string(one.Home), name))
				before := databases(t, one)
				says := append([]string{name}, tt.says...)
				refuses(t, one, refusal{"", call{args: []string{"agent", "list"}}, tt.code, says, tt.hints})
				refuses(t, one, refusal{"", call{args: []string{"run", "--provider", "fake", "work"}}, tt.code, says, tt.hints})
				noDaemon(t, one)
				untouched(t, before, databases(t, one))
			})
		}
	}
}
