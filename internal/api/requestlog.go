package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"cw/internal/cw"
)

// slowAfter is the time after which an answer is worth a warning.
const slowAfter = time.Second

// logRequest writes one line about a request that was answered: a warning when
// it was slow and is no stream, else for debugging only. The pattern of the
// route stands for the path, so that a line holds nothing that callers chose;
// actor is "" for who was not let in.
func (s *Server) logRequest(r *http.Request, actor cw.ActorKind, status int, took time.Duration) {
	ctx := context.WithoutCancel(r.Context())
	level := s.requestLevel(r.Pattern, took)
	if !s.opts.Log.Enabled(ctx, level) {
		return
	}
	s.opts.Log.Log(ctx, level, "request", "method", knownMethod(r.Method), "route", r.Pattern, "status", status,
		"ms", float64(took.Microseconds())/1000, "actor", actor)
}

// logRefusal writes a warning about a request that was refused, and only for
// debugging once its caller has caused many.
func (s *Server) logRefusal(ctx context.Context, message string, attrs ...any) {
	level := slog.LevelDebug
	if actor := cw.ActorOf(ctx); s.refusals.Take(string(actor.Kind)+" "+actor.ID, time.Now()) {
		level = slog.LevelWarn
	}
	s.opts.Log.Log(ctx, level, message, attrs...)
}

func (s *Server) requestLevel(pattern string, took time.Duration) slog.Level {
	if took > slowAfter && !s.streamsAt(pattern) {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// streamsAt tells whether the route with this pattern answers with a stream.
func (s *Server) streamsAt(pattern string) bool {
	for _, row := range s.rows {
		if row.Pattern() == pattern {
			return s.streams[row.ID]
		}
	}
	return false
}

// noRoute stands in the log for a path that no route has.
const noRoute = "none"

// shownRoute names the route of a request as it may be kept: its pattern, since
// a path may hold whatever its caller wrote into it, such as a credential.
func (s *Server) shownRoute(r *http.Request) string {
	return cmp.Or(s.rowOf(r).Path, noRoute)
}

// knownMethod keeps words that are no method of ours out of the log.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodPatch:
		return method
	}
	return "other"
}
