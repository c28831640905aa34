package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

// suggestion makes a proposal about something.
func suggestion(target cw.ProposalTarget, id, after string) cw.Proposal {
	return cw.Proposal{
		Target: target, TargetID: id, Action: cw.ActionCreate, Title: id, File: string(target) + "s/" + id + ".md",
		After: after, Digest: fmt.Sprint(target, id, after),
	}
}

// suggest ends a run of a new agent with proposals for an initiative.
func (b *bench) suggest(i cw.InitiativeID, proposals ...cw.Proposal) cw.SpawnIntent {
	b.t.Helper()
	in := b.runningAgent("agent-" + cw.NewID())
	f := finish(in, cw.StatusRunning, cw.StatusIdle)
	for _, p := range proposals {
		p.InitiativeID = i
		f.Proposals = append(f.Proposals, p)
	}
	done, err := b.FinishRun(b.t.Context(), f)
	b.must(err)
	if !done {
		b.t.Fatal("the run had ended already")
	}
	return in
}

// proposals lists all of an initiative, oldest first.
func (b *bench) proposals(f cw.ProposalFilter) []cw.Proposal {
	b.t.Helper()
	all, err := cw.AllPages(b.t.Context(), func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Proposal], error) {
		f.Cursor, f.Limit = q.Cursor, 2
		return b.ProposalPage(ctx, f)
	})
	b.must(err)
	return all
}

// words are what proposals come to: target, id, text and status.
func words(proposals []cw.Proposal) []string {
	out := []string{}
	for _, p := range proposals {
		out = append(out, fmt.Sprintf("%s %s %s %s", p.Target, p.TargetID, p.After, p.Status))
	}
	return out
}

// TestFinishStoresProposals with everything they say, and tells them.
func TestFinishStoresProposals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.initiative("sale")
	p := suggestion(cw.TargetPage, "page", "after")
	p.Action, p.Before, p.BaseRevision, p.Reason = cw.ActionUpdate, "before", 3, "because"
	told := len(b.toldEvents())
	in := b.suggest(i.ID, p, suggestion(cw.TargetTask, "task", "x"))
	got := b.stateOf(i.ID).Proposals
	same(t, "proposals", len(got), 2)
	p.ID, p.CreatedAt = got[0].ID, got[0].CreatedAt
	p.InitiativeID, p.AgentID, p.RunID, p.Status = i.ID, in.Agent.ID, in.Run.ID, cw.ProposalOpen
	same(t, "proposal", got[0], p)
	one, err := b.ProposalByID(t.Context(), p.ID)
	b.must(err)
	same(t, "by id", one, p)
	events := slices.DeleteFunc(b.toldEvents()[told:], func(e cw.Event) bool { return e.Type != cw.EventProposalCreated })
	same(t, "events", len(events), 2)
	for n, e := range events {
		if e.InitiativeID != i.ID || e.AgentID != in.Agent.ID || e.RunID != in.Run.ID || e.ActorID != string(in.Agent.ID) || e.ActorKind != cw.ActorAgent {
			t.Errorf("told: %+v", e)
		}
		if !strings.Contains(string(e.Data), string(got[n].ID)) {
			t.Errorf("told: %s", e.Data)
		}
	}
	before := b.dump()
	f := finish(in, cw.StatusRunning, cw.StatusIdle)
	f.Proposals = []cw.Proposal{suggestion(cw.TargetPhase, "late", "x")}
	f.Proposals[0].InitiativeID = i.ID
	if done, err := b.FinishRun(t.Context(), f); done || err != nil { // a run ends once
		t.Error(done, err)
	}
	same(t, "rows", b.dump(), before)
}

