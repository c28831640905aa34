package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gorm.io/gorm"
	"pgregory.net/rapid"

	"cw/internal/cw"
)

func chunk(agent string, session int, offset int64, bytes string) cw.Chunk {
	return cw.Chunk{AgentID: cw.AgentID(agent), AgentName: "name-" + agent, SessionNumber: session, Offset: offset, Bytes: []byte(bytes)}
}

func TestAppendRefuses(t *testing.T) {
	b := newBench(t)
	b.run()
	if _, err := b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 0, "hello")}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		chunks []cw.Chunk
		code   cw.Code
	}{
		"a gap":               {[]cw.Chunk{chunk("a", 1, 6, "x")}, cw.CodeRefused},
		"an overlap":          {[]cw.Chunk{chunk("a", 1, 4, "xy")}, cw.CodeRefused},
		"a double":            {[]cw.Chunk{chunk("a", 1, 0, "hello")}, cw.CodeRefused},
		"a gap at the start":  {[]cw.Chunk{chunk("a", 2, 1, "x")}, cw.CodeRefused},
		"a gap in the call":   {[]cw.Chunk{chunk("a", 1, 5, "x"), chunk("a", 1, 7, "y")}, cw.CodeRefused},
		"half of it good":     {[]cw.Chunk{chunk("b", 1, 0, "x"), chunk("a", 1, 9, "y")}, cw.CodeRefused},
		"no bytes":            {[]cw.Chunk{chunk("a", 1, 5, "")}, cw.CodeInvalid},
		"too many bytes":      {[]cw.Chunk{chunk("a", 1, 5, string(make([]byte, cw.ChunkMax+1)))}, cw.CodeInvalid},
		"no agent":            {[]cw.Chunk{chunk("", 1, 0, "x")}, cw.CodeInvalid},
		"no session":          {[]cw.Chunk{chunk("a", 0, 0, "x")}, cw.CodeInvalid},
		"an offset below all": {[]cw.Chunk{chunk("c", 1, -1, "x")}, cw.CodeInvalid},
	} {
		_, err := b.AppendChunks(t.Context(), c.chunks)
		if cw.ErrorCode(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	var rows int64
	b.must(b.log.read.Table(chunkTable).Count(&rows).Error)
	if rows != 1 {
		t.Errorf("%d chunks are stored", rows)
	}
}

func TestReadChunks(t *testing.T) {
	b := newBench(t)
	b.run()
	stored, err := b.AppendChunks(t.Context(), []cw.Chunk{
		chunk("a", 1, 0, "01234"), chunk("b", 1, 0, "other"), chunk("a", 1, 5, "56789"),
		chunk("a", 2, 0, "abc"), chunk("a", 2, 3, "def"), chunk("b", 1, 5, "wise"),
	})
	b.must(err)
	id := func(i int) int64 { return stored[i].ID }
	for _, c := range []struct {
		name string
		q    cw.ChunkQuery
		want string
	}{
		{"all", cw.ChunkQuery{AgentID: "a"}, "01234 56789 abc def"},
		{"from a session", cw.ChunkQuery{AgentID: "a", Session: 2}, "abc def"},
		{"one session", cw.ChunkQuery{AgentID: "a", Session: 1, Only: true}, "01234 56789"},
		{"from inside a chunk", cw.ChunkQuery{AgentID: "a", Session: 1, Offset: 7}, "56789 abc def"},
		{"from a border", cw.ChunkQuery{AgentID: "a", Session: 1, Offset: 5}, "56789 abc def"},
		{"from the end of a session", cw.ChunkQuery{AgentID: "a", Session: 1, Offset: 10}, "abc def"},
		{"one session from its end", cw.ChunkQuery{AgentID: "a", Session: 1, Offset: 10, Only: true}, ""},
		{"from a border, one row", cw.ChunkQuery{AgentID: "a", Session: 1, Offset: 5, Limit: 1}, "56789"},
		{"after a chunk", cw.ChunkQuery{AgentID: "a", AfterID: id(0)}, "56789 abc def"},
		{"after the last of a session", cw.ChunkQuery{AgentID: "a", AfterID: id(2)}, "abc def"},
		{"after a chunk wins", cw.ChunkQuery{AgentID: "a", AfterID: id(3), Session: 1, Offset: 3}, "def"},
		{"after a chunk, one session", cw.ChunkQuery{AgentID: "a", AfterID: id(0), Session: 1, Only: true}, "56789"},
		{"after a chunk, a later session", cw.ChunkQuery{AgentID: "a", AfterID: id(0), Session: 2, Only: true}, "abc def"},
		{"after another's chunk", cw.ChunkQuery{AgentID: "a", AfterID: id(1)}, "56789 abc def"},
		{"after the end", cw.ChunkQuery{AgentID: "a", AfterID: id(5)}, ""},
		{"limited", cw.ChunkQuery{AgentID: "a", Limit: 2}, "01234 56789"},
		{"nobody", cw.ChunkQuery{AgentID: "c"}, ""},
	} {
		chunks, err := b.ChunksFrom(t.Context(), c.q)
		b.must(err)
		got := ""
		for i, ch := range chunks {
			if i > 0 {
				got += " "
			}
			got += string(ch.Bytes)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	chunks, err := b.ChunksFrom(t.Context(), cw.ChunkQuery{AgentID: "a", Limit: 1})
	b.must(err)
	same(t, "a chunk as it was stored", chunks[0], stored[0])
}

// TestIDs: each chunk of a large call has the id and the place of its row, in
// the order in which they were given.
func TestIDs(t *testing.T) {
	b := newBench(t)
	b.run()
	var many []cw.Chunk
	for i := range int64(3*insertSizes()[0] - 1) {
		many = append(many, chunk("a", 1, 2*i, fmt.Sprintf("%02d", i)))
	}
	stored, err := b.AppendChunks(t.Context(), many)
	b.must(err)
	rows, err := b.ChunksFrom(t.Context(), cw.ChunkQuery{AgentID: "a"})
	b.must(err)
	same(t, "chunks", rows, stored)
	for i, c := range stored[1:] {
		if c.ID != stored[i].ID+1 {
			t.Errorf("chunk %d after %d", c.ID, stored[i].ID)
		}
	}
}

// TestReadUsesIndex keeps a reader from walking through the chunks of others.
func TestReadUsesIndex(t *testing.T) {
	b := newBench(t)
	var plan []struct{ Detail string }
	b.must(b.log.read.Raw("EXPLAIN QUERY PLAN "+chunksAfter, "a", 1, 5, 0).Scan(&plan).Error)
	want := "SEARCH agent_log_chunks USING INDEX sqlite_autoindex_agent_log_chunks_1 (agent_id=? AND (session_number,offset)>(?,?))"
	if len(plan) == 0 || plan[0].Detail != want {
		t.Errorf("the plan is %v", plan)
	}
	for _, step := range plan { // nor sort them: a reader stops at a few
		if strings.Contains(step.Detail, "SCAN") || strings.Contains(step.Detail, "TEMP") {
			t.Errorf("the plan is %v", plan)
		}
	}
}

// TestReadIsBounded reads large chunks in pieces of a few MiB.
func TestReadIsBounded(t *testing.T) {
	b := newBench(t)
	b.run()
	const n = 100
	for i := range n {
		_, err := b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, int64(i)*cw.ChunkMax, string(make([]byte, cw.ChunkMax)))})
		b.must(err)
	}
	first, err := b.ChunksFrom(t.Context(), cw.ChunkQuery{AgentID: "a"})
	b.must(err)
	if len(first) != cw.ChunksSure { // readers take fewer for the end
		t.Errorf("one read gave %d chunks", len(first))
	}
	if all := readAll(t, b.DB, cw.ChunkQuery{AgentID: "a"}); len(all) != n {
		t.Errorf("all reads gave %d chunks", len(all))
	}
}

