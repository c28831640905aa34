package api

import (
	"bytes"
	"context"
	"fmt"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
)

// metricsType is the media type of the text format of Prometheus.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

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
		var text bytes.Buffer
		if err := s.opts.Metrics(ctx, &text); err != nil {
			return nil, s.wire(ctx, fmt.Errorf("measure for metrics: %w", err))
		}
		return &huma.StreamResponse{Body: func(hctx huma.Context) {
			hctx.SetHeader("Content-Type", metricsType)
			_, _ = hctx.BodyWriter().Write(text.Bytes()) // the reader is gone when this fails
		}}, nil
	})
}
