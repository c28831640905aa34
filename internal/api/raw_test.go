package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/api"
)

// CORS is for pages of the list alone, errors included, and the question
// before a request needs no token.
func TestCORS(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	preflight := []string{"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"}
	cases := []struct {
		name, method, target string
		lines                []string
		status               int
		shared, preflighted  bool
	}{
		{"listed asks first", "OPTIONS", "/v1/agents", append([]string{"Origin: " + listedOrigin}, preflight...), 204, true, true},
		{"listed asks first about nothing", "OPTIONS", "/v1/nothing", append([]string{"Origin: " + listedOrigin}, preflight...), 204, true, true},
		{"another asks first", "OPTIONS", "/v1/agents", append([]string{"Origin: http://evil.com"}, preflight...), 403, false, false},
		{"null asks first", "OPTIONS", "/v1/agents", append([]string{"Origin: null"}, preflight...), 403, false, false},
		{"own origin asks nobody first", "OPTIONS", "/v1/agents", []string{"Origin: http://" + at.host, preflight[0]}, 401, false, false},
		{"no origin asks first", "OPTIONS", "/v1/agents", preflight[:1], 401, false, false},
		{"no question", "OPTIONS", "/v1/agents", []string{"Origin: " + listedOrigin}, 401, true, false},
		{"no question, with a token", "OPTIONS", "/v1/agents", []string{"Origin: " + listedOrigin, bearerLine(tokenRead)}, 405, true, false},
		{"listed", "GET", "/v1/agents", []string{"Origin: " + listedOrigin, bearerLine(tokenRead)}, 200, true, false},
		{"listed stream", "GET", "/v1/events?since=2", []string{"Origin: " + listedOrigin, bearerLine(tokenRead)}, 200, true, false},
		{"listed without a token", "GET", "/v1/agents", []string{"Origin: " + listedOrigin}, 401, true, false},
		{"listed may not", "POST", "/v1/agents", []string{"Origin: " + listedOrigin, bearerLine(tokenRead)}, 403, true, false},
		{"listed finds nothing", "GET", "/v1/nothing", []string{"Origin: " + listedOrigin, bearerLine(tokenRead)}, 404, true, false},
		{"listed goes astray", "GET", "/v1/agents", []string{"Origin: " + listedOrigin, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: cross-site", bearerLine(tokenRead)}, 403, true, false},
		{"own", "GET", "/v1/agents", []string{"Origin: http://" + at.host, bearerLine(tokenRead)}, 200, false, false},
		{"another", "GET", "/v1/agents", []string{"Origin: http://evil.com", bearerLine(tokenRead)}, 403, false, false},
		{"another asks for the health", "GET", "/healthz", []string{"Origin: http://evil.com"}, 200, false, false},
	}
	for _, c := range cases {
		got := at.ask(t, c.method, c.target, c.lines...)
		if got.status != c.status {
			t.Errorf("%s: %s, want %d", c.name, got, c.status)
		}
		checkTCPHeaders(t, got, !slices.Contains(c.lines, bearerLine(tokenRead)))
		shared := got.header.Get("Access-Control-Allow-Origin") == listedOrigin && got.header.Get("Access-Control-Expose-Headers") == "Cw-Api"
		preflighted := got.header.Get("Access-Control-Allow-Methods") == "DELETE, GET, POST" &&
			got.header.Get("Access-Control-Allow-Headers") == "authorization, content-type, last-event-id, cw-api" && got.header.Get("Access-Control-Max-Age") == "600"
		if shared != c.shared || preflighted != c.preflighted {
			t.Errorf("%s: %v", c.name, got.header)
		}
		if c.shared && got.header.Get("Vary") != "Origin" {
			t.Errorf("%s: Vary %q", c.name, got.header.Get("Vary"))
		}
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") && !c.shared || name == "Access-Control-Allow-Private-Network" {
				t.Errorf("%s: %s", c.name, name)
			}
		}
	}
	private := at.ask(t, "OPTIONS", "/v1/agents", append([]string{"Origin: " + listedOrigin, "Access-Control-Request-Private-Network: true"}, preflight...)...)
	if private.header.Get("Access-Control-Allow-Private-Network") != "true" {
		t.Errorf("private network: %v", private.header)
	}
}

