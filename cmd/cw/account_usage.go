package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

const (
	barWidth = 20 // characters of a bar
	// oldUsage is the age at which figures are shown with it.
	oldUsage = time.Minute
)

type accountUsageOptions struct {
	app *app
	ref string
}

func newAccountUsageCmd(a *app, runF func(context.Context, *accountUsageOptions) error) *cobra.Command {
	opts := &accountUsageOptions{app: a}
	return &cobra.Command{
		Use:   "usage [ACCOUNT]",
		Short: "Show how far the limits of accounts are used",
		Long: `Ask the provider how far the windows of an account are used, or of all accounts
that are not disabled. When it cannot be asked, the last known figures are shown
with their age.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneArg(&opts.ref, accountWhat)(cmd, args)
		},
		RunE: start(a, runF, accountUsageRun, opts),
	}
}

func accountUsageRun(ctx context.Context, o *accountUsageOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	refs, err := o.refs(ctx, svc)
	if err != nil {
		return err
	}
	all := []cw.AccountUsage{}
	for _, ref := range refs {
		u, err := svc.AccountUsage(ctx, ref)
		if err != nil {
			return err
		}
		all = append(all, u)
	}
	if a.json {
		return a.printJSON(all)
	}
	if len(all) == 0 {
		a.note("no account is enabled; cw account list shows all")
	}
	for _, u := range all {
		a.printUsage(u)
	}
	return nil
}

// refs are the accounts that are asked for.
func (o *accountUsageOptions) refs(ctx context.Context, svc cw.Services) ([]string, error) {
	if o.ref != "" {
		return []string{o.ref}, nil
	}
	accounts, err := svc.Accounts(ctx, "")
	var refs []string
	for _, v := range accounts {
		if v.Enabled {
			refs = append(refs, string(v.ID))
		}
	}
	return refs, err
}

func (a *app) printUsage(u cw.AccountUsage) {
	notes := []string{a.accountState(u.Account)}
	if age := time.Duration(u.AgeNanos); len(u.Account.Usage) > 0 && age >= oldUsage {
		notes = append(notes, "seen "+elapsed(age)+" ago")
	}
	a.printf("%s  %s\n", a.paint(a.outTTY).bold(accountTitle(u.Account)), strings.Join(notes, ", "))
	if len(u.Account.Usage) == 0 {
		a.printf("  its use is not known\n")
	}
	a.printWindows(u.Account.Usage)
	if u.Trouble != "" {
		a.printf("  %s\n", oneLine(u.Trouble))
	}
}

// printWindows draws a bar for each window, with its reset time.
func (a *app) printWindows(windows []cw.UsageWindow) {
	width := 0
	for _, w := range windows {
		width = max(width, len(oneLine(w.Kind)))
	}
	for _, w := range windows {
		line := fmt.Sprintf("  %-*s  %s %3.0f %%", width, oneLine(w.Kind), bar(w.UsedPercent), w.UsedPercent)
		if w.ResetsAt != nil {
			line += "  resets " + clock(*w.ResetsAt) + a.relative(*w.ResetsAt)
		}
		a.printf("%s\n", line)
	}
}

// bar draws a share.
func bar(percent float64) string {
	full := int(percent/100*barWidth + 0.5)
	full = min(max(full, 0), barWidth)
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
}

// relative says how far away a time is.
func (a *app) relative(t time.Time) string {
	if d := t.Sub(a.now()); d > 0 {
		return " (in " + elapsed(d) + ")"
	}
	return " (past)"
}
