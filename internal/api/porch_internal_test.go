package api

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// waiter is an answer whose request waits for its body.
type waiter struct {
	*httptest.ResponseRecorder
	ended bool
}

// SetReadDeadline implements what http.ResponseController asks for.
func (w *waiter) SetReadDeadline(time.Time) error { w.ended = true; return nil }

// TestPorch: of too many that wait the oldest goes, never the newcomer, and who
// has left makes room.
func TestPorch(t *testing.T) {
	t.Parallel()
	var p porch
	all := make([]*waiter, porchMost+3)
	leave := make([]func(), len(all))
	enter := func(i int) {
		all[i] = &waiter{ResponseRecorder: httptest.NewRecorder()}
		leave[i] = p.enter(http.ResponseWriter(all[i]))
	}
	for i := range porchMost {
		enter(i)
	}
	leave[1]()
	enter(porchMost) // there is room
	enter(porchMost + 1)
	leave[0]() // it was turned away already
	enter(porchMost + 2)
	for i, w := range all {
		if want := i == 0 || i == 2; w.ended != want {
			t.Errorf("%d: turned away %v, want %v", i, w.ended, want)
		}
		leave[i]()
	}
	if len(p.waiting) != 0 {
		t.Errorf("%d wait", len(p.waiting))
	}
}
