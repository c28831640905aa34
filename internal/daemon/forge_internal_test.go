package daemon

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/providers"
	"cw/worktree"
)

// TestChooseBranch: which branch is meant, and what it is to be merged into.
func TestChooseBranch(t *testing.T) {
	t.Parallel()
	i := cw.Initiative{Slug: "sale", Projects: []cw.InitiativeProject{{ID: "p-shop", Name: "shop"}, {ID: "p-docs", Name: "docs"}, {ID: "p-new", Name: "new"}}}
	shop := cw.Integration{ProjectID: "p-shop", Project: "shop", Branch: "cw/sale", BaseBranch: "main", BaseCommit: "b", Head: "h"}
	docs := cw.Integration{ProjectID: "p-docs", Project: "docs", Branch: "cw/sale", BaseCommit: "b", Head: "h"}
	empty := cw.Integration{ProjectID: "p-new", Project: "new", Branch: "cw/sale", BaseBranch: "main", BaseCommit: "b", Head: "b"}
	into := func(in cw.Integration, base string) cw.Integration { in.BaseBranch = base; return in }
	tests := map[string]struct {
		all  []cw.Integration
		req  cw.PullRequestRequest
		want cw.Integration
		code cw.Code
		hint string
	}{
		"the only one":            {[]cw.Integration{shop}, cw.PullRequestRequest{}, shop, "", ""},
		"the only one with work":  {[]cw.Integration{empty, shop}, cw.PullRequestRequest{}, shop, "", ""},
		"by name":                 {[]cw.Integration{docs, shop}, cw.PullRequestRequest{Project: "shop"}, shop, "", ""},
		"by id":                   {[]cw.Integration{docs, shop}, cw.PullRequestRequest{Project: "p-shop"}, shop, "", ""},
		"into another":            {[]cw.Integration{shop}, cw.PullRequestRequest{Base: "stable"}, into(shop, "stable"), "", ""},
		"into a full name":        {[]cw.Integration{shop}, cw.PullRequestRequest{Base: "refs/heads/stable"}, into(shop, "stable"), "", ""},
		"from no branch, into":    {[]cw.Integration{docs}, cw.PullRequestRequest{Base: "main"}, into(docs, "main"), "", ""},
		"from no branch":          {[]cw.Integration{docs}, cw.PullRequestRequest{}, cw.Integration{}, cw.CodeInvalid, "--base"},
		"into itself":             {[]cw.Integration{shop}, cw.PullRequestRequest{Base: "cw/sale"}, cw.Integration{}, cw.CodeInvalid, "--base"},
		"one of several":          {[]cw.Integration{shop, docs}, cw.PullRequestRequest{}, cw.Integration{}, cw.CodeInvalid, "--project shop"},
		"none":                    {nil, cw.PullRequestRequest{}, cw.Integration{}, cw.CodeRefused, "cw dispatch status"},
		"nothing merged":          {[]cw.Integration{empty}, cw.PullRequestRequest{}, cw.Integration{}, cw.CodeRefused, ""},
		"nothing merged there":    {[]cw.Integration{empty, shop}, cw.PullRequestRequest{Project: "new"}, cw.Integration{}, cw.CodeRefused, ""},
		"a project of others":     {[]cw.Integration{shop}, cw.PullRequestRequest{Project: "other"}, cw.Integration{}, cw.CodeNotFound, "cw initiative show sale"},
		"a project of its own, 0": {nil, cw.PullRequestRequest{Project: "docs"}, cw.Integration{}, cw.CodeRefused, ""},
	}
	for name, test := range tests {
		got, err := chooseBranch(i, test.all, test.req)
		if cw.ErrorCode(err) != test.code || !strings.Contains(cw.ErrorHint(err), test.hint) || err != nil && cw.ErrorHint(err) == "" {
			t.Errorf("%s: %v, hint %q", name, err, cw.ErrorHint(err))
		}
		if diff := cmp.Diff(test.want, got); err == nil && diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// someAccounts are accounts with their tokens, which are their names.
type someAccounts []cw.Account

// Accounts implements forgeAccounts.
func (s someAccounts) Accounts(context.Context, string) (views []cw.AccountView, err error) {
	for _, a := range s {
		views = append(views, cw.AccountView{Account: a})
	}
	return views, nil
}

// Account implements forgeAccounts.
func (s someAccounts) Account(_ context.Context, ref string) (cw.AccountView, error) {
	var found []cw.Account
	for _, a := range s {
		if a.Name == ref || a.Provider+"/"+a.Name == ref {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return cw.AccountView{}, cw.Errorf(cw.CodeNotFound, "none")
	case 1:
		return cw.AccountView{Account: found[0]}, nil
	}
	return cw.AccountView{}, cw.Errorf(cw.CodeInvalid, "several")
}

// Ready implements forgeAccounts.
func (s someAccounts) Ready(_ context.Context, a cw.Account) (cw.AccountAccess, error) {
	p, _ := forgeProvider(a.Provider)
	return cw.AccountAccess{Env: map[string]string{p.Token: a.Provider + "-" + a.Name}}, nil
}

// TestForgeCredentials: a token goes to the address that it was given for, and
// to no other, whatever a remote says.
func TestForgeCredentials(t *testing.T) {
	t.Parallel()
	const public, own = "https://api.github.com/", "https://git.example/api/v3/"
	f := forges{accounts: someAccounts{
		{Provider: "github", Name: "default", Kind: cw.AccountOwn, Enabled: true},
		{Provider: "claude", Name: "work", Kind: cw.AccountToken, Enabled: true},
		{Provider: "claude", Name: "only-claude", Kind: cw.AccountToken, Enabled: true},
		{Provider: "github", Name: "off", Kind: cw.AccountToken},
		{Provider: "github", Name: "gone", Kind: cw.AccountToken, Enabled: true, Draining: true},
		{Provider: "github", Name: "bad", Kind: cw.AccountToken, Enabled: true, Invalid: "revoked"},
		{Provider: "github", Name: "odd", Kind: cw.AccountToken, Enabled: true, BaseURL: "http://git.example"},
		{Provider: "github", Name: "ghes", Kind: cw.AccountToken, Enabled: true, BaseURL: "https://git.example"},
		{Provider: "github", Name: "work", Kind: cw.AccountToken, Enabled: true},
		{Provider: "github", Name: "second", Kind: cw.AccountToken, Enabled: true},
		{Provider: "gitlab", Name: "work", Kind: cw.AccountToken, Enabled: true, BaseURL: "https://git.example"},
	}}
	mine := cw.NewSecret("mine-0123456789")
	tests := map[string]struct {
		remote         string
		req            cw.PullRequestRequest
		token, address string
		code           cw.Code
		hint           string
	}{
		"account of github.com":    {"git@github.com:a/b", cw.PullRequestRequest{}, "github-work", public, "", ""},
		"account of own host":      {"https://git.example/a/b", cw.PullRequestRequest{Forge: "github"}, "github-ghes", own, "", ""},
		"account of own GitLab":    {"https://git.example/a/b/c", cw.PullRequestRequest{Forge: "gitlab"}, "gitlab-work", "https://git.example/api/v4/", "", ""},
		"mine first":               {"git@github.com:a/b", cw.PullRequestRequest{GitHubToken: mine}, "mine-0123456789", public, "", ""},
		"mine of the other forge":  {"git@github.com:a/b", cw.PullRequestRequest{GitLabToken: mine}, "github-work", public, "", ""},
		"mine is not for own host": {"https://git.example/a/b", cw.PullRequestRequest{Forge: "github", GitHubToken: mine}, "github-ghes", own, "", ""},
		"mine by address":          {"https://git.example/a/b", cw.PullRequestRequest{Forge: "github", GitHubToken: mine, BaseURL: "https://git.example"}, "mine-0123456789", own, "", ""},
		"mine, not an account":     {"git@github.com:a/b", cw.PullRequestRequest{GitHubToken: mine, Account: "default"}, "mine-0123456789", public, "", ""},
		"named before mine":        {"git@github.com:a/b", cw.PullRequestRequest{GitHubToken: mine, Account: "second"}, "github-second", public, "", ""},
		"a name of several":        {"git@github.com:a/b", cw.PullRequestRequest{Account: "work"}, "github-work", public, "", ""},
		"named, alias of ssh":      {"git@hub-at-work:a/b", cw.PullRequestRequest{Account: "second", Forge: "github"}, "github-second", public, "", ""},
		"named, of another host":   {"https://evil.example/a/b", cw.PullRequestRequest{Account: "work", Forge: "github"}, "github-work", public, "", ""},
		"another host":             {"https://evil.example/a/b", cw.PullRequestRequest{Forge: "github", GitHubToken: mine}, "", "", cw.CodeRefused, "--base-url https://evil.example"},
		"another GitLab":           {"https://gitlab.evil.example/a/b", cw.PullRequestRequest{GitLabToken: mine}, "", "", cw.CodeRefused, "--base-url"},
		"no token":                 {"git@gitlab.com:a/b", cw.PullRequestRequest{}, "", "", cw.CodeRefused, "--provider gitlab"},
		"no token of mine":         {"git@github.com:a/b", cw.PullRequestRequest{Account: "default"}, "", "", cw.CodeRefused, "GH_TOKEN"},
		"switched off":             {"git@github.com:a/b", cw.PullRequestRequest{Account: "off"}, "", "", cw.CodeRefused, "cw account show"},
		"revoked":                  {"git@github.com:a/b", cw.PullRequestRequest{Account: "bad"}, "", "", cw.CodeRefused, "cw account show"},
		"in the clear":             {"git@github.com:a/b", cw.PullRequestRequest{Account: "odd"}, "", "", cw.CodeInvalid, "https"},
		"of a CLI":                 {"git@github.com:a/b", cw.PullRequestRequest{Account: "only-claude"}, "", "", cw.CodeInvalid, "cw account list"},
		"unknown":                  {"git@github.com:a/b", cw.PullRequestRequest{Account: "nobody"}, "", "", cw.CodeNotFound, ""},
		"no forge":                 {"https://git.example/a/b", cw.PullRequestRequest{}, "", "", cw.CodeInvalid, "--forge"},
		"no host":                  {"/srv/git/a.git", cw.PullRequestRequest{}, "", "", cw.CodeInvalid, "git remote -v"},
		"no repository":            {"https://github.com/a/b/c", cw.PullRequestRequest{}, "", "", cw.CodeInvalid, "OWNER/NAME"},
		"address in the clear":     {"https://git.example/a/b", cw.PullRequestRequest{Forge: "github", GitHubToken: mine, BaseURL: "http://git.example"}, "", "", cw.CodeInvalid, "https"},
	}
	for name, test := range tests {
		to, err := f.target(t.Context(), test.req, worktree.Upstream{Fetch: test.remote, Push: test.remote})
		if cw.ErrorCode(err) != test.code || !strings.Contains(cw.ErrorHint(err), test.hint) {
			t.Errorf("%s: %v, hint %q", name, err, cw.ErrorHint(err))
		}
		if err == nil && (to.options.Token.Reveal() != test.token || to.options.Address != test.address) {
			t.Errorf("%s: %q goes to %s", name, to.options.Token.Reveal(), to.options.Address)
		}
	}
	_, err := f.target(t.Context(), cw.PullRequestRequest{}, worktree.Upstream{Fetch: "git@github.com:a/b", Push: "git@github.com:me/b"})
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "forks") {
		t.Errorf("pushed to a fork: %v", err)
	}
}

// TestForgeIsNoProvider: an account may be one of a forge, and no agent may.
func TestForgeIsNoProvider(t *testing.T) {
	t.Parallel()
	known := accountProviders{mustPresets(t)}
	for _, f := range cw.Forges() {
		if p, err := known.Provider(string(f)); err != nil || !p.Forge || p.Token == "" || p.Key != "" {
			t.Errorf("%s: %+v, %v", f, p, err)
		}
		if _, err := known.presets.Get(string(f)); err == nil {
			t.Errorf("%s is a provider of agents", f)
		}
	}
	for _, p := range known.Providers() {
		if p.Forge {
			t.Errorf("%s is listed", p.Name)
		}
	}
}

// TestProxyOf: a forge is reached as the caller reaches it.
func TestProxyOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		caller  map[string]string
		environ []string
		url     string
		want    string
	}{
		"the caller's":     {map[string]string{"https_proxy": "http://mine:1"}, []string{"HTTPS_PROXY=http://daemons:2"}, "https://a.example", "http://mine:1"},
		"the daemon's":     {nil, []string{"HTTPS_PROXY=http://daemons:2"}, "https://a.example", "http://daemons:2"},
		"not this one":     {map[string]string{"NO_PROXY": "a.example"}, []string{"HTTPS_PROXY=http://daemons:2"}, "https://a.example", ""},
		"not this machine": {nil, []string{"HTTP_PROXY=http://daemons:2"}, "http://127.0.0.1:3", ""},
		"none":             {nil, nil, "https://a.example", ""},
	} {
		got, err := proxyOf(test.caller, test.environ)(mustRequest(t, test.url))
		if err != nil || (got == nil) != (test.want == "") || got != nil && got.String() != test.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func mustPresets(t *testing.T) *providers.Registry {
	t.Helper()
	presets, problems := providers.Load(t.TempDir())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return presets
}

func mustRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
