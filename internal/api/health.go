package api

import (
	"context"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// health is the whole answer of GET /healthz. It is the same for everybody, so
// it tells nothing but that a daemon is there.
type health struct {
	Status string `json:"status" enum:"ok" doc:"always ok"`
}

func registerHealth(s *Server) {
	handle(s, "get-health", func(context.Context, *nothing) (health, error) { return health{"ok"}, nil })
	op, ok := s.operation("get-metrics")
	if !ok {
		return
	}
	op.Responses["200"] = &huma.Response{
		Description: "Figures in the text format of Prometheus",
		Content:     map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
	huma.Register(s.api, op, func(ctx context.Context, _ *nothing) (*huma.StreamResponse, error) {
		if s.opts.Metrics == nil {
			return nil, s.wire(ctx, cw.Errorf(cw.CodeNotFound, "metrics are switched off").
				WithHint("cw config set metrics.enabled true, then cw restart"))
		}
		return &huma.StreamResponse{Body: func(hctx huma.Context) {
			r, w := humago.Unwrap(hctx)
			s.opts.Metrics.ServeHTTP(w, r)
		}}, nil
	})
}
