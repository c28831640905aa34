package live

import (
	"context"
	"time"

	"cw/internal/cw"
)

// How often a watch looks.
const (
	// Every is the least time between two looks.
	Every = time.Second
	// Quiet is how long a watch believes that nothing changed while no event tells
	// of anything: free space and sizes have none.
	Quiet = 30 * time.Second
	// Away is how long it waits for a daemon that cannot be reached, and how often
	// it asks whether one that tells of nothing is still there.
	Away = 3 * time.Second
)

// Watched is what a watch follows.
type Watched interface {
	cw.EventService
	cw.DaemonService
}

// Watch calls look now, and again when events tell of something, at most once in
// Every, until ctx ends. Events that are sent only to those who name them count
// when they are in also. A daemon that cannot be reached is tried again; any other
// error of look ends the watch.
func Watch(ctx context.Context, svc Watched, look func(context.Context) error, also ...cw.EventType) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	bell := make(chan struct{}, 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		hear(ctx, svc, bell, also)
	}()
	defer func() { stop(); <-over }()
	for {
		err := look(ctx)
		quiet := Quiet
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case cw.ErrorCode(err) == cw.CodeUnreachable:
			quiet = Away
		case err != nil:
			return err
		}
		if err := restUntil(ctx, svc, bell, quiet); err != nil {
			return err
		}
	}
}

// restUntil waits until the bell rings or the daemon goes away, but not shorter
// than Every, and not longer than quiet.
func restUntil(ctx context.Context, svc cw.DaemonService, bell <-chan struct{}, quiet time.Duration) error {
	longest := time.After(quiet)
	select {
	case <-time.After(Every):
	case <-ctx.Done():
		return ctx.Err()
	}
	there := time.NewTicker(Away)
	defer there.Stop()
	for {
		select {
		case <-bell:
			return nil
		case <-longest:
			return nil
		case <-there.C:
			if _, err := svc.Whoami(ctx); cw.ErrorCode(err) == cw.CodeUnreachable {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hear rings the bell when events tell of something, those of also too, until ctx
// ends. After an error it asks for events again, from the last one that it heard;
// where those are gone or were never there, from now on, and all is looked at
// anew. It waits in between, longer each time, but not after something was heard.
func hear(ctx context.Context, svc cw.EventService, bell chan<- struct{}, also []cw.EventType) {
	ring := func() {
		select {
		case bell <- struct{}{}:
		default: // it rang, and nobody looked yet
		}
	}
	last, wait := int64(0), Every
	for ctx.Err() == nil {
		for e, err := range svc.Events(ctx, cw.EventQuery{Follow: true, Tail: last == 0, After: last, Also: also}) {
			if err != nil {
				if cw.ErrorCode(err) != cw.CodeUnreachable {
					last = 0
				}
				break
			}
			last, wait = max(last, e.Seq), Every // live events have no number
			ring()
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, Quiet)
		ring()
	}
}
