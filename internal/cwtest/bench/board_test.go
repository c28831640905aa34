//go:build linux

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/cwtest/lab"
)

// screen is a pseudo-terminal on which cw top draws.
type screen struct {
	r      *rig
	master *os.File
	cmd    *exec.Cmd

	mu    sync.Mutex
	drawn []byte // guarded by mu: what was drawn last
	bytes int    // guarded by mu: of all that was drawn
}

// screenMost is how much is held of what was drawn.
const screenMost = 1 << 16

// openBoard starts cw top on a terminal of 160 columns and 50 lines, which is the
// most that it draws.
func openBoard(r *rig, l *lab.Lab) *screen {
	r.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	r.must(err)
	fd := int(master.Fd())
	r.must(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	r.must(err)
	r.must(unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 160}))
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	r.must(err)
	s := &screen{r: r, master: master, cmd: exec.Command(binary, "top")}
	s.cmd.Env = append(l.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	r.must(s.cmd.Start())
	r.must(slave.Close())
	go s.read()
	return s
}

// read ends when nobody has the other side any more.
func (s *screen) read() {
	buffer := make([]byte, 1<<14)
	for {
		n, err := s.master.Read(buffer)
		s.mu.Lock()
		s.bytes += n
		s.drawn = append(s.drawn, buffer[:n]...)
		if over := len(s.drawn) - screenMost; over > 0 {
			s.drawn = append([]byte(nil), s.drawn[over:]...)
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// shows tells whether a text was drawn lately.
func (s *screen) shows(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.drawn, []byte(text))
}

func (s *screen) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// quit has the board end as a person would.
func (s *screen) quit() {
	s.r.Helper()
	_, err := s.master.WriteString("q")
	s.r.must(err)
	if err := s.cmd.Wait(); err != nil {
		s.r.Errorf("cw top ended with %v", err)
	}
	s.r.must(s.master.Close())
}

// board is cw top beside agents that write, and beside a cw status --watch, which
// follows the same events and draws nothing.
func board(r *rig) []figure {
	l, p := newPens(r)
	var pens []*pen
	for _, id := range p.spawn(l, r.agents) {
		pens = append(pens, p.of(id))
	}
	watch := exec.Command(binary, "status", "--watch")
	watch.Env = l.Environ()
	r.must(watch.Start())
	defer func() { _ = watch.Process.Kill(); _ = watch.Wait() }()

	var opened, lists []time.Duration
	for range r.fewRounds {
		lists = append(lists, ran(r, l.Environ(), binary, "agent", "list", "--json"))
		var s *screen
		opened = append(opened, took(func() {
			s = openBoard(r, l)
			until(r, "the board is live", func() bool { return s.shows("live") })
		}))
		s.quit()
	}

	s := openBoard(r, l)
	until(r, "the board shows a log", func() bool { return s.shows("live") && s.shows("following") })
	pid := s.cmd.Process.Pid
	drawn, before, beside, begin := s.total(), cpu(r, pid), cpu(r, watch.Process.Pid), time.Now()
	writeAll(r, pens, linesPerSecond, r.load)
	lasted := time.Since(begin).Seconds()
	ours := time.Duration(float64(cpu(r, pid)-before) / lasted)
	floor := time.Duration(float64(cpu(r, watch.Process.Pid)-beside) / lasted)
	until(r, "a line of the log is drawn", func() bool { return s.shows("all work and no play") })
	drawn = s.total() - drawn
	_, most := resident(r, pid)
	_, floorMost := resident(r, watch.Process.Pid)
	s.quit()

	what := fmt.Sprintf("`cw top`, %d agents × %d lines/s", r.agents, linesPerSecond)
	return []figure{
		ratio(fmt.Sprintf("`cw top` with %d agents, to the first screen with figures", r.agents), opened, lists, "`cw agent list --json`", 3),
		{
			what: what + ": processor time", ours: percent(ours), floor: "`cw status --watch`: " + percent(floor),
			value: 100 * ours.Seconds(), goal: goal{bound: 10, unit: "% of a core"},
		},
		{
			what: what + ": memory (RSS), at most", ours: round(most) + " MB", floor: "`cw status --watch`: " + round(floorMost) + " MB",
			value: most / floorMost, goal: goal{bound: 2, unit: "×"},
		},
		{
			what: what + ": drawn", ours: round(float64(drawn)/lasted/1000) + " kB/s",
			value: float64(drawn) / lasted / 1000, goal: goal{bound: 20, unit: "kB/s"},
		},
	}
}
