package orchestrator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
	"cw/providers"
)

// tape is a run whose output file the test writes itself. For the engine it is
// a run of an earlier daemon: its lock is held and its rows say running.
type tape struct {
	*engine
	state cw.RunState
	lock  *proc.FileLock
	file  *os.File
}

// newTape makes a run of a provider in an engine that follows nothing yet.
func newTape(t *testing.T, provider string) *tape {
	t.Helper()
	e := newEngine(t)
	tp := &tape{engine: e, state: e.record(provider)}
	must(t, os.MkdirAll(tp.state.Run.Dir, 0o700))
	var err error
	tp.lock, err = proc.Lock(filepath.Join(tp.state.Run.Dir, "lock"))
	must(t, err)
	t.Cleanup(func() { tp.lock.Unlock() }) // may be free already
	tp.file, err = os.OpenFile(tp.state.Run.OutputPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(t, err)
	t.Cleanup(func() { must(t, tp.file.Close()) })
	return tp
}

// intended stores an agent of which nothing more is there.
func (e *engine) intended(provider string) cw.SpawnIntent {
	e.t.Helper()
	alias := "otter-" + cw.NewID()
	in, err := e.intent(cw.SpawnRequest{Goal: "x", Mode: cw.ModeExecute}, mustGet(e, provider), cw.Account{ID: cw.DefaultAccountID(provider)}, alias, nil, options{})
	must(e.t, err)
	in.Agent.SessionID = ""
	must(e.t, os.MkdirAll(in.Agent.AgentCwd, 0o700))
	must(e.t, e.db.IntendSpawn(context.Background(), in))
	return in
}

// record stores an agent that runs, without a process.
func (e *engine) record(provider string) cw.RunState {
	e.t.Helper()
	ctx := e.t.Context()
	in := e.intended(provider)
	ev := cw.NewEvent(cw.EventAgentStarting, cw.Actor{Kind: cw.ActorCW}, cw.AgentStarting{Name: in.Agent.Alias})
	must(e.t, e.db.SaveStarting(ctx, cw.Starting{
		AgentID: in.Agent.ID, RunID: in.Run.ID, OpID: in.Op.ID, Step: "spawn/" + stepStarting,
		Message: cw.Message{ID: cw.MessageID(cw.NewID()), Role: cw.RoleUser, Origin: "cw"},
		Token:   cw.Token{ID: cw.TokenID(cw.NewID()), Hash: cw.NewID(), Kind: cw.ActorAgent}, Event: ev,
	}))
	must(e.t, e.db.SaveRunning(ctx, cw.Running{AgentID: in.Agent.ID, RunID: in.Run.ID, OpID: in.Op.ID, Handle: json.RawMessage(`{}`)}))
	st, err := e.db.RunState(ctx, in.Run.ID)
	must(e.t, err)
	return st
}

func mustGet(e *engine, provider string) (p providers.Preset) {
	e.t.Helper()
	p, err := e.Presets.Get(provider)
	must(e.t, err)
	return p
}

func (tp *tape) write(text []byte) {
	tp.t.Helper()
	_, err := tp.file.Write(text)
	must(tp.t, err)
}

// exit lets the run be over.
func (tp *tape) exit() {
	tp.t.Helper()
	data, err := json.Marshal(proc.Exit{Version: proc.ExitVersion, EndedAt: time.Now().UTC()})
	must(tp.t, err)
	must(tp.t, writeFile(filepath.Join(tp.state.Run.Dir, "exit.json"), data))
	must(tp.t, tp.lock.Unlock()) // an exit counts only when the shim is gone
}

// follower gives a new follower, as a new daemon would make one.
func (tp *tape) follower() *follower {
	tp.t.Helper()
	f := &follower{o: tp.Orchestrator, state: tp.state}
	must(tp.t, f.restore(tp.t.Context()))
	return f
}

// once follows for a moment: all that can be stored now is.
func (tp *tape) once(final bool) {
	tp.t.Helper()
	f := tp.follower()
	defer f.close()
	must(tp.t, f.take(tp.t.Context(), final))
}

// stored gives all bytes that are stored, and checks that no chunk overlaps
// another or leaves a gap.
func (tp *tape) stored() []byte {
	tp.t.Helper()
	var out []byte
	for c, err := range tp.Output(tp.t.Context(), string(tp.state.Agent.ID), cw.OutputQuery{}) {
		must(tp.t, err)
		if c.Offset != int64(len(out)) {
			tp.t.Fatalf("a chunk begins at %d, the one before ended at %d", c.Offset, len(out))
		}
		if len(c.Bytes) == 0 || len(c.Bytes) > cw.ChunkMax {
			tp.t.Fatalf("a chunk of %d bytes", len(c.Bytes))
		}
		out = append(out, c.Bytes...)
	}
	return out
}

// announced puts the agent:output events together and checks that each byte
// was told once.
func (tp *tape) announced() int64 {
	tp.t.Helper()
	tp.mu.Lock()
	defer tp.mu.Unlock()
	var end int64
	for _, ev := range tp.live {
		if ev.Type == cw.EventAgentActivity { // what the bytes mean
			continue
		}
		var out cw.AgentOutput
		must(tp.t, json.Unmarshal(ev.Data, &out))
		if ev.Type != cw.EventAgentOutput || out.Offset != end || out.ChunkID == 0 || out.AgentID != tp.state.Agent.ID {
			tp.t.Fatalf("%s %s after byte %d", ev.Type, ev.Data, end)
		}
		end += int64(out.Length)
	}
	return end
}

// TestFollowEveryOffset: the daemon dies after every single byte, and still
// each byte is stored once and in order.
func TestFollowEveryOffset(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "script")
	text := []byte("one\n\ntwo \xff\xfe\r\nthree\x00\nlast without an end")
	for i := range text {
		tp.write(text[i : i+1])
		tp.once(false)
		lines := text[:bytes.LastIndexByte(text[:i+1], '\n')+1]
		if got := tp.stored(); !bytes.Equal(got, lines) {
			t.Fatalf("after byte %d: %q, want %q", i, got, lines)
		}
	}
	tp.once(true)
	tp.once(true)
	if got := tp.stored(); !bytes.Equal(got, text) {
		t.Errorf("%q", got)
	}
	if n := tp.announced(); n != int64(len(text)) {
		t.Errorf("%d bytes announced of %d", n, len(text))
	}
}

