package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type mergeOptions struct {
	app *app
	ref string
	cw.LandRequest
}

func newMergeCmd(a *app, runF func(context.Context, *mergeOptions) error) *cobra.Command {
	opts := &mergeOptions{app: a}
	cmd := &cobra.Command{
		Use:   "merge INITIATIVE",
		Short: "Bring the branch of an initiative into your repositories",
		Long: `Bring the branch of an initiative into the branch that it began from, in each of its
repositories or, when that cannot be in one of them, in none. A branch that you
have checked out goes forward there when it has no changes; with changes it is not
touched, and you are told what to do.`,
		Example: "cw merge spring-sale --dry-run\ncw merge spring-sale --into release --project shop",
		Annotations: exits(
			"0  it is landed, or was already",
			"4  tasks are not done, the branch is checked out with changes, or there is a conflict",
		),
		Args:              oneArg(&opts.ref, initiativeWhat),
		ValidArgsFunction: completeInitiatives(a, false),
		RunE:              start(a, runF, mergeRun, opts),
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.Into, "into", "", "the `BRANCH` of your repository (default: the one that the initiative began from)")
	fl.StringVar(&opts.Project, "project", "", "only in this `PROJECT`: a name, an id, a path or a URL")
	fl.BoolVar(&opts.DryRun, "dry-run", false, "say what would be done, and do nothing")
	fl.BoolVar(&opts.Unfinished, "unfinished", false, "land what is merged so far, though tasks are not done")
	cmd.AddCommand(newMergeListCmd(a, nil))
	return cmd
}

func mergeRun(ctx context.Context, o *mergeOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	req := o.LandRequest
	if req.Project, err = a.projectNamed(ctx, svc, o.Project); err != nil {
		return err
	}
	// Ctrl-C does not cut it off: nobody could say then what became of it.
	landed, err := uncut(ctx, a, "it is just being landed; a moment (Ctrl-C again to leave at once)", func(ctx context.Context) ([]cw.Landing, error) {
		return svc.Land(ctx, o.ref, req)
	})
	switch {
	case err != nil:
		return hintNear(ctx, svc, err, nounInitiative, o.ref)
	case a.json:
		return a.printJSON(append([]cw.Landing{}, landed...))
	}
	for i, l := range landed {
		if i > 0 {
			a.printf("\n")
		}
		a.printLanding(l)
	}
	if req.DryRun {
		a.note("nothing was done: leave --dry-run out for that")
	}
	return nil
}

func (a *app) printLanding(l cw.Landing) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s → %s  %s\n", p.bold(oneLine(l.Project)), oneLine(l.Branch), oneLine(l.Into), p.green(landingHow(l)))
	rows := [][2]string{{"at", shortCommit(l.After)}}
	if l.Before != l.After {
		rows = [][2]string{
			{"before", shortCommit(l.Before)},
			{"after", shortCommit(l.After)},
			{"commits", strings.TrimSpace(fmt.Sprint(l.Commits) + bracketed(statFact(l.Stat)))},
			{"checked out", oneLine(l.Checkout)},
		}
	}
	facts(a.out, "  ", append(rows, [2]string{"note", oneLine(l.Note)}))
}

// landingHow says for people how a branch was landed.
func landingHow(l cw.Landing) string {
	switch l.How {
	case "up-to-date":
		return "has all of it already"
	case "fast-forward":
		return "fast-forward"
	case "checked-out":
		return "fast-forward, where it is checked out"
	case "merge":
		return "a merge commit"
	}
	return oneLine(l.How)
}
