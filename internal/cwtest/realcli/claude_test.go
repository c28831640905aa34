package realcli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cw/internal/cwtest/model"

	"github.com/google/uuid"
)

// prompt is what an agent might be told; the scenarios take all they use out of
// it.
const prompt = `<role>
You change code in a git worktree.
</role>

<task>
Write the sentence "Good morning." into greeting.txt.
</task>

<signal_format>
At the end write .cw/output/signal.json.
</signal_format>
`

// done edits, commits, signals and says goodbye.
func done(t *model.Turn) model.Reply {
	t.RequireTags("role", "task", "signal_format")
	sentence := t.Find(t.Block("task"), `"(.+)"`)
	file := t.Find(t.Block("task"), `into (\S+)\.`)
	signal := t.Find(t.Block("signal_format"), `\S+signal\.json`)
	switch t.Number() {
	case 1:
		return model.Say("First the file.").Think("An easy one.").Write(file, sentence+"\n")
	case 2:
		t.Output()
		return model.Say("Now the commit.").Shell("git add " + file + " && git commit -qm 'Add a greeting' && git rev-parse HEAD")
	case 3:
		commit := t.Find(t.Output(), `[0-9a-f]{40}`)
		return model.Say("The signal.").Write(signal, `{"status":"done","result":"`+commit+`"}`)
	default:
		return model.Say("Wrote " + file + ".")
	}
}

func TestClaudeEditsCommitsAndSignals(t *testing.T) {
	t.Parallel()
	srv := model.New(t, done)
	c := newClaude(t, srv.URL)
	session := uuid.NewString()

	out := c.run(prompt, "--session-id", session)
	if r := out.result(t); r.IsError || r.Result != "Wrote greeting.txt." || r.SessionID != session {
		t.Errorf("result = %+v\n%s", r, out)
	}
	head := c.git("rev-parse", "HEAD")
	if got, want := c.read(".cw/output/signal.json"), `{"status":"done","result":"`+head+`"}`; got != want {
		t.Errorf("signal = %s, want %s", got, want)
	}
	if got := c.git("show", "HEAD:greeting.txt"); got != "Good morning." {
		t.Errorf("committed %q", got)
	}
	if to := srv.Outbound(); len(to) > 0 {
		t.Errorf("claude tried to reach %v", to)
	}
}

// TestClaudeNeedsEachBlock is the twin of the above: a scenario must not be
// able to do its work when the prompt does not tell it how.
func TestClaudeNeedsEachBlock(t *testing.T) {
	t.Parallel()
	srv := model.New(t, done)
	c := newClaude(t, srv.URL)

	without, _, _ := strings.Cut(prompt, "<signal_format>")
	if out := c.run(without); !out.result(t).IsError || out.code == 0 {
		t.Errorf("the run went well without <signal_format>:\n%s", out)
	}
	if errs := srv.TakeErrors(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "signal_format") {
		t.Errorf("errors = %v", errs)
	}
}

func TestClaudeResumes(t *testing.T) {
	t.Parallel()
	srv := model.New(t, func(t *model.Turn) model.Reply {
		if len(t.Earlier()) == 0 {
			return model.Say("Which port shall it be?")
		}
		t.Require(t.Earlier().Answers()[0] == "Which port shall it be?", "earlier answers: %q", t.Earlier().Answers())
		_, asked := t.Earlier().Prompts()[0].Block("task")
		t.Require(asked, "the first prompt has gone")
		return model.Say("Port " + t.Find(t.Block("answers"), `\d+`) + " it is.")
	})
	c := newClaude(t, srv.URL)
	session := uuid.NewString()

	c.run(prompt, "--session-id", session)
	out := c.run("<answers>\n8080\n</answers>\n", "--resume", session)
	if r := out.result(t); r.Result != "Port 8080 it is." || r.SessionID != session {
		t.Errorf("result = %+v\n%s", r, out)
	}
}

