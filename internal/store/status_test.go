package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestEveryStatusChange tries every pair of statuses: those of the table
// succeed, all others are refused, name the status found and change nothing.
func TestEveryStatusChange(t *testing.T) {
	b := newBench(t)
	for i, from := range cw.AgentStatuses() {
		for j, to := range cw.AgentStatuses() {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				b.t = t
				in := b.agentAt(fmt.Sprintf("agent-%d-%d", i, j), from)
				before, told := b.dump(), len(b.toldEvents())
				done, err := b.FinishRun(t.Context(), finish(in, from, to))
				if from.CanBecome(to) {
					b.must(err)
					agent, err := b.AgentByRef(t.Context(), in.Agent.Alias)
					b.must(err)
					if !done || agent.Status != to || len(b.toldEvents()) != told+1 {
						t.Fatalf("done %v, status %s, told %d", done, agent.Status, len(b.toldEvents())-told)
					}
					return
				}
				refuses(t, err, cw.CodeRefused, "is "+string(from)+":")
				same(t, "rows after a refusal", b.dump(), before)
				if done || len(b.toldEvents()) != told {
					t.Fatal("a refused change was told")
				}
			})
		}
	}
}

// TestStatusChangeOnlyFromNamed refuses a change that the table allows when
// the caller thinks the agent is elsewhere.
func TestStatusChangeOnlyFromNamed(t *testing.T) {
	b := newBench(t)
	in := b.agentAt("brave-otter", cw.StatusStarting)
	before := b.dump()
	_, err := b.FinishRun(t.Context(), finish(in, cw.StatusRunning, cw.StatusCrashed))
	refuses(t, err, cw.CodeRefused, "starting")
	same(t, "rows", b.dump(), before)
}

// TestSpawnStatusChanges tries the two status changes of a spawn from every
// status.
func TestSpawnStatusChanges(t *testing.T) {
	b := newBench(t)
	for i, from := range cw.AgentStatuses() {
		in := b.agentAt(fmt.Sprintf("starts-%d", i), from)
		err := b.SaveStarting(t.Context(), starting(in))
		if allowed := from == cw.StatusPending || from == cw.StatusStarting; allowed != (err == nil) {
			t.Errorf("SaveStarting from %s: %v", from, err)
		} else if !allowed {
			refuses(t, err, cw.CodeRefused, string(from))
		}
		in = b.agentAt(fmt.Sprintf("runs-%d", i), from)
		err = b.SaveRunning(t.Context(), running(in))
		if allowed := from == cw.StatusStarting; allowed != (err == nil) {
			t.Errorf("SaveRunning from %s: %v", from, err)
		} else if !allowed {
			refuses(t, err, cw.CodeRefused, string(from))
		}
	}
}

// TestConditionalWrite makes sure that the write itself has the condition, not
// only the check before it.
func TestConditionalWrite(t *testing.T) {
	b := newBench(t)
	in := b.agentAt("brave-otter", cw.StatusRunning)
	err := b.change(t.Context(), "race", func(tx *tx) error {
		agent, err := tx.loadAgent(in.Agent.ID)
		if err != nil {
			return err
		}
		if err := tx.Exec("UPDATE agents SET status = 'stopped'").Error; err != nil {
			return err
		}
		return tx.move(&agent, []cw.AgentStatus{cw.StatusRunning}, cw.StatusIdle)
	})
	refuses(t, err, cw.CodeRefused, "meanwhile")
}

func TestConcurrentFinish(t *testing.T) {
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			done, err := b.FinishRun(t.Context(), finish(in, cw.StatusRunning, cw.StatusIdle))
			if err != nil {
				t.Error(err)
			}
			if done {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d calls finished the run", won.Load())
	}
}

// TestEventOrder has 16 writers at once: what is told is told in the order of
// the numbers, without a gap, and is what is stored.
func TestEventOrder(t *testing.T) {
	b := newBench(t)
	b.hold = func() { // whoever may overtake does
		if rand.IntN(8) == 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 20 {
				var err error
				if i%5 == 4 { // and some that roll back
					err = b.change(t.Context(), "fail", func(tx *tx) error {
						return errors.Join(tx.emit(event(cw.EventAgentWarning, "lost")), errors.New("on purpose"))
					})
					if err != nil && strings.Contains(err.Error(), "on purpose") {
						err = nil
					}
				} else {
					err = b.AddEvents(t.Context(), event(cw.EventAgentWarning, fmt.Sprint(w, i)), event(cw.EventAgentWarning, "second"))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	told := b.toldEvents()
	stored, err := b.EventsAfter(t.Context(), 0, cw.EventFilter{}, 10000)
	b.must(err)
	same(t, "told and stored", told, stored.Events)
	if len(told) != 16*16*2 {
		t.Fatalf("%d events were told", len(told))
	}
	for i, e := range told {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
	}
}

// TestCancelled lets go of changes at any moment: each is whole or not there,
// and what was told is what is stored.
func TestCancelled(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	var stored atomic.Int64
	for range 8 {
		wg.Go(func() {
			for i := range 25 {
				patience := time.Duration(rand.IntN(3000)) * time.Microsecond
				if i%5 == 0 {
					patience = time.Minute
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				err := b.AddEvents(ctx, event(cw.EventAgentWarning, "1"), event(cw.EventAgentWarning, "2"))
				switch {
				case err == nil:
					stored.Add(2)
				case !errors.Is(err, context.DeadlineExceeded):
					t.Error(err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	page, err := b.EventsAfter(t.Context(), 0, cw.EventFilter{}, 10000)
	b.must(err)
	events := page.Events
	same(t, "told and stored", b.toldEvents(), events)
	if int64(len(events)) != stored.Load() || len(events) < 8*5*2 {
		t.Errorf("%d events are stored, %d were acknowledged", len(events), stored.Load())
	}
	t.Logf("%d of %d changes were cancelled", 8*25-len(events)/2, 8*25)
}
