package model

import (
	"context"
	"fmt"
	"sync"
)

// Exchange is one HTTP request that the server saw, and what became of it.
type Exchange struct {
	Method  string
	Path    string
	Status  int      // answered; 0: not yet, or the caller left first
	Request *Request // nil when it was not a request to the model
}

// book keeps all exchanges and errors of a server.
type book struct {
	mu        sync.Mutex
	exchanges []*Exchange
	tries     map[string]int
	errs      []error
	changed   chan struct{} // closed and replaced at each new exchange
}

func newBook() *book {
	return &book{tries: map[string]int{}, changed: make(chan struct{})}
}

// enter notes a new exchange and returns its handle for setStatus.
func (b *book) enter(e Exchange) *Exchange {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.exchanges = append(b.exchanges, &e)
	close(b.changed)
	b.changed = make(chan struct{})
	return &e
}

func (b *book) setStatus(e *Exchange, status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.Status = status
}

// countTry returns how often key has been seen, this time included.
func (b *book) countTry(key string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tries[key]++
	return b.tries[key]
}

func (b *book) addError(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errs = append(b.errs, err)
}

// Exchanges returns all that was asked of the server so far, oldest first.
func (s *Server) Exchanges() []Exchange {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	all := make([]Exchange, len(s.book.exchanges))
	for i, e := range s.book.exchanges {
		all[i] = *e
	}
	return all
}

// Requests returns the requests that scenarios were asked to answer.
func (s *Server) Requests() []*Request {
	return s.requests(func(r *Request) bool { return r.Side == "" })
}

// SideRequests returns the requests of the CLI beside its work: titles,
// warm-ups and the like. They get a harmless answer.
func (s *Server) SideRequests() []*Request {
	return s.requests(func(r *Request) bool { return r.Side != "" })
}

func (s *Server) requests(match func(*Request) bool) []*Request {
	var rs []*Request
	for _, e := range s.Exchanges() {
		if e.Request != nil && match(e.Request) {
			rs = append(rs, e.Request)
		}
	}
	return rs
}

// Outbound returns the addresses ("host:port") that callers tried to reach
// through the server as their HTTPS proxy. All of them were refused.
func (s *Server) Outbound() []string {
	var hosts []string
	for _, e := range s.Exchanges() {
		if e.Method == "CONNECT" {
			hosts = append(hosts, e.Path)
		}
	}
	return hosts
}

// TakeErrors returns the errors of scenarios, unreadable requests and replies
// that could not be given, and forgets them. Errors that are not taken fail the
// test of a server made by New.
func (s *Server) TakeErrors() []error {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	errs := s.book.errs
	s.book.errs = nil
	return errs
}

// Wait returns the first request that matches, side requests included, as soon
// as it has arrived; it may not have been answered yet.
func (s *Server) Wait(ctx context.Context, match func(*Request) bool) (*Request, error) {
	for {
		s.book.mu.Lock()
		changed := s.book.changed
		s.book.mu.Unlock()
		if rs := s.requests(match); len(rs) > 0 {
			return rs[0], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a model request: %w", ctx.Err())
		}
	}
}
