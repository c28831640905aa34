package forge

import (
	"context"
	"strings"

	"github.com/google/go-github/v92/github"
)

// gitHub has the functions of api at GitHub.
type gitHub struct{ pulls *github.PullRequestsService }

func newGitHub(o Options) (api, error) {
	c, err := github.NewClient(
		github.WithHTTPClient(httpClient(o)), github.WithURLs(&o.Address, nil), github.WithAuthToken(o.Token.Reveal()),
		github.WithUserAgent("cw"), github.WithDisableRateLimitCheck(),
	)
	if err != nil {
		return api{}, err
	}
	g := gitHub{c.PullRequests}
	return api{
		find:   func(ctx context.Context, p PullRequest) (Opened, bool, error) { return g.find(ctx, p) },
		create: func(ctx context.Context, p PullRequest) (Opened, error) { return g.create(ctx, p) },
		update: func(ctx context.Context, p PullRequest, had Opened) (Opened, error) { return g.update(ctx, p, had) },
	}, nil
}

// find implements api. A filter that GitHub does not understand gives all pull
// requests, so each is looked at.
func (g gitHub) find(ctx context.Context, p PullRequest) (Opened, bool, error) {
	owner, name, _ := strings.Cut(p.Repository, "/")
	list, _, err := g.pulls.List(ctx, owner, name, &github.PullRequestListOptions{State: "open", Head: owner + ":" + p.Head, Base: p.Base})
	if err != nil {
		return Opened{}, false, err
	}
	for _, pr := range list {
		head, base := pr.GetHead(), pr.GetBase()
		own := strings.EqualFold(head.GetRepo().GetFullName(), base.GetRepo().GetFullName())
		if pr.GetState() == "open" && own && head.GetRef() == p.Head && base.GetRef() == p.Base {
			return openedAtGitHub(pr), true, nil
		}
	}
	return Opened{}, false, nil
}

func (g gitHub) create(ctx context.Context, p PullRequest) (Opened, error) {
	owner, name, _ := strings.Cut(p.Repository, "/")
	pr, _, err := g.pulls.Create(ctx, owner, name, github.CreatePullRequest{
		Title: &p.Title, Head: p.Head, Base: p.Base, Body: &p.Body, Draft: &p.Draft,
	})
	return openedAtGitHub(pr), err
}

func (g gitHub) update(ctx context.Context, p PullRequest, had Opened) (Opened, error) {
	owner, name, _ := strings.Cut(p.Repository, "/")
	pr, _, err := g.pulls.Edit(ctx, owner, name, int(had.Number), &github.PullRequest{Title: &p.Title, Body: &p.Body})
	return openedAtGitHub(pr), err
}

func openedAtGitHub(pr *github.PullRequest) Opened {
	return Opened{Number: int64(pr.GetNumber()), URL: pr.GetHTMLURL(), Draft: pr.GetDraft()}
}
