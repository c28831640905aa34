package store

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// ended brings an agent to rest with output of so many chunks, and gives its
// run.
func (b *bench) ended(alias string, chunks int) EndedRun {
	b.t.Helper()
	in := b.runningAgent(alias)
	var out []cw.Chunk
	for i := range chunks {
		out = append(out, cw.Chunk{AgentID: in.Agent.ID, AgentName: alias, SessionNumber: 1, Offset: int64(i) * 10000, Bytes: make([]byte, 10000)})
	}
	for len(out) > 0 {
		n := min(len(out), 50)
		_, err := b.AppendChunks(b.t.Context(), out[:n])
		b.must(err)
		out = out[n:]
	}
	f := finish(in, cw.StatusRunning, cw.StatusIdle)
	f.EndedAt = time.Now()
	_, err := b.FinishRun(b.t.Context(), f)
	b.must(err)
	return EndedRun{AgentID: in.Agent.ID, Alias: alias, SessionNumber: 1}
}

// TestDropRun: the output of a run goes whole, readers are told, its end stays
// known also for the next daemon, and nothing of it is stored again.
func TestDropRun(t *testing.T) {
	b := newBench(t)
	b.run()
	const chunks = 3*dropChunks + 5
	old, other := b.ended("old-owl", chunks), b.ended("new-newt", 2)
	before, err := b.ChunksFrom(t.Context(), cw.ChunkQuery{AgentID: old.AgentID})
	b.must(err)
	b.must(b.DropRun(t.Context(), old))
	b.must(b.DropRun(t.Context(), old)) // again
	for name, db := range map[string]*DB{"this daemon": b.DB, "the next": reopened(t, b)} {
		for what, q := range map[string]cw.ChunkQuery{
			"all":              {AgentID: old.AgentID},
			"the session":      {AgentID: old.AgentID, Session: 1},
			"from the middle":  {AgentID: old.AgentID, Session: 1, Only: true, Offset: 12345},
			"after some chunk": {AgentID: old.AgentID, AfterID: before[3].ID},
		} {
			if _, err := db.ChunksFrom(t.Context(), q); cw.ErrorCode(err) != cw.CodeGone || cw.ErrorHint(err) == "" {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		if got, err := db.ChunksFrom(t.Context(), cw.ChunkQuery{AgentID: old.AgentID, Session: 1, Offset: chunks * 10000}); err != nil || len(got) != 0 {
			t.Errorf("%s: who read to the end gets %d chunks, %v", name, len(got), err)
		}
		if next, err := db.NextOffset(t.Context(), old.AgentID, 1); next != chunks*10000 || err != nil {
			t.Errorf("%s: next offset %d, %v", name, next, err)
		}
		if kept, err := db.Kept(t.Context(), old); kept != 0 || err != nil {
			t.Errorf("%s: %d bytes are kept, %v", name, kept, err)
		}
		if kept, err := db.Kept(t.Context(), other); kept != 20000 || err != nil {
			t.Errorf("%s: %d bytes of the other are kept, %v", name, kept, err)
		}
	}
	_, err = b.AppendChunks(t.Context(), []cw.Chunk{{AgentID: old.AgentID, SessionNumber: 1, Bytes: []byte("again")}})
	refuses(t, err, cw.CodeRefused, "goes on at")
}

// reopened is another store on the same folder.
func reopened(t *testing.T, b *bench) *DB {
	t.Helper()
	db, err := Open(t.Context(), Options{Dir: b.dir})
	b.must(err)
	t.Cleanup(func() { b.must(db.Close()) })
	return db
}

// TestLaterSessionsStay: who asks for everything gets what is left, and a later
// run of the agent is stored as ever.
func TestLaterSessionsStay(t *testing.T) {
	b := newBench(t)
	b.run()
	old := b.ended("old-owl", 3)
	b.must(b.DropRun(t.Context(), old))
	_, err := b.AppendChunks(t.Context(), []cw.Chunk{{AgentID: old.AgentID, SessionNumber: 2, Bytes: []byte("new")}})
	b.must(err)
	got, err := b.ChunksFrom(t.Context(), cw.ChunkQuery{AgentID: old.AgentID})
	if err != nil || len(got) != 1 || got[0].SessionNumber != 2 {
		t.Errorf("%+v %v", got, err)
	}
}

// TestEndedRuns: runs of agents that are alive are none.
func TestEndedRuns(t *testing.T) {
	b := newBench(t)
	b.run()
	first, second := b.ended("old-owl", 1), b.ended("new-newt", 1)
	b.runningAgent("busy-bee")
	alive := b.ended("late-lion", 1)
	b.must(b.state.write.Exec("UPDATE agents SET status = ? WHERE id = ?", cw.StatusRunning, alive.AgentID).Error)
	runs, err := b.EndedRuns(t.Context())
	if err != nil || len(runs) != 2 || runs[0].AgentID != first.AgentID || runs[1].AgentID != second.AgentID || runs[0].EndedAt.IsZero() {
		t.Errorf("%+v %v", runs, err)
	}
}

// TestVacuum: what was dropped leaves the file, a slice at a time.
func TestVacuum(t *testing.T) {
	b := newBench(t)
	b.run()
	old := b.ended("old-owl", 600)
	b.must(b.log.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)").Error)
	large, err := os.Stat(b.log.path)
	b.must(err)
	b.must(b.DropRun(t.Context(), old))
	slices := 0
	for before := -1; ; slices++ {
		left, err := b.Vacuum(t.Context())
		b.must(err)
		if before >= 0 && before-left > vacuumPages {
			t.Errorf("one slice gave back %d pages", before-left)
		}
		if before = left; left == 0 {
			break
		}
		if slices > 100 {
			t.Fatalf("%d pages stay free", left)
		}
	}
	b.must(b.log.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)").Error)
	small, err := os.Stat(b.log.path)
	b.must(err)
	if slices < 3 || small.Size() > large.Size()/10 {
		t.Errorf("%d slices, from %d bytes to %d", slices, large.Size(), small.Size())
	}
	if live, err := b.LiveBytes(t.Context()); err != nil || live > small.Size() {
		t.Errorf("%d bytes are in use, %v", live, err)
	}
}

// TestShrinkWAL: on a full disk the write-ahead log of chunks gives its space
// back, and nothing of it is lost.
func TestShrinkWAL(t *testing.T) {
	b := newBench(t)
	b.run()
	run := b.ended("brave-otter", 300)
	size := func() int64 {
		info, err := os.Stat(b.log.path + "-wal")
		b.must(err)
		return info.Size()
	}
	if size() <= walSpare {
		t.Fatalf("the write-ahead log has only %d bytes", size())
	}
	b.must(b.ShrinkWAL(t.Context()))
	if got := size(); got != 0 {
		t.Errorf("%d bytes are left", got)
	}
	if next, err := b.NextOffset(t.Context(), run.AgentID, 1); err != nil || next != 300*10000 {
		t.Errorf("output ends at %d, %v", next, err)
	}
}

// TestConvert: databases of an earlier cw learn to shrink.
func TestConvert(t *testing.T) {
	dir := filled(t)
	for _, name := range []string{stateName, logName} {
		pool, err := sql.Open(driverName, dsn(filepath.Join(dir, name), url.Values{"mode": {"rw"}}))
		if err != nil {
			t.Fatal(err)
		}
		pool.SetMaxOpenConns(1)
		for _, say := range []string{"PRAGMA journal_mode = DELETE", "PRAGMA auto_vacuum = NONE", "VACUUM", "PRAGMA journal_mode = WAL"} {
			if _, err := pool.Exec(say); err != nil {
				t.Fatal(err)
			}
		}
		if err := pool.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(sealPath(filepath.Join(dir, stateName))); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), Options{Dir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, d := range []*database{db.state, db.log} {
		var mode int
		if err := d.reader.QueryRow("PRAGMA auto_vacuum").Scan(&mode); err != nil || mode != 2 {
			t.Errorf("%s: auto_vacuum is %d, %v", d.path, mode, err)
		}
	}
}

// TestBackup: a copy is whole while others write, private, and never replaces
// anything.
func TestBackup(t *testing.T) {
	b := newBench(t)
	b.run()
	b.ended("old-owl", 20)
	ctx, stop := context.WithCancel(t.Context())
	writing := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := b.AddEvents(t.Context(), event(cw.EventAgentWarning, "meanwhile")); err != nil {
				writing <- err
				return
			}
		}
		writing <- nil
	}()
	path := filepath.Join(t.TempDir(), "copy.db")
	files, err := b.Backup(t.Context(), path, true)
	stop()
	b.must(err)
	b.must(<-writing)
	same(t, "files", files, []string{path, path + LogSuffix})
	for _, file := range files {
		info, err := os.Stat(file)
		b.must(err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", file, info.Mode().Perm())
		}
	}
	home := t.TempDir()
	b.must(os.Rename(files[0], filepath.Join(home, stateName)))
	b.must(os.Rename(files[1], filepath.Join(home, logName)))
	db, err := Open(t.Context(), Options{Dir: home})
	b.must(err)
	defer func() { _ = db.Close() }()
	if view, err := db.AgentView(t.Context(), "old-owl"); err != nil || view.Status != cw.StatusIdle {
		t.Errorf("%+v %v", view, err)
	}
	if next, err := db.NextOffset(t.Context(), b.agent("old-owl").ID, 1); next != 200000 || err != nil {
		t.Errorf("%d bytes of output, %v", next, err)
	}
}

func TestBackupRefuses(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	b.must(os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600))
	b.must(os.WriteFile(filepath.Join(dir, "two"+LogSuffix), []byte("mine"), 0o600))
	b.must(os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "link")))
	for name, code := range map[string]cw.Code{"mine": cw.CodeRefused, "two": cw.CodeRefused, "link": cw.CodeRefused, "none/copy": cw.CodeFailed} {
		_, err := b.Backup(t.Context(), filepath.Join(dir, name), true)
		if cw.ErrorCode(err) != code || cw.ErrorHint(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("left behind: %v %v", entries, err)
	}
	// What took the name meanwhile stays, too.
	half := filepath.Join(dir, "half")
	b.must(os.WriteFile(half, nil, 0o600))
	if err := nameCopy(half, filepath.Join(dir, "mine")); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("%v", err)
	}
}

