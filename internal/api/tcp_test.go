package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
)

// Tokens of dashboards that the tests' Authenticate knows.
const (
	tokenRead    = "cwd_read"
	tokenOperate = "cwd_operate"
	tokenPerson  = "cwd_person"
	tokenRevoked = "cwd_revoked"
)

// A page that may call, and a name that this machine has.
const (
	listedOrigin = "http://127.0.0.1:5173"
	listedHost   = "box.test"
)

// dashboards lets the tokens of dashboards in. It also takes no token for one
// and knows the run of an agent, to see that both are stopped elsewhere.
func dashboards(o *api.Options) {
	o.Prove = func(_ context.Context, r cw.ProofRequest) (string, error) {
		return r.Host + " " + string(r.Session) + " " + r.Nonce, nil
	}
	o.Authenticate = func(_ context.Context, token string) (cw.Actor, []cw.Scope, error) {
		dashboard := cw.Actor{Kind: cw.ActorDashboard, ID: token}
		switch token {
		case tokenRead:
			return dashboard, []cw.Scope{cw.ScopeRead}, nil
		case tokenOperate, "":
			return dashboard, []cw.Scope{cw.ScopeOperate}, nil
		case tokenPerson:
			return dashboard, cw.SessionScopes(), nil
		case tokenSelf:
			return cw.Actor{Kind: cw.ActorAgent, ID: "aaaaaaaaaaaa", AgentID: "aaaaaaaaaaaa"}, append(cw.RunScopes(), cw.ScopeOperate), nil
		}
		return cw.Actor{}, nil, cw.Errorf(cw.CodeUnauthorized, "this token is not known, or no longer")
	}
}

// door is a listener of a daemon with the Host that is right there.
type door struct{ network, address, host string }

func (d *daemon) socketDoor() door { return door{"unix", d.socket, api.SocketHost} }

// serveTCP serves beside the socket until the test ends.
func (d *daemon) serveTCP(t testing.TB) door {
	t.Helper()
	return d.serveOn(t, func(l net.Listener) net.Listener { return l })
}

// serveOn does it on a listener that the test has wrapped.
func (d *daemon) serveOn(t testing.TB, wrap func(net.Listener) net.Listener) door {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener = wrap(listener)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	options := api.TCP{Hosts: []string{listedHost}, Origins: []string{listedOrigin}}
	go func() { served <- d.server.ServeTCP(ctx, listener, options) }()
	t.Cleanup(sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("ServeTCP: %v", err)
		}
	}))
	address := listener.Addr().String()
	return door{"tcp", address, address}
}

func (d door) port() string {
	_, port, _ := net.SplitHostPort(d.address)
	return port
}

// dial connects for at most ten seconds.
func (d door) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial(d.network, d.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// rawReply is the answer to bytes.
type rawReply struct {
	status int
	header http.Header
	last   bool // the connection ends with it
	body   string
	err    cw.Error
}

func (r rawReply) String() string { return fmt.Sprintf("%d %.300s", r.status, r.body) }

// raw sends bytes and reads one answer. A stream is read no further than its
// head.
func (d door) raw(text string) (rawReply, error) {
	conn, err := net.Dial(d.network, d.address)
	if err != nil {
		return rawReply{}, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, text); err != nil {
		return rawReply{}, err
	}
	return readReply(bufio.NewReader(conn), strings.HasPrefix(text, http.MethodHead))
}

func readReply(reader *bufio.Reader, head bool) (rawReply, error) {
	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	resp, err := http.ReadResponse(reader, &http.Request{Method: method})
	if err != nil {
		return rawReply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	r := rawReply{status: resp.StatusCode, header: resp.Header, last: resp.Close}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return r, nil
	}
	data, err := io.ReadAll(resp.Body)
	r.body = string(data)
	_ = json.Unmarshal(data, &r.err) // only errors have this form
	return r, err
}

// ask sends a request of lines that end without a break.
func (d door) ask(t testing.TB, method, target string, lines ...string) rawReply {
	t.Helper()
	got, err := d.raw(request(method, target, append([]string{"Host: " + d.host}, lines...)))
	if err != nil {
		t.Fatalf("%s %s %v: %v", method, target, lines, err)
	}
	return got
}

func request(method, target string, lines []string) string {
	return method + " " + target + " HTTP/1.1\r\n" + strings.Join(append(lines, "", ""), "\r\n")
}

func bearerLine(token string) string { return "Authorization: Bearer " + token }
