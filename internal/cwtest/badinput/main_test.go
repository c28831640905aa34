package badinput

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

const (
	// patience bounds one command; on a loaded machine things are slow.
	patience = 3 * time.Minute
	// poll is the pause between two looks.
	poll = 10 * time.Millisecond
)

// The exit codes of the command line.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitRefused     = 4
	exitUnreachable = 5
	exitTimeout     = 6
	exitWaiting     = 7
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	fakecli.Main() // the test binary is also the provider CLI
	built, cleanup, err := lab.Build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = built
	code := m.Run()
	cleanup()
	os.Exit(code)
}

// newLab makes a lab whose processes are all gone before its folder is removed,
// also those of a daemon that a command started by itself.
func newLab(t *testing.T) *lab.Lab {
	t.Helper()
	l := lab.New(t, binary)
	t.Cleanup(func() {
		l.Kill()
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(poll) {
			left := processes(l)
			if len(left) == 0 {
				return
			}
			for _, p := range left {
				lab.KillProcess(p) // it has this test's home in its environment
			}
		}
	})
	return l
}

// started is newLab with a daemon that serves.
func started(t *testing.T) *lab.Lab {
	t.Helper()
	l := newLab(t)
	l.Start()
	return l
}

// root is the folder of a lab, for files of a test beside home and repository.
func root(l *lab.Lab) string { return filepath.Dir(l.Repo) }

// call is one command line.
type call struct {
	dir   string // working directory; the lab's repository when empty
	args  []string
	stdin string
	env   []string // beside the lab's; the last one of a name counts
}

// answer is what a command said.
type answer struct {
	args           []string
	stdout, stderr string
	code           int
}

func (a answer) String() string {
	return fmt.Sprintf("cw %s: exit %d\nstdout: %s\nstderr: %s", cut(strings.Join(a.args, " ")), a.code, cut(a.stdout), cut(a.stderr))
}

// cut shortens a text for messages.
func cut(s string) string {
	const most = 1600
	if len(s) > most {
		return s[:most/2] + " … " + s[len(s)-most/2:]
	}
	return s
}

// command prepares a command line of the program under test.
func command(ctx context.Context, l *lab.Lab, c call) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.Binary, c.args...)
	cmd.Dir = c.dir
	if c.dir == "" {
		cmd.Dir = l.Repo
	}
	cmd.Env = append(l.Environ(), c.env...)
	cmd.Stdin = strings.NewReader(c.stdin)
	return cmd
}

// do runs a command line to its end. One that does not end fails the test.
func do(t *testing.T, l *lab.Lab, c call) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := command(ctx, l, c)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	a := answer{args: c.args, stdout: out.String(), stderr: errOut.String(), code: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v, %v: %s\n%s", err, context.Cause(ctx), a, l.DaemonLog())
	}
	return a
}

// ask runs a command line in the lab's repository.
func ask(t *testing.T, l *lab.Lab, args ...string) answer {
	t.Helper()
	return do(t, l, call{args: args})
}

// works is ask for a command that must succeed.
func works(t *testing.T, l *lab.Lab, args ...string) answer {
	t.Helper()
	return worksAs(t, l, call{args: args})
}

func worksAs(t *testing.T, l *lab.Lab, c call) answer {
	t.Helper()
	a := do(t, l, c)
	if a.code != exitOK {
		t.Fatalf("%s\n%s", a, l.DaemonLog())
	}
	return a
}

// decode reads the one JSON value that a text must hold.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("no JSON: %v in %s", err, cut(text))
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("more than one JSON value: %s", cut(text))
	}
	return v
}

