package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/worktree"
)

// leavesWork is an agent that commits, leaves work of all kinds behind, and
// ends in a way after which cw does nothing by itself.
func leavesWork() fakecli.Script {
	return fakecli.Script{
		File: "a.txt", Content: "one\n", Commit: "one",
		Shell: `echo two >>a.txt; echo new >new.txt; echo staged >staged.txt; git add staged.txt
			mkdir -p "deep/a b"; printf 'x\0y' >"deep/a b/bin"; chmod +x "deep/a b/bin"; ln -s ../a.txt deep/link; : >empty
			printf 'build/\n' >.gitignore; mkdir build; echo kept >build/result`,
		Signal: `{"status":"error","error":"no way on"}`,
	}
}

// contents gives everything below a folder: path → kind, rights and content.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		must(t, err)
		info, err := d.Info()
		must(t, err)
		var text string
		if info.Mode()&fs.ModeSymlink != 0 {
			text, err = os.Readlink(path)
		} else {
			var data []byte
			data, err = os.ReadFile(path)
			text = string(data)
		}
		must(t, err)
		out[rel] = info.Mode().String() + " " + text
		return nil
	}))
	return out
}

// work is contents without what belongs to git and cw.
func work(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := contents(t, dir)
	for path := range out {
		if path == ".git" || strings.HasPrefix(path, ".cw/") {
			delete(out, path)
		}
	}
	return out
}

func gitStatus(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("git", "-C", dir, "status", "--porcelain=v2", "--branch").CombinedOutput()
	if err != nil {
		t.Fatalf("git status: %v: %s", err, out)
	}
	return string(out)
}

func (e *engine) mustRemove(ref string) cw.AgentView {
	e.t.Helper()
	v, err := e.Remove(e.t.Context(), ref)
	must(e.t, err)
	if v.DeletedAt == nil || v.Settling {
		e.t.Fatalf("removed at %v, settling %t", v.DeletedAt, v.Settling)
	}
	return v
}

func (e *engine) mustRestore(ref string) cw.AgentView {
	e.t.Helper()
	v, err := e.Restore(e.t.Context(), ref)
	must(e.t, err)
	if v.DeletedAt != nil || v.Settling {
		e.t.Fatalf("removed at %v, settling %t", v.DeletedAt, v.Settling)
	}
	return v
}

// lastEvent reads the payload of the newest event of a type about an agent.
func lastEvent[P any](e *engine, agent cw.AgentID, kind cw.EventType) (payload P) {
	e.t.Helper()
	ev, found, err := e.db.LastEvent(e.t.Context(), agent, kind)
	must(e.t, err)
	if !found {
		e.t.Fatalf("there is no event %s", kind)
	}
	must(e.t, json.Unmarshal(ev.Data, &payload))
	return payload
}

// TestRemoveAndRestore: a removed agent is out of the way, and comes back as it
// was: files, rights, what is staged, the branch.
func TestRemoveAndRestore(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	ctx := t.Context()
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	files, status := contents(t, before.Worktree), gitStatus(t, before.Worktree)
	v := e.mustRemove(before.Alias)
	tree := v.Projects[0]
	if there(before.Worktree) || tree.State != cw.WorktreeTrashed || !there(tree.Trash) || tree.KeepRef == "" || !tree.KeepWhole || len(v.Warnings) != len(before.Warnings) {
		t.Errorf("%+v, warnings %q", tree, v.Warnings)
	}
	told := lastEvent[cw.AgentRemoved](e, v.ID, cw.EventAgentRemoved)
	if !slices.Equal(told.Trash, []string{tree.Trash}) || !told.Until.Equal(v.DeletedAt.Add(cw.TrashKeep)) {
		t.Errorf("told %+v", told)
	}
	for _, removed := range []bool{false, true} {
		page, err := e.Agents(ctx, cw.AgentFilter{Removed: removed})
		if err != nil || (len(page.Items) == 1) != removed {
			t.Errorf("removed %t: %d in the list, %v", removed, len(page.Items), err)
		}
	}
	if d, err := e.Diff(ctx, before.Alias, cw.DiffRequest{}); err != nil || len(d.Commits) != 1 {
		t.Errorf("the difference of a removed agent: %+v, %v", d, err)
	}
	if again := e.mustRemove(before.Alias); !again.DeletedAt.Equal(*v.DeletedAt) || again.Projects[0].Trash != tree.Trash {
		t.Error("the second removal changed it")
	}
	if _, err := e.Resume(ctx, before.Alias, cw.ResumeRequest{}); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "cw agent restore "+before.Alias) {
		t.Errorf("resume: %v, hint %q", err, cw.ErrorHint(err))
	}

	v = e.mustRestore(before.Alias)
	if diff := cmp.Diff(files, contents(t, before.Worktree)); diff != "" {
		t.Error(diff)
	}
	if got := gitStatus(t, before.Worktree); got != status {
		t.Errorf("git status %q, was %q", got, status)
	}
	if v.Status != before.Status || v.Projects[0].State != cw.WorktreePresent || v.Projects[0].Trash != "" || v.Projects[0].KeepRef != "" {
		t.Errorf("%s %+v", v.Status, v.Projects[0])
	}
	if told := lastEvent[cw.AgentRestored](e, v.ID, cw.EventAgentRestored); told.From != fromTrash {
		t.Errorf("told %+v", told)
	}
	if again := e.mustRestore(before.Alias); !again.UpdatedAt.Equal(v.UpdatedAt) {
		t.Error("the second restoring changed it")
	}
	if left, _ := os.ReadDir(e.home.Trash()); len(left) > 0 {
		t.Errorf("left in the trash: %v", left)
	}
}

