package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"cw/internal/cw"
)

const (
	// maxOutput is how much one git call may print: 50,000 paths take 5 MB.
	maxOutput = 64 << 20
	// maxStderr is how much of git's complaints is kept.
	maxStderr = 8 << 10
	// killGrace is the time between asking git to end, by which it removes its
	// lock files, and ending it.
	killGrace = 2 * time.Second
)

// Time limits of one git call. Reading is bounded tightly because an agent can
// leave things behind that make git wait for ever, such as a FIFO named
// .gitignore.
const (
	readLimit     = 60 * time.Second
	transferLimit = 30 * time.Minute
)

// place is where git runs and by whose rules.
type place struct {
	name    string   // user, mirror, shadow, clone, remote, version: for errors and tests
	dir     string   // working directory
	env     []string // the whole environment
	config  []string // -c key=value beyond safeConfig
	network bool     // the user's ssh command and credential helpers count
	source  string   // the repository that is read, when it is not dir: for errors
	limit   time.Duration
	lock    *os.File   // held as long as the call or a child of it lives; may be nil
	agents  []agentDir // where agents write and the call reads
}

// call is what an observer learns about each run of git.
type call struct {
	place string
	args  []string // without the -c options
}

// runner is the only way from this package to the git binary.
type runner struct {
	bin     string
	log     *slog.Logger
	observe func(call)      // tests only
	started func(*exec.Cmd) // tests only
	limit   func(place) time.Duration
	// patience is how long a call runs before it is looked for what makes it wait.
	patience time.Duration
}

func newRunner(bin string, log *slog.Logger) *runner {
	return &runner{bin: bin, log: log, patience: oddPatience, limit: func(p place) time.Duration {
		if p.limit > 0 {
			return p.limit
		}
		return readLimit
	}}
}

// gitError is a git call that did not succeed.
type gitError struct {
	place  string
	args   []string
	code   int // exit code, -1 when it was killed
	stderr string
	err    error
	told   *cw.Error // as which the runner gave it
	final  bool      // it was ended by us: another try is of no use
	// cleared: something odd of an agent's was removed meanwhile.
	cleared bool
}

func (e *gitError) Error() string {
	if e.stderr == "" {
		return fmt.Sprintf("git %s (%s): %v", e.args[0], e.place, e.err)
	}
	return fmt.Sprintf("git %s (%s): %s", e.args[0], e.place, e.stderr)
}

func (e *gitError) Unwrap() error { return e.err }

// stderrOf gives what git complained about, or "".
func stderrOf(err error) string {
	var g *gitError
	if errors.As(err, &g) {
		return g.stderr
	}
	return ""
}

// exitCode gives git's exit code, or -1.
func exitCode(err error) int {
	var g *gitError
	if errors.As(err, &g) {
		return g.code
	}
	return -1
}

// safeConfig is on every call. It wins over every configuration file. Only what
// talks to a remote may also use the user's ssh command and credential helpers.
func safeConfig() []string {
	return []string{
		"core.hooksPath=/dev/null",
		"core.fsmonitor=false",
		"core.pager=cat",
		"core.alternateRefsCommand=true",
		"core.warnAmbiguousRefs=true",
		"gc.auto=0",
		"maintenance.auto=false",
		"submodule.recurse=false",
		"log.showSignature=false",
		"commit.gpgSign=false",
		"protocol.version=2", // any commit may be asked for by its id
		"checkout.workers=0", // as many as there are cores
	}
}

// run runs git and gives its standard output. On failure the output is given
// too, with a *cw.Error that says what to do (see explainGit) and wraps a
// *gitError; when ctx is over, with the *gitError alone.
func (r *runner) run(ctx context.Context, p place, stdin []byte, args ...string) ([]byte, error) {
	stdout := &boundedBuffer{max: maxOutput, fail: true}
	var in io.Reader
	if stdin != nil {
		in = bytes.NewReader(stdin)
	}
	err := r.stream(ctx, p, in, stdout, args...)
	if stdout.over {
		err = cw.Errorf(cw.CodeFailed, "git %s printed more than %d MiB in %s", args[0], maxOutput>>20, p.dir).
			Because(&gitError{place: p.name, args: args, code: exitCode(err), stderr: stderrOf(err), err: errTooMuch, final: true})
	}
	return stdout.Bytes(), err
}

// stream is run for input and output of any size.
func (r *runner) stream(ctx context.Context, p place, stdin io.Reader, stdout io.Writer, args ...string) error {
	if r.observe != nil {
		r.observe(call{place: p.name, args: args})
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.limit(p), errTooLong)
	defer cancel()
	cmd, stderr := r.command(ctx, p, args)
	cmd.Stdin, cmd.Stdout = stdin, stdout
	begin := time.Now()
	over := r.clearWhile(ctx, p.agents)
	err := r.wait(cmd)
	odd := over()
	if len(odd) > 0 {
		r.log.Warn("removed what is no file and kept git waiting", "paths", odd[:min(len(odd), 10)], "count", len(odd))
	}
	r.log.Debug("git", "place", p.name, "args", args, "took", time.Since(begin), "error", err)
	if err == nil {
		return nil
	}
	return r.explain(ctx, p, cmd, args, stderr, err, len(odd) > 0)
}

