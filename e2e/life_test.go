package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/draw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
)

// cwDo runs a cw command that must go well, and gives what it printed.
func cwDo(t *testing.T, l *lab.Lab, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(l.Binary, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = l.Repo, l.Environ(), strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("cw %s: %v\n%s\n%s", strings.Join(args, " "), err, stderr.String(), l.DaemonLog())
	}
	return string(stdout)
}

// waits runs an agent to its questions.
func (p provider) waits(t *testing.T, l *lab.Lab) cw.AgentView {
	t.Helper()
	a, stderr, code := p.run(t, l, goal)
	if code != 7 || a.Agent.Status != cw.StatusWaitingForInput {
		t.Fatalf("exit %d, status %s (%s %s)\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, stderr)
	}
	return a.Agent
}

// answers gives an agent answers to all that it asks, as the list shows it, and
// returns the first one.
func answers(t *testing.T, l *lab.Lab, alias string) string {
	t.Helper()
	var open []cw.QuestionView
	must(t, json.Unmarshal([]byte(cwDo(t, l, "", "question", "list", "--json", "--agent", alias)), &open))
	given := map[cw.QuestionID]string{}
	for _, q := range open {
		given[q.ID] = q.Options[0].Label
	}
	data, err := json.Marshal(given)
	must(t, err)
	cwDo(t, l, string(data), "agent", "answer", alias, "--answers", "-")
	return open[0].Options[0].Label
}

// restsAfter waits until an agent is at rest after so many runs, and all is
// cleared up.
func restsAfter(l *lab.Lab, v cw.AgentView, runs int) cw.AgentView {
	l.T.Helper()
	return l.Until(string(v.ID), func(v cw.AgentView) bool {
		return v.Status.AtRest() && len(v.Runs) >= runs && !v.Settling
	})
}

// wentOn checks the last run of an agent that did its work: why there was one,
// and that it went on where the first one had been.
func wentOn(t *testing.T, l *lab.Lab, first, v cw.AgentView, reason cw.RunReason) {
	t.Helper()
	last := v.Runs[len(v.Runs)-1]
	if v.Status != cw.StatusIdle || last.Reason != reason || last.SessionNumber != v.SessionNumber || len(v.Warnings) > 0 {
		t.Fatalf("status %s (%s %s), run %d because of %s, warnings %q\n%s", v.Status, v.Reason, v.Error, v.SessionNumber, last.Reason, v.Warnings, l.DaemonLog())
	}
	if v.AgentCwd != first.AgentCwd || last.Fresh != (v.SessionID != first.SessionID) {
		t.Errorf("it went on in %s with %s, and had been in %s with %s", v.AgentCwd, v.SessionID, first.AgentCwd, first.SessionID)
	}
	if v.Projects[0].State != cw.WorktreeRemoved || hasFile(v.AgentCwd) {
		t.Errorf("the worktree is %s", v.Projects[0].State)
	}
	nothingLeft(t, l)
}

// committed gives a file on an agent's branch in the user's repository.
func committed(t *testing.T, l *lab.Lab, v cw.AgentView, file string) string {
	t.Helper()
	return lab.Git(t, l.Repo, "show", v.Branch+":"+file)
}

// beginnings counts how often the model was given a prompt with a block.
func beginnings(srv *model.Server, tag string) int {
	n := 0
	for _, r := range srv.Requests() {
		if r.Number() == 1 && slices.Contains(r.Prompt().Tags(), tag) {
			n++
		}
	}
	return n
}

// TestGoesOnWithAnswers: an agent that asked is answered and goes on, in its
// session and where it was.
func TestGoesOnWithAnswers(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, srv := newLab(t, p, asksFirst)
		first := p.waits(t, l)
		chosen := answers(t, l, first.Alias)
		v := restsAfter(l, first, 2)
		wentOn(t, l, first, v, cw.RunAnswers)
		if got, want := committed(t, l, v, "greeting.txt"), "Good morning. "+chosen+"."; got != want || v.SessionNumber != 2 {
			t.Errorf("run %d committed %q, want %q", v.SessionNumber, got, want)
		}
		if n := beginnings(srv, "answers"); n != 1 {
			t.Errorf("the answers were told %d times", n)
		}
		if _, stderr, code := l.Run(l.Repo, "question", "answer", string(first.PendingQuestions[0].ID), "another"); code != 4 || !strings.Contains(stderr, chosen) {
			t.Errorf("answered twice: exit %d\n%s", code, stderr)
		}
	})
}