// TestAppendProperty has several callers append at once, good calls and bad
// ones: what was acknowledged is stored, the rest is not, and no bad call
// hurts a good one.
func TestAppendProperty(t *testing.T) {
	b := newBench(t)
	b.run()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		agents := rapid.IntRange(1, 5).Draw(rt, "agents")
		type step struct{ sizes, shift []int }
		scripts := make([][]step, agents)
		for a := range scripts {
			for range rapid.IntRange(1, 4).Draw(rt, "calls") {
				s := step{sizes: rapid.SliceOfN(rapid.IntRange(1, 5000), 1, 6).Draw(rt, "sizes")}
				for range s.sizes {
					s.shift = append(s.shift, rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 0, -1, 1}).Draw(rt, "shift"))
				}
				scripts[a] = append(scripts[a], s)
			}
		}
		want := make([]string, agents)
		problems := make([]error, agents)
		var wg sync.WaitGroup
		for a := range scripts {
			wg.Go(func() {
				id := fmt.Sprintf("r%d-a%d", round, a)
				for _, s := range scripts[a] {
					offset, good := int64(len(want[a])), true
					var call []cw.Chunk
					bytes := ""
					for i, size := range s.sizes {
						at := max(0, offset+int64(s.shift[i]))
						good = good && at == offset
						part := string(agentBytes(a, 1, offset, size))
						call = append(call, chunk(id, 1, at, part))
						offset += int64(size)
						bytes += part
					}
					_, err := b.AppendChunks(t.Context(), call)
					if good != (err == nil) || err != nil && cw.ErrorCode(err) != cw.CodeRefused {
						problems[a] = fmt.Errorf("good is %v, error is %w", good, err)
					}
					if good {
						want[a] += bytes
					}
				}
			})
		}
		wg.Wait()
		for a := range scripts {
			if problems[a] != nil {
				rt.Fatal(problems[a])
			}
			got := ""
			for _, c := range readAll(t, b.DB, cw.ChunkQuery{AgentID: cw.AgentID(fmt.Sprintf("r%d-a%d", round, a))}) {
				if c.Offset != int64(len(got)) {
					rt.Fatalf("a chunk at %d after %d bytes", c.Offset, len(got))
				}
				got += string(c.Bytes)
			}
			if got != want[a] {
				rt.Fatalf("agent %d: %d bytes are stored, %d were acknowledged", a, len(got), len(want[a]))
			}
		}
	})
}

