package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
	"cw/internal/cwtest/realcli"
)

// executeTags is the order of the blocks that an execute agent is told.
var executeTags = []string{
	"role", "task", "input_files", "output_format", "id_generation", "signal_format", "session_startup",
	"execution_protocol", "anti_patterns", "scope_rules", "test_integrity", "deviation_rules", "git_workflow",
	"progress_tracking", "context_management", "definition_of_done", "workspace",
}

const goal = `Write the sentence "Good morning." into greeting.txt.`

// signalOf gives the path of the signal as the prompt tells it.
func signalOf(t *model.Turn) string {
	return t.Find(t.Block("signal_format"), `\.cw/output/signal\.json`)
}

// example takes the JSON that the prompt shows for a status, so that what the
// scenario writes is what the prompt taught.
func example(t *model.Turn, status string) map[string]any {
	line := t.Find(t.Block("signal_format"), `(?m)^\{"status":"`+status+`".*\}$`)
	var out map[string]any
	t.Require(json.Unmarshal([]byte(line), &out) == nil, "the example for %s is no JSON: %s", status, line)
	return out
}

func encode(t *model.Turn, v any) string {
	data, err := json.Marshal(v)
	t.Require(err == nil, "encode: %v", err)
	return string(data)
}

// done edits, commits on the branch that the workspace block names, checks
// that cw knows it, signals and says goodbye.
func done(t *model.Turn) model.Reply {
	t.RequireTags(executeTags...)
	sentence := t.Find(t.Block("task"), `"(.+)"`)
	file := t.Find(t.Block("task"), `into (\S+)\.`)
	branch := t.Find(t.Block("workspace"), `agent/[a-z0-9-]+`)
	dir := t.Find(t.Block("workspace"), "working directory is `([^`]+)`")
	id := t.Find(t.Block("workspace"), "id `([a-z2-7]{12})`")
	switch t.Number() {
	case 1:
		return model.Say("I look around.").Shell("cd " + dir + " && git rev-parse --abbrev-ref HEAD && cat .cw/input/manifest.json && cw id")
	case 2:
		t.Require(strings.HasPrefix(t.Output(), branch), "on %s, not on %s", t.Output(), branch)
		t.Find(t.Output(), `"agentId": "`+id+`"`)
		t.Find(t.Output(), `(?m)^[a-z2-7]{12}$`) // cw id
		return model.Say("First the file.").Write(file, sentence+"\n")
	case 3:
		t.Output()
		return model.Say("Now the commit.").Shell("git add " + file + " && git commit -qm 'Add a greeting' && git rev-parse HEAD")
	case 4:
		commit := t.Find(t.Output(), `[0-9a-f]{40}`)
		signal := example(t, "done")
		signal["result"] = "Committed " + commit
		return model.Say("The signal.").Write(signalOf(t), encode(t, signal))
	default:
		return model.Say("Wrote " + file + ".")
	}
}

// asks signals a question as the prompt shows it.
func asks(t *model.Turn) model.Reply {
	if t.Number() > 1 {
		return model.Say("I have to ask first.")
	}
	return model.Say("Something is unclear.").Write(signalOf(t), encode(t, example(t, "questions")))
}

// gives up with an error.
func gives(t *model.Turn) model.Reply {
	if t.Number() > 1 {
		return model.Say("It cannot be done.")
	}
	signal := example(t, "error")
	signal["error"] = "there is no compiler"
	return model.Say("This cannot work.").Write(signalOf(t), encode(t, signal))
}

// without plays a scenario as if one block had not been in the prompt.
func without(tag string, s model.Scenario) model.Scenario {
	block := regexp.MustCompile(`(?ms)^<` + tag + `>.*?^</` + tag + `>\s*`)
	return func(t *model.Turn) model.Reply {
		req := *t.Request
		req.Conversation = slices.Clone(req.Conversation)
		for i, m := range req.Conversation {
			if m.Kind == model.KindPrompt {
				m.Text = block.ReplaceAllString(m.Text, "")
				req.Conversation[i] = m
			}
		}
		twin := *t
		twin.Request = &req
		return s(&twin)
	}
}

// newLab makes a lab whose daemon knows the real claude and the model server.
func newLab(t *testing.T, s model.Scenario) (*lab.Lab, *model.Server) {
	t.Helper()
	claude := realcli.Claude(t)
	srv := model.New(t, s)
	l := lab.New(t, binary)
	l.Env = append(claude.Env(filepath.Dir(l.Repo), srv.URL), "CLAUDE_CODE_MAX_RETRIES=0")
	for i, kv := range l.Env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			l.Env[i] = "PATH=" + filepath.Dir(claude.Path) + ":" + path
		}
	}
	return l, srv
}