// What no route serves is a matter of the token first, and has the headers too.
func TestOtherMethodsOverTCP(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	for _, row := range api.Routes() {
		for _, method := range []string{"PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "get", "BREW"} {
			for lines, status := range map[string]int{"": 401, bearerLine(tokenOperate): 405} {
				got := at.ask(t, method, target(row, "x"), append([]string{}, strings.Fields(lines)...)...)
				if lines != "" {
					got = at.ask(t, method, target(row, "x"), lines)
				}
				if got.status != status {
					t.Errorf("%s %s with %q: %s, want %d", method, row.Path, lines, got, status)
				}
				checkTCPHeaders(t, got, lines == "")
			}
		}
	}
	for target, status := range map[string]int{
		"/": 404, "/v1/": 404, "/v1/agents/": 404, "//v1/agents": 404, "/v1/./agents": 404, "/healthz/../v1/agents": 404, "/openapi.json": 404, "/debug/pprof/": 404,
		"/v1/agents/..%2F..%2Fstatus": 404, "/%76%31/agents": 200, "/healthz/": 404, "/HEALTHZ": 404,
	} {
		if got := at.ask(t, "GET", target, bearerLine(tokenRead)); got.status != status {
			t.Errorf("%s: %s, want %d", target, got, status)
		}
		if got := at.ask(t, "GET", target); got.status != http.StatusUnauthorized {
			t.Errorf("%s by a stranger: %s", target, got)
		}
	}
}

// What is refused is told with the reason and the way out, and to those who
// keep the books.
func TestRefusedDashboards(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	for _, c := range []struct{ method, target, token, text string }{
		{"POST", "/v1/agents", tokenRead, "needs a token with the scope operate (spawn-agent)"},
		{"POST", "/v1/shutdown", tokenOperate, "cannot be done over TCP (shut-down)"},
		{"GET", "/v1/tokens", tokenOperate, "needs a session of a person (list-tokens)"},
	} {
		before := len(d.refusals())
		got := at.ask(t, c.method, c.target, bearerLine(c.token))
		if got.status != http.StatusForbidden || !strings.Contains(got.err.Message, c.text) || got.err.Hint == "" {
			t.Errorf("%s %s: %s", c.method, c.target, got)
		}
		if told := d.refusals()[before:]; len(told) != 1 || !strings.HasPrefix(told[0], c.token+" ") {
			t.Errorf("%s %s: told %q", c.method, c.target, told)
		}
	}
	who := at.ask(t, "GET", "/v1/whoami", bearerLine(tokenRead))
	if who.status != http.StatusOK || !strings.Contains(who.body, `"kind":"dashboard"`) {
		t.Errorf("whoami: %s", who)
	}
}

func TestHealthAndMetrics(t *testing.T) {
	t.Parallel()
	off, on := startDaemon(t, dashboards), startDaemon(t, func(o *api.Options) {
		dashboards(o)
		o.Metrics = func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, "cw_agents 3\n")
			return err
		}
	})
	for _, at := range []door{on.serveTCP(t), on.socketDoor()} {
		health := at.ask(t, "GET", "/healthz")
		if health.status != http.StatusOK || strings.TrimSpace(health.body) != `{"status":"ok"}` {
			t.Errorf("%s: %s", at.network, health)
		}
		metrics := at.ask(t, "GET", "/metrics", bearerLine(map[string]string{"tcp": tokenRead}[at.network]))
		if at.network == "unix" {
			metrics = at.ask(t, "GET", "/metrics")
		}
		if metrics.status != http.StatusOK || metrics.body != "cw_agents 3\n" || metrics.header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
			t.Errorf("%s: %s %v", at.network, metrics, metrics.header)
		}
		checkTCPHeaders(t, metrics, false)
	}
	at := off.serveTCP(t)
	if got := at.ask(t, "GET", "/metrics", bearerLine(tokenRead)); got.status != http.StatusNotFound || !strings.Contains(got.err.Hint, "metrics.enabled") {
		t.Errorf("switched off: %s", got)
	}
	if got := at.ask(t, "GET", "/healthz", "Content-Type: application/json", "Content-Length: 2"); got.status != http.StatusBadRequest {
		t.Errorf("health with a body: %s", got)
	}
}

