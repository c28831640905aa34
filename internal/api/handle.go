package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
)

// body is the answer of a JSON route.
type body[T any] struct{ Body T }

// handle registers a JSON route under its row in the table: I holds the
// parameters and the body, T is the answer.
func handle[I, T any](s *Server, id string, act func(context.Context, *I) (T, error)) {
	op, ok := s.operation(id)
	if !ok {
		return
	}
	op.Middlewares = huma.Middlewares{checkedQuery[I](s)}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*body[T], error) {
		out, err := act(ctx, in)
		if err != nil {
			return nil, s.wire(ctx, err)
		}
		return &body[T]{out}, nil
	})
}

// handleStream registers a route that answers with a stream of frames. open
// gets a context that ends when the reader goes or the server stops.
func handleStream[I any](s *Server, id string, open func(context.Context, *I) (frames, error)) {
	op, ok := s.operation(id)
	if !ok {
		return
	}
	s.streams[id] = true
	op.Middlewares = huma.Middlewares{checkedQuery[I](s)}
	op.Responses["200"] = &huma.Response{
		Description: "A stream of server-sent events",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		release, err := s.seats.take(cw.ActorOf(ctx))
		if err != nil {
			return nil, s.wire(ctx, err)
		}
		sending := false
		defer func() {
			if !sending { // startPump may panic, too
				release()
			}
		}()
		p, err := s.startPump(ctx, func(ctx context.Context) (frames, error) { return open(ctx, in) })
		if err != nil {
			return nil, s.wire(ctx, err)
		}
		sending = true
		return &huma.StreamResponse{Body: func(hctx huma.Context) {
			defer release()
			p.serve(hctx)
		}}, nil
	})
}

// operation describes the route of a row; a missing row is a fault of the
// construction.
func (s *Server) operation(id string) (huma.Operation, bool) {
	row, ok := s.rows[id]
	if !ok {
		s.faults = append(s.faults, fmt.Errorf("the operation %q has no row in the table of rights", id))
		return huma.Operation{}, false
	}
	errorSchema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[problem](), true, "Error")
	return huma.Operation{
		OperationID: row.ID,
		Method:      row.Method,
		Path:        row.Path,
		Summary:     row.Summary,
		// readJSON and the services check bodies, with better words; both callers
		// and the engine hear the same.
		SkipValidateBody: true,
		MaxBodyBytes:     -1, // the body is already here and measured; huma's own limit is 1 MiB
		// huma would set a deadline of 5 s for reading after the body has come
		// and leave it there, which cancels handlers that take longer.
		BodyReadTimeout: -1,
		Responses: map[string]*huma.Response{
			"200": {Description: http.StatusText(http.StatusOK)},
			"default": {
				Description: "Error",
				Content:     map[string]*huma.MediaType{"application/json": {Schema: errorSchema}},
			},
		},
	}, true
}
