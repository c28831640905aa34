package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/store"
	"cw/orchestrator"
)

// noEngine has no trash, and counts how often mirrors are packed.
type noEngine struct{ packed *int }

func (noEngine) CollectTrash(context.Context, bool, bool) ([]cw.Garbage, error) { return nil, nil }

func (e noEngine) PackMirrors(context.Context) error { *e.packed++; return nil }

// newKeeper opens a ruin's home as a daemon does, and gives its janitor, whose
// clock is after later.
func newKeeper(t *testing.T, r ruin, later time.Duration) *janitor {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: r.dir, Boot: bootID()})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, db.Close()); err != nil {
			t.Error(err)
		}
	})
	j := newJanitor(Config{Home: cw.Home(r.dir), Settings: DefaultSettings()}, db, noEngine{new(int)}, "build", slog.New(slog.DiscardHandler))
	j.now = func() time.Time { return time.Now().Add(later) }
	return j
}

func kinds(found []cw.Garbage) map[cw.GarbageKind]int {
	out := map[cw.GarbageKind]int{}
	for _, g := range found {
		if g.Goes {
			out[g.Kind]++
		}
	}
	return out
}

func (r ruin) rawFile(name string) string {
	return filepath.Join(cw.Home(r.dir).RunDir(name, 1), "output.jsonl")
}

// TestPacksMirrors: a clean-up packs mirrors, unless the disk is low.
func TestPacksMirrors(t *testing.T) {
	t.Parallel()
	j := newKeeper(t, newRuin(t), 0)
	for _, c := range []struct {
		pressure bool
		packed   int
	}{{false, 1}, {true, 1}, {false, 2}} {
		j.sweep(t.Context(), c.pressure)
		if got := *j.engine.(noEngine).packed; got != c.packed {
			t.Errorf("packed %d times, want %d", got, c.packed)
		}
	}
}

// TestRawGoesWhenStored: raw output goes after its time, once every byte of it
// is stored; what is not stored stays; a dry run touches nothing.
func TestRawGoesWhenStored(t *testing.T) {
	r := newRuin(t)
	must(t, os.WriteFile(r.rawFile("bold-bee"), append(r.raw["bold-bee"], "more\n"...), 0o600))
	young := newKeeper(t, r, 13*day)
	if found, err := young.collect(t.Context(), false, false); err != nil || kinds(found)[cw.GarbageRaw] != 0 {
		t.Errorf("young: %v %v", found, err)
	}
	j := young
	j.now = func() time.Time { return time.Now().Add(15 * day) }
	for _, dry := range []bool{true, false} {
		found, err := j.collect(t.Context(), dry, false)
		if err != nil || kinds(found)[cw.GarbageRaw] != 4 {
			t.Errorf("dry %t: %+v %v", dry, found, err)
		}
		if !slices.ContainsFunc(found, func(g cw.Garbage) bool { return g.Agent == "bold-bee" && !g.Goes && g.Reason != "" }) {
			t.Errorf("dry %t: nothing tells why bold-bee's stays: %+v", dry, found)
		}
		if _, there := plainSize(r.rawFile("able-ant")); there != dry {
			t.Errorf("dry %t: it is there: %t", dry, there)
		}
	}
	if _, there := plainSize(r.rawFile("bold-bee")); !there {
		t.Fatal("output that is not stored was deleted")
	}
	j.heal(t.Context())
	if found, err := j.collect(t.Context(), false, false); err != nil || kinds(found)[cw.GarbageRaw] != 1 {
		t.Errorf("after the rest was stored: %+v %v", found, err)
	}
	view, err := j.store.AgentView(t.Context(), "bold-bee")
	must(t, err)
	if next, err := j.store.NextOffset(t.Context(), view.ID, 1); err != nil || next != int64(len(r.raw["bold-bee"]))+5 {
		t.Errorf("%d bytes are stored, %v", next, err)
	}
}

