package api

import (
	"context"
	"strings"

	"cw/internal/cw"
)

// The wildcards of paths that name a conversation, questions that were asked at
// once, and the response to a message.
const (
	conversationNoun = "conversation"
	requestNoun      = "request"
	responseNoun     = "response"
)

// ownNouns are the wildcards of paths that name an initiative or something that
// belongs to one, or what agents say. Where an agent may use such a route at all,
// it may name only what belongs to its own initiative, conversations in which it
// takes part, and questions and messages of its own.
func ownNouns() []string {
	return []string{"initiative", "page", "phase", "task", "proposal", conversationNoun, requestNoun, responseNoun}
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
// it, a conversation in which it takes part, or what it asked or sent. What cannot
// be looked up is somebody else's, so that nothing is learned from it.
func (s *Server) isOwn(ctx context.Context, actor cw.Actor, noun, ref string) bool {
	if actor.AgentID == "" {
		return false
	}
	switch noun {
	case conversationNoun:
		c, err := s.opts.Services.Conversation(ctx, ref)
		return err == nil && (c.FromAgentID == actor.AgentID || c.ToAgentID == actor.AgentID)
	case requestNoun:
		asker, err := s.opts.Asker(ctx, cw.RequestID(ref))
		return err == nil && asker == actor.AgentID
	case responseNoun:
		sender, err := s.opts.Sender(ctx, cw.MessageID(ref))
		return err == nil && sender == actor.AgentID
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
	switch r.ownNoun() {
	case conversationNoun:
		return cw.Errorf(cw.CodeForbidden, "an agent may only name a conversation in which it takes part here (%s)", r.ID).
			WithHint("the id of a question to you is in what `cw listen` printed")
	case requestNoun:
		return cw.Errorf(cw.CodeForbidden, "an agent may only wait for answers to its own questions (%s)", r.ID).
			WithHint("the requestId is in the answer to your questions")
	case responseNoun:
		return cw.Errorf(cw.CodeForbidden, "an agent may only wait for the response to its own message (%s)", r.ID).
			WithHint("the responseId is in the answer to your message")
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
