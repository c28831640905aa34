package orchestrator

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/worktree"
)

// holdsFor is an engine in which opened worktrees stay that long.
func holdsFor(d time.Duration) setup { return func(c *Config) { c.HoldFor = d } }

func (e *engine) mustOpen(ref string) cw.OpenedWorktree {
	e.t.Helper()
	opened, err := e.OpenWorktree(e.t.Context(), ref)
	must(e.t, err)
	return opened
}

// commits commits a file in a worktree, as a person does.
func commits(t *testing.T, dir, name string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), []byte("mine\n"), 0o600))
	for _, args := range [][]string{{"add", name}, {"-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "Add " + name}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}

// TestOpen: what was cleaned up is back at its path with the work, for as long
// as somebody says so; then it goes again, and what was committed there is in
// the user's repository.
func TestOpen(t *testing.T) {
	t.Parallel()
	e := newEngine(t, holdsFor(time.Second))
	before := e.rest(e.mustSpawn(e.request(does())).Alias)
	if there(before.AgentCwd) {
		t.Fatal("it was not cleaned up")
	}
	opened := e.mustOpen(before.Alias)
	if opened.Path != before.AgentCwd || opened.Branch != before.Branch || opened.Working() || !there(filepath.Join(opened.Path, "a.txt")) {
		t.Fatalf("%+v", opened)
	}
	if v, err := e.Agent(t.Context(), before.Alias); err != nil || v.Settling || v.WorktreeState != cw.WorktreePresent || v.HeldUntil == nil {
		t.Errorf("settling %v, worktree %s, held until %v, %v", v.Settling, v.WorktreeState, v.HeldUntil, err)
	}
	commits(t, opened.Path, "mine.txt")
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if again := e.mustOpen(before.Alias); again.HeldUntil.Before(opened.HeldUntil) || !there(filepath.Join(opened.Path, "mine.txt")) {
			t.Fatalf("held until %v, then until %v", opened.HeldUntil, again.HeldUntil)
		}
	}
	v := e.until(before.Alias, func(v cw.AgentView) bool { return v.HeldUntil == nil && !v.Settling })
	if there(opened.Path) || v.WorktreeState != cw.WorktreeRemoved || v.Commits() != 2 || len(v.Warnings) > 0 {
		t.Errorf("worktree %s, %d commits, warnings %q", v.WorktreeState, v.Commits(), v.Warnings)
	}
	if got := lab.Git(t, e.repo, "rev-parse", v.Branch); got != v.HeadCommit || got == before.HeadCommit {
		t.Errorf("the branch is at %s, was at %s", got, before.HeadCommit)
	}
}

// TestOpenKeeps: what a person left in an opened worktree stays, and so does the
// worktree of an agent whose places were never to go.
func TestOpenKeeps(t *testing.T) {
	t.Parallel()
	e := newEngine(t, holdsFor(time.Second))
	written := e.rest(e.mustSpawn(e.request(does())).Alias)
	note := filepath.Join(e.mustOpen(written.Alias).Path, "note")
	must(t, os.WriteFile(note, []byte("mine"), 0o600))
	stopped := e.mustSpawn(e.request(hangs())).Alias
	_, err := e.Stop(t.Context(), stopped, cw.StopRequest{Now: true})
	must(t, err)
	e.rest(stopped)
	e.mustOpen(stopped)
	over := func(v cw.AgentView) bool { return v.HeldUntil == nil && !v.Settling }
	if v := e.until(written.Alias, over); !there(note) || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "note") {
		t.Errorf("warnings %q", v.Warnings)
	}
	if v := e.until(stopped, over); !there(v.AgentCwd) || v.WorktreeState != cw.WorktreePresent {
		t.Errorf("the worktree is %s", v.WorktreeState)
	}
}

