package mergelab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// project is a cw.yaml with one check.
func project(run, timeout string) string {
	return fmt.Sprintf("checks:\n  - name: words\n    run: %s\n    timeout: %s\n", strconv.Quote(run), timeout)
}

// TestHostileChecks has checks that hang, flood, change what they check and leave
// processes behind.
func TestHostileChecks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, run, timeout string
		blocked            []string // what the task says; none when it is merged
	}{
		{"hangs", "echo begun; sleep 600", "2s", []string{`the check "words" fails`, "stopped after 2s", "begun"}},
		{"floods", "yes 'so many words' | head -c 73400320", "5m", []string{`the check "words" fails`, "more than 64 MiB"}},
		{"changes what it checks", "echo more >> README.md; rm -f check.sh; echo new > new.txt; git add -A; git -c user.name=x -c user.email=x@x.invalid commit -qm x", "1m", nil},
		{"leaves a process", "setsid sh -c 'echo $$ > '$LEFT'; exec sleep 299' >/dev/null 2>&1 & while ! [ -s $LEFT ]; do sleep 0.05; done", "1m", nil},
		{"fails", "echo no; exit 3", "1m", []string{`the check "words" fails: exit code 3`}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			left := filepath.Join(h.Books, "left")
			h.commit(h.Repo, "Check", map[string]string{"cw.yaml": fmt.Sprintf("env:\n  LEFT: %s\n", left) + project(c.run, c.timeout)})
			h.Env = append(h.Env, "CW_CONFIG_DISPATCH_HANDBACKS=0")
			h.open()
			h.work(job{name: "first", does: writes("first", "first.txt", "first")})
			h.waits("first", cw.WaitProject, "nobody has trusted", "cw project trust")
			h.trust()
			if len(c.blocked) > 0 {
				task := h.taskIs("first", cw.TaskBlocked)
				if !hasAll(task.Blocked, c.blocked) {
					t.Errorf("it is blocked since %q, that lacks one of %q", task.Blocked, c.blocked)
				}
				if h.inMirror("rev-parse", branch) != h.inMirror("rev-parse", branch+"@{0}") || strings.Contains(h.inMirror("log", "--format=%s", branch), "first") {
					t.Error("it was merged")
				}
			} else {
				h.taskIs("first", cw.TaskDone)
				m, _ := h.mergeOf("first")
				if at := h.inMirror("rev-parse", branch); len(m.Parts) != 1 || at != m.Parts[0].Commit {
					t.Errorf("the branch is at %s, merged was %+v", at, m.Parts)
				}
				if names := h.inMirror("diff", "--name-only", branch+"^1", branch); names != "first.txt" {
					t.Errorf("the merge changes %s", names)
				}
			}
			if pid, err := os.ReadFile(left); err == nil {
				n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
				h.need(err)
				h.until("what the check left is ended", func() bool { return syscall.Kill(n, 0) == syscall.ESRCH })
			}
			h.tidy()
		})
	}
}

// TestProjectFileChanges has a task change cw.yaml: it is merged only when a
// person trusts what it says then, and that is what checks it.
func TestProjectFileChanges(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	ledger := filepath.Join(h.Books, "ran")
	h.commit(h.Repo, "Check", map[string]string{"cw.yaml": project("true", "1m")})
	h.open()
	h.trust()
	changed := project("echo changed >> "+ledger, "1m")
	h.work(job{name: "first", does: writes("first", "cw.yaml", strings.Split(strings.TrimSpace(changed), "\n")...)})
	m := h.held("first", "nobody has trusted", "cw project trust")
	if _, err := os.Stat(ledger); err == nil {
		t.Fatal("a command ran that nobody trusts")
	}
	h.trust("--ref", m.Parts[0].Commit)
	h.taskIs("first", cw.TaskDone)
	if ran, err := os.ReadFile(ledger); err != nil || string(ran) != "changed\n" {
		t.Errorf("the new check ran: %q, %v", ran, err)
	}
	h.tidy()
}

// TestChecksTakenAway has tasks whose work takes the checks away, by leaving cw.yaml
// out or by emptying it: then nothing is left that needs trust, and nothing that
// checks. It is merged only when a person trusts just that.
func TestChecksTakenAway(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]fakecli.Script{
		"the file":  shell("first", "rm -f cw.yaml"),
		"all in it": writes("first", "cw.yaml", "merge: squash"),
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			h.commit(h.Repo, "Check", map[string]string{"cw.yaml": project("false", "1m")})
			h.open()
			h.trust()
			h.work(job{name: "first", does: does})
			m := h.held("first", "takes the checks of", "cw project trust")
			h.trust("--ref", m.Parts[0].Commit)
			h.taskIs("first", cw.TaskDone)
			h.tidy()
		})
	}
}
