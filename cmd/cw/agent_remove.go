package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentRemoveOptions struct {
	app          *app
	refs         []string
	deleteBranch bool
}

func newAgentRemoveCmd(a *app, runF func(context.Context, *agentRemoveOptions) error) *cobra.Command {
	opts := &agentRemoveOptions{app: a}
	cmd := &cobra.Command{
		Use:     "remove NAME...",
		Aliases: []string{"rm"},
		Short:   "Remove agents; cw agent restore brings them back",
		Long: `Remove agents. Their worktrees go to the trash with everything in them, after a
snapshot of all that is not committed, and are kept for 7 days: cw agent restore
brings worktree, branch and changes back. Branches in your repository stay, unless
--delete-branch is given and another branch holds their commits; so do the output
and the messages. Refused while an agent runs.`,
		Example: "cw agent remove brave-otter calm-fox\ncw agent stop brave-otter && cw agent remove brave-otter",
		Args:    someArgs(&opts.refs, agentWhat, "cw agent list shows all"),
		RunE:    start(a, runF, agentRemoveRun, opts),
	}
	cmd.Flags().BoolVar(&opts.deleteBranch, "delete-branch", false, "also delete the branch agent/NAME in your repositories, where it is merged")
	return cmd
}

// someArgs puts at least one argument into the options. hint is what to do
// about none.
func someArgs(into *[]string, what, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for _, arg := range args {
			if strings.TrimSpace(arg) == "" {
				return usagef("%s needs %s, and got an empty one", title(cmd), what).WithHint("usage: %s", cmd.UseLine())
			}
		}
		if len(args) == 0 {
			return usagef("%s needs %s", title(cmd), what).WithHint("%s", hint)
		}
		return anyArgs(into)(cmd, args)
	}
}

func agentRemoveRun(ctx context.Context, o *agentRemoveOptions) error {
	return o.app.eachAgent(ctx, o.refs, o.remove, o.app.printRemoved)
}

// remove removes an agent, and then its branches when that is wanted.
func (o *agentRemoveOptions) remove(svc cw.Services, ctx context.Context, ref string) (cw.AgentView, error) {
	v, err := svc.Remove(ctx, ref)
	if err != nil || !o.deleteBranch {
		return v, err
	}
	report, err := svc.CollectGarbage(ctx, cw.GCRequest{Branches: true, Agent: v.Alias})
	if err != nil {
		return v, fmt.Errorf("%s is removed, its branch is not: %w", v.Alias, err)
	}
	for _, item := range report.Items {
		switch {
		case item.Error != "":
			o.app.note("the branch agent/%s in %s stays: %s", v.Alias, oneLine(item.Path), oneLine(item.Error))
		case item.Goes:
			o.app.note("the branch agent/%s in %s is deleted", v.Alias, oneLine(item.Path))
		default:
			o.app.note("the branch agent/%s in %s stays: %s", v.Alias, oneLine(item.Path), oneLine(item.Reason))
		}
	}
	return v, nil
}

// eachAgent does the same to several agents, and goes on after a failure: a
// slip in one name does not keep the others.
func (a *app) eachAgent(ctx context.Context, refs []string,
	act func(cw.Services, context.Context, string) (cw.AgentView, error), show func(cw.AgentView),
) error {
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	after, errs := []cw.AgentView{}, []error{}
	for _, ref := range refs {
		v, err := act(svc, ctx, ref)
		if err != nil {
			if len(refs) > 1 {
				err = fmt.Errorf("%s: %w", oneLine(ref), err)
			}
			errs = append(errs, err)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		after = append(after, v)
		if !a.json {
			show(v)
		}
	}
	if a.json {
		errs = append(errs, a.printJSON(after))
	}
	return errors.Join(errs...)
}

func (a *app) printRemoved(v cw.AgentView) {
	a.printf("%s is removed\n", v.Alias)
	kept := 0
	for _, w := range v.Projects {
		if w.State == cw.WorktreeTrashed {
			kept++
			a.note("  %s lies in %s%s", oneLine(w.Project), oneLine(w.Trash), keptUntil(w.TrashedAt))
		}
	}
	for _, warning := range v.Warnings {
		a.note("  warning: %s", warning)
	}
	switch {
	case len(v.Projects) == 0:
		a.note("  its folder is in the trash%s; cw agent restore %s brings it back", keptUntil(v.DeletedAt), v.Alias)
	case kept > 0:
		a.note("  cw agent restore %s brings it back", v.Alias)
	default:
		a.note("  its work is on its branch; cw agent restore %s brings it back to the list", v.Alias)
	}
}

// keptUntil says until when something in the trash is kept at least.
func keptUntil(since *time.Time) string {
	if since == nil {
		return ""
	}
	return " until " + clock(since.Add(cw.TrashKeep))
}
