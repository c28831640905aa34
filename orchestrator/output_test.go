package orchestrator

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"cw/internal/cw"
)

// shelf holds an agent's stored output: the chunks of some sessions.
type shelf struct {
	*engine
	agent  cw.Agent
	chunks []cw.Chunk
}

// put stores another agent with the output of several sessions, each already
// cut into chunks.
func (e *engine) put(t interface{ Fatal(...any) }, provider string, sessions [][][]byte) shelf {
	s := shelf{engine: e, agent: e.intended(provider).Agent}
	for n, pieces := range sessions {
		at := int64(0)
		for _, p := range pieces {
			s.chunks = append(s.chunks, cw.Chunk{
				AgentID: s.agent.ID, AgentName: s.agent.Alias, SessionNumber: n + 1, Offset: at, Bytes: p,
			})
			at += int64(len(p))
		}
	}
	var err error
	if s.chunks, err = e.db.AppendChunks(context.Background(), s.chunks); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s shelf) raw(t interface{ Fatal(...any) }, q cw.OutputQuery) []cw.Chunk {
	var out []cw.Chunk
	for c, err := range s.Output(context.Background(), s.agent.Alias, q) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func (s shelf) events(t interface{ Fatal(...any) }, q cw.OutputQuery) []cw.OutputEvent {
	var out []cw.OutputEvent
	for ev, err := range s.OutputEvents(context.Background(), s.agent.Alias, q) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ev)
	}
	return out
}

// drawSessions makes the output of some sessions, cut as a follower would not
// always cut it: anywhere.
func drawSessions(t *rapid.T) [][][]byte {
	word := rapid.SampledFrom([]string{
		"one\n", "two", "\n", "\xff\xfe", "\r\n", "ü", "\xc3", "\xbc", "\x00", strings.Repeat("long ", 50),
		`{"type":"system","subtype":"init","session_id":"11111111-2222-3333-4444-555555555555"}` + "\n",
		`{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}` + "\n",
		`{"type":"result","subtype":"success","result":"done"}` + "\n",
	})
	out := make([][][]byte, rapid.IntRange(1, 3).Draw(t, "sessions"))
	for i := range out {
		for range rapid.IntRange(1, 6).Draw(t, "chunks") {
			piece := strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "piece"), "")
			cut := rapid.IntRange(1, len(piece)).Draw(t, "cut")
			out[i] = append(out[i], []byte(piece[:cut]))
		}
	}
	return out
}

// TestOutputModel: whatever part of the raw output is asked for, exactly that
// comes, byte for byte.
func TestOutputModel(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	rapid.Check(t, func(t *rapid.T) {
		s := e.put(t, "script", drawSessions(t))
		q := cw.OutputQuery{
			Session: rapid.IntRange(0, 4).Draw(t, "session"),
			Only:    rapid.Bool().Draw(t, "only"),
			Offset:  rapid.Int64Range(0, 300).Draw(t, "offset"),
		}
		if rapid.Bool().Draw(t, "resume") {
			q.AfterID = rapid.SampledFrom(s.chunks).Draw(t, "after").ID
		}
		var want, got []byte
		for _, c := range s.chunks {
			only := !q.Only || q.Session == 0 || c.SessionNumber == q.Session
			switch {
			case !only:
			case q.AfterID > 0:
				if c.ID > q.AfterID {
					want = append(want, c.Bytes...)
				}
			case c.SessionNumber > q.Session:
				want = append(want, c.Bytes...)
			case c.SessionNumber == q.Session && c.End() > q.Offset:
				want = append(want, c.Bytes[max(0, q.Offset-c.Offset):]...)
			}
		}
		for _, c := range s.raw(t, q) {
			got = append(got, c.Bytes...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%+v: %q, want %q", q, got, want)
		}
	})
}

// TestOutputEventsResume: who comes back after any chunk gets exactly the
// events that were still to come, with the same positions.
func TestOutputEventsResume(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	rapid.Check(t, func(t *rapid.T) {
		provider := rapid.SampledFrom([]string{"script", "claude"}).Draw(t, "provider")
		s := e.put(t, provider, drawSessions(t))
		all := s.events(t, cw.OutputQuery{})
		seen := map[string]bool{}
		for _, ev := range all {
			if seen[ev.Position] {
				t.Fatalf("position %s comes twice", ev.Position)
			}
			seen[ev.Position] = true
		}
		for _, c := range s.chunks {
			var want []cw.OutputEvent
			for _, ev := range all {
				if ev.ChunkID > c.ID {
					want = append(want, ev)
				}
			}
			if diff := cmp.Diff(want, s.events(t, cw.OutputQuery{AfterID: c.ID}), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("after chunk %d (%d:%d): -want +got\n%s", c.ID, c.SessionNumber, c.Offset, diff)
			}
		}
	})
}

// TestOutputEventsResumeFar: who comes back far into a long run gets the same
// events with the same positions, and does not wait until all before them is
// parsed again: the figures of the result are not known then. The next run is
// read whole.
func TestOutputEventsResumeFar(t *testing.T) {
	t.Parallel()
	const segment = 1000
	e := newEngine(t)
	var pieces [][]byte
	for n := range 60 {
		line := fmt.Appendf(nil, `{"type":"assistant","message":{"id":"m%d","content":[{"type":"text","text":"%d %s"}]}}`+"\n", n, n, strings.Repeat("x", 500))
		pieces = append(pieces, line[:100], line[100:])
	}
	end := []byte(`{"type":"result","subtype":"success","result":"done","total_cost_usd":3,"num_turns":4,"usage":{"output_tokens":7}}` + "\n")
	s := e.put(t, "claude", [][][]byte{append(pieces, end), {end}})
	all := s.events(t, cw.OutputQuery{})
	for _, c := range s.chunks {
		var got []cw.OutputEvent
		for ev, err := range s.outputEvents(t.Context(), string(s.agent.ID), cw.OutputQuery{AfterID: c.ID}, segment) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ev)
		}
		var want []cw.OutputEvent
		for _, ev := range all {
			if ev.ChunkID > c.ID {
				far := c.SessionNumber == ev.Session && c.Offset > outputLooked/outputSegment*segment
				want = append(want, known(ev, !far))
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("after chunk %d (%d:%d): -want +got\n%s", c.ID, c.SessionNumber, c.Offset, diff)
		}
	}
}