// TestRestoreFromSnapshot: with the directory gone the files come back from the
// snapshot, byte by byte.
func TestRestoreFromSnapshot(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	files := work(t, before.Worktree)
	v := e.mustRemove(before.Alias)
	must(t, os.RemoveAll(v.Projects[0].Trash))
	v = e.mustRestore(before.Alias)
	if diff := cmp.Diff(files, work(t, before.Worktree)); diff != "" {
		t.Error(diff)
	}
	if told := lastEvent[cw.AgentRestored](e, v.ID, cw.EventAgentRestored); told.From != fromSnapshot {
		t.Errorf("told %+v", told)
	}
}

// TestRemoveOfSeveralPlaces: an agent with several projects, and one with none,
// goes and comes back with its folder.
func TestRemoveOfSeveralPlaces(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	other := filepath.Join(t.TempDir(), "depot")
	lab.NewRepo(t, other)
	several := e.request(fakecli.Script{Shell: "echo x >shop/new; echo y >depot/new; echo z >mine", Signal: `{"status":"error","error":"x"}`})
	several.Projects = append(several.Projects, other)
	alone := e.request(fakecli.Script{Shell: "echo x >new", Signal: `{"status":"done"}`})
	alone.Projects = nil
	for name, req := range map[string]cw.SpawnRequest{"several": several, "none": alone} {
		before := e.rest(e.mustSpawn(req).Alias)
		folder := e.home.Workdir(before.Alias)
		files := contents(t, folder)
		v := e.mustRemove(before.Alias)
		told := lastEvent[cw.AgentRemoved](e, v.ID, cw.EventAgentRemoved)
		if there(folder) || len(told.Trash) != len(before.Projects)+1 {
			t.Errorf("%s: folder there %t, in the trash %q", name, there(folder), told.Trash)
		}
		for _, path := range told.Trash {
			if !there(path) {
				t.Errorf("%s: %s is not there", name, path)
			}
		}
		e.mustRestore(before.Alias)
		if diff := cmp.Diff(files, contents(t, folder)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if left, _ := os.ReadDir(e.home.Trash()); len(left) > 0 {
			t.Errorf("%s: left in the trash: %v", name, left)
		}
	}
}

// TestTrashElsewhere: where the trash is on another file system, what is told to
// lie somewhere lies there, and comes back.
func TestTrashElsewhere(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	elsewhere, err := os.MkdirTemp("/dev/shm", "cw-trash")
	if err != nil || sameFileSystem(elsewhere, string(e.home)) {
		lab.Lacks(t, "there is no second file system at /dev/shm")
	}
	t.Cleanup(func() { must(t, os.RemoveAll(elsewhere)) })
	must(t, os.Symlink(elsewhere, e.home.Trash()))
	other := filepath.Join(t.TempDir(), "depot")
	lab.NewRepo(t, other)
	req := e.request(fakecli.Script{Shell: "echo x >shop/new; echo y >depot/new; echo z >mine", Signal: `{"status":"error","error":"x"}`})
	req.Projects = append(req.Projects, other)
	before := e.rest(e.mustSpawn(req).Alias)
	files := contents(t, before.AgentCwd)
	v := e.mustRemove(before.Alias)
	for _, path := range append(lastEvent[cw.AgentRemoved](e, v.ID, cw.EventAgentRemoved).Trash, v.Projects[0].Trash, v.Projects[1].Trash) {
		if !there(path) {
			t.Errorf("%s is not there", path)
		}
	}
	e.mustRestore(before.Alias)
	if diff := cmp.Diff(files, contents(t, before.AgentCwd)); diff != "" {
		t.Error(diff)
	}
}

// TestRestoreGoesOn: what an agent was given before its removal, and had no run
// with yet, is its next prompt once it is back.
func TestRestoreGoesOn(t *testing.T) {
	t.Parallel()
	var e *engine
	var asked cw.QuestionID
	// While the removal has the agent's turn: it cannot go on before that is over.
	e = newEngine(t, hook(stepRemoveTrashed, func() {
		_, err := e.db.AnswerQuestions(context.Background(), cw.Answering{
			Answers: []cw.GivenAnswer{{QuestionID: asked, Answer: "SQLite"}}, By: cw.Actor{Kind: cw.ActorPerson}, At: time.Now().UTC(),
		})
		if err != nil {
			t.Error(err)
		}
	}))
	first := e.asked(e.sessions(asks()))
	asked = first.PendingQuestions[0].ID
	e.mustRemove(first.Alias)
	_, err := e.Restore(t.Context(), first.Alias)
	must(t, err)
	if v := e.idleAfter(first.Alias, 2); !strings.Contains(e.prompt(v, 2), "> SQLite") {
		t.Errorf("the prompt is\n%s", e.prompt(v, 2))
	}
}

// TestRemoveRefused: who runs is not removed, and nobody is who is not there.
func TestRemoveRefused(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.mustSpawn(e.request(hangs()))
	_, err := e.Remove(t.Context(), v.Alias)
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "cw agent stop "+v.Alias) {
		t.Errorf("%v, hint %q", err, cw.ErrorHint(err))
	}
	if _, err := e.Remove(t.Context(), "nobody-here"); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Error(err)
	}
	if _, err := e.Restore(t.Context(), "nobody-here"); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Error(err)
	}
	if _, err := e.Stop(t.Context(), v.Alias, cw.StopRequest{Now: true}); err != nil {
		t.Error(err)
	}
	if v := e.mustRemove(v.Alias); v.Status != cw.StatusStopped {
		t.Errorf("%s", v.Status)
	}
}

