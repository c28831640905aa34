package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"cw/internal/cw"
	"cw/internal/forge"
	"cw/worktree"
)

// forges implements cw.ForgeService: it puts the branch of an initiative, its
// tasks and somebody's token together.
type forges struct {
	initiatives cw.InitiativeService
	projects    projectFinder
	branches    branchFinder
	repos       *worktree.Manager
	accounts    forgeAccounts
	masks       masks
	environ     []string          // the daemon's own, for proxies
	transport   http.RoundTripper // nil: an own one; for tests
	log         *slog.Logger
}

// projectFinder finds projects.
type projectFinder interface {
	ProjectByRef(ctx context.Context, ref string) (cw.Project, error)
}

// branchFinder finds the branches of an initiative, one for each project that
// has one.
type branchFinder interface {
	IntegrationsOf(ctx context.Context, initiative cw.InitiativeID) ([]cw.Integration, error)
}

// newForges puts it together of the parts of a daemon.
func newForges(c Config, p *parts) forges {
	return forges{
		initiatives: p.plans, projects: p.store, branches: p.store, repos: p.repos,
		accounts: p.accounts, masks: c.masks, environ: c.Environ, log: p.log,
	}
}

// CreatePullRequest implements cw.ForgeService.
func (f forges) CreatePullRequest(ctx context.Context, initiative string, req cw.PullRequestRequest) (cw.PullRequest, error) {
	if err := f.check(ctx, req); err != nil {
		return cw.PullRequest{}, err
	}
	for _, kind := range cw.Forges() {
		owner := "pull request/" + cw.NewID()
		if token := req.Token(kind); !token.Empty() {
			f.masks.Put(owner, token.Reveal())
			defer f.masks.Put(owner)
		}
	}
	view, err := f.initiatives.Initiative(ctx, initiative)
	if err != nil {
		return cw.PullRequest{}, err
	}
	in, err := f.branchOf(ctx, view.Initiative, req)
	if err != nil {
		return cw.PullRequest{}, err
	}
	p, err := f.projects.ProjectByRef(ctx, string(in.ProjectID))
	if err != nil {
		return cw.PullRequest{}, err
	}
	up, err := f.repos.Upstream(ctx, p)
	if err != nil {
		return cw.PullRequest{}, err
	}
	to, err := f.target(ctx, req, up)
	if err != nil {
		return cw.PullRequest{}, err
	}
	client, err := forge.New(to.options)
	if err != nil {
		return cw.PullRequest{}, err
	}
	pushed, err := f.repos.PushBranch(ctx, p, in.Branch, in.Head, networkOf(ctx, req.Env))
	if err != nil {
		return cw.PullRequest{}, err
	}
	title, body := f.texts(view, req)
	opened, err := client.Open(ctx, forge.PullRequest{Repository: to.repository, Head: in.Branch, Base: in.BaseBranch, Title: title, Body: body, Draft: req.Draft})
	if err != nil {
		return cw.PullRequest{}, err
	}
	f.log.Info("opened a pull request", "initiative", view.Slug, "project", p.Name, "forge", to.options.Forge, "number", opened.Number, "existed", opened.Existed, "pushed", pushed, "head", in.Head)
	return cw.PullRequest{
		ProjectID: p.ID, Project: p.Name, Forge: to.options.Forge, Number: opened.Number, URL: opened.URL, Title: title,
		Branch: in.Branch, Head: in.Head, Base: in.BaseBranch, Draft: opened.Draft, Existed: opened.Existed, Pushed: pushed,
	}, nil
}

// check refuses a request that cannot be meant, and, from afar, one that says
// where a token goes.
func (f forges) check(ctx context.Context, req cw.PullRequestRequest) error {
	own := req.BaseURL != "" || !req.GitHubToken.Empty() || !req.GitLabToken.Empty()
	if own && cw.ActorOf(ctx).Kind != cw.ActorPerson {
		return cw.Errorf(cw.CodeForbidden, "a token or an address for pull requests is taken from a person on this machine alone").
			WithHint("use an account: cw account add --provider github --name work --token -")
	}
	return req.Check()
}

