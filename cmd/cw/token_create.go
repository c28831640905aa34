package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// dashboardAddress is what hints propose for dashboards to call.
const dashboardAddress = "127.0.0.1:7420"

type tokenCreateOptions struct {
	app    *app
	name   string
	scopes []string
}

func newTokenCreateCmd(a *app, runF func(context.Context, *tokenCreateOptions) error) *cobra.Command {
	opts := &tokenCreateOptions{app: a}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a token for a dashboard, and print it",
		Long: `Make a token for a dashboard, or for any program that calls the daemon over TCP,
and print it alone on one line. It is shown only this once: cw keeps its hash.

With scope read it sees everything: agents, what they write, events. With scope
operate it may also start and stop agents and register repositories. Agents
cannot make tokens. A browser needs none: cw open lets it in.`,
		Example: "cw token create\ncw token create --name wall-screen --scope operate > token",
		Args:    noArgs,
		RunE:    start(a, runF, tokenCreateRun, opts),
	}
	cmd.Flags().StringVar(&opts.name, "name", "", "what it is called: a `NAME` for lists (default: dashboard, numbered when taken)")
	cmd.Flags().StringSliceVar(&opts.scopes, "scope", nil, "what it may: `SCOPE` is read (the default) or operate")
	return cmd
}

func tokenCreateRun(ctx context.Context, o *tokenCreateOptions) error {
	a := o.app
	req := cw.TokenRequest{Name: o.name}
	for _, s := range o.scopes {
		req.Scopes = append(req.Scopes, cw.Scope(s))
	}
	if _, err := req.Complete(); err != nil { // before a daemon is started for it
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	made, err := svc.CreateToken(ctx, req)
	if err != nil {
		return err
	}
	if err := o.show(made); err != nil { // nobody has seen it, so nobody shall have it
		_, revoked := svc.RevokeToken(ctx, string(made.ID))
		return errors.Join(fmt.Errorf("show the token, which is ended again: %w", err), revoked)
	}
	if a.json {
		return nil
	}
	may := "read"
	if slices.Contains(made.Scopes, cw.ScopeOperate) {
		may = "read and operate"
	}
	a.note("this token, %s, may %s; it is shown only now. cw token revoke %s ends it", made.Name, may, cw.ShellWord(made.Name))
	a.noteDoor(ctx, svc)
	return nil
}

// show writes the token, or the whole of it with --json.
func (o *tokenCreateOptions) show(made cw.CreatedToken) error {
	if o.app.json {
		return o.app.printJSON(made)
	}
	_, err := fmt.Fprintln(o.app.out, made.Secret)
	return err
}

// noteDoor says where dashboards call, or how to let them. The token is made:
// nothing that fails now is a failure of the command.
func (a *app) noteDoor(ctx context.Context, svc cw.Services) {
	status, err := svc.Status(ctx)
	switch {
	case err != nil:
	case status.HTTP != "":
		a.note("send it as Authorization: Bearer TOKEN to http://%s/v1/", status.HTTP)
	default:
		a.note("the daemon does not listen for dashboards yet: cw config set http.address %s && cw restart", dashboardAddress)
	}
}
