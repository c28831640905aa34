package orchestrator

import (
	"context"
	"fmt"
	"slices"

	"cw/internal/cw"
)

const (
	// outputSegment is the piece of a run's output that is parsed at once, and how
	// much before it is parsed, too, so that the parser knows what is under way.
	// Pieces lie on a grid, so that every reader sees the same events with the same
	// positions. Of a run that is shorter than two of them nothing is guessed.
	outputSegment = 1 << 20
	// outputLooked bounds what one page parses, and outputCarried how much text it
	// carries, both in bytes; one piece and one event are always given.
	outputLooked  = 16 << 20
	outputCarried = 4 << 20
)

// OutputPage implements cw.LogService.
func (o *Orchestrator) OutputPage(ctx context.Context, ref string, q cw.OutputPageQuery) (cw.OutputPage, error) {
	return o.outputPage(ctx, ref, q, outputSegment)
}

func (o *Orchestrator) outputPage(ctx context.Context, ref string, q cw.OutputPageQuery, segment int64) (cw.OutputPage, error) {
	window, err := q.Window()
	if err != nil {
		return cw.OutputPage{}, err
	}
	// The runs before the output: one that is over has all of it stored.
	view, err := o.Store.AgentView(ctx, ref)
	if err != nil {
		return cw.OutputPage{}, err
	}
	sessions, err := o.Store.OutputSessions(ctx, view.ID)
	if err != nil {
		return cw.OutputPage{}, err
	}
	p := outputPager{o: o, view: view, segment: segment, sessions: sessions}
	pieces := p.pieces(window)
	page := cw.OutputPage{Items: []cw.OutputEvent{}}
	left := carry{events: window.Limit, bytes: outputCarried}
	looked, cut := int64(0), false
	for len(pieces) > 0 && !cut && (looked == 0 || looked < outputLooked && left.events > 0 && left.bytes > 0) {
		events, n, err := p.read(ctx, pieces[0], window)
		if err != nil {
			return cw.OutputPage{}, err
		}
		looked += n
		events, cut = left.take(events, window.Forward)
		if window.Forward {
			page.Items = append(page.Items, events...)
		} else {
			page.Items = slices.Concat(events, page.Items)
		}
		pieces = pieces[1:]
	}
	p.bound(&page, window, pieces, cut)
	page.Runs = cw.OutputRuns(page.Items, view.Runs)
	return page, nil
}

// carry is how much a page may still carry.
type carry struct {
	events int
	bytes  int
}

// take gives those of the events that fit, the first ones or the last ones, and
// tells whether some did not. One fits always.
func (c *carry) take(events []cw.OutputEvent, first bool) (fit []cw.OutputEvent, cut bool) {
	for n := range events {
		at := n
		if !first {
			at = len(events) - 1 - n
		}
		if c.events == 0 || c.bytes <= 0 {
			if first {
				return events[:n], true
			}
			return events[at+1:], true
		}
		c.events--
		c.bytes -= len(events[at].Event.Text) + len(events[at].Event.Input)
	}
	return events, false
}

// outputPiece is a piece of one session's output: the chunks that begin in it.
type outputPiece struct {
	session    cw.OutputSession
	start, end int64
	last       bool // of its session
}

func (p outputPiece) place() cw.OutputPlace {
	return cw.OutputPlace{Session: p.session.Number, Offset: p.start, N: -1}
}

// outputPager reads pages of one agent's output as it was at one moment.
type outputPager struct {
	o        *Orchestrator
	view     cw.AgentView
	segment  int64
	sessions []cw.OutputSession
}

// pieces lists those in which a window may find something, in the order in which
// they are to be looked at.
func (p outputPager) pieces(w cw.OutputWindow) []outputPiece {
	var out []outputPiece
	for _, s := range p.sessions {
		for start := int64(0); start <= s.LastOffset; start += p.segment {
			piece := outputPiece{session: s, start: start, end: start + p.segment, last: start+p.segment > s.LastOffset}
			after := cw.OutputPlace{Session: s.Number, Offset: piece.end, N: -1}
			behind := w.Bounded && w.Forward && (s.Number < w.Place.Session || !piece.last && after.Compare(w.Place) <= 0)
			beyond := w.Bounded && !w.Forward && piece.place().Compare(w.Place) >= 0
			if !behind && !beyond {
				out = append(out, piece)
			}
		}
	}
	if !w.Forward {
		slices.Reverse(out)
	}
	return out
}

