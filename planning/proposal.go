package planning

import (
	"context"
	"strings"

	"cw/artifacts"
	"cw/internal/cw"
)

// noteMax is the length of a note in bytes.
const noteMax = 10_000

// Proposals implements cw.ProposalService.
func (m *Manager) Proposals(ctx context.Context, f cw.ProposalFilter) (cw.Page[cw.Proposal], error) {
	return m.store.ProposalPage(ctx, f)
}

// Proposal implements cw.ProposalService.
func (m *Manager) Proposal(ctx context.Context, id cw.ProposalID) (cw.ProposalView, error) {
	p, err := m.store.ProposalByID(ctx, id)
	if err != nil {
		return cw.ProposalView{}, err
	}
	s, err := m.store.InitiativeState(ctx, p.InitiativeID)
	if err != nil {
		return cw.ProposalView{}, err
	}
	v, err := beside(s, p)
	if err != nil {
		return cw.ProposalView{}, err
	}
	agent, err := m.store.AgentByRef(ctx, string(p.AgentID))
	if err != nil && cw.ErrorCode(err) != cw.CodeNotFound {
		return cw.ProposalView{}, err
	}
	v.Agent = agent.Alias
	return v, nil
}

// beside puts a proposal beside what it changes. For one that is decided it
// shows what was suggested, whatever the target became since.
func beside(s cw.InitiativeState, p cw.Proposal) (cw.ProposalView, error) {
	v := cw.ProposalView{Proposal: p}
	v.Current, _ = currentText(s, p)
	if p.Status != cw.ProposalOpen {
		v.Diff = unified("before", "suggested", p.Before, p.After)
		return v, nil
	}
	v.Changed, v.Seen = stale(s, p), seen(s, p)
	v.Diff = unified("current", "suggested", v.Current, p.After)
	if !v.Changed {
		return v, nil
	}
	v.Theirs, v.Conflicts = unified("before", "current", p.Before, v.Current), 1
	if !mergeable(s, p) {
		return v, nil
	}
	m, err := mergePage(s, p, "")
	if err != nil {
		return v, err
	}
	page := m.draft.Page
	page.Position = noPlace
	if m.draft.Has["position"] {
		page.Position = m.draft.Page.Position
	}
	v.Merged, v.Conflicts = artifacts.PageFile(page), m.conflicts
	v.Diff = unified("current", "merged", v.Current, v.Merged)
	return v, nil
}

// stale tells whether a proposal's target is not any more what it began with.
func stale(s cw.InitiativeState, p cw.Proposal) bool {
	text, revision := currentText(s, p)
	return text != p.Before || p.BaseRevision != 0 && revision != p.BaseRevision
}

// DismissProposals implements cw.ProposalService.
func (m *Manager) DismissProposals(ctx context.Context, c cw.ProposalChoice) ([]cw.Proposal, error) {
	note := strings.TrimSpace(c.Note)
	if err := checkBody("note", note); err != nil {
		return nil, err
	}
	if len(note) > noteMax {
		return nil, cw.Errorf(cw.CodeInvalid, "the note has %d bytes, at most %d are taken", len(note), noteMax).
			WithHint("say in a sentence or two why they are not wanted")
	}
	chosen, err := m.choose(ctx, c)
	if err != nil {
		return nil, err
	}
	return m.decide(ctx, chosen, func(p *plan, proposals []*cw.Proposal) ([]*cw.Proposal, error) {
		for _, pr := range proposals {
			pr.Note = note
			p.decided(pr, cw.ProposalDismissed)
		}
		return proposals, nil
	})
}

// choice is what a cw.ProposalChoice comes to: open proposals of one
// initiative.
type choice struct {
	initiative cw.InitiativeID
	ids        []cw.ProposalID // by id; nil: all that are open and
	agent      cw.AgentID      // of this agent; "": of all
}

// choose finds whose proposals are meant.
func (m *Manager) choose(ctx context.Context, c cw.ProposalChoice) (choice, error) {
	if err := c.Check(); err != nil {
		return choice{}, err
	}
	switch {
	case c.Initiative != "":
		i, err := m.store.InitiativeByRef(ctx, c.Initiative)
		return choice{initiative: i.ID}, err
	case c.Agent != "":
		a, err := m.store.AgentByRef(ctx, c.Agent)
		if err == nil && a.InitiativeID == "" {
			err = cw.Errorf(cw.CodeInvalid, "the agent %s works for no initiative and suggests nothing", a.Alias).
				WithHint("see who suggested what: cw proposal list")
		}
		return choice{initiative: a.InitiativeID, agent: a.ID}, err
	}
	return m.chooseByID(ctx, once(c.IDs))
}

func (m *Manager) chooseByID(ctx context.Context, ids []cw.ProposalID) (choice, error) {
	out := choice{ids: ids}
	for _, id := range ids {
		p, err := m.store.ProposalByID(ctx, id)
		if err != nil {
			return choice{}, err
		}
		if p.Status != cw.ProposalOpen {
			return choice{}, notOpen(p)
		}
		if out.initiative != "" && out.initiative != p.InitiativeID {
			return choice{}, cw.Errorf(cw.CodeInvalid, "the proposals %s and %s are of two initiatives", ids[0], id).
				WithHint("decide about one initiative at a time")
		}
		out.initiative = p.InitiativeID
	}
	return out, nil
}

func notOpen(p cw.Proposal) error {
	err := cw.Errorf(cw.CodeRefused, "the proposal %s (%s %q) is %s already", p.ID, p.Target, p.Title, p.Status)
	if p.Status == cw.ProposalSuperseded {
		return err.WithHint("a later one took its place; see: cw proposal list")
	}
	return err.WithHint("the first decision counts")
}

// decide lets rule decide about the chosen proposals, all or none of them, and
// gives them back as rule puts them in order.
func (m *Manager) decide(ctx context.Context, c choice, rule func(*plan, []*cw.Proposal) ([]*cw.Proposal, error)) ([]cw.Proposal, error) {
	var order []*cw.Proposal
	_, err := m.change(ctx, c.initiative, func(p *plan) error {
		chosen, err := p.chosen(c)
		if err != nil {
			return err
		}
		order, err = rule(p, chosen)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]cw.Proposal, len(order))
	for i, pr := range order {
		out[i] = *pr
	}
	return out, nil
}

// chosen are the open proposals that a choice means.
func (p *plan) chosen(c choice) ([]*cw.Proposal, error) {
	var out []*cw.Proposal
	if c.ids == nil {
		for i := range p.Proposals {
			pr := &p.Proposals[i]
			if pr.Status == cw.ProposalOpen && (c.agent == "" || pr.AgentID == c.agent) {
				out = append(out, pr)
			}
		}
		return out, nil
	}
	for _, id := range c.ids {
		pr := p.proposal(id)
		if pr == nil || pr.Status != cw.ProposalOpen {
			return nil, cw.Errorf(cw.CodeRefused, "the proposal %s is not open any more", id).
				WithHint("see what became of it: cw proposal show %s", id)
		}
		out = append(out, pr)
	}
	return out, nil
}

func (p *plan) decided(pr *cw.Proposal, status cw.ProposalStatus) {
	at := p.at
	pr.Status, pr.DecidedBy, pr.DecidedAt = status, nameOf(p.actor), &at
}
