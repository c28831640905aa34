package api

import (
	"context"
	"strings"

	"cw/internal/cw"
)

// ownNouns are the wildcards of paths that name an initiative, or something
// that belongs to one. Where an agent may use such a route at all, it may name
// only what belongs to its own initiative.
func ownNouns() []string { return []string{"initiative", "page", "phase", "task", "proposal"} }

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

// isOwn tells whether ref names the calling agent's initiative, or something of
// it. What cannot be looked up is somebody else's, so that nothing is learned
// from it.
func (s *Server) isOwn(ctx context.Context, actor cw.Actor, noun, ref string) bool {
	if actor.AgentID == "" {
		return false
	}
	agent, err := s.opts.Services.Agent(ctx, string(actor.AgentID))
	if err != nil || agent.InitiativeID == "" {
		return false
	}
	of, err := s.initiativeOf(ctx, noun, ref)
	return err == nil && of == agent.InitiativeID
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
