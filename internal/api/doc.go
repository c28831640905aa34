// Package api is the program's HTTP face: the server on the daemon's socket
// with its gate, its JSON routes and its event streams, and the Go client that
// gives the command line the very same service interfaces.
//
// A resource has one file with its handlers above and its client below, so
// that both ends of the wire are read together. What a caller may do stands in
// one table (routes.go); who may come in at all is decided before any handler
// runs, on the socket by the kernel's word (gate.go), over TCP by the host, the
// page and the token, in this order (tcp.go, pages.go); every error leaves in
// one form (errors.go).
//
// It speaks the service interfaces of package cw and must not know what is
// behind them: no database, no git, no processes.
//
// # Streams
//
// The services are pull iterators that neither lose nor repeat, so one
// connection is one iterator: a slow reader holds up its own iterator and
// nobody else. The server side is github.com/r3labs/sse with one stream per
// connection, because one stream shared by all readers stands still when a
// single one of them does (measured), without its AutoReplay, which replaces
// the ids, and with care for its other habits, named in sse.go.
//
// The client side reads by itself. r3labs' client was measured and does not
// do: it never delivers an event over 64 KiB by default, takes a clean end of
// the connection for the end of the stream, repeats requests refused with 4xx,
// and gives up after its back-off's longest time.
package api
