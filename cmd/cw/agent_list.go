package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// titleMax is how much of a goal a list shows.
const titleMax = 50

type agentListOptions struct {
	app      *app
	statuses []string
	project  string
	quiet    bool
}

func newAgentListCmd(a *app, runF func(context.Context, *agentListOptions) error) *cobra.Command {
	opts := &agentListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List agents, newest first",
		Example: "cw agent list --status running\ncw agent list -q --project .",
		Args:    noArgs,
		RunE:    start(a, runF, agentListRun, opts),
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&opts.statuses, "status", nil, "only those with this `STATUS`, or several with commas: "+statusNames())
	fl.StringVar(&opts.project, "project", "", "only those of this `PROJECT`: a name, an id or a path")
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
	filter := cw.AgentFilter{}
	if o.project != "" {
		filter.Project = a.projectRef(o.project)
	}
	var err error
	if filter.Statuses, err = parseStatuses(o.statuses); err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	agents, err := svc.Agents(ctx, filter)
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
	case len(agents) == 0 && (o.project != "" || len(o.statuses) > 0):
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
	table(a.out, "", []string{"NAME", "STATUS", "MODE", "PROVIDER", "PROJECT", "AGE", "GOAL"}, rows)
}
