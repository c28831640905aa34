package acp

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// drainPatience is how long output is still read once the agent has ended: a
// process that it left behind may hold the pipe for ever.
const drainPatience = 2 * time.Second

// process is the agent. It is in a process group of its own, in the session of
// this process: whoever watches over that session finds all of it. What the
// agent leaves behind when it ends by itself is left to them.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File // its input; a write to it ends when it is closed
	stdout *os.File // its output
	exited chan struct{}
}

func startProcess(argv, env []string, dir string, stderr io.Writer) (*process, error) {
	itsIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	stdout, itsOut, err := os.Pipe()
	if err != nil {
		return nil, closeAll(fmt.Errorf("start the agent: %w", err), itsIn, stdin)
	}
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), stdin: stdin, stdout: stdout, exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = env, dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = itsIn, itsOut, stderr
	p.cmd.WaitDelay = drainPatience
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = p.cmd.Start()
	_ = closeAll(nil, itsIn, itsOut)
	if err != nil {
		return nil, closeAll(fmt.Errorf("start the agent: %w", err), stdin, stdout)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its state
		_ = p.stdout.SetReadDeadline(time.Now().Add(drainPatience))
		close(p.exited)
	}()
	return p, nil
}

func closeAll(err error, files ...*os.File) error {
	for _, f := range files {
		f.Close()
	}
	return err
}

// waited tells whether the agent ended within the time.
func (p *process) waited(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// stop ends the agent: the end of its input, SIGTERM, SIGKILL, with a time
// after each but the last. It returns when the agent is gone.
func (p *process) stop(eof, term time.Duration) {
	p.stdin.Close()
	if p.waited(eof) {
		return
	}
	p.signal(unix.SIGTERM)
	if p.waited(term) {
		return
	}
	p.signal(unix.SIGKILL)
	<-p.exited
}

// signal signals the agent's process group, as long as the agent itself is
// there: later the number may be another's.
func (p *process) signal(sig syscall.Signal) {
	select {
	case <-p.exited:
	default:
		_ = unix.Kill(-p.cmd.Process.Pid, sig)
	}
}

// end says in words how the agent ended by itself.
func (p *process) end() string {
	if !p.waited(time.Second) {
		return "it closed its output"
	}
	return p.cmd.ProcessState.String()
}
