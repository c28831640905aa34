package daemon

import (
	"context"
	"fmt"
	"log/slog"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/store"
)

// callers tells who calls: from the kernel's word on the peer, its process
// tree, and its token; never from anything the caller says about itself.
type callers struct {
	home  cw.Home
	store *store.DB
	log   *slog.Logger
}

// identify gives the actor of a request. A peer below one of our shims is that
// run, token or not; a token from outside its tree, of another run or of an
// ended one is refused, and that is an event.
func (c callers) identify(ctx context.Context, peer api.Peer) (cw.Actor, error) {
	dir, inside, err := proc.Identify(peer.PID, c.home.Runs())
	if err != nil {
		return cw.Actor{}, cw.Errorf(cw.CodeForbidden, "it cannot be told who is calling").WithHint("call again from a process that stays").Because(err)
	}
	if !inside {
		if peer.Token != "" {
			return cw.Actor{}, c.refuse(ctx, peer, cw.Actor{}, "a token was used outside the processes of its run")
		}
		return cw.Actor{Kind: cw.ActorPerson}, nil
	}
	run, err := c.runOf(ctx, dir)
	if err != nil {
		return cw.Actor{}, err
	}
	actor := cw.Actor{Kind: cw.ActorAgent, ID: string(run.Agent.ID), AgentID: run.Agent.ID, RunID: run.Run.ID}
	if peer.Token == "" {
		return actor, nil
	}
	token, known, err := c.store.TokenByHash(ctx, cw.HashToken(peer.Token))
	if err != nil {
		return cw.Actor{}, fmt.Errorf("look up a token: %w", err)
	}
	if !known || token.RevokedAt != nil || token.RunID != run.Run.ID {
		return cw.Actor{}, c.refuse(ctx, peer, actor, "a token that is not this run's")
	}
	return actor, nil
}

func (c callers) runOf(ctx context.Context, dir string) (cw.RunState, error) {
	spec, err := proc.ReadSpec(dir)
	if err != nil {
		return cw.RunState{}, fmt.Errorf("read the caller's run: %w", err)
	}
	run, err := c.store.RunState(ctx, cw.RunID(spec.RunID))
	if err != nil {
		return cw.RunState{}, fmt.Errorf("find the caller's run: %w", err)
	}
	return run, nil
}

// refuse stores the event and gives the error.
func (c callers) refuse(ctx context.Context, peer api.Peer, actor cw.Actor, what string) error {
	c.report(ctx, actor, what, peer.PID)
	return cw.Errorf(cw.CodeForbidden, "refused: %s", what).WithHint("agents act as themselves only; leave CW_TOKEN as cw set it")
}

// report stores a security event.
func (c callers) report(ctx context.Context, actor cw.Actor, what string, pid int) {
	ev := cw.NewEvent(cw.EventSecurityRefused, actor, cw.SecurityRefused{What: what, PID: pid}).About(actor.AgentID, actor.RunID)
	if err := c.store.AddEvents(ctx, ev); err != nil {
		c.log.Error("store a refusal", "what", what, "error", err)
	}
}
