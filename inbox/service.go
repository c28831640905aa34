package inbox

import (
	"context"

	"cw/internal/cw"
)

// Source is what an inbox is read from.
type Source interface {
	Dispatch(ctx context.Context, initiative string) (cw.DispatchStatus, error)
	Questions(ctx context.Context, f cw.QuestionFilter) (cw.Page[cw.QuestionView], error)
	Proposals(ctx context.Context, f cw.ProposalFilter) (cw.Page[cw.Proposal], error)
	Agents(ctx context.Context, f cw.AgentFilter) (cw.Page[cw.AgentView], error)
	Agent(ctx context.Context, ref string) (cw.AgentView, error)
	Initiatives(ctx context.Context, f cw.InitiativeFilter) (cw.Page[cw.Initiative], error)
}

// Service implements cw.InboxService. Those who ask at the same time share what
// it reads: it must tell everyone the same, and nobody may change it.
type Service struct {
	source Source
	looks  *shared[cw.Inbox]
}

var _ cw.InboxService = Service{}

// New makes an inbox of what a source tells.
func New(source Source) Service {
	return Service{source: source, looks: &shared[cw.Inbox]{running: map[string]*look[cw.Inbox]{}, next: map[string]*look[cw.Inbox]{}}}
}

// Inbox implements cw.InboxService. What it gives was read after the call.
func (s Service) Inbox(ctx context.Context, initiative string) (cw.Inbox, error) {
	return s.looks.get(ctx, initiative, func(ctx context.Context) (cw.Inbox, error) {
		o, err := s.observe(ctx, initiative)
		if err != nil {
			return cw.Inbox{}, err
		}
		return cw.Inbox{Items: Items(o)}, nil
	})
}

// watched are the statuses of agents that may wait for a person, or are asked for
// with what does.
func watched() []cw.AgentStatus {
	return []cw.AgentStatus{cw.StatusRunning, cw.StatusWaitingForInput, cw.StatusCrashed, cw.StatusParked}
}

// observe reads everything. Whatever happens between two reads shows in the next
// inbox: an event says that it did.
func (s Service) observe(ctx context.Context, initiative string) (o Observed, err error) {
	o.Only = initiative
	if o.Dispatch, err = s.source.Dispatch(ctx, initiative); err != nil {
		return o, err
	}
	if o.Agents, err = cw.AllPages(ctx, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.AgentView], error) {
		return s.source.Agents(ctx, cw.AgentFilter{PageQuery: q, Statuses: watched(), Initiative: initiative})
	}); err != nil {
		return o, err
	}
	if o.Questions, err = cw.AllPages(ctx, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.QuestionView], error) {
		return s.source.Questions(ctx, cw.QuestionFilter{PageQuery: q, Statuses: []cw.QuestionStatus{cw.QuestionOpen}})
	}); err != nil {
		return o, err
	}
	if o.Proposals, err = cw.AllPages(ctx, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Proposal], error) {
		return s.source.Proposals(ctx, cw.ProposalFilter{PageQuery: q, Statuses: []cw.ProposalStatus{cw.ProposalOpen}, Initiative: initiative})
	}); err != nil {
		return o, err
	}
	if o.Agents, err = s.authors(ctx, o); err != nil {
		return o, err
	}
	o.Initiatives, err = cw.AllPages(ctx, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Initiative], error) {
		return s.source.Initiatives(ctx, cw.InitiativeFilter{PageQuery: q})
	})
	return o, err
}

// authors gives the agents that are watched, and those that ask or suggest and
// are none of them: an architect that is through, an agent that asked in a call
// and ended before it was answered.
func (s Service) authors(ctx context.Context, o Observed) ([]cw.AgentView, error) {
	agents, known := o.Agents, map[cw.AgentID]bool{}
	for _, a := range agents {
		known[a.ID] = true
	}
	var missing []cw.AgentID
	need := func(id cw.AgentID) {
		if !known[id] {
			known[id] = true
			missing = append(missing, id)
		}
	}
	for _, q := range o.Questions {
		need(q.AgentID)
	}
	for _, p := range o.Proposals {
		need(p.AgentID)
	}
	for _, id := range missing {
		a, err := s.source.Agent(ctx, string(id))
		switch {
		case cw.ErrorCode(err) == cw.CodeNotFound: // nothing of it is kept; what it said is shown all the same
		case err != nil:
			return nil, err
		default:
			agents = append(agents, a)
		}
	}
	return agents, nil
}
