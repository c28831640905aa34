package servicetest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// Output implements cw.LogService.
func (m *Memory) Output(ctx context.Context, ref string, q cw.OutputQuery) iter.Seq2[cw.Chunk, error] {
	return func(yield func(cw.Chunk, error) bool) {
		defer m.reading()()
		sent := q.AfterID
		for {
			batch, over, changed, err := m.output(ref, q, sent)
			if err != nil {
				yield(cw.Chunk{}, err)
				return
			}
			for _, c := range batch {
				if ctx.Err() != nil || !yield(c, nil) {
					return
				}
				sent = c.ID
			}
			if over {
				return
			}
			if err := wait(ctx, changed); err != nil {
				yield(cw.Chunk{}, err)
				return
			}
		}
	}
}

// output gives the chunks after one, whether they are the last, and what to
// wait for otherwise.
func (m *Memory) output(ref string, q cw.OutputQuery, after int64) (batch []cw.Chunk, over bool, changed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(ref)
	if err != nil {
		return nil, true, nil, err
	}
	for _, c := range m.chunks {
		if c.AgentID != a.ID || c.ID <= after || q.Only && q.Session != 0 && c.SessionNumber != q.Session {
			continue
		}
		if q.AfterID == 0 && (c.SessionNumber < q.Session || c.SessionNumber == q.Session && c.End() <= q.Offset) {
			continue
		}
		batch = append(batch, c)
	}
	over = q.Until == "" || q.Until == cw.UntilNow || q.Until == cw.UntilRest && a.Status.AtRest()
	return batch, over, m.changed, nil
}

// OutputEvents implements cw.LogService: each line is a text event of the
// chunk in which it ends. A line may begin in an earlier chunk, so reading
// always starts at the first chunk and leaves out what was not asked for.
func (m *Memory) OutputEvents(ctx context.Context, ref string, q cw.OutputQuery) iter.Seq2[cw.OutputEvent, error] {
	return func(yield func(cw.OutputEvent, error) bool) {
		defer m.reading()()
		torn, start := map[int]string{}, map[int]int64{}
		all := cw.OutputQuery{Until: q.Until}
		for c, err := range m.Output(ctx, ref, all) {
			if err != nil {
				yield(cw.OutputEvent{}, err)
				return
			}
			for n, e := range lines(c, torn, start) {
				e.Position = fmt.Sprintf("%s:%d", e.Position, n)
				if wanted(e, c, q) && !yield(e, nil) {
					return
				}
			}
		}
	}
}

func wanted(e cw.OutputEvent, c cw.Chunk, q cw.OutputQuery) bool {
	switch {
	case q.Only && q.Session != 0 && e.Session != q.Session:
		return false
	case q.AfterID != 0:
		return e.ChunkID > q.AfterID
	}
	return e.Session > q.Session || e.Session == q.Session && c.End() > q.Offset
}

// lines takes the whole lines out of a chunk and what was torn before it. The
// position is <session>:<offset of the line>, yet without the number.
func lines(c cw.Chunk, torn map[int]string, start map[int]int64) []cw.OutputEvent {
	s := c.SessionNumber
	text := torn[s] + string(c.Bytes)
	var out []cw.OutputEvent
	for {
		line, rest, whole := strings.Cut(text, "\n")
		if !whole {
			torn[s] = text
			return out
		}
		out = append(out, cw.OutputEvent{
			Position: fmt.Sprintf("%d:%d", s, start[s]), ChunkID: c.ID, Session: s, At: c.CreatedAt,
			// Only chunks hold bytes as they were written.
			Event: cw.StreamEvent{Kind: cw.StreamText, Text: strings.ToValidUTF8(line, "\ufffd")},
		})
		start[s] += int64(len(line)) + 1
		text = rest
	}
}

// Events implements cw.EventService. A mark comes wherever the reader has
// caught up.
func (m *Memory) Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error] {
	return func(yield func(cw.Event, error) bool) {
		defer m.reading()()
		at, err := m.startEvents(q)
		if err != nil {
			yield(cw.Event{}, err)
			return
		}
		for {
			m.mu.Lock()
			batch, changed := slices.Clone(m.events), m.changed
			m.mu.Unlock()
			for _, e := range batch {
				if at.passed(e, q.Follow) && at.filter.Matches(e) && !at.give(e, yield) {
					return
				}
			}
			if q.Marks && at.seq > at.known && !at.give(cw.EventMark(at.seq), yield) || !q.Follow {
				return
			}
			if err := wait(ctx, changed); err != nil {
				yield(cw.Event{}, err)
				return
			}
		}
	}
}

// EventLog implements cw.EventService.
func (m *Memory) EventLog(_ context.Context, q cw.EventLogQuery) (cw.EventLog, error) {
	limit, err := q.Check()
	if err != nil {
		return cw.EventLog{}, err
	}
	at, err := m.startEvents(cw.EventQuery{Types: q.Types, Agent: q.Agent, Initiative: q.Initiative, Tail: true})
	if err != nil {
		return cw.EventLog{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []cw.Event
	for _, e := range slices.Backward(m.events) {
		if e.Seq > q.After && (q.Before == 0 || e.Seq < q.Before) && (q.Since == nil || !e.At.Before(*q.Since)) && at.filter.Matches(e) {
			out = append(out, e)
		}
	}
	return cw.CutEventLog(out, limit), nil
}

// eventPlace is how far a reader of events is.
type eventPlace struct {
	filter cw.EventFilter
	seq    int64     // of stored events
	known  int64     // the last number that the reader has; -1: none
	live   time.Time // of the last live event
}

// passed moves on to e, and tells whether it is new.
func (p *eventPlace) passed(e cw.Event, live bool) bool {
	switch {
	case e.Seq > p.seq:
		p.seq = e.Seq
		return true
	case e.Seq == 0 && e.At.After(p.live):
		p.live = e.At
		return live
	}
	return false
}

func (p *eventPlace) give(e cw.Event, yield func(cw.Event, error) bool) bool {
	p.known = max(p.known, e.Seq)
	return yield(e, nil)
}

func (m *Memory) startEvents(q cw.EventQuery) (eventPlace, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := eventPlace{filter: cw.EventFilter{Types: q.Types, Also: q.Also, Initiative: q.Initiative}, seq: q.After, known: q.After}
	if len(m.events) > 0 {
		at.live = m.events[len(m.events)-1].At
	}
	if err := q.Check(); err != nil {
		return at, err
	}
	if q.Agent != "" {
		a, err := m.find(q.Agent)
		if err != nil {
			return at, err
		}
		at.filter.Agent = a.ID
	}
	if q.Initiative != "" {
		i, err := m.plans.initiative(q.Initiative)
		if err != nil && !cw.IsID(q.Initiative) {
			return at, err
		}
		at.filter.Initiative = cmp.Or(string(i.ID), q.Initiative)
	}
	switch {
	case q.Tail:
		at.seq, at.known = m.lastSeq, -1
	case q.After > m.lastSeq:
		return at, cw.ErrEventsAhead(q.After, m.lastSeq)
	case q.After > 0 && q.After < m.keptFrom-1:
		return at, cw.ErrEventsGone(m.keptFrom)
	}
	return at, nil
}

// reading counts an iterator; the function it gives ends the count.
func (m *Memory) reading() func() {
	m.readers.Add(1)
	return func() { m.readers.Add(-1) }
}

func wait(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
		return nil
	}
}
