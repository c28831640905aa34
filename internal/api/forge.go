package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type createPullRequest struct {
	Initiative string `path:"initiative" doc:"id or slug"`
	Body       *cw.PullRequestRequest
}

// sentPullRequest is a request with its tokens as they are.
type sentPullRequest struct {
	cw.PullRequestRequest
	GitHubToken string `json:"githubToken,omitempty"`
	GitLabToken string `json:"gitlabToken,omitempty"`
}

func registerForges(s *Server) {
	services := s.opts.Services
	handle(s, "create-pull-request", func(ctx context.Context, in *createPullRequest) (cw.PullRequest, error) {
		return services.CreatePullRequest(ctx, in.Initiative, orZero(in.Body))
	})
}

// CreatePullRequest implements cw.ForgeService. The caller's tokens go over the
// socket as they are.
func (c *Client) CreatePullRequest(ctx context.Context, initiative string, req cw.PullRequestRequest) (cw.PullRequest, error) {
	sent := sentPullRequest{PullRequestRequest: req, GitHubToken: req.GitHubToken.Reveal(), GitLabToken: req.GitLabToken.Reveal()}
	return call[cw.PullRequest](ctx, c, request{method: http.MethodPost, path: "/v1/initiatives/" + segment(initiative) + "/pull-request", body: sent})
}
