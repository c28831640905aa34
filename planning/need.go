package planning

import (
	"cw/artifacts"
	"cw/internal/cw"
)

// need is something that must be there for a suggestion to make sense.
type need struct {
	target cw.ProposalTarget
	id     string
	words  string // how it is needed: "it depends on"
}

// needsOf lists what a draft needs.
func needsOf(d artifacts.Draft) []need {
	var out []need
	switch d.Target {
	case cw.TargetPage:
		if d.Page.ParentID != "" {
			out = append(out, need{cw.TargetPage, string(d.Page.ParentID), "it lies below"})
		}
	case cw.TargetDecision:
		out = append(out, need{cw.TargetPage, string(d.Decision.PageID), "it belongs to"})
	case cw.TargetPhase:
		for _, id := range d.Phase.DependsOn {
			out = append(out, need{cw.TargetPhase, string(id), "it depends on"})
		}
	case cw.TargetTask:
		out = append(out, need{cw.TargetPhase, string(d.Task.PhaseID), "it belongs to"})
		for _, id := range d.Task.DependsOn {
			out = append(out, need{cw.TargetTask, string(id), "it depends on"})
		}
	}
	return out
}

// inTurn puts changes in the order in which they are made: by target, each
// after those that it needs, and otherwise as they are given.
func inTurn[T any](changes []T, about func(T) (cw.ProposalTarget, string, []need)) []T {
	var out []T
	for _, target := range cw.ProposalTargets() {
		g, byID := graph{}, map[string]T{}
		var ids []string
		for _, c := range changes {
			of, id, needs := about(c)
			if of != target {
				continue
			}
			n := &node{id: id}
			for _, need := range needs {
				if need.target == target {
					n.before = append(n.before, need.id)
				}
			}
			g[id], byID[id] = n, c
			ids = append(ids, id)
		}
		for _, id := range g.sort(ids) {
			out = append(out, byID[id])
		}
	}
	return out
}
