package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mergeKilledEnv makes this binary the process that the tests here end.
const mergeKilledEnv = "CW_TEST_KILLED_MERGE"

type mergeJob struct {
	Repos       string
	Do, At      string
	Integration IntegrationRequest
	To          string
	Land        LandRequest
	Scratch     string
	Alias       string
}

func killedMerge() {
	var job mergeJob
	if err := json.Unmarshal([]byte(os.Getenv(mergeKilledEnv)), &job); err != nil {
		panic(err)
	}
	m := New(Options{ReposDir: job.Repos, Fail: func(step string) {
		if step == job.At {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	if err := mergeAct(m, job); err != nil {
		fmt.Println(err)
		os.Exit(4)
	}
	os.Exit(0)
}

func mergeAct(m *Manager, job mergeJob) (err error) {
	ctx, i := context.Background(), job.Integration
	switch job.Do {
	case "ensure":
		_, _, err = m.EnsureIntegration(ctx, i)
	case "move":
		err = m.MoveIntegration(ctx, i.Project, i.InitiativeID, i.Branch, i.Known, job.To)
	case "publish":
		_, err = m.PublishIntegration(ctx, i.Project, i.Branch, job.To)
	case "land":
		_, err = m.Land(ctx, job.Land)
	case "scratch":
		_, err = m.AddScratch(ctx, i.Project, job.To, job.Scratch, nil)
	case "unscratch":
		err = m.RemoveScratch(ctx, i.Project, job.Scratch)
	case "clone":
		err = m.FetchRemote(ctx, i.Project, nil)
	case "push":
		_, err = m.PushBranch(ctx, i.Project, i.Branch, job.To, nil)
	case "discard":
		err = m.Discard(ctx, i.Project, job.Alias, job.Scratch)
	}
	return err
}

// TestMergingKilledAtEachStep ends the process at every failpoint. What is there
// then is as before or as after; the same act done again ends well.
func TestMergingKilledAtEachStep(t *testing.T) {
	t.Parallel()
	tests := []struct{ do, at string }{
		{"ensure", "worktree/fetched"}, {"ensure", "worktree/integration-fetched"}, {"ensure", "worktree/integration-made"},
		{"ensure again", "worktree/integration-mended"},
		{"move", "worktree/integration-moved"},
		{"publish", "worktree/published"},
		{"land", "worktree/land-fetched"}, {"land", "worktree/landed"},
		{"scratch", "worktree/scratch-intent"}, {"scratch", "worktree/scratch-added"}, {"scratch", "worktree/scratch-whole"},
		{"unscratch", "worktree/scratch-aside"}, {"unscratch", "worktree/scratch-removed"},
	}
	for _, test := range tests {
		t.Run(strings.ReplaceAll(test.do+" "+test.at, "/", "-"), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.ensure()
			git(t, l.repo, "checkout", "-q", "--detach")
			git(t, l.repo, "commit", "-q", "--allow-empty", "-m", "on no branch")
			i := l.initiative("goal")
			job := mergeJob{Repos: l.m.repos, Do: strings.TrimSuffix(test.do, " again"), At: test.at, Integration: i.request(""), Scratch: filepath.Join(l.home, "check")}
			start := job.Integration.Base.Commit
			if test.do != "ensure" {
				i.begin()
				git(t, l.repo, "checkout", "-q", "main")
				job.Integration.Known, job.To = start, l.commitOn([]string{start}, map[string]string{"x.txt": "x\n"})
				job.Land = l.landRequest(job.To)
			}
			switch test.do {
			case "ensure again":
				git(t, l.mirror(), "update-ref", "-d", "refs/heads/"+i.branch)
			case "unscratch":
				l.addScratch(job.To, job.Scratch)
			}
			user := snapshot(t, l.repo)
			if !mergeKilledAt(t, job) {
				t.Fatal("the step was never reached")
			}
			switch after := strings.HasSuffix(test.at, "/landed"); {
			case test.do == "land" && !after:
				if got := changes(user, snapshot(t, l.repo)); got != nil {
					t.Errorf("%q were touched", got)
				}
			case after:
				if git(t, l.repo, "rev-parse", "main") != job.To || read(t, filepath.Join(l.repo, "x.txt")) != "x\n" || git(t, l.repo, "status", "--porcelain") != "" {
					t.Error("it landed by half")
				}
			}
			if branch, keep := i.ref("refs/heads/"+i.branch), i.ref(integrationRef(i.id)); branch != keep && branch != "" {
				t.Errorf("the branch is at %s, kept is %s", branch, keep)
			}
			for range 2 {
				if err := mergeAct(l.m, job); err != nil {
					t.Fatal(err)
				}
			}
			switch job.Do {
			case "ensure":
				if i.ref("refs/heads/"+i.branch) != start || i.ref(integrationRef(i.id)) != start || i.ref(integrationBaseRef(i.id)) != start {
					t.Error(git(t, l.mirror(), "for-each-ref"))
				}
			case "move":
				if i.ref("refs/heads/"+i.branch) != job.To || i.ref(integrationRef(i.id)) != job.To {
					t.Error(git(t, l.mirror(), "for-each-ref"))
				}
			case "land":
				if git(t, l.repo, "rev-parse", "main") != job.To {
					t.Error("it is not landed")
				}
			case "scratch":
				if got, err := l.m.ScratchChanged(ctx(t), l.p, job.Scratch, job.To); err != nil || got != nil {
					t.Errorf("%q, %v", got, err)
				}
			case "unscratch":
				l.noScratchLeft(job.Scratch)
			}
			l.add("calm-fox")
			git(t, l.mirror(), "fsck", "--no-dangling")
			if got := l.takeRestored(); got != nil {
				t.Errorf("reported as tampering: %q", got)
			}
		})
	}
}

func mergeKilledAt(t *testing.T, job mergeJob) bool {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), mergeKilledEnv+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		t.Fatalf("it was not killed: %v, %s", err, out)
	}
	return true
}
