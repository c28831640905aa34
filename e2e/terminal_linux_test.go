package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// terminal is a pseudo-terminal with what a program shows on it.
type terminal struct {
	t      *testing.T
	master *os.File // the person's side
	slave  *os.File // the program's

	mu    sync.Mutex
	shown strings.Builder // guarded by mu
	more  chan struct{}   // told, at most once ahead, when there is more
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	must(t, err)
	t.Cleanup(func() { master.Close() })
	raw, err := master.SyscallConn()
	must(t, err)
	number := 0
	var failed error
	must(t, raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		if failed == nil {
			number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}))
	must(t, failed)
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	return &terminal{t: t, master: master, slave: slave, more: make(chan struct{}, 1)}
}

// start starts a program on the terminal.
func (k *terminal) start(cmd *exec.Cmd) {
	k.t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = k.slave, k.slave, k.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(k.t, cmd.Start())
	must(k.t, k.slave.Close()) // else its end would not be seen
	go k.read()
}

// read ends when nobody has the other side any more, or at the test's end.
func (k *terminal) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := k.master.Read(buffer)
		k.mu.Lock()
		k.shown.Write(buffer[:n])
		k.mu.Unlock()
		select {
		case k.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// screen is all that was shown so far.
func (k *terminal) screen() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shown.String()
}

// until waits for a text.
func (k *terminal) until(text string) {
	k.t.Helper()
	end := time.After(pagePatience)
	for !strings.Contains(k.screen(), text) {
		select {
		case <-k.more:
		case <-end:
			k.t.Fatalf("%q is not shown:\n%s", text, k.screen())
		}
	}
}

// TestAsksOnATerminal: `cw run` asks the agent's questions in place, the agent
// goes on with the answers, and the run is watched to its end.
func TestAsksOnATerminal(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, _ := newLab(t, p, asksFirst)
		ctx, cancel := context.WithTimeout(t.Context(), pagePatience)
		defer cancel()
		cmd := exec.CommandContext(ctx, binary, "run", "--provider", p.name, goal)
		cmd.Dir, cmd.Env = l.Repo, append(l.Environ(), "TERM=xterm")
		k := newTerminal(t)
		k.start(cmd)
		k.until("answer: ")
		_, err := k.master.WriteString("2\n")
		must(t, err)
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		agents, err := cw.AllAgents(t.Context(), l.Client(), cw.AgentFilter{})
		must(t, err)
		if code := cmd.ProcessState.ExitCode(); code != 0 || len(agents) != 1 {
			t.Fatalf("exit %d, %d agents\n%s", code, len(agents), k.screen())
		}
		v := restsAfter(l, agents[0], 2)
		wentOn(t, l, agents[0], v, cw.RunAnswers)
		if got := committed(t, l, v, "greeting.txt"); got != "Good morning. Files." { // the second option of the example
			t.Errorf("committed %q\n%s", got, k.screen())
		}
	})
}

// onTerminal starts a command line on a terminal of its own.
func onTerminal(t *testing.T, l *lab.Lab, env []string, args ...string) (*terminal, *exec.Cmd) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), pagePatience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = l.Repo, append(append(l.Environ(), "TERM=xterm"), env...)
	k := newTerminal(t)
	k.start(cmd)
	return k, cmd
}

// types types at a terminal.
func (k *terminal) types(text string) {
	k.t.Helper()
	_, err := k.master.WriteString(text)
	must(k.t, err)
}

// ends waits for a command's end, and compares its exit code.
func (k *terminal) ends(cmd *exec.Cmd, code int) {
	k.t.Helper()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		k.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		k.t.Errorf("exit %d, want %d\n%s", got, code, k.screen())
	}
}

// TestAttachOnATerminal: what is typed while an agent is watched is its next
// prompt; Ctrl-C leaves it at work, and Ctrl-D ends sending alone.
func TestAttachOnATerminal(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	gate := filepath.Join(t.TempDir(), "go")
	v := l.MustSpawn(fakecli.Script{
		Shell: "until [ -e '" + gate + "' ]; do sleep 0.05; done", File: "a.txt", Content: "a\n", Commit: "Add a", Signal: `{"status":"done"}`,
		Next: &fakecli.Script{Expect: []string{"use tabs\nnot spaces"}, File: "b.txt", Content: "b\n", Commit: "Add b", Signal: `{"status":"done","result":"with tabs"}`},
	})
	left, leaving := onTerminal(t, l, nil, "agent", "attach", v.Alias)
	left.until("is sent to " + v.Alias)
	left.types("\x03")
	left.ends(leaving, 130)
	left.until("you left; " + v.Alias + " goes on")

	k, cmd := onTerminal(t, l, nil, "agent", "attach", v.Alias)
	k.until("is sent to " + v.Alias)
	k.types("use tabs\\\n")
	k.types("not spaces\n")
	k.until("queued: sent when this run ends")
	k.types("\x04")
	k.until("nothing more is sent")
	must(t, os.WriteFile(gate, nil, 0o600))
	k.ends(cmd, 0)
	if v = l.Rest(string(v.ID)); v.Result != "with tabs" || len(v.Runs) != 2 || v.Commits() != 2 {
		t.Errorf("%s %s, %d runs\n%s", v.Status, v.Error, len(v.Runs), k.screen())
	}
}

// TestShellOnATerminal: a shell in a worktree that was cleaned up, with the
// person's environment, whose exit code is passed on; and an editor there.
func TestShellOnATerminal(t *testing.T) {
	t.Parallel()
	l := lab.New(t, binary)
	l.Start()
	v := l.Rest(l.MustSpawn(fakecli.Script{File: "a.txt", Content: "a\n", Commit: "Add a", Signal: `{"status":"done"}`}).Alias)
	if v.WorktreeState != cw.WorktreeRemoved {
		t.Fatalf("the worktree is %s: %q", v.WorktreeState, v.Warnings)
	}
	k, cmd := onTerminal(t, l, []string{"SHELL=/bin/sh", "MINE=yes"}, "agent", "shell", v.Alias)
	k.until(v.Worktree + ", on " + v.Branch)
	k.types("[ -t 0 ] && echo \"at $(pwd) with $MINE\"; cat a.txt; exit 42\n")
	k.until("at " + v.Worktree + " with yes")
	k.ends(cmd, 42)

	editor := filepath.Join(t.TempDir(), "an editor")
	must(t, os.WriteFile(editor, []byte("#!/bin/sh\necho \"$1: $(ls \"$2\" | head -1)\"\n"), 0o700))
	k, cmd = onTerminal(t, l, []string{"EDITOR='" + editor + "' 'these files'"}, "agent", "open", v.Alias)
	k.until("these files: README.md")
	k.ends(cmd, 0)
	if v = l.Rest(v.Alias); v.WorktreeState != cw.WorktreePresent || v.HeldUntil == nil {
		t.Errorf("the worktree is %s, held until %v", v.WorktreeState, v.HeldUntil)
	}
}