// TestSameOutputAgain suggests nothing, whatever became of it; a new suggestion
// takes the place of the open ones about the same thing, and of no others.
func TestSameOutputAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i, other := b.initiative("sale"), b.initiative("other")
	one, two := suggestion(cw.TargetPage, "page", "one"), suggestion(cw.TargetPage, "page", "two")
	dismissed, accepted := suggestion(cw.TargetTask, "task", "no"), suggestion(cw.TargetTask, "done", "yes")
	b.suggest(i.ID, one, dismissed, accepted, suggestion(cw.TargetPhase, "page", "one"))
	b.suggest(other.ID, one)
	all := b.proposals(cw.ProposalFilter{Initiative: "sale"})
	all[1].Status, all[2].Status = cw.ProposalDismissed, cw.ProposalAccepted
	b.plan(i.ID, cw.InitiativeChange{Proposals: all[1:3]})

	told := len(b.toldEvents())
	b.suggest(i.ID, one, dismissed, accepted)
	for _, e := range b.toldTypes(told) {
		if strings.HasPrefix(string(e), "proposal:") {
			t.Errorf("told %s", e)
		}
	}
	same(t, "after the same again", words(b.proposals(cw.ProposalFilter{Initiative: "sale"})), []string{
		"page page one open", "task task no dismissed", "task done yes accepted", "phase page one open",
	})
	told = len(b.toldEvents())
	b.suggest(i.ID, two, suggestion(cw.TargetTask, "task", "again"), suggestion(cw.TargetTask, "done", "more"))
	same(t, "after others", words(b.proposals(cw.ProposalFilter{Initiative: "sale"})), []string{
		"page page one superseded", "task task no dismissed", "task done yes accepted", "phase page one open",
		"page page two open", "task task again open", "task done more open",
	})
	var superseded []cw.Event
	for _, e := range b.toldEvents()[told:] {
		if e.Type == cw.EventProposalSuperseded {
			superseded = append(superseded, e)
		}
	}
	if len(superseded) != 1 || superseded[0].InitiativeID != i.ID || superseded[0].RunID != all[0].RunID || !strings.Contains(string(superseded[0].Data), string(all[0].ID)) {
		t.Errorf("told as superseded: %+v", superseded)
	}
	same(t, "of the other", words(b.proposals(cw.ProposalFilter{Initiative: "other"})), []string{"page page one open"})
	b.suggest(i.ID, one) // known: the later one stays
	same(t, "open", words(b.proposals(cw.ProposalFilter{Initiative: "sale", Statuses: []cw.ProposalStatus{cw.ProposalOpen}})), []string{
		"phase page one open", "page page two open", "task task again open", "task done more open",
	})
}

// TestProposalsOfOneRunAtOnce: two of one run about one thing leave the later
// one, and the same twice is one.
func TestProposalsOfOneRunAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.initiative("sale")
	b.suggest(i.ID, suggestion(cw.TargetPage, "p", "one"), suggestion(cw.TargetPage, "p", "two"), suggestion(cw.TargetPage, "p", "two"))
	same(t, "proposals", words(b.proposals(cw.ProposalFilter{})), []string{"page p one superseded", "page p two open"})
}

// TestDecidedProposals stores who decided what, and why, and nothing else.
func TestDecidedProposals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i, other := b.initiative("sale"), b.initiative("other")
	b.suggest(i.ID, suggestion(cw.TargetPage, "p", "one"))
	want := b.stateOf(i.ID).Proposals[0]
	at := want.CreatedAt.Add(1)
	want.Status, want.DecidedBy, want.DecidedAt, want.Note = cw.ProposalDismissed, "person", &at, "too early"
	changed := want
	changed.After, changed.AgentID, changed.Title = "else", "else", "else"
	err := b.ChangeInitiative(t.Context(), other.ID, func(cw.InitiativeState) (cw.InitiativeChange, error) {
		return cw.InitiativeChange{Proposals: []cw.Proposal{changed}}, nil
	})
	refuses(t, err, cw.CodeNotFound, string(want.ID))
	b.plan(i.ID, cw.InitiativeChange{Proposals: []cw.Proposal{changed}})
	same(t, "in the state", b.stateOf(i.ID).Proposals, []cw.Proposal{want})
	want.Status, want.Note = cw.ProposalAccepted, ""
	b.plan(i.ID, cw.InitiativeChange{Proposals: []cw.Proposal{want}})
	same(t, "in the state when accepted", b.stateOf(i.ID).Proposals, []cw.Proposal{})
	got, err := b.ProposalByID(t.Context(), want.ID)
	b.must(err)
	same(t, "by id", got, want)
}

