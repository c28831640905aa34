package fakecli

import (
	"bytes"
	"context"
	"crypto/sha1" // #nosec G505 -- git's own hash
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
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
	if filepath.Base(os.Args[0]) == Aider {
		os.Exit(aider(os.Args[1:]))
	}
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
	s, text, rest, err := parse(string(prompt))
	dir := orElse(s.Book, os.Getenv(booksVariable))
	if err != nil && (!errors.Is(err, errNoScript) || dir == "") {
		return fail("find the script", err)
	}
	m, err := recall(dir, os.Getenv("CW_AGENT_ID"))
	if err != nil {
		return fail("remember the runs before", err)
	}
	if s, err = m.choose(s, text); err != nil {
		return fail("find the script", err)
	}
	book, err := openBook(dir, os.Getenv("CW_RUN"))
	if err != nil {
		return fail("open the book", err)
	}
	session, resumed := sessionArgs(os.Args[2:])
	book.note(Entry{
		What: "start", PID: os.Getpid(), Run: os.Getenv("CW_RUN"), Agent: os.Getenv("CW_AGENT_ID"),
		Number: len(m.Ran), Session: session, Resumed: resumed, Prompt: hash(string(prompt)), Says: Says(rest), Env: seenEnv(),
	})
	if err := enterSession(sessionsDir(dir), session, resumed); err != nil {
		book.note(Entry{What: "gone"})
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if missing := lacks(rest, s.Expect); missing != "" {
		book.note(Entry{What: "unexpected", Output: missing})
		fmt.Fprintf(os.Stderr, "fake cli: the prompt lacks %q\n", missing)
		return ExitUnexpected
	}
	if err := m.keep(); err != nil {
		return fail("remember this run", err)
	}
	return perform(s, book, dir, session)
}

// perform does what the script says and gives the exit code.
func perform(s Script, book *bookWriter, dir, session string) int {
	if s.Deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Fprint(os.Stderr, s.Stderr)
	write(s, book)
	stopped := byAccount(s, book)
	if !stopped {
		if err := act(s, book); err != nil {
			return fail("do the work", err)
		}
	}
	if s.Forget {
		_ = os.Remove(sessionFile(sessionsDir(dir), session)) // never there without a session
	}
	if stopped {
		return 1
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

// seenEnv are digests of what the CLI saw of its account.
func seenEnv() map[string]string {
	seen := map[string]string{}
	for _, name := range []string{KeyVariable, HomeVariable} {
		if value := os.Getenv(name); value != "" {
			seen[name] = Digest(value)
		}
	}
	return seen
}

// byAccount ends the run where its account is at its limit or refused, in the
// words that the presets of this package know.
func byAccount(s Script, book *bookWriter) (stopped bool) {
	key := Digest(os.Getenv(KeyVariable))
	seconds, limited := s.Limited[key]
	if !limited {
		seconds, limited = s.Limited[AnyAccount]
	}
	refused := slices.Contains(s.Refused, key) || slices.Contains(s.Refused, AnyAccount)
	if limited || refused {
		await(s.Wait)
	}
	switch {
	case limited:
		book.note(Entry{What: "limited"})
		fmt.Fprintf(os.Stderr, "Fake usage limit reached|%d\n", time.Now().Add(time.Duration(seconds)*time.Second).Unix())
	case refused:
		book.note(Entry{What: "refused"})
		fmt.Fprintln(os.Stderr, "Fake error: invalid api key")
	default:
		return false
	}
	if s.Hang {
		hang()
	}
	return true
}

func orElse(s, def string) string {
	if s == "" {
		return def
	}
	return s
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
	var sum uint64
	put := func(piece []byte, n int) {
		if _, err := os.Stdout.Write(piece); err != nil {
			panic(err)
		}
		bytesOut += int64(len(piece))
		sum = crc64.Update(sum, sumTable(), piece)
		book.note(Entry{What: "wrote", Pieces: n, Bytes: bytesOut, Sum: sum})
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
	if err := s.talk(book); err != nil {
		return err
	}
	if s.Door != "" {
		if err := openDoor(s.Door, os.Getenv("CW_SOCKET")); err != nil {
			return err
		}
	}
	if s.Ask != nil {
		if err := ask(*s.Ask, s.Leave, book); err != nil {
			return err
		}
	}
	if s.Message != nil {
		if err := message(*s.Message, book); err != nil {
			return err
		}
	}
	await(s.Wait)
	if s.Hang {
		hang()
	}
	if s.File != "" {
		if err := os.WriteFile(s.File, []byte(s.Content), 0o644); err != nil {
			return err
		}
		book.note(Entry{What: "made", Path: s.File, Blob: Blob(s.Content)})
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
	if err := leaveSignal(s.Signal); err != nil {
		return err
	}
	if s.Linger != "" {
		book.note(Entry{What: "ready"})
		await(s.Linger)
	}
	return nil
}

// await waits until a file exists; "" for none.
func await(file string) {
	for file != "" {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(waitPoll)
	}
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

// Blob is git's name for a content.
func Blob(content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)) // #nosec G401 -- as git does
	return hex.EncodeToString(sum[:])
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
