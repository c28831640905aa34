package planning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cw/artifacts"
	"cw/internal/cw"
)

// AcceptProposals implements cw.ProposalService. What a proposal makes is
// wanted: phases are approved, tasks pending.
func (m *Manager) AcceptProposals(ctx context.Context, c cw.ProposalChoice) ([]cw.Proposal, error) {
	chosen, err := m.choose(ctx, c)
	if err != nil {
		return nil, err
	}
	names, err := m.agentNames(ctx, chosen.initiative)
	if err != nil {
		return nil, err
	}
	out, err := m.decide(ctx, chosen, func(p *plan, proposals []*cw.Proposal) ([]*cw.Proposal, error) {
		return p.accept(proposals, names, c)
	})
	return out, refused(err)
}

// refused says that the state of things is in the way, not the request: the
// proposals were named rightly, and what they come to breaks a rule.
func refused(err error) error {
	var e *cw.Error
	if errors.As(err, &e) && (e.Code == cw.CodeInvalid || e.Code == cw.CodeNotFound) {
		out := *e
		out.Code = cw.CodeRefused
		return &out
	}
	return err
}

// agentNames are the names of the agents whose proposals are open.
func (m *Manager) agentNames(ctx context.Context, id cw.InitiativeID) (map[cw.AgentID]string, error) {
	s, err := m.store.InitiativeState(ctx, id)
	if err != nil {
		return nil, err
	}
	names := map[cw.AgentID]string{}
	for _, p := range s.Proposals {
		if _, known := names[p.AgentID]; known || p.Status != cw.ProposalOpen {
			continue
		}
		a, err := m.store.AgentByRef(ctx, string(p.AgentID))
		if err != nil && cw.ErrorCode(err) != cw.CodeNotFound {
			return nil, err
		}
		names[p.AgentID] = a.Alias
	}
	return names, nil
}

// wanted is a proposal that is being accepted.
type wanted struct {
	*cw.Proposal

	draft artifacts.Draft // what After says; of a removal nothing
	by    string          // the agent that suggested it
}

// accept makes the suggested changes and gives the proposals in the order in
// which it made them.
func (p *plan) accept(proposals []*cw.Proposal, names map[cw.AgentID]string, c cw.ProposalChoice) ([]*cw.Proposal, error) {
	all := make([]wanted, 0, len(proposals))
	for _, pr := range proposals {
		w := wanted{Proposal: pr, by: names[pr.AgentID]}
		if w.by == "" {
			w.by = string(pr.AgentID)
		}
		if pr.Action != cw.ActionDelete {
			var err error
			if w.draft, err = draftOf(pr.Target, pr.TargetID, pr.After); err != nil {
				return nil, fmt.Errorf("accept the proposal %s: %w", pr.ID, err)
			}
		}
		all = append(all, w)
	}
	if err := p.checkNeeds(all); err != nil {
		return nil, err
	}
	var out []*cw.Proposal
	for _, w := range inTurn(all, func(w wanted) (cw.ProposalTarget, string, []need) { return w.Target, w.TargetID, needsOf(w.draft) }) {
		if err := p.checkFresh(&w, c); err != nil {
			return nil, err
		}
		if err := p.apply(w); err != nil {
			return nil, err
		}
		p.decided(w.Proposal, cw.ProposalAccepted)
		out = append(out, w.Proposal)
	}
	return out, nil
}

// checkNeeds refuses proposals that need something which only other proposals
// would make, and names these.
func (p *plan) checkNeeds(all []wanted) error {
	made := map[string]bool{}
	for _, w := range all {
		if w.Action == cw.ActionCreate {
			made[mark(w.Target, w.TargetID)] = true
		}
	}
	var others []string
	for _, w := range all {
		for _, n := range needsOf(w.draft) {
			if made[mark(n.target, n.id)] || p.has(n) {
				continue
			}
			maker := find(p.Proposals, func(pr cw.Proposal) bool {
				return pr.Target == n.target && pr.TargetID == n.id && pr.Action == cw.ActionCreate
			})
			if maker == nil || maker.Status != cw.ProposalOpen {
				return p.notMet(w, n, maker)
			}
			if other := fmt.Sprintf("%s (%s %q)", maker.ID, maker.Target, maker.Title); !slices.Contains(others, other) {
				others = append(others, other)
			}
		}
	}
	if len(others) == 0 {
		return nil
	}
	return cw.Errorf(cw.CodeRefused, "the chosen proposals need others that are not decided: %s", strings.Join(others, ", ")).
		WithHint("accept these with them, or all: cw proposal accept --all %s", p.Initiative.Slug)
}

func (p *plan) notMet(w wanted, n need, maker *cw.Proposal) error {
	why := "which is not there"
	if maker != nil {
		why = "which was dismissed"
	}
	return cw.Errorf(cw.CodeRefused, "the proposal %s (%s %q) cannot be accepted: %s the %s %s, %s", w.ID, w.Target, w.Title, n.words, n.target, n.id, why).
		WithHint("dismiss it: cw proposal dismiss %s", w.ID)
}

// has tells whether something is there; whether it may be built on is seen when
// everything is done.
func (p *plan) has(n need) bool {
	switch n.target {
	case cw.TargetPage:
		return n.id == "" || p.page(cw.PageID(n.id)) != nil
	case cw.TargetPhase:
		return p.phase(cw.PhaseID(n.id)) != nil
	case cw.TargetTask:
		return p.task(cw.TaskID(n.id)) != nil
	}
	return false
}

