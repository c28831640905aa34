package board

import (
	"fmt"
	"strings"

	"cw/internal/cw"
)

// Draw gives the screen: as many lines as it is high, each exactly as wide.
func Draw(v View) []string {
	v.Settle()
	lines := make([]line, 0, v.Height)
	switch {
	case v.tooSmall():
		need := fmt.Sprintf("Too small: %d×%d. cw top needs %d×%d.", v.Width, v.Height, LeastWidth, LeastHeight)
		for _, text := range wrap(need, v.Width) {
			lines = append(lines, line{{text, plain}})
		}
	case v.Sheet != nil:
		lines = v.drawSheet()
	case v.Opened:
		lines = v.drawAgent()
	case v.panes():
		lines = v.drawPanes()
	default:
		lines = v.drawRows()
	}
	for len(lines) < v.Height {
		lines = append(lines, nil)
	}
	lines = lines[:max(v.Height, 0)]
	if note := v.noteLines(); len(note) > 1 && !v.tooSmall() {
		lines = append(lines[:v.Height-len(note):v.Height-len(note)], note...)
	}
	out := make([]string, max(v.Height, 0))
	for i := range out {
		out[i] = v.Look.paint(fit(lines[i], max(v.Width, 0)))
	}
	return out
}

// drawRows draws the parts below each other.
func (v *View) drawRows() []line {
	p, items, agents := v.plan(), v.Items(), v.Shown()
	lines := []line{v.head(), v.rule("Needs you "+fmt.Sprint(len(items)), v.itemsHint())}
	lines = append(lines, v.itemLines(items, p.items, v.Width)...)
	if p.more > 0 {
		lines = append(lines, line{{"   " + hiddenItems(items, v.itemTop, p.items), dim}})
	}
	if v.Asking != nil {
		lines = append(lines, v.rule(v.Asking.title(), "Esc back"))
		lines = append(lines, v.Asking.inSight(v.Width, p.ask-1)...)
	}
	lines = append(lines, v.rule("Agents "+fmt.Sprint(len(agents)), v.agentsHint(len(agents), p.agents)))
	lines = append(lines, v.agentLines(agents, p.agents, v.Width)...)
	if p.log > 0 {
		name := "Log"
		if a, is := v.Agent(); is {
			name = flat(a.Alias)
		}
		lines = append(lines, v.rule(name, v.Log.state()))
		lines = append(lines, v.logLines(p.log-1)...)
	}
	for len(lines) < v.Height-1 {
		lines = append(lines, nil)
	}
	return append(lines[:v.Height-1], v.foot())
}

// rule draws the head of a part.
func (v *View) rule(title, hint string) line {
	title = shorten(title, max(v.Width-8, 1))
	hint = shorten(hint, max(v.Width-wide(title)-8, 0))
	out := line{{"── ", dim}, {title, bold}, {" ", plain}}
	room := v.Width - wide(title) - 4
	if hint == "" {
		return append(out, span{strings.Repeat("─", max(room, 0)), dim})
	}
	return append(out, span{strings.Repeat("─", max(room-wide(hint)-2, 0)), dim}, span{" " + hint + " ", dim})
}

func (v *View) itemsHint() string {
	it, is := v.Waiting()
	if !is {
		return ""
	}
	switch it.Kind {
	case cw.InboxQuestion:
		return "a answer"
	case cw.InboxCheckpoint:
		return "y done  d not done"
	case cw.InboxProposal:
		return v.Look.enter() + " read  y accept  d dismiss"
	}
	return ""
}

func (v *View) agentsHint(all, rows int) string {
	order := "by start"
	if !v.Flat && v.groups() {
		order = "by initiative"
	}
	if v.Filter != "" {
		order = "filter " + flat(v.Filter)
	}
	if all > rows && rows > 0 {
		order += fmt.Sprintf(", %d–%d", v.agentTop+1, min(v.agentTop+rows, all))
	}
	if n := len(v.Marked); n > 0 {
		order = fmt.Sprintf("%d selected, ", n) + order
	}
	return order
}

// itemLines draws the things that wait, in so many rows.
func (v *View) itemLines(items []cw.InboxItem, rows, width int) []line {
	var out []line
	for i := v.itemTop; i < len(items) && len(out) < rows; i++ {
		out = append(out, v.itemRow(items[i], width, items[i].Key == v.Item))
	}
	if len(items) == 0 && rows > 0 {
		text := "Nothing waits for you."
		if v.Filter != "" {
			text = "Nothing like that waits for you."
		}
		out = append(out, line{{"   " + text, dim}})
	}
	for len(out) < rows {
		out = append(out, nil)
	}
	return out
}

// hiddenItems tells what waits and is not in sight.
func hiddenItems(items []cw.InboxItem, top, rows int) string {
	kinds, hidden := map[cw.InboxKind]int{}, 0
	for i, it := range items {
		if i < top || i >= top+rows {
			kinds[it.Kind]++
			hidden++
		}
	}
	var parts []string
	for _, k := range cw.InboxKinds() {
		if n := kinds[k]; n > 0 {
			s, plural := kindSign(k)
			word := plural
			if n == 1 {
				word = strings.ToLower(s.word)
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return fmt.Sprintf("%d more: %s", hidden, strings.Join(parts, ", "))
}

// agentLines draws the agents, in so many rows.
func (v *View) agentLines(agents []cw.AgentView, rows, width int) []line {
	c := columnsFor(width, v.names(width), v.panes())
	all, _ := v.agentRows(agents)
	var out []line
	for i := v.agentTop; i < len(all) && len(out) < rows; i++ {
		if all[i].head != nil {
			out = append(out, all[i].head)
			continue
		}
		out = append(out, v.agentRow(all[i].agent, c, all[i].agent.ID == v.AgentID))
	}
	if len(agents) == 0 && rows > 0 {
		text := `No agents yet. In a git repository: cw run "what is to be done"`
		if v.Filter != "" {
			text = "No agent is like that. Esc shows all."
		}
		out = append(out, line{{"   " + text, dim}})
	}
	for len(out) < rows {
		out = append(out, nil)
	}
	return out
}

// logLines draws the end of the log, in so many rows.
func (v *View) logLines(rows int) []line {
	var out []line
	for _, text := range v.Log.tail(rows) {
		out = append(out, append(line{{" ", plain}}, logLine(text)...))
	}
	for len(out) < rows {
		out = append(out, nil)
	}
	return out
}

// drawSheet draws the text in front of the board.
func (v *View) drawSheet() []line {
	rows := v.sheetRows()
	lines := []line{v.rule(v.Sheet.Title, v.Sheet.place(rows))}
	for i := v.Sheet.top; i < len(v.Sheet.lines) && len(lines) <= rows; i++ {
		lines = append(lines, v.Sheet.line(v.Sheet.lines[i]))
	}
	for len(lines) <= rows {
		lines = append(lines, nil)
	}
	return append(lines, v.foot())
}

// drawAgent draws one agent alone: its facts and its log.
func (v *View) drawAgent() []line {
	a, is := v.Agent()
	if !is {
		return []line{v.rule("The agent is gone", "Esc back")}
	}
	s := stateOf(a).sign()
	lines := []line{
		{v.Look.markOf(a), {" ", plain}, {flat(a.Alias), bold}, {"  " + s.word + "  ", s.ink}, {v.doing(a), plain}},
		{{"  " + flat(a.Title), plain}},
		append(line{{"  ", plain}}, v.factsOf(a)...),
		v.rule("Log", v.Log.state()),
	}
	lines = append(lines, v.logLines(v.LogRows())...)
	return append(lines, v.foot())
}