// TestOutputEventsText: the texts of lines are the output, session by session,
// however it was cut; an unfinished last line is not forgotten.
func TestOutputEventsText(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	rapid.Check(t, func(t *rapid.T) {
		sessions := drawSessions(t)
		s := e.put(t, "script", sessions)
		for n, pieces := range sessions {
			var got strings.Builder
			for _, ev := range s.events(t, cw.OutputQuery{Session: n + 1, Only: true}) {
				if ev.Session != n+1 {
					t.Fatalf("an event of session %d", ev.Session)
				}
				got.WriteString(ev.Event.Text)
			}
			want := strings.Split(string(bytes.Join(pieces, nil)), "\n")
			if last := len(want) - 1; want[last] == "" {
				want = want[:last]
			}
			for i, line := range want {
				want[i] = strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "") + "\n"
			}
			shown := strings.ReplaceAll(got.String(), "\uFFFD", "")
			if shown != strings.Join(want, "") {
				t.Fatalf("%q, want %q", shown, want)
			}
		}
	})
}

// TestOutputEventsOffset: an offset inside a session leaves out the chunks
// before it, with the parser's state as if they had been read.
func TestOutputEventsOffset(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := e.put(t, "script", [][][]byte{{[]byte("one\ntw"), []byte("o\nthree\n"), []byte("four\n")}, {[]byte("five\n")}})
	for _, tt := range []struct {
		q    cw.OutputQuery
		want string
	}{
		{cw.OutputQuery{}, "one\ntwo\nthree\nfour\nfive\n"},
		{cw.OutputQuery{Session: 1, Offset: 5}, "one\ntwo\nthree\nfour\nfive\n"},
		{cw.OutputQuery{Session: 1, Offset: 6}, "two\nthree\nfour\nfive\n"},
		{cw.OutputQuery{Session: 1, Offset: 14}, "four\nfive\n"},
		{cw.OutputQuery{Session: 1, Offset: 14, Only: true}, "four\n"},
		{cw.OutputQuery{Session: 1, Offset: 1000}, "five\n"},
		{cw.OutputQuery{Session: 1, Offset: 1000, Only: true}, ""},
		{cw.OutputQuery{Session: 2}, "five\n"},
		{cw.OutputQuery{Session: 9}, ""},
	} {
		var got strings.Builder
		for _, ev := range s.events(t, tt.q) {
			got.WriteString(ev.Event.Text)
		}
		if got.String() != tt.want {
			t.Errorf("%+v: %q, want %q", tt.q, got.String(), tt.want)
		}
	}
}

