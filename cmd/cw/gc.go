package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type gcOptions struct {
	app      *app
	dryRun   bool
	branches bool
}

func newGCCmd(a *app, runF func(context.Context, *gcOptions) error) *cobra.Command {
	opts := &gcOptions{app: a}
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Free space: what is kept no longer, and why",
		Long: `Free what is kept no longer: removed worktrees after their time, raw output that
is stored, old copies of databases and programs, what killed steps left behind.
The daemon does so by itself; this does it now, and says what stays and why.
Work that exists nowhere else is never touched. With --branches the branches
agent/NAME of your repositories go too, where another branch holds their commits.`,
		Example:     "cw gc --dry-run\ncw gc\ncw gc --branches",
		Annotations: exits("0  done", "1  something could not be deleted"),
		Args:        noArgs,
		RunE:        start(a, runF, gcRun, opts),
	}
	cmd.Flags().BoolVarP(&opts.dryRun, "dry-run", "n", false, "only tell what would go")
	cmd.Flags().BoolVar(&opts.branches, "branches", false, "also delete merged branches agent/NAME in the repositories of your projects")
	return cmd
}

func gcRun(ctx context.Context, o *gcOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	r, err := svc.CollectGarbage(ctx, cw.GCRequest{DryRun: o.dryRun, Branches: o.branches})
	if err != nil {
		return err
	}
	if r.Items == nil {
		r.Items = []cw.Garbage{}
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		a.printGarbage(r)
	}
	failed := 0
	for _, item := range r.Items {
		if item.Error != "" {
			failed++
		}
	}
	if err == nil && failed > 0 {
		return cw.Errorf(cw.CodeFailed, "%s could not be deleted", count(failed, "thing")).WithHint("the reasons stand beside them; cw logs has more")
	}
	return err
}

func (a *app) printGarbage(r cw.GCReport) {
	goes := "went"
	if r.DryRun {
		goes = "goes"
	}
	var rows [][]string
	for _, item := range r.Items {
		what, why := item.Path, item.Reason
		if item.Kind == cw.GarbageBranch && item.Agent != "" {
			what = "agent/" + item.Agent + " in " + item.Path
		}
		if what == "" {
			what = item.Agent
		}
		state := "stays"
		if item.Goes {
			state = goes
		}
		if item.Error != "" {
			state, why = "failed", item.Error
		}
		rows = append(rows, []string{state, string(item.Kind), size(item.Bytes), what, why})
	}
	if len(rows) > 0 {
		table(a.out, "", []string{"", "KIND", "SIZE", "WHAT", "WHY"}, rows)
		a.printf("\n")
	}
	verb := "freed"
	if r.DryRun {
		verb = "would free"
	}
	a.printf("%s %s\n", verb, size(r.FreedBytes))
}
