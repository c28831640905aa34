package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/draw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
	"cw/internal/proc"
)

func TestDoesATask(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, srv := newLab(t, p, done)
		base := lab.Git(t, l.Repo, "rev-parse", "HEAD")

		a, stderr, code := p.run(t, l, goal)
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
		if a.Agent.CostUSD > 0 != p.hasCosts || a.Agent.Usage.OutputTokens == 0 || a.Agent.SessionID == "" {
			t.Errorf("cost %v, usage %+v, session %q", a.Agent.CostUSD, a.Agent.Usage, a.Agent.SessionID)
		}
		if to := srv.Outbound(); len(to) > 0 {
			t.Errorf("%s tried to reach %v", p.name, to)
		}
		if !strings.Contains(stderr, "First the file.") {
			t.Errorf("the agent's words are not shown:\n%s", stderr)
		}
	})
}

// TestNeedsEachBlock: the scenarios cannot do their work when the prompt does
// not tell them how.
func TestNeedsEachBlock(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		for _, tt := range draw.Third([]struct {
			name, tag string
			scenario  model.Scenario
		}{
			{"done", "signal_format", done}, {"done", "workspace", done}, {"done", "task", done},
			{"asks", "signal_format", asks}, {"gives up", "signal_format", givesUp},
		}) {
			t.Run(tt.name+" without "+tt.tag, func(t *testing.T) {
				t.Parallel()
				l, srv := newLab(t, p, without(tt.tag, tt.scenario))
				a, _, code := p.run(t, l, goal)
				if code != 1 || a.Agent.Status != cw.StatusCrashed {
					t.Errorf("exit %d, status %s: it went well without <%s>", code, a.Agent.Status, tt.tag)
				}
				if len(srv.TakeErrors()) == 0 {
					t.Error("the scenario did not miss the block")
				}
			})
		}
	})
}

func TestAsks(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, _ := newLab(t, p, asks)
		a, stderr, code := p.run(t, l, goal)
		if code != 7 || a.Agent.Status != cw.StatusWaitingForInput || len(a.Agent.PendingQuestions) == 0 {
			t.Fatalf("exit %d, status %s, %d questions\n%s", code, a.Agent.Status, len(a.Agent.PendingQuestions), stderr)
		}
		q := a.Agent.PendingQuestions[0]
		if !cw.IsID(string(q.ID)) || q.Text == "" || len(q.Options) < 2 || q.Key != "q1" {
			t.Errorf("question %+v", q)
		}
	})
}

// TestEndsBadly: how a run is judged that ends without its work done.
func TestEndsBadly(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		always := func(r model.Reply) model.Scenario { return func(*model.Turn) model.Reply { return r } }
		for _, tt := range []struct {
			name     string
			scenario model.Scenario
			reason   cw.Reason
			text     string // in the error
		}{
			{"gives up", givesUp, cw.ReasonAgentError, "there is no compiler"},
			{"no signal", always(model.Say("I am done, believe me.")), cw.ReasonNoSignal, "signal.json"},
			{"refused credentials", always(model.Fail(p.refused)), cw.ReasonAuth, "credentials"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				l, _ := newLab(t, p, tt.scenario)
				a, _, code := p.run(t, l, goal)
				if code != 1 || a.Agent.Status != cw.StatusCrashed || a.Agent.Reason != tt.reason || !strings.Contains(a.Agent.Error, tt.text) {
					t.Errorf("exit %d, status %s %s: %s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error)
				}
			})
		}
	})
}

// TestAtItsLimit: the limit is seen, and exactly when it ends, wherever the CLI
// tells that. Without another account the agent is parked until then.
func TestAtItsLimit(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, _ := newLab(t, p, func(*model.Turn) model.Reply { return model.Fail(p.atLimit) })
		l.Env = append(l.Env, p.account...)
		a, _, code := p.run(t, l, "--no-wait-parked", goal)
		if code != 6 || a.Agent.Status != cw.StatusParked || a.Agent.Reason != cw.ReasonUsageLimit || a.Agent.RetryAt == nil || !a.Agent.RetryAt.Equal(resets) {
			t.Errorf("exit %d, status %s %s (%s), retry at %v, want %v", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, a.Agent.RetryAt, resets)
		}
	})
}

