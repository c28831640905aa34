package main

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/board/live"
	"cw/internal/cw"
)

// changing are services whose status changes, and which tell of it.
type changing struct {
	*fakeServices
	bell chan struct{}

	mu     sync.Mutex
	status cw.DaemonStatus // guarded by mu
	err    error           // guarded by mu
	looks  int             // guarded by mu
}

func (c *changing) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *changing) Status(context.Context) (cw.DaemonStatus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	return c.status, c.err
}

func (c *changing) Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error] {
	return func(yield func(cw.Event, error) bool) {
		if !q.Follow || !q.Tail {
			yield(cw.Event{}, errors.New("a watch follows what happens from now on"))
			return
		}
		for {
			select {
			case <-c.bell:
				if !yield(cw.Event{}, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// TestStatusWatch: each change is one line, what changes nothing is none, events
// in a crowd cost one look a second, and a daemon that goes away is waited for.
func TestStatusWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := &changing{fakeServices: b.fake, bell: make(chan struct{}), status: cw.DaemonStatus{Agents: 1}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.watchStatus(ctx, c) }()
		time.Sleep(2 * live.Every)
		ring := func(change func()) {
			c.change(change)
			c.bell <- struct{}{}
			time.Sleep(2 * live.Every)
		}
		ring(func() { c.status.Agents, c.status.AgentsAlive, c.status.Questions = 3, 2, 1 })
		ring(func() { c.status.DatabaseBytes++ }) // no line
		ring(func() { c.err = cw.Errorf(cw.CodeUnreachable, "no daemon") })
		ring(func() {})
		ring(func() {
			c.err = nil
			c.status.TasksRunning, c.status.TasksWaiting, c.status.Merges, c.status.Checkpoints, c.status.Questions = 2, 4, 1, 2, 0
		})
		before := 0
		c.change(func() { before = c.looks })
		for range 100 {
			c.bell <- struct{}{}
			time.Sleep(30 * time.Millisecond)
		}
		c.change(func() {
			if looks := c.looks - before; looks < 2 || looks > 4 {
				t.Errorf("100 events in 3 seconds cost %d looks", looks)
			}
			c.status.DiskLow = true // of which no event tells
		})
		time.Sleep(live.Quiet + live.Every)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
		var lines []string
		for line := range strings.Lines(b.stdout.String()) {
			_, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
			lines = append(lines, text)
		}
		if diff := cmp.Diff([]string{
			"0 of 1 agent alive",
			"2 of 3 agents alive; 1 question",
			"2 of 3 agents alive; tasks: 2 running, 0 next, 4 waiting; 1 to be merged; 2 checkpoints",
			"2 of 3 agents alive; tasks: 2 running, 0 next, 4 waiting; 1 to be merged; 2 checkpoints; the disk is low",
		}, lines); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
		if got := b.stderr.String(); strings.Count(got, "does not answer; waiting for it") != 1 {
			t.Errorf("on stderr: %s", got)
		}
	})
}

// TestStatusWatchEnds: another error than a daemon that is away ends it.
func TestStatusWatchEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := &changing{fakeServices: b.fake, bell: make(chan struct{}), err: cw.Errorf(cw.CodeForbidden, "no")}
		if err := b.watchStatus(t.Context(), c); cw.ErrorCode(err) != cw.CodeForbidden {
			t.Errorf("it ended with %v", err)
		}
	})
}
