package servicetest

import (
	"context"

	"cw/environment"
	"cw/internal/cw"
)

// CommitFile gives a project, named by its path, a cw.yaml at its HEAD.
func (m *Memory) CommitFile(path, content string) {
	m.change(func() { m.files[path] = content })
}

// ProjectFile implements cw.TrustService. Its projects have one commit.
func (m *Memory) ProjectFile(_ context.Context, project, ref string) (cw.ProjectFileView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.projectFile(project, ref)
}

// projectFile is ProjectFile; the lock is held.
func (m *Memory) projectFile(project, ref string) (cw.ProjectFileView, error) {
	p, err := m.findProject(project)
	if err != nil {
		return cw.ProjectFileView{}, err
	}
	if ref != "" && ref != "HEAD" {
		return cw.ProjectFileView{}, cw.Errorf(cw.CodeInvalid, "%q names no commit of %s", ref, p.Name)
	}
	view := cw.ProjectFileView{ProjectID: p.ID, Project: p.Name, Commit: "1111111111111111111111111111111111111111"}
	if view.File, err = environment.Parse(nil); err != nil {
		return view, err
	}
	view.Content, view.Present = m.files[p.Path]
	view.Digest = environment.Digest([]byte(view.Content))
	if view.Trusted = !view.Present; !view.Present {
		return view, nil
	}
	file, err := environment.Parse([]byte(view.Content))
	if err != nil {
		view.Problem = err.Error()
		return view, nil
	}
	view.File, view.Trusted = file, !file.Commands()
	if trust, ok := m.trusts[p.ID][view.Digest]; ok {
		view.Trusted, view.TrustedBy, view.TrustedAt = true, trust.TrustedBy, &trust.TrustedAt
	}
	return view, nil
}

// TrustProject implements cw.TrustService.
func (m *Memory) TrustProject(ctx context.Context, project string, req cw.TrustRequest) (view cw.ProjectFileView, err error) {
	m.change(func() {
		if view, err = m.projectFile(project, req.Ref); err != nil {
			return
		}
		if req.Digest == "" && req.Revoke {
			req.Digest = view.Digest
		}
		_, trusted := m.trusts[view.ProjectID][req.Digest]
		what := cw.EventProjectTrusted
		switch {
		case cw.ActorOf(ctx).Kind == cw.ActorAgent:
			err = cw.Errorf(cw.CodeForbidden, "agents may not trust a project's commands")
		case req.Revoke && trusted:
			what = cw.EventProjectUntrusted
			delete(m.trusts[view.ProjectID], req.Digest)
		case req.Revoke:
			err = cw.Errorf(cw.CodeRefused, "this %s is not trusted", cw.ProjectFileName)
		case !view.Present, view.Digest != req.Digest:
			err = cw.Errorf(cw.CodeRefused, "the %s is another one", cw.ProjectFileName)
		case view.Problem != "":
			err = cw.Errorf(cw.CodeRefused, "the %s cannot be used", cw.ProjectFileName)
		case !trusted:
			if m.trusts[view.ProjectID] == nil {
				m.trusts[view.ProjectID] = map[string]cw.ProjectTrust{}
			}
			m.trusts[view.ProjectID][req.Digest] = cw.ProjectTrust{TrustedBy: string(cw.ActorOf(ctx).Kind), TrustedAt: m.now()}
		}
		if err != nil {
			view = cw.ProjectFileView{}
			return
		}
		if req.Revoke || !trusted {
			ev := cw.NewEvent(what, cw.ActorOf(ctx), cw.ProjectTrusted{Name: view.Project, Digest: req.Digest})
			ev.ProjectID = view.ProjectID
			m.tell(ev)
		}
		view, err = m.projectFile(project, req.Ref)
	})
	return view, err
}