// answer is what `cw run --json` prints.
type answer struct {
	Agent        cw.AgentView `json:"agent"`
	Branch       string       `json:"branch"`
	BaseCommit   string       `json:"baseCommit"`
	HeadCommit   string       `json:"headCommit"`
	Commits      int          `json:"commits"`
	FilesChanged int          `json:"filesChanged"`
}

func run(t *testing.T, l *lab.Lab, args ...string) (answer, string, int) {
	t.Helper()
	stdout, stderr, code := l.Run(l.Repo, append([]string{"run", "--json", "--provider", "claude"}, args...)...)
	var a answer
	if err := json.Unmarshal([]byte(stdout), &a); err != nil {
		t.Fatalf("exit %d, stdout is no JSON: %v\n%s\n%s\n%s", code, err, stdout, stderr, l.DaemonLog())
	}
	return a, stderr, code
}

func TestClaudeDoesATask(t *testing.T) {
	t.Parallel()
	l, srv := newLab(t, done)
	base := lab.Git(t, l.Repo, "rev-parse", "HEAD")

	a, stderr, code := run(t, l, goal)
	if code != 0 || a.Agent.Status != cw.StatusIdle {
		t.Fatalf("exit %d, status %s (%s %s)\n%s\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, stderr, l.DaemonLog())
	}
	if a.Commits != 1 || a.FilesChanged != 1 || a.BaseCommit != base || len(a.Agent.Warnings) != 0 {
		t.Errorf("commits %d, files %d, base %s, warnings %q", a.Commits, a.FilesChanged, a.BaseCommit, a.Agent.Warnings)
	}
	if head := lab.Git(t, l.Repo, "rev-parse", a.Branch); head != a.HeadCommit || a.Agent.Result != "Committed "+head {
		t.Errorf("branch at %s, head %s, result %q", head, a.HeadCommit, a.Agent.Result)
	}
	if got := lab.Git(t, l.Repo, "show", a.Branch+":greeting.txt"); got != "Good morning." {
		t.Errorf("committed %q", got)
	}
	if got := lab.Git(t, l.Repo, "rev-parse", "main"); got != base {
		t.Errorf("main moved to %s", got)
	}
	if a.Agent.CostUSD <= 0 || a.Agent.Usage.OutputTokens == 0 || a.Agent.SessionID == "" {
		t.Errorf("cost %v, usage %+v, session %q", a.Agent.CostUSD, a.Agent.Usage, a.Agent.SessionID)
	}
	if to := srv.Outbound(); len(to) > 0 {
		t.Errorf("claude tried to reach %v", to)
	}
	if !strings.Contains(stderr, "First the file.") {
		t.Errorf("the agent's words are not shown:\n%s", stderr)
	}
}

// TestClaudeNeedsEachBlock: the scenarios cannot do their work when the prompt
// does not tell them how.
func TestClaudeNeedsEachBlock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tag      string
		scenario model.Scenario
	}{{"signal_format", done}, {"workspace", done}, {"task", done}, {"signal_format", asks}, {"signal_format", gives}} {
		t.Run(tt.tag, func(t *testing.T) {
			t.Parallel()
			l, srv := newLab(t, without(tt.tag, tt.scenario))
			a, _, code := run(t, l, goal)
			if code != 1 || a.Agent.Status != cw.StatusCrashed {
				t.Errorf("exit %d, status %s: it went well without <%s>", code, a.Agent.Status, tt.tag)
			}
			if len(srv.TakeErrors()) == 0 {
				t.Error("the scenario did not miss the block")
			}
		})
	}
}

func TestClaudeAsks(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, asks)
	a, stderr, code := run(t, l, goal)
	if code != 7 || a.Agent.Status != cw.StatusWaitingForInput || len(a.Agent.PendingQuestions) == 0 {
		t.Fatalf("exit %d, status %s, %d questions\n%s", code, a.Agent.Status, len(a.Agent.PendingQuestions), stderr)
	}
	q := a.Agent.PendingQuestions[0]
	if !cw.IsID(string(q.ID)) || q.Text == "" || len(q.Options) < 2 || q.Key != "q1" {
		t.Errorf("question %+v", q)
	}
}

func TestClaudeGivesUp(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, gives)
	a, _, code := run(t, l, goal)
	if code != 1 || a.Agent.Status != cw.StatusCrashed || a.Agent.Reason != cw.ReasonAgentError || a.Agent.Error != "there is no compiler" {
		t.Errorf("exit %d, status %s %s: %s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error)
	}
}

func TestClaudeWithoutASignal(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, func(*model.Turn) model.Reply { return model.Say("I am done, believe me.") })
	a, _, code := run(t, l, goal)
	if code != 1 || a.Agent.Reason != cw.ReasonNoSignal || !strings.Contains(a.Agent.Error, "signal.json") {
		t.Errorf("exit %d, status %s %s: %s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error)
	}
}

