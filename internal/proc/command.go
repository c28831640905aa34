package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// defaultOutput bounds the output of a Command that names no bound.
	defaultOutput = 1 << 20
	// pipePatience is how long output is still read once the command has
	// ended: a process it left behind may hold the pipe for ever.
	pipePatience = time.Second
)

// ErrTooMuchOutput says that a helper command was ended because it wrote more
// than its bound.
var ErrTooMuchOutput = errors.New("too much output")

// Command is a short helper command.
type Command struct {
	// Argv is the command with its arguments; without a slash it is looked up
	// in the PATH of Env.
	Argv []string
	// Env is the whole environment.
	Env []string
	// Dir is the working directory; empty means this process's.
	Dir string
	// MaxBytes bounds stdout and stderr each; 0 means 1 MiB.
	MaxBytes int
	// Stdin is what the command reads; nil means nothing.
	Stdin []byte
	// DropRest lets a command that writes more than MaxBytes go on, and drops
	// the rest.
	DropRest bool
}

// Output runs a helper command and returns what it wrote and its
// exit code (-1 when a signal ended it). A code other than 0 is not an error.
// When ctx ends or the output is too long, its whole process group is killed.
func Output(ctx context.Context, c Command) (stdout, stderr []byte, code int, err error) {
	if len(c.Argv) == 0 {
		return nil, nil, -1, errors.New("run command: no command")
	}
	path, err := LookPath(c.Argv[0], variable(c.Env, "PATH"))
	if err != nil {
		return nil, nil, -1, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := c.MaxBytes
	if limit <= 0 {
		limit = defaultOutput
	}
	out := &boundedBuffer{left: limit, full: func() { cancel(ErrTooMuchOutput) }}
	if c.DropRest {
		out.full = func() {}
	}
	errOut := &boundedBuffer{left: limit, full: out.full}
	closeOnExec()
	cmd := exec.CommandContext(ctx, path, c.Argv[1:]...)
	cmd.Args[0] = c.Argv[0]
	cmd.Env, cmd.Dir = c.Env, c.Dir
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.Stdout, cmd.Stderr = out, errOut
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = pipePatience
	err = cmd.Run()
	code = -1
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	switch cause := context.Cause(ctx); {
	case cause != nil:
		err = fmt.Errorf("run %s: %w", c.Argv[0], cause)
	case errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		err = nil
	case err != nil:
		err = fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	return out.b.Bytes(), errOut.b.Bytes(), code, err
}

// boundedBuffer keeps what fits and calls full when more comes.
type boundedBuffer struct {
	b    bytes.Buffer
	left int
	full func()
}

func (w *boundedBuffer) Write(p []byte) (int, error) {
	kept := min(len(p), w.left)
	w.b.Write(p[:kept])
	w.left -= kept
	if kept < len(p) {
		w.full()
	}
	return len(p), nil // the rest is read and dropped, so that nothing blocks
}

// LookPath finds a program in a list of directories as PATH has them. A name
// with a slash is only checked. The error is exec.ErrNotFound, or
// fs.ErrPermission when the file is there and cannot be executed. Entries of
// pathEnv that are not absolute are passed over: they would name something
// else in every directory.
func LookPath(name, pathEnv string) (string, error) {
	if strings.Contains(name, "/") {
		if err := executable(name); err != nil {
			return "", &exec.Error{Name: name, Err: err}
		}
		return name, nil
	}
	var denied error
	for _, dir := range filepath.SplitList(pathEnv) {
		if !filepath.IsAbs(dir) || name == "" {
			continue
		}
		path := filepath.Join(dir, name)
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied == nil {
		denied = exec.ErrNotFound
	}
	return "", &exec.Error{Name: name, Err: denied}
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory: %w", path, fs.ErrPermission)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable: %w", path, fs.ErrPermission)
	}
	return nil
}

// variable is the value of a variable in an environment; the last one counts.
func variable(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}
