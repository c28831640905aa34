package store

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// limit lets a database grow by a few pages only; 0 takes the limit away.
func (b *bench) limit(d *database, more int) {
	b.t.Helper()
	var pages int
	b.must(d.write.Raw("PRAGMA page_count").Scan(&pages).Error)
	if more == 0 {
		pages = 1 << 30
	}
	_, err := d.writer.ExecContext(b.t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages+more))
	b.must(err)
}

// TestChunksOnFullDisk: what does not fit is told and not stored by half, a
// small call beside a large one is not hurt, and work goes on with space.
func TestChunksOnFullDisk(t *testing.T) {
	b := newBench(t)
	b.run()
	_, err := b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 0, "start")})
	b.must(err)
	b.limit(b.log, 20)
	var large []cw.Chunk
	for offset := int64(5); offset < 40*4096; offset += 5000 {
		large = append(large, chunk("a", 1, offset, string(bytes.Repeat([]byte("x"), 5000))))
	}
	_, err = b.AppendChunks(t.Context(), large)
	refuses(t, err, cw.CodeFailed, "full")
	refuses(t, err, cw.CodeFailed, "free space")
	if next, err := b.NextOffset(t.Context(), "a", 1); err != nil || next != 5 {
		t.Fatalf("a part of it was stored: next offset %d, %v", next, err)
	}
	_, err = b.AppendChunks(t.Context(), []cw.Chunk{chunk("b", 1, 0, "small")})
	b.must(err)
	b.limit(b.log, 0)
	_, err = b.AppendChunks(t.Context(), large)
	b.must(err)
	if next, err := b.NextOffset(t.Context(), "a", 1); err != nil || next != large[len(large)-1].End() {
		t.Fatalf("with space again: next offset %d, %v", next, err)
	}
}

// TestGroupOnFullDisk commits a small and a large call as one group: the small
// one is stored.
func TestGroupOnFullDisk(t *testing.T) {
	b := newBench(t)
	b.limit(b.log, 20)
	w, err := newChunkWriter(t.Context(), b.DB)
	b.must(err)
	defer w.close()
	call := func(agent string, n int) *appendCall {
		c := &appendCall{done: make(chan struct{})}
		for i := range n {
			c.chunks = append(c.chunks, chunk(agent, 1, int64(i)*5000, string(make([]byte, 5000))))
		}
		return c
	}
	small, large, other := call("small", 1), call("large", 40), call("other", 1)
	w.commit(t.Context(), []*appendCall{small, large, other})
	for _, c := range []*appendCall{small, large, other} {
		<-c.done
	}
	b.must(small.err)
	b.must(other.err)
	refuses(t, large.err, cw.CodeFailed, "full")
	if small.chunks[0].ID == 0 || other.chunks[0].ID == small.chunks[0].ID {
		t.Errorf("ids: %d %d", small.chunks[0].ID, other.chunks[0].ID)
	}
}

// TestStateOnFullDisk: a change that does not fit is told, changes nothing and
// tells no event; it works once there is space.
func TestStateOnFullDisk(t *testing.T) {
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	b.limit(b.state, 5)
	f := finish(in, cw.StatusRunning, cw.StatusIdle)
	f.Assistant = &cw.Message{Body: string(make([]byte, 100*4096))}
	before, told := b.dump(), len(b.toldEvents())
	done, err := b.FinishRun(t.Context(), f)
	refuses(t, err, cw.CodeFailed, "full")
	same(t, "rows", b.dump(), before)
	if done || len(b.toldEvents()) != told {
		t.Error("a change that failed was told")
	}
	b.limit(b.state, 0)
	if done, err := b.FinishRun(t.Context(), f); err != nil || !done {
		t.Errorf("with space again: %v %v", done, err)
	}
}

// TestRealFullDisk does the same on a small file system of its own.
func TestRealFullDisk(t *testing.T) {
	dir := smallDisk(t)
	db, err := Open(t.Context(), Options{Dir: filepath.Join(dir, "home")})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{DB: db, t: t}
	t.Cleanup(func() { b.must(db.Close()) })
	b.run()
	b.must(db.AddEvents(t.Context(), event(cw.EventAgentWarning, "w")))
	var offset, events int64
	events = 1
	add := func() error {
		c := chunk("a", 1, offset, string(agentBytes(0, 1, offset, 60000)))
		_, err := db.AppendChunks(t.Context(), []cw.Chunk{c})
		if err == nil {
			offset = c.End()
		}
		return err
	}
	ballast := filepath.Join(dir, "ballast")
	b.must(os.WriteFile(ballast, make([]byte, 1<<20), 0o600))
	for err = nil; err == nil; err = add() {
		if offset > 64<<20 {
			t.Fatal("the disk does not get full")
		}
	}
	refuses(t, err, cw.CodeFailed, "the disk that holds log.db")
	for err = nil; err == nil; err = db.AddEvents(t.Context(), event(cw.EventAgentWarning, "w")) {
		if events++; events > 100000 {
			t.Fatal("the disk does not get full")
		}
	}
	events--
	refuses(t, err, cw.CodeFailed, "the disk that holds cw.db")
	b.must(os.Remove(ballast))
	b.must(add())
	b.must(db.AddEvents(t.Context(), event(cw.EventAgentWarning, "w")))
	var end int64
	for _, c := range readAll(t, db, cw.ChunkQuery{AgentID: "a"}) {
		if c.Offset != end || !bytes.Equal(c.Bytes, agentBytes(0, 1, end, len(c.Bytes))) {
			t.Fatalf("wrong at %d", end)
		}
		end = c.End()
	}
	if end != offset {
		t.Errorf("stored to %d, acknowledged to %d", end, offset)
	}
	if last, err := db.LastEventSeq(t.Context()); err != nil || last < events {
		t.Errorf("%d events, %d acknowledged, %v", last, events, err)
	}
}

// TestReadOnlyDisk opens a store that may only be read, as after an error of
// the disk.
func TestReadOnlyDisk(t *testing.T) {
	dir := smallDisk(t)
	db, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
		t.Fatalf("remount: %s", out)
	}
	_, err = Open(t.Context(), Options{Dir: dir})
	refuses(t, err, cw.CodeFailed, "cannot write the database")
}

// smallDisk mounts 4 MiB, which only root may, and not everywhere.
func smallDisk(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		lab.Lacks(t, "small-disk: needs Linux and root to mount a small file system")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", dir).CombinedOutput(); err != nil {
		lab.Lacks(t, "small-disk: cannot mount here: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	return dir
}