// checkFresh looks at a proposal whose target is not what it was made from. A page
// is merged; where both sides changed the same, or the target cannot be merged,
// the proposal is refused unless a person chose one side, and of what is there
// now.
func (p *plan) checkFresh(w *wanted, c cw.ProposalChoice) error {
	pr := *w.Proposal
	if c.Take != "" && c.Seen != seen(p.before, pr) {
		return cw.Errorf(cw.CodeRefused, "the %s %q (%s) changed again since you looked at it", pr.Target, pr.Title, pr.TargetID).
			WithHint("look at it as it is now: cw proposal diff %s; then choose again", pr.ID)
	}
	if !stale(p.before, pr) {
		return nil
	}
	current, _ := currentText(p.before, pr)
	switch {
	case pr.Action == cw.ActionCreate:
		return cw.Errorf(cw.CodeRefused, "the %s %q (%s) is there already", pr.Target, pr.Title, pr.TargetID).
			WithHint("see how they differ: cw proposal diff %s", pr.ID)
	case current == "":
		return cw.Errorf(cw.CodeRefused, "the %s %q (%s) is not there any more", pr.Target, pr.Title, pr.TargetID).
			WithHint("dismiss it: cw proposal dismiss %s", pr.ID)
	case mergeable(p.before, pr):
		m, err := mergePage(p.before, pr, c.Take)
		if err != nil {
			return err
		}
		if m.conflicts == 0 {
			w.draft = m.draft
			return nil
		}
	case pr.Action == cw.ActionUpdate && c.Take == cw.TakeSuggested:
		return nil
	}
	return cw.Errorf(cw.CodeRefused, "the %s %q (%s) changed since it was suggested to change it", pr.Target, pr.Title, pr.TargetID).
		WithHint("compare what it was, is and would be, and choose: cw proposal diff %s", pr.ID)
}

func (p *plan) apply(w wanted) error {
	switch w.Target {
	case cw.TargetPage:
		return p.applyPage(w)
	case cw.TargetDecision:
		return p.applyDecision(w)
	case cw.TargetPhase:
		return p.applyPhase(w)
	case cw.TargetTask:
		return p.applyTask(w)
	}
	return fmt.Errorf("accept the proposal %s: nothing is known about a %s", w.ID, w.Target)
}

func (p *plan) applyPage(w wanted) error {
	d := w.draft.Page
	switch w.Action {
	case cw.ActionCreate:
		d.UpdatedBy = w.by
		p.addPage(d, w.place(d.Position, last))
		return nil
	case cw.ActionDelete:
		p.removePage(p.page(cw.PageID(w.TargetID)), w.by)
		return nil
	}
	e := cw.PageEdit{Title: &d.Title, Body: &d.Body, ParentID: &d.ParentID}
	if to := w.place(d.Position, noPlace); to != placeSeen(*w.Proposal) {
		e.Position = &to
	}
	return p.editPage(p.page(d.ID), e, w.by)
}

func (p *plan) applyDecision(w wanted) error {
	d := p.decisionPage(w.TargetID)
	if w.Action == cw.ActionDelete {
		if d == nil {
			return nil // the page's own change took it out
		}
		d.Body, d.UpdatedBy = dropDecision(d.Body, w.TargetID), w.by
		return nil
	}
	if d == nil {
		d = p.page(w.draft.Decision.PageID)
	}
	if d == nil || d.DeletedAt != nil {
		return p.noPage(w.draft.Decision.PageID)
	}
	d.Body, d.UpdatedBy = putDecision(d.Body, w.draft.Decision), w.by
	return nil
}

func (p *plan) applyPhase(w wanted) error {
	ph := w.draft.Phase
	switch w.Action {
	case cw.ActionCreate:
		ph.DependsOn = once(ph.DependsOn)
		p.addPhase(ph, w.place(ph.Position, last))
		return nil
	case cw.ActionDelete:
		return p.archivePhase(p.phase(cw.PhaseID(w.TargetID)))
	}
	if was := p.phase(ph.ID); was.Status == cw.PhaseDone {
		return cw.Errorf(cw.CodeRefused, "the phase %q (%s) is %s", was.Name, was.ID, was.Status).WithHint("dismiss it: cw proposal dismiss %s", w.ID)
	}
	e := cw.PhaseEdit{Name: &ph.Name, Body: &ph.Body, DependsOn: &ph.DependsOn}
	if to := w.place(ph.Position, noPlace); to != placeSeen(*w.Proposal) {
		e.Position = &to
	}
	return p.editPhase(ph.ID, e)
}

func (p *plan) applyTask(w wanted) error {
	t := w.draft.Task
	if w.Action == cw.ActionCreate {
		p.addTask(t)
		return nil
	}
	was := p.task(cw.TaskID(w.TargetID))
	if !changeable(was.Status) {
		return cw.Errorf(cw.CodeRefused, "the task %q (%s) is %s", was.Name, was.ID, was.Status).WithHint("dismiss it: cw proposal dismiss %s", w.ID)
	}
	if w.Action == cw.ActionDelete {
		was.Status = cw.TaskCancelled
		return nil
	}
	return p.editTask(t.ID, cw.TaskEdit{
		PhaseID: &t.PhaseID, Name: &t.Name, Body: &t.Body, Type: &t.Type, Size: &t.Size, Priority: &t.Priority,
		Paths: &t.Paths, Checks: &t.Checks, DependsOn: &t.DependsOn, Questions: &t.Questions,
	})
}

// place is the place that the text names; without one it is none.
func (w wanted) place(position, none int) int {
	if w.draft.Has["position"] {
		return position
	}
	return none
}