// TestOpenWhileItWorks: the end of a run does not take away what a person has
// open; it goes when nobody has.
func TestOpenWhileItWorks(t *testing.T) {
	t.Parallel()
	e := newEngine(t, holdsFor(20*time.Second)) // the run ends within it, also under load
	g := filepath.Join(e.books, "go")
	s := does()
	s.Shell = "until [ -e '" + g + "' ]; do sleep 0.02; done"
	name := e.mustSpawn(e.request(s)).Alias
	if opened := e.mustOpen(name); !opened.Working() || !there(opened.Path) {
		t.Errorf("%+v", opened)
	}
	place := e.mustOpen(name).Path
	must(t, os.Rename(place, place+".away"))
	if _, err := e.OpenWorktree(t.Context(), name); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "cw agent stop "+name) {
		t.Errorf("without its worktree: %v, hint %q", err, cw.ErrorHint(err))
	}
	must(t, os.Rename(place+".away", place))
	must(t, os.WriteFile(g, nil, 0o600))
	v := e.rest(name)
	if v.Status != cw.StatusIdle || !there(v.AgentCwd) || v.HeldUntil == nil {
		t.Fatalf("%s %s, held until %v", v.Status, v.Error, v.HeldUntil)
	}
	v = e.until(name, func(v cw.AgentView) bool { return v.HeldUntil == nil && !v.Settling })
	if there(v.AgentCwd) || v.WorktreeState != cw.WorktreeRemoved {
		t.Errorf("the worktree is %s", v.WorktreeState)
	}
}

// TestOpenRefused: each refusal says what to do.
func TestOpenRefused(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	refused := func(what, ref string, code cw.Code, hint string) {
		t.Helper()
		if _, err := e.OpenWorktree(t.Context(), ref); cw.ErrorCode(err) != code || !strings.Contains(cw.ErrorHint(err), hint) {
			t.Errorf("%s: %v, hint %q", what, err, cw.ErrorHint(err))
		}
		if open, err := e.db.OpenOps(t.Context()); err != nil || len(open) > 0 {
			t.Errorf("%s: open: %+v, %v", what, open, err)
		}
	}
	refused("nobody", "no-one", cw.CodeNotFound, "")
	v := e.rest(e.mustSpawn(e.request(does())).Alias)
	must(t, os.MkdirAll(v.AgentCwd, 0o700))
	must(t, os.WriteFile(filepath.Join(v.AgentCwd, "theirs"), nil, 0o600))
	refused("something in its place", v.Alias, cw.CodeRefused, "move it away")
	must(t, os.RemoveAll(v.AgentCwd))
	must(t, os.WriteFile(v.AgentCwd, nil, 0o600))
	refused("a file in its place", v.Alias, cw.CodeRefused, "move it away")
	must(t, os.Remove(v.AgentCwd))
	e.mustRemove(v.Alias)
	refused("removed", v.Alias, cw.CodeRefused, "cw agent restore")
	e.mustRestore(v.Alias)
	lab.Git(t, e.repo, "branch", "-D", v.Branch)
	lab.Git(t, e.repo, "reflog", "expire", "--expire=now", "--all")
	lab.Git(t, e.repo, "gc", "-q", "--prune=now")
	must(t, os.RemoveAll(e.home.Repos()))
	refused("its branch is gone", v.Alias, cw.CodeFailed, "fetch it")
}

// TestOpenDisplaced: a place that is no folder any more is not entered, whatever
// is there, also while it is held.
func TestOpenDisplaced(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.rest(e.mustSpawn(e.request(does())).Alias)
	elsewhere := t.TempDir()
	put := map[string]func(path string) error{
		"link":     func(path string) error { return os.Symlink(elsewhere, path) },
		"dangling": func(path string) error { return os.Symlink(filepath.Join(elsewhere, "none"), path) },
		"file":     func(path string) error { return os.WriteFile(path, nil, 0o600) },
	}
	for _, held := range []bool{false, true} {
		for what, in := range put {
			if held {
				e.mustOpen(v.Alias)
				must(t, os.Rename(v.AgentCwd, v.AgentCwd+"-away"))
			}
			must(t, in(v.AgentCwd))
			if _, err := e.OpenWorktree(t.Context(), v.Alias); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "move it away") {
				t.Errorf("%s, held %v: %v, hint %q", what, held, err, cw.ErrorHint(err))
			}
			must(t, os.Remove(v.AgentCwd))
			if held {
				must(t, os.Rename(v.AgentCwd+"-away", v.AgentCwd))
			}
		}
	}
	e.mustOpen(v.Alias)
}

