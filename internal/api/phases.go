package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type phaseRef struct {
	ID string `path:"phase" doc:"the phase's id"`
}

type createPhase struct {
	Ref  string `path:"initiative" doc:"id or slug"`
	Body createPhaseBody
}

type createPhaseBody struct {
	Name      string       `json:"name" doc:"one line"`
	Body      string       `json:"body,omitempty" doc:"what it is to reach, Markdown"`
	DependsOn []cw.PhaseID `json:"dependsOn,omitempty" doc:"phases that come before it"`
}

type editPhase struct {
	ID   string `path:"phase" doc:"the phase's id"`
	Body cw.PhaseEdit
}

func registerPhases(s *Server) {
	services := s.opts.Services
	// A list has one form everywhere, so these are a page, too.
	handle(s, "list-phases", func(ctx context.Context, in *initiativeRef) (cw.Page[cw.Phase], error) {
		phases, err := services.Phases(ctx, in.Ref)
		return cw.Page[cw.Phase]{Items: orEmpty(phases)}, err
	})
	handle(s, "create-phase", func(ctx context.Context, in *createPhase) (cw.Phase, error) {
		return services.CreatePhase(ctx, cw.CreatePhaseRequest{
			Initiative: in.Ref, Name: in.Body.Name, Body: in.Body.Body, DependsOn: in.Body.DependsOn,
		})
	})
	handle(s, "get-phase", func(ctx context.Context, in *phaseRef) (cw.Phase, error) {
		return services.Phase(ctx, cw.PhaseID(in.ID))
	})
	handle(s, "edit-phase", func(ctx context.Context, in *editPhase) (cw.Phase, error) {
		return services.EditPhase(ctx, cw.PhaseID(in.ID), in.Body)
	})
}

func phasePath(id cw.PhaseID) string { return "/v1/phases/" + segment(string(id)) }

// CreatePhase implements cw.PhaseService.
func (c *Client) CreatePhase(ctx context.Context, req cw.CreatePhaseRequest) (cw.Phase, error) {
	return call[cw.Phase](ctx, c, request{
		method: http.MethodPost, path: initiativePath(req.Initiative, "/phases"),
		body: createPhaseBody{Name: req.Name, Body: req.Body, DependsOn: req.DependsOn},
	})
}

// Phases implements cw.PhaseService.
func (c *Client) Phases(ctx context.Context, initiative string) ([]cw.Phase, error) {
	page, err := call[cw.Page[cw.Phase]](ctx, c, request{method: http.MethodGet, path: initiativePath(initiative, "/phases")})
	return page.Items, err
}

// Phase implements cw.PhaseService.
func (c *Client) Phase(ctx context.Context, id cw.PhaseID) (cw.Phase, error) {
	return call[cw.Phase](ctx, c, request{method: http.MethodGet, path: phasePath(id)})
}

// EditPhase implements cw.PhaseService.
func (c *Client) EditPhase(ctx context.Context, id cw.PhaseID, e cw.PhaseEdit) (cw.Phase, error) {
	return call[cw.Phase](ctx, c, request{method: http.MethodPost, path: phasePath(id), body: e})
}
