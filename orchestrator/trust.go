package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"cw/environment"
	"cw/internal/cw"
)

var _ cw.TrustService = (*Orchestrator)(nil)

// ProjectFile implements cw.TrustService.
func (o *Orchestrator) ProjectFile(ctx context.Context, project, ref string) (cw.ProjectFileView, error) {
	p, err := o.Store.ProjectByRef(ctx, project)
	if err != nil {
		return cw.ProjectFileView{}, err
	}
	commit, err := o.commitNamed(ctx, p, ref)
	if err != nil {
		return cw.ProjectFileView{}, err
	}
	return o.ProjectFileAt(ctx, p, commit)
}

// TrustProject implements cw.TrustService. What is trusted is read again here:
// only the content that the person looked at is.
func (o *Orchestrator) TrustProject(ctx context.Context, project string, req cw.TrustRequest) (cw.ProjectFileView, error) {
	if cw.ActorOf(ctx).Kind == cw.ActorAgent && !o.Guards.Off("trust-people-only") {
		return cw.ProjectFileView{}, cw.Errorf(cw.CodeForbidden, "agents may not trust a project's commands").WithHint("a person does: cw project trust")
	}
	view, err := o.ProjectFile(ctx, project, req.Ref)
	if err != nil {
		return cw.ProjectFileView{}, err
	}
	if req.Revoke {
		return o.trustNoLonger(ctx, view, orDefault(req.Digest, view.Digest))
	}
	switch {
	case !view.Present && req.Ref == "":
		return cw.ProjectFileView{}, cw.Errorf(cw.CodeRefused, "the commit %.12s of %s has no %s", view.Commit, view.Project, cw.ProjectFileName).
			WithHint("there is nothing to trust; that work takes it away you trust by the commit of its merge: --ref")
	case view.Digest != req.Digest:
		return cw.ProjectFileView{}, cw.Errorf(cw.CodeRefused, "the %s of %s is another one than what you looked at", cw.ProjectFileName, view.Project).
			WithHint("look at it again: cw project trust %s", view.Project)
	case view.Problem != "":
		return cw.ProjectFileView{}, cw.Errorf(cw.CodeRefused, "the %s of %s cannot be used: %s", cw.ProjectFileName, view.Project, view.Problem).
			WithHint("mend it and commit it")
	}
	trust := cw.ProjectTrust{ProjectID: view.ProjectID, Digest: view.Digest, TrustedBy: personOf(ctx)}
	if err := o.Store.SaveTrust(ctx, trust, trustEvent(ctx, cw.EventProjectTrusted, view, view.Digest)); err != nil {
		return cw.ProjectFileView{}, err
	}
	return o.trustedView(ctx, view)
}

// trustNoLonger takes trust back. CodeRefused when there is none.
func (o *Orchestrator) trustNoLonger(ctx context.Context, view cw.ProjectFileView, digest string) (cw.ProjectFileView, error) {
	was, err := o.Store.RevokeTrust(ctx, view.ProjectID, digest, trustEvent(ctx, cw.EventProjectUntrusted, view, digest))
	if err != nil {
		return cw.ProjectFileView{}, err
	}
	if !was {
		return cw.ProjectFileView{}, cw.Errorf(cw.CodeRefused, "this %s of %s is not trusted", cw.ProjectFileName, view.Project).
			WithHint("see: cw project show %s", view.Project)
	}
	return o.trustedView(ctx, view)
}

func trustEvent(ctx context.Context, what cw.EventType, view cw.ProjectFileView, digest string) cw.Event {
	ev := cw.NewEvent(what, cw.ActorOf(ctx), cw.ProjectTrusted{Name: view.Project, Digest: digest})
	ev.ProjectID = view.ProjectID
	return ev
}

// personOf names who acts: the kind, and the id where it has one.
func personOf(ctx context.Context) string {
	actor := cw.ActorOf(ctx)
	if actor.ID == "" {
		return string(actor.Kind)
	}
	return string(actor.Kind) + ":" + actor.ID
}