// TestRemoveAfterPeople: whatever people did to a worktree, its agent can be
// removed; what is not as it was is told.
func TestRemoveAfterPeople(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		act   func(e *engine, tree cw.AgentWorktree) error
		state cw.WorktreeState
		says  string // in a warning
	}{
		{"deleted", func(_ *engine, tree cw.AgentWorktree) error { return os.RemoveAll(tree.Path) }, cw.WorktreeRemoved, "was not at"},
		{"moved", func(_ *engine, tree cw.AgentWorktree) error { return os.Rename(tree.Path, tree.Path+".mine") }, cw.WorktreeRemoved, "was not at"},
		{"its .git deleted", func(_ *engine, tree cw.AgentWorktree) error { return os.Remove(filepath.Join(tree.Path, ".git")) }, cw.WorktreeTrashed, ""},
		{"read-only", func(_ *engine, tree cw.AgentWorktree) error { return os.Chmod(filepath.Join(tree.Path, "deep"), 0o500) }, cw.WorktreeTrashed, ""},
		{"its mirror deleted", func(e *engine, _ cw.AgentWorktree) error {
			mirrors, err := filepath.Glob(filepath.Join(e.home.Repos(), "*.git"))
			return errors.Join(err, os.RemoveAll(mirrors[0]))
		}, cw.WorktreeTrashed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
			must(t, tt.act(e, before.Projects[0]))
			v := e.mustRemove(before.Alias)
			told := strings.Join(v.Warnings[len(before.Warnings):], "\n")
			if v.Projects[0].State != tt.state || !strings.Contains(told, tt.says) || tt.says == "" && strings.Contains(told, "was not at") {
				t.Errorf("%s: %q", v.Projects[0].State, told)
			}
			if tt.state == cw.WorktreeTrashed && !there(filepath.Join(v.Projects[0].Trash, "new.txt")) {
				t.Error("the work is not in the trash")
			}
		})
	}
}