// TestHealTakesNoOtherFile: bytes behind a beginning that is not the one that
// was stored are not taken.
func TestHealTakesNoOtherFile(t *testing.T) {
	r := newRuin(t)
	other := append([]byte(nil), r.raw["bold-bee"]...)
	other[len(other)-3] ^= 1
	must(t, os.WriteFile(r.rawFile("bold-bee"), append(other, "more\n"...), 0o600))
	j := newKeeper(t, r, 0)
	j.heal(t.Context())
	if damaged, err := r.check(t.Context(), true); damaged != nil || err != nil {
		t.Error(damaged, err)
	}
}

// TestYoungChunksStay: however much one agent writes, what another one said
// lately stays, and so does its own.
func TestYoungChunksStay(t *testing.T) {
	r := newRuin(t)
	j := newKeeper(t, r, 6*day)
	j.settings.Chunks.MaxSize = 1
	if found, err := j.collectChunks(t.Context(), false); err != nil || len(found) != 0 {
		t.Errorf("gone before chunks.minAge: %+v %v", found, err)
	}
	j.settings.Chunks.MinAge = 5 * day
	if found, err := j.collectChunks(t.Context(), true); err != nil || len(found) == 0 {
		t.Errorf("after it: %+v %v", found, err)
	}
	j.settings.Chunks.MinAge, j.settings.Chunks.MaxAge = 30*day, 5*day
	if found, err := j.collectChunks(t.Context(), true); err != nil || len(found) == 0 {
		t.Errorf("after chunks.maxAge, which is stronger: %+v %v", found, err)
	}
}

// TestChunksGo by age and by size: whole runs, oldest first.
func TestChunksGo(t *testing.T) {
	r := newRuin(t)
	j := newKeeper(t, r, 8*day)
	size, err := j.store.LiveBytes(t.Context())
	must(t, err)
	j.settings.Chunks.MaxSize = Bytes(size - int64(len(r.raw["able-ant"])) - 1)
	found, err := j.collectChunks(t.Context(), false)
	must(t, err)
	var gone []string
	for _, g := range found {
		gone = append(gone, g.Agent)
	}
	if !slices.Equal(gone, []string{"able-ant", "bold-bee"}) {
		t.Errorf("gone: %v", gone)
	}
	j.settings.Chunks.MaxSize = gib
	j.now = func() time.Time { return time.Now().Add(200 * day) }
	found, err = j.collectChunks(t.Context(), false)
	if err != nil || len(found) != 3 {
		t.Errorf("by age: %+v %v", found, err)
	}
}

