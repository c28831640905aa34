package servicetest

import (
	"testing"

	"cw/environment"
	"cw/internal/cw"
)

// trustCase: a content is trusted when a person who looked at exactly this one
// says so; another content is asked for again; and trust can be taken back.
func trustCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	p, err := s.AddProject(ctx, cw.ProjectRequest{Path: f.Repo})
	ok(t, err)
	_, err = s.ProjectFile(ctx, "no such", "")
	wantCode(t, "ProjectFile of no project", err, cw.CodeNotFound)
	_, err = s.TrustProject(ctx, "no such", cw.TrustRequest{})
	wantCode(t, "TrustProject of no project", err, cw.CodeNotFound)
	_, err = s.ProjectFile(ctx, p.Name, "no-such-branch")
	wantCode(t, "ProjectFile at no commit", err, cw.CodeInvalid)
	look := func(what string) cw.ProjectFileView {
		t.Helper()
		view, err := s.ProjectFile(ctx, p.Name, "")
		ok(t, err)
		if view.ProjectID != p.ID || view.Project != p.Name || len(view.Commit) != 40 {
			t.Errorf("%s: %+v", what, view)
		}
		return view
	}
	none := look("no file")
	if v := none; v.Present || !v.Trusted || v.Digest != environment.Digest(nil) || v.Content != "" || v.Problem != "" {
		t.Errorf("without a file: %+v", v)
	}
	trust := func(digest string) error {
		_, err := s.TrustProject(ctx, string(p.ID), cw.TrustRequest{Digest: digest})
		return err
	}
	wantCode(t, "trust in nothing", trust(""), cw.CodeRefused)
	wantCode(t, "trust in no file", trust(none.Digest), cw.CodeRefused)

	f.CommitFile(t, "ports: 2\nmerge: squash\n")
	if v := look("no commands"); !v.Present || !v.Trusted || v.TrustedBy != "" || v.File.Ports != 2 || v.File.Merge != cw.MergeSquash {
		t.Errorf("without commands: %+v", v)
	}

	const text = "checks: {test: go test ./...}\n"
	f.CommitFile(t, text)
	first := look("commands")
	if first.Trusted || first.Content != text || first.Digest != environment.Digest([]byte(text)) || len(first.File.Checks) != 1 {
		t.Errorf("with commands: %+v", first)
	}
	wantCode(t, "trust in another content", trust(environment.Digest([]byte("other"))), cw.CodeRefused)
	_, err = s.TrustProject(ctx, p.Name, cw.TrustRequest{Revoke: true})
	wantCode(t, "no trust to take back", err, cw.CodeRefused)
	for range 2 { // again changes nothing
		view, err := s.TrustProject(ctx, p.Name, cw.TrustRequest{Digest: first.Digest})
		ok(t, err)
		if !view.Trusted || view.TrustedAt == nil || view.TrustedBy == "" {
			t.Errorf("trusted: %+v", view)
		}
	}

	f.CommitFile(t, text+"# and more\n")
	if v := look("another content"); v.Trusted || v.Digest == first.Digest {
		t.Errorf("another content: %+v", v)
	}
	wantCode(t, "trust in the content before", trust(first.Digest), cw.CodeRefused)
	f.CommitFile(t, text)
	if v := look("the first content"); !v.Trusted {
		t.Errorf("the first content again: %+v", v)
	}
	view, err := s.TrustProject(ctx, p.Name, cw.TrustRequest{Digest: first.Digest, Revoke: true})
	ok(t, err)
	if view.Trusted || look("taken back").Trusted {
		t.Error("it is still trusted")
	}

	f.CommitFile(t, "checs: []\n")
	broken := look("broken")
	if broken.Trusted || broken.Problem == "" || !broken.Present {
		t.Errorf("one that cannot be used: %+v", broken)
	}
	wantCode(t, "trust in one that cannot be used", trust(broken.Digest), cw.CodeRefused)
	_, err = s.RemoveProject(ctx, p.Name)
	ok(t, err)
}
