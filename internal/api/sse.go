package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/r3labs/sse/v2"
)

// The named frames, which every stream may have. Its items carry no name, so
// that the onmessage of an EventSource gets all of them, also of types to come.
// None is named error: that is the EventSource's own word for a lost connection.
const (
	frameEnd     = "end"     // {reason}: the stream is whole; do not come back
	frameFailure = "failure" // {code,message,hint}: it failed after its start
	frameMark    = "mark"    // carries only an id: all before it was sent
)

// comeBack is how many milliseconds an EventSource is to wait before it comes
// back. Without it, it would be some seconds, as the browser likes.
const comeBack = "1000"

// firstWait is how long the answer's status waits for the first frame, so that
// an error found at once is a plain HTTP error. A later one is an error frame.
const firstWait = 250 * time.Millisecond

// writePiece is how much is written under one deadline: a reader that is slow
// but moves is not cut in the middle of a long frame.
const writePiece = 64 << 10

// What may wait between the iterator and the connection. r3labs alone would
// let 64 frames of any length wait for each reader (measured: 50 readers that
// stood still before lines of 1 MB cost 3 GB).
const (
	waitingFrames = 16
	waitingBytes  = 64 << 10 // or one frame that is longer
)

// frame is one message of a stream.
type frame struct {
	id   int64  // 0: it cannot be resumed from, unless it is a mark
	name string // "": an item
	data any    // sent as one line of JSON
}

// frames is what a stream sends, pulled from a service's iterator.
type frames = iter.Seq2[frame, error]

// once is a stream of one item, which wait gives.
func once[T any](wait func() (T, error)) frames {
	return func(yield func(frame, error) bool) {
		item, err := wait()
		yield(frame{data: item}, err)
	}
}

// endData is the payload of the end frame.
type endData struct {
	Reason string `json:"reason" doc:"complete: all that was asked for was sent"`
}

// pulled is one step of an iterator.
type pulled struct {
	frame frame
	err   error
}

// pump connects one iterator with one connection. The iterator is pulled only
// as fast as the reader reads.
type pump struct {
	server *Server
	cancel context.CancelFunc // lets the iterator go
	done   <-chan struct{}    // closed by cancel
	steps  <-chan pulled      // closed when the iterator has ended
	first  *pulled            // pulled before the answer began; nil: none came in time
	over   bool               // the iterator ended before the answer began
}

