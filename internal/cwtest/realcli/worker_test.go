package realcli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// worker is one installation of a CLI with a repository to work in.
type worker struct {
	t     *testing.T
	path  string
	dir   string
	env   []string
	begin []string                      // arguments of a fresh session; the prompt comes on stdin
	again func(session string) []string // arguments that resume one
	told  func(*output) ending          // what the CLI says at its end
}

// ending is what a CLI says of a run at its end.
type ending struct {
	text    string // its last words
	failed  bool
	session string
}

// newWorker makes the repository. The rest is filled in by the CLI's own maker.
func newWorker(t *testing.T, path string, env []string) *worker {
	t.Helper()
	w := &worker{t: t, path: path, dir: t.TempDir()}
	w.env = append(env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.invalid",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.invalid")
	w.git("init", "-q", "-b", "main")
	w.git("commit", "-q", "--allow-empty", "-m", "Begin")
	return w
}

func (w *worker) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *worker) read(path string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, path))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// await returns when a file is there.
func (w *worker) await(path string) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 9000 {
		if _, err := os.Stat(filepath.Join(w.dir, path)); err == nil {
			return
		}
		<-tick.C
	}
	w.t.Fatalf("%s never came", path)
}

// output is what a run left.
type output struct {
	out, err       bytes.Buffer
	stdout, stderr string
	code           int
}

func (o *output) String() string { return "stdout:\n" + o.stdout + "\nstderr:\n" + o.stderr }

// run runs a fresh session to its end, with more arguments than usual if given.
func (w *worker) run(prompt string, more ...string) *output {
	w.t.Helper()
	cmd, out := w.start(prompt, append(slices.Clip(w.begin), more...)...)
	out.wait(cmd)
	return out
}

// resume goes on with a session.
func (w *worker) resume(prompt, session string) *output {
	w.t.Helper()
	cmd, out := w.start(prompt, w.again(session)...)
	out.wait(cmd)
	return out
}

func (w *worker) start(prompt string, args ...string) (*exec.Cmd, *output) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 4*time.Minute)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, w.path, args...)
	out := &output{}
	cmd.Dir, cmd.Env = w.dir, w.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(prompt), &out.out, &out.err
	cmd.WaitDelay = 5 * time.Second // a tool that outlives the CLI may keep the pipes open
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, out
}

func (o *output) wait(cmd *exec.Cmd) {
	_ = cmd.Wait() // how it ended is in ProcessState
	o.stdout, o.stderr, o.code = o.out.String(), o.err.String(), cmd.ProcessState.ExitCode()
}

// endTool ends what the command of interruptible started, which may outlive the
// CLI: tools run in a session of their own. It tells whether it was still there.
func (w *worker) endTool() bool {
	w.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(w.read("started")))
	if err != nil {
		w.t.Fatal(err)
	}
	ended := isZombie(pid)
	return syscall.Kill(pid, syscall.SIGKILL) == nil && !ended
}

// isZombie tells of a process that has ended and was not waited for yet. Where
// there is no /proc it tells of none.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z")
}
