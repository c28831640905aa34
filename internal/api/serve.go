package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of connections.
const (
	headerPatience = 5 * time.Second // for the head of a request
	headerMax      = 32 << 10        // bytes of the head of a request
	idlePatience   = time.Minute     // between two requests of one connection
	// answerWait is for the answers of requests whose grace is over.
	answerWait = 300 * time.Millisecond
	// lastWait is for handlers that were told to let go and have not yet.
	lastWait = time.Second
)

// Context keys of a connection.
type (
	peerKey     struct{} // *Peer
	stoppingKey struct{} // context.Context that ends when the server begins to stop
)

// Serve answers requests on a unix socket until ctx ends. Then it accepts no
// more, closes all streams, lets short requests finish within the grace, and
// returns nil. It closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, socketFront{s})
}

// serve answers what comes in by one listener.
func (s *Server) serve(ctx context.Context, l net.Listener, f front) error {
	// Requests outlive ctx by the grace; streams watch the stopping context.
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var inFlight sync.WaitGroup
	handler := s.handler(f)
	hs := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inFlight.Add(1)
			defer inFlight.Done()
			handler.ServeHTTP(w, r)
		}),
		ConnContext:                  s.knowPeer,
		BaseContext:                  func(net.Listener) context.Context { return context.WithValue(requests, stoppingKey{}, ctx) },
		ReadHeaderTimeout:            headerPatience,
		IdleTimeout:                  idlePatience,
		MaxHeaderBytes:               headerMax,
		ErrorLog:                     slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true, // "OPTIONS *" would pass by the gate
	}
	served := make(chan error, 1)
	go func() { served <- hs.Serve(l) }()
	select {
	case err := <-served:
		_ = hs.Close()
		return fmt.Errorf("serve the API: %w", err)
	case <-ctx.Done():
	}
	grace, done := context.WithTimeout(requests, s.opts.Grace)
	defer done()
	if hs.Shutdown(grace) != nil {
		cut()
		// Who is let go is still told why.
		last, done := context.WithTimeout(context.WithoutCancel(ctx), answerWait)
		defer done()
		_ = hs.Shutdown(last)
		_ = hs.Close()
	}
	<-served
	return waitFor(&inFlight)
}

// stopping tells whether the server of a request has begun to stop.
func stopping(request context.Context) bool {
	serving, ok := request.Value(stoppingKey{}).(context.Context)
	return ok && serving.Err() != nil
}

func waitFor(handlers *sync.WaitGroup) error {
	gone := make(chan struct{})
	go func() { handlers.Wait(); close(gone) }()
	select {
	case <-gone:
		return nil
	case <-time.After(lastWait):
		return errors.New("requests still run although they were told to let go")
	}
}

// knowPeer notes who is at the other end; a peer that cannot be told is left
// out, and the gate refuses it.
func (s *Server) knowPeer(ctx context.Context, conn net.Conn) context.Context {
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return ctx
	}
	peer, err := peerOf(unixConn)
	if err == nil && s.opts.StartTime != nil {
		peer.StartTime, err = s.opts.StartTime(peer.PID)
	}
	if err != nil {
		s.opts.Log.WarnContext(ctx, "the peer of a connection is unknown", "error", err)
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, &peer)
}
