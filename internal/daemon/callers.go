package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/store"
)

// callers tells who calls: from the kernel's word on the peer, its process
// tree, and its token; never from anything the caller says about itself.
type callers struct {
	home   cw.Home
	store  *store.DB
	log    *slog.Logger
	told   *api.Allowance // of refusals that are stored
	guards cw.Guards      // may be nil
}

// Refusals of one caller that are stored in a while. An agent gone wild, or a
// dashboard that may only read, must not fill the store with them, nor the
// streams of those who follow.
const (
	refusalEvents = 20
	refusalWhile  = time.Minute
)

func newCallers(home cw.Home, db *store.DB, log *slog.Logger) callers {
	return callers{home: home, store: db, log: log, told: api.NewAllowance(refusalEvents, refusalWhile)}
}

// identify gives the actor of a request. A peer below one of our shims is that
// run, token or not; a token from outside its tree, of another run or of an
// ended one is refused, and that is an event.
func (c callers) identify(ctx context.Context, peer api.Peer) (cw.Actor, error) {
	chain, err := proc.Ancestors(peer.PID)
	// The first process of a container has no ancestors, not even itself.
	if err != nil || len(chain) > 0 && peer.StartTime != 0 && chain[0].StartTime != peer.StartTime {
		// The process that connected is gone, and its pid may be another's.
		return cw.Actor{}, cw.Errorf(cw.CodeForbidden, "it cannot be told who is calling").WithHint("call again from a process that stays").Because(err)
	}
	run, inside, err := c.runAbove(ctx, peer, chain)
	if err != nil {
		return cw.Actor{}, err
	}
	if !inside {
		if peer.Token != "" {
			return cw.Actor{}, c.refuse(ctx, peer, cw.Actor{}, "a token was used outside the processes of its run")
		}
		if proc.StartedBy(chain, os.Getpid(), cw.ChildVariable, cw.ChildValue) {
			// A filter or a hook that an agent planted would be one, too.
			return cw.Actor{}, c.refuse(ctx, peer, cw.Actor{}, "a process that the daemon started called cw")
		}
		return cw.Actor{Kind: cw.ActorPerson}, nil
	}
	if run.Kind == cw.RunCheck || run.Kind == cw.RunSetup {
		// What an agent wrote may run in it, and it is neither that agent nor a person.
		return cw.Actor{}, c.refuse(ctx, peer, cw.Actor{}, "a command of cw.yaml called cw")
	}
	actor := cw.Actor{Kind: cw.ActorAgent, ID: string(run.AgentID), AgentID: run.AgentID, RunID: run.ID}
	if peer.Token == "" {
		return actor, nil
	}
	token, known, err := c.store.TokenByHash(ctx, cw.HashToken(peer.Token))
	if err != nil {
		return cw.Actor{}, fmt.Errorf("look up a token: %w", err)
	}
	own := known && token.RevokedAt == nil && token.RunID == run.ID
	if !own && !c.guards.Off("own-token") {
		return cw.Actor{}, c.refuse(ctx, peer, actor, "a token that is not this run's")
	}
	return actor, nil
}

// rights gives what an agent's run may: what its token's row says, whether it
// shows the token or not. A run without a row may nothing.
func (c callers) rights(ctx context.Context, actor cw.Actor) (cw.Rights, error) {
	token, _, err := c.store.RunToken(ctx, actor.RunID)
	if err != nil {
		return cw.Rights{}, fmt.Errorf("look up a run's rights: %w", err)
	}
	return token.Rights(), nil
}

// runAbove finds the run whose shim is among a caller's ancestors. What the
// database knows of shims decides; run directories are the agents' to rewrite.
// Only a run that is just starting is known by its directory alone.
func (c callers) runAbove(ctx context.Context, peer api.Peer, chain []proc.Identity) (store.LiveRun, bool, error) {
	runs, err := c.store.LiveRuns(ctx)
	if err != nil {
		return store.LiveRun{}, false, fmt.Errorf("look for the caller's run: %w", err)
	}
	starting := map[cw.RunID]store.LiveRun{}
	for _, r := range runs {
		var h proc.Handle
		if len(r.Handle) == 0 || json.Unmarshal(r.Handle, &h) != nil {
			starting[r.ID] = r
			continue
		}
		if slices.Contains(chain, h.Shim()) && h.ThisBoot() { // the boot is read from a file
			return r, true, nil
		}
	}
	dir, inside, err := proc.IdentifyChain(chain, c.home.Runs())
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // no run directories: no runs
		return store.LiveRun{}, false, cw.Errorf(cw.CodeForbidden, "it cannot be told who is calling").WithHint("call again from a process that stays").Because(err)
	}
	if !inside {
		return store.LiveRun{}, false, nil
	}
	if spec, err := proc.ReadSpec(dir); err == nil {
		if r, ok := starting[cw.RunID(spec.RunID)]; ok {
			return r, true, nil
		}
	}
	return store.LiveRun{}, false, c.refuse(ctx, peer, cw.Actor{}, "a process claims a run that is not its own, or that is over")
}

// refuse stores the event and gives the error.
func (c callers) refuse(ctx context.Context, peer api.Peer, actor cw.Actor, what string) error {
	c.report(ctx, actor, what, peer.PID)
	return cw.Errorf(cw.CodeForbidden, "refused: %s", what).WithHint("agents act as themselves only; leave CW_TOKEN as cw set it")
}

// report stores a security event, unless its caller has caused many lately.
// Callers that nobody knows count as one.
func (c callers) report(ctx context.Context, actor cw.Actor, what string, pid int) {
	if !c.told.Take(string(actor.Kind)+" "+actor.ID, time.Now()) {
		return
	}
	ev := cw.NewEvent(cw.EventSecurityRefused, actor, cw.SecurityRefused{What: what, PID: pid}).About(actor.AgentID, actor.RunID)
	if err := c.store.AddEvents(ctx, ev); err != nil {
		c.log.Error("store a refusal", "what", what, "error", err)
	}
}

// asker gives the agent that asked people a group of questions. CodeNotFound.
func (c callers) asker(ctx context.Context, id cw.RequestID) (cw.AgentID, error) {
	group, err := c.store.QuestionGroup(ctx, id)
	if err != nil {
		return "", err
	}
	return group[0].AgentID, nil
}

// sender gives the agent that sent a message, "" for one of a person.
// CodeNotFound.
func (c callers) sender(ctx context.Context, id cw.MessageID) (cw.AgentID, error) {
	m, err := c.store.MessageByID(ctx, id)
	return m.SenderAgentID, err
}