// commitNamed finds the commit that a ref means: in the user's repository, by
// default what its HEAD is, else among the branches of cw's copy. CodeInvalid
// when there is none.
func (o *Orchestrator) commitNamed(ctx context.Context, p cw.Project, ref string) (string, error) {
	checkout := p.Path
	if !p.Remote() && !dirExists(checkout) {
		var err error
		if p, checkout, err = o.sameRepository(ctx, p); err != nil {
			return "", err
		}
	}
	base, err := o.Repos.ResolveBase(ctx, orDefault(checkout, p.GitDir), ref)
	if err == nil {
		return base.Commit, nil
	}
	code := cw.ErrorCode(err)
	// git takes any full id for a name, also one that only cw's copy has: that is no
	// commit, and not missing.
	if ref != "" && (code == cw.CodeNotFound || code == cw.CodeInvalid) {
		commit, lookErr := o.Repos.MirrorCommit(ctx, p, ref)
		if lookErr == nil && commit != "" {
			return commit, nil
		}
	}
	var known *cw.Error
	if cw.ErrorCode(err) == cw.CodeNotFound && errors.As(err, &known) {
		return "", cw.Errorf(cw.CodeInvalid, "%.80q names no commit of %s", ref, p.Name).WithHint("%s", orDefault(known.Hint, "give a branch or a commit")).Because(err)
	}
	return "", err
}

// ProjectFileAt reads the project file of a commit, by its full id, and tells
// whether its commands may be run. CodeNotFound for a commit that is none.
func (o *Orchestrator) ProjectFileAt(ctx context.Context, p cw.Project, commit string) (cw.ProjectFileView, error) {
	view := cw.ProjectFileView{ProjectID: p.ID, Project: p.Name, Commit: commit, File: noProjectFile()}
	data, found, err := o.Repos.FileAt(ctx, p, commit, cw.ProjectFileName, cw.ProjectFileMax)
	if cw.ErrorCode(err) == cw.CodeInvalid { // it is there, and is none
		view.Present, view.Problem = true, err.Error()
		return view, nil
	}
	if err != nil {
		return view, fmt.Errorf("read %s of %s: %w", cw.ProjectFileName, p.Name, err)
	}
	if view.Present = found; !found {
		view.Digest = environment.Digest(nil)
		return o.trustedView(ctx, view)
	}
	view.Digest, view.Content = environment.Digest(data), string(data)
	if file, err := environment.Parse(data); err != nil {
		view.Problem = problemText(err)
		view.Content = environment.Printable(view.Content)
	} else {
		view.File = file
	}
	return o.trustedView(ctx, view)
}

// trustedView adds whether the content is trusted.
func (o *Orchestrator) trustedView(ctx context.Context, view cw.ProjectFileView) (cw.ProjectFileView, error) {
	view.Trusted, view.TrustedBy, view.TrustedAt = !view.Present || view.Problem == "" && !view.File.Commands(), "", nil
	if view.Digest == "" || view.Problem != "" {
		return view, nil
	}
	trust, found, err := o.Store.TrustOf(ctx, view.ProjectID, view.Digest)
	if err != nil {
		return view, err
	}
	if found {
		at := trust.TrustedAt
		view.Trusted, view.TrustedBy, view.TrustedAt = true, trust.TrustedBy, &at
	}
	return view, nil
}

// noProjectFile is what holds without a file: nothing is run.
func noProjectFile() cw.ProjectFile {
	file, _ := environment.Parse(nil) // an empty one is always understood
	return file
}

// problemText is an error with what to do about it.
func problemText(err error) string {
	if hint := cw.ErrorHint(err); hint != "" {
		return err.Error() + " (" + hint + ")"
	}
	return err.Error()
}

// refuseUntrusted refuses to do anything with a project whose file cannot be
// used, or has commands that nobody trusts.
func refuseUntrusted(view cw.ProjectFileView, how string) error {
	switch {
	case view.Problem != "":
		return cw.Errorf(cw.CodeRefused, "the %s of %s cannot be used: %s", cw.ProjectFileName, view.Project, view.Problem).
			WithHint("mend it and commit it, or begin at another commit with --base")
	case !view.Trusted:
		return cw.Errorf(cw.CodeRefused, "the %s of %s at %.12s has commands or variables that nobody trusts yet", cw.ProjectFileName, view.Project, view.Commit).
			WithHint("%s", how)
	}
	return nil
}
