package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/draw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
	"cw/internal/cwtest/realcli"
)

// provider is a CLI that the suite runs, and all in which it differs.
type provider struct {
	name    string
	version realcli.Version // of claude and codex; "": the drawn one
	// ready gives the folder of the program and its environment at a model
	// server.
	ready func(t *testing.T, v realcli.Version, home, url string) (dir string, env []string)
	// account is the environment that makes it an account with usage limits.
	account []string

	atLimit model.Failure // with the time that resets names
	refused model.Failure // credentials that do not hold
	passing model.Failure // it tries again by itself and tells of it

	shell    string // its tool for commands, as its events name it
	end      string // what stands once in the raw output of a run, at its end
	hasCosts bool
	sessions string // where it keeps its sessions, below its home
	holds    int    // how often in a run it is held back until its signal is there
	echoes   bool   // it says its prompt in the system prompt, too
}

// resets is when all usage limits of the suite end.
var resets = time.Now().Add(time.Hour).Truncate(time.Second)

var claude = provider{
	name: "claude",
	ready: func(t *testing.T, v realcli.Version, home, url string) (string, []string) {
		c := realcli.Claude(t, v)
		return filepath.Dir(c.Path), append(c.Env(home, url), "CLAUDE_CODE_MAX_RETRIES=1")
	},
	account:  []string{"ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN=" + realcli.DummyKey},
	atLimit:  model.UsageLimitOAuth(resets),
	refused:  model.Unauthorized401(),
	passing:  model.Overloaded529(),
	shell:    "Bash",
	end:      `"type":"result"`,
	hasCosts: true,
	sessions: ".claude/projects",
	holds:    2,
}

var codex = provider{
	name: "codex",
	ready: func(t *testing.T, v realcli.Version, home, url string) (string, []string) {
		c := realcli.Codex(t, v)
		return filepath.Dir(c.Path), c.Env(t, home, url)
	},
	atLimit:  model.OpenAIUsageLimit(resets),
	refused:  model.OpenAI401(),
	passing:  inStream(model.OpenAIRateLimit()),
	shell:    "shell",
	end:      `"type":"turn.completed"`,
	sessions: ".codex/sessions",
}

func inStream(f model.Failure) model.Failure {
	f.InStream = true
	return f
}

// newLab makes a lab whose daemon knows the real CLI and the model server.
func newLab(t *testing.T, p provider, s model.Scenario) (*lab.Lab, *model.Server) {
	t.Helper()
	srv := model.New(t, s)
	l := lab.New(t, binary)
	l.Env = p.environ(t, filepath.Dir(l.Repo), srv.URL)
	return l, srv
}

// label is how the log names it: with its version where it has several.
func (p provider) label() string {
	return strings.TrimSpace(p.name + " " + string(p.version))
}

// environ is the environment in which the CLI is found, with a home, and reaches
// the model server.
func (p provider) environ(t *testing.T, home, url string) []string {
	t.Helper()
	dir, env := p.ready(t, p.version, home, url)
	for i, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			env[i] = "PATH=" + dir + ":" + path
		}
	}
	return env
}

// withEach runs a test with one of the two providers in one of its versions, drawn anew
// in each run, and with CW_LONG (make e2e-long) with both in both.
func withEach(t *testing.T, test func(t *testing.T, p provider)) {
	for _, p := range draw.Third([]provider{claude, codex}) {
		for _, v := range draw.Some(realcli.Versions(t), 1) {
			p := p
			p.version = v
			t.Run(p.label(), func(t *testing.T) {
				t.Parallel()
				test(t, p)
			})
		}
	}
}

// answer is what `cw run --json` prints.
type answer struct {
	Agent        cw.AgentView `json:"agent"`
	ExitReason   string       `json:"exitReason"`
	Branch       string       `json:"branch"`
	BaseCommit   string       `json:"baseCommit"`
	HeadCommit   string       `json:"headCommit"`
	Commits      int          `json:"commits"`
	FilesChanged int          `json:"filesChanged"`
}

// run runs `cw run` with the provider to its end.
func (p provider) run(t *testing.T, l *lab.Lab, args ...string) (answer, string, int) {
	t.Helper()
	stdout, stderr, code := l.Run(l.Repo, append([]string{"run", "--json", "--provider", p.name}, args...)...)
	var a answer
	if err := json.Unmarshal([]byte(stdout), &a); err != nil {
		t.Fatalf("exit %d, stdout is no JSON: %v\n%s\n%s\n%s", code, err, stdout, stderr, l.DaemonLog())
	}
	return a, stderr, code
}
