package api

import (
	"net/http"
	"time"
)

// answer is a ResponseWriter that knows whether anything was sent, and what
// every answer has.
type answer struct {
	http.ResponseWriter
	stall    time.Duration // without progress, after which the reader is cut
	started  bool
	status   int               // what was sent; 0: nothing yet
	bodyLeft bool              // the request has a body that was not read to its end
	last     bool              // nothing more is taken from this connection
	dress    func(http.Header) // sets the headers that every answer of its kind has; nil: secure
}

// WriteHeader sends the status. What the handler wrote does not weaken the
// headers that every answer has.
func (a *answer) WriteHeader(status int) {
	switch status {
	case http.StatusUnauthorized:
		a.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests:
		a.last = true // who has too much open already does not keep this one too
	}
	a.begin(status)
	a.ResponseWriter.WriteHeader(status)
}

// Write sends a piece of the body, under a deadline that progress renews: a
// reader that stands still does not hold its connection for ever.
func (a *answer) Write(p []byte) (int, error) {
	a.begin(http.StatusOK)
	ctl := http.NewResponseController(a.ResponseWriter)
	written := 0
	for {
		_ = ctl.SetWriteDeadline(time.Now().Add(a.stall))
		n, err := a.ResponseWriter.Write(p[written:min(written+writePiece, len(p))])
		if written += n; err != nil || written == len(p) {
			return written, err
		}
	}
}

func (a *answer) begin(status int) {
	if a.started {
		return
	}
	a.started, a.status = true, status
	if a.dress == nil {
		a.dress = secure
	}
	a.dress(a.Header())
	if a.last || a.bodyLeft {
		a.Header().Set("Connection", "close")
	}
}

// hangUp ends a connection whose body was left unread: net/http would read and
// throw away up to 256 KiB of it after the answer, for as long as it takes to
// come, and hold the connection until then.
func (a *answer) hangUp() {
	if a.bodyLeft {
		_ = http.NewResponseController(a.ResponseWriter).SetReadDeadline(time.Now())
	}
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// secure sets the headers of every answer. The daemon serves data to programs:
// nothing of it may be run, framed, guessed at, kept or embedded by a page.
func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
