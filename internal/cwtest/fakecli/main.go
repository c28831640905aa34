package fakecli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Command is the first argument that turns a test binary into this CLI.
const Command = "fake-cli"

// childCommand turns it into a child that a run leaves behind.
const childCommand = "fake-cli-child"

// waitPoll is the pause between two looks for a file.
const waitPoll = 5 * time.Millisecond

// Main makes the process this CLI, and never returns, when it was started as
// one; else it does nothing.
func Main() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case Command:
		os.Exit(run())
	case childCommand:
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		hang()
	}
}

// hang waits until the process is killed. A bare select would be called a
// deadlock and end it.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

func run() int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return fail("read the prompt", err)
	}
	s, err := parse(string(prompt))
	if err != nil {
		return fail("find the script", err)
	}
	book, err := openBook(s.Book, os.Getenv("CW_RUN"))
	if err != nil {
		return fail("open the book", err)
	}
	book.note(Entry{What: "start", PID: os.Getpid(), Run: os.Getenv("CW_RUN"), Agent: os.Getenv("CW_AGENT_ID")})
	if s.Deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Fprint(os.Stderr, s.Stderr)
	write(s, book)
	if err := act(s, book); err != nil {
		return fail("do the work", err)
	}
	book.note(Entry{What: "end", PID: os.Getpid()})
	switch s.Suicide {
	case "KILL":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "SEGV":
		signal.Reset(syscall.SIGSEGV)
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
	}
	return s.Exit
}

func fail(what string, err error) int {
	fmt.Fprintf(os.Stderr, "fake cli: %s: %v\n", what, err)
	return 3
}

// write writes the output and keeps the book: a count is noted only after the
// bytes are written, so that a book never promises too much.
func write(s Script, book *bookWriter) {
	stream := NewStream(s.Seed, s.Tame)
	var bytesOut int64
	put := func(piece []byte, n int) {
		if _, err := os.Stdout.Write(piece); err != nil {
			panic(err)
		}
		bytesOut += int64(len(piece))
		book.note(Entry{What: "wrote", Pieces: n, Bytes: bytesOut})
	}
	for n := 1; n <= s.Pieces; n++ {
		put(stream.Next(), n)
		if s.PaceMS > 0 {
			time.Sleep(time.Duration(s.PaceMS) * time.Millisecond) // the pace of a model, not a wait for anything
		}
	}
	if s.Raw != "" {
		put([]byte(s.Raw), s.Pieces)
	}
	if s.Big > 0 {
		put(append(bytes.Repeat([]byte{'B'}, s.Big), '\n'), s.Pieces)
	}
}

// act does everything after the output.
func act(s Script, book *bookWriter) error {
	if s.Child {
		if err := leaveChild(); err != nil {
			return err
		}
	}
	if len(s.Call) > 0 {
		out, err := exec.Command(s.Call[0], s.Call[1:]...).CombinedOutput()
		code := 0
		if err != nil {
			code = -1
			if exit := new(exec.ExitError); errors.As(err, &exit) {
				code = exit.ExitCode()
			}
		}
		book.note(Entry{What: "called", Output: string(out), Code: code})
	}
	for _, route := range s.Routes {
		code, err := callRoute(route)
		if err != nil {
			return err
		}
		book.note(Entry{What: "answered", Route: route, Code: code})
	}
	for s.Wait != "" {
		if _, err := os.Stat(s.Wait); err == nil {
			break
		}
		time.Sleep(waitPoll)
	}
	if s.Hang {
		hang()
	}
	if s.File != "" {
		if err := os.WriteFile(s.File, []byte(s.Content), 0o644); err != nil {
			return err
		}
	}
	if s.Commit != "" {
		if err := sh("git add -- " + quote(s.File) + " && git commit -q -m " + quote(s.Commit)); err != nil {
			return err
		}
	}
	if s.Shell != "" {
		if err := sh(s.Shell); err != nil {
			return err
		}
	}
	return leaveSignal(s.Signal)
}

// callRoute calls one route of the daemon as this run and gives the status of
// the answer. Streams are let go after it.
func callRoute(route string) (status int, err error) {
	method, path, _ := strings.Cut(route, " ")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a process of its own
	defer cancel()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader("{}")
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://cw.sock"+path, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+os.Getenv("CW_TOKEN"))
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", os.Getenv("CW_SOCKET"))
		},
	}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

func leaveChild() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, childCommand)
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return child.Start()
}

func sh(script string) error {
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// leaveSignal writes the signal as a careful agent does: whole or not at all.
func leaveSignal(content string) error {
	if content == "" {
		return nil
	}
	name := filepath.Join(".cw", "output", "signal.json")
	if err := os.WriteFile(name+".tmp", []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}
