package acp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

var update = flag.Bool("update", false, "write the golden files anew")

// heardLines is where the lines of the recordings are kept: they are what the
// parser is held against.
const heardLines = "../../providers/parsers/testdata/acp"

// config is a turn with a scripted agent. Waits are long where a test does not
// want their end: then it would fail.
func config(t *testing.T, agent string) (cfg Config, stderr func() string) {
	t.Helper()
	errFile, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { errFile.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{
			Argv: []string{self}, Env: append(os.Environ(), agentVariable+"="+agent), Cwd: t.TempDir(),
			Prompt: strings.NewReader("do the job"), Err: errFile, Version: "1",
			Waits: Waits{Answer: time.Minute, Cancel: time.Minute, EOF: time.Minute, Term: time.Minute},
		}, func() string {
			data, _ := os.ReadFile(errFile.Name())
			return string(data)
		}
}

// turn does a turn and gives its lines.
func turn(t *testing.T, cfg Config) ([]string, error) {
	t.Helper()
	var out bytes.Buffer
	cfg.Out = &out
	err := Run(t.Context(), cfg)
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}

// TestRecordings plays what real agents said. The lines that come of it are the
// recordings of the parser.
func TestRecordings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(paths) < 20 {
		t.Fatal(len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			abs, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			cfg, stderr := config(t, "play "+abs)
			if strings.HasSuffix(name, "-load") {
				cfg.Resume = recordedSession(t, path)
			}
			if name == "gemini-acp-yolo" {
				cfg.Mode = "yolo"
			}
			lines, err := turn(t, cfg)
			last := lines[len(lines)-1]
			if ended := strings.HasPrefix(last, `{"type":"acp.result"`); ended != (err == nil) {
				t.Errorf("%v after %s", err, last)
			}
			if text := stderr(); text != "" {
				t.Error(text)
			}
			holdGolden(t, filepath.Join(heardLines, name+".jsonl"), strings.Join(lines, "\n")+"\n")
		})
	}
}