// TestRecovers: trouble with the provider that passes is no end of the run.
func TestRecovers(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, srv := newLab(t, p, func(t *model.Turn) model.Reply {
			r := done(t)
			if t.Number() == 2 {
				return r.FailFirst(1, p.passing)
			}
			return r
		})
		a, stderr, code := p.run(t, l, goal)
		if code != 0 || a.Agent.Status != cw.StatusIdle || a.Commits != 1 || a.Agent.Error != "" {
			t.Errorf("exit %d, status %s (%s %s), %d commits\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, a.Commits, stderr)
		}
		if n := len(srv.Requests()); n != 6 { // 5 turns, one of them twice
			t.Errorf("%d requests: nothing was tried again", n)
		}
	})
}

// spawn starts an agent and does not wait.
func (p provider) spawn(t *testing.T, l *lab.Lab) cw.AgentView {
	t.Helper()
	a, stderr, code := p.run(t, l, "--detach", goal)
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, stderr, l.DaemonLog())
	}
	return a.Agent
}

// spawnSlow starts an agent and waits until it is in the middle of a tool call.
func (p provider) spawnSlow(t *testing.T, l *lab.Lab) cw.AgentView {
	t.Helper()
	return l.Until(string(p.spawn(t, l).ID), func(v cw.AgentView) bool {
		return v.Activity != nil && v.Activity.Tool == p.shell && hasFile(filepath.Join(v.AgentCwd, ".cw/tmp/started"))
	})
}

func TestIsKilled(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, _ := newLab(t, p, slow)
		v := p.spawnSlow(t, l)
		id, err := proc.IdentityOf(v.PID)
		if err == nil {
			err = id.Signal(syscall.SIGKILL)
		}
		if err != nil {
			t.Fatal(err)
		}
		v = l.Rest(string(v.ID))
		if v.Status != cw.StatusCrashed || v.Reason != cw.ReasonKilled || v.Runs[0].TermSignal != "SIGKILL" {
			t.Errorf("status %s %s: %s", v.Status, v.Reason, v.Error)
		}
		nothingLeft(t, l)
	})
}

func TestIsStopped(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, _ := newLab(t, p, slow)
		v := p.spawnSlow(t, l)
		if _, stderr, code := l.Run(l.Repo, "agent", "stop", v.Alias); code != 0 {
			t.Fatalf("exit %d\n%s", code, stderr)
		}
		v = l.Rest(string(v.ID))
		if v.Status != cw.StatusStopped || v.Reason != cw.ReasonUser {
			t.Errorf("status %s %s: %s", v.Status, v.Reason, v.Error)
		}
		nothingLeft(t, l)
	})
}

func nothingLeft(t *testing.T, l *lab.Lab) {
	t.Helper()
	for _, p := range lab.Processes(string(l.Home)) {
		if p.Run != "" {
			t.Errorf("left behind: %d %s", p.PID, p.Command)
		}
	}
}

// TestDaemonDies: the daemon is killed in the middle of a task; the CLI goes on,
// and the next daemon finishes the run with all its output.
func TestDaemonDies(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		release := make(chan struct{})
		l, srv := newLab(t, p, func(t *model.Turn) model.Reply {
			r := done(t)
			if t.Number() == 3 {
				return r.Until(release) // in the middle: the daemon dies now
			}
			return r
		})
		l.Start()
		id := string(p.spawn(t, l).ID)
		at := func(turn int) {
			t.Helper()
			if _, err := srv.Wait(t.Context(), func(r *model.Request) bool { return r.Number() == turn }); err != nil {
				t.Fatal(err)
			}
		}
		at(3)
		l.Kill()
		close(release)
		at(5)
		l.Start()
		v := l.Rest(id)
		if v.Status != cw.StatusIdle || v.ExitCode == nil || *v.ExitCode != 0 || v.Commits() != 1 || len(v.Runs) != 1 {
			t.Errorf("status %s %s (%s), exit %v, %d commits, %d runs", v.Status, v.Reason, v.Error, v.ExitCode, v.Commits(), len(v.Runs))
		}
		raw := string(l.Raw(id, 1))
		if n := strings.Count(raw, p.end); n != 1 || !strings.HasSuffix(raw, "\n") {
			t.Errorf("%d ends in the stored output", n)
		}
	})
}

func hasFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
