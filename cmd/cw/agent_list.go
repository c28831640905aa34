package main

import (
	"context"
	"slices"
	"strings"
	"time"
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
	// tableMax is how many agents a table shows where nobody said how many: one
	// page of the daemon.
	tableMax = cw.PageDefault
)

type agentListOptions struct {
	app        *app
	statuses   []string
	project    string
	provider   string
	initiative string
	listing    listing
	all        bool
	quiet      bool
	removed    bool
}

func newAgentListCmd(a *app, runF func(context.Context, *agentListOptions) error) *cobra.Command {
	opts := &agentListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List agents, newest first",
		Long: `List agents, newest first. The table has the first 100 and says when there are
more: --all lists all of them, --limit as many as you want. With --json and --quiet
all are printed.`,
		Example: "cw agent list --status running\ncw agent list -q --project .\ncw agent list --sort -updatedAt --limit 10\ncw agent list --initiative spring-sale",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := noEmptyFlags(cmd, "initiative"); err != nil {
				return err
			}
			return noArgs(cmd, args)
		},
		RunE: start(a, runF, agentListRun, opts),
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&opts.statuses, "status", nil, "only those with this `STATUS`, or several with commas: "+statusNames())
	fl.StringVar(&opts.project, "project", "", "only those of this `PROJECT`: a name, an id, a path or a URL")
	fl.StringVar(&opts.provider, "provider", "", "only those of this `PROVIDER`")
	fl.StringVar(&opts.initiative, "initiative", "", "only those that work for this `INITIATIVE`: its slug or id")
	fl.BoolVar(&opts.removed, "removed", false, "those that are removed, which cw agent restore brings back")
	opts.listing.flags(fl, cw.AgentList())
	fl.Lookup("limit").Usage = "print at most `N`; 0: 100 in a table, else all"
	fl.BoolVar(&opts.all, "all", false, "print all of them, in a table too")
	cmd.MarkFlagsMutuallyExclusive("all", "limit")
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
	filter := cw.AgentFilter{Provider: o.provider, Initiative: o.initiative, Removed: o.removed}
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
	agents, more, err := o.read(ctx, svc, filter)
	if err != nil {
		return hintNamed(ctx, svc, err, o.initiative, "", "")
	}
	switch {
	case a.json:
		return a.printJSON(append([]cw.AgentView{}, agents...))
	case o.quiet:
		for _, v := range agents {
			a.printf("%s\n", v.Alias)
		}
	case len(agents) == 0 && o.removed:
		a.note("no agent like that is removed")
	case len(agents) == 0 && (o.project != "" || o.provider != "" || o.initiative != "" || len(o.statuses) > 0):
		a.note("no agents like that; cw agent list shows all")
	case len(agents) == 0:
		a.note(`no agents yet; in a git repository, cw run "what is to be done" starts one`)
	default:
		a.printAgents(agents)
		if more {
			a.note("these are the first %d; cw agent list --all lists all of them, and --status, --project, --provider and --initiative say which", len(agents))
		}
	}
	return nil
}

// read returns the agents to print, and reports whether there are more. It asks the
// daemon for no more of them than are printed.
func (o *agentListOptions) read(ctx context.Context, svc cw.Services, f cw.AgentFilter) (agents []cw.AgentView, more bool, err error) {
	if o.app.json || o.quiet || o.all || f.Limit > 0 {
		agents, err = cw.AllAgents(ctx, svc, f)
		return agents, false, err
	}
	f.Limit = tableMax
	page, err := svc.Agents(ctx, f)
	return page.Items, page.Next != "", err
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
	age := "AGE"   // since it was made, or removed
	plans := false // one of them has a plan
	works := false // one of them works for an initiative
	for _, v := range agents {
		var projects []string
		for _, p := range v.Projects {
			projects = append(projects, p.Project)
		}
		since := v.CreatedAt
		if v.DeletedAt != nil {
			since, age = *v.DeletedAt, "REMOVED"
		}
		works, plans = works || worksFor(v.Agent) != "", plans || v.Plan != nil
		rows = append(rows, []string{
			v.Alias, listStatus(v, a.now()), string(v.Mode), v.Provider, strings.Join(projects, ","), worksFor(v.Agent),
			elapsed(a.now().Sub(since)), progress(v.Plan), cut(oneLine(v.Title), titleMax),
		})
	}
	header := []string{"NAME", "STATUS", "MODE", "PROVIDER", "PROJECT", "FOR", age, "PLAN", "GOAL"}
	if !works {
		header, rows = without(header, rows, "FOR")
	}
	if !plans {
		header, rows = without(header, rows, "PLAN")
	}
	if a.outTTY {
		header, rows = fit(header, rows, a.width())
	}
	table(a.out, "", header, rows)
}

// worksFor names the task that an agent does, or the phase or the initiative
// that it works for; "" for none.
func worksFor(a cw.Agent) string {
	switch {
	case a.TaskID != "":
		return "task " + string(a.TaskID)
	case a.PhaseID != "":
		return "phase " + string(a.PhaseID)
	case a.InitiativeID != "":
		return "initiative " + string(a.InitiativeID)
	}
	return ""
}

// without leaves a column out of a table, when it has it.
func without(header []string, rows [][]string, name string) ([]string, [][]string) {
	i := slices.Index(header, name)
	if i < 0 {
		return header, rows
	}
	all := append([][]string{header}, rows...)
	for j, row := range all {
		all[j] = slices.Delete(slices.Clone(row), i, i+1)
	}
	return all[0], all[1:]
}

// listStatus is a status with what a person wants to know about it at once.
func listStatus(v cw.AgentView, now time.Time) string {
	status := string(v.Status)
	switch act := v.Activity; {
	case act != nil && act.State == cw.ActivityStalled && act.LastAt != nil:
		return status + " (silent for " + elapsed(now.Sub(*act.LastAt)) + ")"
	case v.Status == cw.StatusWaitingForInput && len(v.PendingQuestions) > 0:
		return status + " (" + count(len(v.PendingQuestions), "question") + ")"
	case v.Status == cw.StatusParked && v.RetryAt != nil:
		return status + until(v.RetryAt)
	}
	return status + bracketed(string(v.Reason))
}

// fit makes a table of agents as narrow as a terminal.
func fit(header []string, rows [][]string, width int) ([]string, [][]string) {
	return narrow(header, rows, width, "MODE", "PROVIDER", "FOR", "PROJECT", "PLAN", "AGE")
}

// narrow makes a table as narrow as a terminal: the last column is cut, and where
// it would say nothing any more, others go first, in this order.
func narrow(header []string, rows [][]string, width int, others ...string) ([]string, [][]string) {
	for i, name := range append([]string{""}, others...) {
		header, rows = without(header, rows, name)
		if room := width - leadWidth(append([][]string{header}, rows...)); room >= titleMin || i == len(others) {
			for _, row := range rows {
				last := &row[len(row)-1]
				*last = cut(*last, max(room, 1))
			}
			break
		}
	}
	return header, rows
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
