package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// aider is a stand-in that prints what the documentation of the real one says.
// The real one cannot be had here.
var aider = provider{name: "aider"}

// aiderLab is a lab with the stand-in on its PATH.
func aiderLab(t *testing.T) *lab.Lab {
	t.Helper()
	l := lab.New(t, binary)
	bin := t.TempDir()
	self, err := os.Executable()
	must(t, err)
	must(t, os.Symlink(self, filepath.Join(bin, fakecli.Aider)))
	l.Env = append(l.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	return l
}

// TestAider: it cannot write a signal, and its exit code is 0 always. How a run
// ended is told by its words, and by what it committed.
func TestAider(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		how     string // of fakecli.AiderKey
		status  cw.AgentStatus
		reason  cw.Reason
		text    string // in the error, or in what it says of an end without changes
		commits int
		code    int
		cost    float64
	}{
		{"well", cw.StatusIdle, "", "", 1, 0, 0.0062},
		{"busy", cw.StatusIdle, "", "", 1, 0, 0.0062},
		{"idle", cw.StatusIdle, "", "changed nothing", 0, 0, 0.0031},
		{"limited", cw.StatusParked, cw.ReasonUsageLimit, "credit balance is too low", 0, 6, 0},
		{"refused", cw.StatusCrashed, cw.ReasonAuth, "invalid x-api-key", 0, 1, 0},
		{"down", cw.StatusCrashed, cw.ReasonAgentError, "Overloaded", 0, 1, 0},
	} {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			l := aiderLab(t)
			l.Env = append(l.Env, "ANTHROPIC_API_KEY="+fakecli.AiderKey(tt.how))
			a, stderr, code := aider.run(t, l, "--no-wait-parked", goal)
			v := a.Agent
			if code != tt.code || v.Status != tt.status || v.Reason != tt.reason || a.Commits != tt.commits || v.CostUSD != tt.cost {
				t.Fatalf("exit %d, status %s %s (%s), %d commits, $%v\n%s\n%s", code, v.Status, v.Reason, v.Error, a.Commits, v.CostUSD, stderr, l.DaemonLog())
			}
			if !strings.Contains(v.Error+v.NoChanges, tt.text) || v.Runs[0].UnknownLines > 0 || len(v.Warnings) > 0 && tt.commits > 0 {
				t.Errorf("error %q, no changes %q, %d unknown lines, warnings %q", v.Error, v.NoChanges, v.Runs[0].UnknownLines, v.Warnings)
			}
			if tt.commits > 0 && committed(t, l, v, "greeting.txt") != "Good morning." {
				t.Error("it committed something else")
			}
		})
	}
}

// TestAiderFailsOver: an account without credit, and the next one does the task.
func TestAiderFailsOver(t *testing.T) {
	t.Parallel()
	l := aiderLab(t)
	l.Start()
	for _, name := range []string{"limited", "well"} {
		cwDo(t, l, fakecli.AiderKey(name)+"\n", "account", "add", "--provider", "aider", "--name", name, "--api-key")
	}
	cwDo(t, l, "", "account", "disable", "aider/default")
	a, stderr, code := aider.run(t, l, "--no-wait-parked", "--account", "limited", goal)
	if code != 0 {
		t.Fatalf("exit %d, status %s (%s %s)\n%s\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, stderr, l.DaemonLog())
	}
	v := l.Rest(string(a.Agent.ID))
	finished(t, l, v)
	from, to := account(t, l, "limited"), account(t, l, "well")
	if len(v.Runs) != 2 || v.Runs[0].AccountID != from.ID || v.Runs[1].AccountID != to.ID || v.Runs[1].Reason != cw.RunFailover || !v.Runs[1].Fresh {
		t.Errorf("runs %+v", v.Runs)
	}
}
