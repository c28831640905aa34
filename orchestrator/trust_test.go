package orchestrator

import (
	"os"
	"path/filepath"
	"testing"

	"cw/environment"
	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// commitFile commits a cw.yaml in the user's repository and gives the commit.
func (e *engine) commitFile(content string) string {
	e.t.Helper()
	must(e.t, os.WriteFile(filepath.Join(e.repo, cw.ProjectFileName), []byte(content), 0o600))
	lab.Git(e.t, e.repo, "add", cw.ProjectFileName)
	lab.Git(e.t, e.repo, "commit", "-q", "-m", "How it is built")
	return lab.Git(e.t, e.repo, "rev-parse", "HEAD")
}

// trust has a person trust the cw.yaml at HEAD, of a project that is registered
// with it.
func (e *engine) trust(content string) {
	e.t.Helper()
	_, err := e.AddProject(e.t.Context(), cw.ProjectRequest{Path: e.repo})
	must(e.t, err)
	ctx := cw.WithActor(e.t.Context(), cw.Actor{Kind: cw.ActorPerson})
	_, err = e.TrustProject(ctx, e.repo, cw.TrustRequest{Digest: environment.Digest([]byte(content))})
	must(e.t, err)
}

// TestTrust: of whom, of what, and where a content is read from.
func TestTrust(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	const text = "checks: [make test]\n"
	commit := e.commitFile(text)
	e.trust(text)
	view, err := e.ProjectFile(t.Context(), "shop", "")
	must(t, err)
	if !view.Trusted || view.TrustedBy != "person" || view.Commit != commit {
		t.Errorf("trusted: %+v", view)
	}
	// What is not committed does not count, and neither does what a person did
	// not see: it changed between the look and the word.
	must(t, os.WriteFile(filepath.Join(e.repo, cw.ProjectFileName), []byte("checks: [rm -r /]\n"), 0o600))
	if view, err = e.ProjectFile(t.Context(), "shop", "main"); err != nil || view.Content != text {
		t.Errorf("with another file in the checkout: %+v %v", view, err)
	}
	other := e.commitFile("checks: [make evil]\n")
	person := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorPerson})
	_, err = e.TrustProject(person, "shop", cw.TrustRequest{Digest: environment.Digest([]byte("checks: [rm -r /]\n"))})
	if cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("trust in what is not committed: %v", err)
	}
	if view, err = e.ProjectFile(t.Context(), "shop", other); err != nil || view.Trusted {
		t.Errorf("another content: %+v %v", view, err)
	}
	if view, err = e.ProjectFile(t.Context(), "shop", commit); err != nil || !view.Trusted {
		t.Errorf("the content before: %+v %v", view, err)
	}
	agent := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorAgent, AgentID: "aaaaaaaaaaaa"})
	if _, err = e.TrustProject(agent, "shop", cw.TrustRequest{Digest: view.Digest}); cw.ErrorCode(err) != cw.CodeForbidden {
		t.Errorf("an agent trusts: %v", err)
	}
	for _, ref := range []string{"nowhere", "0123456789012345678901234567890123456789", "HEAD..main", "-x"} {
		if _, err := e.ProjectFile(t.Context(), "shop", ref); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("at %q: %v", ref, err)
		}
	}
	// A link in the file's place is not followed.
	must(t, os.Remove(filepath.Join(e.repo, cw.ProjectFileName)))
	must(t, os.Symlink("/etc/hosts", filepath.Join(e.repo, cw.ProjectFileName)))
	lab.Git(t, e.repo, "add", cw.ProjectFileName)
	lab.Git(t, e.repo, "commit", "-q", "-m", "A link")
	if view, err = e.ProjectFile(t.Context(), "shop", ""); err != nil || view.Problem == "" || view.Trusted || view.Content != "" {
		t.Errorf("a link: %+v %v", view, err)
	}
}

// TestTrustInNoFile: that a commit has no file is trusted only of the commit that
// is named, and holds for all that have none.
func TestTrustInNoFile(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	_, err := e.AddProject(t.Context(), cw.ProjectRequest{Path: e.repo})
	must(t, err)
	commit := lab.Git(t, e.repo, "rev-parse", "HEAD")
	view, err := e.ProjectFile(t.Context(), "shop", "")
	must(t, err)
	if view.Present || !view.Trusted || view.TrustedAt != nil || view.Digest != environment.Digest(nil) {
		t.Errorf("without a file: %+v", view)
	}
	person := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorPerson})
	if _, err = e.TrustProject(person, "shop", cw.TrustRequest{Digest: view.Digest}); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("of no commit: %v", err)
	}
	if view, err = e.TrustProject(person, "shop", cw.TrustRequest{Digest: view.Digest, Ref: commit}); err != nil || view.TrustedAt == nil {
		t.Errorf("of a commit: %+v, %v", view, err)
	}
}

// TestFileOfTheMirror: a branch that only cw's copy has is found there.
func TestFileOfTheMirror(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	const text = "ports: 3\n"
	v := e.mustSpawn(e.request(fakecli.Script{File: cw.ProjectFileName, Content: text, Commit: "Ports", Signal: `{"status":"done"}`}))
	e.rest(v.Alias)
	lab.Git(t, e.repo, "branch", "-D", "agent/"+v.Alias)
	view, err := e.ProjectFile(t.Context(), "shop", "agent/"+v.Alias)
	if err != nil || view.Content != text || view.File.Ports != 3 {
		t.Errorf("%+v %v", view, err)
	}
}
