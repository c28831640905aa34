package board

import (
	"slices"

	"cw/internal/cw"
)

// The least that the board is drawn in, and from where on it has panes.
const (
	LeastWidth  = 30
	LeastHeight = 8
	panesWidth  = 140
	panesHeight = 24
)

// rowsOf says how many rows each part has.
type rowsOf struct {
	items, more int // things that wait, and a line that tells of the others
	ask         int // the question that is answered in place, with its head
	agents      int
	log         int // with its head
}

// panes tells whether there is room for panes beside each other.
func (v *View) panes() bool { return v.Width >= panesWidth && v.Height >= panesHeight }

// tooSmall tells whether nothing can be drawn.
func (v *View) tooSmall() bool { return v.Width < LeastWidth || v.Height < LeastHeight }

// plan shares out the height. Things that wait come first, and who works is seen
// always.
func (v *View) plan() rowsOf {
	if v.panes() {
		return v.planPanes()
	}
	room := v.Height - 4 // head, two rules, foot
	waiting := len(v.Items())
	p := rowsOf{items: max(min(waiting, itemsAt(v.Height)), 1)}
	room -= p.items
	if waiting > p.items && v.Height >= 20 {
		p.more = 1
		room--
	}
	switch {
	case v.Asking != nil:
		p.ask = min(1+len(v.Asking.lines(v.Width)), max(room-1, 2))
		room -= p.ask
	case v.Height >= 20:
		p.log = min(3+max(v.Height-30, 0)/3, 10)
		room -= p.log
	}
	p.agents = max(room, 0)
	return p
}

// itemsAt is how many things that wait are shown at a height.
func itemsAt(height int) int {
	switch {
	case height >= 36:
		return 8
	case height >= 20:
		return 4
	case height >= 14:
		return 2
	}
	return 1
}

// planPanes: the upper panes have one height, so that choosing another thing moves
// nothing below.
func (v *View) planPanes() rowsOf {
	items := min(max(v.Height/4, 6), 10)
	agents := v.Height - items - 6 // head, three rules, heads of columns, foot
	rows, _ := v.agentRows(v.Shown())
	if len(rows) > agents {
		agents-- // for what tells of the others
	}
	return rowsOf{items: items, agents: agents}
}

// sheetRows is how many lines of a sheet are in sight.
func (v *View) sheetRows() int { return max(v.Height-2, 1) }

// LogRows is how many lines of the log are in sight.
func (v *View) LogRows() int {
	switch {
	case v.Opened:
		return max(v.Height-5, 1)
	case v.panes():
		return max(v.Height-v.planPanes().items-14, 1)
	}
	return max(v.plan().log-1, 0)
}

// groups tells whether agents work for initiatives that are known.
func (v *View) groups() bool {
	return slices.ContainsFunc(v.Agents, func(a cw.AgentView) bool { return a.InitiativeID != "" })
}
