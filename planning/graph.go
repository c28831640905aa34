package planning

import (
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

// graph is what comes before what. A task comes after the tasks that it depends
// on and after the phases that its phase depends on; a phase is done after its
// tasks, and after the phases that it depends on. A page comes after the one
// above it.
type graph map[string]*node

type node struct {
	kind string // page, phase or task
	id   string
	name string
	over string // why nothing may wait for it: cancelled, archived, removed; "": it is there
	// deps are what it says itself that it depends on, before is everything that
	// comes before it.
	deps   []string
	before []string
}

// String is how a node is named to people.
func (n *node) String() string { return fmt.Sprintf("%q (%s)", n.name, n.id) }

// graphOf makes the graph of phases and tasks.
func graphOf(phases []cw.Phase, tasks []cw.Task) graph {
	g := make(graph, len(phases)+len(tasks))
	for i := range phases {
		ph := &phases[i]
		n := &node{kind: "phase", id: string(ph.ID), name: ph.Name, deps: texts(ph.DependsOn)}
		if ph.Status == cw.PhaseArchived {
			n.over = string(ph.Status)
		}
		n.before = slices.Clone(n.deps)
		g[n.id] = n
	}
	for i := range tasks {
		t := &tasks[i]
		n := &node{kind: "task", id: string(t.ID), name: t.Name, deps: texts(t.DependsOn)}
		if t.Status == cw.TaskCancelled {
			n.over = string(t.Status)
		}
		n.before = n.deps
		if home := g[string(t.PhaseID)]; home != nil && home.kind == "phase" && n.over == "" {
			n.before = slices.Concat(n.deps, home.deps)
			home.before = append(home.before, n.id)
		}
		g[n.id] = n
	}
	return g
}

// treeOf makes the graph of pages: each after the one above it.
func treeOf(pages []cw.Document) graph {
	g := make(graph, len(pages))
	for i := range pages {
		d := &pages[i]
		n := &node{kind: "page", id: string(d.ID), name: d.Title}
		if d.DeletedAt != nil {
			n.over = "removed"
		}
		if d.ParentID != "" {
			n.deps = []string{string(d.ParentID)}
			n.before = n.deps
		}
		g[n.id] = n
	}
	return g
}

func texts[T ~string](ids []T) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}

// circle finds a way around that can be reached from one of these: each comes
// after the next, and the last is the first again. nil: there is none.
func (g graph) circle(from []string) []string {
	seen := map[string]bool{} // true: on the way, false: done with
	var way []string
	var visit func(id string) []string
	visit = func(id string) []string {
		n := g[id]
		if n == nil || n.over != "" {
			return nil
		}
		if under, known := seen[id]; known {
			if under {
				return append(slices.Clone(way[slices.Index(way, id):]), id)
			}
			return nil
		}
		seen[id] = true
		way = append(way, id)
		for _, next := range n.before {
			if c := visit(next); c != nil {
				return c
			}
		}
		way = way[:len(way)-1]
		seen[id] = false
		return nil
	}
	for _, id := range from {
		if c := visit(id); c != nil {
			return c
		}
	}
	return nil
}

// way writes a way around for people.
func (g graph) way(ids []string) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = g[id].String()
	}
	return strings.Join(names, " → ")
}

// sort puts ids in order: each after those of them that come before it, and
// otherwise as they are given. What is in a circle comes in any order.
func (g graph) sort(ids []string) []string {
	asked := make(map[string]bool, len(ids))
	for _, id := range ids {
		asked[id] = true
	}
	seen := map[string]bool{}
	var out []string
	var visit func(id string)
	visit = func(id string) {
		n := g[id]
		if n == nil || seen[id] {
			return
		}
		seen[id] = true
		for _, next := range n.before {
			visit(next)
		}
		if asked[id] {
			out = append(out, id)
		}
	}
	for _, id := range ids {
		visit(id)
	}
	return out
}

// checkDeps refuses a dependency on itself, on nothing, on another kind of
// thing and on what is over. slug is of the initiative, for hints.
func (g graph) checkDeps(n *node, slug string) error {
	for _, id := range n.deps {
		on := g[id]
		switch {
		case id == n.id:
			return cw.Errorf(cw.CodeInvalid, "the %s %s cannot depend on itself: %s → %s", n.kind, n, n, n).
				WithHint("name what comes before it")
		case on == nil:
			return g.unknown(n, id, slug)
		case on.kind != n.kind:
			return cw.Errorf(cw.CodeInvalid, "the %s %s cannot depend on %s, which is a %s", n.kind, n, on, on.kind).
				WithHint("a %s depends on %ss", n.kind, n.kind)
		case on.over != "":
			return cw.Errorf(cw.CodeInvalid, "the %s %s cannot depend on %s, which is %s", n.kind, n, on, on.over).
				WithHint("bring it back first, or let it depend on something else")
		}
	}
	return nil
}

func (g graph) unknown(n *node, id, slug string) error {
	err := cw.Errorf(cw.CodeInvalid, "the %s %s cannot depend on %.60q: the initiative has no such %s", n.kind, n, id, n.kind)
	var ids []string
	for _, other := range g {
		if other.kind == n.kind && other.id != n.id && other.over == "" {
			ids = append(ids, other.id)
		}
	}
	slices.Sort(ids)
	if near, ok := cw.Nearest(id, ids); ok {
		return err.WithHint("did you mean %s?", g[near])
	}
	return err.WithHint("list them: cw %s list %s", n.kind, slug)
}

// checkGraph holds the dependencies of what changed against the rules: nothing
// waits for itself, for nothing, or for what will not be done.
func (p *plan) checkGraph() error {
	was, now := graphOf(p.before.Phases, p.before.Tasks), graphOf(p.Phases, p.Tasks)
	waiting := now.waiting()
	var touched []string
	for _, id := range p.inOrder() {
		n, old := now[id], was[id]
		switch {
		case old != nil && old.over == n.over && slices.Equal(old.before, n.before):
			continue
		case n.over == "":
			touched = append(touched, id)
			if err := now.checkDeps(n, p.Initiative.Slug); err != nil {
				return err
			}
		case len(waiting[id]) > 0:
			return cw.Errorf(cw.CodeRefused, "the %s %s cannot be %s: %s", n.kind, n, n.over, dependOnIt(waiting[id])).
				WithHint("take these dependencies away first")
		}
	}
	if c := now.circle(touched); c != nil {
		return cw.Errorf(cw.CodeInvalid, "these wait for each other in a circle: %s", now.way(c)).
			WithHint("take one of these dependencies away")
	}
	return nil
}

// waiting gives what depends on each id, of what is there.
func (g graph) waiting() map[string][]*node {
	out := map[string][]*node{}
	for _, n := range g {
		for _, id := range n.deps {
			if n.over == "" {
				out[id] = append(out[id], n)
			}
		}
	}
	return out
}

func dependOnIt(nodes []*node) string {
	if len(nodes) == 1 {
		return nodes[0].String() + " depends on it"
	}
	return some(nodes) + " depend on it"
}

// inOrder lists the ids of phases and tasks as they come.
func (p *plan) inOrder() []string {
	out := make([]string, 0, len(p.Phases)+len(p.Tasks))
	for i := range p.Phases {
		out = append(out, string(p.Phases[i].ID))
	}
	for i := range p.Tasks {
		out = append(out, string(p.Tasks[i].ID))
	}
	return out
}

// shown is how many names one sentence holds.
const shown = 5

// some lists nodes for people, the first few of many.
func some(nodes []*node) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.String()
	}
	slices.Sort(names)
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
