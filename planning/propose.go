package planning

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cw/artifacts"
	"cw/internal/cw"
)

// notesMax is how many notes are told one by one.
const notesMax = 50

// mayPropose says what agents of each mode may suggest.
func mayPropose() map[cw.Mode][]cw.ProposalTarget {
	return map[cw.Mode][]cw.ProposalTarget{
		cw.ModeExecute: nil,
		cw.ModeDiscuss: {cw.TargetPage, cw.TargetDecision},
		cw.ModeRefine:  {cw.TargetPage},
		cw.ModePlan:    {cw.TargetPage, cw.TargetPhase},
		cw.ModeDetail:  {cw.TargetTask},
	}
}

// Propose makes proposals of what an agent left, to be stored with the end of
// its run, in the order in which they are accepted. What is there already, and
// what this agent suggested before word for word, gives none. notes say for
// people what was left out and why, the files that could not be read among them.
//
// given is what the agent was given to read, newest first: a change is suggested
// to the text that it was made from, which need not be the one that is there now.
func (m *Manager) Propose(ctx context.Context, agent cw.Agent, run cw.RunID, given []artifacts.Given, out artifacts.Output) (proposals []cw.Proposal, notes []string, err error) {
	if agent.InitiativeID == "" || isEmpty(out) {
		return nil, nil, nil
	}
	s, err := m.store.InitiativeState(ctx, agent.InitiativeID)
	if err != nil {
		return nil, nil, err
	}
	if s.Initiative.Status == cw.InitiativeArchived {
		return nil, []string{"what it suggests was not taken: the initiative " + s.Initiative.Slug + " is archived"}, nil
	}
	said, err := m.said(ctx, agent)
	if err != nil {
		return nil, nil, err
	}
	taken, err := m.taken(ctx, s, out)
	if err != nil {
		return nil, nil, err
	}
	proposals, notes = propose(s, agent, given, said, taken, out)
	now := m.now()
	for i := range proposals {
		p := &proposals[i]
		p.ID, p.InitiativeID, p.AgentID, p.RunID = cw.ProposalID(cw.NewID()), s.Initiative.ID, agent.ID, run
		// Lists are in order of time: each of them a moment later.
		p.Status, p.CreatedAt = cw.ProposalOpen, now.Add(time.Duration(i)*time.Microsecond)
	}
	return proposals, notes, nil
}

func isEmpty(out artifacts.Output) bool {
	return len(out.Pages)+len(out.Decisions)+len(out.Phases)+len(out.Tasks)+len(out.Problems) == 0
}

// said are the proposals that an agent made before, whatever became of them.
func (m *Manager) said(ctx context.Context, agent cw.Agent) ([]cw.Proposal, error) {
	return cw.AllPages(ctx, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Proposal], error) {
		return m.store.ProposalPage(ctx, cw.ProposalFilter{PageQuery: q, Agent: string(agent.ID)})
	})
}

// taken are ids of the output that belong to another initiative.
func (m *Manager) taken(ctx context.Context, s cw.InitiativeState, out artifacts.Output) (map[string]bool, error) {
	taken := map[string]bool{}
	for _, d := range slices.Concat(out.Pages, out.Phases, out.Tasks) {
		if text, _ := currentText(s, cw.Proposal{Target: d.Target, TargetID: d.ID}); text != "" {
			continue
		}
		owner, err := m.owner(ctx, d)
		switch {
		case cw.ErrorCode(err) == cw.CodeNotFound:
		case err != nil:
			return nil, err
		case owner != s.Initiative.ID:
			taken[d.ID] = true
		}
	}
	return taken, nil
}

// owner is the initiative of what a draft is about. CodeNotFound.
func (m *Manager) owner(ctx context.Context, d artifacts.Draft) (cw.InitiativeID, error) {
	switch d.Target {
	case cw.TargetPage:
		page, err := m.store.DocumentByID(ctx, cw.PageID(d.ID))
		return page.InitiativeID, err
	case cw.TargetPhase:
		phase, err := m.store.PhaseByID(ctx, cw.PhaseID(d.ID))
		return phase.InitiativeID, err
	}
	task, err := m.store.TaskByID(ctx, cw.TaskID(d.ID))
	return task.InitiativeID, err
}

// propose compares an agent's output with what is there.
func propose(s cw.InitiativeState, agent cw.Agent, given []artifacts.Given, said []cw.Proposal, taken map[string]bool, out artifacts.Output) ([]cw.Proposal, []string) {
	w := newSifter(s, agent, given, said, taken)
	for _, p := range out.Problems {
		w.note("%s", problemText(p))
	}
	w.pages(w.allowed(cw.TargetPage, out.Pages))
	w.decisions(w.allowed(cw.TargetDecision, out.Decisions))
	w.phases(w.allowed(cw.TargetPhase, out.Phases))
	w.tasks(w.allowed(cw.TargetTask, out.Tasks))
	w.dropBroken()
	return w.proposals(), fewer(w.notes)
}

func problemText(p artifacts.Problem) string {
	if p.Line > 0 {
		return fmt.Sprintf("%s, line %d: %s", p.File, p.Line, p.Text)
	}
	return p.File + ": " + p.Text
}

