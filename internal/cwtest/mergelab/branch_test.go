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
// next: as an agent that goes around the checks would. The branch is put back,
// and what somebody made is kept beside it.
func TestBranchMoved(t *testing.T) {
	t.Parallel()
	for name, moves := range map[string]func(h *house, head string) string{ // the branch; gives the commit that is kept
		"deleted": func(h *house, _ string) string { return "" },
		"forward": func(h *house, head string) string { return h.commitOn(head, "Around the checks") },
		"elsewhere": func(h *house, _ string) string {
			return h.commitOn("", "From nowhere")
		},
		"back": func(h *house, head string) string { return h.inMirror("rev-parse", head+"^") },
	} {
		t.Run(name, func(t *testing.T) {
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
			moved := moves(h, head)
			if moved == "" {
				h.inMirror("update-ref", "-d", "refs/heads/"+branch)
			} else {
				h.inMirror("update-ref", "refs/heads/"+branch, moved)
			}
			_, err := h.Client().DecideTask(t.Context(), h.tasks["gate"], cw.TaskVerdict{Accept: true})
			h.need(err)
			h.taskIs("second", cw.TaskDone)
			log := h.inMirror("log", "--format=%s", branch)
			if !strings.Contains(log, "first") || !strings.Contains(log, "second") || strings.Contains(log, "Around") || strings.Contains(log, "nowhere") {
				t.Errorf("on the branch is:\n%s", log)
			}
			if kept := h.inMirror("for-each-ref", "--format=%(objectname)", "refs/cw/moved"); kept != moved {
				t.Errorf("somebody moved it to %q, and %q is kept", moved, kept)
			}
			h.tidy()
		})
	}
}

// TestBranchMovedBeforeMerge has somebody move the branch while finished work
// waits for a person: it is merged onto what the branch was.
func TestBranchMovedBeforeMerge(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	h.work(job{name: "first", does: writes("first", "first.txt", "first")},
		job{name: "second", kind: cw.TaskCheckpointVerify, after: []string{"first"}, does: writes("second", "second.txt", "second")})
	h.taskIs("second", cw.TaskVerifying)
	head := h.inMirror("rev-parse", branch)
	moved := h.commitOn(head, "Around the checks")
	h.inMirror("update-ref", "refs/heads/"+branch, moved)
	_, err := h.Client().DecideTask(t.Context(), h.tasks["second"], cw.TaskVerdict{Accept: true})
	h.need(err)
	h.taskIs("second", cw.TaskDone)
	if log := h.inMirror("log", "--format=%s", branch); strings.Contains(log, "Around") || h.inMirror("rev-parse", branch+"^1") != head {
		t.Errorf("it was merged onto:\n%s", log)
	}
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

// TestMovedAtDeath kills the daemon between the move of the branch and the moment
// in which that is stored: the next daemon knows that it was cw that moved it.
func TestMovedAtDeath(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.open()
	h.Kill()
	env := h.Env
	h.Env = append(append([]string{}, env...), "CW_FAILPOINT=merge/moved")
	h.Start()
	h.work(job{name: "only", does: writes("only", "only.txt", "only")})
	if !h.Ended(patience) {
		t.Fatal("the daemon does not die at the merge")
	}
	moved := h.inMirror("rev-parse", branch)
	h.Env = env
	h.Start()
	h.taskIs("only", cw.TaskDone)
	if head := h.inMirror("rev-parse", branch); head != moved {
		t.Errorf("the branch was moved to %s, and is at %s", moved, head)
	}
	if kept := h.inMirror("for-each-ref", "refs/cw/moved"); kept != "" {
		t.Errorf("it was taken for a move by somebody else: %s", kept)
	}
	h.tidy()
}
