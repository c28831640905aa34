package event

import "cw/internal/cw"

// Bounds of the window: enough for a reader to be some tenths of a second late
// at thousands of events a second, and little memory.
const (
	windowEvents = 4096
	windowBytes  = 4 << 20 // of payloads
)

// window holds the newest stored events, so that readers who keep up need no
// query. It is only ever a copy of rows: a reader who is further behind reads
// those. Its numbers are without a gap; at one it forgets what was before, for
// it cannot know whether rows are there.
//
// The zero window is empty. It is guarded by the hub's lock.
type window struct {
	events []cw.Event // one after another by number
	bytes  int        // of their payloads
	last   int64      // greatest number that was seen; 0: none yet
}

// add takes the next stored event.
func (w *window) add(e cw.Event) {
	if e.Seq != w.last+1 {
		w.events, w.bytes = nil, 0
	}
	w.last = e.Seq
	w.events = append(w.events, e)
	w.bytes += len(e.Data)
	for len(w.events) > windowEvents || w.bytes > windowBytes {
		w.bytes -= len(w.events[0].Data)
		w.events[0] = cw.Event{} // its payload may go
		w.events = w.events[1:]
	}
}

// after gives at most limit selected events with a greater number than seq, and
// the number up to which it looked. ok is false when the window does not reach
// back to seq.
func (w *window) after(seq int64, f cw.EventFilter, limit int) (events []cw.Event, looked int64, ok bool) {
	first := w.last + 1 - int64(len(w.events))
	switch {
	case w.last == 0 || seq+1 < first:
		return nil, 0, false
	case seq >= w.last: // rows may be ahead of the window
		return nil, seq, true
	}
	for _, e := range w.events[seq+1-first:] {
		if len(events) == limit {
			return events, looked, true
		}
		looked = e.Seq
		if f.Matches(e) {
			events = append(events, e)
		}
	}
	return events, looked, true
}