// TestFollowHugeLines: lines of several chunks, of 2 MiB, and torn anywhere.
func TestFollowHugeLines(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "script")
	var text []byte
	for _, n := range []int{10, cw.ChunkMax - 1, cw.ChunkMax, cw.ChunkMax + 1, 2 << 20, 0, 3*cw.ChunkMax - 1} {
		text = append(append(text, bytes.Repeat([]byte{'x', 0xff}, n/2)...), '\n')
	}
	text = append(text, bytes.Repeat([]byte("y"), readMax+5)...)
	rng := rand.New(rand.NewPCG(7, 7))
	for rest := text; len(rest) > 0; {
		n := min(len(rest), 1+rng.IntN(300_000))
		tp.write(rest[:n])
		tp.once(false)
		rest = rest[n:]
	}
	tp.once(true)
	if got := tp.stored(); !bytes.Equal(got, text) {
		t.Errorf("%d bytes stored of %d", len(got), len(text))
	}
}

// TestFollowLetGo lets a real follower go again and again while the run writes,
// and ends it: everything is stored once and the end is told.
func TestFollowLetGo(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "script")
	stream := fakecli.NewStream(11, false)
	var text []byte
	for round := range 30 {
		ctx, letGo := context.WithCancel(t.Context())
		var following sync.WaitGroup
		following.Go(func() { tp.follow(ctx, tp.state, proc.Handle{}) })
		for range 10 {
			piece := stream.Next()
			text = append(text, piece...)
			tp.write(piece)
		}
		if round%3 > 0 { // sometimes in the middle of it
			eventually(t, "some of it is stored", func() bool {
				n, err := tp.db.NextOffset(t.Context(), tp.state.Agent.ID, 1)
				return err == nil && n > int64(len(text))/2
			})
		}
		letGo()
		following.Wait()
	}
	tp.exit()
	tp.follow(t.Context(), tp.state, proc.Handle{})
	if got := tp.stored(); !bytes.Equal(got, text) {
		t.Errorf("%d bytes stored of %d", len(got), len(text))
	}
	v, err := tp.Agent(t.Context(), tp.state.Agent.Alias)
	must(t, err)
	if v.Status != cw.StatusIdle || v.ExitCode == nil || *v.ExitCode != 0 {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
}

