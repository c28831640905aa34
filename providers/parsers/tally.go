package parsers

import "cw/internal/cw"

// tallyMemory is how many messages a tally remembers at least, once there were as
// many, and half of how many at most.
const tallyMemory = claudeMemory / 2

// tally counts the usage of messages of which several lines tell it. It forgets
// the oldest messages first.
type tally struct{ newer, older map[string]cw.Usage }

// add takes what a line tells of a message, and gives what that is more than
// earlier lines of it told, and whether there were none.
func (t *tally) add(id string, u cw.Usage) (more cw.Usage, first bool) {
	before, known := t.newer[id]
	if !known {
		before, known = t.older[id]
	}
	if len(t.newer) >= tallyMemory {
		t.newer, t.older = nil, t.newer
	}
	if t.newer == nil {
		t.newer = map[string]cw.Usage{}
	}
	most := before.Max(u)
	t.newer[id] = most
	return most.Sub(before), !known
}
