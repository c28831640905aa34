package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// initiativeWhat says in errors what a command wants.
const initiativeWhat = "an initiative: its slug or id"

func newInitiativeCmd(a *app) *cobra.Command {
	group := newGroupCmd("initiative", "Goals over one or more repositories, with pages, phases and tasks",
		newInitiativeCreateCmd(a, nil), newInitiativeListCmd(a, nil), newInitiativeShowCmd(a, nil),
		newInitiativeEditCmd(a, nil), newInitiativeRunCmd(a, nil), newInitiativeDiffCmd(a, nil),
		newInitiativeStartCmd(a, nil), newInitiativeArchiveCmd(a, nil))
	for _, cmd := range group.Commands() {
		if name := cmd.Name(); name != "list" && name != "create" {
			cmd.ValidArgsFunction = completeInitiatives(a, name == "archive")
		}
	}
	return group
}

// allInitiatives lists all initiatives that a filter selects.
func allInitiatives(ctx context.Context, svc cw.Services, f cw.InitiativeFilter) ([]cw.Initiative, error) {
	sort := f.Sort
	return cw.SomePages(ctx, f.Limit, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Initiative], error) {
		f.PageQuery, f.Sort = q, sort
		return svc.Initiatives(ctx, f)
	})
}

// completeInitiatives offers the slugs of initiatives as the first argument. It
// never starts a daemon, and offers nothing rather than an error.
func completeInitiatives(a *app, archived bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeMax)
		defer cancel()
		var slugs []string
		if svc, err := a.reach(ctx); err == nil {
			for _, old := range []bool{false, true} {
				if old && !archived {
					break
				}
				some, _ := allInitiatives(ctx, svc, cw.InitiativeFilter{Archived: old})
				for _, i := range some {
					slugs = append(slugs, cobra.CompletionWithDesc(i.Slug, oneLine(i.Name)))
				}
			}
		}
		return slugs, cobra.ShellCompDirectiveNoFileComp
	}
}

// initiativeAnd puts an initiative and the name of something new in it into the
// options.
func initiativeAnd(initiative, name *string, nameWhat string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usagef("%s needs %s, and %s; it got %s", title(cmd), initiativeWhat, nameWhat, count(len(args), "argument")).
				WithHint("usage: %s", cmd.UseLine())
		}
		for i, what := range []string{initiativeWhat, nameWhat} {
			if strings.TrimSpace(args[i]) == "" {
				return usagef("%s needs %s, and got an empty one", title(cmd), what).WithHint("usage: %s", cmd.UseLine())
			}
		}
		*initiative, *name = args[0], args[1]
		return nil
	}
}

// printInitiative shows an initiative without what belongs to it, and more facts
// about it.
func (a *app) printInitiative(i cw.Initiative, more ...[2]string) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s\n", p.bold(oneLine(i.Name)), p.initiative(i.Status))
	facts(a.out, "  ", append([][2]string{
		{"slug", oneLine(i.Slug)},
		{"id", string(i.ID)},
		{"branch", oneLine(i.Branch())},
		{"projects", projectsFact(i.Projects)},
		{"first page", string(i.RootPageID)},
		{"tasks", tasksDoneBy(i.Work)},
		{"made", strings.TrimSpace(clock(i.CreatedAt) + bracketed(oneLine(i.CreatedBy)))},
	}, more...))
}

// tasksDoneBy says what is special about how tasks are done.
func tasksDoneBy(w cw.WorkSettings) string {
	var parts []string
	if w.Hold {
		parts = append(parts, "wait for cw initiative start")
	}
	if agent := strings.Join(strings.Fields(oneLine(w.Provider+" "+w.Model+" "+w.Script)), " "); agent != "" {
		parts = append(parts, "by "+agent)
	}
	return strings.Join(parts, ", ")
}

// projectsFact names the projects of an initiative.
func projectsFact(projects []cw.InitiativeProject) string {
	names := make([]string, len(projects))
	for i, p := range projects {
		if names[i] = oneLine(p.Name); names[i] == "" {
			names[i] = oneLine(string(p.ID))
		}
	}
	return strings.Join(names, ", ")
}

// initiative colours the status of an initiative.
func (p paint) initiative(s cw.InitiativeStatus) string {
	if s == cw.InitiativeArchived {
		return p.dim(string(s))
	}
	return p.green(oneLine(string(s)))
}
