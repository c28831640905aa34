package environment

import (
	"net"
	"slices"
	"testing"

	"cw/internal/cw"
)

// TestPorts: they are in a row, free and not taken, wherever the search begins.
func TestPorts(t *testing.T) {
	t.Parallel()
	always, never := func(int) bool { return true }, func(int) bool { return false }
	but := func(ports ...int) func(int) bool { return func(p int) bool { return !slices.Contains(ports, p) } }
	only := func(ports ...int) func(int) bool { return func(p int) bool { return slices.Contains(ports, p) } }
	tests := []struct {
		name        string
		start, n    int
		taken, free func(int) bool
		first       int // 0: none
	}{
		{"the first ones", PortFirst, 3, never, always, PortFirst},
		{"in the middle", 25000, 2, never, always, 25000},
		{"behind one in use", 25000, 2, never, but(25001), 25002},
		{"behind those of another worktree", 25000, 2, only(25000, 25001), always, 25002},
		{"not around the end", PortLast, 2, never, always, PortFirst},
		{"the last one", PortLast, 1, never, always, PortLast},
		{"across the start", 25000, 3, never, only(24999, 25000, 25001), 24999},
		{"only at the end", 25000, 2, never, only(PortLast-1, PortLast), PortLast - 1},
		{"no two in a row", 25000, 2, never, only(20001, 20003, PortLast, PortFirst-1), 0},
		{"none", 25000, 1, always, always, 0},
	}
	for _, tt := range tests {
		got, err := portsFrom(tt.start, tt.n, tt.taken, tt.free)
		if tt.first == 0 {
			if cw.ErrorCode(err) != cw.CodeFailed {
				t.Errorf("%s: %v %v", tt.name, got, err)
			}
			continue
		}
		want := make([]int, tt.n)
		for i := range want {
			want[i] = tt.first + i
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v, want %v", tt.name, got, err, want)
		}
	}
}

// TestPortsReallyFree: a port on which something listens is not given, and one
// that is given can be listened on.
func TestPortsReallyFree(t *testing.T) {
	t.Parallel()
	got, err := Ports(2, func(int) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range got {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if free(port) {
			t.Errorf("%d counts as free though something listens on it", port)
		}
	}
}
