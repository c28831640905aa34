package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"cw/internal/board/live"
	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/service"
)

// defaultWidth is the width of a terminal that does not tell its own.
const defaultWidth = 80

// streams are the three streams of the process, and what they are connected to.
type streams struct {
	in             io.Reader
	out, err       io.Writer
	outTTY, errTTY bool
	inTTY          bool
	width          func() int // columns of the terminal behind err or out
	forget         func()     // drops what was typed and not read yet; nil: nothing to drop
	// background lets this process go on in the background of its terminal, where
	// nothing can be read; nil: there is no terminal.
	background func()
	// hidden asks for a line on the terminal without showing it; nil: stdin is
	// no terminal.
	hidden func(prompt string) (string, error)
}

// processStreams are the streams of this process.
func processStreams() streams {
	return streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		outTTY:     term.IsTerminal(int(os.Stdout.Fd())),
		errTTY:     term.IsTerminal(int(os.Stderr.Fd())),
		inTTY:      term.IsTerminal(int(os.Stdin.Fd())),
		forget:     func() { forgetTyped(os.Stdin) },
		background: func() { signal.Ignore(syscall.SIGTTIN) }, // reading fails then, and does not stop the process
		hidden: func(prompt string) (string, error) {
			fmt.Fprint(os.Stderr, prompt)
			line, err := term.ReadPassword(int(os.Stdin.Fd()))
			fmt.Fprintln(os.Stderr)
			return string(line), err
		},
		width: func() int {
			for _, f := range []*os.File{os.Stderr, os.Stdout} {
				if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
					return w
				}
			}
			return defaultWidth
		},
	}
}

// environ is the environment of the caller.
type environ map[string]string

func parseEnviron(list []string) environ {
	env := make(environ, len(list))
	for _, entry := range list {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}

// list gives the environment in the form that processes are started with.
func (e environ) list() []string {
	out := make([]string, 0, len(e))
	for _, name := range slices.Sorted(maps.Keys(e)) {
		out = append(out, name+"="+e[name])
	}
	return out
}

// without gives a copy that lacks the variables whose names begin with prefix.
func (e environ) without(prefix string) environ {
	out := maps.Clone(e)
	maps.DeleteFunc(out, func(name, _ string) bool { return strings.HasPrefix(name, prefix) })
	return out
}

// app is what commands work with. Tests put buffers and fakes in its place.
type app struct {
	streams
	env  environ
	dir  string // the working directory, absolute; "" when it was deleted
	now  func() time.Time
	json bool // --json
	// understood is set once a command has understood its arguments: an error
	// before that is one of usage.
	understood bool

	farEnds
}

// farEnds are the parts of the program that commands reach. The wiring is in
// connect.go and serve.go.
type farEnds struct {
	// home is where everything of cw is kept.
	home func() (cw.Home, error)
	// inside tells whether this process belongs to an agent.
	inside func(cw.Home) bool
	// connect gives the daemon, started when none runs; reach never starts it.
	connect func(context.Context) (cw.Services, error)
	reach   func(context.Context) (cw.Services, error)
	// stay is connect for commands that wait anyhow: inside of a run a daemon that
	// is away is waited for until ctx ends.
	stay func(context.Context) (cw.Services, error)
	// serve is the daemon itself, until ctx ends, with settings that the command
	// line gives; examine looks at the machine.
	serve   func(ctx context.Context, home cw.Home, flags map[string]string, terminal io.Writer) error
	examine func(context.Context, cw.Home) []daemon.Check
	// rebuild makes damaged databases whole, without a daemon.
	rebuild func(context.Context, daemon.RecoverOptions) (daemon.RecoverReport, error)
	// service says what a service of this user runs, and by what it is managed.
	service func(cw.Home) (service.Options, error)
	// end asks a daemon to end that cannot be asked over its socket, and gives
	// its pid; gone waits until a process has ended.
	end func(cw.Home) (pid int, err error)
	// holder is the pid of the live process that holds the home, 0 without one.
	holder func(cw.Home) int
	gone   func(ctx context.Context, pid int) error
	// child runs a command in the caller's terminal until it ends.
	child func(command, env []string) error
	// browser is the command that shows a file in the user's browser, without the
	// file; browse starts such a command and leaves it running.
	browser func() (argv []string, ok bool)
	browse  func(argv []string) error
	// within does so in a folder, with stdout for the command's own output.
	within func(dir string, command, env []string) error
	// board shows the terminal board until somebody quits or ctx ends.
	board func(context.Context, live.Options) error
	// log writes the last lines of a file, and with follow what is added to it.
	log func(ctx context.Context, path string, lines int, w io.Writer, follow bool) error
}

// run executes one command line and gives the exit code.
func run(ctx context.Context, args []string, s streams, env []string) int {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // a deleted directory: what needs none still works
	}
	a := &app{streams: s, env: parseEnviron(env), dir: dir, now: time.Now}
	a.wire()
	return a.execute(ctx, args)
}

// execute is run after the wiring: the one place where errors are printed.
func (a *app) execute(ctx context.Context, args []string) int {
	out := &checkedWriter{w: a.out}
	a.out = out
	root := newRootCmd(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.failed()
	}
	if err == nil {
		return 0
	}
	var own childExit
	if errors.As(err, &own) {
		return int(own)
	}
	if !a.understood { // the flags behind a bad one were not read
		if end := slices.Index(args, "--"); end >= 0 {
			args = args[:end]
		}
		a.json = a.json || slices.Contains(args, "--json")
	}
	return a.fail(explain(ctx, err, a.understood))
}

// checkedWriter keeps the first error of a stream, so that what prints in many
// small steps need not look at each.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// failed is the error of an answer that nobody got. CodeFailed.
func (c *checkedWriter) failed() error {
	if c.err == nil {
		return nil
	}
	return cw.Errorf(cw.CodeFailed, "the answer cannot be written to stdout").Because(c.err)
}

// abs makes a path of the caller absolute. CodeFailed when it depends on a
// working directory that is gone.
func (a *app) abs(path string) (string, error) {
	switch {
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	case a.dir == "":
		return "", cw.Errorf(cw.CodeFailed, "the working directory is gone").
			WithHint("cd to a directory that is there, or give absolute paths")
	}
	return filepath.Join(a.dir, path), nil
}

// printf writes to standard output.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// note writes a line for people to standard error.
func (a *app) note(format string, args ...any) {
	fmt.Fprintln(a.err, clean(fmt.Sprintf(format, args...)))
}

// printJSON writes one JSON value to standard output.
func (a *app) printJSON(v any) error { return writeJSON(a.out, v, "  ") }

// printJSONLine writes one JSON value as one line, for streams.
func (a *app) printJSONLine(v any) error { return writeJSON(a.out, v, "") }

func writeJSON(w io.Writer, v any, indent string) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	_, err := io.WriteString(w, escapeControls(b.String()))
	return err
}

// paint gives the colours for a stream.
func (a *app) paint(terminal bool) paint {
	return paint{on: terminal && a.env["NO_COLOR"] == "" && a.env["TERM"] != "dumb"}
}

// version tells which build this is.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(v, s.Value[:min(12, len(s.Value))]) {
			v += "+" + s.Value[:min(12, len(s.Value))]
		}
	}
	return v
}
