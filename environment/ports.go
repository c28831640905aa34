package environment

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"

	"cw/internal/cw"
)

// Ports of worktrees lie below those that systems give to outgoing connections
// (from 32768 on Linux), so that no such connection takes one of them.
const (
	PortFirst = 20000
	PortLast  = 31999
)

// Ports gives count free ports in a row, between PortFirst and PortLast, none of
// them taken. Free means that nothing on this machine listens on it at this
// moment. The search begins anywhere, so that two that do not know of each other
// rarely meet. CodeFailed when there are none.
func Ports(count int, taken func(port int) bool) ([]int, error) {
	return portsFrom(PortFirst+rand.IntN(PortLast-PortFirst+1), count, taken, free)
}

// portsFrom is Ports that begins at a port, and asks whether one is free.
func portsFrom(start, count int, taken, free func(port int) bool) ([]int, error) {
	const all = PortLast - PortFirst + 1
	ports := make([]int, 0, count)
	// Behind the last port the search goes on with the first, and one round more
	// than all finds a row that lies across the start.
	for i := 0; i < all+count && len(ports) < count; i++ {
		port := PortFirst + (start-PortFirst+i)%all
		if port == PortFirst {
			ports = ports[:0] // a row does not go around
		}
		if taken(port) || !free(port) {
			ports = ports[:0]
			continue
		}
		ports = append(ports, port)
	}
	if len(ports) < count {
		return nil, cw.Errorf(cw.CodeFailed, "there are no %d free ports in a row between %d and %d", count, PortFirst, PortLast).
			WithHint("remove agents that are done: cw agent remove")
	}
	return ports, nil
}

// free tells whether nothing listens on a port, for the loopback of both kinds
// of addresses. One that a machine does not have is no hindrance.
func free(port int) bool {
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		switch {
		case err == nil:
			_ = l.Close()
		case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT):
		default:
			return false
		}
	}
	return true
}
