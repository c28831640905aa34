package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type projectShowOptions struct {
	app *app
	ref string
}

func newProjectShowCmd(a *app, runF func(context.Context, *projectShowOptions) error) *cobra.Command {
	opts := &projectShowOptions{app: a}
	return &cobra.Command{
		Use:   "show PROJECT",
		Short: "Show one registered repository",
		Long:  "Show one registered repository, named by its name, id, path or URL.",
		Args:  oneArg(&opts.ref, "a project: a name, an id, a path or a URL"),
		RunE:  start(a, runF, projectShowRun, opts),
	}
}

func projectShowRun(ctx context.Context, o *projectShowOptions) error {
	ref, err := o.app.projectRef(o.ref)
	if err != nil {
		return err
	}
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	p, err := svc.Project(ctx, ref)
	if err != nil {
		return err
	}
	file, err := svc.ProjectFile(ctx, ref, "")
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil { // the repository may be gone: the rest is known all the same
		file = cw.ProjectFileView{Problem: err.Error()}
	}
	if o.app.json {
		return o.app.printJSON(shownProject{Project: p, ProjectFile: factsOfFile(file)})
	}
	o.app.printProject(p, [2]string{cw.ProjectFileName, fileFact(file)})
	return nil
}

// shownProject is a project with what is known of its cw.yaml.
type shownProject struct {
	cw.Project

	ProjectFile shownFile `json:"projectFile"`
}

// shownFile tells of a cw.yaml at HEAD, without its content.
type shownFile struct {
	Present bool   `json:"present"`
	Trusted bool   `json:"trusted"`
	Commit  string `json:"commit,omitempty"`
	Digest  string `json:"digest,omitempty"`
	Problem string `json:"problem,omitempty"`
}

func factsOfFile(v cw.ProjectFileView) shownFile {
	return shownFile{Present: v.Present, Trusted: v.Trusted, Commit: v.Commit, Digest: v.Digest, Problem: v.Problem}
}

// fileFact says how a project's cw.yaml stands; "" without one.
func fileFact(v cw.ProjectFileView) string {
	switch {
	case v.Problem != "":
		return "cannot be used: " + oneLine(v.Problem)
	case !v.Present:
		return ""
	case !v.Trusted:
		return "not trusted; look at it: cw project trust " + cw.ShellWord(oneLine(v.Project))
	case v.TrustedAt == nil:
		return "has nothing that is run"
	}
	return "trusted since " + v.TrustedAt.Local().Format("2006-01-02 15:04")
}
