package live

import (
	"slices"
	"strings"

	"cw/internal/cw"
)

const (
	// windowMost bounds what is held of one agent's output, by weight.
	windowMost = 1 << 20
	// wordsMost is how much an agent says in one piece, in bytes.
	wordsMost = 4 << 10
	// lineWeight is what a line weighs beside its text: drawing it has its price.
	lineWeight = 200
)

// piece is an event that is seen, or words that follow each other.
type piece struct {
	event cw.OutputEvent
	last  string // position of its end
}

// weight is what a piece counts for, of windowMost.
func (p piece) weight() int {
	e := p.event.Event
	return len(e.Text) + len(e.Input) + lineWeight*(1+strings.Count(e.Text, "\n"))
}

// goesOn tells whether an event's words belong to the same piece.
func (p piece) goesOn(e cw.OutputEvent) bool {
	a := p.event
	return a.Event.Kind == cw.StreamText && e.Event.Kind == cw.StreamText && a.Session == e.Session &&
		a.Event.ParentToolUseID == e.Event.ParentToolUseID && len(a.Event.Text) < wordsMost
}

// window is a bounded part of an agent's output. What it forgets is read again
// when it is wanted.
type window struct {
	fresh  func() func(cw.OutputEvent) []string // makes what makes lines, from the beginning
	render func(cw.OutputEvent) []string        // goes on after the last piece

	pieces []piece
	weight int
	older  string // where an older page ends; "": there is none
	newer  string // where a newer page begins
}

// clear forgets everything.
func (w *window) clear() { *w = window{fresh: w.fresh, render: w.fresh()} }

// add takes events behind all others, and gives their lines. What shows nothing is
// not held; one that is held already is passed over.
func (w *window) add(events []cw.OutputEvent) (lines []string) {
	for _, e := range events {
		if w.newer != "" && compare(e.Position, w.newer) <= 0 {
			continue
		}
		w.newer = e.Position
		shown := w.render(e)
		lines = append(lines, shown...)
		if len(shown) > 0 || e.Event.Kind == cw.StreamText {
			w.weight += join(&w.pieces, e)
		}
	}
	return lines
}

// put takes a page before all others.
func (w *window) put(page cw.OutputPage) {
	older := window{fresh: w.fresh}
	older.clear()
	older.add(page.Items)
	w.pieces = append(older.pieces, w.pieces...)
	w.weight += older.weight
	w.older = page.Older
}

// lines gives all lines anew, as if nothing had been before.
func (w *window) lines() (out []string) {
	w.render = w.fresh()
	for _, p := range w.pieces {
		out = append(out, w.render(p.event)...)
	}
	return out
}

// full tells whether something must go.
func (w *window) full() bool { return w.weight > windowMost && len(w.pieces) > 1 }

// forgetOldest forgets what is oldest until a quarter is free.
func (w *window) forgetOldest() {
	n := 0
	for ; w.weight > windowMost*3/4 && n < len(w.pieces)-1; n++ {
		w.weight -= w.pieces[n].weight()
	}
	w.pieces = slices.Clone(w.pieces[n:])
	w.older = w.pieces[0].event.Position
}

// forgetNewest forgets what is newest until a quarter is free.
func (w *window) forgetNewest() {
	n := len(w.pieces)
	for ; w.weight > windowMost*3/4 && n > 1; n-- {
		w.weight -= w.pieces[n-1].weight()
	}
	w.pieces = slices.Clone(w.pieces[:n])
	w.newer = w.pieces[n-1].last
}

// join adds an event to pieces and gives the weight of it.
func join(pieces *[]piece, e cw.OutputEvent) int {
	p := piece{e, e.Position}
	if n := len(*pieces); n > 0 && (*pieces)[n-1].goesOn(e) {
		last := &(*pieces)[n-1]
		last.event.Event.Text += e.Event.Text
		last.last = e.Position
		return p.weight() - lineWeight
	}
	*pieces = append(*pieces, p)
	return p.weight()
}

// compare puts two places in the order of the output. Those of a newer daemon are
// taken as they come.
func compare(a, b string) int {
	p, err1 := cw.ParseOutputPlace(a)
	q, err2 := cw.ParseOutputPlace(b)
	if err1 != nil || err2 != nil {
		return 1
	}
	return p.Compare(q)
}
