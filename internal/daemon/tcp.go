package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"syscall"

	"cw/internal/api"
	"cw/internal/cw"
)

// doors are the places at which a daemon answers.
type doors struct {
	socket  *net.UnixListener
	path    string // of the socket
	tcp     *tcpDoor
	allowed api.TCP
}

// open listens at all doors, or at none.
func open(ctx context.Context, c Config, log *slog.Logger) (doors, error) {
	d := doors{allowed: api.TCP{Hosts: c.Settings.HTTP.AllowedHosts, Origins: c.Settings.HTTP.AllowedOrigins}}
	var err error
	if d.socket, d.path, err = listen(c.Home); err != nil {
		return doors{}, err
	}
	if d.tcp, err = newTCPDoor(ctx, c, log); err != nil {
		return doors{}, errors.Join(err, d.socket.Close())
	}
	return d, nil
}

// close closes doors at which nobody serves; serving ends with closing them.
func (d doors) close() error {
	return errors.Join(d.socket.Close(), d.tcp.close())
}

// listenTCP listens for dashboards, on loopback alone. CodeInvalid for an address that others could reach,
// CodeFailed when its port cannot be had.
func listenTCP(ctx context.Context, address string) (net.Listener, error) {
	if err := checkAddress(address); err != nil {
		return nil, cw.Errorf(cw.CodeInvalid, "http.address %s", quoted(address, err)).
			WithHint("dashboards on this machine reach it there; nobody else shall")
	}
	target, err := loopback(ctx, address, net.DefaultResolver.LookupNetIP)
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", target.String())
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, cw.Errorf(cw.CodeFailed, "port %d of %s is taken", target.Port(), target.Addr()).
			WithHint("lsof -nP -iTCP:%d -sTCP:LISTEN shows who has it; take another with --http or cw config set http.address", target.Port()).Because(err)
	case errors.Is(err, fs.ErrPermission):
		return nil, cw.Errorf(cw.CodeFailed, "port %d of %s may not be used", target.Port(), target.Addr()).
			WithHint("ports below 1024 are the system's; take another with --http or cw config set http.address").Because(err)
	}
	return nil, cw.Errorf(cw.CodeFailed, "cw cannot listen on %s", address).
		WithHint("take another address with --http or cw config set http.address").Because(err)
}

// loopback gives the numeric address to listen on. The name localhost is
// looked up, and must mean this machine alone.
func loopback(ctx context.Context, address string, lookUp func(context.Context, string, string) ([]netip.Addr, error)) (netip.AddrPort, error) {
	if to, err := netip.ParseAddrPort(address); err == nil {
		return to, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("read http.address: %w", err)
	}
	found, err := lookUp(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return netip.AddrPort{}, cw.Errorf(cw.CodeFailed, "%s cannot be looked up", host).
			WithHint("take 127.0.0.1:%s", port).Because(err)
	}
	best := found[0].Unmap()
	for _, ip := range found {
		if !ip.Unmap().IsLoopback() {
			return netip.AddrPort{}, cw.Errorf(cw.CodeInvalid, "%s means %s on this machine, which others could reach", host, ip).
				WithHint("take 127.0.0.1:%s", port)
		}
		if ip.Unmap().Is4() { // what most pages take
			best = ip.Unmap()
		}
	}
	return netip.ParseAddrPort(net.JoinHostPort(best.String(), port))
}
