package orchestrator

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// low is a floor below which every disk is.
func low(c *Config) { c.Floor = DiskFloor{MinFree: 1 << 62, Percent: 100} }

// age lets a removal be that long ago, in rows and names.
func (e *engine) age(v cw.AgentView, by time.Duration) {
	e.t.Helper()
	at := v.DeletedAt.Add(-by)
	stamp := "strftime('%Y-%m-%d %H:%M:%f', ?) || '+00:00'"
	e.exec("UPDATE agents SET deleted_at = "+stamp+" WHERE id = ?", at.UTC().Format("2006-01-02 15:04:05.000"), string(v.ID))
	e.exec("UPDATE agent_worktrees SET trashed_at = "+stamp+" WHERE agent_id = ? AND trash <> ''", at.UTC().Format("2006-01-02 15:04:05.000"), string(v.ID))
	if len(v.Projects) != 1 { // its folder is named by the time of the removal
		must(e.t, os.Rename(filepath.Dir(e.trashedFolders(v.Agent, *v.DeletedAt)[0]), filepath.Dir(e.trashedFolders(v.Agent, at)[0])))
	}
}

// collect collects the trash, and gives what it says of one kind as "path: goes
// reason".
func (e *engine) collect(dry, pressure bool) []cw.Garbage {
	e.t.Helper()
	found, err := e.CollectTrash(e.t.Context(), dry, pressure)
	must(e.t, err)
	for _, g := range found {
		if g.Error != "" {
			e.t.Errorf("%s: %s", g.Path, g.Error)
		}
	}
	return found
}

// only gives the only piece of garbage.
func only(t *testing.T, found []cw.Garbage) cw.Garbage {
	t.Helper()
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	return found[0]
}

// TestTrashByAge: what was in the trash for seven days goes, and a dry run only
// tells. The agent can still be restored from its snapshot.
func TestTrashByAge(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	files := work(t, before.Worktree)
	v := e.mustRemove(before.Alias)
	trash := v.Projects[0].Trash
	if g := only(t, e.collect(false, true)); g.Goes || g.Bytes == 0 || g.Agent != v.Alias || !strings.Contains(g.Reason, "kept until") || !there(trash) {
		t.Errorf("%+v", g)
	}
	e.age(v, cw.TrashKeep)
	if g := only(t, e.collect(true, false)); !g.Goes || !there(trash) {
		t.Errorf("dry: %+v", g)
	}
	g := only(t, e.collect(false, false))
	if !g.Goes || there(trash) {
		t.Errorf("%+v", g)
	}
	told := lastEvent[cw.AgentPurged](e, v.ID, cw.EventAgentPurged)
	if diff := cmp.Diff(cw.AgentPurged{Name: v.Alias, Path: trash, Bytes: g.Bytes, Reason: g.Reason}, told); diff != "" {
		t.Error(diff)
	}
	if again := e.collect(false, true); len(again) != 0 {
		t.Errorf("again: %+v", again)
	}
	e.mustRestore(v.Alias)
	if diff := cmp.Diff(files, work(t, before.Worktree)); diff != "" {
		t.Error(diff)
	}
}

// TestTrashUnderPressure: on a disk that is nearly full a directory goes after a
// day, when its snapshot holds every file of it, and only then.
func TestTrashUnderPressure(t *testing.T) {
	t.Parallel()
	spoilt := func(e *engine, v cw.AgentView) {
		must(e.t, os.WriteFile(filepath.Join(v.Projects[0].Trash, "later"), []byte("by a person"), 0o600))
	}
	nothing := func(*engine, cw.AgentView) {}
	for _, tt := range []struct {
		name     string
		age      time.Duration
		pressure bool
		floor    setup
		act      func(*engine, cw.AgentView)
		goes     bool
		says     string
	}{
		{"a day old", cw.TrashLeast, true, low, nothing, true, "snapshot holds every file"},
		{"younger", cw.TrashLeast - time.Minute, true, low, nothing, false, "kept until"},
		{"without pressure", cw.TrashLeast, false, low, nothing, false, "kept until"},
		{"enough space by now", cw.TrashLeast, true, func(c *Config) { c.Floor = DiskFloor{} }, nothing, false, "kept until"},
		{"the snapshot lacks something", cw.TrashLeast, true, low, spoilt, false, "does not hold later"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			v := e.mustRemove(e.rest(e.mustSpawn(e.request(leavesWork())).Alias).Alias)
			tt.act(e, v)
			e.age(v, tt.age)
			e.stopRun()
			e.boot(tt.floor)
			g := only(t, e.collect(false, tt.pressure))
			if g.Goes != tt.goes || !strings.Contains(g.Reason, tt.says) || there(v.Projects[0].Trash) == tt.goes {
				t.Errorf("%+v", g)
			}
		})
	}
}

// TestVerifiedNow: with the guard taken out a directory goes whose snapshot lacks
// something: the row alone is no proof.
func TestVerifiedNow(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.mustRemove(e.rest(e.mustSpawn(e.request(leavesWork())).Alias).Alias)
	must(t, os.WriteFile(filepath.Join(v.Projects[0].Trash, "later"), []byte("by a person"), 0o600))
	e.age(v, cw.TrashLeast)
	e.stopRun()
	e.boot(low, func(c *Config) { c.Guards = func(name string) bool { return name == "trash-verified" } })
	if g := only(t, e.collect(false, true)); !g.Goes {
		t.Errorf("%+v", g)
	}
}

