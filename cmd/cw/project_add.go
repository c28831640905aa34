package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

type projectAddOptions struct {
	app   *app
	where string // path or URL
}

func newProjectAddCmd(a *app, runF func(context.Context, *projectAddOptions) error) *cobra.Command {
	opts := &projectAddOptions{app: a}
	return &cobra.Command{
		Use:   "add PATH|URL",
		Short: "Register a git repository, on this machine or remote",
		Long: `Register the git repository that contains PATH. cw makes a copy of its own to
work in; the repository itself is only read. cw run does this by itself.

Or clone the remote repository at URL: https, ssh, git@HOST:PATH or file. Before
each spawn it is fetched again; an agent begins at its default branch or at
--base. Nothing is pushed but by cw pr create: branches of agents are in cw's
clone, and cw agent show says how to fetch them. git gets credentials from your ssh agent or
your credential helper; a URL that holds some is refused, and nobody is asked
for a password.`,
		Example: "cw project add .\ncw project add ~/src/site\ncw project add git@forge.example:team/site.git",
		Args:    oneArg(&opts.where, "the path or the URL of a git repository"),
		RunE:    start(a, runF, projectAddRun, opts),
	}
}

func projectAddRun(ctx context.Context, o *projectAddOptions) error {
	req, err := o.request()
	if err != nil {
		return err
	}
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	p, err := svc.AddProject(ctx, req)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(p)
	}
	o.app.printf("%s\n", oneLine(p.Name))
	work := "-C " + cw.ShellWord(o.where)
	if p.Remote() {
		work = "--project " + cw.ShellWord(p.Name)
	}
	o.app.note(`%s is registered as %s; give it work with cw run %s "..."`, p.Where(), p.Name, work)
	return nil
}

// request tells a URL from a path. A folder whose name looks like a URL is
// given as ./NAME.
func (o *projectAddOptions) request() (cw.ProjectRequest, error) {
	if !cw.LooksRemote(o.where) {
		path, err := o.app.abs(o.where)
		return cw.ProjectRequest{Path: path}, err
	}
	if _, err := cw.ParseRemote(o.where); err != nil { // a password goes nowhere
		return cw.ProjectRequest{}, err
	}
	home, err := o.app.home()
	return cw.ProjectRequest{URL: o.where, Env: daemon.ForAgent(home, o.app.env)}, err
}
