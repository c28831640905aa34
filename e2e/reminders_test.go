package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
	"cw/internal/cwtest/model"
)

// TestForgetsTheSignal: an agent that forgets its signal is reminded: where the
// CLI can be held back, in the same run, else in another one.
func TestForgetsTheSignal(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, _ := newLab(t, p, forgets)
		a, stderr, code := p.run(t, l, goal)
		v := restsAfter(l, a.Agent, 1)
		if code != 0 || len(v.Runs) != 2-min(1, p.holds) {
			t.Fatalf("exit %d, %d runs (%s %s)\n%s", code, len(v.Runs), v.Reason, v.Error, stderr)
		}
		want := cw.RunMissingSignal
		if p.holds > 0 {
			want = cw.RunSpawn
		}
		wentOn(t, l, v, v, want)
		committed(t, l, v, "greeting.txt")
	})
}

// TestIsHeldInAProjectWithoutHooks: a project that switches hooks off in its settings
// does not switch off the one by which cw holds claude back.
func TestIsHeldInAProjectWithoutHooks(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, claude, forgets)
	must(t, os.Mkdir(filepath.Join(l.Repo, ".claude"), 0o755))
	must(t, os.WriteFile(filepath.Join(l.Repo, ".claude", "settings.json"), []byte(`{"disableAllHooks":true}`), 0o644))
	lab.Git(t, l.Repo, "add", ".claude")
	lab.Git(t, l.Repo, "commit", "-q", "-m", "Switch hooks off")
	a, stderr, code := claude.run(t, l, goal)
	if v := restsAfter(l, a.Agent, 1); code != 0 || len(v.Runs) != 1 {
		t.Errorf("exit %d, %d runs (%s %s)\n%s", code, len(v.Runs), v.Reason, v.Error, stderr)
	}
}

// TestInsistsOnABadSignal: it is told what is wrong with it, as often as the CLI
// can be held back and in one more run, and not for ever.
func TestInsistsOnABadSignal(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		l, srv := newLab(t, p, insists)
		a, _, code := p.run(t, l, goal)
		v := a.Agent
		if code != 1 || v.Status != cw.StatusCrashed || v.Reason != cw.ReasonNoSignal || len(v.Runs) != 2 || v.Runs[1].Reason != cw.RunMissingSignal {
			t.Errorf("exit %d, status %s %s (%s), runs %+v", code, v.Status, v.Reason, v.Error, v.Runs)
		}
		if n, want := len(srv.Requests()), 3+2*p.holds; n != want { // one to write, one to insist in each run
			t.Errorf("%d requests, want %d", n, want)
		}
	})
}

// TestIsAskedForItsWork: an agent that is done without a commit is asked once,
// to commit what it left or to say why there is nothing.
func TestIsAskedForItsWork(t *testing.T) {
	t.Parallel()
	withEach(t, func(t *testing.T, p provider) {
		for _, tt := range []struct {
			name     string
			scenario model.Scenario
			exit     string
		}{
			{"leaves work", leavesWork, "committed"},
			{"nothing to do", hasNothingToDo, "noChanges"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				l, _ := newLab(t, p, tt.scenario)
				a, stderr, code := p.run(t, l, goal)
				if code != 0 || a.ExitReason != tt.exit || len(a.Agent.Runs) != 2 {
					t.Fatalf("exit %d, %s, %d runs (%s %s)\n%s", code, a.ExitReason, len(a.Agent.Runs), a.Agent.Reason, a.Agent.Error, stderr)
				}
				wentOn(t, l, a.Agent, restsAfter(l, a.Agent, 2), cw.RunCommit)
			})
		}
	})
}
