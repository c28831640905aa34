package event_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"cw/internal/cw"
	"cw/internal/event"

	"github.com/google/go-cmp/cmp"
)

func numbered(n int) cw.Event {
	return cw.Event{Seq: int64(n), Type: cw.EventAgentWarning, AgentID: "k3v7q2mzt5ha"}
}

func seqs(c <-chan cw.Event) []int64 {
	var out []int64
	for e := range c {
		out = append(out, e.Seq)
	}
	return out
}

func TestFilter(t *testing.T) {
	t.Parallel()
	mine, other := cw.AgentID("k3v7q2mzt5ha"), cw.AgentID("aaaaaaaaaaaa")
	cases := []struct {
		name   string
		filter event.Filter
		event  cw.Event
		want   bool
	}{
		{"zero takes a stored event", event.Filter{}, cw.Event{Type: cw.EventAgentSpawned}, true},
		{"zero takes activity", event.Filter{}, cw.Event{Type: cw.EventAgentActivity}, true},
		{"zero leaves output", event.Filter{}, cw.Event{Type: cw.EventAgentOutput}, false},
		{"output when named", event.Filter{Types: []cw.EventType{cw.EventAgentOutput}}, cw.Event{Type: cw.EventAgentOutput}, true},
		{"type not named", event.Filter{Types: []cw.EventType{cw.EventAgentOutput}}, cw.Event{Type: cw.EventAgentSpawned}, false},
		{"its agent", event.Filter{Agent: mine}, cw.Event{Type: cw.EventAgentSpawned, AgentID: mine}, true},
		{"another agent", event.Filter{Agent: mine}, cw.Event{Type: cw.EventAgentSpawned, AgentID: other}, false},
		{"no agent", event.Filter{Agent: mine}, cw.Event{Type: cw.EventProjectAdded}, false},
		{"agent does not undo the type rule", event.Filter{Agent: mine}, cw.Event{Type: cw.EventAgentOutput, AgentID: mine}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.filter.Matches(c.event); got != c.want {
				t.Errorf("Matches = %v, want %v", got, c.want)
			}
		})
	}
}

func TestOrderAndClose(t *testing.T) {
	t.Parallel()
	hub := event.NewHub()
	a, b := hub.Subscribe(event.Filter{}), hub.Subscribe(event.Filter{Agent: "nobody"})
	hub.Publish(numbered(1), numbered(2))
	hub.Publish(numbered(3))
	a.Close()
	a.Close() // twice is harmless
	hub.Publish(numbered(4))
	b.Close()
	if diff := cmp.Diff([]int64{1, 2, 3}, seqs(a.C)); diff != "" {
		t.Error(diff)
	}
	if got := seqs(b.C); got != nil {
		t.Errorf("the other agent's reader got %v", got)
	}
	if a.Overflowed() || b.Overflowed() {
		t.Error("marked as overflowed")
	}
}

func TestFilterIsCopied(t *testing.T) {
	t.Parallel()
	hub := event.NewHub()
	types := []cw.EventType{cw.EventAgentWarning}
	s := hub.Subscribe(event.Filter{Types: types})
	types[0] = cw.EventAgentSpawned
	hub.Publish(numbered(1))
	s.Close()
	if diff := cmp.Diff([]int64{1}, seqs(s.C)); diff != "" {
		t.Error(diff)
	}
}

// A reader that never reads costs the publisher and the others nothing: it
// keeps exactly its queue and is marked.
func TestOverflowCutsOnlyTheSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := event.NewHub()
		slow, fast := hub.Subscribe(event.Filter{}), hub.Subscribe(event.Filter{})
		var got []int64
		var done sync.WaitGroup
		done.Go(func() { got = seqs(fast.C) })
		const total = 3 * event.QueueLength
		for i := range total {
			hub.Publish(numbered(i))
			synctest.Wait() // the fast reader keeps up
		}
		fast.Close()
		done.Wait()
		if len(got) != total || fast.Overflowed() {
			t.Errorf("the fast reader got %d of %d, overflowed %v", len(got), total, fast.Overflowed())
		}
		left := seqs(slow.C) // ends: the channel is closed
		if len(left) != event.QueueLength || left[0] != 0 || !slow.Overflowed() {
			t.Errorf("the slow reader has %d events, overflowed %v", len(left), slow.Overflowed())
		}
		slow.Close() // after an overflow is harmless
	})
}

// Publishers, readers and closers at once: every reader that stays sees the
// events of each publisher in order, and all readers the same order.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	hub := event.NewHub()
	const publishers, each, readers = 4, 50, 8 // 200 events fit in one queue
	subs := make([]*event.Subscription, readers)
	for i := range subs {
		subs[i] = hub.Subscribe(event.Filter{})
	}
	var wg sync.WaitGroup
	for p := range publishers {
		wg.Go(func() {
			for i := range each {
				hub.Publish(cw.Event{Type: cw.EventAgentWarning, ActorID: fmt.Sprint(p), Seq: int64(i)})
			}
		})
		wg.Go(func() {
			for range each {
				s := hub.Subscribe(event.Filter{})
				hub.Publish(cw.Event{Type: cw.EventAgentOutput})
				s.Close()
			}
		})
	}
	wg.Wait()
	var first []cw.Event
	for i, s := range subs {
		s.Close()
		var got []cw.Event
		for e := range s.C {
			got = append(got, e)
		}
		if i == 0 {
			first = got
			checkOrder(t, got, publishers, each)
		} else if diff := cmp.Diff(first, got); diff != "" {
			t.Fatalf("reader %d saw another order: %s", i, diff)
		}
	}
}

func checkOrder(t *testing.T, got []cw.Event, publishers, each int) {
	t.Helper()
	next := map[string]int64{}
	for _, e := range got {
		if e.Seq != next[e.ActorID] {
			t.Fatalf("publisher %s: got %d, want %d", e.ActorID, e.Seq, next[e.ActorID])
		}
		next[e.ActorID]++
	}
	if len(got) != publishers*each {
		t.Fatalf("got %d events of %d", len(got), publishers*each)
	}
}