// TestRestoreRefused: what stands in the place of a worktree is not touched, and
// what is gone is said to be.
func TestRestoreRefused(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	e.mustRemove(before.Alias)
	theirs := filepath.Join(before.Worktree, "theirs")
	must(t, os.MkdirAll(before.Worktree, 0o700))
	must(t, os.WriteFile(theirs, []byte("mine"), 0o600))
	if _, err := e.Restore(t.Context(), before.Alias); cw.ErrorCode(err) != cw.CodeRefused || cw.ErrorHint(err) == "" {
		t.Errorf("%v, hint %q", err, cw.ErrorHint(err))
	}
	if v, err := e.Agent(t.Context(), before.Alias); err != nil || v.Settling || v.DeletedAt == nil || !there(theirs) {
		t.Errorf("settling %t, removed at %v, %v", v.Settling, v.DeletedAt, err)
	}
	must(t, os.RemoveAll(before.Worktree))
	e.mustRestore(before.Alias)

	alone := e.request(fakecli.Script{Signal: `{"status":"done"}`})
	alone.Projects = nil
	v := e.rest(e.mustSpawn(alone).Alias)
	v = e.mustRemove(v.Alias)
	must(t, os.RemoveAll(e.trashedFolder(v.Agent)))
	must(t, os.MkdirAll(e.home.Workdir(v.Alias), 0o700)) // an empty one in its place
	if _, err := e.Restore(t.Context(), v.Alias); cw.ErrorCode(err) != cw.CodeGone || !strings.Contains(cw.ErrorHint(err), v.Alias) {
		t.Errorf("%v, hint %q", err, cw.ErrorHint(err))
	}
}

// TestRemovalAcrossDaemons: a removal and a restoring that a daemon began are
// done by the next one, from every step, and nothing of the work is lost.
func TestRemovalAcrossDaemons(t *testing.T) {
	t.Parallel()
	for _, step := range []string{
		stepRemoveIntended, stepRemoveSnapshot, "worktree/snapshot", "worktree/trashed", stepRemoveTrashed, stepRemoveStored,
		stepRestoreIntended, "worktree/untrashed", stepRestorePlaced, stepRestoreStored,
	} {
		t.Run(strings.ReplaceAll(step, "/", "-"), func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
			files, status := contents(t, before.Worktree), gitStatus(t, before.Worktree)
			restoring := strings.HasPrefix(step, "restore/") || step == "worktree/untrashed"
			if restoring {
				e.mustRemove(before.Alias)
			}
			e.stopRun()
			g, hold := newGate(step)
			e.boot(hold, func(c *Config) {
				c.Repos = worktree.New(worktree.Options{ReposDir: e.home.Repos(), Log: c.Log, Fail: c.Fail})
			})
			act := e.Remove
			if restoring {
				act = e.Restore
			}
			asked := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer close(asked)
				_, _ = act(ctx, before.Alias) // it is let go of
			}()
			<-g.reached
			cancel()
			<-asked
			stopped := make(chan struct{})
			go func() { defer close(stopped); e.stopRun() }()
			eventually(t, "the daemon lets go", e.letsGo)
			close(g.open)
			<-stopped
			e.boot()
			v := e.until(before.Alias, func(v cw.AgentView) bool { return !v.Settling })
			if (v.DeletedAt != nil) == restoring {
				t.Fatalf("removed at %v", v.DeletedAt)
			}
			v = e.mustRestore(before.Alias)
			if diff := cmp.Diff(files, contents(t, before.Worktree)); diff != "" {
				t.Error(diff)
			}
			if got := gitStatus(t, before.Worktree); got != status {
				t.Errorf("git status %q, was %q", got, status)
			}
			if len(v.Warnings) != len(before.Warnings) {
				t.Errorf("warnings %q", v.Warnings)
			}
		})
	}
}