// texts are the title and the text of a pull request. Secrets that live are
// masked: what is sent is read by others.
func (f forges) texts(view cw.InitiativeView, req cw.PullRequestRequest) (title, body string) {
	title, body = forge.Describe(forge.Work{Name: view.Name, Goal: view.Goal, Tasks: view.Tasks})
	if req.Title != "" {
		title = req.Title
	}
	if req.Body != "" {
		body = req.Body
	}
	return f.masks.MaskString(title), f.masks.MaskString(body)
}

// branchOf gives the branch that is meant, with the base that is.
func (f forges) branchOf(ctx context.Context, i cw.Initiative, req cw.PullRequestRequest) (cw.Integration, error) {
	all, err := f.branches.IntegrationsOf(ctx, i.ID)
	if err != nil {
		return cw.Integration{}, err
	}
	return chooseBranch(i, all, req)
}

// chooseBranch is branchOf as a decision.
func chooseBranch(i cw.Initiative, all []cw.Integration, req cw.PullRequestRequest) (cw.Integration, error) {
	var names []string
	all = slices.DeleteFunc(slices.Clone(all), func(in cw.Integration) bool { return in.Head == "" || in.Head == in.BaseCommit })
	for _, in := range all {
		names = append(names, in.Project)
	}
	if req.Project != "" {
		all = slices.DeleteFunc(all, func(in cw.Integration) bool { return in.Project != req.Project && string(in.ProjectID) != req.Project })
	}
	known := slices.ContainsFunc(i.Projects, func(p cw.InitiativeProject) bool { return p.Name == req.Project || string(p.ID) == req.Project })
	switch {
	case len(all) == 0 && req.Project != "" && !known:
		return cw.Integration{}, cw.Errorf(cw.CodeNotFound, "%s has no project %.100q", i.Slug, req.Project).WithHint("see: cw initiative show %s", i.Slug)
	case len(all) == 0:
		return cw.Integration{}, cw.Errorf(cw.CodeRefused, "nothing of %s is merged yet", i.Slug).WithHint("see what its tasks wait for: cw dispatch status")
	case len(all) > 1:
		return cw.Integration{}, cw.Errorf(cw.CodeInvalid, "%s has a branch in %d projects: %s", i.Slug, len(all), strings.Join(names, ", ")).
			WithHint("open a pull request for each of them: --project %s", names[0])
	}
	in := all[0]
	if req.Base != "" {
		in.BaseBranch = strings.TrimPrefix(req.Base, "refs/heads/")
	}
	switch in.BaseBranch {
	case "":
		return cw.Integration{}, cw.Errorf(cw.CodeInvalid, "%s began from no branch in %s", in.Branch, in.Project).WithHint("say what it is to be merged into: --base main")
	case in.Branch:
		return cw.Integration{}, cw.Errorf(cw.CodeInvalid, "%s cannot be merged into itself", in.Branch).WithHint("name another branch: --base main")
	}
	return in, nil
}

// networkOf is what a person's environment adds when a remote is reached.
func networkOf(ctx context.Context, env map[string]string) map[string]string {
	if cw.ActorOf(ctx).Kind != cw.ActorPerson {
		return nil
	}
	return worktree.NetworkEnv(env)
}

// proxyOf is how a forge is reached: as the caller reaches it, else as the
// daemon does.
func proxyOf(caller map[string]string, environ []string) func(*http.Request) (*url.URL, error) {
	get := func(name string) string {
		for _, name := range []string{name, strings.ToUpper(name)} {
			if value := caller[name]; value != "" {
				return value
			}
			if value := variable(environ, name); value != "" {
				return value
			}
		}
		return ""
	}
	decide := (&httpproxy.Config{HTTPProxy: get("http_proxy"), HTTPSProxy: get("https_proxy"), NoProxy: get("no_proxy")}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return decide(r.URL) }
}