func recordedSession(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(data), `"sessionId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatal("no session in ", path)
	}
	return id
}

func holdGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, cmp.Diff(string(want), got))
	}
}

// said is a chunk as a line has it.
func said(text string) string {
	return `{"type":"acp.update","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + strconv.Quote(text) + `}}}`
}

const (
	begun  = `{"type":"acp.init","sessionId":"s1","agent":{"name":"scripted","version":"1"}}`
	result = `{"type":"acp.result","stopReason":"end_turn"}`
)

// TestTurns plays what agents may do to a driver.
func TestTurns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		agent  string
		change func(*Config)
		want   []string
		err    string
		stderr string
	}{
		{
			agent: "asks",
			want: []string{
				begun,
				`{"type":"acp.permission","toolCall":{"toolCallId":"t","content":[{"type":"hologram"}]},"option":{"kind":"allow_always","name":"a","optionId":"always"}}`,
				said(`0 {"outcome":{"optionId":"always","outcome":"selected"}}`),
				`{"type":"acp.permission","toolCall":{"toolCallId":"t"}}`,
				said(`3 {"outcome":{"outcome":"cancelled"}}`),
				`{"type":"acp.refused","method":"craft/drainMidTurnQueue"}`,
				said(`"three" {"code":-32601,"message":"Method not found","data":{"method":"craft/drainMidTurnQueue"}}`),
				`{"type":"acp.refused","method":"fs/read_text_file"}`,
				said(`1 {"code":-32601,"message":"Method not found","data":{"method":"fs/read_text_file"}}`),
				result,
			},
		},
		{
			agent:  "garbage",
			want:   []string{begun, `{"type":"acp.warning","message":"an update cannot be read","data":{"sessionId":"s1"}}`, said("still here"), result},
			stderr: "Welcome to the agent!\n[1,2\n{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}\n",
		},
		{
			agent: "dies",
			want:  []string{begun, said("half a wor"), `{"type":"acp.error","method":"session/prompt","message":"session/prompt: the agent ended in the middle of its turn: exit status 3"}`},
			err:   "session/prompt: the agent ended in the middle of its turn: exit status 3",
		},
		{
			agent: "last words",
			want:  []string{begun, said("bye"), result},
		},
		{
			agent:  "silent",
			change: func(cfg *Config) { cfg.Waits.Answer = time.Second },
			want:   []string{`{"type":"acp.error","method":"initialize","message":"initialize: the agent gave no answer within 1s"}`},
			err:    "initialize: the agent gave no answer within 1s",
		},
		{
			agent: "deaf",
			change: func(cfg *Config) {
				cfg.Waits = Waits{Answer: time.Second, EOF: time.Millisecond, Term: time.Millisecond}
			},
			want: []string{`{"type":"acp.error","method":"initialize","message":"initialize: the agent gave no answer within 1s"}`},
			err:  "initialize: the agent gave no answer within 1s",
		},
		{
			agent:  "no load",
			change: func(cfg *Config) { cfg.Resume = "s0" },
			want:   []string{`{"type":"acp.error","method":"session/load","message":"session/load: the agent cannot go on with a session"}`},
			err:    "session/load: the agent cannot go on with a session",
		},
		{
			agent:  "refuses mode",
			change: func(cfg *Config) { cfg.Mode = "yolo" },
			want:   []string{`{"type":"acp.init","sessionId":"s1"}`, `{"type":"acp.warning","message":"the agent refused the mode yolo: no mode yolo"}`, result},
		},
		{
			agent:  "models",
			change: func(cfg *Config) { cfg.Model = "m1" },
			want:   []string{`{"type":"acp.init","sessionId":"s1","model":"m1"}`, result},
		},
		{
			agent:  "models",
			change: func(cfg *Config) { cfg.Model = "m9" },
			want:   []string{`{"type":"acp.init","sessionId":"s1","model":"m9"}`, `{"type":"acp.error","method":"session/set_model","code":-32602,"message":"no such model"}`},
			err:    `session/set_model: {"code":-32602,"message":"no such model"}`,
		},
		{
			agent:  "options",
			change: func(cfg *Config) { cfg.Model = "m1" },
			want:   []string{`{"type":"acp.init","sessionId":"s1","model":"m1"}`, said("s1 model m1"), result},
		},
		{
			agent: "odd answer",
			want: []string{
				`{"type":"acp.init","sessionId":"s1","agent":5,"model":"m"}`,
				`{"type":"acp.error","method":"session/prompt","code":-32603,"message":"\"no object\""}`,
			},
			err: `session/prompt: {"code":-32603,"message":"\"no object\""}`,
		},
		{
			agent:  "no such program",
			change: func(cfg *Config) { cfg.Argv = []string{"/nowhere/agent"} },
			want:   []string{`{"type":"acp.error","message":"start the agent: fork/exec /nowhere/agent: no such file or directory"}`},
			err:    "start the agent: fork/exec /nowhere/agent: no such file or directory",
		},
		{
			agent:  "no such servers",
			change: func(cfg *Config) { cfg.Servers = "/nowhere/mcp.json" },
			want:   []string{`{"type":"acp.error","message":"read MCP servers: open /nowhere/mcp.json: no such file or directory"}`},
			err:    "read MCP servers: open /nowhere/mcp.json: no such file or directory",
		},
	}
	for _, tt := range tests {
		t.Run(tt.agent, func(t *testing.T) {
			t.Parallel()
			cfg, stderr := config(t, tt.agent)
			if tt.change != nil {
				tt.change(&cfg)
			}
			lines, err := turn(t, cfg)
			if diff := cmp.Diff(tt.want, lines); diff != "" {
				t.Error(diff)
			}
			if text := fmt.Sprint(err); text != tt.err && (err != nil || tt.err != "") {
				t.Errorf("error %q, want %q", text, tt.err)
			}
			if err != nil && cw.ErrorCode(err) != cw.CodeFailed {
				t.Errorf("code %s", cw.ErrorCode(err))
			}
			if text := stderr(); text != tt.stderr {
				t.Errorf("stderr %q, want %q", text, tt.stderr)
			}
		})
	}
}

