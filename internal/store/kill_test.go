package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
)

const (
	killAgents = 4
	kills      = 20
)

// agentByte is the byte at one place of an agent's output, so that any reader
// can tell whether it is there once and in its place.
func agentByte(agent int, session int, offset int64) byte {
	return byte(offset ^ offset>>8*31 ^ int64(agent*57+session*101))
}

func agentBytes(agent, session int, offset int64, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = agentByte(agent, session, offset+int64(i))
	}
	return out
}

func agentName(agent int) cw.AgentID { return cw.AgentID(fmt.Sprintf("agent%d", agent)) }

// runAppender appends for several agents until it is killed, and says on
// stdout what was acknowledged: "<agent> <end>", and "e <number>" for events.
func runAppender(dir string) error {
	db, err := Open(context.Background(), Options{Dir: dir}) // a process of its own: nothing is above it
	if err != nil {
		return err
	}
	failed := make(chan error)
	go func() { failed <- db.Run(context.Background()) }()
	for agent := range killAgents {
		go func() { failed <- appendForEver(db, agent) }()
	}
	go func() {
		for {
			if err := db.AddEvents(context.Background(), event(cw.EventAgentWarning, "w")); err != nil {
				failed <- err
				return
			}
			last, err := db.LastEventSeq(context.Background())
			if err != nil {
				failed <- err
				return
			}
			fmt.Printf("e %d\n", last)
		}
	}()
	return <-failed
}

func appendForEver(db *DB, agent int) error {
	ctx := context.Background()
	offset, err := db.NextOffset(ctx, agentName(agent), 1)
	if err != nil {
		return err
	}
	for {
		var batch []cw.Chunk
		for range 1 + rand.IntN(20) {
			c := cw.Chunk{AgentID: agentName(agent), AgentName: "name", SessionNumber: 1, Offset: offset, Bytes: agentBytes(agent, 1, offset, 1+rand.IntN(3000))}
			offset = c.End()
			batch = append(batch, c)
		}
		if _, err := db.AppendChunks(ctx, batch); err != nil {
			return err
		}
		fmt.Printf("%d %d\n", agent, offset)
	}
}

// TestKilledWriter kills a process that appends, again and again: what it was
// told is stored, and what is stored has no gap and no double.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var acked [killAgents]int64
	var ackedEvent int64
	times := kills
	if testing.Short() {
		times = 4
	}
	for range times {
		killProcess(t, "appender", dir, time.Duration(random.IntN(150)+1)*time.Millisecond, func(line string) {
			var agent int
			var end int64
			if _, err := fmt.Sscanf(line, "e %d", &end); err == nil {
				ackedEvent = max(ackedEvent, end)
			} else if _, err := fmt.Sscanf(line, "%d %d", &agent, &end); err == nil {
				acked[agent] = max(acked[agent], end)
			} else {
				t.Errorf("odd line %q", line)
			}
		})
		checkOutput(t, dir, acked, ackedEvent)
	}
	if acked[0] == 0 || ackedEvent == 0 {
		t.Fatal("nothing was ever acknowledged: the kills came too early to show anything")
	}
}

// killProcess lets a process in a role write for a while, from its first word
// on.
func killProcess(t *testing.T, role, dir string, after time.Duration, said func(line string)) {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil { // a last half line was not acknowledged as a whole
			break
		}
		said(line[:len(line)-1])
		once.Do(func() { time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) })
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("the %s ended by itself: %v", role, err)
	}
}

func checkOutput(t *testing.T, dir string, acked [killAgents]int64, ackedEvent int64) {
	t.Helper()
	db, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for agent := range killAgents {
		var end int64
		for _, c := range readAll(t, db, cw.ChunkQuery{AgentID: agentName(agent)}) {
			if c.Offset != end {
				t.Fatalf("agent %d: a chunk at %d after the end %d", agent, c.Offset, end)
			}
			if string(c.Bytes) != string(agentBytes(agent, 1, c.Offset, len(c.Bytes))) {
				t.Fatalf("agent %d: wrong bytes at %d", agent, c.Offset)
			}
			end = c.End()
		}
		next, err := db.NextOffset(t.Context(), agentName(agent), 1)
		if err != nil || next != end || end < acked[agent] {
			t.Fatalf("agent %d: stored to %d, next %d, acknowledged to %d, %v", agent, end, next, acked[agent], err)
		}
	}
	if last, err := db.LastEventSeq(t.Context()); err != nil || last < ackedEvent {
		t.Fatalf("last event %d, acknowledged %d, %v", last, ackedEvent, err)
	}
}

// readAll reads in as many steps as it takes.
func readAll(t testing.TB, db *DB, q cw.ChunkQuery) []cw.Chunk {
	t.Helper()
	var all []cw.Chunk
	for {
		chunks, err := db.ChunksFrom(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(chunks) == 0 {
			return all
		}
		all = append(all, chunks...)
		q.AfterID = chunks[len(chunks)-1].ID
	}
}

// runOpener opens the store, writes a little and closes it.
func runOpener(dir string) error {
	db, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		return err
	}
	err = db.AddEvents(context.Background(), event(cw.EventAgentWarning, "w"))
	return errors.Join(err, db.Close())
}

// TestSeveralProcesses opens one fresh folder from several processes at once,
// which the daemon's lock keeps from happening: each works or says why not,
// and nothing is damaged.
func TestSeveralProcesses(t *testing.T) {
	dir := t.TempDir()
	const openers = 6
	var wg sync.WaitGroup
	var mu sync.Mutex
	var worked int
	for range openers {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], dir)
			cmd.Env = append(os.Environ(), roleVariable+"=opener")
			out, err := cmd.CombinedOutput()
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				worked++
			} else if len(out) == 0 {
				t.Errorf("an opener failed without a word: %v", err)
			} else {
				t.Logf("an opener was refused: %s", out)
			}
		})
	}
	wg.Wait()
	db, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if last, err := db.LastEventSeq(t.Context()); err != nil || last != int64(worked) || worked == 0 {
		t.Fatalf("%d openers worked, %d events, %v", worked, last, err)
	}
	for _, d := range []*database{db.state, db.log} {
		if err := checkWhole(t.Context(), d.reader, d.path, "integrity_check"); err != nil {
			t.Error(err)
		}
	}
}
