package api

import (
	"context"
	"errors"
	"net"
)

// TCP says what a listener for dashboards lets in.
type TCP struct {
	// Hosts are names for this machine that requests may use beside 127.0.0.1,
	// [::1] and localhost, without a port.
	Hosts []string
	// Origins are the pages of other origins that may call, exactly as browsers
	// send them: "http://127.0.0.1:5173".
	Origins []string
}

// ServeTCP answers requests of dashboards until ctx ends, in the way of Serve.
// It closes the listener.
func (s *Server) ServeTCP(ctx context.Context, l net.Listener, t TCP) error {
	return errors.Join(errors.New("not yet"), l.Close())
}