// Requests that no library sends: each gets one answer, and what it hides
// inside gets none.
func TestRawTCP(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	at := d.serveTCP(t)
	head := "Host: " + at.host + "\r\n" + bearerLine(tokenOperate) + "\r\n"
	hidden := "GET /v1/status HTTP/1.1\r\n" + head + "\r\n"
	post := "POST /v1/projects HTTP/1.1\r\n" + head + "Content-Type: application/json\r\n"
	for _, c := range []struct {
		name, text string
		statuses   []int
	}{
		{"HTTP/1.0", "GET /v1/status HTTP/1.0\r\n" + head + "\r\n" + hidden, []int{200}},
		{"HTTP/1.0 without a host", "GET /v1/status HTTP/1.0\r\n" + bearerLine(tokenOperate) + "\r\n\r\n", []int{403}},
		{"HTTP/0.9", "GET /v1/status\r\n\r\n", []int{400}},
		{"HTTP/1.2", "GET /v1/status HTTP/1.2\r\n" + head + "Connection: close\r\n\r\n" + hidden, []int{200}},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{403}},
		{"TLS", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n", []int{400}},
		{"pipelined", hidden + hidden + "GET /v1/status HTTP/1.1\r\n" + head + "Connection: close\r\n\r\n", []int{200, 200, 200}},
		{"pipelined, the second by nobody", hidden + "GET /v1/status HTTP/1.1\r\nHost: " + at.host + "\r\n\r\n" + hidden, []int{200, 401}},
		{"pipelined, the second for another host", hidden + "GET /v1/status HTTP/1.1\r\nHost: evil.com\r\n" + bearerLine(tokenOperate) + "\r\n\r\n" + hidden, []int{200, 403}},
		{"huge headers", "GET /v1/status HTTP/1.1\r\n" + head + "X: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", []int{431}},
		{"two lengths", post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" + hidden, []int{400}},
		{"two lengths in one", post + "Content-Length: 2, 3\r\n\r\n{}" + hidden, []int{400}},
		{"negative length", post + "Content-Length: -1\r\n\r\n" + hidden, []int{400}},
		{"signed length", post + "Content-Length: +2\r\n\r\n{}" + hidden, []int{400}},
		{"length and chunks", post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + hidden, []int{400}},
		{"chunks and length", post + "Transfer-Encoding: chunked\r\nContent-Length: 200\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + hidden, []int{400}},
		{"chunks", post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + hidden, []int{400}},
		{"chunks twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden, []int{501}},
		{"chunks and more", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + hidden, []int{501}},
		{"other chunks", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden, []int{501}},
		{"identity", post + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}" + hidden, []int{501}},
		{"length with a space", post + "Content-Length : 2\r\n\r\n{}" + hidden, []int{400}},
		{"folded header", "GET /v1/status HTTP/1.1\r\n" + head + "X: a\r\n Origin: null\r\nOrigin: http://" + at.host + "\r\n b\r\n\r\n", []int{403}},
		{"NUL in a header", "GET /v1/status HTTP/1.1\r\n" + head + "X: a\x00b\r\n\r\n", []int{400}},
		{"options star", "OPTIONS * HTTP/1.1\r\n" + head + "\r\n", []int{403}},
		{"connect", "CONNECT " + at.host + " HTTP/1.1\r\n" + head + "\r\n", []int{403}},
		{"another address in the line", "GET http://evil.com/v1/status HTTP/1.1\r\n" + head + "\r\n", []int{403}},
		{"a body by nobody", "POST /v1/projects HTTP/1.1\r\nHost: " + at.host + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}" + hidden, []int{401}},
		{"a body by who may not", strings.ReplaceAll(post, tokenOperate, tokenRead) + "Content-Length: 2\r\n\r\n{}" + hidden, []int{403}},
		{"a body for nothing", strings.ReplaceAll(post, "projects", "nothing") + "Content-Length: 2\r\n\r\n{}" + hidden, []int{404}},
		{"a body that never comes", "POST /v1/projects HTTP/1.1\r\nHost: evil.com\r\nContent-Length: 100\r\n\r\n", []int{403}},
		{"a body that never comes, by who may not", strings.ReplaceAll(post, tokenOperate, tokenRead) + "Content-Length: 100\r\n\r\n", []int{403}},
		{"a question with a body", "OPTIONS /v1/agents HTTP/1.1\r\nHost: " + at.host + "\r\nOrigin: " + listedOrigin + "\r\nAccess-Control-Request-Method: GET\r\nContent-Length: 100\r\n\r\n", []int{204}},
		{"a body that is too long", post + fmt.Sprintf("Content-Length: %d\r\n\r\n", api.BodyMax+1), []int{400}},
		{"a good body and another request", post + "Content-Length: 2\r\n\r\n{}GET /v1/status HTTP/1.1\r\n" + head + "Connection: close\r\n\r\n", []int{400, 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := at.dial(t)
			_, err := io.WriteString(conn, c.text)
			noError(t, err)
			reader := bufio.NewReader(conn)
			for _, status := range c.statuses {
				got, err := readReply(reader, false)
				if got.status != status { // its text may be lost where much was left unread
					t.Fatalf("%s %v, want %d", got, err, status)
				}
			}
			if rest, err := io.ReadAll(reader); isTimeout(err) || len(rest) > 0 {
				t.Errorf("the connection goes on: %q %v", rest, err)
			}
		})
	}
}

// Who is slow with the head of a request is hung up on.
func TestSlowHeader(t *testing.T) {
	t.Parallel()
	at := startDaemon(t, dashboards).serveTCP(t)
	conn := at.dial(t)
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err := io.WriteString(conn, "GET /v1/status HTTP/1.1\r\nHost: ")
	noError(t, err)
	if answer, err := io.ReadAll(conn); isTimeout(err) || strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("%q %v", answer, err)
	}
}

// Listeners that cannot be guarded are not served, and are closed.
func TestServeTCPRefuses(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	unguarded := startDaemon(t, nil)
	for _, c := range []struct {
		name, network, address string
		d                      *daemon
	}{
		{"every address", "tcp", "0.0.0.0:0", d},
		{"a socket", "unix", socketDir(t) + "/t", d},
		{"nobody knows tokens", "tcp", "127.0.0.1:0", unguarded},
	} {
		listener, err := net.Listen(c.network, c.address)
		noError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // for a listener that is served
		if err := c.d.server.ServeTCP(ctx, listener, api.TCP{}); err == nil {
			t.Errorf("%s: served", c.name)
		}
		cancel()
		if _, err := listener.Accept(); err == nil {
			t.Errorf("%s: still open", c.name)
		}
	}
}

// Streams end when the listener's context does, beside a socket that goes on.
func TestTCPStops(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, dashboards)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- d.server.ServeTCP(ctx, listener, api.TCP{}) }()
	at := door{"tcp", listener.Addr().String(), listener.Addr().String()}
	stream := at.stream(t, liveEvents, bearerLine(tokenRead))
	cancel()
	if _, err := io.ReadAll(stream); isTimeout(err) {
		t.Error("the stream goes on")
	}
	noError(t, <-served)
	if got := d.socketDoor().ask(t, "GET", "/v1/status"); got.status != http.StatusOK {
		t.Errorf("the socket: %s", got)
	}
}
