package event_test

import (
	"fmt"
	"sync"
	"testing"

	"cw/internal/cw"
	"cw/internal/event"

	"github.com/google/go-cmp/cmp"
)

func stored(n int) cw.Event {
	return cw.Event{Seq: int64(n), Type: cw.EventAgentWarning, AgentID: "k3v7q2mzt5ha"}
}

func live(n int) cw.Event {
	return cw.Event{Type: cw.EventPlanStepStarted, ActorID: fmt.Sprint(n)}
}

// rung tells whether the bell rang since the last time.
func rung(s *event.Subscription) bool {
	select {
	case <-s.Bell:
		return true
	default:
		return false
	}
}

func actors(events []cw.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, e.ActorID)
	}
	return out
}

// The bell rings once for all that came since it was heard, and only for what
// the filter selects.
func TestBell(t *testing.T) {
	t.Parallel()
	hub := event.NewHub()
	all, other := hub.Subscribe(cw.EventFilter{}), hub.Subscribe(cw.EventFilter{Agent: "nobody"})
	defer all.Close()
	defer other.Close()
	if rung(all) {
		t.Error("it rang for nothing")
	}
	hub.Publish(stored(1), stored(2))
	hub.Publish(stored(3))
	if !rung(all) || rung(all) || rung(other) {
		t.Error("three events did not ring exactly once, or rang for another")
	}
	hub.Publish(live(1))
	if !rung(all) {
		t.Error("a live event did not ring")
	}
	if diff := cmp.Diff([]string{"1"}, actors(all.Live())); diff != "" {
		t.Error(diff)
	}
	if got := append(all.Live(), other.Live()...); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	all.Close()
	all.Close() // twice is harmless
	hub.Publish(stored(4), live(2))
	if rung(all) || len(all.Live()) != 0 {
		t.Error("it was told after its end")
	}
}

// The last event of a call is selected and the others are not.
func TestBellLooksAtAll(t *testing.T) {
	t.Parallel()
	hub := event.NewHub()
	s := hub.Subscribe(cw.EventFilter{Types: []cw.EventType{cw.EventPlanStepStarted, cw.EventAgentStopped}})
	defer s.Close()
	hub.Publish(stored(1), cw.Event{Seq: 2, Type: cw.EventAgentStopped}, live(1), stored(3), live(2))
	if !rung(s) {
		t.Error("it did not ring")
	}
	if diff := cmp.Diff([]string{"1", "2"}, actors(s.Live())); diff != "" {
		t.Error(diff)
	}
}

func TestFilterIsCopied(t *testing.T) {
	t.Parallel()
	hub := event.NewHub()
	types := []cw.EventType{cw.EventAgentWarning}
	s := hub.Subscribe(cw.EventFilter{Types: types})
	defer s.Close()
	types[0] = cw.EventAgentSpawned
	hub.Publish(stored(1))
	if !rung(s) {
		t.Error("the filter changed with its list")
	}
}

// A reader that never reads costs the publisher and the others nothing: of
// live events it keeps the newest, of stored ones nothing.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	hub := event.NewHub()
	slow, fast := hub.Subscribe(cw.EventFilter{}), hub.Subscribe(cw.EventFilter{})
	defer slow.Close()
	defer fast.Close()
	const total = 3 * event.QueueLength
	var got []string
	for i := range total {
		hub.Publish(live(i), stored(i+1))
		got = append(got, actors(fast.Live())...)
	}
	if len(got) != total {
		t.Errorf("the fast reader got %d of %d", len(got), total)
	}
	left := actors(slow.Live())
	if len(left) != event.QueueLength || left[0] != fmt.Sprint(total-event.QueueLength) || left[len(left)-1] != fmt.Sprint(total-1) {
		t.Errorf("the slow reader has %d events, from %s on", len(left), left[0])
	}
}

// Publishers, readers and closers at once: every reader that stays gets the
// live events of each publisher in order, and all readers the same order.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	hub := event.NewHub()
	const publishers, each, readers = 4, 50, 8 // 200 events fit in one queue
	subs := make([]*event.Subscription, readers)
	for i := range subs {
		subs[i] = hub.Subscribe(cw.EventFilter{})
	}
	var wg sync.WaitGroup
	for p := range publishers {
		wg.Go(func() {
			for i := range each {
				e := live(i)
				e.RunID = cw.RunID(fmt.Sprint(p))
				hub.Publish(e)
			}
		})
		wg.Go(func() {
			for range each {
				s := hub.Subscribe(cw.EventFilter{})
				hub.Publish(cw.Event{Type: cw.EventAgentOutput})
				hub.Recent(0, cw.EventFilter{}, 10)
				s.Close()
			}
		})
	}
	wg.Wait()
	var first []cw.Event
	for i, s := range subs {
		got := s.Live()
		s.Close()
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
	next := map[cw.RunID]int{}
	for _, e := range got {
		if e.ActorID != fmt.Sprint(next[e.RunID]) {
			t.Fatalf("publisher %s: got %s, want %d", e.RunID, e.ActorID, next[e.RunID])
		}
		next[e.RunID]++
	}
	if len(got) != publishers*each {
		t.Fatalf("got %d events of %d", len(got), publishers*each)
	}
}
