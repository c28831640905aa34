package servicetest

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

// pullRequestCase: what cannot be meant is refused before anything is looked at,
// and for nothing there is no pull request.
func pullRequestCase(t *testing.T, f Fixture) {
	s := f.Services
	p, err := s.AddProject(soon(t), cw.ProjectRequest{Path: f.Repo})
	ok(t, err)
	i, err := s.CreateInitiative(soon(t), cw.CreateInitiativeRequest{Start: true, Name: "Spring sale", Projects: []string{p.Name}})
	ok(t, err)
	for what, bad := range map[string]cw.PullRequestRequest{
		"a title of two lines":      {Title: "a\nb"},
		"a title that is too long":  {Title: strings.Repeat("x", cw.NameMax+1)},
		"a text that is too long":   {Body: strings.Repeat("x", cw.PullRequestBodyMax+1)},
		"an option for a branch":    {Base: "--upload-pack=x"},
		"blanks in a branch":        {Base: "main stable"},
		"a forge that there is not": {Forge: "gitea"},
	} {
		_, err := s.CreatePullRequest(soon(t), i.Slug, bad)
		wantHint(t, "CreatePullRequest with "+what, err, cw.CodeInvalid, "")
	}
	_, err = s.CreatePullRequest(soon(t), unknown, cw.PullRequestRequest{})
	wantCode(t, "CreatePullRequest for no initiative", err, cw.CodeNotFound)
	_, err = s.CreatePullRequest(soon(t), i.Slug, cw.PullRequestRequest{Project: unknown})
	wantHint(t, "CreatePullRequest in another project", err, cw.CodeNotFound, i.Slug)
	for _, ref := range []string{i.Slug, string(i.ID)} {
		_, err = s.CreatePullRequest(soon(t), ref, cw.PullRequestRequest{
			Project: p.Name, Draft: true, Forge: cw.ForgeGitHub, GitHubToken: cw.NewSecret("test-0123456789"), Env: map[string]string{"PATH": "/bin"},
		})
		wantHint(t, "CreatePullRequest of nothing", err, cw.CodeRefused, "")
	}
}
