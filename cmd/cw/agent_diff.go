package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentDiffOptions struct {
	app     *app
	ref     string
	project string
	stat    bool
}

func newAgentDiffCmd(a *app, runF func(context.Context, *agentDiffOptions) error) *cobra.Command {
	opts := &agentDiffOptions{app: a}
	cmd := &cobra.Command{
		Use:   "diff NAME",
		Short: "Show what an agent changed since its base",
		Long: `Show what an agent changed since its base: the patch of its commits, then the
patch of tracked files that it did not commit. What else is not committed is
named on stderr.`,
		Example: "cw agent diff brave-otter\ncw agent diff brave-otter | git apply",
		Args:    oneArg(&opts.ref, agentWhat),
		RunE:    start(a, runF, agentDiffRun, opts),
	}
	cmd.Flags().StringVar(&opts.project, "project", "", "which `PROJECT`, when the agent has several")
	cmd.Flags().BoolVar(&opts.stat, "stat", false, "only commits and sizes")
	return cmd
}

func agentDiffRun(ctx context.Context, o *agentDiffOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	req := cw.DiffRequest{Stat: o.stat}
	if o.project != "" {
		if req.Project, err = a.projectRef(o.project); err != nil {
			return err
		}
	}
	d, err := svc.Diff(ctx, o.ref, req)
	if err != nil {
		return err
	}
	return a.printDiff(d, o.stat)
}

// projectNamed finds the name of a project that a flag gives by name, id, path or
// URL; "" stays.
func (a *app) projectNamed(ctx context.Context, svc cw.Services, project string) (string, error) {
	if project == "" {
		return "", nil
	}
	ref, err := a.projectRef(project)
	if err != nil {
		return "", err
	}
	p, err := svc.Project(ctx, ref)
	return p.Name, err
}

// printDiff prints a difference: as a patch, or only its size.
func (a *app) printDiff(d cw.Diff, stat bool) error {
	switch {
	case a.json:
		return a.printJSON(d)
	case stat:
		a.printDiffStat(d)
		return nil
	}
	if d.Patch == "" && d.WorkPatch == "" {
		a.note("no changes since %s", shortCommit(d.BaseCommit))
	}
	if err := a.printPatch(d.Patch + d.WorkPatch); err != nil {
		return err
	}
	if len(d.Uncommitted) > 0 {
		a.note("not committed: %s", strings.Join(d.Uncommitted, ", "))
	}
	return nil
}

func (a *app) printDiffStat(d cw.Diff) {
	p := a.paint(a.outTTY)
	for _, c := range d.Commits {
		a.printf("%s %s%s\n", p.yellow(shortCommit(c.ID)), oneLine(c.Subject), p.dim(bracketed(oneLine(c.Author))))
	}
	a.printf("%s on %s since %s\n", count(len(d.Commits), "commit"), oneLine(d.Branch), shortCommit(d.BaseCommit))
	if stat := statFact(d.Stat); stat != "" {
		a.printf("%s\n", stat)
	}
	for _, path := range d.Uncommitted {
		a.printf("%s %s\n", p.red("not committed:"), oneLine(path))
	}
}

// printPatch prints a patch exactly, so that it can be applied; on a terminal
// it is made safe and coloured.
func (a *app) printPatch(patch string) error {
	if !a.outTTY || patch == "" {
		_, err := fmt.Fprint(a.out, patch)
		return err
	}
	p := a.paint(true)
	for line := range strings.Lines(clean(patch)) {
		text, _ := strings.CutSuffix(line, "\n")
		if _, err := fmt.Fprintln(a.out, p.diff(text)); err != nil {
			return err
		}
	}
	return nil
}