// TestOneFollower: a run that is followed is not followed twice.
func TestOneFollower(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "script")
	ctx, letGo := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() { tp.follow(ctx, tp.state, proc.Handle{}) })
	tp.write([]byte("one\n"))
	eventually(t, "the line", func() bool { return len(tp.stored()) == 4 })
	tp.follow(t.Context(), tp.state, proc.Handle{}) // it would not come back
	v, err := tp.Agent(t.Context(), tp.state.Agent.Alias)
	must(t, err)
	if v.Activity == nil || v.Activity.State != cw.ActivityBusy || v.Activity.LastAt == nil {
		t.Errorf("activity %+v", v.Activity)
	}
	letGo()
	following.Wait()
}

// TestOutputChanged: somebody changes the raw file. What was stored stays, no
// byte comes twice, it is told once, and the run ends all the same.
func TestOutputChanged(t *testing.T) {
	t.Parallel()
	const first, more = "one\ntwo\n", "three\n"
	rename := func(tp *tape) { must(tp.t, os.Rename(tp.state.Run.OutputPath, tp.state.Run.OutputPath+".old")) }
	tests := []struct {
		name    string
		change  func(tp *tape)
		open    string // stored in the end when the file was open meanwhile
		reopen  string // and when the daemon died before and another one opened it
		restart string // the warning then
		warning string // and when not; what the follower sees first may differ
	}{
		{"truncated", func(tp *tape) { must(tp.t, os.Truncate(tp.state.Run.OutputPath, 3)) }, first, first, "after 8 bytes", "its raw output"},
		{"emptied", func(tp *tape) { must(tp.t, os.Truncate(tp.state.Run.OutputPath, 0)) }, first, first, "truncated", "truncated"},
		{"rewritten", func(tp *tape) {
			// In place: a file that is truncated first can be seen empty.
			f, err := os.OpenFile(tp.state.Run.OutputPath, os.O_WRONLY, 0)
			must(tp.t, err)
			_, err = f.WriteAt([]byte("one\nTWO\n"), 0)
			must(tp.t, errors.Join(err, f.Close()))
		}, first, first, "rewritten", "rewritten"},
		{"renamed", rename, first + more, first, "missing", "missing"},
		{"removed", func(tp *tape) { must(tp.t, os.Remove(tp.state.Run.OutputPath)) }, first + more, first, "missing", "missing"},
		{"replaced by its copy", func(tp *tape) {
			rename(tp)
			must(tp.t, os.WriteFile(tp.state.Run.OutputPath, []byte(first), 0o600))
		}, first + more, first, "", "its raw output"},
		{"replaced by another", func(tp *tape) {
			rename(tp)
			must(tp.t, os.WriteFile(tp.state.Run.OutputPath, []byte("never written by the CLI\n"), 0o600))
		}, first + more, first, "rewritten", "its raw output"},
		{"replaced by a link", func(tp *tape) {
			rename(tp)
			must(tp.t, os.Symlink("/etc/passwd", tp.state.Run.OutputPath))
		}, first + more, first, "replaced", "its raw output"},
		{"replaced by a named pipe", func(tp *tape) {
			rename(tp)
			must(tp.t, unix.Mkfifo(tp.state.Run.OutputPath, 0o600))
		}, first + more, first, "replaced", "its raw output"},
		{"replaced by a folder", func(tp *tape) {
			rename(tp)
			must(tp.t, os.Mkdir(tp.state.Run.OutputPath, 0o700))
		}, first + more, first, "replaced", "its raw output"},
	}
	for _, tt := range tests {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restarted=%t", tt.name, restarted), func(t *testing.T) {
				t.Parallel()
				tp := newTape(t, "script")
				tp.write([]byte(first))
				ctx, letGo := context.WithCancel(t.Context())
				defer letGo()
				var following sync.WaitGroup
				follow := func(ctx context.Context) {
					following.Go(func() { tp.follow(ctx, tp.state, proc.Handle{}) })
				}
				follow(ctx)
				eventually(t, "the first lines", func() bool { return string(tp.stored()) == first })
				want, warning := tt.open, tt.warning
				if restarted {
					letGo()
					following.Wait()
					want, warning = tt.reopen, tt.restart
				}
				tt.change(tp)
				tp.write([]byte(more))
				if restarted {
					follow(t.Context())
				}
				if warning != "" {
					tp.until(tp.state.Agent.Alias, func(v cw.AgentView) bool { return len(v.Warnings) > 0 })
				}
				tp.write([]byte(more))
				if want == tt.open && strings.HasSuffix(want, more) {
					want += more
				}
				tp.exit()
				v := tp.rest(tp.state.Agent.Alias)
				following.Wait()
				if got := string(tp.stored()); got != want {
					t.Errorf("stored %q, want %q", got, want)
				}
				if warning == "" && len(v.Warnings) > 0 || warning != "" && (len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], warning)) {
					t.Errorf("warnings %q, want one about %q", v.Warnings, warning)
				}
			})
		}
	}
}

