package main

import (
	"fmt"
	"strings"

	"cw/internal/cw"
)

// mermaid draws phases, tasks and what they depend on as a Mermaid flowchart.
// Nodes are named by their ids, so that two pictures of an initiative can be
// compared line by line.
func mermaid(v cw.InitiativeView) string {
	var b strings.Builder
	b.WriteString("graph TD\n")
	drawn := map[string]bool{}
	byPhase := map[cw.PhaseID][]cw.Task{}
	for _, t := range v.Tasks {
		byPhase[t.PhaseID] = append(byPhase[t.PhaseID], t)
	}
	for _, ph := range v.Phases {
		drawn[string(ph.ID)] = true
		label := mermaidLabel(ph.Name, string(ph.Status))
		tasks := byPhase[ph.ID]
		if len(tasks) == 0 {
			fmt.Fprintf(&b, "  %s[[%s]]\n", mermaidNode(string(ph.ID)), label)
			continue
		}
		fmt.Fprintf(&b, "  subgraph %s [%s]\n", mermaidNode(string(ph.ID)), label)
		for _, t := range tasks {
			drawn[string(t.ID)] = true
			fmt.Fprintf(&b, "    %s[%s]\n", mermaidNode(string(t.ID)), mermaidLabel(t.Name, string(t.Status)))
		}
		b.WriteString("  end\n")
	}
	arrow := func(from, to string) {
		if drawn[from] && drawn[to] {
			fmt.Fprintf(&b, "  %s --> %s\n", mermaidNode(from), mermaidNode(to))
		}
	}
	for _, ph := range v.Phases {
		for _, before := range ph.DependsOn {
			arrow(string(before), string(ph.ID))
		}
	}
	for _, t := range v.Tasks {
		for _, before := range t.DependsOn {
			arrow(string(before), string(t.ID))
		}
	}
	return b.String()
}

// mermaidNode makes a node's name of an id; ids have letters and digits only.
func mermaidNode(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, id)
}

// mermaidLabel makes a quoted label that can hold any text: everything with a
// meaning in Mermaid, Markdown or HTML is written as an entity code (#35;).
func mermaidLabel(name, status string) string {
	var b strings.Builder
	for _, r := range oneLine(name) + " · " + oneLine(status) {
		if strings.ContainsRune("\"#<>&;`%\\*_{}[]()|~$", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return `"` + b.String() + `"`
}
