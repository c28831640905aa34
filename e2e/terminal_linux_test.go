package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
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