// TestProposalPages: each filter selects what it says, in pages and in order.
func TestProposalPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sale, other := b.initiative("sale"), b.initiative("other")
	var agents []cw.SpawnIntent
	for n, i := range []cw.InitiativeID{sale.ID, other.ID, sale.ID} {
		var all []cw.Proposal
		for m := range 5 {
			all = append(all, suggestion(cw.TargetTask, fmt.Sprint(n, "-", m), "x"))
		}
		agents = append(agents, b.suggest(i, all...))
	}
	for n, p := range b.proposals(cw.ProposalFilter{}) {
		p.Status = cw.ProposalStatuses()[n%3]
		b.plan(p.InitiativeID, cw.InitiativeChange{Proposals: []cw.Proposal{p}})
	}
	all := b.proposals(cw.ProposalFilter{})
	same(t, "all", len(all), 15)
	open := []cw.ProposalStatus{cw.ProposalOpen}
	for name, c := range map[string]struct {
		filter cw.ProposalFilter
		is     func(cw.Proposal) bool
	}{
		"open":                {cw.ProposalFilter{Statuses: open}, func(p cw.Proposal) bool { return p.Status == cw.ProposalOpen }},
		"decided":             {cw.ProposalFilter{Statuses: []cw.ProposalStatus{cw.ProposalAccepted, cw.ProposalDismissed}}, func(p cw.Proposal) bool { return p.Status != cw.ProposalOpen }},
		"initiative by slug":  {cw.ProposalFilter{Initiative: "sale"}, func(p cw.Proposal) bool { return p.InitiativeID == sale.ID }},
		"initiative by id":    {cw.ProposalFilter{Initiative: string(other.ID)}, func(p cw.Proposal) bool { return p.InitiativeID == other.ID }},
		"agent by name":       {cw.ProposalFilter{Agent: agents[0].Agent.Alias}, func(p cw.Proposal) bool { return p.AgentID == agents[0].Agent.ID }},
		"agent by id":         {cw.ProposalFilter{Agent: string(agents[2].Agent.ID)}, func(p cw.Proposal) bool { return p.AgentID == agents[2].Agent.ID }},
		"open of initiative":  {cw.ProposalFilter{Initiative: "sale", Statuses: open}, func(p cw.Proposal) bool { return p.InitiativeID == sale.ID && p.Status == cw.ProposalOpen }},
		"of another's agent":  {cw.ProposalFilter{Initiative: "other", Agent: agents[0].Agent.Alias}, func(cw.Proposal) bool { return false }},
		"superseded: no such": {cw.ProposalFilter{Statuses: []cw.ProposalStatus{cw.ProposalSuperseded}}, func(cw.Proposal) bool { return false }},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(p cw.Proposal) bool { return !c.is(p) })
		same(t, name, words(b.proposals(c.filter)), words(want))
		slices.Reverse(want)
		c.filter.Sort = "-createdAt"
		same(t, name+", newest first", words(b.proposals(c.filter)), words(want))
	}
	_, err := b.ProposalPage(t.Context(), cw.ProposalFilter{Initiative: "sail"})
	refuses(t, err, cw.CodeNotFound, "did you mean sale?")
	_, err = b.ProposalPage(t.Context(), cw.ProposalFilter{Agent: "nobody"})
	refuses(t, err, cw.CodeNotFound, "nobody")
	_, err = b.ProposalPage(t.Context(), cw.ProposalFilter{Statuses: []cw.ProposalStatus{"opne"}})
	refuses(t, err, cw.CodeInvalid, "did you mean open?")
}

// TestManyProposals: those of one run stay in its order.
func TestManyProposals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.initiative("sale")
	all := make([]cw.Proposal, 0, 300)
	for n := range cap(all) {
		all = append(all, suggestion(cw.TargetTask, fmt.Sprintf("task-%04d", n), "x"))
	}
	b.suggest(i.ID, all...)
	got := b.stateOf(i.ID).Proposals
	same(t, "proposals", len(got), len(all))
	for n, p := range got {
		same(t, "in order", p.TargetID, all[n].TargetID)
	}
}
