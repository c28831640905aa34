package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"

	"cw/internal/cw"
)

// anyPort lets the system choose a port of this machine.
const anyPort = "127.0.0.1:0"

// tcpDoor is the door for dashboards. It is open from the start when an
// address is configured or an earlier daemon had opened it, else from the
// first cw open on.
type tcpDoor struct {
	home   cw.Home
	log    *slog.Logger
	opened chan net.Listener // at most one, for who serves

	mu      sync.Mutex
	address string // where it listens; "": closed
	moved   bool   // another program has the port that was kept, and may have heard tokens there
}

// newTCPDoor opens the door if it is to be open from the start. An address
// that is configured must be had; that of an earlier daemon may be another's
// by now, and does not count for who said on the command line that there is to
// be none. Errors as listenTCP.
func newTCPDoor(ctx context.Context, c Config, log *slog.Logger) (*tcpDoor, error) {
	d := &tcpDoor{home: c.Home, log: log, opened: make(chan net.Listener, 1)}
	if address := c.Settings.HTTP.Address; address != "" {
		l, err := listenTCP(ctx, address)
		if err != nil {
			return nil, err
		}
		d.take(l)
		return d, nil
	}
	if _, none := c.Flags["http.address"]; none { // cw serve --http ""
		return d, nil
	}
	kept, err := d.kept()
	switch {
	case err != nil:
		log.Warn("it is not known where the dashboard was opened; cw open opens it again", "error", err)
	case kept != "":
		if _, err := d.open(ctx); err != nil {
			log.Warn("the dashboard cannot be reached; cw open opens it again", "error", err)
		}
	}
	return d, nil
}

// where gives the address at which the door is open, "" while it is closed.
func (d *tcpDoor) where() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.address
}

// open opens the door where it was open the last time, or at any free port, and
// gives its address. An open door stays as it is. Errors as listenTCP.
func (d *tcpDoor) open(ctx context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.address != "" {
		return d.address, nil
	}
	kept, err := d.kept()
	var l net.Listener
	if err == nil && kept != "" {
		if l, err = listenTCP(ctx, kept); err != nil {
			d.moved = true
			d.log.Warn("the port of the dashboard is taken; another one is used", "address", kept, "error", err)
		}
	}
	if l == nil {
		if l, err = listenTCP(ctx, anyPort); err != nil {
			return "", err
		}
	}
	d.take(l)
	d.log.Info("the door for dashboards is open", "http", d.address)
	if !d.moved {
		d.keep()
	}
	return d.address, nil
}

// settle calls end once when the door had to move, and keeps the new port then:
// not before, so that a daemon that dies in between moves again.
func (d *tcpDoor) settle(end func(from string) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.moved {
		return nil
	}
	kept, _ := d.kept()
	if err := end(kept); err != nil {
		return err
	}
	d.moved = false
	d.keep()
	return nil
}

// keep notes where the door is open, for the next daemon.
func (d *tcpDoor) keep() {
	if err := writeWhole(d.home.DoorFile(), []byte(d.address+"\n"), 0o600); err != nil {
		d.log.Warn("the port of the dashboard will be another one after a restart", "error", err)
	}
}

func (d *tcpDoor) take(l net.Listener) {
	d.address = l.Addr().String()
	d.opened <- l
}

// kept is where the door was open the last time, "" for nowhere. What is no
// address of this machine counts as none.
func (d *tcpDoor) kept() (string, error) {
	data, err := os.ReadFile(d.home.DoorFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the address of the dashboard: %w", err)
	}
	at, err := netip.ParseAddrPort(strings.TrimSpace(string(data)))
	if err != nil || !at.Addr().IsLoopback() {
		return "", fmt.Errorf("%s holds no address of this machine", d.home.DoorFile())
	}
	return at.String(), nil
}

// serve serves at the door once it is open, until ctx ends.
func (d *tcpDoor) serve(ctx context.Context, serve func(net.Listener) error) error {
	select {
	case l := <-d.opened:
		return serve(l)
	case <-ctx.Done():
		return nil
	}
}

// close closes a door at which nobody serves; serving ends with closing it.
func (d *tcpDoor) close() error {
	select {
	case l := <-d.opened:
		return l.Close()
	default:
		return nil
	}
}