// TestRemoveTogether: several removals and restorings at the same time all come
// back, and leave the agent whole.
func TestRemoveTogether(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	files := contents(t, before.Worktree)
	results := make(chan error, 8)
	for n := range 8 {
		go func() {
			act := e.Remove
			if n%2 == 1 {
				act = e.Restore
			}
			_, err := act(t.Context(), before.Alias)
			results <- err
		}()
	}
	for range 8 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	e.mustRestore(before.Alias)
	if diff := cmp.Diff(files, contents(t, before.Worktree)); diff != "" {
		t.Error(diff)
	}
}

// TestRemoveEndsCleanUp: a clean-up that is not over does not hold a removal up.
func TestRemoveEndsCleanUp(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	must(t, e.db.IntendOp(t.Context(), newOp(cw.OpCleanUp, before.ID)))
	e.mustRemove(before.Alias)
	if open, err := e.db.OpenOps(t.Context()); err != nil || len(open) > 0 {
		t.Errorf("open: %+v, %v", open, err)
	}
}

// TestRemoveTakesANewSnapshot: one that an earlier removal made, and did not come
// to its end, is not taken for that of this one.
func TestRemoveTakesANewSnapshot(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	ctx := t.Context()
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	look, err := e.lookRequest(ctx, before.Agent, before.Projects[0])
	must(t, err)
	snap, err := e.Repos.TakeSnapshot(ctx, look, "old")
	must(t, err)
	op := newOp(cw.OpRemove, before.ID)
	must(t, e.db.IntendOp(ctx, op))
	old := before.Projects[0]
	old.KeepRef, old.KeepCommit, old.KeepWhole = snap.Ref, snap.Commit, snap.Whole
	must(t, e.db.EndOp(ctx, op.ID, []cw.AgentWorktree{old}, "it did not work out"))
	must(t, os.WriteFile(filepath.Join(before.Worktree, "newer"), []byte("since then"), 0o600))
	v := e.mustRemove(before.Alias)
	must(t, os.RemoveAll(v.Projects[0].Trash))
	e.mustRestore(before.Alias)
	if !there(filepath.Join(before.Worktree, "newer")) {
		t.Error("what was made since the first snapshot is lost")
	}
}

// TestRemovalIsJoined: who asks for what an earlier daemon began, and nobody has
// taken up yet, gets it.
func TestRemovalIsJoined(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	ctx := t.Context()
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	must(t, e.db.IntendOp(ctx, newOp(cw.OpRemove, before.ID)))
	if v := e.mustRemove(before.Alias); v.DeletedAt == nil || v.Settling {
		t.Errorf("removed at %v, settling %v", v.DeletedAt, v.Settling)
	}
	op := newOp(cw.OpRestore, before.ID)
	must(t, e.db.IntendOp(ctx, op))
	if v := e.mustRestore(before.Alias); v.DeletedAt != nil || v.Settling || !there(v.Worktree) {
		t.Errorf("removed at %v, settling %v", v.DeletedAt, v.Settling)
	}
	e.takeUpRemoval(ctx, op) // as recovery would, too late
	if v, err := e.Agent(ctx, before.Alias); err != nil || v.DeletedAt != nil || len(v.Warnings) > len(before.Warnings) {
		t.Errorf("removed at %v, warnings %q, %v", v.DeletedAt, v.Warnings, err)
	}
}

// TestRemoveAfterCleanUp: an agent whose worktree was cleaned up has nothing to
// bring back, and its next run checks its branch out as ever.
func TestRemoveAfterCleanUp(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	before := e.rest(e.mustSpawn(e.request(does())).Alias)
	if v := e.mustRemove(before.Alias); v.Projects[0].State != cw.WorktreeRemoved || v.Projects[0].KeepRef != "" {
		t.Errorf("removed: %+v", v.Projects)
	}
	v := e.mustRestore(before.Alias)
	if v.Projects[0].State != cw.WorktreeRemoved || there(v.Worktree) || v.DeletedAt != nil {
		t.Errorf("restored: %+v", v.Projects)
	}
}

func FuzzParseTrashName(f *testing.F) {
	f.Add(trashName("brave-otter", time.Date(2026, 11, 21, 4, 0, 0, 7e6, time.UTC)))
	f.Add("brave-otter")
	f.Add("-20261121T040000.007Z")
	f.Fuzz(func(t *testing.T, name string) {
		alias, at, ok := parseTrashName(name)
		if ok && (alias == "" || trashName(alias, at) != name) {
			t.Errorf("%q became %q and %s", name, alias, at)
		}
	})
}
