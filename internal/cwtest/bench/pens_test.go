//go:build linux

package bench

import (
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// First arguments that turn the test binary into another program.
const (
	agentCommand   = "bench-agent"   // an agent
	floorCommand   = "bench-floor"   // the daemon's path without a database
	starterCommand = "bench-starter" // starts runs and goes away
	echoCommand    = "bench-echo"    // gives back what it is given
)

// beOther makes the process what its first argument says, and returns when it
// says nothing of the kind.
func beOther() {
	if len(os.Args) < 2 {
		return
	}
	roles := map[string]func([]string) error{agentCommand: beAgent, floorCommand: beFloor, starterCommand: beStarter, echoCommand: beEcho}
	role, ok := roles[os.Args[1]]
	if !ok {
		return
	}
	if err := role(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, os.Args[1]+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// beAgent is an agent: it hands its standard output to the measuring process,
// which writes in its place, and ends when that lets go. 200 agents that write
// by themselves would be half of what is measured.
func beAgent(args []string) error {
	conn, err := net.Dial("unix", args[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	rights := syscall.UnixRights(int(os.Stdout.Fd()))
	if _, _, err := conn.(*net.UnixConn).WriteMsgUnix([]byte(os.Getenv("CW_AGENT_ID")), rights, nil); err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// preset is the YAML of the provider whose CLI is beAgent.
func preset(self, socket string) string {
	return fmt.Sprintf("name: pen\ntitle: Pen\ncommand:\n  paths: [%q]\nspawn:\n  args: [%q, %q]\npromptMode: stdin\nparser: lines\nstop:\n  grace: 1s\n", self, agentCommand, socket)
}

// pens are the standard outputs of the agents, in the hands of the measuring
// process.
type pens struct {
	r        *rig
	listener *net.UnixListener

	mu   sync.Mutex
	held map[cw.AgentID]*pen // guarded by mu

	arrivals chan arrival // each agent whose process runs
}

// arrivalsMax is how many agents a row may have begin and never look at.
const arrivalsMax = 1000

// pen is the standard output of one agent, and the book of what was written.
type pen struct {
	out   *os.File
	conn  net.Conn // the agent ends with it
	bytes int64
	sum   uint64
}

// addSum goes on with the sum of a book.
func addSum(sum uint64, data []byte) uint64 {
	return crc64.Update(sum, crc64.MakeTable(crc64.ECMA), data) // this table is made once
}

// newPens makes a lab with the provider "pen" and starts its daemon.
func newPens(r *rig, env ...string) (*lab.Lab, *pens) {
	r.Helper()
	p := &pens{r: r, held: map[cw.AgentID]*pen{}, arrivals: make(chan arrival, arrivalsMax)}
	r.Cleanup(p.release) // after the lab has ended the agents, so that none ends by itself
	l := lab.New(r, binary)
	l.Env = env
	socket := filepath.Join(string(l.Home), "pens.sock")
	self, err := os.Executable()
	r.must(err)
	r.must(os.WriteFile(filepath.Join(l.Home.Providers(), "pen.yaml"), []byte(preset(self, socket)), 0o600))
	p.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	r.must(err)
	done := make(chan struct{})
	go func() { p.accept(); close(done) }() // ends with the listener
	r.Cleanup(func() {
		_ = p.listener.Close()
		<-done
	})
	l.Start()
	return l, p
}

func (p *pens) accept() {
	for {
		conn, err := p.listener.AcceptUnix()
		if err != nil {
			return
		}
		if err := p.take(conn); err != nil {
			p.r.Errorf("an agent's standard output: %v", err)
		}
	}
}

func (p *pens) take(conn *net.UnixConn) error {
	name, space := make([]byte, 64), make([]byte, syscall.CmsgSpace(4))
	n, oob, _, _, err := conn.ReadMsgUnix(name, space)
	at := time.Now()
	if err != nil {
		return err
	}
	messages, err := syscall.ParseSocketControlMessage(space[:oob])
	if err != nil || len(messages) != 1 {
		return fmt.Errorf("%d control messages: %w", len(messages), err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return fmt.Errorf("%d descriptors: %w", len(fds), err)
	}
	syscall.CloseOnExec(fds[0])
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrivals <- arrival{cw.AgentID(name[:n]), at}
	p.held[cw.AgentID(name[:n])] = &pen{out: os.NewFile(uintptr(fds[0]), "stdout"), conn: conn}
	return nil
}

// spawn starts n agents and waits until all have given their pens.
func (p *pens) spawn(l *lab.Lab, n int) []cw.AgentID {
	p.r.Helper()
	ids := make([]cw.AgentID, n)
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range n {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ids[i] = p.spawnOne(l)
		})
	}
	wait.Wait()
	until(p.r, "all agents write", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.r.Failed() || len(p.held) >= n
	})
	if p.r.Failed() {
		p.r.FailNow()
	}
	return ids
}

// of gives an agent's pen.
func (p *pens) of(id cw.AgentID) *pen {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[id] == nil {
		p.r.Fatalf("no pen of agent %s", id)
	}
	return p.held[id]
}

// release gives all pens back.
func (p *pens) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, pen := range p.held {
		_ = pen.conn.Close()
		_ = pen.out.Close()
		delete(p.held, id)
	}
}

// lineLength is the length of a line with its end, in bytes.
const lineLength = 500

// stampLength is the length of the time at the start of each line.
const stampLength = 20

// line makes a line that says when it was made.
func (r *rig) line(buf []byte, n int) []byte {
	buf = fmt.Appendf(buf[:0], "%0*d line %d ", stampLength, time.Since(r.begun), n)
	for len(buf) < lineLength-1 {
		buf = append(buf, "all work and no play makes a line "...)
	}
	return append(buf[:lineLength-1], '\n')
}

// age tells how long ago a line was made.
func (r *rig) age(line []byte) (time.Duration, error) {
	if len(line) < stampLength {
		return 0, fmt.Errorf("%q is no line of ours", line)
	}
	at, err := strconv.ParseInt(string(line[:stampLength]), 10, 64)
	return time.Since(r.begun) - time.Duration(at), err
}

// write writes one line and notes it.
func (p *pen) write(line []byte) error {
	n, err := p.out.Write(line)
	p.bytes += int64(n)
	p.sum = addSum(p.sum, line[:n])
	return err
}

// writeAll has each pen write rate lines a second, evenly spread, for a time.
// It is one goroutine, so that writing costs the machine little.
func writeAll(r *rig, pens []*pen, perSecond int, lasting time.Duration) {
	r.Helper()
	gap := time.Second / time.Duration(perSecond*len(pens))
	begin, buf := time.Now(), make([]byte, 0, 2*lineLength)
	total := int(lasting / gap)
	for n := 0; n < total; {
		due := min(total, int(time.Since(begin)/gap))
		for ; n < due; n++ {
			buf = r.line(buf, n)
			r.must(pens[n%len(pens)].write(buf))
		}
		time.Sleep(max(gap, time.Millisecond)) // the pace of agents, not a wait for anything
	}
}

// patience bounds every wait; on a loaded machine things are slow.
const patience = 2 * time.Minute

// until waits for something to come true.
func until(r *rig, what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}
