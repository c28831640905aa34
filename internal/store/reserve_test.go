package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// fillCycles is how often the disk is filled and freed.
const fillCycles = 10

// TestFullDiskCycles fills a disk of 24 MiB again and again while agents write:
// what the state must know is stored in the space that was set aside, output
// waits and loses no byte, everything goes on by itself, and the databases stay
// whole.
func TestFullDiskCycles(t *testing.T) {
	disk := mounted(t, "24m")
	home := filepath.Join(disk, "home")
	db, err := Open(t.Context(), Options{Dir: home, Reserve: filepath.Join(home, "reserve")})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{DB: db, t: t}
	t.Cleanup(func() { b.must(db.Close()) })
	b.run()
	agents := writers{b: b, ends: map[cw.AgentID]int64{}}
	for range fillCycles {
		agents.cycle(filepath.Join(disk, "ballast"))
	}
	for agent, end := range agents.ends {
		var at int64
		for _, c := range readAll(t, db, cw.ChunkQuery{AgentID: agent}) {
			if c.Offset != at || !bytes.Equal(c.Bytes, agentBytes(0, 1, at, len(c.Bytes))) {
				t.Fatalf("%s is wrong at %d", agent, at)
			}
			at = c.End()
		}
		if at != end {
			t.Errorf("%s: stored to %d, written to %d", agent, at, end)
		}
	}
	for _, d := range []*database{db.state, db.log} {
		b.must(checkWhole(t.Context(), d.reader, d.path, "integrity_check"))
	}
}

// writers are agents that write, and a person who acts meanwhile.
type writers struct {
	b    *bench
	n    int
	ends map[cw.AgentID]int64
}

// cycle fills the disk, acts, frees it, and waits until all is stored.
func (w *writers) cycle(ballast string) {
	b := w.b
	b.t.Helper()
	if !eventuallyTrue(b.KeepReserve) {
		b.t.Fatal("the reserve is not made")
	}
	w.n++
	alias := string(rune('a'+w.n)) + "-agent"
	in := b.runningAgent(alias)
	stopped := b.runningAgent(alias + "-2")
	fillUp(b.t, ballast)
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	var agents sync.WaitGroup
	waited := make(chan struct{}, 8)
	for i := range 4 {
		agent := agentName(i)
		from := w.ends[agent]
		w.ends[agent] = from + 30000
		agents.Go(func() { storeAll(ctx, b, agent, from, 30000, waited) })
	}
	<-waited // output does not take what is for the state
	if more, err := b.RequestStop(b.t.Context(), stopped.Run.ID, "term"); err != nil || !more {
		b.t.Fatalf("a stop on a full disk: %v %v", more, err)
	}
	f := finish(in, cw.StatusRunning, cw.StatusIdle)
	f.Assistant = &cw.Message{Body: string(make([]byte, 100<<10))}
	if done, err := b.FinishRun(b.t.Context(), f); err != nil || !done {
		b.t.Fatalf("an end on a full disk: %v %v", done, err)
	}
	if got := b.agent(alias).Status; got != cw.StatusIdle {
		b.t.Fatalf("%s is %s", alias, got)
	}
	// What is left of the piece that was given up is not for output. None was
	// where the write-ahead log had begun anew in the space it has.
	if _, free, err := b.reserve.disk(); err != nil || b.reserve.touched() && free < 64<<10 {
		b.t.Fatalf("%d bytes are free after a change of the state, %v", free, err)
	}
	_, err := b.AppendChunks(b.t.Context(), []cw.Chunk{chunk("greedy", 1, 0, "more")})
	refuses(b.t, err, cw.CodeFailed, "full")
	b.must(os.Remove(ballast))
	agents.Wait()
}

