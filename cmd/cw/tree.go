package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
)

// nameMax is how much of a name a tree shows.
const nameMax = 70

// leaf is one line of a tree.
type leaf struct {
	id     string
	status string
	paint  func(paint, string) string // of the status; nil: none
	name   string
	facts  string // behind the name
	below  []leaf
}

// printTree draws a tree: the ids and statuses in columns of their own, so that
// they can be copied and read, and the names with their branches behind them.
func printTree(w io.Writer, p paint, roots []leaf) {
	idWidth, statusWidth := widths(roots)
	var draw func(l leaf, lead, branch, under string)
	draw = func(l leaf, lead, branch, under string) {
		status := ""
		if statusWidth > 0 {
			status = pad(oneLine(l.status), statusWidth)
			if l.paint != nil {
				status = l.paint(p, status)
			}
			status += "  "
		}
		line := "  " + p.dim(pad(oneLine(l.id), idWidth)) + "  " + status + p.dim(lead+branch) + cut(oneLine(l.name), nameMax)
		if l.facts != "" {
			line += p.dim("  (" + l.facts + ")")
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
		for i, child := range l.below {
			branch, below := "├─ ", "│  "
			if i == len(l.below)-1 {
				branch, below = "└─ ", "   "
			}
			draw(child, lead+under, branch, below)
		}
	}
	for _, l := range roots {
		draw(l, "", "", "")
	}
}

// widths gives the widths of the columns of a tree.
func widths(leaves []leaf) (id, status int) {
	for _, l := range leaves {
		belowID, belowStatus := widths(l.below)
		id = max(id, belowID, utf8.RuneCountInString(oneLine(l.id)))
		status = max(status, belowStatus, utf8.RuneCountInString(oneLine(l.status)))
	}
	return id, status
}

// pad fills text with spaces up to a width in characters.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0))
}

// pageTree makes the tree of an initiative's pages, which come in its order. A
// page whose parent does not come before it is a root, so that none is left out.
func pageTree(pages []cw.Document) []leaf {
	seen := map[cw.PageID]bool{}
	below := map[cw.PageID][]cw.Document{} // "": the roots
	for _, d := range pages {
		parent := d.ParentID
		if !seen[parent] {
			parent = ""
		}
		seen[d.ID] = true
		below[parent] = append(below[parent], d)
	}
	var leavesOf func(parent cw.PageID) []leaf
	leavesOf = func(parent cw.PageID) []leaf {
		var out []leaf
		for _, d := range below[parent] {
			out = append(out, leaf{id: string(d.ID), name: d.Title, below: leavesOf(d.ID)})
		}
		return out
	}
	return leavesOf("")
}

// phaseTree makes the tree of phases with their tasks.
func phaseTree(phases []cw.Phase, tasks []cw.Task) []leaf {
	names := map[string]string{}
	for _, ph := range phases {
		names[string(ph.ID)] = ph.Name
	}
	byPhase := map[cw.PhaseID][]cw.Task{}
	for _, t := range tasks {
		names[string(t.ID)] = t.Name
		byPhase[t.PhaseID] = append(byPhase[t.PhaseID], t)
	}
	var out []leaf
	for _, ph := range phases {
		l := leaf{id: string(ph.ID), status: string(ph.Status), paint: phaseColour(ph.Status), name: ph.Name, facts: afterFact(names, texts(ph.DependsOn))}
		for _, t := range byPhase[ph.ID] {
			l.below = append(l.below, leaf{
				id: string(t.ID), status: string(t.Status), paint: taskColour(t.Status), name: t.Name, facts: taskFacts(names, t),
			})
		}
		out = append(out, l)
	}
	return out
}

// taskFacts says of a task what is not as usual, and what comes before it.
func taskFacts(names map[string]string, t cw.Task) string {
	var parts []string
	if t.Type != cw.TaskAuto {
		parts = append(parts, oneLine(string(t.Type)))
	}
	if t.Size != cw.SizeMedium {
		parts = append(parts, oneLine(string(t.Size)))
	}
	if t.Priority != cw.PriorityMedium {
		parts = append(parts, oneLine(string(t.Priority))+" priority")
	}
	if after := afterFact(names, texts(t.DependsOn)); after != "" {
		parts = append(parts, after)
	}
	return strings.Join(parts, ", ")
}

// afterFact names what comes before something; what has no name here is named
// by its id.
func afterFact(names map[string]string, before []string) string {
	if len(before) == 0 {
		return ""
	}
	shown := make([]string, len(before))
	for i, id := range before {
		if shown[i] = cut(oneLine(names[id]), titleMax); shown[i] == "" {
			shown[i] = oneLine(id)
		}
	}
	return "after " + strings.Join(shown, ", ")
}

// texts makes words of ids.
func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// phaseColour gives the colour of a phase's status.
func phaseColour(s cw.PhaseStatus) func(paint, string) string {
	switch s {
	case cw.PhaseApproved, cw.PhaseRunning:
		return paint.cyan
	case cw.PhaseDone:
		return paint.green
	case cw.PhaseArchived:
		return paint.dim
	}
	return paint.yellow
}

// taskColour gives the colour of a task's status.
func taskColour(s cw.TaskStatus) func(paint, string) string {
	switch s {
	case cw.TaskRunning, cw.TaskVerifying, cw.TaskMerging, cw.TaskReady:
		return paint.cyan
	case cw.TaskDone:
		return paint.green
	case cw.TaskBlocked:
		return paint.red
	case cw.TaskCancelled:
		return paint.dim
	}
	return paint.yellow
}
