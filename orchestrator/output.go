package orchestrator

import (
	"context"
	"fmt"
	"iter"
	"time"

	"cw/internal/cw"
	"cw/providers/parsers"
)

const (
	// chunkPage is how many chunks are read at once. A reader that stands still
	// holds them, and there may be many readers. At most cw.ChunksSure, so that
	// a short page is the end.
	chunkPage = 8
	// outputTick is the longest wait between two looks for new output: a bell
	// shortens it.
	outputTick = 2 * time.Second
)

// Output implements cw.LogService. It looks at the rows again and again, from
// the last chunk it gave, so there is no seam between what was stored and what
// comes live.
func (o *Orchestrator) Output(ctx context.Context, ref string, q cw.OutputQuery) iter.Seq2[cw.Chunk, error] {
	return func(yield func(cw.Chunk, error) bool) {
		agent, err := o.Store.AgentByRef(ctx, ref)
		if err != nil {
			yield(cw.Chunk{}, err)
			return
		}
		at := cw.ChunkQuery{AgentID: agent.ID, Session: q.Session, Only: q.Only && q.Session > 0, Offset: q.Offset, AfterID: q.AfterID, Limit: chunkPage}
		for {
			ring := o.bell.Next(agent.ID)
			// The status is read before the chunks: at rest means that all
			// chunks were stored before.
			resting, err := o.resting(ctx, agent.ID, q)
			if err == nil {
				var more bool
				if more, err = o.page(ctx, &at, yield); !more && err == nil {
					return
				}
			}
			if ctx.Err() != nil { // let go, in whatever it did
				return
			}
			if err != nil {
				yield(cw.Chunk{}, err)
				return
			}
			if q.Until == cw.UntilNow || q.Until == "" || resting {
				return
			}
			if !awaitRing(ctx, ring) {
				return
			}
		}
	}
}

func awaitRing(ctx context.Context, ring <-chan struct{}) bool {
	tick := time.NewTimer(outputTick)
	defer tick.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-ring:
	case <-tick.C:
	}
	return true
}

// resting tells whether reading may end because the agent, or the one session
// that is wanted, is over.
func (o *Orchestrator) resting(ctx context.Context, id cw.AgentID, q cw.OutputQuery) (bool, error) {
	if q.Until != cw.UntilRest {
		return false, nil
	}
	view, err := o.Store.AgentView(ctx, string(id))
	if err != nil {
		return false, err
	}
	if q.Only {
		for _, r := range view.Runs {
			if r.SessionNumber == q.Session {
				return r.EndedAt != nil, nil
			}
		}
	}
	return view.Status.AtRest(), nil
}

// page yields everything that is stored after at, and moves at. It returns
// false when the reader has had enough.
func (o *Orchestrator) page(ctx context.Context, at *cw.ChunkQuery, yield func(cw.Chunk, error) bool) (bool, error) {
	for {
		chunks, err := o.Store.ChunksFrom(ctx, *at)
		if err != nil {
			return false, fmt.Errorf("read output: %w", err)
		}
		for i, c := range chunks {
			chunks[i] = cw.Chunk{} // its bytes may go while the reader takes its time
			if at.AfterID == 0 && c.SessionNumber == at.Session && c.Offset < at.Offset {
				c.Bytes = c.Bytes[at.Offset-c.Offset:] // the reader asked to begin inside this chunk
				c.Offset = at.Offset
			}
			// By its place, not its id: the store need not look up where that is.
			at.AfterID, at.Session, at.Offset = 0, c.SessionNumber, c.End()
			if !yield(c, nil) {
				return false, nil
			}
		}
		if len(chunks) < chunkPage {
			return true, nil
		}
	}
}

// OutputEvents implements cw.LogService. To resume after a chunk, the parser
// reads silently from that session's first chunk, so that its state is right; far
// into a long one from a place near the chunk, as pages do.
func (o *Orchestrator) OutputEvents(ctx context.Context, ref string, q cw.OutputQuery) iter.Seq2[cw.OutputEvent, error] {
	return o.outputEvents(ctx, ref, q, outputSegment)
}

func (o *Orchestrator) outputEvents(ctx context.Context, ref string, q cw.OutputQuery, segment int64) iter.Seq2[cw.OutputEvent, error] {
	return func(yield func(cw.OutputEvent, error) bool) {
		agent, err := o.Store.AgentByRef(ctx, ref)
		if err != nil {
			yield(cw.OutputEvent{}, err)
			return
		}
		r := eventReader{o: o, agent: agent, after: q.AfterID, from: q}
		if err := r.rewind(ctx, agent.ID, &q, segment); err != nil {
			yield(cw.OutputEvent{}, err)
			return
		}
		for c, err := range o.Output(ctx, ref, q) {
			if err != nil {
				yield(cw.OutputEvent{}, err)
				return
			}
			if !r.chunk(ctx, c, yield) {
				return
			}
		}
		if ctx.Err() == nil {
			r.flush(yield)
		}
	}
}