// startPump opens the iterator and waits for its first step. The error is
// what open gave, or the first step when that is an error.
func (s *Server) startPump(request context.Context, open func(context.Context) (frames, error)) (*pump, error) {
	ctx, letGo := context.WithCancel(request)
	cancel := letGo
	if stopping, ok := request.Value(stoppingKey{}).(context.Context); ok {
		forget := context.AfterFunc(stopping, letGo)
		cancel = func() { letGo(); forget() }
	}
	seq, err := open(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	steps := make(chan pulled)
	go s.pull(ctx, seq, steps)
	p := &pump{server: s, cancel: cancel, done: ctx.Done(), steps: steps}
	timer := time.NewTimer(firstWait)
	defer timer.Stop()
	select {
	case step, ok := <-steps:
		p.first, p.over, err = &step, !ok, step.err
	case <-timer.C:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		// The server stops. A broken connection tells the reader to come back,
		// which an error answer would not.
		cancel()
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return p, nil
}

// pull runs the iterator. It is a goroutine of its own, so a panic in the
// iterator is caught here and not by the request's handler.
func (s *Server) pull(ctx context.Context, seq frames, steps chan<- pulled) {
	defer close(steps)
	send := func(step pulled) bool {
		select {
		case steps <- step:
			return true
		case <-ctx.Done():
			return false
		}
	}
	defer func() {
		if value := recover(); value != nil {
			send(pulled{err: panicError(value, debug.Stack())})
		}
	}()
	for f, err := range seq {
		if !send(pulled{f, err}) || err != nil {
			return
		}
	}
}

// serve sends the stream through a stream of r3labs/sse that only this
// connection has, and returns when nothing of it is left. What is watched:
//   - r3labs drops what is published before the reader is registered, so
//     feeding waits for that;
//   - its buffers are emptied in any order with leaving, so there is no buffer
//     between feeding and the stream's own loop;
//   - it queues 64 frames for a reader, so feeding waits until enough of what it
//     published was written;
//   - removing a stream that still has a reader leaks goroutines, so the
//     reader leaves first.
func (p *pump) serve(hctx huma.Context) {
	defer p.cancel()
	r, w := humago.Unwrap(hctx)
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold frames back until it has many
	const name = "connection"
	subscribed, left := make(chan struct{}), make(chan struct{})
	broker := sse.NewWithCallback(
		func(string, *sse.Subscriber) { close(subscribed) },
		func(string, *sse.Subscriber) { close(left) },
	)
	broker.AutoReplay, broker.BufferSize = false, 0
	broker.CreateStream(name)

	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	out := newStreamWriter(w, p.server.opts.Stall)
	var feeding sync.WaitGroup
	feeding.Go(func() {
		select {
		case <-subscribed:
			p.feed(ctx, &outbox{publish: func(e *sse.Event) { broker.Publish(name, e) }, written: out.written})
		case <-ctx.Done():
		}
	})
	plain := r.Clone(ctx)
	plain.Header.Del("Last-Event-ID")
	plain.URL = &url.URL{Path: r.URL.Path, RawQuery: "stream=" + name}
	broker.ServeHTTP(out, plain)

	p.cancel()
	leave()
	<-left
	feeding.Wait()
	broker.RemoveStream(name)
	for range p.steps { // until the iterator has let go
	}
	out.arm() // for the last piece, which net/http sends
}

// feed publishes steps until there are no more, then ends the connection: for
// r3labs an event without content is the end.
func (p *pump) feed(ctx context.Context, out *outbox) {
	defer out.publish(&sse.Event{})
	if p.over {
		out.put(p.server.event(ctx, frame{name: frameEnd, data: endData{"complete"}}))
		return
	}
	if p.first != nil {
		out.put(p.server.event(ctx, p.first.frame))
		p.first = nil // it may be long, and the pump lives as long as the stream
	}
	ticker := time.NewTicker(p.server.opts.KeepAlive)
	defer ticker.Stop()
	for {
		steps := p.steps
		if out.full() {
			steps = nil // nothing is pulled, nor encoded, before there is room
		}
		select {
		case <-out.written:
			out.took()
		case <-p.done: // the reader went, or the server stops: it may come back
			return
		case <-ticker.C:
			if !out.full() {
				out.put(&sse.Event{Comment: []byte("keep-alive")})
			}
		case step, ok := <-steps:
			if p.stopped() {
				return
			}
			if !ok {
				step.frame = frame{name: frameEnd, data: endData{"complete"}}
			} else if step.err != nil {
				step.frame = frame{name: frameFailure, data: p.server.wire(ctx, step.err)}
			}
			out.put(p.server.event(ctx, step.frame))
			if !ok || step.err != nil {
				return
			}
		}
	}
}

// outbox counts what was published and is not written yet. It belongs to the
// goroutine that feeds.
type outbox struct {
	begun   bool // a frame went out
	publish func(*sse.Event)
	written <-chan struct{} // one for each event, in order
	lengths []int           // of the events that wait
	bytes   int             // their sum
}

// full tells whether publishing must wait.
func (o *outbox) full() bool { return len(o.lengths) >= waitingFrames || o.bytes >= waitingBytes }

func (o *outbox) put(e *sse.Event) {
	if len(e.Data) > 0 && !o.begun {
		o.begun, e.Retry = true, []byte(comeBack)
	}
	o.lengths = append(o.lengths, len(e.Data))
	o.bytes += len(e.Data)
	o.publish(e)
}

func (o *outbox) took() {
	o.bytes -= o.lengths[0]
	o.lengths = o.lengths[1:]
}

// stopped tells whether the pump was let go: then the iterator's end is no
// end of the stream, and its error is none.
func (p *pump) stopped() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// event turns a frame into what r3labs writes. Data is one line of JSON, so it
// has no line break, is never empty and never begins with ':', all of which
// r3labs would write as something else. Names come from our own code.
func (s *Server) event(ctx context.Context, f frame) *sse.Event {
	data, err := json.Marshal(f.data)
	if err != nil {
		f = frame{name: frameFailure, data: s.wire(ctx, fmt.Errorf("encode a stream's frame: %w", err))}
		data, _ = json.Marshal(f.data) // three strings
	}
	e := &sse.Event{Event: []byte(f.name), Data: data}
	if f.id > 0 || f.name == frameMark { // a mark may stand before the first number
		e.ID = strconv.AppendInt(nil, f.id, 10)
	}
	return e
}

// streamWriter writes a stream under a deadline that every piece of progress
// renews.
type streamWriter struct {
	http.ResponseWriter
	ctl     *http.ResponseController
	stall   time.Duration
	begun   bool          // something of an event was written since the last flush
	written chan struct{} // gets one for each event that was written
}

func newStreamWriter(w http.ResponseWriter, stall time.Duration) *streamWriter {
	return &streamWriter{
		ResponseWriter: w, ctl: http.NewResponseController(w), stall: stall,
		written: make(chan struct{}, waitingFrames), // room for all that can be on their way
	}
}

func (w *streamWriter) arm() { _ = w.ctl.SetWriteDeadline(time.Now().Add(w.stall)) }

// Write leaves out the empty id line that r3labs writes for an event without
// an id: to a reader it would mean "forget the last id".
func (w *streamWriter) Write(p []byte) (int, error) {
	w.begun = true
	if string(p) == "id: \n" {
		return len(p), nil
	}
	written := 0
	for written < len(p) {
		w.arm()
		n, err := w.ResponseWriter.Write(p[written:min(written+writePiece, len(p))])
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Flush implements http.Flusher. r3labs flushes once after the head and once
// after each event.
func (w *streamWriter) Flush() {
	w.arm()
	_ = w.ctl.Flush() // a broken connection cancels the request
	if w.begun {
		w.begun = false
		w.written <- struct{}{}
	}
}

// Unwrap is for http.ResponseController.
func (w *streamWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// lastEventID reads the header: 0 without one. Numbers end where those of the
// store do.
func lastEventID(header string) (int64, error) {
	if header == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(header, 10, 63)
	if err != nil {
		return 0, cw.Errorf(cw.CodeInvalid, "Last-Event-ID must be a whole number").
			WithHint("send the id of the last frame as it is, or none to begin anew").Because(errors.Unwrap(err))
	}
	return int64(id), nil
}
