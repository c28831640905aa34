package planning

import (
	"slices"
	"strings"

	"cw/artifacts"
	"cw/internal/cw"
)

// pageRead is the page that a draft was made from. An agent may have been given
// several texts of it, and goes on from the one it remembers: the oldest, unless
// the draft has more of a newer one and all decisions that came with it.
func (w *sifter) pageRead(d artifacts.Draft, now cw.Document) cw.Document {
	read := now
	if strings.TrimSpace(d.Page.Body) == "" {
		if g := w.givenPage(0, now.ID); g != nil {
			return *g
		}
		return read
	}
	known := false
	for i := len(w.given) - 1; i >= -1; i-- {
		page := &now // what is there now the agent may have read on its own
		if i >= 0 {
			page = w.givenPage(i, now.ID)
		}
		switch {
		case page == nil:
		case !known:
			read, known = *page, true
		case wroteFrom(d.Page.Body, read.Body, page.Body):
			read = *page
		}
	}
	return read
}

func (w *sifter) givenPage(i int, id cw.PageID) *cw.Document {
	if i >= len(w.given) {
		return nil
	}
	return find(w.given[i].Pages, func(p cw.Document) bool { return p.ID == id })
}

// wroteFrom tells whether a text was made from the newer of two others.
func wroteFrom(text, older, newer string) bool {
	for _, id := range decisionIDs(newer) {
		if m := markBegin + id + markEnd; !strings.Contains(older, m) && !strings.Contains(text, m) {
			return false
		}
	}
	return inCommon(text, newer) > inCommon(text, older)
}

// inCommon is how many lines two texts have in common, in their order.
func inCommon(a, b string) int {
	n := 0
	for _, e := range compare(wholeLines(a), wholeLines(b)) {
		if e.kind == ' ' && strings.TrimSpace(e.line) != "" {
			n++
		}
	}
	return n
}

// decisionRead is a decision as the agent was given it, or as it is now.
func (w *sifter) decisionRead(id string) (artifacts.Decision, bool) {
	now, known := decisionOf(w.state, id)
	if !known || len(w.given) == 0 {
		return now, known
	}
	if read, was := decisionOf(cw.InitiativeState{Pages: w.given[0].Pages}, id); was {
		return read, true
	}
	return now, true
}

// phaseRead is a phase as the agent was given it, or as it is now. Where it stands
// is always as it is now. So is taskRead.
func (w *sifter) phaseRead(now cw.Phase) cw.Phase {
	if len(w.given) == 0 {
		return now
	}
	read := find(w.given[0].Phases, func(p cw.Phase) bool { return p.ID == now.ID })
	if read == nil {
		return now
	}
	now.Name, now.Body, now.DependsOn = read.Name, read.Body, slices.Clone(read.DependsOn)
	return now
}

func (w *sifter) taskRead(now cw.Task) cw.Task {
	if len(w.given) == 0 {
		return now
	}
	read := find(w.given[0].Tasks, func(t cw.Task) bool { return t.ID == now.ID })
	if read == nil {
		return now
	}
	out := *read
	out.Status, out.Position = now.Status, now.Position
	return out
}
