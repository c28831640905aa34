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
		for _, err := range svc.Events(ctx, cw.EventQuery{Follow: true, Tail: true, Also: also}) {
			if err != nil {
				return // without events it looks now and then
			}
			select {
			case bell <- struct{}{}:
			default:
			}
		}
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
