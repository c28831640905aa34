package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type providerListOptions struct {
	app *app
}

func newProviderListCmd(a *app, runF func(context.Context, *providerListOptions) error) *cobra.Command {
	opts := &providerListOptions{app: a}
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the providers, and which of their programs are installed",
		Long: `List the providers: those that are built in, and those of your own files in
$CW_HOME/providers. Programs that are found on your PATH are asked for their
version. SIGNAL tells who says how a run ended: the agent itself, or cw by what it
sees. Of a file that cannot be read TROUBLE has the line and the reason; what was
good before is used meanwhile.`,
		Args: noArgs,
		RunE: start(a, runF, providerListRun, opts),
	}
}

func providerListRun(ctx context.Context, o *providerListOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	views, err := svc.Providers(ctx, a.env["PATH"])
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(append([]cw.ProviderView{}, views...))
	}
	var rows [][]string
	for _, v := range views {
		rows = append(rows, []string{
			v.Name, installedFact(v), v.Version, v.Resume, v.Signal, some(v.Runs), some(v.UnknownLines), troubleFact(v),
		})
	}
	table(a.out, "", []string{"NAME", "INSTALLED", "VERSION", "RESUME", "SIGNAL", "RUNS", "UNKNOWN LINES", "TROUBLE"}, rows)
	return nil
}

// troubleFact is what keeps a provider from being used, in a line.
func troubleFact(v cw.ProviderView) string {
	if v.Trouble == "" && v.NotLoggedIn != "" {
		return "not logged in"
	}
	return v.Trouble
}

// some is a number in a table; "" for none.
func some(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