// TestBackupsKept: one copy a day, three of them, and five of each database from
// before migrations.
func TestBackupsKept(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	dir := t.TempDir()
	db, err := Open(t.Context(), Options{Dir: dir, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	made := 0
	for range 5 * 4 {
		path, err := db.BackupDaily(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if path != "" {
			made++
		}
		now = now.Add(6 * time.Hour)
	}
	if made != 5 {
		t.Errorf("%d copies in five days", made)
	}
	for i := range 7 {
		for _, name := range []string{"cw-3", "log-1"} {
			path := filepath.Join(backupDir(dir), fmt.Sprintf("%s-2025010%dT000000.db", name, i+1))
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"mine.db", "cw-1-yesterday.db", "cw-1-20250101T000000.db.half"} {
		if err := os.WriteFile(filepath.Join(backupDir(dir), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Backups(dir)
	if err != nil || len(all) != 19 {
		t.Errorf("%d copies, %v", len(all), err)
	}
	var old []string
	for _, b := range OldBackups(all) {
		old = append(old, strings.TrimSuffix(filepath.Base(b.Path), "T000000.db"))
	}
	same(t, "old ones", old[2:], []string{"cw-3-20250102", "log-1-20250102", "cw-3-20250101", "log-1-20250101"})
	if len(old) != 6 || !strings.HasPrefix(old[0], "cw-daily-20260103") {
		t.Errorf("old: %v", old)
	}
}
