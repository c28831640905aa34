package api

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

type noServices struct{ cw.Services }

func plainOptions() Options {
	return Options{
		Services: noServices{},
		Identify: func(context.Context, Peer) (cw.Actor, error) { return cw.Actor{Kind: cw.ActorPerson}, nil },
	}
}

// A route and its row come together or not at all.
func TestTableAndRoutesAgree(t *testing.T) {
	t.Parallel()
	extra := Route{Method: "GET", Path: "/v1/extra", ID: "get-extra", Scope: cw.ScopeReadSelf}
	act := func(context.Context, *nothing) (nothing, error) { return nothing{}, nil }
	cases := []struct {
		name     string
		table    []Route
		register func(*Server)
		fault    string
	}{
		{"as it is", Routes(), registerAll, ""},
		{"no row for an operation", Routes(), func(s *Server) { registerAll(s); handle(s, "get-extra", act) }, `"get-extra" has no row`},
		{"no row for a pattern", Routes(), func(s *Server) {
			registerAll(s)
			guardedMux{s}.HandleFunc("GET /v1/extra", func(http.ResponseWriter, *http.Request) {})
		}, "GET /v1/extra has no row"},
		{"no route for a row", append(Routes(), extra), registerAll, "GET /v1/extra"},
		{"both", append(Routes(), extra), func(s *Server) { registerAll(s); handle(s, "get-extra", act) }, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := newServer(plainOptions(), c.table, c.register)
			if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("got %v, want %q", err, c.fault)
			}
		})
	}
	for _, opts := range []Options{{}, {Services: noServices{}}, {Identify: plainOptions().Identify}} {
		if _, err := NewServer(opts); err == nil {
			t.Error("made a server without services or without Identify")
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	ids, patterns := map[string]bool{}, map[string]bool{}
	for _, row := range Routes() {
		if ids[row.ID] || patterns[row.Pattern()] || row.ID == "" || row.Summary == "" {
			t.Errorf("row %+v", row)
		}
		ids[row.ID], patterns[row.Pattern()] = true, true
		if row.Self != strings.Contains(row.Path, "{id}") && row.Scope != peopleOnly {
			t.Errorf("agents may use %s with any {id}", row.ID)
		}
		if strings.Contains(row.Path, "{") && !row.Self && row.ownNoun() == "" && row.Scope != peopleOnly {
			t.Errorf("agents may use %s whatever they name", row.ID)
		}
	}
}

// A gate lets in exactly its user.
func TestGatePeer(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "http://cw.sock/v1/status", nil)
	for _, c := range []struct {
		uid  int
		peer *Peer
		code cw.Code
	}{
		{1000, nil, cw.CodeUnauthorized},
		{1000, &Peer{UID: 1000}, ""},
		{1000, &Peer{UID: 1001}, cw.CodeForbidden},
		{1000, &Peer{UID: 0}, cw.CodeForbidden},
		{0, &Peer{UID: 0}, ""},
		{0, &Peer{UID: 1000}, cw.CodeForbidden},
	} {
		if got := cw.ErrorCode(gate{uid: c.uid, host: SocketHost}.admit(r, c.peer)); got != c.code {
			t.Errorf("daemon of %d, peer %+v: %q, want %q", c.uid, c.peer, got, c.code)
		}
	}
}

// slowSpawn spawns longer than a body may take to arrive.
type slowSpawn struct {
	cw.Services
	takes time.Duration
}

func (s slowSpawn) Spawn(ctx context.Context, _ cw.SpawnRequest) (cw.AgentView, error) {
	select {
	case <-ctx.Done():
		return cw.AgentView{}, ctx.Err()
	case <-time.After(s.takes):
		return cw.AgentView{Agent: cw.Agent{Alias: "late-otter"}}, nil
	}
}

func serveInternal(t *testing.T, s *Server) (dial func(context.Context) (net.Conn, error)) {
	t.Helper()
	socket := t.TempDir() + "/s"
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", socket)
	}
}

// The deadline for a body ends with the body: neither ours nor huma's own of
// 5 s may cut the work.
func TestBodyPatience(t *testing.T) {
	t.Parallel()
	opts := plainOptions()
	opts.Services = slowSpawn{takes: 5300 * time.Millisecond}
	s, err := NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.gate.patience = 100 * time.Millisecond
	dial := serveInternal(t, s)
	view, err := NewClient(ClientOptions{Dial: dial}).Spawn(t.Context(), cw.SpawnRequest{Goal: "x"})
	if err != nil || view.Alias != "late-otter" {
		t.Errorf("slow work was cut: %v", err)
	}
	conn, err := dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	_, _ = conn.Write([]byte("POST /v1/agents HTTP/1.1\r\nHost: cw.sock\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"))
	head := make([]byte, 12)
	if _, err := conn.Read(head); err != nil || string(head) != "HTTP/1.1 400" {
		t.Errorf("a body that does not come: %q %v", head, err)
	}
}

func TestSegment(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"brave-otter": "brave-otter", ".": "%2E", "..": "%2E%2E", "a/b": "a%2Fb", "/x y?#%": "%2Fx%20y%3F%23%25", "...": "..."} {
		if got := segment(in); got != want {
			t.Errorf("segment(%q) = %q, want %q", in, got, want)
		}
	}
}
