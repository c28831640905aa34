package main

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

const (
	// titleMax is how much of a goal a list shows.
	titleMax = 50
	// titleMin is how much of it a narrow terminal shows rather than the columns
	// of less worth.
	titleMin = 16
)

type agentListOptions struct {
	app      *app
	statuses []string
	project  string
	provider string
	listing  listing
	quiet    bool
}

func newAgentListCmd(a *app, runF func(context.Context, *agentListOptions) error) *cobra.Command {
	opts := &agentListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List agents, newest first",
		Example: "cw agent list --status running\ncw agent list -q --project .\ncw agent list --sort -updatedAt --limit 10",
		Args:    noArgs,
		RunE:    start(a, runF, agentListRun, opts),
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&opts.statuses, "status", nil, "only those with this `STATUS`, or several with commas: "+statusNames())
	fl.StringVar(&opts.project, "project", "", "only those of this `PROJECT`: a name, an id or a path")
	fl.StringVar(&opts.provider, "provider", "", "only those of this `PROVIDER`")
	opts.listing.flags(fl, cw.AgentList())
	fl.BoolVarP(&opts.quiet, "quiet", "q", false, "print names only")
	return cmd
}

func statusNames() string {
	var names []string
	for _, s := range cw.AgentStatuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func agentListRun(ctx context.Context, o *agentListOptions) error {
	a := o.app
	filter := cw.AgentFilter{Provider: o.provider}
	var err error
	if filter.PageQuery, err = o.listing.query(); err != nil {
		return err
	}
	if o.project != "" {
		if filter.Project, err = a.projectRef(o.project); err != nil {
			return err
		}
	}
	if filter.Statuses, err = parseStatuses(o.statuses); err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	agents, err := cw.AllAgents(ctx, svc, filter)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(append([]cw.AgentView{}, agents...))
	case o.quiet:
		for _, v := range agents {
			a.printf("%s\n", v.Alias)
		}
	case len(agents) == 0 && (o.project != "" || o.provider != "" || len(o.statuses) > 0):
		a.note("no agents like that; cw agent list shows all")
	case len(agents) == 0:
		a.note(`no agents yet; in a git repository, cw run "what is to be done" starts one`)
	default:
		a.printAgents(agents)
	}
	return nil
}

func parseStatuses(words []string) ([]cw.AgentStatus, error) {
	var out []cw.AgentStatus
next:
	for _, word := range words {
		for _, s := range cw.AgentStatuses() {
			if string(s) == word {
				out = append(out, s)
				continue next
			}
		}
		return nil, usagef("there is no status %q", word).WithHint("the statuses are %s", statusNames())
	}
	return out, nil
}

func (a *app) printAgents(agents []cw.AgentView) {
	var rows [][]string
	for _, v := range agents {
		var projects []string
		for _, p := range v.Projects {
			projects = append(projects, p.Project)
		}
		status := string(v.Status)
		if v.Reason != "" {
			status += " (" + string(v.Reason) + ")"
		}
		rows = append(rows, []string{
			v.Alias, status, string(v.Mode), v.Provider, strings.Join(projects, ","),
			elapsed(a.now().Sub(v.CreatedAt)), cut(oneLine(v.Title), titleMax),
		})
	}
	header := []string{"NAME", "STATUS", "MODE", "PROVIDER", "PROJECT", "AGE", "GOAL"}
	if a.outTTY {
		header, rows = fit(header, rows, a.width())
	}
	table(a.out, "", header, rows)
}

// fit makes a table of agents as narrow as a terminal: the goal, which is last,
// is cut, and where it would say nothing any more, other columns go first.
func fit(header []string, rows [][]string, width int) ([]string, [][]string) {
	all := append([][]string{header}, rows...)
	for _, name := range []string{"", "MODE", "PROVIDER", "PROJECT", "AGE"} {
		if i := slices.Index(all[0], name); i >= 0 {
			for j, row := range all {
				all[j] = slices.Delete(slices.Clone(row), i, i+1)
			}
		}
		if room := width - leadWidth(all); room >= titleMin || name == "AGE" {
			for _, row := range all[1:] {
				goal := &row[len(row)-1]
				*goal = cut(*goal, max(room, 1))
			}
			break
		}
	}
	return all[0], all[1:]
}

// leadWidth is the width of all columns but the last, with what is between.
func leadWidth(rows [][]string) int {
	sum := 0
	for i := range len(rows[0]) - 1 {
		widest := 0
		for _, row := range rows {
			widest = max(widest, utf8.RuneCountInString(oneLine(row[i])))
		}
		sum += widest + columnGap
	}
	return sum
}