// TestGoesOnAsTold: where nobody can be asked `cw run` prints the command that
// answers, and that command lets the agent go on.
func TestGoesOnAsTold(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, codex, asksFirst)
	stdout, stderr, code := l.Run(l.Repo, "run", "--provider", "codex", goal)
	if code != 7 {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	_, after, _ := strings.Cut(stdout, "cw question answer ")
	told, _, _ := strings.Cut(after, "\n")
	cmd := exec.Command("sh", "-c", "cw question answer "+told)
	cmd.Dir, cmd.Env = l.Repo, append(l.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s\n%s", told, err, out, stdout)
	}
	agents, err := cw.AllAgents(t.Context(), l.Client(), cw.AgentFilter{})
	must(t, err)
	v := restsAfter(l, agents[0], 2)
	wentOn(t, l, agents[0], v, cw.RunAnswers)
}

// TestAnsweredOnce: the daemon is killed as soon as an answer is acknowledged;
// the agent goes on exactly once.
func TestAnsweredOnce(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, srv := newLab(t, p, asksFirst)
		l.Start()
		first := p.waits(t, l)
		q := first.PendingQuestions[0]
		cwDo(t, l, "", "question", "answer", string(q.ID), "--option", q.Options[1].Label)
		l.Kill()
		l.Start()
		v := restsAfter(l, first, 2)
		wentOn(t, l, first, v, cw.RunAnswers)
		if n := beginnings(srv, "answers"); n != 1 || len(v.Runs) != 2 || v.Commits() != 1 {
			t.Errorf("the answers were told %d times; %d runs, %d commits", n, len(v.Runs), v.Commits())
		}
	})
}

// TestItsSessionIsGone: the CLI lost its session while the agent waited. It
// takes over from itself.
func TestItsSessionIsGone(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, srv := newLab(t, p, takesOver)
		first := p.waits(t, l)
		p.forgetSessions(t, l)
		chosen := answers(t, l, first.Alias)
		v := restsAfter(l, first, 3)
		wentOn(t, l, first, v, cw.RunAnswers)
		if got, want := committed(t, l, v, "greeting.txt"), "Good morning. "+chosen+"."; got != want || len(v.Runs) != 3 {
			t.Errorf("%d runs, the last committed %q, want %q", len(v.Runs), got, want)
		}
		if n := beginnings(srv, "hand_over"); n != 1 {
			t.Errorf("%d hand-overs", n)
		}
		var resumed []cw.AgentResumed
		for e, err := range l.Client().Events(t.Context(), cw.EventQuery{}) {
			must(t, err)
			if e.Type == cw.EventAgentResumed {
				var r cw.AgentResumed
				must(t, json.Unmarshal(e.Data, &r))
				resumed = append(resumed, r)
			}
		}
		if len(resumed) != 2 || resumed[0].Fresh || !resumed[1].Fresh || resumed[1].Why == "" || resumed[1].SessionNumber != 3 {
			t.Errorf("it is told as %+v", resumed)
		}
	})
}

// forgetSessions takes the sessions of the CLI away.
func (p provider) forgetSessions(t *testing.T, l *lab.Lab) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(l.Repo), p.sessions)
	if !hasFile(dir) {
		t.Fatalf("no sessions in %s", dir)
	}
	must(t, os.RemoveAll(dir))
}

// farewell is a text for an agent that knows its session.
const farewell = `Now write the sentence "Good night." into farewell.txt.`

// TestIsToldMore: what a person writes to an agent that works is queued, and is
// its next prompt as soon as it is idle.
func TestIsToldMore(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		release := make(chan struct{})
		l, srv := newLab(t, p, afterwards(func(t *model.Turn) model.Reply { return done(t).Until(release) }, "The signal."))
		l.Start()
		first := p.spawn(t, l)
		if _, err := srv.Wait(t.Context(), func(*model.Request) bool { return true }); err != nil {
			t.Fatal(err)
		}
		cwDo(t, l, "", "agent", "send", first.Alias, farewell)
		if n := l.Until(string(first.ID), func(cw.AgentView) bool { return true }).QueuedMessages; n != 1 {
			t.Errorf("%d texts are queued", n)
		}
		close(release)
		v := restsAfter(l, first, 2)
		if first.SessionID == "" { // codex had not told it yet
			first.SessionID = v.SessionID
		}
		wentOn(t, l, first, v, cw.RunFollowUp)
		if got := committed(t, l, v, "farewell.txt"); got != "Good night." || v.Commits() != 2 || len(v.Runs) != 2 {
			t.Errorf("%d commits in %d runs, the last with %q", v.Commits(), len(v.Runs), got)
		}
	})
}

