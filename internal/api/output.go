package api

import (
	"context"
	"fmt"
	"iter"

	"cw/internal/cw"
)

// The forms of an agent's output.
const (
	formatRaw    = "raw"    // chunks as they are stored
	formatEvents = "events" // what the CLI's lines mean
)

type agentOutput struct {
	ID          string `path:"id" doc:"name or id"`
	Format      string `query:"format" enum:"raw,events" default:"raw" doc:"raw: chunks; events: parsed"`
	Session     int    `query:"session" minimum:"0" doc:"from this session on; 0: from the first"`
	Only        bool   `query:"only" doc:"only that session"`
	Offset      int64  `query:"offset" minimum:"0" doc:"from this byte of the named session on"`
	Until       string `query:"until" enum:"now,rest,closed" default:"now" doc:"now: what is stored; rest: until the agent is at rest; closed: for ever"`
	LastEventID string `header:"Last-Event-ID" doc:"go on after this chunk; wins over session and offset"`
}

func (in *agentOutput) query() (cw.OutputQuery, error) {
	after, err := lastEventID(in.LastEventID)
	if err == nil && in.Offset > 0 && in.Session == 0 && after == 0 {
		err = cw.Errorf(cw.CodeInvalid, "an offset counts the bytes of one session, and none is named").
			WithHint("give session as well, or leave out offset")
	}
	return cw.OutputQuery{
		Session: in.Session, Only: in.Only, Offset: in.Offset,
		AfterID: after, Until: cw.OutputUntil(in.Until),
	}, err
}

func registerOutput(s *Server) {
	services := s.opts.Services
	handleStream(s, "get-agent-output", func(ctx context.Context, in *agentOutput) (frames, error) {
		q, err := in.query()
		if err != nil {
			return nil, err
		}
		if in.Format == formatEvents {
			return markChunks(services.OutputEvents(ctx, in.ID, q)), nil
		}
		return chunkFrames(services.Output(ctx, in.ID, q)), nil
	})
}

// chunkFrames sends each chunk with its number as the id.
func chunkFrames(chunks iter.Seq2[cw.Chunk, error]) frames {
	return func(yield func(frame, error) bool) {
		for c, err := range chunks {
			if !yield(frame{id: c.ID, data: c}, err) {
				return
			}
		}
	}
}

// markChunks sends events without an id, and a mark with the number of a chunk
// once the events of the next one begin: only then it is known that all of the
// chunk was sent, and to wait for that would hold back what happens now. Who
// comes back after a mark may see the events of the open chunk again, and knows
// them by their position.
func markChunks(events iter.Seq2[cw.OutputEvent, error]) frames {
	return func(yield func(frame, error) bool) {
		var open int64
		for e, err := range events {
			if err != nil {
				yield(frame{}, err)
				return
			}
			if open != 0 && e.ChunkID != open && !yield(frame{id: open, name: frameMark, data: nothing{}}, nil) {
				return
			}
			open = e.ChunkID
			if !yield(frame{data: e}, nil) {
				return
			}
		}
	}
}

// Output implements cw.LogService. It goes on by itself across a restart of
// the daemon.
func (c *Client) Output(ctx context.Context, ref string, q cw.OutputQuery) iter.Seq2[cw.Chunk, error] {
	fresh := func() func(cw.Chunk) bool {
		last := q.AfterID
		return func(c cw.Chunk) bool {
			if c.ID <= last {
				return false
			}
			last = c.ID
			return true
		}
	}
	return follow(ctx, c, outputStream(ref, formatRaw, q), fresh)
}

// OutputEvents implements cw.LogService. It goes on by itself across a restart
// of the daemon.
func (c *Client) OutputEvents(ctx context.Context, ref string, q cw.OutputQuery) iter.Seq2[cw.OutputEvent, error] {
	fresh := func() func(cw.OutputEvent) bool {
		last, seen := position{}, false
		return func(e cw.OutputEvent) bool {
			p, err := parsePosition(e.Position)
			if err != nil { // of a newer daemon: better twice than not at all
				return true
			}
			if seen && !last.before(p) {
				return false
			}
			last, seen = p, true
			return true
		}
	}
	return follow(ctx, c, outputStream(ref, formatEvents, q), fresh)
}

func outputStream(ref, format string, q cw.OutputQuery) streamRequest {
	params := query{}
	params.text("format", format)
	params.number("session", int64(q.Session))
	params.flag("only", q.Only)
	params.number("offset", q.Offset)
	params.text("until", string(q.Until))
	return streamRequest{path: agentPath(ref) + "/output", query: params, after: q.AfterID}
}

// position is the place of an output event: session, byte offset, number of
// the event there.
type position struct{ session, offset, n int64 }

func parsePosition(s string) (position, error) {
	var p position
	var rest string
	if n, _ := fmt.Sscanf(s, "%d:%d:%d%s", &p.session, &p.offset, &p.n, &rest); n != 3 {
		return position{}, fmt.Errorf("%q is no position", s)
	}
	return p, nil
}

func (p position) before(q position) bool {
	if p.session != q.session {
		return p.session < q.session
	}
	if p.offset != q.offset {
		return p.offset < q.offset
	}
	return p.n < q.n
}
