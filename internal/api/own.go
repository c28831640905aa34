package api

import (
	"context"
	"strings"

	"cw/internal/cw"
)

// conversationNoun is the wildcard of paths that name a conversation.
const conversationNoun = "conversation"

// ownNouns are the wildcards of paths that name an initiative, or something
// that belongs to one, or a conversation. Where an agent may use such a route at
// all, it may name only what belongs to its own initiative, and conversations in
// which it takes part.
func ownNouns() []string {
	return []string{"initiative", "page", "phase", "task", "proposal", conversationNoun}
}

// ownNoun gives the wildcard of the route's path that is one of ownNouns, ""
// without one.
func (r Route) ownNoun() string {
	for _, noun := range ownNouns() {
		if strings.Contains(r.Path, "{"+noun+"}") {
			return noun
		}
	}
	return ""
}

// namedBy is the wildcard that says whom or what the route is about.
func (r Route) namedBy() string {
	if noun := r.ownNoun(); noun != "" {
		return noun
	}
	return "id"
}

// isOwn tells whether ref names the calling agent's initiative or something of
// it, or a conversation in which it takes part. What cannot be looked up is
// somebody else's, so that nothing is learned from it.
func (s *Server) isOwn(ctx context.Context, actor cw.Actor, noun, ref string) bool {
	if actor.AgentID == "" {
		return false
	}
	if noun == conversationNoun {
		c, err := s.opts.Services.Conversation(ctx, ref)
		return err == nil && (c.FromAgentID == actor.AgentID || c.ToAgentID == actor.AgentID)
	}
	agent, err := s.opts.Services.Agent(ctx, string(actor.AgentID))
	if err != nil || agent.InitiativeID == "" {
		return false
	}
	of, err := s.initiativeOf(ctx, noun, ref)
	return err == nil && of == agent.InitiativeID
}

// errNotOwn refuses an agent that names what is not its own.
func (r Route) errNotOwn() error {
	if r.ownNoun() == conversationNoun {
		return cw.Errorf(cw.CodeForbidden, "an agent may only name a conversation in which it takes part here (%s)", r.ID).
			WithHint("the id of a question to you is in what `cw listen` printed")
	}
	return cw.Errorf(cw.CodeForbidden, "an agent may only ask for what belongs to its own initiative here (%s)", r.ID).
		WithHint("its pages, phases and tasks are in .cw/input, with their ids")
}

// initiativeOf gives the initiative that something belongs to.
func (s *Server) initiativeOf(ctx context.Context, noun, ref string) (cw.InitiativeID, error) {
	services := s.opts.Services
	switch noun {
	case "initiative":
		view, err := services.Initiative(ctx, ref)
		return view.ID, err
	case "page":
		page, err := services.PageByID(ctx, cw.PageID(ref))
		return page.InitiativeID, err
	case "phase":
		phase, err := services.Phase(ctx, cw.PhaseID(ref))
		return phase.InitiativeID, err
	case "task":
		task, err := services.Task(ctx, cw.TaskID(ref))
		return task.InitiativeID, err
	case "proposal":
		proposal, err := services.Proposal(ctx, cw.ProposalID(ref))
		return proposal.InitiativeID, err
	}
	return "", cw.Errorf(cw.CodeNotFound, "there is no %s of an initiative", noun)
}
