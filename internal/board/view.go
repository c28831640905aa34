package board

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// Sight is what the services told at one moment.
type Sight struct {
	At          time.Time
	Status      cw.DaemonStatus
	Inbox       []cw.InboxItem
	Agents      []cw.AgentView
	Initiatives []cw.Initiative
	Dispatch    cw.DispatchStatus
	Today       cw.CostRow // what today cost: the sum of cw.CostToday
}

// Pane is one of the two lists.
type Pane int

// The panes.
const (
	PaneAgents Pane = iota
	PaneInbox
)

// View is everything that the board shows. Settle keeps its selections among what
// is there.
type View struct {
	Sight

	Now           time.Time
	Width, Height int
	Look          Look

	Pane    Pane
	Item    string     // key of the selected thing that waits
	AgentID cw.AgentID // the selected agent
	Marked  map[cw.AgentID]bool
	Filter  string
	Flat    bool // not grouped by initiative
	Log     Log

	Asking  *Asking // questions that are answered in place
	Sheet   *Sheet  // a text in front of the board
	Opened  bool    // the selected agent fills the screen
	Prompt  *Prompt // what a person types at the bottom
	Confirm string  // what is asked at the bottom, for y or n
	Note    Note
	Lost    *Lost // the daemon cannot be reached

	itemAt, itemTop, agentAt, agentTop int
}

// Note is a line for the person, at the bottom until the next key.
type Note struct {
	Text string
	Bad  bool
}

// Prompt is a line that a person types.
type Prompt struct {
	Label, Text string
}

// Lost tells since when the daemon cannot be reached, and when it is tried again.
type Lost struct {
	Since, Next time.Time
}

// Items gives what waits for a person and goes through the filter.
func (v *View) Items() []cw.InboxItem {
	if v.Filter == "" {
		return v.Inbox
	}
	return slices.DeleteFunc(slices.Clone(v.Inbox), func(it cw.InboxItem) bool {
		return !v.passes(it.Agent, it.Text, it.Task, it.Initiative, string(it.Kind))
	})
}

// Shown gives the agents that go through the filter, in the order in which they
// are shown: by initiative, then as they were made, never by what changes.
func (v *View) Shown() []cw.AgentView {
	out := slices.DeleteFunc(slices.Clone(v.Agents), func(a cw.AgentView) bool {
		return v.Filter != "" && !v.passes(a.Alias, a.Title, a.AccountName, stateOf(a).word(), v.initiative(a.InitiativeID))
	})
	ranks := v.ranks()
	rank := func(a cw.AgentView) int {
		if r, known := ranks[a.InitiativeID]; known {
			return r
		}
		return len(ranks) // without one: last
	}
	slices.SortStableFunc(out, func(a, b cw.AgentView) int {
		if c := rank(a) - rank(b); c != 0 && !v.Flat {
			return c
		}
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(string(a.ID), string(b.ID)))
	})
	return out
}

func (v *View) passes(texts ...string) bool {
	want := strings.ToLower(strings.TrimSpace(v.Filter))
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), want) })
}

// ranks puts initiatives in the order in which they were made.
func (v *View) ranks() map[cw.InitiativeID]int {
	all := slices.Clone(v.Initiatives)
	slices.SortFunc(all, func(a, b cw.Initiative) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(string(a.ID), string(b.ID)))
	})
	out := make(map[cw.InitiativeID]int, len(all))
	for i, in := range all {
		out[in.ID] = i
	}
	return out
}

// initiative names one for people, "" for none.
func (v *View) initiative(id cw.InitiativeID) string {
	for _, in := range v.Initiatives {
		if in.ID == id {
			return in.Name
		}
	}
	return ""
}

// Agent gives the selected agent.
func (v *View) Agent() (cw.AgentView, bool) { return v.agent(v.AgentID) }

func (v *View) agent(id cw.AgentID) (cw.AgentView, bool) {
	i := slices.IndexFunc(v.Agents, func(a cw.AgentView) bool { return a.ID == id })
	if i < 0 {
		return cw.AgentView{}, false
	}
	return v.Agents[i], true
}

// Waiting gives the selected thing that waits.
func (v *View) Waiting() (cw.InboxItem, bool) {
	items := v.Items()
	i := slices.IndexFunc(items, func(it cw.InboxItem) bool { return it.Key == v.Item })
	if i < 0 {
		return cw.InboxItem{}, false
	}
	return items[i], true
}

// Move moves the selection of the pane in front by so many rows.
func (v *View) Move(by int) {
	if v.Pane == PaneInbox {
		if items := v.Items(); len(items) > 0 {
			v.Item = items[min(max(v.itemAt+by, 0), len(items)-1)].Key
		}
	} else if agents := v.Shown(); len(agents) > 0 {
		v.AgentID = agents[min(max(v.agentAt+by, 0), len(agents)-1)].ID
	}
	v.Settle()
}

// Settle keeps selections among what is there, and in sight: who loses the
// selected one has the one in its place.
func (v *View) Settle() {
	items, agents := v.Items(), v.Shown()
	if i := slices.IndexFunc(items, func(it cw.InboxItem) bool { return it.Key == v.Item }); i >= 0 {
		v.itemAt = i
	} else if v.itemAt, v.Item = max(min(v.itemAt, len(items)-1), 0), ""; len(items) > 0 {
		v.Item = items[v.itemAt].Key
	}
	if i := slices.IndexFunc(agents, func(a cw.AgentView) bool { return a.ID == v.AgentID }); i >= 0 {
		v.agentAt = i
	} else {
		v.Opened = false // another one is not what was opened
		if v.agentAt, v.AgentID = max(min(v.agentAt, len(agents)-1), 0), ""; len(agents) > 0 {
			v.AgentID = agents[v.agentAt].ID
		}
	}
	for id := range v.Marked {
		if _, there := v.agent(id); !there {
			delete(v.Marked, id)
		}
	}
	if v.Sheet != nil {
		v.Sheet.settle(v.sheetRows())
	}
	v.Log.settle(v.LogRows())
	p := v.plan()
	v.itemTop = window(v.itemAt, v.itemTop, p.items, len(items))
	rows, at := v.agentRows(agents)
	v.agentTop = window(at, v.agentTop, p.agents, len(rows))
}

// window gives the first of so many rows that are in sight, moved no further than
// the selected one asks for.
func window(at, top, rows, all int) int {
	if rows <= 0 {
		return 0
	}
	top = min(max(top, at-rows+1), at)
	return max(min(top, all-rows), 0)
}
