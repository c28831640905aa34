package servicetest

import (
	"net/url"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// remoteProjectsCase: a URL is a project of its own, beside the one of the
// repository that it leads to; the same URL is the same project; and no secret
// is taken.
func remoteProjectsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	remote := (&url.URL{Scheme: "file", Path: f.Repo}).String()
	for what, bad := range map[string]cw.ProjectRequest{
		"nothing": {}, "both": {Path: f.Repo, URL: remote}, "a program": {URL: "ext::sh"}, "an option": {URL: "-u"}, "a path": {URL: f.Repo},
		"a password": {URL: "https://me:s3cret@forge.example/x"}, "a token": {URL: "https://s3cret@forge.example/x"},
	} {
		_, err := s.AddProject(ctx, bad)
		wantHint(t, "AddProject of "+what, err, cw.CodeInvalid, "")
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s is repeated: %v", what, err)
		}
	}
	local, err := s.AddProject(ctx, cw.ProjectRequest{Path: f.Repo})
	ok(t, err)
	p, err := s.AddProject(ctx, cw.ProjectRequest{URL: remote})
	ok(t, err)
	if p.ID == local.ID || p.Name == local.Name || p.Path != "" || p.RemoteURL != remote || p.GitDir == "" || p.GitDir == local.GitDir {
		t.Errorf("%+v beside %+v", p, local)
	}
	again, err := s.AddProject(ctx, cw.ProjectRequest{URL: strings.Replace(remote, "file://", "FILE://localhost", 1) + "/"})
	ok(t, err)
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("added twice: %s", diff)
	}
	for _, ref := range []string{string(p.ID), p.Name, remote} {
		got, err := s.Project(ctx, ref)
		ok(t, err)
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("by %q: %s", ref, diff)
		}
	}
	removed, err := s.RemoveProject(ctx, remote)
	ok(t, err)
	if removed.ID != p.ID {
		t.Errorf("removed %q, want %q", removed.ID, p.ID)
	}
	_, err = s.Project(ctx, remote)
	wantCode(t, "Project after its removal", err, cw.CodeNotFound)
}
