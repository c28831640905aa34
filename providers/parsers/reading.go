package parsers

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"cw/internal/cw"
)

// Reading follows the output of one run: a splitter and a parser. It holds
// state from the run's first byte on.
type Reading struct {
	parser    Parser
	splitter  *Splitter
	events    []cw.StreamEvent // of the call that is under way
	oversized int
}

// NewReading reads a run's output with the parser.
func NewReading(p Parser) *Reading {
	r := &Reading{parser: p}
	r.splitter = NewSplitter(r.line)
	return r
}

// clocked is a parser of output without timestamps that wants to know when its
// lines were written.
type clocked interface{ clock(at time.Time) }

// FeedAt is Feed for bytes that were written at that time.
func (r *Reading) FeedAt(data []byte, at time.Time) []cw.StreamEvent {
	if p, ok := r.parser.(clocked); ok {
		p.clock(at)
	}
	return r.Feed(data)
}

// Feed takes the next bytes and gives the events of the lines that they end.
func (r *Reading) Feed(data []byte) []cw.StreamEvent {
	r.events = slices.Grow(r.events, bytes.Count(data, []byte("\n"))) // most lines are one event
	r.splitter.Feed(data)
	return r.take()
}

// planning is a parser of output that tells a list of steps change by change.
type planning interface{ recallPlan(steps []cw.PlanStep) }

// RecallPlan tells the list of steps that the CLI's session had before this run,
// before the run's output is read.
func (r *Reading) RecallPlan(steps []cw.PlanStep) {
	if p, ok := r.parser.(planning); ok {
		p.recallPlan(steps)
	}
}

// closing is a parser of output that does not say that it is over.
type closing interface{ end() []cw.StreamEvent }

// Flush gives the events of a last line without a line end, and what is known
// only when the output is over. It is for the end of the output only.
func (r *Reading) Flush() []cw.StreamEvent {
	r.splitter.Flush()
	if p, ok := r.parser.(closing); ok {
		r.events = append(r.events, p.end()...)
	}
	return r.take()
}

// Unknown is the number of lines that were not understood, oversized ones
// included.
func (r *Reading) Unknown() int { return r.parser.Unknown() + r.oversized }

func (r *Reading) line(l Line) {
	if !l.Oversized() {
		r.events = append(r.events, r.parser.Line(l.Bytes)...)
		return
	}
	r.oversized++
	r.events = append(r.events, cw.StreamEvent{
		Kind: cw.StreamWarning,
		Text: fmt.Sprintf("a line of %d bytes is too long to be read; the raw output has it whole", l.Size),
	})
}

func (r *Reading) take() []cw.StreamEvent {
	if len(r.events) == 0 {
		return nil
	}
	events := r.events
	r.events = nil // the caller keeps them
	return events
}