// TestSession sends what the caller gave, and tells nothing of a history that
// is played again.
func TestSession(t *testing.T) {
	t.Parallel()
	servers := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"mcpServers":{"web":{"type":"http","url":"http://x","headers":{"b":"2","a":"1"}},"cw":{"command":"/bin/cw","args":["mcp"],"env":{"A":"b"}},"old":{"type":"sse","url":"http://y"},"bare":{"command":"/b"}}}`
	if err := os.WriteFile(servers, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list := `{"args":[],"command":"/b","env":[],"name":"bare"} {"args":["mcp"],"command":"/bin/cw","env":[{"name":"A","value":"b"}],"name":"cw"} ` +
		`{"headers":[],"name":"old","type":"sse","url":"http://y"} {"headers":[{"name":"a","value":"1"},{"name":"b","value":"2"}],"name":"web","type":"http","url":"http://x"}`
	for _, resume := range []string{"", "s0"} {
		t.Run("resume "+resume, func(t *testing.T) {
			t.Parallel()
			cfg, _ := config(t, "echo")
			cfg.Servers, cfg.Resume = servers, resume
			first, method := `{"type":"acp.init","sessionId":"s1"}`, "session/new"
			if resume != "" {
				first, method = `{"type":"acp.init","sessionId":"s1","resumed":true}`, "session/load"
			}
			lines, err := turn(t, cfg)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{first, said(method + " " + resume + " do the job in " + cfg.Cwd + " with " + list + ", process in " + cfg.Cwd), result}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBadServers refuses a file that would connect the agent to nothing.
func TestBadServers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`:                               "unexpected end of JSON input",
		`{"mcpServers":{"a":{}}}`:         `server "a" has neither a command nor a url`,
		strings.Repeat(" ", serversMax+1): fmt.Sprintf("has more than %d bytes", serversMax),
	} {
		path := filepath.Join(t.TempDir(), "mcp.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readServers(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestLarge passes on large messages, both ways.
func TestLarge(t *testing.T) {
	t.Parallel()
	cfg, _ := config(t, "large")
	cfg.Prompt = strings.NewReader(strings.Repeat("p", 12<<20))
	lines, err := turn(t, cfg)
	if err != nil || len(lines) != 4 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	if text := lines[1]; len(text) < 5<<20 || !strings.HasSuffix(text, `xxxend"}}}`) {
		t.Errorf("a line of %d bytes", len(text))
	}
	if lines[2] != said(strconv.Itoa(12<<20)) {
		t.Error(lines[2])
	}
}

// TestFlood loses nothing when the agent writes faster than its lines are read.
func TestFlood(t *testing.T) {
	t.Parallel()
	cfg, _ := config(t, "floods")
	from, to := io.Pipe()
	cfg.Out = to
	ended := make(chan error, 1)
	go func() {
		err := Run(t.Context(), cfg)
		to.Close()
		ended <- err
	}()
	lines, n := bufio.NewScanner(from), 0
	for lines.Scan() {
		if want := fmt.Sprintf(`"n":%d}}`, n); strings.Contains(lines.Text(), `"n":`) {
			if !strings.HasSuffix(lines.Text(), want) {
				t.Fatalf("%s, want %s", lines.Text(), want)
			}
			n++
		}
	}
	if err := <-ended; err != nil || n != 20_000 {
		t.Errorf("%d of 20000, %v", n, err)
	}
}

// TestCancel tells the agent, and waits for its own end of the turn.
func TestCancel(t *testing.T) {
	t.Parallel()
	cfg, _ := config(t, "cancels")
	lines, err := cancelled(t, cfg, "working")
	want := []string{
		begun, said("working"),
		`{"type":"acp.permission"}`,
		said(`{"outcome":{"outcome":"cancelled"}}`),
		`{"type":"acp.result","stopReason":"cancelled"}`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if cw.ErrorCode(err) != cw.CodeInterrupted || cw.ExitCode(err) != 130 {
		t.Error(err)
	}
}

// TestStubborn ends an agent that hears nothing, and leaves nothing of it.
func TestStubborn(t *testing.T) {
	t.Parallel()
	cfg, _ := config(t, "stubborn")
	cfg.Waits = Waits{Answer: time.Minute, Cancel: time.Millisecond, EOF: time.Millisecond, Term: time.Millisecond}
	lines, err := cancelled(t, cfg, "pid ")
	if cw.ErrorCode(err) != cw.CodeInterrupted || len(lines) != 2 {
		t.Error(err, lines)
	}
	if pid := number(t, lines[1]); syscall.Kill(pid, 0) == nil {
		t.Error("the agent lives")
	}
}

// TestHeldPipe: an agent whose output is held open by a child is over all the
// same.
func TestHeldPipe(t *testing.T) {
	t.Parallel()
	cfg, _ := config(t, "holds pipe")
	lines, err := turn(t, cfg)
	if err == nil || !strings.Contains(err.Error(), "exit status 4") || len(lines) != 3 {
		t.Fatal(err, lines)
	}
	if err := syscall.Kill(number(t, lines[1]), syscall.SIGKILL); err != nil {
		t.Error(err) // it was there, and this test made it
	}
}

// number is the number in a line that was said.
func number(t *testing.T, text string) int {
	t.Helper()
	var word string
	var n int
	_, rest, _ := strings.Cut(text, `"text":"`)
	if _, err := fmt.Sscanf(rest, "%s %d", &word, &n); err != nil {
		t.Fatal(text, err)
	}
	return n
}

// cancelled does a turn that is cancelled once the agent said a word.
func cancelled(t *testing.T, cfg Config, word string) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &watchedBuffer{word: word, seen: cancel}
	cfg.Out = out
	err := Run(ctx, cfg)
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}

// watchedBuffer calls seen when a word was written.
type watchedBuffer struct {
	bytes.Buffer
	word string
	seen func()
}

func (b *watchedBuffer) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(b.word)) {
		b.seen()
	}
	return b.Buffer.Write(p)
}