// TestOutputEnough: a reader that has had enough is left alone.
func TestOutputEnough(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	var many [][]byte
	for range 3 * chunkPage {
		many = append(many, []byte("line\nline\n"))
	}
	s := e.put(t, "script", [][][]byte{many})
	if n := len(s.raw(t, cw.OutputQuery{})); n != len(many) {
		t.Errorf("%d chunks of %d", n, len(many))
	}
	if chunkPage > cw.ChunksSure {
		t.Error("a short page may not be the end")
	}
	for stop := range 5 {
		n := 0
		for range s.Output(t.Context(), s.agent.Alias, cw.OutputQuery{Until: cw.UntilClosed}) {
			if n++; n > stop {
				break
			}
		}
		for range s.OutputEvents(t.Context(), s.agent.Alias, cw.OutputQuery{Until: cw.UntilClosed}) {
			if n--; n == 0 {
				break
			}
		}
	}
	for _, err := range s.Output(t.Context(), "nobody-here", cw.OutputQuery{}) {
		if cw.ErrorCode(err) != cw.CodeNotFound {
			t.Errorf("%v", err)
		}
	}
	for _, err := range s.OutputEvents(t.Context(), "nobody-here", cw.OutputQuery{}) {
		if cw.ErrorCode(err) != cw.CodeNotFound {
			t.Errorf("%v", err)
		}
	}
}

// TestOutputUntil: now ends at once, rest with the run and everything of it,
// closed when the reader lets go.
func TestOutputUntil(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	script := hangs()
	script.Hang, script.Wait, script.Shell = false, filepath.Join(e.books, "go"), "printf unfinished"
	script.Signal = `{"status":"done","noChanges":"looked"}`
	v := e.mustSpawn(e.request(script))
	eventually(t, "the first output", func() bool {
		n, err := e.db.NextOffset(t.Context(), v.ID, 1)
		return err == nil && n > 0
	})
	var followed atomic.Int64 // bytes that the one who never ends has
	reader := func(ctx context.Context, q cw.OutputQuery) chan []byte {
		done := make(chan []byte, 1)
		go func() {
			var all []byte
			for c, err := range e.Output(ctx, v.Alias, q) {
				if err != nil || c.Offset != int64(len(all)) {
					t.Errorf("chunk at %d after %d: %v", c.Offset, len(all), err)
				}
				all = append(all, c.Bytes...)
				if q.Until == cw.UntilClosed {
					followed.Store(int64(len(all)))
				}
			}
			done <- all
		}()
		return done
	}
	ctx, letGo := context.WithCancel(t.Context())
	defer letGo()
	now := reader(t.Context(), cw.OutputQuery{Until: cw.UntilNow})
	rest := reader(t.Context(), cw.OutputQuery{Until: cw.UntilRest})
	only := reader(t.Context(), cw.OutputQuery{Until: cw.UntilRest, Session: 1, Only: true})
	closed := reader(ctx, cw.OutputQuery{Until: cw.UntilClosed})
	if got := <-now; len(got) == 0 {
		t.Error("nothing is stored")
	}
	select {
	case <-rest:
		t.Error("it is not at rest yet")
	case <-only:
		t.Error("the session is not over yet")
	case <-closed:
		t.Error("nobody let go")
	case <-time.After(50 * time.Millisecond):
	}
	must(t, os.WriteFile(filepath.Join(e.books, "go"), nil, 0o600))
	e.rest(v.Alias)
	raw, err := os.ReadFile(v.OutputPath)
	must(t, err)
	for name, done := range map[string]chan []byte{"rest": rest, "only": only} {
		if got := <-done; !bytes.Equal(got, raw) {
			t.Errorf("until %s: %q, want %q", name, got, raw)
		}
	}
	eventually(t, "who follows has everything", func() bool { return followed.Load() == int64(len(raw)) })
	select {
	case <-closed:
		t.Error("nobody let go")
	default:
	}
	letGo()
	if got := <-closed; !bytes.Equal(got, raw) {
		t.Errorf("until closed: %q, want %q", got, raw)
	}
}

// TestOutputUnknownProvider: the preset of an agent is gone; its output is
// still to be read, as lines.
func TestOutputUnknownProvider(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	s := e.put(t, "fake", [][][]byte{{[]byte("one\n")}})
	must(t, os.Remove(filepath.Join(e.home.Providers(), "fake.yaml")))
	if got := s.events(t, cw.OutputQuery{}); len(got) != 1 || got[0].Event.Text != "one\n" {
		t.Errorf("%+v", got)
	}
}
