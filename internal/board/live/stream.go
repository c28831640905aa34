package live

import (
	"context"
	"iter"
	"time"

	tea "charm.land/bubbletea/v2"

	"cw/internal/cw"
)

const (
	// gather is how long output is collected before it is drawn: a log changes at
	// most four times a second.
	gather = 250 * time.Millisecond
	// gatherMax bounds the events of one batch.
	gatherMax = 1000
)

// stream is what an agent writes from a moment on.
type stream struct {
	stop   context.CancelFunc
	events chan cw.OutputEvent // closed at its end
	err    error               // why it ended; read it when events is closed
}

// logged is what came on a stream.
type logged struct {
	from   *stream
	events []cw.OutputEvent
	over   bool
}

// follow begins a stream.
func follow(ctx context.Context, svc cw.LogService, agent cw.AgentID, q cw.OutputQuery) *stream {
	ctx, stop := context.WithCancel(ctx)
	s := &stream{stop: stop, events: make(chan cw.OutputEvent)}
	go s.pump(ctx, svc.OutputEvents(ctx, string(agent), q))
	return s
}

// pump reads until the stream is over or nobody wants it any more.
func (s *stream) pump(ctx context.Context, events iter.Seq2[cw.OutputEvent, error]) {
	defer close(s.events)
	for e, err := range events {
		if s.err = err; err != nil {
			return
		}
		select {
		case s.events <- e:
		case <-ctx.Done():
			return
		}
	}
}

// next waits for an event and collects what comes right behind it.
func (s *stream) next() tea.Cmd {
	return func() tea.Msg {
		e, open := <-s.events
		if !open {
			return logged{from: s, over: true}
		}
		out, enough := []cw.OutputEvent{e}, time.After(gather)
		for len(out) < gatherMax {
			select {
			case e, open := <-s.events:
				if !open {
					return logged{from: s, events: out, over: true}
				}
				out = append(out, e)
			case <-enough:
				return logged{from: s, events: out}
			}
		}
		return logged{from: s, events: out}
	}
}
