package notify

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cw/internal/cw"
	"cw/internal/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rows are stored events in memory.
type rows struct {
	mu    sync.Mutex
	list  []cw.Event // guarded by mu
	gone  int64      // guarded by mu: up to here they are kept no longer
	bell  chan struct{}
	asked []cw.EventQuery // guarded by mu
}

func newRows() *rows { return &rows{bell: make(chan struct{})} }

// add stores events and rings.
func (r *rows) add(of ...cw.EventType) (last int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range of {
		last = int64(len(r.list) + 1)
		data, err := json.Marshal(map[string]any{"name": "brave-otter", "question": "Which colour?", "error": "it broke"})
		if err != nil {
			panic(err)
		}
		r.list = append(r.list, cw.Event{Seq: last, Type: t, At: time.Now(), AgentID: "k3v7q2mzt5ha", Data: data})
	}
	close(r.bell)
	r.bell = make(chan struct{})
	return last
}

// Events implements Source as the daemon does.
func (r *rows) Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error] {
	return func(yield func(cw.Event, error) bool) {
		at := q.After
		for first := true; ; first = false {
			r.mu.Lock()
			r.asked = append(r.asked, q)
			list, bell, gone := slices.Clone(r.list), r.bell, r.gone
			r.mu.Unlock()
			last := int64(len(list))
			switch {
			case first && q.Tail:
				at = last
				if q.Marks && !yield(cw.EventMark(at), nil) {
					return
				}
			case at > last:
				yield(cw.Event{}, cw.ErrEventsAhead(at, last))
				return
			case at > 0 && at < gone:
				yield(cw.Event{}, cw.ErrEventsGone(gone+1))
				return
			}
			for _, e := range list[max(at, gone):] {
				if (cw.EventFilter{Types: q.Types}).Matches(e) && !yield(e, nil) {
					return
				}
			}
			if at = last; !q.Follow {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-bell:
			}
		}
	}
}

// options are those of a notifier of the usual events in a folder of its own.
func options(t *testing.T, source Source) Options {
	t.Helper()
	return Options{
		Source: source, Types: cw.NoticeEvents(), Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Exec: func(ctx context.Context, argv, env []string, stdin []byte, most int) ([]byte, int, error) {
			out, errOut, code, err := proc.Output(ctx, proc.Command{Argv: argv, Env: env, Stdin: stdin, MaxBytes: most, DropRest: true})
			return append(errOut, out...), code, err
		},
	}
}

// running runs a notifier until end is called, which waits for it.
func running(t *testing.T, n *Notifier) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	var once sync.Once
	end = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("the notifier ended with %v", err)
			}
		})
	}
	t.Cleanup(end)
	return end
}

// settled waits until each hook of n follows what comes next.
func (r *rows) settled(t *testing.T, hooks int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		following := 0
		for _, q := range r.asked {
			if q.Follow && !q.Tail {
				following++
			}
		}
		r.mu.Unlock()
		if following >= hooks {
			return
		}
		if time.Now().After(end) {
			t.Fatal("nobody follows the events")
		}
	}
}

// take waits for something.
func take[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
		panic("not reached")
	}
}
