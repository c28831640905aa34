package api

import (
	"context"
	"iter"
	"net/http"
	"time"

	"cw/internal/cw"
)

type listEvents struct {
	Since       int64    `query:"since" minimum:"0" doc:"events with a greater number; 0: from the first kept"`
	Tail        bool     `query:"tail" doc:"ignore since, begin with what comes next"`
	Type        []string `query:"type" doc:"only these types, separated by commas; none: all but agent:output and agent:activity"`
	Also        []string `query:"also" doc:"these types, too, beside all others or those of type: also=agent:activity"`
	Agent       string   `query:"agent" doc:"only about this agent (name or id)"`
	Initiative  string   `query:"initiative" doc:"only of this initiative (id or slug)"`
	Follow      bool     `query:"follow" doc:"stay and tell what happens"`
	LastEventID string   `header:"Last-Event-ID" doc:"the same as since, and wins over it and tail"`
}

func (in *listEvents) query() (cw.EventQuery, error) {
	q := cw.EventQuery{After: in.Since, Tail: in.Tail, Agent: in.Agent, Initiative: in.Initiative, Follow: in.Follow, Marks: true}
	for _, t := range in.Type {
		q.Types = append(q.Types, cw.EventType(t))
	}
	for _, t := range in.Also {
		q.Also = append(q.Also, cw.EventType(t))
	}
	if in.LastEventID == "" {
		return q, nil
	}
	var err error
	q.After, err = lastEventID(in.LastEventID)
	q.Tail = false
	return q, err
}

type listEventLog struct {
	Before     int64    `query:"before" doc:"events with a smaller number: older of the page before; 0: from the newest on"`
	After      int64    `query:"after" doc:"only events with a greater number"`
	Since      string   `query:"since" doc:"only events that happened then or later, as RFC 3339"`
	Limit      int      `query:"limit" doc:"the greatest number of items on the page; 0 stands for 100"`
	Type       []string `query:"type" doc:"only these types, separated by commas"`
	Agent      string   `query:"agent" doc:"only about this agent (name or id)"`
	Initiative string   `query:"initiative" doc:"only of this initiative (id or slug)"`
}

func (in *listEventLog) query() (q cw.EventLogQuery, err error) {
	q = cw.EventLogQuery{Before: in.Before, After: in.After, Limit: in.Limit, Agent: in.Agent, Initiative: in.Initiative}
	for _, t := range in.Type {
		q.Types = append(q.Types, cw.EventType(t))
	}
	q.Since, err = timeParam("since", in.Since)
	return q, err
}

func registerEvents(s *Server) {
	handle(s, "list-event-log", func(ctx context.Context, in *listEventLog) (cw.EventLog, error) {
		q, err := in.query()
		if err != nil {
			return cw.EventLog{}, err
		}
		log, err := s.opts.Services.EventLog(ctx, q)
		log.Items = orEmpty(log.Items)
		return log, err
	})
	handleStream(s, "get-events", func(ctx context.Context, in *listEvents) (frames, error) {
		q, err := in.query()
		if err != nil {
			return nil, err
		}
		return eventFrames(s.opts.Services.Events(ctx, q)), nil
	})
}

// eventFrames sends each event with its number as the id. Live events have no
// number and so no id.
func eventFrames(events iter.Seq2[cw.Event, error]) frames {
	return func(yield func(frame, error) bool) {
		for e, err := range events {
			f := frame{id: e.Seq, data: e}
			if err == nil && e.IsMark() {
				f.name, f.data = frameMark, nothing{}
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// EventLog implements cw.EventService.
func (c *Client) EventLog(ctx context.Context, q cw.EventLogQuery) (cw.EventLog, error) {
	params := query{}
	params.number("before", q.Before)
	params.number("after", q.After)
	if q.Since != nil {
		params.text("since", q.Since.UTC().Format(time.RFC3339Nano))
	}
	params.number("limit", int64(q.Limit))
	params.list("type", texts(q.Types))
	params.text("agent", q.Agent)
	params.text("initiative", q.Initiative)
	return call[cw.EventLog](ctx, c, request{method: http.MethodGet, path: "/v1/events/log", query: params})
}

// Events implements cw.EventService. It goes on by itself across a restart of
// the daemon; live events are not kept, so those of the gap are not seen. A
// Tail goes on where the daemon said that it began.
func (c *Client) Events(ctx context.Context, q cw.EventQuery) iter.Seq2[cw.Event, error] {
	params := query{}
	params.list("type", texts(q.Types))
	params.list("also", texts(q.Also))
	params.text("agent", q.Agent)
	params.text("initiative", q.Initiative)
	params.flag("follow", q.Follow)
	params.flag("tail", q.Tail)
	after := q.After
	if q.Tail {
		after = 0
	}
	fresh := func() func(cw.Event) bool {
		last := after
		return func(e cw.Event) bool {
			if e.Seq != 0 && e.Seq <= last {
				return false
			}
			last = max(last, e.Seq)
			return true
		}
	}
	return follow(ctx, c, streamRequest{path: "/v1/events", query: params, after: after}, fresh)
}