func (r *runner) command(ctx context.Context, p place, args []string) (*exec.Cmd, *boundedBuffer) {
	full := make([]string, 0, 64)
	config := safeConfig()
	if !p.network {
		config = append(config, "core.sshCommand=false", "credential.helper=")
	}
	for _, kv := range append(config, p.config...) {
		full = append(full, "-c", kv)
	}
	cmd := exec.CommandContext(ctx, r.bin, append(full, args...)...)
	stderr := &boundedBuffer{max: maxStderr}
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, p.env, stderr
	if p.lock != nil {
		// The lock belongs to git too: when we are killed, it stays taken until
		// this git and its children are gone, and nobody cleans up under them.
		cmd.ExtraFiles = []*os.File{p.lock}
	}
	// A session of its own: a group that can be ended whole, without a terminal at
	// which ssh could ask.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killGrace
	return cmd, stderr
}

func (r *runner) wait(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if r.started != nil {
		r.started(cmd)
	}
	err := cmd.Wait()
	if err != nil {
		// The group still has our id as long as a child of git is in it; with
		// nobody in it this does nothing.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}

var (
	errTooLong = errors.New("it took too long")
	errTooMuch = errors.New("it printed too much")
)

func (r *runner) explain(ctx context.Context, p place, cmd *exec.Cmd, args []string, stderr *boundedBuffer, err error, cleared bool) error {
	g := &gitError{place: p.name, args: args, code: -1, stderr: stderr.text(), err: err, cleared: cleared}
	if cmd.ProcessState != nil {
		g.code = cmd.ProcessState.ExitCode()
	}
	switch {
	case errors.Is(err, exec.ErrNotFound), cmd.Process == nil && errors.Is(err, fs.ErrNotExist) && r.missing():
		return cw.Errorf(cw.CodeInvalid, "git is not installed (no %q found)", r.bin).
			WithHint("install git %s or newer", MinGit).Because(err)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errTooLong):
		g.err, g.final = errTooLong, true
		return cw.Errorf(cw.CodeTimeout, "git %s did not end in %s", args[0], r.limit(p)).
			WithHint("something in %s makes git wait: a disk that does not answer, or a FIFO where a file should be", p.dir).Because(g)
	case ctx.Err() != nil:
		g.err, g.final = ctx.Err(), true
		return g
	}
	where := p.dir
	if p.source != "" && saidByOther(g.stderr) {
		where = p.source
	}
	g.told = explainGit(g, where).Because(g)
	return g.told
}

// saidByOther tells whether it is the repository that git fetches from that is
// at fault.
func saidByOther(stderr string) bool {
	for _, words := range []string{"remote:", "remote side", "from remote repository", "did not send all necessary objects", "upload-pack", "early EOF"} {
		if strings.Contains(stderr, words) {
			return true
		}
	}
	return false
}

func (r *runner) missing() bool {
	_, err := exec.LookPath(r.bin)
	return err != nil
}

// boundedBuffer keeps at most max bytes. Beyond, it fails (and so ends the
// writer) or drops.
type boundedBuffer struct {
	bytes.Buffer
	max  int
	fail bool
	over bool
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	room := b.max - b.Len()
	if len(p) <= room {
		return b.Buffer.Write(p)
	}
	b.over = true
	if b.fail {
		return 0, errTooMuch
	}
	b.Buffer.Write(p[:max(room, 0)])
	return len(p), nil
}

func (b *boundedBuffer) text() string {
	return strings.ToValidUTF8(strings.TrimSpace(b.String()), "?")
}

// baseEnv is our environment without anything that steers git, and with what
// keeps it quiet.
func baseEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "LC_") || dropped(name) {
			continue
		}
		env = append(env, kv)
	}
	return append(env,
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_EDITOR=true",
		"GIT_ASKPASS=true",
		"GIT_ALLOW_PROTOCOL=file", // no network, no ext:: command
		"GIT_LFS_SKIP_DOWNLOAD_ERRORS=1",
		cw.ChildVariable+"="+cw.ChildValue,
	)
}

func dropped(name string) bool {
	switch name {
	case "LANG", "LANGUAGE", "PAGER", "EDITOR", "VISUAL", "SSH_ASKPASS":
		return true
	}
	return false
}

// cleanEnv is for our own git directories: no configuration but theirs.
func cleanEnv() []string {
	return append(baseEnv(),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_NO_REPLACE_OBJECTS=1",
	)
}

// userEnv is for the user's repository: the user's configuration counts, also
// where the user says in the environment that it lies elsewhere.
func userEnv() []string {
	env := baseEnv()
	for _, name := range []string{"GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// inCheckout is a folder of the user's; git finds the repository by itself and
// checks that it belongs to the user.
func inCheckout(dir string) place {
	return place{name: "user", dir: dir, env: userEnv()}
}

// at is a folder of the user's, or the clone of a remote project, which has no
// checkout.
func (m *Manager) at(dir string) place {
	if inside(m.repos, dir) {
		return inUserRepo(dir)
	}
	return inCheckout(dir)
}

// inUserRepo is the user's repository by its git directory.
func inUserRepo(gitDir string) place {
	return place{name: "user", dir: gitDir, env: append(userEnv(), "GIT_DIR="+gitDir)}
}

// line gives output that is one value: git ends it with one line feed, and the
// value may hold others.
func line(out []byte) string { return strings.TrimSuffix(string(out), "\n") }

// cleanup keeps the values of a context that may be over and gives it a little
// time to undo things.
func cleanup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), readLimit)
}
