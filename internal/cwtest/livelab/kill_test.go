package livelab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"

	"github.com/google/go-cmp/cmp"
)

const (
	killAgents = 4 // that write
	kills      = 5 // of the daemon, while they do
)

// subscriber is one of the readers that the daemon is killed under.
type subscriber struct {
	name string
	read func(ctx context.Context) error
	// check holds what it read against what is stored.
	check func(t *testing.T, s *stored)
}

// stored is what is there when all is over, read at once.
type stored struct {
	events []cw.Event
	raw    map[string][]byte           // the file that the CLI wrote, by agent
	parsed map[string][]cw.OutputEvent // by agent
}

// TestKilledUnderReaders kills the daemon again and again in the middle of
// twenty live subscriptions: our client's and plain HTTP ones, of events, of raw
// and of parsed output. Each ends with the whole sequence.
func TestKilledUnderReaders(t *testing.T) {
	l := lab.New(t, binary)
	l.Start()
	seed := uint64(time.Now().UnixNano() & 0xffffff)
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var agents []string
	var subs []*subscriber
	last := &atomic.Int64{} // the last event of all, once it is known
	subs = append(subs, clientEvents(l, last), clientEvents(l, last), plainEvents(l, last, ""), plainEvents(l, last, "&type=agent:stopped,agent:spawned"))
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	var reading sync.WaitGroup
	follow := func(subs ...*subscriber) {
		for _, s := range subs {
			reading.Go(func() {
				if err := s.read(ctx); err != nil {
					t.Errorf("%s: %v", s.name, err)
				}
			})
		}
	}
	follow(subs...)
	for i := range killAgents {
		view := l.MustSpawn(fakecli.Script{
			Seed: seed + uint64(i), Pieces: 1500, PaceMS: 4, Tame: i%2 == 0, Signal: `{"status":"done","result":"ok","noChanges":"only words"}`,
		})
		agents = append(agents, string(view.ID))
		of := []*subscriber{clientRaw(l, string(view.ID)), clientParsed(l, string(view.ID)), plainRaw(l, string(view.ID)), plainParsed(l, string(view.ID))}
		follow(of...)
		subs = append(subs, of...)
	}
	inWork := 0
	for range kills {
		time.Sleep(time.Duration(100+random.IntN(300)) * time.Millisecond) // anywhere
		if slices.ContainsFunc(lab.Processes(string(l.Home)), func(p lab.Process) bool { return p.Run != "" && !p.Shim }) {
			inWork++
		}
		l.Kill()
		l.Start()
	}
	if inWork < kills/2 {
		t.Errorf("only %d of %d kills fell while agents wrote", inWork, kills)
	}
	s := &stored{raw: map[string][]byte{}, parsed: map[string][]cw.OutputEvent{}}
	for _, id := range agents {
		s.add(t, l, l.Rest(id))
	}
	for e, err := range l.Client().Events(ctx, cw.EventQuery{}) {
		must(t, err)
		s.events = append(s.events, e)
	}
	last.Store(s.events[len(s.events)-1].Seq)
	_, err := l.Client().AddProject(ctx, cw.ProjectRequest{Path: otherRepo(t)}) // one more event tells the waiting ones
	must(t, err)
	reading.Wait()
	if len(subs) != 20 {
		t.Fatalf("%d subscriptions", len(subs))
	}
	for _, sub := range subs {
		sub.check(t, s)
	}
}

func otherRepo(t *testing.T) string {
	dir := t.TempDir() + "/other"
	lab.NewRepo(t, dir)
	return dir
}

func (s *stored) add(t *testing.T, l *lab.Lab, v cw.AgentView) {
	t.Helper()
	id := string(v.ID)
	file, err := os.ReadFile(v.Runs[0].OutputPath)
	must(t, err)
	if len(file) == 0 || v.Status != cw.StatusIdle {
		t.Fatalf("agent %s is %s and wrote %d bytes: %s", id, v.Status, len(file), v.Error)
	}
	s.raw[id] = file
	for e, err := range l.Client().OutputEvents(t.Context(), id, cw.OutputQuery{}) {
		must(t, err)
		s.parsed[id] = append(s.parsed[id], e)
	}
}

// clientEvents follows all stored events with our client.
func clientEvents(l *lab.Lab, last *atomic.Int64) *subscriber {
	var got []cw.Event
	return &subscriber{
		name: "events by the client",
		read: func(ctx context.Context) error {
			for e, err := range l.Client().Events(ctx, cw.EventQuery{Follow: true}) {
				if err != nil {
					return err
				}
				if n := last.Load(); n != 0 && e.Seq > n {
					return nil
				}
				if e.Type.Stored() {
					got = append(got, e)
				}
			}
			return nil
		},
		check: func(t *testing.T, s *stored) {
			if diff := cmp.Diff(s.events, got); diff != "" {
				t.Errorf("events by the client: %s", diff)
			}
		},
	}
}

