package dispatch

import (
	"slices"
	"strings"

	"cw/internal/cw"
)

// globsIn gives those of a task's globs that may mean files of one project of its
// initiative, relative to that project. shop:src/** means the project shop alone,
// and src/** any of them. shop/src/** is how an agent that works in several
// projects finds src/** of shop, and it may be a folder of another one, too.
func globsIn(globs []string, project string, all []cw.InitiativeProject) []string {
	out := make([]string, 0, len(globs))
	for _, g := range globs {
		name, rest, scoped := strings.Cut(g, ":")
		if scoped && isProject(name, all) {
			if name == project {
				out = append(out, strings.TrimSpace(rest))
			}
			continue
		}
		out = append(out, g)
		if below, ok := strings.CutPrefix(strings.TrimPrefix(g, "./"), project+"/"); ok && len(all) > 1 {
			out = append(out, below)
		}
	}
	return out
}

func isProject(name string, all []cw.InitiativeProject) bool {
	return slices.ContainsFunc(all, func(p cw.InitiativeProject) bool { return p.Name == name })
}

// patternsIn is globsIn, read. No globs at all stay none: such a task overlaps
// with nothing.
func (b *board) patternsIn(task int, p cw.InitiativeProject) []pattern {
	of := &b.patterns[task]
	if *of == nil {
		*of = map[cw.ProjectID][]pattern{}
	}
	known, there := (*of)[p.ID]
	if !there {
		known = b.reader.readAll(globsIn(b.w.Tasks[task].Paths, p.Name, b.groundOf(task).in.Projects))
		(*of)[p.ID] = known
	}
	return known
}