// storeAll stores output as a follower does: until it works, or ctx says that it
// never will.
func storeAll(ctx context.Context, b *bench, agent cw.AgentID, from, n int64, waited chan<- struct{}) {
	c := cw.Chunk{AgentID: agent, SessionNumber: 1, Offset: from, Bytes: agentBytes(0, 1, from, int(n))}
	for {
		_, err := b.AppendChunks(ctx, []cw.Chunk{c})
		if err == nil {
			return
		}
		if ctx.Err() != nil || cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(err.Error(), "full") {
			b.t.Errorf("output of %s: %v", agent, err)
			return
		}
		select {
		case waited <- struct{}{}:
		default:
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// fillUp takes every byte of a disk.
func fillUp(t testing.TB, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func eventuallyTrue(is func() bool) bool {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

// mounted mounts a file system in memory, which only root may, and not
// everywhere.
func mounted(t *testing.T, size string) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		lab.Lacks(t, "small-disk: needs Linux and root to mount a small file system")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		lab.Lacks(t, "small-disk: cannot mount here: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	return dir
}

// TestReserve: it is made whole, given up in pieces, and not made again while
// the disk has no space for it.
func TestReserve(t *testing.T) {
	disk := mounted(t, "12m")
	now := time.Now()
	r := newReserve(filepath.Join(disk, "reserve"), func() time.Time { return now })
	size := func() int64 {
		info, err := os.Stat(r.path)
		if err != nil {
			return -1
		}
		return info.Size()
	}
	if !r.keep() || size() != reserveSmall {
		t.Fatalf("it has %d bytes", size())
	}
	if !r.giveUp() || size() != reserveSmall-reserveSlice {
		t.Fatalf("one piece less: %d bytes", size())
	}
	ballast := filepath.Join(disk, "ballast")
	fillUp(t, ballast)
	now = now.Add(time.Hour)
	if r.keep() {
		t.Error("it is whole on a full disk")
	}
	if !r.giveUp() || size() != 0 || r.giveUp() {
		t.Errorf("all of it is given up, and once: %d bytes", size())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if r.keep() {
		t.Error("it is made again at once")
	}
	now = now.Add(reserveEvery)
	if !r.keep() || size() != reserveSmall {
		t.Errorf("with space again: %d bytes", size())
	}
}

// TestCheckpointWaitsForSpace: while a piece of the reserve is given up no
// checkpoint takes it; when it is whole again the next change makes one. Large
// changes make one before its turn.
func TestCheckpointWaitsForSpace(t *testing.T) {
	home, now := t.TempDir(), time.Now()
	db, err := Open(t.Context(), Options{Dir: home, Reserve: filepath.Join(home, "reserve"), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.state.transact(t.Context(), now, func(g *gorm.DB) error {
		return g.Exec("CREATE TABLE ballast (body TEXT)").Error
	}, nil); err != nil {
		t.Fatal(err)
	}
	change := func(times, size int) {
		t.Helper()
		for range times {
			if err := db.state.transact(t.Context(), now, func(g *gorm.DB) error {
				return g.Exec("INSERT INTO ballast VALUES (?)", strings.Repeat("x", size)).Error
			}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !db.KeepReserve() || !db.reserve.giveUp() {
		t.Fatal("there is no reserve to give up")
	}
	change(sealEvery+1, 10)
	if db.state.unsealed < sealEvery {
		t.Errorf("a checkpoint took the space of the state: %d transactions since", db.state.unsealed)
	}
	now = now.Add(reserveEvery)
	if !db.KeepReserve() {
		t.Fatal("the reserve is not made again")
	}
	change(1, 10)
	if db.state.unsealed != 0 {
		t.Errorf("no checkpoint with space again: %d transactions since", db.state.unsealed)
	}
	change(3*sealLong, stateKeep/sealLong)
	if db.state.unsealed >= 3*sealLong {
		t.Errorf("%d large transactions without a checkpoint", db.state.unsealed)
	}
	if size, err := db.state.size(); err != nil || size > 8*stateKeep {
		t.Errorf("%d bytes, %v", size, err)
	}
}