func fewer(notes []string) []string {
	if len(notes) <= notesMax {
		return notes
	}
	return append(notes[:notesMax:notesMax], fmt.Sprintf("and %d more files were left out", len(notes)-notesMax))
}

// suggestion is a draft that may become a proposal.
type suggestion struct {
	cw.Proposal

	needs   []need
	page    cw.Document // as it would be; of the target's kind only
	phase   cw.Phase
	task    cw.Task
	dropped bool
}

// sifter goes through an agent's output and keeps what can be suggested.
type sifter struct {
	state cw.InitiativeState
	agent cw.Agent
	given []artifacts.Given // newest first
	taken map[string]bool
	said  map[string]bool        // marks of what was suggested before
	open  map[string]cw.Proposal // by mark of target and id
	// offered is what open proposals would make, by mark of target and id.
	offered map[string]suggestion
	kept    []*suggestion
	byID    map[string]*suggestion // by mark of target and id
	notes   []string
}

func newSifter(s cw.InitiativeState, agent cw.Agent, given []artifacts.Given, said []cw.Proposal, taken map[string]bool) *sifter {
	w := &sifter{
		state: s, agent: agent, given: given, taken: taken,
		said: map[string]bool{}, open: map[string]cw.Proposal{}, offered: map[string]suggestion{}, byID: map[string]*suggestion{},
	}
	last := map[string]cw.Proposal{} // of what was said about one thing only the newest counts
	for _, p := range said {
		if m := mark(p.Target, p.TargetID); !p.CreatedAt.Before(last[m].CreatedAt) {
			last[m] = p
		}
	}
	for _, p := range last {
		w.said[saidMark(p)] = true
	}
	for _, p := range s.Proposals {
		if p.Status == cw.ProposalOpen {
			w.open[mark(p.Target, p.TargetID)] = p
		}
		switch {
		case p.Status == cw.ProposalDismissed:
			w.said[saidMark(p)] = true
		case p.Status == cw.ProposalOpen && p.Action == cw.ActionCreate:
			if d, err := draftOf(p.Target, p.TargetID, p.After); err == nil {
				w.offered[mark(p.Target, p.TargetID)] = suggestion{Proposal: p, page: d.Page, phase: d.Phase, task: d.Task}
			}
		}
	}
	return w
}

func mark(target cw.ProposalTarget, id string) string { return string(target) + " " + id }

// saidMark is the same for the same words about one thing: what was suggested as
// new is the same when it is there by now.
func saidMark(p cw.Proposal) string {
	return strings.Join([]string{string(p.Target), p.TargetID, p.After}, "\x00")
}

func (w *sifter) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

func (w *sifter) leaveOut(d artifacts.Draft, format string, args ...any) {
	w.note("%s was left out: %s", d.File, fmt.Sprintf(format, args...))
}

// allowed gives the drafts that an agent of this mode may make.
func (w *sifter) allowed(target cw.ProposalTarget, drafts []artifacts.Draft) []artifacts.Draft {
	words := mayPropose()[w.agent.Mode]
	if slices.Contains(words, target) {
		return drafts
	}
	for _, d := range drafts {
		if len(words) == 0 {
			w.leaveOut(d, "agents of mode %s suggest nothing", w.agent.Mode)
		} else {
			w.leaveOut(d, "agents of mode %s suggest %s", w.agent.Mode, plural(words))
		}
	}
	return nil
}

func plural(targets []cw.ProposalTarget) string {
	words := make([]string, len(targets))
	for i, t := range targets {
		words[i] = string(t) + "s"
	}
	return strings.Join(words, " and ")
}

// keep keeps a suggestion unless it says nothing new.
func (w *sifter) keep(d artifacts.Draft, s suggestion) {
	if s.Action == cw.ActionCreate && w.taken[s.TargetID] {
		w.leaveOut(d, "its id belongs to another initiative; take a new one from: cw id")
		return
	}
	if s.Action == cw.ActionDelete && !strings.Contains(s.Before, d.Reason) { // else it is the old text, left as it was
		s.Reason = d.Reason
	}
	open, replaces := w.open[mark(s.Target, s.TargetID)]
	s.File, s.Digest = d.File, digest(s.Proposal, string(open.ID), changedAt(w.state, s.Proposal))
	unchanged := s.Action == cw.ActionUpdate && s.Before == s.After
	if w.said[saidMark(s.Proposal)] || unchanged || replaces && sameSuggestion(open, s.Proposal) {
		return
	}
	w.kept = append(w.kept, &s)
	w.byID[mark(s.Target, s.TargetID)] = &s
}

// sameSuggestion tells whether two proposals come to the same, and began with the
// same.
func sameSuggestion(a, b cw.Proposal) bool {
	return a.Action == b.Action && a.Before == b.Before && a.After == b.After && a.BaseRevision == b.BaseRevision
}

// proposals are the suggestions that were kept, each after those that it needs.
func (w *sifter) proposals() []cw.Proposal {
	kept := inTurn(w.kept, func(s *suggestion) (cw.ProposalTarget, string, []need) { return s.Target, s.TargetID, s.needs })
	out := make([]cw.Proposal, len(kept))
	for i, s := range kept {
		out[i] = s.Proposal
	}
	return out
}
