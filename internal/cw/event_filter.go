package cw

import "slices"

// EventFilter selects events. The zero value selects all but those that must be
// named (EventType.OnlyNamed).
type EventFilter struct {
	Types      []EventType // empty: all that need not be named
	Also       []EventType // these, too
	Agent      AgentID     // "": of any agent, and of none
	Initiative string      // "": of any initiative, and of none
}

// Matches tells whether the filter selects e.
func (f EventFilter) Matches(e Event) bool {
	switch {
	case f.Agent != "" && f.Agent != e.AgentID:
		return false
	case f.Initiative != "" && f.Initiative != string(e.InitiativeID):
		return false
	case slices.Contains(f.Also, e.Type):
		return true
	case len(f.Types) == 0:
		return !e.Type.OnlyNamed()
	}
	return slices.Contains(f.Types, e.Type)
}

// EventMark is what those who ask for marks get between events: it tells only
// that everything up to a number was looked at.
func EventMark(seq int64) Event { return Event{Seq: seq} }

// IsMark tells whether e is no event but a mark.
func (e Event) IsMark() bool { return e.Type == "" }

// Check refuses what cannot be asked for, whatever is stored: CodeInvalid.
func (q EventQuery) Check() error {
	if q.After < 0 {
		return Errorf(CodeInvalid, "events are numbered from 1, so none comes after %d", q.After).
			WithHint("give the number of the last event that was seen, or 0")
	}
	var known []string
	for _, info := range EventTable() {
		known = append(known, string(info.Type))
	}
	for _, t := range slices.Concat(q.Types, q.Also) {
		if slices.Contains(known, string(t)) {
			continue
		}
		err := Errorf(CodeInvalid, "there is no type of event %.64q", t)
		if name, ok := Nearest(string(t), known); ok {
			return err.WithHint("did you mean %s?", name)
		}
		return err.WithHint("docs/events.md lists them all")
	}
	return nil
}

// ErrEventsGone tells that events after a number are no longer kept; first is
// the oldest that is.
func ErrEventsGone(first int64) *Error {
	return Errorf(CodeGone, "events before number %d are no longer kept", first).
		WithHint("read the state anew and go on from there")
}

// ErrEventsAhead tells that a number was never given to an event: who has it
// has it from another home. last is the last that was given.
func ErrEventsAhead(after, last int64) *Error {
	return Errorf(CodeInvalid, "there is no event %d yet", after).
		WithHint("the last event is %d; read the state anew and go on from there", last)
}
