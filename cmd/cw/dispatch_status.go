package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type dispatchStatusOptions struct {
	app *app
	ref string
}

func newDispatchStatusCmd(a *app, runF func(context.Context, *dispatchStatusOptions) error) *cobra.Command {
	opts := &dispatchStatusOptions{app: a}
	return &cobra.Command{
		Use:   "status [INITIATIVE]",
		Short: "Tell which tasks run, which are next, and why the others wait",
		Long: `Tell which tasks run, which are started next, and of each of the others what it
waits for: exactly one reason, and what to do about it where it does not pass by
itself. Then the work that is not merged yet, in the order in which it will be.`,
		Example: "cw dispatch status\ncw dispatch status spring-sale --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneArg(&opts.ref, initiativeWhat)(cmd, args)
		},
		ValidArgsFunction: completeInitiatives(a, false),
		RunE:              start(a, runF, dispatchStatusRun, opts),
	}
}

func dispatchStatusRun(ctx context.Context, o *dispatchStatusOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	s, err := svc.Dispatch(ctx, o.ref)
	switch {
	case err != nil:
		return hintNear(ctx, svc, err, nounInitiative, o.ref)
	case a.json:
		return a.printJSON(s)
	}
	a.printDispatch(s, o.ref == "")
	return nil
}

func (a *app) printDispatch(s cw.DispatchStatus, whole bool) {
	p := a.paint(a.outTTY)
	facts(a.out, "", [][2]string{
		{"dispatch", stateFact(p, s.State)},
		{"limits", limitsFact(s.Limits)},
		{"pressure", p.yellow(oneLine(s.Pressure))},
		{"to land", landingFact(s.Landing)},
	})
	all := slices.Concat(s.Running, s.Ready, s.Waiting)
	if len(all) == 0 {
		a.note("no task is to be done")
	}
	if len(s.Running) > 0 {
		a.printf("\n%s\n", p.bold("running"))
		a.printDispatchTasks(s.Running, whole)
	}
	if len(s.Ready) > 0 {
		a.printf("\n%s\n", p.bold("next"))
		a.printDispatchTasks(s.Ready, whole)
	}
	if len(s.Waiting) > 0 {
		a.printf("\n%s\n", p.bold("waiting"))
		a.printWaiting(s.Waiting, whole)
	}
	if len(s.Merges) > 0 {
		a.printf("\n%s\n", p.bold("to be merged, in this order"))
		names := map[cw.TaskID]string{}
		for _, t := range all {
			names[t.ID] = t.Name
		}
		a.printMerges("  ", s.Merges, names)
		for _, m := range s.Merges { // as of each task that waits, the reason is told whole
			switch {
			case m.AwaitsPerson():
				a.printf("  %s  %s\n", oneLine(string(m.TaskID)), p.yellow("waits for you: "+verdictHint(m.TaskID)))
			case m.Wait != "":
				a.printf("  %s  %s\n", oneLine(string(m.TaskID)), p.yellow("waits: "+oneLine(m.Wait)))
			}
		}
	}
	a.noteNoPaths(slices.Concat(s.Running, s.Ready))
}

// landingFact names the initiatives that are done, with the command that lands
// them.
func landingFact(landing []cw.InitiativeRef) string {
	lines := make([]string, len(landing))
	for i, ref := range landing {
		lines[i] = "cw merge " + cw.ShellWord(oneLine(ref.Slug))
	}
	return strings.Join(lines, "\n")
}
