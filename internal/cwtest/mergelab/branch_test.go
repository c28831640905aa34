package mergelab

import (
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// commitOn makes a commit in cw's own copy, as somebody would by hand: on top of
// parent, or of nothing.
func (h *house) commitOn(parent, message string) string {
	h.T.Helper()
	args := []string{"-c", "user.name=Somebody", "-c", "user.email=somebody@shop.invalid", "commit-tree", "-m", message}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	return h.inMirror(append(args, branch+"^{tree}")...)
}

// TestBranchMoved has somebody move, delete and build on the branch of an
// initiative in cw's own copy, between the merge of one task and the start of the
// next.
func TestBranchMoved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		does func(h *house, head string) // to the branch
		want string                      // reason to wait; "" for none
		kept string                      // a commit by hand that stays on the branch
	}{
		{"deleted", func(h *house, head string) { h.inMirror("update-ref", "-d", "refs/heads/"+branch) }, "", ""},
		{"forward", func(h *house, head string) {
			h.inMirror("update-ref", "refs/heads/"+branch, h.commitOn(head, "By hand"))
		}, "", "By hand"},
		{"elsewhere", func(h *house, head string) {
			h.inMirror("update-ref", "refs/heads/"+branch, h.commitOn("", "From nowhere"))
		}, "was moved from", ""},
		{"back", func(h *house, head string) { h.inMirror("update-ref", "refs/heads/"+branch, head+"^") }, "was moved from", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			h.open()
			gate := cw.TaskCheckpointAction
			h.work(
				job{name: "first", does: writes("first", "first.txt", "first")},
				job{name: "gate", kind: gate, after: []string{"first"}},
				job{name: "second", after: []string{"gate"}, does: writes("second", "second.txt", "second")},
			)
			h.taskIs("first", cw.TaskDone)
			h.taskIs("gate", cw.TaskReady)
			head := h.inMirror("rev-parse", branch)
			c.does(h, head)
			moved := lab.Git(t, h.mirror(), "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
			_, err := h.Client().DecideTask(t.Context(), h.tasks["gate"], cw.TaskVerdict{Accept: true})
			h.need(err)
			if c.want != "" {
				h.waits("second", cw.WaitRetry, c.want)
				if now := h.inMirror("rev-parse", branch); now != moved {
					t.Errorf("the branch that somebody moved to %s is at %s", moved, now)
				}
				h.inMirror("update-ref", "refs/heads/"+branch, head, moved) // as the hint says
				_, err := h.Client().RetryTask(t.Context(), h.tasks["second"])
				h.need(err)
			}
			h.taskIs("second", cw.TaskDone)
			log := h.inMirror("log", "--format=%s", branch)
			for _, want := range []string{"first", "second", c.kept} {
				if !strings.Contains(log, want) {
					t.Errorf("%q is not on the branch:\n%s", want, log)
				}
			}
			h.tidy()
		})
	}
}

// TestBranchMovedBeforeMerge has somebody move the branch while finished work
// waits for a person: it is not merged before the branch is back.
func TestBranchMovedBeforeMerge(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	h.work(job{name: "first", does: writes("first", "first.txt", "first")},
		job{name: "second", kind: cw.TaskCheckpointVerify, after: []string{"first"}, does: writes("second", "second.txt", "second")})
	h.taskIs("second", cw.TaskVerifying)
	head := h.inMirror("rev-parse", branch)
	moved := h.commitOn("", "From nowhere")
	h.inMirror("update-ref", "refs/heads/"+branch, moved)
	_, err := h.Client().DecideTask(t.Context(), h.tasks["second"], cw.TaskVerdict{Accept: true})
	h.need(err)
	h.held("second", "was moved from")
	if now := h.inMirror("rev-parse", branch); now != moved {
		t.Errorf("the branch that somebody moved to %s is at %s", moved, now)
	}
	h.inMirror("update-ref", "refs/heads/"+branch, head)
	h.taskIs("second", cw.TaskDone)
	h.tidy()
}

// TestShownAfterDeath kills the daemon between the last merge and the moment in
// which the user is shown it: the next daemon shows it.
func TestShownAfterDeath(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	h.Kill()
	env := h.Env
	h.Env = append(append([]string{}, env...), "CW_FAILPOINT=merge/stored")
	h.Start()
	h.work(job{name: "only", does: writes("only", "only.txt", "only")})
	for !h.Ended(patience) {
		t.Fatal("the daemon does not die after the merge")
	}
	h.Env = env
	h.Start()
	h.taskIs("only", cw.TaskDone)
	head := h.inMirror("rev-parse", branch)
	h.until("the user is shown the branch", func() bool {
		return strings.HasPrefix(lab.Git(t, h.Repo, "for-each-ref", "--format=%(objectname)", "refs/remotes/"+branch), head)
	})
	h.tidy()
}
