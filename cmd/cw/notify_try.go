package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type notifyTestOptions struct{ app *app }

func newNotifyTestCmd(a *app, runF func(context.Context, *notifyTestOptions) error) *cobra.Command {
	opts := &notifyTestOptions{app: a}
	return &cobra.Command{
		Use:   "test",
		Short: "Send a notification by every hook, and say what happened",
		Long: `Send one notification by every hook that is configured, from the daemon and with
the settings and the environment that it has, and say what became of each. Nothing
is tried again.`,
		Annotations: exits("0  all of them got through", "1  one did not", "4  no hook is configured"),
		Args:        noArgs,
		RunE:        start(a, runF, notifyTestRun, opts),
	}
}

func notifyTestRun(ctx context.Context, o *notifyTestOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	trials, err := svc.TryHooks(ctx)
	if err != nil {
		return err
	}
	failed := 0
	var rows [][]string
	for _, t := range trials {
		state := "ok"
		if !t.OK {
			state = "failed"
			failed++
		}
		rows = append(rows, []string{string(t.Kind), oneLine(t.Target), state, oneLine(t.Detail)})
	}
	if a.json {
		err = a.printJSON(trials)
	} else {
		table(a.out, "", []string{"HOOK", "TARGET", "STATE", "WHAT HAPPENED"}, rows)
	}
	if err == nil && failed > 0 {
		return cw.Errorf(cw.CodeFailed, "%s did not get through", count(failed, "notification")).
			WithHint("docs/notifications.md says what receivers and programs get")
	}
	return err
}
