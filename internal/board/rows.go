package board

import (
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

// Columns of the lists.
const (
	kindWide   = 12
	nameMost   = 18
	ageWide    = 6
	nameWide   = 12 // or as wide as the longest name needs, up to nameMost
	stateWide  = 8
	timeWide   = 6
	costWide   = 7
	doingLeast = 12 // rather than narrower, other columns go
)

// bar marks the selected row. In the list that has no keys it is thinner.
func (v *View) bar(selected bool, pane Pane) span {
	switch {
	case !selected:
		return span{" ", plain}
	case v.Pane == pane:
		return span{"▌", work}
	}
	return span{"▏", dim}
}

// names is how wide the columns with names are on a screen of a width.
func (v *View) names(width int) int {
	longest := nameWide
	if width >= 72 {
		for _, a := range v.Agents {
			longest = max(longest, wide(flat(a.Alias)))
		}
	}
	return min(longest, nameMost)
}

// itemRow draws a thing that waits.
func (v *View) itemRow(it cw.InboxItem, width int, selected bool) line {
	s, plural := kindSign(it.Kind)
	word := s.word
	if it.Count > 1 {
		word = fmt.Sprintf("%d %s", it.Count, plural)
	}
	who := or(flat(it.Agent), flat(it.Task))
	if who == "" && len(it.Agents) > 0 {
		who = flat(strings.Join(it.Agents, ", "))
	}
	who = or(who, flat(it.Initiative))
	look := plain
	if selected {
		look = bold
	}
	text := width - 3 - kindWide - 1 - ageWide
	out := line{v.bar(selected, PaneInbox), v.Look.mark(s), {" ", plain}, {left(word, kindWide), s.ink}}
	names := v.names(width)
	if text-names-2 < doingLeast {
		return append(out, span{left(flat(it.Text), text), look}, span{right(lasting(v.Now.Sub(it.Since)), ageWide), dim}, span{" ", plain})
	}
	text -= names + 1
	return append(out, span{left(flat(it.Text), text), look}, span{" ", plain}, span{left(who, names), dim},
		span{right(lasting(v.Now.Sub(it.Since)), ageWide), dim}, span{" ", plain})
}

// row is a line of the list of agents: an agent, or the head of a group.
type row struct {
	agent cw.AgentView
	head  line
}

// agentRows gives the rows for agents in the order in which they are shown, and
// which of them is selected. Where there is room, groups have heads.
func (v *View) agentRows(agents []cw.AgentView) (rows []row, selected int) {
	heads := v.panes() && !v.Flat && slices.ContainsFunc(agents, func(a cw.AgentView) bool { return a.InitiativeID != "" })
	for i, a := range agents {
		if heads && (i == 0 || a.InitiativeID != agents[i-1].InitiativeID) {
			rows = append(rows, row{head: v.groupHead(a.InitiativeID, agents)})
		}
		if a.ID == v.AgentID {
			selected = len(rows)
		}
		rows = append(rows, row{agent: a})
	}
	return rows, selected
}

func (v *View) groupHead(id cw.InitiativeID, agents []cw.AgentView) line {
	n, usd := 0, 0.0
	for _, a := range agents {
		if a.InitiativeID == id {
			n, usd = n+1, usd+a.CostUSD
		}
	}
	name := or(flat(v.initiative(id)), "No initiative")
	return line{{" " + name + " ", bold}, {strings.TrimSpace(count(n, "agent") + "  " + dollars(usd)), dim}}
}

// columns are the widths of the columns of agents; 0 for one that is left out.
type columns struct{ name, state, doing, plan, time, cost, account int }

// columnsFor shares out a width: what tells least goes first.
func columnsFor(width, names int, account bool) columns {
	c := columns{name: names, state: stateWide, plan: 6, time: timeWide + 1, cost: costWide}
	if account {
		c.name, c.state, c.plan, c.account = names+1, stateWide+1, 8, 10
	}
	room := func() int {
		sum := 3 // bar, mark and a gap
		for _, n := range []int{c.name, c.state, c.plan} {
			if n > 0 {
				sum += n + 1
			}
		}
		return width - sum - c.time - c.cost - c.account - 1
	}
	for _, drop := range []*int{&c.account, &c.plan, &c.cost, &c.time, &c.state} {
		if room() >= doingLeast {
			break
		}
		*drop = 0
	}
	c.doing = max(room(), 0)
	return c
}

// agentRow draws an agent.
func (v *View) agentRow(a cw.AgentView, c columns, selected bool) line {
	s := stateOf(a).sign()
	look, word := plain, dim
	if selected {
		look = bold
	}
	if s.loud {
		word = s.ink
	}
	gap := span{" ", plain}
	if v.Marked[a.ID] {
		gap = span{"×", bold}
	}
	out := line{v.bar(selected, PaneAgents), v.Look.markOf(a), gap, {left(flat(a.Alias), c.name), look}, {" ", plain}}
	if c.state > 0 {
		out = append(out, span{left(s.word, c.state), word}, span{" ", plain})
	}
	out = append(out, span{left(v.doing(a), c.doing), plain}, span{" ", plain})
	if c.plan > 0 {
		out = append(out, planBar(a.Plan, c.plan)...)
	}
	if c.time > 0 {
		out = append(out, span{right(lasting(v.spent(a)), c.time), plain})
	}
	if c.cost > 0 {
		out = append(out, span{right(dollars(a.CostUSD), c.cost), plain})
	}
	if c.account > 0 {
		out = append(out, span{" " + left(shortAccount(a), c.account-1), dim})
	}
	return out
}

// planBar draws how far a plan is.
func planBar(p *cw.PlanSummary, width int) line {
	if p == nil || p.Of <= 0 {
		return line{{strings.Repeat(" ", width), plain}}
	}
	full := min(max(p.Done*width/p.Of, 0), width)
	if p.Done > 0 {
		full = max(full, 1)
	}
	return line{{strings.Repeat("━", full), plain}, {strings.Repeat("─", width-full), dim}}
}

// columnHead names the columns.
func columnHead(c columns) line {
	text := "   " + left("agent", c.name) + " "
	if c.state > 0 {
		text += left("status", c.state) + " "
	}
	text += left("this second", c.doing) + " "
	if c.plan > 0 {
		text += left("plan", c.plan)
	}
	if c.time > 0 {
		text += right("time", c.time)
	}
	if c.cost > 0 {
		text += right("cost", c.cost)
	}
	if c.account > 0 {
		text += " account"
	}
	return line{{text, dim}}
}