// TestHoldOverASleep: after a machine slept the time of a hold is over for the
// clock on the wall, and who has it open had no time to say so again.
func TestHoldOverASleep(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.rest(e.mustSpawn(e.request(does())).Alias)
	e.mustOpen(v.Alias)
	must(t, e.db.HoldWorktrees(t.Context(), v.ID, time.Now().Add(-time.Hour)))
	next, err := e.endHolds(t.Context())
	must(t, err)
	if v, err = e.Agent(t.Context(), v.Alias); err != nil || v.HeldUntil == nil || !there(v.AgentCwd) || time.Until(next) <= 0 {
		t.Fatalf("held until %v, looked at again %v, %v", v.HeldUntil, next, err)
	}
	e.holds.forget(v.ID) // its own time is over too
	_, err = e.endHolds(t.Context())
	must(t, err)
	if v = e.until(v.Alias, func(v cw.AgentView) bool { return v.HeldUntil == nil && !v.Settling }); there(v.AgentCwd) {
		t.Error("it stays for ever")
	}
}

// TestOpenAcrossDaemons: an opening that a daemon began is done by the next one,
// from every step, and the worktree goes when its time is over.
func TestOpenAcrossDaemons(t *testing.T) {
	t.Parallel()
	for _, step := range []string{stepOpenIntended, "worktree/checked-out", stepOpenPlaced, stepOpenStored, "hold/ended"} {
		t.Run(strings.ReplaceAll(step, "/", "-"), func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			before := e.rest(e.mustSpawn(e.request(does())).Alias)
			e.stopRun()
			reached, die := dies(step)
			e.boot(die, holdsFor(300*time.Millisecond), func(c *Config) {
				c.Repos = worktree.New(worktree.Options{ReposDir: e.home.Repos(), Log: c.Log, Fail: c.Fail})
			})
			ctx, cancel := context.WithCancel(t.Context())
			asked := make(chan struct{})
			go func() {
				defer close(asked)
				_, _ = e.OpenWorktree(ctx, before.Alias) // it may be let go of
			}()
			<-reached
			cancel()
			<-asked
			e.stopRun()
			e.boot(holdsFor(2 * time.Second))
			if step != "hold/ended" { // else it is on its way out again
				v := e.until(before.Alias, func(v cw.AgentView) bool { return v.HeldUntil != nil || step == stepOpenStored })
				if v.WorktreeState == cw.WorktreePresent && !there(filepath.Join(v.AgentCwd, "a.txt")) {
					t.Error("it is not whole")
				}
			}
			v := e.until(before.Alias, func(v cw.AgentView) bool { return v.HeldUntil == nil && !v.Settling })
			if there(v.AgentCwd) || v.WorktreeState != cw.WorktreeRemoved || len(v.Runs) != 1 || len(v.Warnings) > 0 {
				t.Errorf("worktree %s, %d runs, warnings %q", v.WorktreeState, len(v.Runs), v.Warnings)
			}
		})
	}
}

// TestResumeAfterOpen: an agent goes on in the worktree that a person opened,
// also when the daemon that was to open it died.
func TestResumeAfterOpen(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.rest(e.mustSpawn(e.request(does())).Alias)
	must(t, e.db.IntendOp(t.Context(), newOp(cw.OpOpen, v.ID)))
	next := fakecli.Script{Book: e.books, File: "b.txt", Content: "b\n", Commit: "Add b", Signal: `{"status":"done"}`}
	_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: next.Text()})
	must(t, err)
	e.mustOpen(v.Alias)
	if v = e.rest(v.Alias); v.Status != cw.StatusIdle || v.Commits() != 2 || !there(v.AgentCwd) {
		t.Errorf("%s %s, %d commits", v.Status, v.Error, v.Commits())
	}
}