// TestNoPrompt starts nothing without one.
func TestNoPrompt(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{"": "there is no prompt", strings.Repeat("x", promptMax+1): "more than"} {
		cfg, _ := config(t, "dies")
		cfg.Prompt = strings.NewReader(prompt)
		if lines, err := turn(t, cfg); cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), want) || lines[0] != "" {
			t.Error(lines, err)
		}
	}
}

// TestOutputGone is an error: a turn of which nobody learns did not end well.
func TestOutputGone(t *testing.T) {
	t.Parallel()
	cfg, _ := config(t, "last words")
	cfg.Out = brokenWriter{}
	if err := Run(t.Context(), cfg); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// TestCheck refuses what cannot work.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{{Cwd: "/"}, {Argv: []string{"x"}, Cwd: "here"}} {
		if cw.ErrorCode(cfg.Check()) != cw.CodeInvalid {
			t.Error(cfg)
		}
	}
	if err := (Config{Argv: []string{"x"}, Cwd: "/"}).Check(); err != nil {
		t.Error(err)
	}
}

// TestAnswerBeforeEnd: an answer that is there is given, whatever else is over.
func TestAnswerBeforeEnd(t *testing.T) {
	t.Parallel()
	ended, deaf := make(chan struct{}), make(chan struct{})
	close(ended)
	close(deaf)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		a := asked{conn: &conn{ended: ended, deaf: deaf, endErr: errEnded}, answer: make(chan *received, 1)}
		a.answer <- &received{Result: []byte("{}")}
		if _, err := a.wait(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := a.wait(ctx); err == nil {
			t.Fatal("no answer, and no error")
		}
	}
}

// TestMessageTooLong ends the exchange: an answer may have been in it, and
// nobody would ever learn.
func TestMessageTooLong(t *testing.T) {
	t.Parallel()
	lines := lineReader{r: bufio.NewReader(io.LimitReader(zeros{}, messageMax+2))}
	if _, err := lines.next(); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
	lines = lineReader{r: bufio.NewReader(strings.NewReader("one\ntwo"))}
	var got []string
	for text, err := lines.next(); err == nil; text, err = lines.next() {
		got = append(got, string(text))
	}
	if diff := cmp.Diff([]string{"one\n", "two"}, got); diff != "" {
		t.Error(diff)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
