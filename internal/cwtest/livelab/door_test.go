package livelab

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/event"
	"cw/internal/store"
)

// patience bounds every wait; on a loaded machine things are slow.
const patience = 4 * time.Minute

// door is the event side of a daemon: the real store, the real hub and the real
// server on a socket. It can be closed and opened again over the same store.
type door struct {
	db     *store.DB
	socket string
	server *api.Server
	shut   func() error // set while it is open
}

// services answers for events; nothing else is asked.
type services struct {
	cw.Services
	events cw.EventService
}

// Events implements cw.EventService.
func (s services) Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error] {
	return s.events.Events(ctx, q)
}

// newDoor makes a door over the store in a folder. stall is how long a reader
// may stand still.
func newDoor(dir string, stall time.Duration) (*door, error) {
	hub := event.NewHub()
	db, err := store.Open(context.Background(), store.Options{
		Dir: dir, Version: "test", OnCommit: func(events []cw.Event) { hub.Publish(events...) },
	})
	if err != nil {
		return nil, err
	}
	server, err := api.NewServer(api.Options{
		Services: services{events: daemon.NewEvents(db, hub)}, Version: "test", BuildID: "b1", Stall: stall,
		Identify: func(context.Context, api.Peer) (cw.Actor, error) { return cw.Actor{Kind: cw.ActorPerson}, nil },
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &door{db: db, socket: filepath.Join(dir, "s"), server: server}, nil
}

// open serves until shut is called.
func (d *door) open() error {
	listener, err := net.Listen("unix", d.socket)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.server.Serve(ctx, listener) }()
	d.shut = sync.OnceValue(func() error { cancel(); return <-ended })
	return nil
}

// startDoor is an open door until the test ends.
func startDoor(t testing.TB) *door {
	t.Helper()
	dir, err := os.MkdirTemp("", "cwlive") // short: a socket's path has at most 104 bytes
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d, err := newDoor(dir, time.Minute)
	must(t, err)
	must(t, d.open())
	t.Cleanup(func() { must(t, errors.Join(d.shut(), d.db.Close())) })
	return d
}

// nth is the event number n of a test: its payload says n.
func nth(n int, agent cw.AgentID, initiative string) cw.Event {
	types := []cw.EventType{cw.EventAgentWarning, cw.EventAgentStopped, cw.EventMirrorRestored}
	e := cw.NewEvent(types[n%len(types)], cw.Actor{Kind: cw.ActorCW}, nil).About(agent, "rrrrrrrrrrrr")
	e.InitiativeID = cw.InitiativeID(initiative)
	e.Data = fmt.Appendf(nil, `{"n":%d,"text":"%0*d"}`, n, 20+n*37%400, n)
	return e
}

func (d *door) last(t testing.TB) int64 {
	t.Helper()
	last, err := d.db.LastEventSeq(context.Background())
	must(t, err)
	return last
}

func (d *door) client() *api.Client { return api.NewClient(api.ClientOptions{Socket: d.socket}) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