// agent is what the tests look at of `cw agent show --json`.
type agent struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Status        string   `json:"status"`
	Reason        string   `json:"reason"`
	Error         string   `json:"error"`
	Result        string   `json:"result"`
	NoChanges     string   `json:"noChanges"`
	Warnings      []string `json:"warnings"`
	AgentCwd      string   `json:"agentCwd"`
	Worktree      string   `json:"worktree"`
	Branch        string   `json:"branch"`
	BaseBranch    string   `json:"baseBranch"`
	BaseCommit    string   `json:"baseCommit"`
	HeadCommit    string   `json:"headCommit"`
	SessionNumber int      `json:"sessionNumber"`
	ExitCode      *int     `json:"exitCode"`
	Activity      struct {
		LastAt *time.Time `json:"lastAt"`
	} `json:"activity"`
	Projects []struct {
		ProjectID  string `json:"projectId"`
		Project    string `json:"project"`
		Commits    int    `json:"commits"`
		DirtyFiles int    `json:"dirtyFiles"`
		HandedOver string `json:"handedOver"`
	} `json:"projects"`
	PendingQuestions []struct {
		Question string `json:"question"`
	} `json:"pendingQuestions"`
	Runs []struct {
		ID         string `json:"id"`
		Dir        string `json:"dir"`
		TermSignal string `json:"termSignal"`
	} `json:"runs"`
}

// report is what the tests look at of `cw run --json`.
type report struct {
	Agent        agent  `json:"agent"`
	ExitReason   string `json:"exitReason"`
	Branch       string `json:"branch"`
	BaseBranch   string `json:"baseBranch"`
	BaseCommit   string `json:"baseCommit"`
	HeadCommit   string `json:"headCommit"`
	HandedOver   string `json:"handedOver"`
	Commits      int    `json:"commits"`
	FilesChanged int    `json:"filesChanged"`
	DirtyFiles   int    `json:"dirtyFiles"`
	Error        string `json:"error"`
}

// failure is an error as --json prints it.
type failure struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	} `json:"error"`
}

// runs starts an agent that does what the script says, waits for its end with
// `cw run --json`, and gives exit code and report.
func runs(t *testing.T, l *lab.Lab, s fakecli.Script, flags ...string) (report, answer) {
	t.Helper()
	s.Book = l.Books
	a := ask(t, l, append(append([]string{"run", "--json", "--provider", "fake"}, flags...), s.Goal())...)
	return decode[report](t, a.stdout), a
}

// detached starts an agent and gives its name.
func detached(t *testing.T, l *lab.Lab, s fakecli.Script, flags ...string) string {
	t.Helper()
	s.Book = l.Books
	a := works(t, l, append(append([]string{"run", "--detach", "--provider", "fake"}, flags...), s.Goal())...)
	return strings.TrimSpace(a.stdout)
}

// show gives an agent as it is now.
func show(t *testing.T, l *lab.Lab, name string) agent {
	t.Helper()
	return decode[agent](t, works(t, l, "agent", "show", "--json", name).stdout)
}

// lastError gives the error that ends standard error with --json. Lines about
// what an agent does may stand before it.
func lastError(t *testing.T, a answer) failure {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(a.stderr), "\n")
	return decode[failure](t, lines[len(lines)-1])
}

// holds tells what of words is missing in a text; case does not matter.
func holds(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			t.Errorf("%s lacks %q: %s", what, w, cut(text))
		}
	}
}

// done is a script's way of ending well without a commit.
const done = `{"status":"done","noChanges":"nothing to do"}`

// commits is a script that commits one file and says that it is done.
func commits(name string) fakecli.Script {
	return fakecli.Script{Pieces: 2, Tame: true, File: name, Content: "work\n", Commit: "Add " + name, Signal: `{"status":"done","result":"ok"}`}
}

// waiting begins an agent that waits for a file before it does its work, and
// returns when everything that it prints until then is known: nothing about it
// changes any more by itself.
func waiting(t *testing.T, l *lab.Lab, s fakecli.Script, gate string, args ...string) (name string) {
	t.Helper()
	s.Wait, s.Pieces = gate, 1
	name = detached(t, l, s, args...)
	until(t, "all output of "+name, func() bool {
		return show(t, l, name).Activity.LastAt != nil && strings.Count(raw(t, l, name), "\n") == s.Pieces
	})
	return name
}

// executable writes a file that can be executed, as it is.
func executable(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.WriteFile(path, []byte(content), 0o755))
	must(t, os.Chmod(path, 0o755))
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until waits for something that another process does.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(poll) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
