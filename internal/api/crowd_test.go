package api_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
)

// A dashboard that opens a thousand streams gets a hundred, and nobody else
// notices.
func TestThousandStreams(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	var got sync.Map // status → *atomic.Int64
	count := func(status int) *atomic.Int64 {
		n, _ := got.LoadOrStore(status, new(atomic.Int64))
		return n.(*atomic.Int64)
	}
	conns := make([]net.Conn, 1000)
	var asking sync.WaitGroup
	for i := range conns {
		asking.Go(func() {
			conn, err := net.Dial(at.network, at.address)
			if err != nil {
				t.Error(err)
				return
			}
			conns[i] = conn
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			_, _ = io.WriteString(conn, request("GET", liveEvents, []string{"Host: " + at.host, bearerLine(tokenRead)}))
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Error(err)
				return
			}
			count(resp.StatusCode).Add(1)
		})
	}
	asking.Wait()
	if count(http.StatusOK).Load() != 100 || count(http.StatusTooManyRequests).Load() != 900 {
		t.Errorf("%d streams, %d refused", count(http.StatusOK).Load(), count(http.StatusTooManyRequests).Load())
	}
	refused := at.ask(t, "GET", liveEvents, bearerLine(tokenRead))
	if refused.err.Code != cw.CodeTooMany || refused.err.Hint == "" || !refused.last {
		t.Errorf("one more: %s %v", refused, refused.header)
	}
	for _, door := range []door{at, d.socketDoor()} {
		if got := door.ask(t, "GET", "/v1/agents", bearerLine(map[string]string{"tcp": tokenOperate, "unix": tokenSelf}[door.network])); got.status != http.StatusOK {
			t.Errorf("another's request at %s: %s", door.network, got)
		}
	}
	d.socketDoor().stream(t, liveEvents)
	at.stream(t, liveEvents, bearerLine(tokenOperate))
	for _, conn := range conns {
		_ = conn.Close()
	}
	eventually(t, "room again", func() bool {
		return at.ask(t, "GET", "/v1/events?since=2", bearerLine(tokenOperate)).status == http.StatusOK
	})
}

// Connections that only stand there fill the listener and not the daemon.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	var first net.Conn
	for range 512 {
		conn := at.dial(t)
		_, err := io.WriteString(conn, request("GET", "/v1/whoami", []string{"Host: " + at.host, bearerLine(tokenRead)}))
		noError(t, err)
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
			t.Fatal(err)
		}
		first = conn
	}
	late := at.dial(t)
	_, err := io.WriteString(late, request("GET", "/healthz", []string{"Host: " + at.host}))
	noError(t, err)
	_ = late.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, err := late.Read(make([]byte, 1)); n != 0 || !isTimeout(err) {
		t.Errorf("one more than there may be is served: %v", err)
	}
	if got := d.socketDoor().ask(t, "GET", "/v1/status"); got.status != http.StatusOK {
		t.Errorf("the socket: %s", got)
	}
	_ = first.Close()
	_ = late.SetReadDeadline(time.Now().Add(patience))
	answer := make([]byte, 12)
	if _, err := io.ReadFull(late, answer); err != nil || string(answer) != "HTTP/1.1 200" {
		t.Errorf("when there is room: %q %v", answer, err)
	}
}

// A reader that takes nothing of a long answer is cut, so that it does not hold
// a connection for ever.
func TestReaderOfALongAnswerIsCut(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, func(o *api.Options) {
		dashboards(o)
		o.Stall = 2 * time.Second
		o.Metrics = func(_ context.Context, w io.Writer) error {
			_, err := w.Write(make([]byte, 16<<20))
			return err
		}
	})
	cut := make(chan struct{}, 1)
	at := d.serveOn(t, func(l net.Listener) net.Listener { return closings{l, cut} })
	_, err := io.WriteString(at.dial(t), request("GET", "/metrics", []string{"Host: " + at.host, bearerLine(tokenRead)}))
	noError(t, err)
	select {
	case <-cut: // 16 MiB do not fit into what the kernel keeps for a reader
	case <-time.After(patience):
		t.Error("the daemon waits for a reader that does not read")
	}
	if got := at.ask(t, "GET", "/metrics", bearerLine(tokenRead)); len(got.body) != 16<<20 {
		t.Errorf("who reads gets %d bytes", len(got.body))
	}
}

// closings is a listener that tells of each connection that the server closes.
type closings struct {
	net.Listener
	told chan<- struct{}
}

// Accept implements net.Listener.
func (l closings) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return closing{conn, l.told}, nil
}

type closing struct {
	net.Conn
	told chan<- struct{}
}

// Close implements net.Conn.
func (c closing) Close() error {
	select {
	case c.told <- struct{}{}:
	default: // told already
	}
	return c.Conn.Close()
}
