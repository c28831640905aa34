package api

import (
	"cmp"
	"context"
	"iter"
	"net/http"

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
	Until       string `query:"until" enum:"now,rest,closed" doc:"now: what is stored; rest: until the agent is at rest, and the default; closed: for ever"`
	Follow      string `query:"follow" enum:"true,false" doc:"as for events: true is until=closed, false is until=now"`
	LastEventID string `header:"Last-Event-ID" doc:"go on after this chunk; wins over session and offset"`
}

func (in *agentOutput) query() (cw.OutputQuery, error) {
	after, err := lastEventID(in.LastEventID)
	if err == nil && in.Offset > 0 && in.Session == 0 && after == 0 {
		err = cw.Errorf(cw.CodeInvalid, "an offset counts the bytes of one session, and none is named").
			WithHint("give session as well, or leave out offset")
	}
	if err == nil && in.Until != "" && in.Follow != "" {
		err = cw.Errorf(cw.CodeInvalid, "until and follow both say when the stream ends").WithHint("leave out follow")
	}
	return cw.OutputQuery{
		Session: in.Session, Only: in.Only, Offset: in.Offset,
		AfterID: after, Until: in.until(),
	}, err
}

// until says when the stream ends. Without a word it is live: whoever wants
// what is stored alone says so.
func (in *agentOutput) until() cw.OutputUntil {
	switch {
	case in.Until != "":
		return cw.OutputUntil(in.Until)
	case in.Follow == "true":
		return cw.UntilClosed
	case in.Follow == "false":
		return cw.UntilNow
	}
	return cw.UntilRest
}

type agentOutputPage struct {
	ID       string `path:"id" doc:"name or id"`
	Before   string `query:"before" doc:"a place (position of an event, older of a page, number of a run): the last events before it. Without before and after: the last of all"`
	After    string `query:"after" doc:"a place: the first events after it"`
	Limit    int    `query:"limit" doc:"the greatest number of events, up to 1000; 0 stands for 200"`
	Contains string `query:"contains" doc:"only events with this text in them, in any case"`
}

func (in *agentOutputPage) query() cw.OutputPageQuery {
	return cw.OutputPageQuery{Before: in.Before, After: in.After, Limit: in.Limit, Contains: in.Contains}
}

func registerOutput(s *Server) {
	services := s.opts.Services
	handle(s, "get-agent-output-page", func(ctx context.Context, in *agentOutputPage) (cw.OutputPage, error) {
		page, err := services.OutputPage(ctx, in.ID, in.query())
		page.Items, page.Runs = orEmpty(page.Items), orEmpty(page.Runs)
		return page, err
	})
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
		last, seen := cw.OutputPlace{}, false
		return func(e cw.OutputEvent) bool {
			p, err := cw.ParseOutputPlace(e.Position)
			if err != nil { // of a newer daemon: better twice than not at all
				return true
			}
			if seen && last.Compare(p) >= 0 {
				return false
			}
			last, seen = p, true
			return true
		}
	}
	return follow(ctx, c, outputStream(ref, formatEvents, q), fresh)
}

// OutputPage implements cw.LogService.
func (c *Client) OutputPage(ctx context.Context, ref string, q cw.OutputPageQuery) (cw.OutputPage, error) {
	params := query{}
	params.text("before", q.Before)
	params.text("after", q.After)
	params.number("limit", int64(q.Limit))
	params.text("contains", q.Contains)
	return call[cw.OutputPage](ctx, c, request{method: http.MethodGet, path: agentPath(ref) + "/output/page", query: params})
}

func outputStream(ref, format string, q cw.OutputQuery) streamRequest {
	params := query{}
	params.text("format", format)
	params.number("session", int64(q.Session))
	params.flag("only", q.Only)
	params.number("offset", q.Offset)
	params.text("until", string(cmp.Or(q.Until, cw.UntilNow)))
	return streamRequest{path: agentPath(ref) + "/output", query: params, after: q.AfterID}
}
