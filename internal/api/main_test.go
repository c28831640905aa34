package api_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv(childSocket); socket != "" {
		os.Exit(connectAsChild(socket))
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait. Only a failing test waits as long: under the race detector
// and on a loaded machine a request takes many seconds.
const patience = 2 * time.Minute

// Tokens that the tests' Identify knows. No token is the person.
const (
	tokenOf      = "cwa_of_"   // with the name of any agent behind it
	tokenSelf    = "cwa_self"  // the prepared agent
	tokenOther   = "cwa_other" // the prepared standalone agent
	tokenUnknown = "cwa_nobody"
)

// daemon is a server over a prepared Memory on a real socket.
type daemon struct {
	memory  *servicetest.Memory
	fixture servicetest.Fixture
	socket  string
	opts    api.Options
	server  *api.Server

	mu      sync.Mutex
	refused []string
	peers   []api.Peer
	log     *lockedBuffer

	stop func()
}

// startDaemon serves until the test ends. change may alter the options.
func startDaemon(t testing.TB, change func(*api.Options)) *daemon {
	t.Helper()
	d := &daemon{log: &lockedBuffer{}}
	d.memory, d.fixture = servicetest.Prepared(t)
	self, other := d.agent(t, servicetest.PreparedAgent), d.agent(t, servicetest.PreparedStandalone)
	d.opts = api.Options{
		Services: d.memory, Version: "test", BuildID: "b1",
		Log: slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Identify: func(_ context.Context, p api.Peer) (cw.Actor, error) {
			d.mu.Lock()
			d.peers = append(d.peers, p)
			d.mu.Unlock()
			switch p.Token {
			case "":
				return cw.Actor{Kind: cw.ActorPerson}, nil
			case tokenSelf:
				return cw.Actor{Kind: cw.ActorAgent, ID: string(self), AgentID: self, RunID: "rrrrrrrrrrrr"}, nil
			case tokenOther:
				return cw.Actor{Kind: cw.ActorAgent, ID: string(other), AgentID: other, RunID: "ssssssssssss"}, nil
			}
			if alias, ok := strings.CutPrefix(p.Token, tokenOf); ok {
				id := d.agent(t, alias)
				return cw.Actor{Kind: cw.ActorAgent, ID: string(id), AgentID: id, RunID: "tttttttttttt"}, nil
			}
			return cw.Actor{}, cw.Errorf(cw.CodeForbidden, "this token is not known")
		},
		Asker: d.memory.AskerOf, Sender: d.memory.SenderOf,
		OnRefused: func(ctx context.Context, a cw.Actor, what string) {
			if ctx.Err() == nil {
				d.mu.Lock()
				d.refused = append(d.refused, a.ID+" "+what)
				d.mu.Unlock()
			}
		},
	}
	if change != nil {
		change(&d.opts)
	}
	d.socket = filepath.Join(socketDir(t), "s")
	d.start(t)
	t.Cleanup(func() { d.stop() })
	return d
}

// socketDir is short: a socket's path has at most 104 bytes.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cwapi")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// start serves on the daemon's socket, again after a stop.
func (d *daemon) start(t testing.TB) {
	t.Helper()
	server, err := api.NewServer(d.opts)
	if err != nil {
		t.Fatal(err)
	}
	d.server = server
	listener, err := net.Listen("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(patience):
			t.Error("Serve does not end")
		}
	})
}

func (d *daemon) agent(t testing.TB, name string) cw.AgentID {
	t.Helper()
	view, err := d.memory.Agent(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return view.ID
}

func (d *daemon) client(token string) *api.Client {
	return api.NewClient(api.ClientOptions{Socket: d.socket, Token: token})
}

func (d *daemon) refusals() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.refused...)
}

// lockedBuffer is a log that tests read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	all []byte
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, p...)
	return len(p), nil
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.all)
}

// eventually polls until a condition holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("after 10 s not yet: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
