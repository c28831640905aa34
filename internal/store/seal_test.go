package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// dead gives the files of a store as a kill leaves them: open, with changes
// that are in the write-ahead log alone, and some in the file.
func dead(t *testing.T) (dir string, files map[string][]byte) {
	t.Helper()
	live := &bench{t: t, dir: t.TempDir()}
	db, err := Open(t.Context(), Options{Dir: live.dir, Boot: "this"})
	live.must(err)
	live.DB = db
	fill(t, db)
	live.must(live.state.checkpoint(t.Context()))
	for i := range 5 {
		live.must(db.AddEvents(t.Context(), event(cw.EventAgentWarning, fmt.Sprint("late ", i))))
	}
	files = map[string][]byte{}
	for _, end := range []string{"", "-wal", "-shm", "-seal"} {
		data, err := os.ReadFile(filepath.Join(live.dir, stateName+end))
		live.must(err)
		files[stateName+end] = data
	}
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join(live.dir, logName+end))
		live.must(err)
		files[logName+end] = data
	}
	live.must(db.Close())
	return t.TempDir(), files
}

func place(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for _, name := range []string{stateName, logName} {
		for _, end := range []string{"", "-wal", "-shm", "-seal"} {
			if err := os.RemoveAll(filepath.Join(dir, name+end)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// events opens the store and counts what it holds.
func events(ctx context.Context, dir, boot string) (int, error) {
	db, err := Open(ctx, Options{Dir: dir, Boot: boot})
	if err != nil {
		return 0, err
	}
	page, err := db.EventsAfter(ctx, 0, cw.EventFilter{}, 0)
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	return len(page.Events), err
}

// TestDeadIsWhole: what a kill leaves is no damage, in this boot and after
// another one.
func TestDeadIsWhole(t *testing.T) {
	dir, files := dead(t)
	for _, boot := range []string{"this", "next", ""} {
		place(t, dir, files)
		if n, err := events(t.Context(), dir, boot); n != 45 || err != nil {
			t.Errorf("boot %q: %d events, %v", boot, n, err)
		}
	}
}

// TestLostLog: what was committed and is in no file any more is told.
func TestLostLog(t *testing.T) {
	dir, files := dead(t)
	cut := func(n int) func(map[string][]byte) {
		return func(f map[string][]byte) { f[stateName+"-wal"] = f[stateName+"-wal"][:n] }
	}
	frames := int(binary.NativeEndian.Uint32(files[stateName+"-shm"][16:]))
	for what, c := range map[string]struct {
		damage func(map[string][]byte)
		boot   string
		events int // 0: it is damaged
	}{
		"log deleted":                     {func(f map[string][]byte) { delete(f, stateName+"-wal") }, "next", 0},
		"log emptied":                     {cut(0), "next", 0},
		"log cut in its head":             {cut(20), "next", 0},
		"head of the log changed":         {func(f map[string][]byte) { f[stateName+"-wal"][1] ^= 4 }, "next", 0},
		"salt of the log changed":         {func(f map[string][]byte) { f[stateName+"-wal"][17] ^= 4 }, "this", 0},
		"end of the log lost":             {cut(walHeader + (frames-1)*(walFrame+4096)), "this", 0},
		"end of the log lost by power":    {cut(walHeader + walFrame + 4096), "next", 40},
		"a bit in the log":                {func(f map[string][]byte) { f[stateName+"-wal"][walHeader+walFrame+700] ^= 1 }, "this", 0},
		"index gone, so nothing tells it": {func(f map[string][]byte) { delete(f, stateName+"-shm") }, "this", 45},
		"database deleted":                {func(f map[string][]byte) { delete(f, stateName) }, "this", 0},
		"seal spoilt":                     {func(f map[string][]byte) { f[stateName+"-seal"] = []byte("{") }, "this", 45},
	} {
		t.Run(what, func(t *testing.T) {
			changed := map[string][]byte{}
			for name, data := range files {
				changed[name] = append([]byte(nil), data...)
			}
			c.damage(changed)
			place(t, dir, changed)
			n, err := events(t.Context(), dir, c.boot)
			if c.events == 0 {
				refuses(t, err, cw.CodeFailed, "is damaged")
			} else if n != c.events || err != nil {
				t.Errorf("%d events, %v", n, err)
			}
		})
	}
}

// TestEveryFlippedBit: one bit anywhere in the state, at rest or after a kill,
// is told before anything is read, and never read as something else.
func TestEveryFlippedBit(t *testing.T) {
	dir, killed := dead(t)
	rest := map[string][]byte{}
	whole := filled(t)
	for _, name := range []string{stateName, stateName + "-seal", logName} {
		data, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		rest[name] = data
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		files, name := rest, stateName
		if i%2 == 1 {
			files = killed
		}
		if i%6 == 1 {
			name = stateName + "-wal"
		}
		changed := map[string][]byte{}
		for n, data := range files {
			changed[n] = append([]byte(nil), data...)
		}
		size := len(changed[name])
		if name != stateName { // what is behind the last frame was there before, and counts for nothing
			frames := int(binary.NativeEndian.Uint32(changed[stateName+"-shm"][16:]))
			size = walHeader + frames*(walFrame+4096)
		}
		at := random.IntN(size)
		changed[name][at] ^= 1 << random.IntN(8)
		place(t, dir, changed)
		if n, err := events(t.Context(), dir, "this"); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("byte %d of %s: %d events, %v", at, name, n, err)
		}
	}
}

// TestSealsAreMadeAnew: many transactions later a kill still leaves what the
// seal says.
func TestSealsAreMadeAnew(t *testing.T) {
	b := newBench(t)
	first, err := os.ReadFile(sealPath(b.state.path))
	b.must(err)
	for i := range 2*sealEvery + 3 {
		b.must(b.AddEvents(t.Context(), event(cw.EventAgentWarning, fmt.Sprint(i))))
	}
	last, err := os.ReadFile(sealPath(b.state.path))
	b.must(err)
	if string(first) == string(last) {
		t.Error("there is no new seal")
	}
	b.must(checkSeal(b.state.path, ""))
	if info, err := os.Stat(b.state.path + "-wal"); err != nil || info.Size() > 8<<20 {
		t.Errorf("the write-ahead log grows: %v %v", info, err)
	}
}

// TestFlippedOutput: a bit in stored output is told when it is read.
func TestFlippedOutput(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	text := strings.Repeat("all went well ", 4000)
	_, err = db.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 0, text)})
	stop()
	if err != nil || <-ended != nil || db.Close() != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, logName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(data), "well all went well")
	data[at] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err = Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_, err = db.ChunksFrom(t.Context(), cw.ChunkQuery{AgentID: "a"})
	refuses(t, err, cw.CodeFailed, "is damaged")
}

