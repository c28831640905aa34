package mergelab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// stepsOfOne are the steps that TestLine leaves out, in the order in which one
// task comes by them.
func stepsOfOne() []string {
	return []string{
		"setup/begun", "commands/prepared", "commands/started", "setup/run", "setup/stored",
		"worktree/scratch-intent", "worktree/scratch-whole", "worktree/scratch-aside", "worktree/published",
	}
}

// TestOneTaskKilled kills the daemon at every step of the set-up, the checkout and
// the commands of one task. Each command is run once, what the set-up made is
// nobody's work, and the task is merged once.
func TestOneTaskKilled(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	book := filepath.Join(h.Books, "commands")
	note := func(what string) string { return fmt.Sprintf("sleep 0.2; echo %s >> %s", what, book) }
	h.commit(h.Repo, "Furnish the shop", map[string]string{
		".gitignore": "made.txt\n",
		"cw.yaml": fmt.Sprintf("setup:\n  - name: one\n    run: %s; echo made > made.txt\n  - name: two\n    run: %s; test -f made.txt\n"+
			"checks:\n  - name: words\n    run: %s; test -f made.txt && test -f work.txt\n", note("one"), note("two"), note("check")),
	})
	h.open()
	h.trust()
	mine := h.belongings()
	_, err := h.Client().SetDispatch(t.Context(), cw.DispatchRequest{State: cw.DispatchPaused})
	h.need(err)
	h.work(job{name: "work", paths: []string{"work.txt"}, does: shell("work", "test -f made.txt", "echo work > work.txt")})
	h.Kill()

	d := &deaths{h: h, base: h.Env, steps: stepsOfOne()}
	d.launch()
	h.mend = d.mend
	h.until("it goes on", func() bool {
		_, err := h.Client().SetDispatch(t.Context(), cw.DispatchRequest{State: cw.DispatchRunning})
		return err == nil
	})
	h.within(time.Duration(len(stepsOfOne()))*patience, "the task is done, and a daemon died at each step", func() bool {
		task, err := h.Client().Task(t.Context(), h.tasks["work"])
		return err == nil && task.Status == cw.TaskDone && len(d.steps) == 0
	})
	h.same(mine)
	// The set-up of the worktree, and then that of the checkout with the check.
	ran, err := os.ReadFile(book)
	h.need(err)
	if got := strings.Join(strings.Fields(string(ran)), " "); got != "one two one two check" {
		t.Errorf("what was run: %s", got)
	}
	agents, err := cw.AllAgents(t.Context(), h.Client(), cw.AgentFilter{})
	h.need(err)
	books, err := fakecli.ReadBooks(h.Books)
	h.need(err)
	if len(agents) != 1 || len(books) != 1 {
		t.Fatalf("there were %d agents and %d runs", len(agents), len(books))
	}
	for run, b := range books {
		if b.Starts() != 1 {
			t.Errorf("run %s was started %d times", run, b.Starts())
		}
	}
	head := h.inMirror("rev-parse", "refs/heads/"+branch)
	h.until("the user is shown the head of the branch", func() bool {
		return lab.Git(t, h.Repo, "rev-parse", "refs/remotes/"+branch) == head
	})
	if files := h.inMirror("ls-tree", "-r", "--name-only", head); strings.Contains(files, "made.txt") || !strings.Contains(files, "work.txt") {
		t.Errorf("on the branch are\n%s", files)
	}
	if n := lab.Git(t, h.Repo, "rev-list", "--count", "--first-parent", "main.."+head); n != "1" {
		t.Errorf("the branch went forward by %s", n)
	}
	h.tidy()
}
