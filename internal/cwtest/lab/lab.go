package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

const (
	// patience bounds every wait in tests. Only a failing test waits as long: with a
	// dozen daemons on two processors a request takes up to 15 s, and a process of
	// node 10 s to start.
	patience = 4 * time.Minute
	// look is the time between two looks. A request costs the daemon 2 ms of processor time.
	look = 50 * time.Millisecond
	// stacksWait is how long a daemon that is asked for its goroutines may take to
	// write them.
	stacksWait = 10 * time.Second
)

// Build builds the program once per test binary and gives its path. It is the release
// but for the tag faultinject, by which tests end it at a step (CW_FAILPOINT) and leave
// guards out (CW_GUARD_OFF). With CW_LAB_BINARY it is the program at that path, which
// make builds once for many packages. Call it from TestMain; cleanup removes the binary.
func Build() (binary string, cleanup func(), err error) {
	if built := os.Getenv("CW_LAB_BINARY"); built != "" {
		return built, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "cw-lab-")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() { os.RemoveAll(dir) }
	binary = filepath.Join(dir, "cw")
	build := exec.Command("go", "build", "-tags", "faultinject", "-o", binary, "cw/cmd/cw")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		cleanup()
		return "", nil, fmt.Errorf("build cw: %w\n%s", err, out)
	}
	return binary, cleanup, nil
}

// Lab is one home with its daemon, one repository, and the books of the
// scripted CLIs.
type Lab struct {
	T      testing.TB
	Binary string
	Home   cw.Home
	Repo   string // a git repository with one commit
	Books  string
	Env    []string // of the daemon, beside the usual; change it before Start

	mu     sync.Mutex
	daemon *exec.Cmd     // guarded by mu; nil when none runs
	ended  chan struct{} // guarded by mu; closed when daemon ended
}

// New makes a lab. The daemon is not started; at the test's end everything
// that still runs is ended.
func New(t testing.TB, binary string) *Lab {
	t.Helper()
	dir := t.TempDir()
	l := &Lab{T: t, Binary: binary, Home: cw.Home(filepath.Join(dir, "home")), Repo: filepath.Join(dir, "shop"), Books: filepath.Join(dir, "books")}
	for _, d := range []string{string(l.Home), l.Home.Providers(), l.Books} {
		l.must(os.MkdirAll(d, 0o700))
	}
	self, err := os.Executable()
	l.must(err)
	l.must(os.WriteFile(filepath.Join(l.Home.Providers(), "fake.yaml"), []byte(fakecli.SessionPreset("fake", self, l.Books)), 0o600))
	NewRepo(t, l.Repo)
	t.Cleanup(l.close)
	return l
}

// NewRepo makes a git repository with one commit.
func NewRepo(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	Git(t, dir, "init", "-q", "-b", "main")
	Git(t, dir, "config", "user.name", "Shop Keeper")
	Git(t, dir, "config", "user.email", "keeper@shop.invalid")
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Shop\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	Git(t, dir, "add", "README.md")
	Git(t, dir, "commit", "-q", "-m", "Open the shop")
}

// Git runs git in dir, with a clean configuration, and gives its output.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(cleanEnv(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return strings.TrimSpace(string(out))
}

// cleanEnv is the environment without anything of cw's or git's.
func cleanEnv() []string {
	var out []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "CW_") && !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "HOME=") {
			out = append(out, kv)
		}
	}
	return out
}

func (l *Lab) must(err error) {
	l.T.Helper()
	if err != nil {
		l.T.Fatal(err)
	}
}

// Environ is the environment in which the lab's programs run.
func (l *Lab) Environ() []string {
	env := append(cleanEnv(), "CW_HOME="+string(l.Home), "HOME="+filepath.Dir(l.Repo), "GIT_CONFIG_NOSYSTEM=1", "CW_VAULT=file")
	return append(env, l.Env...)
}

