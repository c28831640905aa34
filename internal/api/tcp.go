package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"cw/internal/cw"

	"golang.org/x/net/netutil"
)

// tcpConnections is how many connections one TCP listener has at a time. More
// of them wait in the kernel's queue.
const tcpConnections = 512

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
// It closes the listener. It is an error when the listener is not on a loopback
// address: what goes over it is neither encrypted nor bound to a machine.
func (s *Server) ServeTCP(ctx context.Context, l net.Listener, t TCP) error {
	addr, ok := l.Addr().(*net.TCPAddr)
	switch {
	case !ok || !addr.IP.IsLoopback():
		return errors.Join(fmt.Errorf("serve the API on %s: only a loopback address of TCP will do", l.Addr()), l.Close())
	case s.opts.Authenticate == nil:
		return errors.Join(errors.New("serve the API over TCP: there is no way to know a token"), l.Close())
	}
	gate := pageGate{hosts: hostHeaders(addr.Port, t.Hosts), origins: t.Origins, methods: s.methodsOverTCP()}
	return s.serve(ctx, netutil.LimitListener(l, tcpConnections), tcpFront{s, gate})
}

func (s *Server) methodsOverTCP() string {
	var methods []string
	for _, row := range s.rows {
		if row.Dashboard != never {
			methods = append(methods, row.Method)
		}
	}
	slices.Sort(methods)
	return strings.Join(slices.Compact(methods), ", ")
}

// tcpFront is the way in over TCP. Whoever runs on this machine can connect,
// and so can every web page in a browser on it, so everything hangs on the
// headers.
type tcpFront struct {
	s    *Server
	gate pageGate
}

// enter implements front. The order is fixed: the host, the page, the token,
// and only then the form.
func (f tcpFront) enter(w http.ResponseWriter, r *http.Request) (caller, error) {
	if err := f.gate.host(r); err != nil {
		return caller{}, err
	}
	if f.s.site.wants(r) {
		if err := f.gate.visit(r); err != nil {
			return caller{}, err
		}
		return caller{actor: cw.Actor{Kind: nobody}, site: true}, noBody(r)
	}
	row := f.s.rowOf(r)
	if row.open() {
		return caller{actor: cw.Actor{Kind: nobody}}, noBody(r)
	}
	if row.Dashboard == OwnPage {
		return f.ownPage(r)
	}
	f.gate.share(w, r)
	if err := f.gate.page(r); err != nil {
		return caller{}, err
	}
	if f.gate.preflight(w, r) {
		return caller{}, errPreflight
	}
	who, err := f.known(r, row)
	if err != nil {
		return caller{}, err
	}
	if err := checkVersion(r); err != nil {
		return caller{}, err
	}
	return who, form(r)
}

// ownPage lets in the dashboard's own page, which has no token yet. A token
// that it shows all the same is not looked at.
func (f tcpFront) ownPage(r *http.Request) (caller, error) {
	for _, check := range []func(*http.Request) error{f.gate.page, f.gate.own, checkVersion, form} {
		if err := check(r); err != nil {
			return caller{}, err
		}
	}
	return caller{actor: cw.Actor{Kind: nobody}}, nil
}

// known tells who is calling, by the token of the Authorization header or, for
// a stream, by a ticket. Cookies and other parameters are not looked at.
func (f tcpFront) known(r *http.Request, row Route) (caller, error) {
	token, err := bearer(r)
	if err != nil {
		return caller{}, err
	}
	if tickets, has := r.URL.Query()[ticketParam]; has {
		if token != "" || len(tickets) != 1 || !f.s.streams[row.ID] || row.Dashboard == never {
			return caller{}, errTicket()
		}
		return f.s.tickets.redeem(tickets[0])
	}
	if token == "" {
		return caller{}, cw.Errorf(cw.CodeUnauthorized, "a token is needed").
			WithHint("make one with `cw token create` and send: Authorization: Bearer TOKEN")
	}
	actor, scopes, err := f.s.opts.Authenticate(r.Context(), token)
	if err != nil {
		return caller{}, err
	}
	if actor.Kind != cw.ActorDashboard {
		return caller{}, cw.Errorf(cw.CodeForbidden, "only dashboards call over TCP").
			WithHint("agents and people use cw, which calls over the daemon's socket")
	}
	return caller{actor: actor, scopes: scopes}, nil
}