// TestMissingOutput: a chunk that is missing between others is told.
func TestMissingOutput(t *testing.T) {
	b := newBench(t)
	b.run()
	_, err := b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 0, "one"), chunk("a", 1, 3, "two"), chunk("a", 1, 6, "three")})
	b.must(err)
	b.must(b.log.write.Exec("DELETE FROM agent_log_chunks WHERE offset = 3").Error)
	_, err = b.ChunksFrom(t.Context(), cw.ChunkQuery{AgentID: "a"})
	refuses(t, err, cw.CodeFailed, "is damaged")
}

// TestSealIsExact: a seal of which only the copied pages were read is the one that
// reading all of the file gives, whatever happened in between.
func TestSealIsExact(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	exact := func(when string) {
		t.Helper()
		if b.state.sums == nil {
			t.Fatalf("%s: all of the file is read again", when)
		}
		pages, size, err := sumFile(b.state.path)
		b.must(err)
		if !bytes.Equal(pages, b.state.sums) {
			t.Fatalf("%s: pages %v of %d differ", when, changedPages(pages, b.state.sums), size/sealPage)
		}
		b.must(checkSeal(b.state.path, ""))
	}
	exact("at first")
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 30 {
		for range 1 + random.IntN(5) {
			b.must(b.AddEvents(t.Context(), event(cw.EventAgentWarning, strings.Repeat("x", random.IntN(60_000)))))
		}
		if round%7 == 6 {
			_, err := b.DropEvents(t.Context(), time.Now().Add(time.Hour))
			b.must(err)
			_, err = b.Vacuum(t.Context())
			b.must(err)
		}
		b.must(b.state.checkpoint(t.Context()))
		exact(fmt.Sprint("round ", round))
	}
}

// TestLargeStateIsSealed: a byte that the disk turned is told in a state of any
// size up to the limit, of which the greatest part was never read since the start.
func TestLargeStateIsSealed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for range 35 {
		if err := db.AddEvents(t.Context(), event(cw.EventAgentWarning, strings.Repeat("QQMARKER", 256<<10))); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, stateName)
	data, err := os.ReadFile(path)
	if err != nil || len(data) <= 64<<20 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	at := len(data)/2 + bytes.Index(data[len(data)/2:], []byte("QQMARKER"))
	data[at] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{Dir: dir})
	refuses(t, err, cw.CodeFailed, "is damaged")
}