// Start starts the daemon and waits until it serves.
func (l *Lab) Start() {
	l.T.Helper()
	l.Launch()
	ctx, cancel := context.WithTimeout(l.T.Context(), patience)
	defer cancel()
	for {
		if _, err := l.Client().Status(ctx); err == nil {
			return
		}
		l.mu.Lock()
		ended := l.ended
		l.mu.Unlock()
		select {
		case <-ended:
			l.T.Fatalf("the daemon ended at its start:\n%s", l.DaemonLog())
		case <-ctx.Done():
			l.T.Fatalf("the daemon does not serve:\n%s", l.DaemonLog())
		case <-time.After(look):
		}
	}
}

// Serving waits until a daemon serves, whoever started it.
func (l *Lab) Serving() cw.DaemonStatus {
	l.T.Helper()
	ctx, cancel := context.WithTimeout(l.T.Context(), patience)
	defer cancel()
	for {
		st, err := l.Client().Status(ctx)
		if err == nil {
			return st
		}
		select {
		case <-ctx.Done():
			l.T.Fatalf("no daemon serves: %v", err)
		case <-time.After(look):
		}
	}
}

// Launch starts the daemon and does not wait.
func (l *Lab) Launch() {
	l.T.Helper()
	cmd := exec.Command(l.Binary, "serve")
	cmd.Env = l.Environ()
	cmd.Dir = filepath.Dir(l.Repo)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// It must not be a pipe: a wait for its end would wait for all who have it.
	said, err := os.OpenFile(l.said(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	l.must(err)
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	l.must(cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // ends with the daemon, which close kills
	l.mu.Lock()
	l.daemon, l.ended = cmd, ended
	l.mu.Unlock()
}

// Kill kills the daemon with SIGKILL and waits until it is gone. It returns
// false when there was none.
func (l *Lab) Kill() bool {
	l.mu.Lock()
	cmd, ended := l.daemon, l.ended
	l.daemon = nil
	l.mu.Unlock()
	if cmd == nil {
		return false
	}
	_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended by itself
	<-ended
	return true
}

// Stacks ends a daemon that answers nothing, and gives what all its goroutines
// were doing. One that is held from outside, by a tracer, tells nothing: then it
// gives what its processes' threads wait for.
func (l *Lab) Stacks() string {
	l.mu.Lock()
	cmd, ended := l.daemon, l.ended
	l.mu.Unlock()
	if cmd == nil {
		return ""
	}
	_ = cmd.Process.Signal(syscall.SIGQUIT) // it may have ended by itself
	held := ""
	select {
	case <-ended:
	case <-time.After(stacksWait):
		held = threads(cmd.Process.Pid)
		_ = cmd.Process.Kill()
		select {
		case <-ended:
		case <-time.After(stacksWait):
			held += "it cannot even be killed\n"
		}
	}
	said, _ := os.ReadFile(l.said()) // not there: it said nothing
	return held + string(said)
}

// threads tells the state of each thread of a process, where the system shows
// it.
func threads(pid int) string {
	var out strings.Builder
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid)) // the pattern is well formed
	for _, name := range names {
		data, _ := os.ReadFile(name) // it may have ended
		for line := range strings.Lines(string(data)) {
			if key, _, _ := strings.Cut(line, ":"); key == "State" || key == "TracerPid" {
				out.WriteString(strings.Join(strings.Fields(line), " ") + "; ")
			}
		}
		wait, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "wchan"))
		fmt.Fprintf(&out, "%s %s\n", filepath.Base(filepath.Dir(name)), wait)
	}
	return out.String()
}

// said is the file with what all daemons wrote to their standard streams.
func (l *Lab) said() string { return filepath.Join(filepath.Dir(l.Repo), "daemon.out") }

// Ended tells whether the daemon that was started is gone, waiting at most d.
func (l *Lab) Ended(d time.Duration) bool {
	l.mu.Lock()
	ended := l.ended
	l.mu.Unlock()
	select {
	case <-ended:
		return true
	case <-time.After(d):
		return false
	}
}

