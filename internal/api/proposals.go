package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type listProposals struct {
	PageParams

	Initiative string   `query:"initiative" doc:"only proposals for this initiative: its id or slug"`
	Agent      string   `query:"agent" doc:"only proposals of this agent: its name or id"`
	Status     []string `query:"status" doc:"only proposals with one of these statuses, separated by commas"`
}

func (in *listProposals) filter() cw.ProposalFilter {
	f := cw.ProposalFilter{PageQuery: in.query(), Initiative: in.Initiative, Agent: in.Agent}
	for _, status := range in.Status {
		f.Statuses = append(f.Statuses, cw.ProposalStatus(status))
	}
	return f
}

type proposalRef struct {
	ID string `path:"proposal" doc:"the proposal's id"`
}

type chooseProposals struct {
	Body cw.ProposalChoice
}

func registerProposals(s *Server) {
	services := s.opts.Services
	handle(s, "list-proposals", func(ctx context.Context, in *listProposals) (cw.Page[cw.Proposal], error) {
		page, err := services.Proposals(ctx, in.filter())
		page.Items = orEmpty(page.Items)
		return page, err
	})
	handle(s, "get-proposal", func(ctx context.Context, in *proposalRef) (cw.ProposalView, error) {
		return services.Proposal(ctx, cw.ProposalID(in.ID))
	})
	handle(s, "accept-proposals", decideProposals(services.AcceptProposals))
	handle(s, "dismiss-proposals", decideProposals(services.DismissProposals))
}

// decideProposals answers with what was decided on: a list has one form
// everywhere, so these are a page, too.
func decideProposals(
	act func(context.Context, cw.ProposalChoice) ([]cw.Proposal, error),
) func(context.Context, *chooseProposals) (cw.Page[cw.Proposal], error) {
	return func(ctx context.Context, in *chooseProposals) (cw.Page[cw.Proposal], error) {
		if err := in.Body.Check(); err != nil {
			return cw.Page[cw.Proposal]{}, err
		}
		decided, err := act(ctx, in.Body)
		return cw.Page[cw.Proposal]{Items: orEmpty(decided)}, err
	}
}

// Proposals implements cw.ProposalService.
func (c *Client) Proposals(ctx context.Context, f cw.ProposalFilter) (cw.Page[cw.Proposal], error) {
	q := query{}
	q.text("initiative", f.Initiative)
	q.text("agent", f.Agent)
	q.list("status", texts(f.Statuses))
	q.page(f.PageQuery)
	return call[cw.Page[cw.Proposal]](ctx, c, request{method: http.MethodGet, path: "/v1/proposals", query: q})
}

// Proposal implements cw.ProposalService.
func (c *Client) Proposal(ctx context.Context, id cw.ProposalID) (cw.ProposalView, error) {
	return call[cw.ProposalView](ctx, c, request{method: http.MethodGet, path: "/v1/proposals/" + segment(string(id))})
}

// AcceptProposals implements cw.ProposalService.
func (c *Client) AcceptProposals(ctx context.Context, choice cw.ProposalChoice) ([]cw.Proposal, error) {
	page, err := call[cw.Page[cw.Proposal]](ctx, c, request{method: http.MethodPost, path: "/v1/proposals/accept", body: choice})
	return page.Items, err
}

// DismissProposals implements cw.ProposalService.
func (c *Client) DismissProposals(ctx context.Context, choice cw.ProposalChoice) ([]cw.Proposal, error) {
	page, err := call[cw.Page[cw.Proposal]](ctx, c, request{method: http.MethodPost, path: "/v1/proposals/dismiss", body: choice})
	return page.Items, err
}