// eventReader parses one agent's chunks in order.
type eventReader struct {
	o       *Orchestrator
	agent   cw.Agent
	after   int64          // chunks up to this id are read silently
	from    cw.OutputQuery // where the caller wants to begin
	session int
	cut     int // the session that is not read from its beginning
	reading *parsers.Reading
	last    lastChunk
	n       int // of the next event at last
}

// lastChunk is where the events that are given come from, without the bytes:
// they need not stay while the reader takes its time.
type lastChunk struct {
	id          int64
	session     int
	offset, end int64
	at          time.Time
}

// rewind turns a query that resumes after a chunk, or begins inside a session,
// into one that begins with that session, or with a line of it a segment before
// the one of the chunk when more than a page looks at is before that.
func (r *eventReader) rewind(ctx context.Context, id cw.AgentID, q *cw.OutputQuery, segment int64) error {
	q.Offset = 0
	if r.after == 0 {
		return nil
	}
	chunks, err := r.o.Store.ChunksFrom(ctx, cw.ChunkQuery{AgentID: id, AfterID: r.after - 1, Limit: 1})
	if err != nil {
		return fmt.Errorf("find the chunk to resume from: %w", err)
	}
	if len(chunks) == 0 || chunks[0].ID != r.after {
		return nil
	}
	c := chunks[0]
	q.Session, q.AfterID = c.SessionNumber, 0
	if c.Offset <= outputLooked/outputSegment*segment {
		return nil
	}
	r.cut = c.SessionNumber
	q.Offset, err = r.o.Store.LineStart(ctx, id, c.SessionNumber, (c.Offset/segment-1)*segment)
	return err
}

// chunk parses one chunk and yields its events; false: the reader has had
// enough.
func (r *eventReader) chunk(ctx context.Context, c cw.Chunk, yield func(cw.OutputEvent, error) bool) bool {
	if c.SessionNumber != r.session {
		if !r.flush(yield) {
			return false
		}
		provider, err := r.providerOf(ctx, c.SessionNumber)
		if err != nil {
			yield(cw.OutputEvent{}, err)
			return false
		}
		reading, err := r.o.newReading(provider, c.CreatedAt)
		if err != nil {
			yield(cw.OutputEvent{}, err)
			return false
		}
		r.reading, r.session = reading, c.SessionNumber
	}
	events := r.reading.FeedAt(c.Bytes, c.CreatedAt)
	r.last, r.n = lastChunk{id: c.ID, session: c.SessionNumber, offset: c.Offset, end: c.End(), at: c.CreatedAt}, 0
	return r.emit(events, yield)
}

// providerOf is whose CLI wrote a session's output: an agent may have gone on
// with another.
func (r *eventReader) providerOf(ctx context.Context, session int) (string, error) {
	view, err := r.o.Store.AgentView(ctx, string(r.agent.ID))
	if err != nil {
		return "", fmt.Errorf("look whose output it is: %w", err)
	}
	for _, run := range view.Runs {
		if run.SessionNumber == session {
			return providerOf(run, view.Agent), nil
		}
	}
	return r.agent.Provider, nil
}

// flush yields what an unfinished last line holds.
func (r *eventReader) flush(yield func(cw.OutputEvent, error) bool) bool {
	if r.reading == nil {
		return true
	}
	events := r.reading.Flush()
	r.reading = nil
	return r.emit(events, yield)
}

func (r *eventReader) emit(events []cw.StreamEvent, yield func(cw.OutputEvent, error) bool) bool {
	for i, ev := range events {
		events[i] = cw.StreamEvent{}
		position := cw.OutputPlace{Session: r.last.session, Offset: r.last.offset, N: r.n}.String()
		r.n++
		if r.silent() || ev.Kind == cw.StreamTaskBegan || ev.Kind == cw.StreamTaskEnded {
			continue
		}
		e := cw.OutputEvent{Position: position, ChunkID: r.last.id, Session: r.last.session, At: r.last.at, Event: ev}
		if !yield(known(e, r.last.session != r.cut), nil) {
			return false
		}
	}
	return true
}

func (r *eventReader) silent() bool {
	return r.last.id <= r.after ||
		r.after == 0 && r.last.session == r.from.Session && r.last.end <= r.from.Offset
}

// newReading makes a parser for a provider's output. A provider whose preset is
// gone is read line by line. Times of day that name no zone are in the local
// one, as the CLIs of this machine write them.
func (o *Orchestrator) newReading(provider string, since time.Time) (*parsers.Reading, error) {
	since = since.Local()
	preset, err := o.Presets.Get(provider)
	if err != nil {
		parser, err := parsers.New(parsers.FormatLines, parsers.Options{Since: since})
		return parsers.NewReading(parser), err
	}
	return preset.NewReading(since)
}
