package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

// A goal is too long for an address, so what is read here is asked for with a
// body.

type renderPrompt struct {
	Body cw.PromptRequest
}

func registerPrompts(s *Server) {
	services := s.opts.Services
	handle(s, "render-prompt", func(ctx context.Context, in *renderPrompt) (cw.PromptView, error) {
		if err := in.Body.Check(); err != nil {
			return cw.PromptView{}, err
		}
		view, err := services.Prompt(ctx, in.Body)
		view.Blocks = orEmpty(view.Blocks)
		return view, err
	})
}

// Prompt implements cw.PromptService.
func (c *Client) Prompt(ctx context.Context, req cw.PromptRequest) (cw.PromptView, error) {
	return call[cw.PromptView](ctx, c, request{method: http.MethodPost, path: "/v1/prompts", body: req})
}