// TestDebris: what a death left goes, what is not ours or still young stays.
func TestDebris(t *testing.T) {
	r := newRuin(t)
	home := cw.Home(r.dir)
	j := newKeeper(t, r, 2*time.Hour)
	dead := []string{filepath.Join(home.RunState(), ".probe-1"), filepath.Join(home.Backups(), "cw-1-20260102T030405.db.half"), filepath.Join(home.Bin(), "old")}
	stays := []string{filepath.Join(home.RunState(), "mine"), filepath.Join(home.Backups(), "mine.db"), filepath.Join(home.Bin(), "build")}
	for _, path := range append(slices.Clone(dead), stays...) {
		if filepath.Dir(path) == home.Bin() {
			must(t, os.MkdirAll(path, 0o700))
			continue
		}
		must(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	found, err := j.collect(t.Context(), false, false)
	if got := kinds(found); err != nil || got[cw.GarbageDebris] != 2 || got[cw.GarbageBinary] != 1 {
		t.Errorf("%+v %v", found, err)
	}
	for _, path := range dead {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
	for _, path := range stays {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
}

// TestDiskEvents: crossing the floor is told once each way.
func TestDiskEvents(t *testing.T) {
	r := newRuin(t)
	j := newKeeper(t, r, 0)
	last, err := j.store.LastEventSeq(t.Context())
	must(t, err)
	j.floor = orchestrator.DiskFloor{MinFree: 1 << 60, Percent: 100} // the whole disk is to be free
	if !j.lookAtDisk(t.Context()) || j.lookAtDisk(t.Context()) || !j.isLow() {
		t.Error("it is low, and got so once")
	}
	j.floor = orchestrator.DiskFloor{}
	for range 2 {
		if j.lookAtDisk(t.Context()) || j.isLow() {
			t.Error("it is not low any more")
		}
	}
	page, err := j.store.EventsAfter(t.Context(), last, cw.EventFilter{}, 0)
	must(t, err)
	var types []cw.EventType
	for _, e := range page.Events {
		types = append(types, e.Type)
	}
	if !slices.Equal(types, []cw.EventType{cw.EventDiskLow, cw.EventDiskOK}) {
		t.Errorf("events: %v", types)
	}
}

// TestHouseBackup: a copy that is asked for has an absolute path.
func TestHouseBackup(t *testing.T) {
	j := newKeeper(t, newRuin(t), 0)
	h := house{janitor: j, store: j.store}
	if _, err := h.Backup(t.Context(), cw.BackupRequest{Path: "copy.db"}); cw.ErrorCode(err) != cw.CodeInvalid {
		t.Errorf("relative: %v", err)
	}
	report, err := h.Backup(t.Context(), cw.BackupRequest{Path: filepath.Join(t.TempDir(), "copy.db"), Logs: true})
	if err != nil || len(report.Files) != 2 || report.Bytes == 0 {
		t.Errorf("%+v %v", report, err)
	}
	gc, err := h.CollectGarbage(t.Context(), cw.GCRequest{DryRun: true})
	if err != nil || !gc.DryRun || gc.Items == nil {
		t.Errorf("%+v %v", gc, err)
	}
}

// TestHalfClonesGo: a clone that a death left goes, after its time; those of
// projects stay, as does what was fetched or holds an agent's branch.
func TestHalfClonesGo(t *testing.T) {
	t.Parallel()
	r := ruin{dir: t.TempDir()}
	repos := cw.Home(r.dir).Repos()
	for _, path := range []string{
		"half-1.remote.git/objects/pack", "half-2.remote.git.new", "gone-3.remote.git.gone/refs", "whole-4.remote.git/cw-fetched",
		"work-5.remote.git/refs/heads/agent/brave-otter", "known-6.remote.git", "mirror-7.git", "odd.remote.git-8.git",
	} {
		must(t, os.MkdirAll(filepath.Join(repos, path), 0o700))
	}
	j := newKeeper(t, r, 0)
	known := cw.Project{ID: cw.ProjectID(cw.NewID()), Name: "known", RemoteURL: "forge.example:known", GitDir: filepath.Join(repos, "known-6.remote.git"), Mirror: "known-6.git"}
	must(t, j.store.AddProject(t.Context(), known, cw.NewEvent(cw.EventProjectAdded, cw.Actor{Kind: cw.ActorPerson}, cw.ProjectChanged{Name: "known"})))
	for _, tt := range []struct {
		later time.Duration
		dry   bool
		goes  int
	}{{0, false, 0}, {cloneAge + time.Minute, true, 3}, {cloneAge + time.Minute, false, 3}, {cloneAge + time.Minute, false, 0}} {
		j.now = func() time.Time { return time.Now().Add(tt.later) }
		found, err := j.collectClones(t.Context(), tt.dry)
		if err != nil || len(found) != tt.goes {
			t.Errorf("%+v: %+v, %v", tt, found, err)
		}
	}
	left, err := os.ReadDir(repos)
	must(t, err)
	var names []string
	for _, e := range left {
		if strings.Contains(e.Name(), ".git") {
			names = append(names, e.Name())
		}
	}
	if strings.Join(names, " ") != "known-6.remote.git mirror-7.git odd.remote.git-8.git whole-4.remote.git work-5.remote.git" {
		t.Errorf("left are %q", names)
	}
}