// TestGoesOnAfterAStop: a stopped agent is resumed with a text, and knows what
// it did before.
func TestGoesOnAfterAStop(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, _ := newLab(t, p, afterwards(slow, "This will take a while."))
		first := p.spawnSlow(t, l)
		cwDo(t, l, "", "agent", "stop", first.Alias)
		cwDo(t, l, "", "agent", "resume", first.Alias, farewell)
		v := restsAfter(l, first, 2)
		wentOn(t, l, first, v, cw.RunFollowUp)
		if got := committed(t, l, v, "farewell.txt"); got != "Good night." || v.Runs[0].Outcome != cw.StatusStopped {
			t.Errorf("the first run ended %s, the second committed %q", v.Runs[0].Outcome, got)
		}
	})
}

// TestIsRestored: a removed agent is out of the way and refuses everything;
// restored it has its files and its questions again, and goes on in its session.
func TestIsRestored(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, _ := newLab(t, p, drafts)
		first := p.waits(t, l)
		cwDo(t, l, "", "agent", "remove", first.Alias)
		if list := cwDo(t, l, "", "agent", "list"); strings.Contains(list, first.Alias) || hasFile(first.AgentCwd) {
			t.Errorf("it is still there:\n%s", list)
		}
		if open := cwDo(t, l, "", "question", "list", "--json"); strings.TrimSpace(open) != "[]" {
			t.Errorf("its questions are open: %s", open)
		}
		if _, stderr, code := l.Run(l.Repo, "agent", "resume", first.Alias, "Go on."); code != 4 || !strings.Contains(stderr, "cw agent restore "+first.Alias) {
			t.Errorf("resumed while removed: exit %d\n%s", code, stderr)
		}
		cwDo(t, l, "", "agent", "restore", first.Alias)
		answers(t, l, first.Alias)
		v := restsAfter(l, first, 2)
		wentOn(t, l, first, v, cw.RunAnswers)
		if got := committed(t, l, v, "greeting.txt"); got != "A draft." {
			t.Errorf("committed %q", got)
		}
	})
}

// TestNeedsEachBlockOfALaterRun: what an agent is told in a later run is what it
// goes on with: without that block it cannot.
func TestNeedsEachBlockOfALaterRun(t *testing.T) {
	t.Parallel()
	answered := func(t *testing.T, l *lab.Lab, p provider, v cw.AgentView) { answers(t, l, v.Alias) }
	withEach(t, func(t *testing.T, p provider) {
		for _, tt := range draw.Third([]struct {
			tag      string
			scenario model.Scenario
			people   func(t *testing.T, l *lab.Lab, p provider, v cw.AgentView) // nil: nobody does anything
		}{
			{"answers", asksFirst, answered},
			{"hand_over", takesOver, func(t *testing.T, l *lab.Lab, p provider, v cw.AgentView) {
				p.forgetSessions(t, l)
				answers(t, l, v.Alias)
			}},
			{"missing_signal", insists, nil},
			{"commit_work", leavesWork, nil},
			{"nothing_committed", hasNothingToDo, nil},
			{"follow_up", afterwards(done, "The signal."), func(t *testing.T, l *lab.Lab, _ provider, v cw.AgentView) {
				cwDo(t, l, "", "agent", "send", v.Alias, farewell)
			}},
		}) {
			t.Run(tt.tag, func(t *testing.T) {
				t.Parallel()
				l, srv := newLab(t, p, without(tt.tag, tt.scenario))
				a, _, _ := p.run(t, l, goal)
				if tt.people != nil {
					tt.people(t, l, p, a.Agent)
				}
				l.Until(string(a.Agent.ID), func(v cw.AgentView) bool { return v.Status == cw.StatusCrashed && len(v.Runs) > 1 })
				if !slices.ContainsFunc(srv.TakeErrors(), func(err error) bool { return strings.Contains(err.Error(), tt.tag) }) {
					t.Error("the scenario did not miss the block")
				}
			})
		}
	})
}
