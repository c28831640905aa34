package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type accountSwitchOptions struct {
	app  *app
	refs []string
	on   bool
}

// newAccountSwitchCmd makes enable or disable.
func newAccountSwitchCmd(a *app, on bool, runF func(context.Context, *accountSwitchOptions) error) *cobra.Command {
	opts := &accountSwitchOptions{app: a, on: on}
	cmd := &cobra.Command{
		Use:   "disable ACCOUNT...",
		Short: "Give accounts no more runs",
		Long:  "Give accounts no more runs. Agents that run with one go on; their next run has\nanother.",
		Args:  someArgs(&opts.refs, accountWhat, "cw account list shows all"),
		RunE:  start(a, runF, accountSwitchRun, opts),
	}
	if on {
		cmd.Use, cmd.Short = "enable ACCOUNT...", "Let accounts be used again"
		cmd.Long = "Let accounts be used again. Agents that are parked for want of one go on."
	}
	return cmd
}

func accountSwitchRun(ctx context.Context, o *accountSwitchOptions) error {
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	all := []cw.AccountView{}
	for _, ref := range o.refs {
		v, err := svc.SetAccount(ctx, ref, cw.AccountSettings{Enabled: &o.on})
		if err != nil {
			return err
		}
		all = append(all, v)
	}
	return o.app.printStates(all)
}

// printStates shows what became of accounts.
func (a *app) printStates(all []cw.AccountView) error {
	if a.json {
		return a.printJSON(all)
	}
	for _, v := range all {
		a.printf("%s  %s, priority %d\n", accountTitle(v.Account), a.accountState(v.Account), v.Priority)
	}
	return nil
}

type accountPriorityOptions struct {
	app      *app
	ref      string
	priority int
}

func newAccountPriorityCmd(a *app, runF func(context.Context, *accountPriorityOptions) error) *cobra.Command {
	opts := &accountPriorityOptions{app: a}
	return &cobra.Command{
		Use:   "priority ACCOUNT N",
		Short: "Say which accounts are used first",
		Long: `Set the priority of an account. Runs get the account with the greatest one that
can be used; among equals the one that was used longest ago. It is 0 unless set.`,
		Example: "cw account priority work 10\ncw account priority claude/default -- -1",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("%s needs an account and a number, and got %s", title(cmd), count(len(args), "argument")).WithHint("usage: %s", cmd.UseLine())
			}
			n, err := strconv.Atoi(args[1])
			if err != nil {
				return usagef("the priority %.40q is not a whole number", args[1]).WithHint("accounts with a greater one are used first")
			}
			opts.ref, opts.priority = args[0], n
			return nil
		},
		RunE: start(a, runF, accountPriorityRun, opts),
	}
}

func accountPriorityRun(ctx context.Context, o *accountPriorityOptions) error {
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	v, err := svc.SetAccount(ctx, o.ref, cw.AccountSettings{Priority: &o.priority})
	if err != nil {
		return err
	}
	return o.app.printStates([]cw.AccountView{v})
}
