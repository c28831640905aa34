package api

import (
	"context"
	"errors"
	"net/http"

	"cw/internal/cw"
)

// front is one listener's way in. It decides on the connection and the headers
// alone: nothing of the body is read and no handler has run.
type front interface {
	// enter tells who is calling, or why the request is refused. It may set
	// headers of the answer. errPreflight: the headers are the whole answer.
	enter(w http.ResponseWriter, r *http.Request) (caller, error)
}

// errPreflight is what enter gives for a browser's question whether a page may
// ask: the answer is in the headers.
var errPreflight = errors.New("answered by its headers")

// caller is who a request comes from, and what its token grants.
type caller struct {
	actor  cw.Actor
	scopes []cw.Scope
	tools  []string // of an agent: those that it may use
	site   bool     // it reads a file of the dashboard, and nothing else
	host   string   // that it asked for
}

// nobody is the kind of actor that showed no token over TCP. It may use open
// routes only.
const nobody cw.ActorKind = "nobody"

// callerKey is the context key of a request's caller.
type callerKey struct{}

func withCaller(ctx context.Context, who caller) context.Context {
	return cw.WithActor(context.WithValue(ctx, callerKey{}, who), who.actor)
}

// callerOf gives the caller of a request. Without one it has no right at all.
func callerOf(ctx context.Context) caller {
	who, _ := ctx.Value(callerKey{}).(caller)
	return who
}

// socketFront is the way in over the daemon's own socket.
type socketFront struct{ s *Server }

// enter implements front.
func (f socketFront) enter(_ http.ResponseWriter, r *http.Request) (caller, error) {
	peer, _ := r.Context().Value(peerKey{}).(*Peer)
	if err := f.s.gate.admit(r, peer); err != nil {
		return caller{}, err
	}
	token, err := bearer(r)
	if err != nil {
		return caller{}, err
	}
	if err := checkVersion(r); err != nil {
		return caller{}, err
	}
	known := *peer
	known.Token = token
	actor, err := f.s.opts.Identify(r.Context(), known)
	if err != nil {
		return caller{}, err
	}
	if actor.Kind != cw.ActorAgent {
		return caller{actor: actor}, nil
	}
	rights, err := f.s.opts.Rights(r.Context(), actor)
	if err != nil {
		return caller{}, err
	}
	return caller{actor: actor, scopes: rights.Scopes, tools: rights.Tools()}, nil
}