// plainEvents follows events with a plain reader.
func plainEvents(l *lab.Lab, last *atomic.Int64, query string) *subscriber {
	got := []int64{}
	r := &plain{socket: l.Socket(), target: "/v1/events?follow=true" + query}
	over := func(seq int64) error {
		if n := last.Load(); n != 0 && seq > n {
			return errDone
		}
		return nil
	}
	r.item = func(f frame) error {
		e, err := eventOf(f)
		if err != nil {
			return err
		}
		if err := over(e.Seq); err != nil {
			return err
		}
		if e.Type.Stored() {
			got = append(got, e.Seq)
		}
		return nil
	}
	r.control = func(f frame) error { // a mark: how far was looked
		var seq int64
		if _, err := fmt.Sscan(f.id, &seq); err != nil {
			return fmt.Errorf("%w: a mark at %q", errDone, f.id)
		}
		return over(seq)
	}
	return &subscriber{name: "plain events" + query, read: r.follow, check: func(t *testing.T, s *stored) {
		want := []int64{}
		for _, e := range s.events {
			if query == "" || e.Type == cw.EventAgentStopped || e.Type == cw.EventAgentSpawned {
				want = append(want, e.Seq)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 2*killAgents {
			t.Errorf("plain events%s: %d, %s", query, len(want), diff)
		}
	}}
}

// clientRaw follows the raw output of an agent with our client.
func clientRaw(l *lab.Lab, id string) *subscriber {
	var got bytes.Buffer
	return &subscriber{
		name: "raw output by the client",
		read: func(ctx context.Context) error {
			for c, err := range client(l).Output(ctx, id, cw.OutputQuery{Until: cw.UntilRest}) {
				if err != nil {
					return err
				}
				got.Write(c.Bytes)
			}
			return nil
		},
		check: func(t *testing.T, s *stored) { sameBytes(t, "client", s.raw[id], got.Bytes()) },
	}
}

// client waits for a daemon that is away at the very beginning, too.
func client(l *lab.Lab) *api.Client {
	l.Serving()
	return l.Client()
}

// plainRaw does so with a plain reader.
func plainRaw(l *lab.Lab, id string) *subscriber {
	var got bytes.Buffer
	r := &plain{socket: l.Socket(), target: "/v1/agents/" + id + "/output?until=rest"}
	r.item = func(f frame) error {
		var c cw.Chunk
		if err := json.Unmarshal([]byte(f.data), &c); err != nil || fmt.Sprint(c.ID) != f.id || c.Offset != int64(got.Len()) {
			return fmt.Errorf("%w: %w: chunk %q at %d where %d belongs", errDone, err, f.id, c.Offset, got.Len())
		}
		got.Write(c.Bytes)
		return nil
	}
	return &subscriber{name: "plain raw output", read: r.follow, check: func(t *testing.T, s *stored) { sameBytes(t, "plain", s.raw[id], got.Bytes()) }}
}

func sameBytes(t *testing.T, who string, want, got []byte) {
	t.Helper()
	if !bytes.Equal(want, got) {
		n := 0
		for n < min(len(want), len(got)) && want[n] == got[n] {
			n++
		}
		t.Errorf("%s: %d bytes of %d, different from byte %d on", who, len(got), len(want), n)
	}
}

// clientParsed follows the parsed output of an agent with our client.
func clientParsed(l *lab.Lab, id string) *subscriber {
	var got []cw.OutputEvent
	return &subscriber{
		name: "parsed output by the client",
		read: func(ctx context.Context) error {
			for e, err := range client(l).OutputEvents(ctx, id, cw.OutputQuery{Until: cw.UntilRest}) {
				if err != nil {
					return err
				}
				got = append(got, e)
			}
			return nil
		},
		check: func(t *testing.T, s *stored) { sameParsed(t, "client", s.parsed[id], got) },
	}
}

// plainParsed does so with a plain reader, which leaves out what it has seen by
// its position.
func plainParsed(l *lab.Lab, id string) *subscriber {
	var got []cw.OutputEvent
	r := &plain{socket: l.Socket(), target: "/v1/agents/" + id + "/output?until=rest&format=events"}
	r.item = func(f frame) error {
		var e cw.OutputEvent
		if err := json.Unmarshal([]byte(f.data), &e); err != nil || f.id != "" {
			return fmt.Errorf("%w: %w: id %q", errDone, err, f.id)
		}
		if !slices.ContainsFunc(got, func(o cw.OutputEvent) bool { return o.Position == e.Position }) {
			got = append(got, e)
		}
		return nil
	}
	return &subscriber{name: "plain parsed output", read: r.follow, check: func(t *testing.T, s *stored) { sameParsed(t, "plain", s.parsed[id], got) }}
}

// sameParsed compares by position and content; chunk numbers are those of the
// rows in both.
func sameParsed(t *testing.T, who string, want, got []cw.OutputEvent) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("%s: %d of %d events: %.2000s", who, len(got), len(want), diff)
	}
}
