package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"cw/internal/cw"
)

// Back-off between attempts to come back to a stream. It has no end: a stream
// ends when its reader lets go, or when the daemon says so.
const (
	backoffFirst = 50 * time.Millisecond
	backoffMost  = 2 * time.Second
)

// backoff is how long to wait between attempts: the first time and at most.
type backoff struct{ first, most time.Duration }

// streamRequest names a stream and where it begins.
type streamRequest struct {
	path  string
	query query
	after int64 // Last-Event-ID of the first request; 0: none
	// patient means that a daemon is waited for also when none is there at first.
	patient bool
}

// goOn makes it the same stream after an id. A tail has begun by then.
func (r *streamRequest) goOn(id int64) {
	r.after = id
	if _, tail := r.query["tail"]; tail {
		r.query = maps.Clone(r.query) // the iterator may be run again
		delete(r.query, "tail")
	}
}

// follow yields a stream's items. Once the daemon has answered, a lost
// connection is taken up again after the last id. fresh makes a filter for one
// pass that leaves out items seen before: ids are not on every frame, so the
// frames after the last id come again.
func follow[T any](ctx context.Context, c *Client, r streamRequest, fresh func() func(T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		isNew := fresh()
		f := &follower{client: c, request: r}
		err := f.run(ctx, func(data []byte) (bool, error) {
			var item T
			if err := json.Unmarshal(data, &item); err != nil {
				return false, cw.Errorf(cw.CodeInternal, "the daemon sent something unreadable").Because(err)
			}
			return !isNew(item) || yield(item, nil), nil
		})
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// awaitOne gives the one item of a stream that has one, however long that takes.
func awaitOne[T any](ctx context.Context, c *Client, r streamRequest) (T, error) {
	for item, err := range follow(ctx, c, r, func() func(T) bool { return func(T) bool { return true } }) {
		return item, err
	}
	var none T
	return none, cw.Errorf(cw.CodeInternal, "the daemon ended a stream without its item")
}

// follower reads one stream over as many connections as it takes.
type follower struct {
	client  *Client
	request streamRequest
	met     bool // a daemon was there once
	moved   bool // something came since the last attempt
}

// errLost says that the connection ended and the stream did not.
var errLost = errors.New("the stream broke off")

// run gives nil when the stream is whole or take wants no more.
func (f *follower) run(ctx context.Context, take func(data []byte) (bool, error)) error {
	wait := f.client.wait.first
	for {
		f.moved = false
		err := f.connect(ctx, take)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return f.client.trouble(ctx, err)
		case !errors.Is(err, errLost):
			return err
		}
		if f.moved {
			wait = f.client.wait.first
		}
		f.client.opts.Log.InfoContext(ctx, "a stream broke off, coming back", "path", f.request.path, "after", f.request.after, "error", err)
		select {
		case <-ctx.Done():
			return f.client.trouble(ctx, ctx.Err())
		case <-time.After(wait):
		}
		wait = min(2*wait, f.client.wait.most)
	}
}

// connect reads over one connection: nil at the end, errLost when it broke.
func (f *follower) connect(parent context.Context, take func(data []byte) (bool, error)) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	r := f.request
	resp, err := f.client.send(ctx, request{method: http.MethodGet, path: r.path, query: r.query, after: r.after})
	if err != nil {
		if f.met = f.met || r.patient || isBroken(err); f.met && (isTransport(err) || r.patient && isAway(err)) {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		return err // nobody was ever there, or the daemon refused
	}
	defer func() { _ = resp.Body.Close() }()
	f.met = true
	reader := newSSEReader(resp.Body)
	for {
		event, err := reader.next()
		if errors.Is(err, errEventTooLong) {
			return cw.Errorf(cw.CodeFailed, "the daemon sent more than can be read at once").Because(err)
		}
		if err != nil { // a clean end too: only an end frame ends the stream
			return fmt.Errorf("%w: %w", errLost, err)
		}
		f.moved = true
		more, err := f.handle(event, take)
		if err != nil || !more {
			return err
		}
		if id, err := strconv.ParseInt(event.id, 10, 64); err == nil && id >= 0 {
			f.request.goOn(id)
		}
	}
}

// isBroken tells whether a daemon was there that went before it could answer.
func isBroken(err error) bool {
	var op *net.OpError
	dialing := errors.As(err, &op) && op.Op == "dial"
	return isTransport(err) && !dialing
}

// isTransport tells whether no answer came at all.
func isTransport(err error) bool {
	var lost *url.Error
	return errors.As(err, &lost)
}

func (f *follower) handle(event sseEvent, take func(data []byte) (bool, error)) (more bool, err error) {
	switch event.name {
	case frameEnd:
		return false, nil
	case frameFailure:
		return false, readError(http.StatusOK, event.data)
	case frameMark:
		return true, nil
	}
	return take(event.data)
}
