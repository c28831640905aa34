package live

import (
	"context"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// broken are events that end with errors, each asked for anew.
type broken struct {
	*servicetest.Memory
	mu    sync.Mutex
	errs  []error         // guarded by mu; of the first streams, in order
	asked []cw.EventQuery // guarded by mu
	at    []time.Duration // guarded by mu; when, from the first
	began time.Time
}

func (b *broken) Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error] {
	return func(yield func(cw.Event, error) bool) {
		b.mu.Lock()
		n := len(b.asked)
		b.asked, b.at = append(b.asked, q), append(b.at, time.Since(b.began))
		b.mu.Unlock()
		if n == 1 && !yield(cw.Event{Seq: 7}, nil) {
			return
		}
		if n < len(b.errs) {
			yield(cw.Event{}, b.errs[n])
			return
		}
		if yield(cw.Event{Seq: int64(n)}, nil) {
			<-ctx.Done()
		}
	}
}

// TestWatchHearsAgain: after any error events are asked for again, later each
// time: from the last one heard while the daemon was away, from now on where it
// knows that one no more. All is looked at anew then.
func TestWatchHearsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away, gone := cw.Errorf(cw.CodeUnreachable, "no daemon"), cw.Errorf(cw.CodeGone, "too old")
		b := &broken{Memory: servicetest.NewMemory(), began: time.Now(), errs: []error{away, away, away, gone, cw.ErrEventsAhead(9, 3)}}
		ctx, cancel := context.WithCancel(t.Context())
		looks, over := 0, make(chan error)
		go func() {
			over <- Watch(ctx, b, func(context.Context) error { looks++; return nil })
		}()
		time.Sleep(time.Minute - Every/2)
		cancel()
		<-over
		var from []int64
		for _, q := range b.asked {
			if q.Tail != (q.After == 0) || !q.Follow {
				t.Errorf("asked for %+v", q)
			}
			from = append(from, q.After)
		}
		if want := []int64{0, 0, 7, 7, 0, 0}; !slices.Equal(from, want) {
			t.Errorf("asked for events after %v, not %v", from, want)
		}
		if want := []time.Duration{0, Every, 2 * Every, 4 * Every, 8 * Every, 16 * Every}; !slices.Equal(b.at, want) {
			t.Errorf("asked at %v, not %v", b.at, want)
		}
		if want := 1 + len(b.errs) + 1; looks < want {
			t.Errorf("it looked %d times, not %d", looks, want)
		}
	})
}
