package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

type recoverOptions struct {
	app    *app
	dryRun bool
}

func newRecoverCmd(a *app, runF func(context.Context, *recoverOptions) error) *cobra.Command {
	opts := &recoverOptions{app: a}
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Make damaged databases whole again",
		Long: `Make a home usable again whose databases are damaged: from the newest copy, from
all that can still be read, and from the run directories, which hold what every
agent was told and wrote. Damaged files are moved to CW_HOME/damaged and never
deleted; what nothing tells is said, and not guessed.

It works without a daemon, and is refused while one runs. Agents run on.`,
		Example: "cw recover --dry-run\ncw stop && cw recover",
		Annotations: exits(
			"0  all is whole now, or was before; with --dry-run: it was looked",
			"1  it did not work",
			"4  a daemon runs",
		),
		Args: noArgs,
		RunE: start(a, runF, recoverRun, opts),
	}
	cmd.Flags().BoolVarP(&opts.dryRun, "dry-run", "n", false, "only look, and tell what is damaged")
	return cmd
}

func recoverRun(ctx context.Context, o *recoverOptions) error {
	a := o.app
	home, err := a.home()
	if err != nil {
		return err
	}
	if a.inside(home) {
		return cw.Errorf(cw.CodeRefused, "an agent cannot recover databases").WithHint("a person does, outside of the run")
	}
	r, err := a.rebuild(ctx, daemon.RecoverOptions{Home: home, Version: version(), DryRun: o.dryRun})
	var refused *cw.Error
	switch {
	case errors.As(err, &refused) && refused.Code == cw.CodeRefused: // a daemon runs
		return refused.WithHint("cw stop ends the daemon, and agents run on; then cw recover")
	case err != nil:
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	a.printRecovery(r)
	return nil
}

func (a *app) printRecovery(r daemon.RecoverReport) {
	if len(r.Damaged) == 0 && len(r.Moved) == 0 {
		a.printf("nothing is damaged\n")
		return
	}
	var rows []string
	for _, table := range slices.Sorted(maps.Keys(r.Rows)) {
		rows = append(rows, fmt.Sprintf("%d %s", r.Rows[table], table))
	}
	facts(a.out, "", [][2]string{
		{"damaged", clean(strings.Join(r.Damaged, "\n"))},
		{"moved to", clean(strings.Join(r.Moved, "\n"))},
		{"base", oneLine(r.Backup)},
		{"still readable", strings.Join(rows, ", ")},
		{"from run directories", clean(strings.Join(r.Runs, "\n"))},
		{"output stored anew", outputFact(r)},
		{"unknown", clean(strings.Join(r.Unknown, "\n"))},
	})
	if r.DryRun {
		a.note("nothing was changed; cw recover makes it whole")
		return
	}
	a.note("all that can be known is back; cw agent list shows the agents")
}

func outputFact(r daemon.RecoverReport) string {
	if r.OutputBytes == 0 {
		return ""
	}
	return size(r.OutputBytes)
}
