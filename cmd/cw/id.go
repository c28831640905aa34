package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// idsMax bounds how many ids are made at once.
const idsMax = 10000

type idOptions struct {
	app   *app
	count int
}

func newIDCmd(a *app, runF func(context.Context, *idOptions) error) *cobra.Command {
	opts := &idOptions{app: a}
	cmd := &cobra.Command{
		Use:   "id",
		Short: "Make ids",
		Long: `Make unguessable ids, one a line: 12 characters of lower-case base32. Agents use
them to name what they write. No daemon is needed.`,
		Example: "cw id\ncw id -n 5",
		Args:    noArgs,
		RunE:    start(a, runF, idRun, opts),
	}
	cmd.Flags().IntVarP(&opts.count, "number", "n", 1, "make `N` of them")
	return cmd
}

func idRun(_ context.Context, o *idOptions) error {
	if o.count < 1 || o.count > idsMax {
		return usagef("-n %d is not between 1 and %d", o.count, idsMax)
	}
	ids := make([]string, o.count)
	for i := range ids {
		ids[i] = cw.NewID()
	}
	if o.app.json {
		return o.app.printJSON(ids)
	}
	for _, id := range ids {
		o.app.printf("%s\n", id)
	}
	return nil
}
