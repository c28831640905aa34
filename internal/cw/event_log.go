package cw

import (
	"cmp"
	"time"
)

// EventLogQuery selects one page of the stored events, the newest first.
type EventLogQuery struct {
	Before     int64       `json:"before,omitempty"` // events with a smaller number; 0: all
	After      int64       `json:"after,omitempty"`  // events with a greater number
	Since      *time.Time  `json:"since,omitempty"`  // events that happened then or later
	Limit      int         `json:"limit,omitempty"`  // 0: PageDefault
	Types      []EventType `json:"types,omitempty"`  // empty: all
	Agent      string      `json:"agent,omitempty"`  // alias or id
	Initiative string      `json:"initiative,omitempty"`
}

// EventLog is one page of the stored events.
type EventLog struct {
	Items []Event `json:"items" doc:"newest first, at most as many as the limit, never null"`
	Older int64   `json:"older,omitempty" doc:"before of the next page, with the same filters; missing on the last one"`
}

// Check gives the limit, or refuses what cannot be asked for: CodeInvalid.
func (q EventLogQuery) Check() (limit int, err error) {
	limit = cmp.Or(q.Limit, PageDefault)
	switch {
	case limit < 0 || limit > PageMax:
		return 0, Errorf(CodeInvalid, "a page cannot have %d items", q.Limit).
			WithHint("the limit is from 1 to %d; 0 stands for %d", PageMax, PageDefault)
	case q.Before < 0 || q.After < 0:
		return 0, Errorf(CodeInvalid, "events are numbered from 1").WithHint("give the number of an event, or leave before and after out")
	}
	for _, t := range q.Types {
		if !t.Stored() {
			return 0, Errorf(CodeInvalid, "events %.64q are not stored", t).WithHint("they are seen only while they happen: GET /v1/events?follow=true")
		}
	}
	return limit, EventQuery{Types: q.Types}.Check()
}

// CutEventLog makes a page of events that are newest first, at least one more than
// the limit when there are more.
func CutEventLog(events []Event, limit int) EventLog {
	if events == nil {
		events = []Event{}
	}
	if len(events) <= limit {
		return EventLog{Items: events}
	}
	return EventLog{Items: events[:limit], Older: events[limit-1].Seq}
}