// TestClaudeFailures pins how claude ends on each failure that ends it at once.
func TestClaudeFailures(t *testing.T) {
	t.Parallel()
	resets := time.Now().Add(time.Hour)
	oauth := []string{"ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN=" + DummyKey}
	tests := []struct {
		name    string
		reply   model.Reply
		env     []string
		status  int    // of the result; 0: none
		kind    string // assistant.error
		text    string // in the result
		limited bool   // a rate_limit_event with status rejected is written
	}{
		{"usage limit of a login", model.Fail(model.UsageLimitOAuth(resets)), oauth, 429, "rate_limit", "You've hit your session limit", true},
		{"weekly limit of a login", model.Fail(model.WeeklyLimitOAuth(resets)), oauth, 429, "rate_limit", "You've hit your weekly limit", true},
		{"the same with a key", model.Fail(model.UsageLimitOAuth(resets)), nil, 429, "rate_limit", "Request rejected (429)", false},
		{"usage limit in words", model.Fail(model.UsageLimitText(resets)), nil, 429, "rate_limit", "Claude AI usage limit reached|", false},
		{"credit balance", model.Fail(model.CreditBalance400()), nil, 400, "billing_error", "Credit balance is too low", false},
		{"rate limit", model.Fail(model.RateLimit(time.Second)), []string{"CLAUDE_CODE_MAX_RETRIES=1"}, 429, "rate_limit", "Request rejected (429)", false},
		{"overloaded", model.Fail(model.Overloaded529()), []string{"CLAUDE_CODE_MAX_RETRIES=0"}, 529, "server_error", "529", false},
		{"bad key", model.Fail(model.Unauthorized401()), []string{"CLAUDE_CODE_MAX_RETRIES=0"}, 401, "authentication_failed", "Invalid API key", false},
		{"cut", model.Say("A sentence that nobody will ever hear to its very end.").CutOff(), nil, 0, "server_error", "Connection closed mid-response", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := model.New(t, func(*model.Turn) model.Reply { return tt.reply })
			c := newClaude(t, srv.URL)
			c.env = append(c.env, tt.env...)

			out := c.run(prompt)
			r := out.result(t)
			if !r.IsError || r.Status != tt.status || !strings.Contains(r.Result, tt.text) || out.code != 1 {
				t.Errorf("exit %d, result = %+v", out.code, r)
			}
			if got := out.errorKind(); got != tt.kind {
				t.Errorf("assistant error = %q, want %q", got, tt.kind)
			}
			if got := strings.Contains(out.stdout, `"status":"rejected"`); got != tt.limited {
				t.Errorf("rate_limit_event: %v, want %v", got, tt.limited)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

func TestClaudeRecovers(t *testing.T) {
	t.Parallel()
	warning := model.LimitWarning(0.93, time.Now().Add(time.Hour))
	inStream := model.Overloaded529()
	inStream.InStream = true
	tests := []struct {
		name  string
		reply model.Reply
		want  string // in stdout
	}{
		{"overloaded first", model.Say("Here I am.").FailFirst(1, model.Overloaded529()), `"subtype":"api_retry"`},
		{"overloaded in the stream", model.Say("Here I am.").FailFirst(1, inStream), `"subtype":"success"`},
		{"limit is near", model.Say("Here I am.").WithHeader(warning), `"status":"allowed_warning"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := model.New(t, func(*model.Turn) model.Reply { return tt.reply })
			c := newClaude(t, srv.URL)
			c.env = append(c.env, "ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN="+DummyKey)
			out := c.run(prompt)
			if r := out.result(t); r.IsError || r.Result != "Here I am." || !strings.Contains(out.stdout, tt.want) {
				t.Errorf("result = %+v\n%s", r, out)
			}
		})
	}
}

// TestClaudeBadSession: a start that fails writes its reason to stderr alone.
func TestClaudeBadSession(t *testing.T) {
	t.Parallel()
	srv := model.New(t, done)
	c := newClaude(t, srv.URL)
	out := c.run(prompt, "--session-id", "not-a-uuid")
	if out.stdout != "" || !strings.Contains(out.stderr, "Invalid session ID") || out.code != 1 {
		t.Errorf("%s", out)
	}
	if rs := srv.Requests(); len(rs) > 0 {
		t.Errorf("%d requests, want none", len(rs))
	}
}

// TestClaudeStops: after SIGTERM in the middle of a tool call the session can
// be resumed, and the model sees what was before. The call itself may be gone:
// claude drops it when it had hardly begun.
func TestClaudeStops(t *testing.T) {
	t.Parallel()
	srv := model.New(t, func(t *model.Turn) model.Reply {
		switch {
		case len(t.Earlier()) > 0:
			answers := t.Earlier().Answers()
			t.Require(len(answers) == 1 && answers[0] == "This will take a while.", "earlier answers: %q", answers)
			return model.Say("Back again.")
		case t.Number() == 1:
			return model.Say("This will take a while.").Shell("echo started > started; sleep 60")
		default: // a model that answers at once would let claude end well
			return model.Say("Interrupted.").After(time.Minute)
		}
	})
	c := newClaude(t, srv.URL)
	session := uuid.NewString()

	cmd, out := c.start(prompt, "--session-id", session)
	c.await("started")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	out.wait(cmd)
	if out.code != 143 || strings.Contains(out.stdout, `"type":"result"`) {
		t.Errorf("after SIGTERM: exit %d\n%s", out.code, out)
	}
	again := c.run("Go on.", "--resume", session)
	if r := again.result(t); r.Result != "Back again." {
		t.Errorf("result = %+v\n%s", r, again)
	}
}

// claude is one installation with a repository to work in.
type claude struct {
	t   *testing.T
	cli ClaudeCLI
	dir string
	env []string
}

func newClaude(t *testing.T, url string) *claude {
	t.Helper()
	cli := Claude(t)
	home := t.TempDir()
	c := &claude{t: t, cli: cli, dir: t.TempDir(), env: cli.Env(home, url)}
	c.env = append(c.env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.invalid",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.invalid")
	c.git("init", "-q", "-b", "main")
	c.git("commit", "-q", "--allow-empty", "-m", "Begin")
	return c
}

func (c *claude) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *claude) read(path string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, path))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// await returns when a file is there.
func (c *claude) await(path string) {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 3000 {
		if _, err := os.Stat(filepath.Join(c.dir, path)); err == nil {
			return
		}
		<-tick.C
	}
	c.t.Fatalf("%s never came", path)
}

// output is what a run left.
type output struct {
	out, err       bytes.Buffer
	stdout, stderr string
	code           int
}

func (o *output) String() string { return "stdout:\n" + o.stdout + "\nstderr:\n" + o.stderr }

func (c *claude) run(prompt string, args ...string) *output {
	c.t.Helper()
	cmd, out := c.start(prompt, args...)
	out.wait(cmd)
	return out
}

func (c *claude) start(prompt string, args ...string) (*exec.Cmd, *output) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 90*time.Second)
	c.t.Cleanup(cancel)
	args = append([]string{"-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"}, args...)
	cmd := exec.CommandContext(ctx, c.cli.Path, args...)
	out := &output{}
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(prompt), &out.out, &out.err
	cmd.WaitDelay = 5 * time.Second // a tool that outlives claude may keep the pipes open
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return cmd, out
}

func (o *output) wait(cmd *exec.Cmd) {
	_ = cmd.Wait() // how it ended is in ProcessState
	o.stdout, o.stderr, o.code = o.out.String(), o.err.String(), cmd.ProcessState.ExitCode()
}

// result is the line of type result.
type result struct {
	Type      string `json:"type"`
	IsError   bool   `json:"is_error"`
	Status    int    `json:"api_error_status"`
	Result    string `json:"result"`
	SessionID string `json:"session_id"`
}

func (o *output) result(t *testing.T) result {
	t.Helper()
	for line := range strings.Lines(o.stdout) {
		var r result
		if json.Unmarshal([]byte(line), &r) == nil && r.Type == "result" {
			return r
		}
	}
	t.Fatalf("no result line (exit %d)\n%s", o.code, o)
	return result{}
}

// errorKind is the error of claude's own last message.
func (o *output) errorKind() string {
	kind := ""
	for line := range strings.Lines(o.stdout) {
		var m struct {
			Error string `json:"error"`
			Type  string `json:"type"`
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.Type == "assistant" {
			kind = m.Error
		}
	}
	return kind
}
