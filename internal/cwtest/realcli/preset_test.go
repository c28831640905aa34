package realcli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/model"
	"cw/providers"
	"cw/providers/parsers"
)

// presetCLI is a CLI that is started exactly as its preset says, and all in
// which a test of it differs.
type presetCLI struct {
	name    string // of the preset
	env     func(t *testing.T, home, url string) []string
	quota   model.Failure // an account at its limit
	refused model.Failure // credentials that do not hold
	// lasting tells that the CLI takes minutes to give up on a quota; then
	// `make e2e-long` looks at that.
	lasting  bool
	tireless bool // it never gives up
	driven   bool // cw drives it, over ACP
	// outbound are the addresses that it tries to reach whatever is set.
	outbound []string
	blind    bool // it tells the model nothing of an exit code
	forgets  bool // a session cannot be resumed
	stubborn bool // in the middle of a tool call it goes on after a SIGTERM
}

// presetCLIs are those that no file of their own is about.
var presetCLIs = []presetCLI{
	{
		name: "opencode", quota: soon(model.OpenAIQuota()), refused: model.OpenAI401(),
		env:      func(t *testing.T, home, url string) []string { return OpenCode(t).Env(t, home, url) },
		outbound: []string{"registry.npmjs.org:443"}, blind: true,
	},
	{
		name: "gemini", quota: model.GeminiDailyQuota(), refused: model.Gemini401(),
		env: func(t *testing.T, home, url string) []string { return Gemini(t).Env(t, home, url) },
	},
	{
		name: "qwen", quota: soon(model.OpenAIQuota()), refused: model.OpenAI401(), tireless: true,
		env: func(t *testing.T, home, url string) []string { return Qwen(t).Env(t, home, url) },
	},
	{
		name: "copilot", quota: soon(model.OpenAIQuota()), refused: model.OpenAI401(),
		env: func(t *testing.T, home, url string) []string { return Copilot(t).Env(t, home, url) },
	},
	{
		name: "cline", quota: soon(model.OpenAIQuota()), refused: model.OpenAI401(), driven: true,
		env:      func(t *testing.T, home, url string) []string { return Cline(t).Env(t, home, url) },
		outbound: []string{"data.cline.bot:443"},
	},
	{
		name: "continue", quota: soon(model.OpenAIQuota()), refused: model.OpenAI401(), lasting: true,
		env:   func(t *testing.T, home, url string) []string { return Continue(t).Env(t, home, url) },
		blind: true, forgets: true,
	},
}

// soon lets a CLI that minds it try again at once, so that it gives up soon.
func soon(f model.Failure) model.Failure {
	f.Header = map[string][]string{"Retry-After": {"1"}}
	return f
}

// started is one installation of such a CLI with a repository to work in.
type started struct {
	*worker
	cli    presetCLI
	preset providers.Preset
	home   string
	cw     string // cw's own binary, for those that it drives itself
}

// finished is what a run left, read as the engine reads it.
type finished struct {
	stdout, stderr string
	state          *os.ProcessState
	summary        parsers.Summary
	limit          *cw.Limit
	refused, gone  bool // credentials, the session
}

func (f finished) String() string {
	return f.state.String() + "\nstdout:\n" + f.stdout + "\nstderr:\n" + f.stderr
}

// install makes a fresh installation that asks the model at srv.
func (c presetCLI) install(t *testing.T, srv *model.Server, cwBinary string) *started {
	t.Helper()
	home := t.TempDir()
	w := newWorker(t, "", c.env(t, home, srv.URL))
	w.git("config", "user.name", "a") // the environment of a run has no GIT_*
	w.git("config", "user.email", "a@example.invalid")
	registry, problems := providers.Load("")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	preset, err := registry.Get(c.name)
	if err != nil {
		t.Fatal(err)
	}
	return &started{worker: w, cli: c, preset: preset, home: home, cw: cwBinary}
}

// begin starts a fresh session, or goes on with one, and gives its id where it
// is chosen.
func (s *started) begin(text, session string) (*exec.Cmd, *output, string) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "prompt.md")
	write(s.t, file, text)
	in := providers.Invocation{
		Binary: s.binary(), SessionID: session, Prompt: text, PromptFile: file, Cwd: s.dir,
		RunDir: filepath.Dir(file), CW: s.cw, Root: os.Geteuid() == 0,
	}
	render := s.preset.Resume
	if session == "" {
		in.SessionID, render = s.preset.NewSessionID(), s.preset.Spawn
	}
	command, err := render(in)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 4*time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, command.Argv[0], command.Argv[1:]...)
	cmd.Dir = s.dir
	cmd.Env = providers.RunEnv(providers.EnvInput{Preset: s.preset, Caller: s.env, Home: s.home, Command: command.Env})
	if command.PromptOnStdin {
		cmd.Stdin = strings.NewReader(text)
	}
	out := &output{}
	cmd.Stdout, cmd.Stderr = &out.out, &out.err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { s.signal(syscall.SIGKILL) })
	return cmd, out, in.SessionID
}

func (s *started) binary() string {
	s.t.Helper()
	path := ""
	for _, kv := range s.env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	binary, err := s.preset.Find(path, s.home)
	if err != nil {
		s.t.Fatal(err)
	}
	return binary
}

// do runs a prompt to its end.
func (s *started) do(text, session string) finished {
	s.t.Helper()
	cmd, out, chosen := s.begin(text, session)
	out.wait(cmd)
	return s.read(cmd, out, chosen)
}

// read reads what a run left with the preset's parser and patterns.
func (s *started) read(cmd *exec.Cmd, out *output, chosen string) finished {
	s.t.Helper()
	reading, err := s.preset.NewReading(time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	f := finished{stdout: out.stdout, stderr: out.stderr, state: cmd.ProcessState}
	for _, ev := range append(reading.Feed([]byte(out.stdout)), reading.Flush()...) {
		f.summary.Add(ev)
	}
	if n := reading.Unknown(); n > 0 {
		s.t.Errorf("%d lines were not understood\n%s", n, f)
	}
	if f.summary.SessionID == "" {
		f.summary.SessionID = chosen
	}
	f.limit, f.refused, f.gone = s.preset.JudgeStderr([]byte(out.stderr), time.Now())
	if f.summary.Limit != nil {
		f.limit = f.summary.Limit
	}
	f.refused = f.refused || f.summary.AuthError
	return f
}

// tree lists the living processes of the installation: they all have its home,
// which is nobody else's.
func (s *started) tree() []int {
	var pids []int
	names, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is good
	for _, name := range names {
		env, _ := os.ReadFile(name) // gone, or not ours: empty
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && bytes.Contains(env, []byte("HOME="+s.home+"\x00")) && !isZombie(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// signal sends a signal to the whole tree.
func (s *started) signal(sig syscall.Signal) {
	for _, pid := range s.tree() {
		_ = syscall.Kill(pid, sig) // it may have ended just now
	}
}
