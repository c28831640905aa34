package cw

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of a page of output, in events.
const (
	OutputPageDefault = 200
	OutputPageMax     = PageMax
)

// OutputContainsMax is the greatest length of what is searched for, in bytes.
const OutputContainsMax = 1000

// OutputPlace is a place in an agent's output: a run, a byte offset in it and a
// number there. It is what OutputEvent.Position says; a place need not be one of
// an event. What is left out of its text is before all: "3" is where run 3
// begins, and before its first event.
type OutputPlace struct {
	Session int
	Offset  int64 // of the chunk; -1: before the first
	N       int   // of the event in the chunk; -1: before the first
}

// ParseOutputPlace reads <session>[:<offset>[:<n>]]. CodeInvalid.
func ParseOutputPlace(text string) (OutputPlace, error) {
	p := OutputPlace{Offset: -1, N: -1}
	parts := strings.Split(text, ":")
	bad := len(parts) > 3
	for i, part := range parts[:min(len(parts), 3)] {
		n, err := strconv.ParseUint(part, 10, 63)
		bad = bad || err != nil || i != 1 && n > 1<<31
		switch i {
		case 0:
			p.Session = int(n)
		case 1:
			p.Offset = int64(n)
		case 2:
			p.N = int(n)
		}
	}
	if bad {
		return OutputPlace{}, Errorf(CodeInvalid, "%.100q is no place in an output", text).
			WithHint("take the position of an event, or older or newer of a page, as it is; the number of a run is where that begins")
	}
	return p, nil
}

// String writes the place as short as it can be.
func (p OutputPlace) String() string {
	switch {
	case p.Offset < 0:
		return strconv.Itoa(p.Session)
	case p.N < 0:
		return fmt.Sprintf("%d:%d", p.Session, p.Offset)
	}
	return fmt.Sprintf("%d:%d:%d", p.Session, p.Offset, p.N)
}

// Compare puts places in the order of the output.
func (p OutputPlace) Compare(q OutputPlace) int {
	return cmp.Or(cmp.Compare(p.Session, q.Session), cmp.Compare(p.Offset, q.Offset), cmp.Compare(p.N, q.N))
}

// OutputPageQuery selects one page of an agent's parsed output.
type OutputPageQuery struct {
	// Before and After are places; at most one of them is given. Before asks for
	// the last events before it, After for the first ones after it; without both
	// they are the last of all.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Limit is the greatest number of events; 0: OutputPageDefault.
	Limit int `json:"limit,omitempty"`
	// Contains leaves out events without this text, in any case.
	Contains string `json:"contains,omitempty"`
}

// OutputWindow is a checked OutputPageQuery.
type OutputWindow struct {
	Limit    int
	Forward  bool        // events after Place, the first ones; else those before it, the last ones
	Bounded  bool        // Place was given; else it is behind everything
	Place    OutputPlace // itself outside
	Contains string      // in lower case; "": all
}

// Window checks the query. CodeInvalid for a limit or a place that is none, for
// both places at once and for a text that is too long.
func (q OutputPageQuery) Window() (OutputWindow, error) {
	w := OutputWindow{Limit: cmp.Or(q.Limit, OutputPageDefault), Forward: q.After != "", Bounded: q.After+q.Before != "", Contains: strings.ToLower(q.Contains)}
	switch {
	case w.Limit < 0 || w.Limit > OutputPageMax:
		return w, Errorf(CodeInvalid, "a page of output cannot have %d events", q.Limit).
			WithHint("the limit is from 1 to %d; 0 stands for %d", OutputPageMax, OutputPageDefault)
	case q.Before != "" && q.After != "":
		return w, Errorf(CodeInvalid, "a page of output is before a place or after one, not both").WithHint("leave out before or after")
	case len(q.Contains) > OutputContainsMax:
		return w, Errorf(CodeInvalid, "a text to search for has at most %d bytes", OutputContainsMax).WithHint("search for less of it")
	case !w.Bounded:
		return w, nil
	}
	var err error
	w.Place, err = ParseOutputPlace(q.Before + q.After)
	return w, err
}

// Selects tells whether an event at a place is asked for, page or not.
func (w OutputWindow) Selects(at OutputPlace, ev StreamEvent) bool {
	if w.Bounded && (w.Forward && at.Compare(w.Place) <= 0 || !w.Forward && at.Compare(w.Place) >= 0) {
		return false
	}
	return w.Contains == "" || ev.Contains(w.Contains)
}

// Contains tells whether what people see of an event has a text in it, given in
// lower case.
func (e StreamEvent) Contains(lower string) bool {
	for _, text := range []string{e.Text, e.Tool, e.Path, string(e.Input)} {
		if strings.Contains(strings.ToLower(text), lower) {
			return true
		}
	}
	for _, s := range e.Steps {
		if strings.Contains(strings.ToLower(s.Title), lower) {
			return true
		}
	}
	return false
}

// OutputPage is one piece of an agent's parsed output, oldest first.
//
// It is parsed from a place near it and not from the run's beginning, so in long
// runs the figures of a result are missing, and a file_change whose tool_call is
// far away; the run's row has them, and so has a stream that did not begin far
// into a long run.
type OutputPage struct {
	Items []OutputEvent `json:"items" doc:"oldest first, at most as many as the limit, never null; it may have fewer, or none, and still not be the last: older tells"`
	Older string        `json:"older,omitempty" doc:"before of the next older page; missing when there is nothing older"`
	Newer string        `json:"newer,omitempty" doc:"after of the next newer page; missing only when nothing is stored. Ask with it once more when a run has ended: its last words may come then"`
	// Stream is the id of the last stored chunk: Last-Event-ID of the stream that
	// goes on where the page ends.
	Stream int64       `json:"stream,omitempty" doc:"there when the page reaches the end of what is stored: Last-Event-ID for the output stream, which goes on exactly here"`
	Runs   []OutputRun `json:"runs" doc:"the runs that the items belong to, oldest first"`
}

// OutputRun is a run as the border between pieces of output.
type OutputRun struct {
	Session   int         `json:"session" doc:"number of the run; as a place it is where the run's output begins"`
	Reason    RunReason   `json:"reason" doc:"why it was started"`
	Provider  string      `json:"provider" doc:"whose CLI wrote it"`
	StartedAt *time.Time  `json:"startedAt,omitempty" doc:"when the CLI was started"`
	EndedAt   *time.Time  `json:"endedAt,omitempty" doc:"when it was over; missing while it runs"`
	Outcome   AgentStatus `json:"outcome,omitempty" doc:"the status in which it left the agent; missing while it runs"`
}

// OutputRuns gives the runs of the items.
func OutputRuns(items []OutputEvent, runs []Run) []OutputRun {
	out := []OutputRun{}
	for _, r := range runs {
		for _, e := range items {
			if e.Session == r.SessionNumber {
				out = append(out, OutputRun{
					Session: r.SessionNumber, Reason: r.Reason, Provider: r.Provider,
					StartedAt: r.StartedAt, EndedAt: r.EndedAt, Outcome: r.Outcome,
				})
				break
			}
		}
	}
	return out
}
