package mcp

import (
	"context"
	"errors"
	"time"

	"cw/internal/cw"
)

const (
	// quickMost is how long a call that waits for nobody may take, the daemon
	// being away included.
	quickMost = 45 * time.Second
	// listMost is the same for the list of tools: CLIs wait 10 s and more for a
	// server to be ready.
	listMost   = 8 * time.Second
	retryFirst = 50 * time.Millisecond
	retryMost  = 2 * time.Second
)

// persist does act again while the daemon cannot be reached, until ctx ends or
// the CLI is gone. act may have been done before its answer was lost, so it must
// be repeatable.
func persist[T any](ctx context.Context, gone <-chan struct{}, act func(context.Context) (T, error)) (T, error) {
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		out, err := act(ctx)
		if cw.ErrorCode(err) != cw.CodeUnreachable || ctx.Err() != nil {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-gone:
			return out, err
		case <-time.After(pause):
		}
	}
}

// quick does act as persist does, for as long as a call may take that waits for
// nobody.
func quick[T any](ctx context.Context, c call, act func(context.Context) (T, error)) (T, error) {
	most := quickMost
	if bound := c.bound(); bound > 0 {
		most = min(most, bound)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return persist(ctx, c.gone, act)
}

// bound is how long a call may wait before it answers that there is nothing yet,
// so that it is never cut by the CLI: a sixth is left for the way. 0: for ever.
func (c call) bound() time.Duration {
	return time.Duration(c.box.CallMax) * time.Second * 5 / 6
}

// waiting bounds a wait: by what was asked for (nil: nothing), by what the CLI
// allows, and by the CLI's presence.
func (c call) waiting(ctx context.Context, asked *int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := make(chan struct{})
	go func() {
		select {
		case <-c.gone:
			cancel()
		case <-stop:
		}
	}()
	most := c.bound()
	if asked != nil {
		if wanted := time.Duration(*asked) * time.Second; most == 0 || wanted < most {
			most = wanted
		}
	}
	if asked == nil && most == 0 {
		return ctx, func() { close(stop); cancel() }
	}
	bounded, release := context.WithTimeout(ctx, most)
	return bounded, func() { close(stop); release(); cancel() }
}

// await waits for something; late tells that the time was over before it came.
// The caller's own end is an error.
func await[T any](ctx context.Context, c call, asked *int, act func(context.Context) (T, error)) (out T, late bool, err error) {
	bounded, cancel := c.waiting(ctx, asked)
	defer cancel()
	out, err = persist(bounded, c.gone, act)
	switch {
	case err == nil:
		return out, false, nil
	case ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded):
		return out, true, nil
	}
	return out, false, err
}