func TestClaudeAtItsLimit(t *testing.T) {
	t.Parallel()
	resets := time.Now().Add(time.Hour).Truncate(time.Second)
	l, _ := newLab(t, func(*model.Turn) model.Reply { return model.Fail(model.UsageLimitOAuth(resets)) })
	l.Env = append(l.Env, "ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN="+realcli.DummyKey)
	a, _, code := run(t, l, goal)
	if code != 1 || a.Agent.Reason != cw.ReasonUsageLimit || a.Agent.RetryAt == nil || !a.Agent.RetryAt.Equal(resets) {
		t.Errorf("exit %d, status %s %s (%s), retry at %v, want %v", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, a.Agent.RetryAt, resets)
	}
}

func TestClaudeRefusedCredentials(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, func(*model.Turn) model.Reply { return model.Fail(model.Unauthorized401()) })
	a, _, code := run(t, l, goal)
	if code != 1 || a.Agent.Reason != cw.ReasonAuth {
		t.Errorf("exit %d, status %s %s: %s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error)
	}
}

// slow answers the first request, with a tool call that takes long, and never
// the second one.
func slow(t *model.Turn) model.Reply {
	if t.Number() > 1 {
		return model.Say("Too late.").After(time.Minute)
	}
	return model.Say("This will take a while.").Shell("echo started > .cw/tmp/started; setsid sleep 300")
}

// spawnSlow starts an agent in the middle of a tool call.
func spawnSlow(t *testing.T, l *lab.Lab) cw.AgentView {
	t.Helper()
	stdout, stderr, code := l.Run(l.Repo, "run", "--json", "--detach", "--provider", "claude", goal)
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s\n%s", code, stdout, stderr, l.DaemonLog())
	}
	var a answer
	if err := json.Unmarshal([]byte(stdout), &a); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	return l.Until(string(a.Agent.ID), func(v cw.AgentView) bool {
		return v.Activity != nil && v.Activity.Tool == "Bash" && hasFile(filepath.Join(v.AgentCwd, ".cw/tmp/started"))
	})
}

func TestClaudeIsKilled(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, slow)
	v := spawnSlow(t, l)
	if err := syscall.Kill(v.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	v = l.Rest(string(v.ID))
	if v.Status != cw.StatusCrashed || v.Reason != cw.ReasonKilled || v.Runs[0].TermSignal != "SIGKILL" {
		t.Errorf("status %s %s: %s", v.Status, v.Reason, v.Error)
	}
	nothingLeft(t, l)
}

func TestClaudeIsStopped(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, slow)
	v := spawnSlow(t, l)
	if _, stderr, code := l.Run(l.Repo, "agent", "stop", v.Alias); code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	v = l.Rest(string(v.ID))
	if v.Status != cw.StatusStopped || v.Reason != cw.ReasonUser {
		t.Errorf("status %s %s: %s", v.Status, v.Reason, v.Error)
	}
	nothingLeft(t, l)
}

func nothingLeft(t *testing.T, l *lab.Lab) {
	t.Helper()
	for _, p := range lab.Processes(string(l.Home)) {
		if p.Run != "" {
			t.Errorf("left behind: %d %s", p.PID, p.Command)
		}
	}
}

// TestDaemonDiesUnderClaude: the daemon is killed in the middle of a task;
// claude goes on, and the next daemon finishes the run with all its output.
func TestDaemonDiesUnderClaude(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	l, srv := newLab(t, func(t *model.Turn) model.Reply {
		r := done(t)
		if t.Number() == 3 {
			return r.Until(release) // in the middle: the daemon dies now
		}
		return r
	})
	l.Start()
	stdout, stderr, code := l.Run(l.Repo, "run", "--detach", "--json", "--provider", "claude", goal)
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	var a answer
	if err := json.Unmarshal([]byte(stdout), &a); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	if _, err := srv.Wait(t.Context(), func(r *model.Request) bool { return r.Number() == 3 }); err != nil {
		t.Fatal(err)
	}
	l.Kill()
	close(release)
	if _, err := srv.Wait(t.Context(), func(r *model.Request) bool { return r.Number() == 5 }); err != nil {
		t.Fatal(err)
	}
	l.Start()
	v := l.Rest(string(a.Agent.ID))
	if v.Status != cw.StatusIdle || v.ExitCode == nil || *v.ExitCode != 0 || v.Commits() != 1 || len(v.Runs) != 1 {
		t.Errorf("status %s %s (%s), exit %v, %d commits, %d runs", v.Status, v.Reason, v.Error, v.ExitCode, v.Commits(), len(v.Runs))
	}
	raw := string(l.Raw(string(v.ID), 1))
	if n := strings.Count(raw, `"type":"result"`); n != 1 || !strings.HasSuffix(raw, "\n") {
		t.Errorf("%d results in the stored output", n)
	}
}

func hasFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
