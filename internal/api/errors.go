package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
)

// problem is the one form in which errors leave: {"code","message","hint"}.
// It is huma's StatusError, so handlers return it as it is.
type problem struct {
	Code    cw.Code `json:"code" doc:"what kind of error, for programs"`
	Message string  `json:"message" doc:"what is wrong"`
	Hint    string  `json:"hint,omitempty" doc:"what to do next"`

	status int
}

// Error gives the message.
func (e *problem) Error() string { return e.Message }

// GetStatus gives the HTTP status.
func (e *problem) GetStatus() int { return e.status }

// errMethod marks a 405: the only status that no code stands for.
var errMethod = errors.New("wrong method")

// stoppingText is what a daemon says to those whose requests its end broke off.
const stoppingText = "the daemon is stopping"

// wire turns any error into its outside form. What is no *cw.Error is a bug or
// a broken machine: its text goes to the log only, under an id that is shown.
func (s *Server) wire(ctx context.Context, err error) *problem {
	var e *cw.Error
	switch {
	case stopping(ctx) && wasLetGo(ctx, err):
		e = cw.Errorf(cw.CodeUnreachable, stoppingText).
			WithHint("an agent that was being started goes on with the next daemon: cw agent list")
	case errors.As(err, &e) && cw.Outcomes()[e.Code].HTTPStatus != 0:
		s.logCause(ctx, e)
	case errors.Is(err, context.DeadlineExceeded):
		e = cw.Errorf(cw.CodeTimeout, "the time for this request is over")
	case ctx.Err() != nil:
		e = cw.Errorf(cw.CodeInterrupted, "the caller let go")
	default:
		if e = cw.SystemError(err); e != nil {
			s.opts.Log.ErrorContext(ctx, "the system failed a request", "error", err.Error())
		} else {
			e = s.internal(ctx, err)
		}
	}
	status := cw.Outcomes()[e.Code].HTTPStatus
	if errors.Is(err, errMethod) {
		status = http.StatusMethodNotAllowed
	}
	return &problem{Code: e.Code, Message: e.Message, Hint: e.Hint, status: status}
}

// wasLetGo tells whether a request failed because it was cancelled, and not by
// a fault that it found.
func wasLetGo(ctx context.Context, err error) bool {
	var e *cw.Error
	if errors.As(err, &e) {
		return e.Code == cw.CodeInterrupted
	}
	return errors.Is(err, context.Canceled) || ctx.Err() != nil
}

// internal logs what people must not see and gives what they may.
func (s *Server) internal(ctx context.Context, err error, attrs ...slog.Attr) *cw.Error {
	id := cw.NewID()
	attrs = append([]slog.Attr{slog.String("logId", id), slog.String("error", err.Error())}, attrs...)
	s.opts.Log.LogAttrs(ctx, slog.LevelError, "internal error", attrs...)
	return cw.Errorf(cw.CodeInternal, "internal error (log id %s)", id).
		WithHint("`cw logs` shows what happened under this id")
}

// logCause keeps the cause of an error that people see without it.
func (s *Server) logCause(ctx context.Context, e *cw.Error) {
	switch {
	case e.Code == cw.CodeInternal:
		s.opts.Log.ErrorContext(ctx, "request failed", "code", e.Code, "error", e.Error())
	case e.Err != nil && !errors.Is(e.Err, errMethod):
		s.opts.Log.InfoContext(ctx, "request failed", "code", e.Code, "error", e.Error())
	}
}

// writeError answers with an error outside of huma's handlers.
func (s *Server) writeError(ctx context.Context, w http.ResponseWriter, err error) {
	e := s.wire(ctx, err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	_ = json.NewEncoder(w).Encode(e) // the caller is gone when this fails
}

// edge carries one request through huma so that huma's own errors (a query
// value that is no number, a missing field) leave in our form and with our
// status. huma's way is to replace a function variable of its package; this
// way two servers in one process do not share anything.
type edge struct {
	humaContext
	status int // 0: as huma says
}

// humaContext is huma.Context under a name that does not hide its method
// Context when it is embedded.
type humaContext huma.Context

// Unwrap gives humago the context that it made.
func (e *edge) Unwrap() huma.Context { return e.humaContext }

// SetStatus writes the status line.
func (e *edge) SetStatus(status int) {
	if e.status != 0 {
		status = e.status
	}
	e.humaContext.SetStatus(status)
}

func throughEdge(ctx huma.Context, next func(huma.Context)) { next(&edge{humaContext: ctx}) }

// reshape is a huma transformer: it replaces huma's error bodies by ours.
func reshape(ctx huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	e := &problem{Code: cw.CodeInvalid, Message: invalidText(model), Hint: "GET /v1/openapi.json describes what a request may hold", status: cw.Outcomes()[cw.CodeInvalid].HTTPStatus}
	if own, ok := ctx.(*edge); ok {
		own.status = e.status
	}
	ctx.SetHeader("Content-Type", "application/json")
	return e, nil
}

// invalidText names the first faults of a request; huma repeats whole values,
// which may be as long as the request itself.
func invalidText(m *huma.ErrorModel) string {
	const most = 3
	var parts []string
	for _, d := range m.Errors {
		if d == nil {
			continue
		}
		if len(parts) == most {
			parts = append(parts, "…")
			break
		}
		text := d.Message
		if d.Location != "" {
			text = d.Location + ": " + text
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "the request is wrong: " + m.Detail
	}
	return "the request is wrong: " + strings.Join(parts, "; ")
}

// readError is the client's side of wire: the *cw.Error with its code intact.
func readError(status int, body []byte) *cw.Error {
	var e cw.Error
	if json.Unmarshal(body, &e) != nil || cw.Outcomes()[e.Code].HTTPStatus == 0 {
		return cw.Errorf(cw.CodeInternal, "the daemon answered with status %d and no readable error", status)
	}
	return &e
}

// panicError wraps what a handler or an iterator panicked with.
func panicError(value any, stack []byte) error {
	return fmt.Errorf("panic: %v\n%s", value, stack)
}
