package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type projectTrustOptions struct {
	app         *app
	project     string
	ref, digest string
	yes, revoke bool
}

func newProjectTrustCmd(a *app, runF func(context.Context, *projectTrustOptions) error) *cobra.Command {
	opts := &projectTrustOptions{app: a}
	cmd := &cobra.Command{
		Use:   "trust PROJECT",
		Short: "Look at a project's cw.yaml and trust its commands",
		Long: `Show the cw.yaml of a project as it is committed, and trust exactly this content:
its set-up and checks are run from now on, and its variables given to agents.
Whenever it changes you are asked again, since it comes from the repository.

Agents cannot. Without a terminal --yes says that you know the content, and
--digest which one it is.`,
		Example:     "cw project trust .\ncw project trust site --ref main\ncw project trust site --digest 3f5a… --yes\ncw project trust site --revoke",
		Annotations: exits("4  it is not there, cannot be used, or is another one by now", "7  there is no terminal to ask on"),
		Args:        oneArg(&opts.project, "a project: a name, an id, a path or a URL"),
		RunE:        start(a, runF, projectTrustRun, opts),
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.ref, "ref", "", "the `BRANCH` or commit whose cw.yaml is meant (default: HEAD)")
	fl.StringVar(&opts.digest, "digest", "", "the `SHA-256` of the content that is meant; another one is refused")
	fl.BoolVarP(&opts.yes, "yes", "y", false, "trust it without being asked")
	fl.BoolVar(&opts.revoke, "revoke", false, "trust it no longer")
	return cmd
}

func projectTrustRun(ctx context.Context, o *projectTrustOptions) error {
	ref, err := o.app.projectRef(o.project)
	if err != nil {
		return err
	}
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	view, err := svc.ProjectFile(ctx, ref, o.ref)
	if err != nil {
		return err
	}
	if o.revoke {
		return o.takeBack(ctx, svc, ref, view)
	}
	if err := o.usable(view); err != nil {
		return err
	}
	if o.app.json { // stdout is for programs
		o.showFile(o.app.err, view)
	} else {
		o.showFile(o.app.out, view)
	}
	// Of what has no commands nothing has to be trusted, but that work takes the
	// checks away: that is what a ref is named for.
	if view.Trusted && (view.TrustedAt != nil || !view.File.Commands() && o.ref == "") {
		return o.told(view, "it is trusted already")
	}
	if err := o.agreed(ctx, view); err != nil {
		return err
	}
	// The digest of what was shown: should it change meanwhile, that is refused.
	view, err = svc.TrustProject(ctx, ref, cw.TrustRequest{Digest: view.Digest, Ref: o.ref})
	if err != nil {
		return err
	}
	return o.told(view, "trusted: this content, until it changes")
}

// takeBack trusts a content no longer: the one that is named, else the one that
// is there.
func (o *projectTrustOptions) takeBack(ctx context.Context, svc cw.Services, ref string, view cw.ProjectFileView) error {
	digest := view.Digest
	if o.digest != "" {
		digest = o.digest
	}
	view, err := svc.TrustProject(ctx, ref, cw.TrustRequest{Digest: digest, Ref: o.ref, Revoke: true})
	if err != nil {
		return err
	}
	return o.told(view, "no longer trusted; what was started goes on")
}

// usable refuses what there is no question about.
func (o *projectTrustOptions) usable(view cw.ProjectFileView) error {
	name := oneLine(view.Project)
	switch {
	case !view.Present && o.ref == "":
		return cw.Errorf(cw.CodeRefused, "%s has no %s at %s", name, cw.ProjectFileName, shortCommit(view.Commit)).
			WithHint("there is nothing to trust; commit it, or name another branch with --ref")
	case view.Problem != "":
		return cw.Errorf(cw.CodeRefused, "the %s of %s cannot be used: %s", cw.ProjectFileName, name, oneLine(view.Problem)).
			WithHint("mend it and commit it")
	case o.digest != "" && o.digest != view.Digest:
		return cw.Errorf(cw.CodeRefused, "the %s of %s has the digest %s", cw.ProjectFileName, name, view.Digest).
			WithHint("it is another one than you mean; look at it: cw project trust %s", name)
	}
	return nil
}

// showFile prints the content as it is. Characters that a terminal obeys or hides
// are shown as escapes: what is trusted must be what is seen.
func (o *projectTrustOptions) showFile(w io.Writer, view cw.ProjectFileView) {
	if !view.Present {
		fmt.Fprintf(w, "%s has no %s at %s: nothing would be set up or checked, SHA-256 %s\n\n", oneLine(view.Project), cw.ProjectFileName, shortCommit(view.Commit), view.Digest)
		return
	}
	fmt.Fprintf(w, "%s of %s at %s, SHA-256 %s:\n\n", cw.ProjectFileName, oneLine(view.Project), shortCommit(view.Commit), view.Digest)
	for line := range strings.Lines(visible(view.Content)) {
		fmt.Fprintf(w, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
	fmt.Fprintln(w)
}

// visible writes characters that a terminal obeys or hides as escapes.
func visible(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if unsafeRune(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// agreed asks the person, unless --yes has said it. CodeWaiting without a
// terminal.
func (o *projectTrustOptions) agreed(ctx context.Context, view cw.ProjectFileView) error {
	if o.yes || o.digest != "" {
		return nil
	}
	if !o.app.asks() {
		at := ""
		if o.ref != "" {
			at = " --ref " + cw.ShellWord(oneLine(o.ref))
		}
		return cw.Errorf(cw.CodeWaiting, "there is no terminal to ask on").
			WithHint("when you know this content: cw project trust %s%s --digest %s --yes", cw.ShellWord(oneLine(view.Project)), at, view.Digest)
	}
	k := o.app.newAsker()
	k.fresh()
	answer, err := k.choose(ctx, "Trust exactly this, so that its commands are run? (yes/no) ", "yes", "no")
	switch {
	case errors.Is(err, io.EOF) || err == nil && answer == "no":
		return cw.Errorf(cw.CodeRefused, "nothing was trusted").WithHint("its commands are not run, and agents that need it are not started")
	case err != nil:
		return fmt.Errorf("read from the terminal: %w", err)
	}
	return nil
}

// told says what came of it.
func (o *projectTrustOptions) told(view cw.ProjectFileView, what string) error {
	if o.app.json {
		return o.app.printJSON(view)
	}
	o.app.printf("%s\n", what)
	return nil
}
