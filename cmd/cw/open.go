package main

import (
	"context"
	"net"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type openOptions struct {
	app   *app
	print bool
	ref   string
}

func newOpenCmd(a *app, runF func(context.Context, *openOptions) error) *cobra.Command {
	opts := &openOptions{app: a}
	cmd := &cobra.Command{
		Use:   "open [AGENT|INITIATIVE]",
		Short: "Show the dashboard in your browser",
		Long: `Show the dashboard in your browser, at an agent or an initiative when one is named.

The daemon listens on a free port of this machine, from now on after restarts too,
unless http.address names another. The browser is let in by a code that is good
once, for a minute, and has a session then: it may all that you may, until it is
ended (cw token list, cw token revoke) or not used for 30 days.

With --print the address goes to stdout, for a browser that cw cannot start. From
another machine, take the port there by ssh first; the hint says how.

$BROWSER names another browser than the system's own.`,
		Example: "cw open\ncw open brave-otter\ncw open --print",
		Args:    optionalArg(&opts.ref, "an agent or an initiative"),
		RunE:    start(a, runF, openRun, opts),
	}
	cmd.Flags().BoolVar(&opts.print, "print", false, "print the address, and start no browser")
	return cmd
}

func openRun(ctx context.Context, o *openOptions) error {
	a := o.app
	browser, found := a.browser()
	show := !o.print && !a.json
	if show && !found {
		return noBrowser()
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	path, err := pageOf(ctx, svc, o.ref)
	if err != nil {
		return err
	}
	opened, err := svc.OpenDoor(ctx, cw.OpenRequest{Path: path, File: show})
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(opened)
	case !show:
		a.printf("%s\n", opened.URL)
		a.note("this is good for one browser, until %s", opened.ExpiresAt.Local().Format("15:04:05"))
		a.noteTunnel(opened.Address)
		return nil
	}
	if err := a.browse(append(browser, opened.File)); err != nil {
		return cw.Errorf(cw.CodeFailed, "the browser cannot be started (%s)", browser[0]).
			WithHint("cw open --print gives the address for any browser").Because(err)
	}
	a.note("the dashboard is at http://%s; a browser that shows nothing may not read %s: cw open --print", opened.Address, opened.File)
	return nil
}

// pageOf is where the dashboard shows what ref names, "" for nothing.
func pageOf(ctx context.Context, svc cw.Services, ref string) (string, error) {
	if ref == "" {
		return "", nil
	}
	agent, err := svc.Agent(ctx, ref)
	if err == nil {
		return "/agents/" + agent.Alias, nil
	}
	if cw.ErrorCode(err) != cw.CodeNotFound {
		return "", err
	}
	initiative, err := svc.Initiative(ctx, ref)
	if cw.ErrorCode(err) == cw.CodeNotFound {
		return "", cw.Errorf(cw.CodeNotFound, "there is no agent and no initiative %q", ref).
			WithHint("cw agent list and cw initiative list show all")
	}
	return "/initiatives/" + initiative.Slug, err
}

// noteTunnel says to who is here by ssh how the browser at home gets here.
func (a *app) noteTunnel(address string) {
	_, port, err := net.SplitHostPort(address)
	if err == nil && a.env["SSH_CONNECTION"] != "" {
		a.note("on the machine with the browser first: ssh -N -L %s:%s THIS-MACHINE", port, address)
	}
}

func noBrowser() error {
	return cw.Errorf(cw.CodeFailed, "there is no browser that cw can start here").
		WithHint("cw open --print gives the address for any browser; over ssh it says how to get here")
}
