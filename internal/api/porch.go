package api

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Limits of bodies that are read of callers whom nobody knows: they hold
// connections, of which there are only so many.
const (
	porchBody     = 1 << 10 // bytes; a code is some 60
	porchPatience = 3 * time.Second
	porchMost     = 16 // at once
)

// porch is where requests without a token wait for their bodies. Its zero value
// is empty. A newcomer is never turned away, for it may be the page of cw open:
// the one that has waited longest is, which the page never is.
type porch struct {
	mu      sync.Mutex
	waiting []*http.ResponseController // oldest first
}

// enter lets a request wait until leave, which must be called before it is
// answered.
func (p *porch) enter(w http.ResponseWriter) (leave func()) {
	own := http.NewResponseController(w)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == porchMost {
		_ = p.waiting[0].SetReadDeadline(time.Now()) // its reading ends
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
	p.waiting = append(p.waiting, own)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waiting = slices.DeleteFunc(p.waiting, func(one *http.ResponseController) bool { return one == own })
	}
}
