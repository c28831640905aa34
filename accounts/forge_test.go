package accounts

import (
	"testing"

	"cw/internal/cw"
)

// TestForgeAccount: an account of a forge is a token and, for a host of one's
// own, an address, and nothing that only a CLI has.
func TestForgeAccount(t *testing.T) {
	const good = "github_pat_aaaaaaaaaaaaaaaa"
	r := newRig(t)
	at := func(req cw.AddAccountRequest) cw.AddAccountRequest {
		req.Provider, req.Name = "github", "work"
		return req
	}
	for _, c := range []struct {
		req  cw.AddAccountRequest
		word string
	}{
		{cw.AddAccountRequest{}, "no login"},
		{cw.AddAccountRequest{ConfigDir: t.TempDir()}, "no directory with a login"},
		{cw.AddAccountRequest{APIKey: cw.NewSecret(good)}, "no API key"},
		{cw.AddAccountRequest{Token: cw.NewSecret(goodToken)}, "Anthropic"},
		{cw.AddAccountRequest{Token: cw.NewSecret("glpat-aaaaaaaaaaaaaaaa")}, "GitLab"},
	} {
		r.refused(at(c.req), cw.CodeInvalid, c.word)
	}
	a := r.add(at(cw.AddAccountRequest{Token: cw.NewSecret(good + "\n"), BaseURL: "https://git.example"}))
	access, err := r.Ready(t.Context(), a)
	must(t, err)
	if access.Env["GITHUB_TOKEN"] != good || a.BaseURL != "https://git.example" {
		t.Errorf("%+v has %v", a, access.Env)
	}
	if tried, err := r.TestAccount(t.Context(), "github/work"); err != nil || !tried.OK || tried.Text != "its token is there; only a pull request shows whether GitHub takes it" {
		t.Errorf("%+v, %v", tried, err)
	}
	r.quiet(good)
}
