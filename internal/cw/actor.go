package cw

import "context"

// ActorKind says who acts.
type ActorKind string

// The kinds of actors.
const (
	ActorPerson    ActorKind = "person"    // the user, over the socket
	ActorAgent     ActorKind = "agent"     // a run, known by its token and its process tree
	ActorDashboard ActorKind = "dashboard" // a person over TCP
	ActorCW        ActorKind = "cw"        // the program itself
)

// Actor is who a request or an event comes from. It is set from the peer's
// credentials and token, never from anything the caller says about itself.
type Actor struct {
	Kind    ActorKind `json:"kind"`
	ID      string    `json:"id,omitempty"`    // agent id, token id; "" for the user and cw
	RunID   RunID     `json:"runId,omitempty"` // the run of an agent
	AgentID AgentID   `json:"-"`
}

type actorKey struct{}

// WithActor returns a context that carries the actor of a request.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf gives the actor of a request; without one it is cw itself.
func ActorOf(ctx context.Context) Actor {
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	return Actor{Kind: ActorCW}
}