// read parses a piece and gives its events that the window selects, and how many
// bytes it looked at.
func (p outputPager) read(ctx context.Context, piece outputPiece, w cw.OutputWindow) (events []cw.OutputEvent, looked int64, err error) {
	from := int64(0)
	if before := piece.start - p.segment; before > 0 {
		if from, err = p.o.Store.LineStart(ctx, p.view.ID, piece.session.Number, before); err != nil {
			return nil, 0, err
		}
	}
	r := eventReader{o: p.o, agent: p.view.Agent}
	keep := func(e cw.OutputEvent, failed error) bool {
		if failed != nil {
			err = failed
			return false
		}
		if at, _ := cw.ParseOutputPlace(e.Position); r.last.offset >= piece.start && w.Selects(at, e.Event) {
			events = append(events, known(e, from == 0))
		}
		return true
	}
	q := cw.ChunkQuery{AgentID: p.view.ID, Session: piece.session.Number, Only: true, Offset: from, Limit: chunkPage}
	end := min(piece.end, piece.session.End)
	for q.Offset < end && err == nil {
		chunks, readErr := p.o.Store.ChunksFrom(ctx, q)
		if readErr != nil {
			return nil, 0, fmt.Errorf("read output: %w", readErr)
		}
		if len(chunks) == 0 {
			break
		}
		for _, c := range chunks {
			if c.Offset >= end || !r.chunk(ctx, c, keep) {
				break
			}
		}
		q.Offset = chunks[len(chunks)-1].End()
	}
	if piece.last && p.over(piece.session) && err == nil {
		r.flush(keep)
	}
	return events, end - from, err
}

// known takes from an event what its parser cannot have known that did not read
// the run from its beginning: sums.
func known(e cw.OutputEvent, whole bool) cw.OutputEvent {
	if !whole && e.Event.Kind == cw.StreamResult {
		e.Event.CostUSD, e.Event.Usage, e.Event.Turns = 0, nil, 0
	}
	return e
}

// over tells whether nothing comes after what is stored of a session.
func (p outputPager) over(s cw.OutputSession) bool {
	if s.Number != p.sessions[len(p.sessions)-1].Number {
		return true
	}
	return slices.ContainsFunc(p.view.Runs, func(r cw.Run) bool { return r.SessionNumber == s.Number && r.EndedAt != nil })
}

// bound says where a page begins and ends. rest are the pieces that were not
// looked at; cut: of the last one that was, some events did not fit.
func (p outputPager) bound(page *cw.OutputPage, w cw.OutputWindow, rest []outputPiece, cut bool) {
	if len(p.sessions) == 0 {
		return
	}
	first, last := "", ""
	if len(page.Items) > 0 {
		first, last = page.Items[0].Position, page.Items[len(page.Items)-1].Position
	}
	newest := p.sessions[len(p.sessions)-1]
	switch {
	case w.Forward:
		page.Older, page.Newer = orDefault(first, w.Place.String()), orDefault(last, w.Place.String())
		switch {
		case len(rest) > 0 && !cut:
			page.Newer = rest[0].place().String()
		case len(rest) == 0 && !cut:
			page.Stream = newest.LastID
		}
		return
	case !w.Bounded:
		page.Stream = newest.LastID
		page.Newer = orDefault(last, cw.OutputPlace{Session: newest.Number, Offset: newest.LastOffset, N: -1}.String())
	default:
		page.Newer = orDefault(last, w.Place.String())
	}
	switch {
	case cut:
		page.Older = first
	case len(rest) > 0:
		page.Older = cw.OutputPlace{Session: rest[0].session.Number, Offset: rest[0].end, N: -1}.String()
	}
}
