package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/draw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
	"cw/internal/cwtest/realcli"
)

// further is a provider that this file alone is about: it does a task and goes
// on, which the suite asks of all in detail.
type further struct {
	provider
	// forgets tells that a later run knows of the earlier ones by the hand-over
	// alone.
	forgets bool
	// lost tells that cw is not on the PATH of the CLI's shell: a login shell,
	// whose /etc/profile may set another PATH.
	lost bool
	// outbound are the addresses that it tries to reach whatever is set.
	outbound []string
}

// furtherProviders are all with a real CLI beside those of the suite. realcli runs them,
// too; here a third is drawn in each run of the tests.
var furtherProviders = []further{
	{
		provider: provider{name: "opencode", ready: func(t *testing.T, _ realcli.Version, home, url string) (string, []string) {
			c := realcli.OpenCode(t)
			return filepath.Dir(c.Path), c.Env(t, home, url)
		}},
		outbound: []string{"registry.npmjs.org:443"},
	},
	{provider: provider{name: "gemini", ready: func(t *testing.T, _ realcli.Version, home, url string) (string, []string) {
		c := realcli.Gemini(t)
		return filepath.Dir(c.Path), c.Env(t, home, url)
	}}},
	{provider: provider{name: "qwen", ready: func(t *testing.T, _ realcli.Version, home, url string) (string, []string) {
		c := realcli.Qwen(t)
		return filepath.Dir(c.Path), c.Env(t, home, url)
	}}},
	{provider: provider{name: "copilot", ready: func(t *testing.T, _ realcli.Version, home, url string) (string, []string) {
		c := realcli.Copilot(t)
		return filepath.Dir(c.Path), c.Env(t, home, url)
	}}},
	{
		provider: provider{name: "cline", ready: func(t *testing.T, _ realcli.Version, home, url string) (string, []string) {
			c := realcli.Cline(t)
			return filepath.Dir(c.Path), c.Env(t, home, url)
		}},
		outbound: []string{"data.cline.bot:443"},
	},
	{
		provider: provider{name: "continue", echoes: true, ready: func(t *testing.T, _ realcli.Version, home, url string) (string, []string) {
			c := realcli.Continue(t)
			return filepath.Dir(c.Path), c.Env(t, home, url)
		}},
		forgets: true, lost: true,
	},
}

// TestFurtherProviders: with each provider an agent does its task as the prompt
// says, and goes on when it is resumed with another one. Their CLIs take up to
// 1.2 GB each, so that only two run at once.
func TestFurtherProviders(t *testing.T) {
	t.Parallel()
	atOnce := make(chan struct{}, 2)
	for _, p := range draw.Third(furtherProviders) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.ready(t, p.version, t.TempDir(), "") // skips before it waits
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			l, srv := newLab(t, p.provider, p.scenario())
			first := p.does(t, l)
			cwDo(t, l, "", "agent", "resume", first.Alias, farewell)
			cwDo(t, l, "", "agent", "logs", "--follow", first.Alias) // until it rests, however long that takes
			v := restsAfter(l, first, 2)
			wentOn(t, l, first, v, cw.RunFollowUp)
			if got := committed(t, l, v, "farewell.txt"); got != "Good night." || v.Runs[1].Fresh != p.forgets {
				t.Errorf("it committed %q, in a new session: %v", got, v.Runs[1].Fresh)
			}
			for _, to := range srv.Outbound() {
				if !slices.Contains(p.outbound, to) {
					t.Errorf("it tried to reach %s", to)
				}
			}
		})
	}
}

// scenario does the task, and in a later run the order that comes then.
func (p further) scenario() model.Scenario {
	s := afterwards(done, "Wrote greeting.txt.")
	if p.forgets {
		s = handedOver
	}
	if p.lost {
		return withoutCW(s)
	}
	return s
}

// withoutCW plays a scenario with an id of its own in the place of cw's.
func withoutCW(s model.Scenario) model.Scenario {
	return func(t *model.Turn) model.Reply {
		r := s(t)
		for _, call := range r.Calls {
			if command, ok := call.Input["command"].(string); ok {
				call.Input["command"] = strings.Replace(command, "&& cw id", "&& echo abcdefghijkl", 1)
			}
		}
		return r
	}
}

// does runs an agent to the end of its task.
func (p further) does(t *testing.T, l *lab.Lab) cw.AgentView {
	t.Helper()
	a, stderr, code := p.run(t, l, goal)
	if code != 0 || a.Agent.Status != cw.StatusIdle || a.Commits != 1 || a.FilesChanged != 1 {
		t.Fatalf("exit %d, status %s (%s %s), %d commits\n%s\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, a.Commits, stderr, l.DaemonLog())
	}
	if got := lab.Git(t, l.Repo, "show", a.Branch+":greeting.txt"); got != "Good morning." || a.Agent.Result != "Committed "+a.HeadCommit {
		t.Errorf("it committed %q and said %q", got, a.Agent.Result)
	}
	if a.Agent.SessionID == "" || !strings.Contains(stderr, "Wrote greeting.txt.") {
		t.Errorf("session %q, shown were\n%s", a.Agent.SessionID, stderr)
	}
	return a.Agent
}

// handedOver does the task, and in a later run, whose session is new and is told
// all of it again, what a person wrote.
func handedOver(t *model.Turn) model.Reply {
	if slices.Equal(t.Prompt().Tags(), executeTags) {
		return done(t)
	}
	t.RequireTags(append(slices.Clip(executeTags), "hand_over", "follow_up", "new_run")...)
	t.Require(len(t.Earlier()) == 0, "the session is not new")
	return work(t, t.Block("follow_up"))
}
