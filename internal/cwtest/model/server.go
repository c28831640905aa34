package model

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Server answers model requests on a loopback address, as its scenario says.
type Server struct {
	// URL is the base URL to give to the CLI, without a final slash.
	URL string

	scenario Scenario
	book     *book
	http     http.Server
	closing  chan struct{} // closed first, so that delayed answers let go
	served   chan error

	mu       sync.Mutex
	closed   bool // guarded by mu: no handler begins any more
	handlers sync.WaitGroup
}

// New starts a server for the test and closes it at the test's end. Errors that
// nobody has taken by then fail the test.
func New(t testing.TB, scenario Scenario) *Server {
	t.Helper()
	s, err := Start(scenario)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		for _, err := range s.TakeErrors() {
			t.Errorf("model server: %v", err)
		}
	})
	return s
}

// Start starts a server on a free port. The caller closes it.
func Start(scenario Scenario) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the model server: %w", err)
	}
	s := &Server{
		URL:      "http://" + l.Addr().String(),
		scenario: scenario,
		book:     newBook(),
		closing:  make(chan struct{}),
		served:   make(chan error, 1),
	}
	s.http.Handler = s.handler()
	go func() { s.served <- s.http.Serve(l) }()
	return s, nil
}

// Close breaks all connections and waits for the handlers to end. It may be
// called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return
	}
	close(s.closing)
	s.http.Close() //nolint:errcheck // the listener is given up either way
	<-s.served
	s.handlers.Wait()
}

// admit counts a handler in, unless the server is closing.
func (s *Server) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.handlers.Add(1)
	}
	return !s.closed
}

// protocol reads and writes one provider's API.
type protocol interface {
	toolbox
	// read takes a request apart. An error means that the body is not of this
	// protocol.
	read(r *http.Request, body []byte) (*Request, error)
	// write sends a good answer.
	write(w http.ResponseWriter, a answer)
	// refusal is the failure that makes a CLI give up at once, saying message.
	refusal(message string) Failure
}

// answer is a reply made ready for the wire.
type answer struct {
	Reply
	model  string
	stream bool
	calls  []toolCall
	usage  Usage
	pause  func(time.Duration) bool // false: the caller is gone
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/messages", s.speak(anthropic{}))
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	for _, path := range []string{"/v1/responses", "/responses"} {
		mux.Handle("POST "+path, s.speak(responses{}))
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { // a WebSocket is wanted
			s.record(w, r, http.StatusUpgradeRequired) // makes codex go on over HTTPS at once
		})
	}
	mux.Handle("POST /v1/chat/completions", s.speak(chat{}))
	mux.HandleFunc("GET /v1/models", s.listModels)
	mux.Handle("POST /v1beta/models/{call}", s.speak(gemini{}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { // HEAD too: a CLI looks whether we are there
		s.record(w, r, http.StatusOK)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.book.addError(fmt.Errorf("nobody knows the request %s %s", r.Method, r.URL.Path))
		s.record(w, r, http.StatusNotFound)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.admit() {
			abort()
		}
		defer s.handlers.Done()
		if r.Method == http.MethodConnect {
			s.record(w, r, http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// record notes a request that is not for the model and answers without a body.
func (s *Server) record(w http.ResponseWriter, r *http.Request, status int) {
	path := r.URL.Path
	if r.Method == http.MethodConnect {
		path = r.Host
	}
	s.book.enter(Exchange{Method: r.Method, Path: path, Status: status})
	w.WriteHeader(status)
}

func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	s.book.enter(Exchange{Method: r.Method, Path: r.URL.Path, Status: http.StatusOK})
	writeJSON(w, http.StatusOK, map[string]any{"input_tokens": n / 4})
}

// listModels tells of one model: every name is taken.
func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	s.book.enter(Exchange{Method: r.Method, Path: r.URL.Path, Status: http.StatusOK})
	writeJSON(w, http.StatusOK, object{"object": "list", "data": []object{{"id": "mock-model", "object": "model"}}})
}

// speak handles the model requests of one protocol.
func (s *Server) speak(p protocol) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, err := readRequest(p, r)
		e := s.book.enter(Exchange{Method: r.Method, Path: r.URL.Path, Request: req})
		if err != nil {
			s.book.addError(err)
			s.refuse(w, e, p.refusal(err.Error()))
			return
		}
		try := s.book.countTry(tryKey(req))
		a, err := s.decide(p, req, try)
		if err != nil {
			s.book.addError(err)
			s.refuse(w, e, p.refusal(err.Error()))
			return
		}
		a.pause = func(d time.Duration) bool { return s.pause(r.Context(), d) }
		if !s.hold(r.Context(), a.Hold) || !a.pause(a.Delay) {
			abort()
		}
		if a.Failure.fails(try) && !a.Failure.InStream {
			s.refuse(w, e, *a.Failure)
			return
		}
		if !a.Failure.fails(try) {
			a.Failure = nil
		}
		s.book.setStatus(e, http.StatusOK)
		addHeader(w.Header(), a.Header)
		p.write(w, a)
	})
}

func readRequest(p protocol, r *http.Request) (*Request, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read a model request: %w", err)
	}
	req, err := p.read(r, body)
	if err != nil {
		return nil, fmt.Errorf("parse a model request to %s: %w", r.URL.Path, err)
	}
	return req, nil
}

// decide asks the scenario, save for side requests.
func (s *Server) decide(p protocol, req *Request, try int) (answer, error) {
	reply := sideReply(req)
	if req.Side == "" {
		var err error
		if reply, err = play(s.scenario, &Turn{Request: req, try: try}); err != nil {
			return answer{}, err
		}
	}
	calls, err := toolCalls(p, req, reply.Calls)
	if err != nil {
		return answer{}, fmt.Errorf("session %q, turn %d: %w", req.Session, req.Number(), err)
	}
	return answer{Reply: reply, model: req.Model, stream: req.Stream, calls: calls, usage: reply.usage(len(req.Raw))}, nil
}

// tryKey names one turn of one conversation. Tries again are equal in all that
// counts, whatever else the CLI changes in the body.
func tryKey(r *Request) string {
	said, err := json.Marshal(r.Conversation)
	if err != nil { // an input that is not JSON cannot come out of a parsed body
		panic(err)
	}
	return fmt.Sprintf("%s %s %x", r.Session, r.Credential.Value, sha256.Sum256(said))
}

func (s *Server) refuse(w http.ResponseWriter, e *Exchange, f Failure) {
	s.book.setStatus(e, f.Status)
	w.Header().Set("Content-Type", "application/json")
	addHeader(w.Header(), f.Header)
	w.WriteHeader(f.Status)
	io.WriteString(w, f.Body) //nolint:errcheck // a caller that has left needs no answer
}

// hold waits until released is closed; it returns false when the caller left or
// the server closes.
func (s *Server) hold(ctx context.Context, released <-chan struct{}) bool {
	if released == nil {
		return true
	}
	select {
	case <-released:
		return true
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
}

// pause waits for d, under the same conditions as hold.
func (s *Server) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	over := make(chan struct{})
	timer := time.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	return s.hold(ctx, over)
}

// abort breaks the connection: nothing that has been written so far may pass for
// a whole answer. It does not return.
func abort() { panic(http.ErrAbortHandler) }

func addHeader(to, from http.Header) {
	for name, values := range from {
		for _, v := range values {
			to.Add(name, v)
		}
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // a caller that has left needs no answer
}