// Socket is where the daemon listens.
func (l *Lab) Socket() string {
	if data, err := os.ReadFile(l.Home.SocketFile()); err == nil {
		return strings.TrimSpace(string(data))
	}
	return l.Home.Socket()
}

// Client gives a client of the daemon.
func (l *Lab) Client() *api.Client { return api.NewClient(api.ClientOptions{Socket: l.Socket()}) }

// DaemonLog gives the end of what the daemons said.
func (l *Lab) DaemonLog() string {
	data, err := os.ReadFile(l.said())
	if err != nil {
		return err.Error()
	}
	const most = 8000
	if len(data) > most {
		data = data[len(data)-most:]
	}
	return string(bytes.TrimSpace(data))
}

// Spawn starts an agent that does what the script says.
func (l *Lab) Spawn(s fakecli.Script) (cw.AgentView, error) {
	s.Book = l.Books
	return l.Client().Spawn(l.T.Context(), cw.SpawnRequest{
		RequestKey: cw.NewID(), Goal: s.Goal(), Projects: []string{l.Repo}, Provider: "fake",
		Env: map[string]string{"PATH": os.Getenv("PATH")},
	})
}

// MustSpawn is Spawn for a daemon that is there to stay.
func (l *Lab) MustSpawn(s fakecli.Script) cw.AgentView {
	l.T.Helper()
	view, err := l.Spawn(s)
	l.must(err)
	return view
}

// Rest waits until an agent is at rest, and nothing is cleared up any more.
func (l *Lab) Rest(ref string) cw.AgentView {
	l.T.Helper()
	return l.Until(ref, func(v cw.AgentView) bool { return v.Status.AtRest() && !v.Settling })
}

// Until waits until an agent is as wanted.
func (l *Lab) Until(ref string, want func(cw.AgentView) bool) cw.AgentView {
	l.T.Helper()
	ctx, cancel := context.WithTimeout(l.T.Context(), patience)
	defer cancel()
	var last cw.AgentView
	for {
		view, err := l.Client().Agent(ctx, ref)
		if err == nil {
			last = view
			if want(view) {
				return view
			}
		} else if code := cw.ErrorCode(err); code == cw.CodeNotFound {
			l.T.Fatalf("agent %s: %v", ref, err)
		}
		select {
		case <-ctx.Done():
			l.T.Fatalf("agent %s stays %s %s\n%s", ref, last.Status, last.Reason, l.DaemonLog())
		case <-time.After(look):
		}
	}
}

// Raw gives everything that is stored of an agent's output in one session.
func (l *Lab) Raw(ref string, session int) []byte {
	l.T.Helper()
	var out []byte
	for c, err := range l.Client().Output(l.T.Context(), ref, cw.OutputQuery{Session: session, Only: true, Until: cw.UntilNow}) {
		l.must(err)
		if c.Offset != int64(len(out)) {
			l.T.Fatalf("agent %s: a chunk begins at %d, the one before ended at %d", ref, c.Offset, len(out))
		}
		out = append(out, c.Bytes...)
	}
	return out
}

// Run runs a cw command to its end and gives its output and exit code.
func (l *Lab) Run(dir string, args ...string) (stdout, stderr string, code int) {
	l.T.Helper()
	cmd := exec.Command(l.Binary, args...)
	cmd.Dir, cmd.Env = dir, l.Environ()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.T.Fatalf("cw %s: %v", strings.Join(args, " "), err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// close ends everything: the agents by the program itself, then the daemon. A daemon
// that called anything an internal error fails the test: that is for bugs alone.
func (l *Lab) close() {
	l.Kill()
	if log, err := os.ReadFile(l.Home.DaemonLog()); err == nil {
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, "internal error") && strings.Contains(line, "logId") {
				l.T.Errorf("the daemon had a bug to report: %s", line)
			}
		}
	}
	for _, p := range Processes(string(l.Home)) {
		_ = syscall.Kill(p.PID, syscall.SIGKILL) // it has our home in its environment: it is this test's
	}
}
