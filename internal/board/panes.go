package board

import (
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

// drawPanes draws the parts beside each other, with borders between them.
func (v *View) drawPanes() []line {
	p, items, agents := v.planPanes(), v.Items(), v.Shown()
	inner := v.Width - 3 // without borders
	upper := inner / 2
	side := min(max(v.Width*36/100, 46), 60)
	lower := inner - side
	lines := []line{v.head(), v.border('┌', '┐', map[int]string{upper: "┬"}, 0, "Needs you "+fmt.Sprint(len(items)), upper, v.detailTitle())}
	lefts, rights := v.itemLines(items, p.items, upper), v.detail(inner-upper)
	for i := range p.items {
		lines = append(lines, beside(lefts[i], upper, nth(rights, i), inner-upper))
	}
	name := "No agent"
	if a, is := v.Agent(); is {
		name = flat(a.Alias)
	}
	lines = append(lines, v.border('├', '┤', map[int]string{upper: "┴", lower: "┬"}, 0, "Agents "+fmt.Sprint(len(agents)), lower, name))
	rows, _ := v.agentRows(agents)
	lefts = append([]line{columnHead(columnsFor(lower, v.names(lower), true))}, v.agentLines(agents, p.agents, lower)...)
	if below := len(rows) - v.agentTop - p.agents; len(rows) > p.agents {
		text := fmt.Sprintf("   %d more below", below)
		if below <= 0 {
			text = fmt.Sprintf("   %d more above", v.agentTop)
		}
		lefts = append(lefts, line{{text, dim}})
	}
	height := v.Height - len(lines) - 2
	rights = v.aside(side, height)
	for i := range height {
		lines = append(lines, beside(nth(lefts, i), lower, nth(rights, i), side))
	}
	return append(lines, v.border('└', '┘', map[int]string{lower: "┴"}, 0, "", lower, ""), v.foot())
}

func nth(lines []line, i int) line {
	if i < len(lines) {
		return lines[i]
	}
	return nil
}

// beside puts two lines next to each other, between borders.
func beside(a line, aWide int, b line, bWide int) line {
	edge := span{"│", dim}
	out := append(line{edge}, fit(a, aWide)...)
	out = append(append(out, edge), fit(b, bWide)...)
	return append(out, edge)
}

// border draws a rule over the whole width with its joints and up to two titles,
// each behind a column.
func (v *View) border(first, last rune, joints map[int]string, at int, title string, at2 int, title2 string) line {
	cells := make([]string, v.Width)
	for i := range cells {
		cells[i] = "─"
	}
	cells[0], cells[v.Width-1] = string(first), string(last)
	for col, j := range joints {
		if i := col + 1; cells[i] == "─" {
			cells[i] = j
		} else {
			cells[i] = "┼"
		}
	}
	type label struct {
		at   int
		text string
	}
	var out line
	from := 0
	for _, l := range []label{{at, title}, {at2 + 1, title2}} {
		if l.text == "" {
			continue
		}
		start := l.at + 2
		end := v.Width - 3
		if l.at == at && title2 != "" {
			end = at2 - 1
		}
		text := " " + shorten(l.text, max(end-start-2, 1)) + " "
		out = append(out, span{strings.Join(cells[from:start], ""), dim}, span{text, bold})
		from = start + wide(text)
	}
	return append(out, span{strings.Join(cells[min(from, v.Width):], ""), dim})
}

func (v *View) detailTitle() string {
	if v.Asking != nil {
		return v.Asking.title()
	}
	it, is := v.Waiting()
	if !is {
		return "Nothing"
	}
	s, _ := kindSign(it.Kind)
	return strings.TrimSpace(s.word + " " + or(flat(it.Agent), flat(it.Task)))
}

// detail draws the selected thing that waits: the question itself, or what to do.
func (v *View) detail(width int) []line {
	if v.Asking != nil {
		return v.Asking.inSight(width, v.planPanes().items)
	}
	it, is := v.Waiting()
	if !is {
		return []line{{{" When an agent asks, stalls or crashes, it is shown here.", dim}}}
	}
	var out []line
	if a, known := v.agent(it.AgentID); known && it.Kind == cw.InboxQuestion {
		if i := slices.IndexFunc(a.PendingQuestions, func(q cw.Question) bool { return slices.Contains(it.QuestionIDs, q.ID) }); i >= 0 {
			k := Asking{Who: it.Agent, Questions: []cw.Question{a.PendingQuestions[i]}, Behind: it.Behind, cursor: -1}
			lines := k.lines(width)
			return append(lines[:len(lines)-1], nil, line{{" a", bold}, {" answer  ", plain}, {"n", bold}, {" next", plain}})
		}
	}
	for _, l := range wrap(flat(it.Text), width-2) {
		out = append(out, line{{" " + l, bold}})
	}
	facts := []string{}
	for _, f := range []string{flat(it.Task), flat(it.Initiative)} {
		if f != "" {
			facts = append(facts, f)
		}
	}
	if it.Behind > 0 {
		facts = append(facts, count(it.Behind, "task")+" behind it")
	}
	out = append(out, line{{" " + strings.Join(facts, " · "), dim}}, nil)
	if hint := v.itemsHint(); hint != "" {
		out = append(out, line{{" " + hint, plain}})
	}
	if it.Hint != "" {
		out = append(out, line{{" → ", work}, {flat(it.Hint), dim}})
	}
	return out
}

// aside draws the selected agent: its facts, its plan and its log.
func (v *View) aside(width, rows int) []line {
	a, is := v.Agent()
	if !is {
		return nil
	}
	out := []line{{{" " + flat(a.Title), plain}}, append(line{{" ", plain}}, v.factsOf(a)...)}
	if a.Branch != "" {
		out = append(out, line{{" " + flat(a.Branch), dim}})
	}
	out = append(out, nil)
	if p := a.Plan; p != nil {
		out = append(out, line{{" Plan", bold}, {fmt.Sprintf("  %d of %d", p.Done, p.Of), dim}})
		if p.Current != "" {
			out = append(out, line{{" ", plain}, v.Look.step(*p), {" " + flat(p.Current), plain}})
		}
		out = append(out, nil)
	}
	out = append(out, line{{" Log", bold}, {"  " + v.Log.state(), dim}})
	var texts []line
	for _, text := range v.Log.tail(rows - len(out)) {
		texts = append(texts, append(line{{" ", plain}}, logLine(text)...))
	}
	return append(out, texts...)
}
