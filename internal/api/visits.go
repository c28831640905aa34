package api

import (
	"context"
	"sync"

	"cw/internal/cw"
)

// visits are the open streams of tokens, so that they end with their token.
// Its zero value is empty.
type visits struct {
	mu    sync.Mutex
	next  int
	open  map[string]map[int]context.CancelFunc // by token id
	ended map[string]bool                       // tokens that were revoked; none comes back to life
}

// begin gives the context of a stream, which ends when its token is revoked.
// leave must be called when the stream is over. A token that was revoked
// between its look-up and now is refused.
func (v *visits) begin(ctx context.Context, token string) (stream context.Context, leave func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended[token] {
		return nil, nil, cw.Errorf(cw.CodeUnauthorized, "this token was revoked").WithHint("make another: cw token create")
	}
	stream, cancel := context.WithCancel(ctx)
	if v.open == nil {
		v.open = map[string]map[int]context.CancelFunc{}
	}
	if v.open[token] == nil {
		v.open[token] = map[int]context.CancelFunc{}
	}
	v.next++
	n := v.next
	v.open[token][n] = cancel
	return stream, func() {
		cancel()
		v.mu.Lock()
		defer v.mu.Unlock()
		if delete(v.open[token], n); len(v.open[token]) == 0 {
			delete(v.open, token)
		}
	}, nil
}

// end lets go of all streams of a token, now and for ever.
func (v *visits) end(token string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended == nil {
		v.ended = map[string]bool{}
	}
	v.ended[token] = true
	for _, cancel := range v.open[token] {
		cancel()
	}
}

// revoked ends what a token has opened. It is called when the token is dead
// already, so that nothing new is let in behind it.
func (s *Server) revoked(id cw.TokenID) {
	s.visits.end(string(id))
	s.tickets.revoke(string(id))
}
