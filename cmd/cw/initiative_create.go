package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type initiativeCreateOptions struct {
	app      *app
	name     string
	goal     optionalText
	projects []string
	start    bool
}

func newInitiativeCreateCmd(a *app, runF func(context.Context, *initiativeCreateOptions) error) *cobra.Command {
	opts := &initiativeCreateOptions{app: a}
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an initiative: a goal over one or more repositories",
		Long: `Make an initiative and its first page, which holds the goal. It gets a slug made
of its name, by which commands and branches call it; it stays when the name
changes. None of its tasks is started before cw initiative start, unless --start
says so.`,
		Example: `cw initiative create "Spring sale" --goal "Prices can be lowered for a time" --project shop
cw initiative create "Spring sale" --project shop --project docs --goal - < goal.md`,
		Args: oneArg(&opts.name, "a name"),
		RunE: start(a, runF, initiativeCreateRun, opts),
	}
	hyphensBehind(cmd, "a name", `-- "-v for all"`)
	cmd.Flags().Var(&opts.goal, "goal", "what is to be reached: a `TEXT`, Markdown; - reads it from stdin (default: the name)")
	cmd.Flags().StringArrayVar(&opts.projects, "project", nil, "a `PROJECT` that it spans: id, name, path or URL; may be given more than once")
	cmd.Flags().BoolVar(&opts.start, "start", false, "let the daemon start its tasks as soon as they are accepted")
	return cmd
}

func initiativeCreateRun(ctx context.Context, o *initiativeCreateOptions) error {
	a := o.app
	goal, err := a.goalText(o.goal)
	if err != nil {
		return err
	}
	req := cw.CreateInitiativeRequest{Name: o.name, Goal: orText(goal), Start: o.start}
	if err := cw.CheckName("initiative", req.Name); err != nil { // before a daemon is started for it
		return err
	}
	if req.Projects, err = a.projectRefs(o.projects); err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	if err := a.register(ctx, svc, req.Projects); err != nil {
		return err
	}
	made, err := svc.CreateInitiative(ctx, req)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(made)
	}
	a.printInitiative(made)
	a.note(`next: cw phase create %s "NAME OF THE FIRST PHASE"`, cw.ShellWord(made.Slug))
	return nil
}

// projectRefs makes paths among the projects absolute.
func (a *app) projectRefs(words []string) ([]string, error) {
	refs := make([]string, len(words))
	for i, w := range words {
		if w == "" {
			return nil, usagef("--project is empty").WithHint("name a project: cw project list")
		}
		var err error
		if refs[i], err = a.projectRef(w); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// register registers repositories that are named by a path and not known yet, as
// cw run does, and names them as they are called then.
func (a *app) register(ctx context.Context, svc cw.Services, refs []string) error {
	for i, ref := range refs {
		if !filepath.IsAbs(ref) {
			continue
		}
		if _, err := svc.Project(ctx, ref); cw.ErrorCode(err) != cw.CodeNotFound {
			continue // it is known, or something else is wrong, which whoever needs it says
		}
		p, err := svc.AddProject(ctx, cw.ProjectRequest{Path: ref})
		if err != nil {
			return err
		}
		refs[i] = string(p.ID)
		a.note("%s is registered as %s", oneLine(p.Where()), oneLine(p.Name))
	}
	return nil
}