// TestFoldersInTrash: what no snapshot holds stays its seven days, whatever the
// disk is like; what belongs to nobody stays for ever.
func TestFoldersInTrash(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	req := e.request(fakecli.Script{Shell: "mkdir locked; echo x >locked/new; chmod 500 locked", Signal: `{"status":"done"}`})
	req.Projects = nil
	v := e.mustRemove(e.rest(e.mustSpawn(req).Alias).Alias)
	stranger := filepath.Join(e.home.Trash(), "mine")
	must(t, os.Mkdir(stranger, 0o700))
	e.age(v, cw.TrashKeep-time.Minute)
	e.stopRun()
	e.boot(low)
	v, err := e.Agent(t.Context(), v.Alias)
	must(t, err)
	folder := e.trashedFolder(v.Agent)
	for _, g := range e.collect(false, true) {
		if g.Goes || !there(g.Path) {
			t.Errorf("%+v", g)
		}
	}
	e.age(v, time.Minute)
	v, err = e.Agent(t.Context(), v.Alias)
	must(t, err)
	if folder == "" || e.trashedFolder(v.Agent) == "" {
		t.Fatal("the folder is not in the trash")
	}
	folder = e.trashedFolder(v.Agent)
	e.collect(false, false)
	if there(filepath.Dir(folder)) || !there(stranger) {
		t.Errorf("folder there %t, stranger there %t", there(filepath.Dir(folder)), there(stranger))
	}
	if _, err := e.Restore(t.Context(), v.Alias); cw.ErrorCode(err) != cw.CodeGone {
		t.Error(err)
	}
}

// TestSnapshotsGo: a snapshot is kept for thirty days, and no longer than that;
// then its agent cannot be restored, and says so.
func TestSnapshotsGo(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.mustRemove(e.rest(e.mustSpawn(e.request(leavesWork())).Alias).Alias)
	e.age(v, cw.KeepRefKeep-time.Minute)
	for _, g := range e.collect(false, false) {
		if g.Kind != cw.GarbageTrash || !g.Goes {
			t.Errorf("%+v", g)
		}
	}
	if found := e.collect(false, true); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	e.age(v, cw.KeepRefKeep)
	if g := only(t, e.collect(true, false)); g.Kind != cw.GarbageKeepRef || !g.Goes {
		t.Errorf("dry: %+v", g)
	}
	if g := only(t, e.collect(false, false)); g.Kind != cw.GarbageKeepRef || !g.Goes || g.Path != v.Projects[0].KeepRef {
		t.Errorf("%+v", g)
	}
	if found := e.collect(false, true); len(found) > 0 {
		t.Errorf("again: %+v", found)
	}
	if _, err := e.Restore(t.Context(), v.Alias); cw.ErrorCode(err) != cw.CodeGone {
		t.Error(err)
	}
}

// TestPurgeAcrossDaemons: a directory that was deleted by a daemon that died
// before it could store that is stored as gone by the next one.
func TestPurgeAcrossDaemons(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	files := work(t, before.Worktree)
	v := e.mustRemove(before.Alias)
	e.age(v, cw.TrashKeep)
	ctx, die := context.WithCancel(t.Context())
	e.Fail = func(step string) {
		if step == "trash/purged" {
			die()
		}
	}
	if _, err := e.CollectTrash(ctx, false, false); ctx.Err() == nil || there(v.Projects[0].Trash) {
		t.Fatalf("the daemon did not die after it was deleted: %v", err)
	}
	e.stopRun()
	e.boot()
	now, err := e.Agent(t.Context(), v.Alias)
	must(t, err)
	if now.Projects[0].Trash == "" {
		t.Error("it is stored as gone already")
	}
	e.collect(false, false)
	v, err = e.Agent(t.Context(), v.Alias)
	must(t, err)
	if v.Projects[0].Trash != "" || v.Projects[0].State != cw.WorktreeRemoved {
		t.Errorf("%+v", v.Projects[0])
	}
	e.mustRestore(v.Alias)
	if diff := cmp.Diff(files, work(t, before.Worktree)); diff != "" {
		t.Error(diff)
	}
}

// TestPurgeLooksAgain: what was listed long ago says nothing about an agent that
// was restored and removed anew meanwhile.
func TestPurgeLooksAgain(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	before := e.rest(e.mustSpawn(e.request(leavesWork())).Alias)
	e.mustRemove(before.Alias)
	listed, err := e.Store.TrashedWorktrees(t.Context())
	must(t, err)
	e.mustRestore(before.Alias)
	v := e.mustRemove(before.Alias)
	c := collector{o: e.Orchestrator, now: time.Now()}
	if err := c.purge(t.Context(), listed[0], cw.Garbage{}); err == nil {
		t.Error("it was purged all the same")
	}
	now, err := e.Agent(t.Context(), v.Alias)
	must(t, err)
	if diff := cmp.Diff(v.Projects, now.Projects); diff != "" || !there(v.Projects[0].Trash) {
		t.Errorf("its place in the trash is forgotten:\n%s", diff)
	}
}