// TestRunEnds: calls before Run wait for it, calls after it are told.
func TestRunEnds(t *testing.T) {
	b := newBench(t)
	early := make(chan error)
	go func() {
		_, err := b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 0, "early")})
		early <- err
	}()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.Run(ctx) }()
	b.must(<-early)
	cancel()
	b.must(<-ended)
	if _, err := b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 5, "late")}); !errors.Is(err, errStopped) {
		t.Errorf("after the end: %v", err)
	}
}

func TestAppendLetsGo(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.AppendChunks(ctx, []cw.Chunk{chunk("a", 1, 0, "x")}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestLinger shows how long the writer waits for others: not at all when
// nobody came last time, at most lingerMax otherwise, less when nobody comes.
func TestLinger(t *testing.T) {
	for _, c := range []struct {
		name    string
		busy    bool
		callers int           // besides the first
		every   time.Duration // one comes
		size    int
		group   int
		took    time.Duration
	}{
		{"alone", false, 0, 0, 1, 1, 0},
		{"alone after others", true, 0, 0, 1, 1, lingerGap},
		{"others are there", false, 5, 0, 1, 6, 0},
		{"others would come", false, 5, time.Microsecond, 1, 1, 0},
		{"others come", true, 3, 400 * time.Microsecond, 1, 4, 3*400*time.Microsecond + lingerGap},
		{"others come for ever", true, 100, 300 * time.Microsecond, 1, 1 + int(lingerMax/(300*time.Microsecond)), lingerMax},
		{"enough", true, 100, 0, groupBytesMax / 2, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &chunkWriter{calls: make(chan *appendCall), busy: c.busy}
				done := make(chan struct{})
				var wg sync.WaitGroup
				for i := range c.callers {
					wg.Go(func() {
						time.Sleep(time.Duration(i+1) * c.every)
						select {
						case w.calls <- &appendCall{size: c.size}:
						case <-done:
						}
					})
				}
				synctest.Wait()
				begin := time.Now()
				group := w.gather(&appendCall{size: c.size})
				if took := time.Since(begin); len(group) != c.group || took != c.took || w.busy != (c.group > 1) {
					t.Errorf("%d calls after %s, busy %v; want %d after %s", len(group), took, w.busy, c.group, c.took)
				}
				close(done)
				wg.Wait()
			})
		})
	}
}

// TestWriterDoesNotWaitForReaders holds a snapshot open while chunks and
// state are written.
func TestWriterDoesNotWaitForReaders(t *testing.T) {
	b := newBench(t)
	b.run()
	release, held := make(chan struct{}), make(chan struct{})
	reading := make(chan error, 1)
	go func() {
		reading <- b.query(context.Background(), "hold", func(g *gorm.DB) error {
			var n int
			err := g.Raw("SELECT COUNT(*) FROM events").Scan(&n).Error
			close(held)
			<-release
			return err
		})
	}()
	<-held
	b.must(b.AddEvents(t.Context(), event(cw.EventAgentWarning, "w")))
	_, err := b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 0, "x")})
	b.must(err)
	close(release)
	b.must(<-reading)
}

// TestAnotherWriter: the end of a run that the writer remembers is forgotten
// when somebody else wrote, so that no gap and no double slips through.
func TestAnotherWriter(t *testing.T) {
	b := newBench(t)
	b.run()
	_, err := b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 0, "01234")})
	b.must(err)
	other, err := connect(plan{path: b.log.path, synchronous: "NORMAL", now: time.Now})
	b.must(err)
	b.must(other.write.Table(chunkTable).Create(&cw.Chunk{AgentID: "a", SessionNumber: 1, Offset: 5, Bytes: []byte("56789")}).Error)
	b.must(other.close())
	_, err = b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 5, "56789")})
	refuses(t, err, cw.CodeRefused, "goes on at 10, not at 5")
	_, err = b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 10, "x")})
	b.must(err)
}