// TestSessionIDKept: the daemon dies between storing the CLI's first line and
// noting its session id; the next one notes it, though nothing more is said.
func TestSessionIDKept(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "claude")
	line := []byte(`{"type":"system","subtype":"init","session_id":"11111111-2222-3333-4444-555555555555","model":"m","tools":[]}` + "\n")
	tp.write(line)
	_, err := tp.db.AppendChunks(t.Context(), []cw.Chunk{{AgentID: tp.state.Agent.ID, AgentName: "x", SessionNumber: 1, Bytes: line}})
	must(t, err)
	tp.follower().close()
	agent, err := tp.db.AgentByRef(t.Context(), string(tp.state.Agent.ID))
	must(t, err)
	if agent.SessionID != "11111111-2222-3333-4444-555555555555" {
		t.Errorf("session id %q", agent.SessionID)
	}
}

// TestRunDirectoryRemoved: the shim and the CLI live, so the run goes on, for
// the next daemon too; and it can be stopped whole.
func TestRunDirectoryRemoved(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := hangs()
	gate := filepath.Join(e.books, "gate") // the start is looked at in that directory
	s.Hang, s.Wait, s.Shell = false, gate, `rm -rf "$CW_HOME/runs" && exec sleep 600`
	v := e.mustSpawn(e.request(s))
	must(t, os.WriteFile(gate, nil, 0o600))
	eventually(t, "the directory is gone", func() bool {
		_, err := os.Stat(e.home.Runs())
		return err != nil
	})
	e.stopRun()
	e.boot()
	v, err := e.Agent(t.Context(), v.Alias)
	must(t, err)
	if v.Status != cw.StatusRunning {
		t.Fatalf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	v, err = e.Stop(t.Context(), v.Alias, cw.StopRequest{Now: true})
	must(t, err)
	if v.Status != cw.StatusStopped {
		t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	for _, p := range lab.Processes(string(e.home)) {
		t.Errorf("process %d lives on: %s", p.PID, p.Command)
	}
}
