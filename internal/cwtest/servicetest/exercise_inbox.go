package servicetest

import (
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// kindsOf are the kinds of the items of an inbox, in order.
func kindsOf(t *testing.T, f Fixture, initiative string) (kinds []cw.InboxKind, items []cw.InboxItem) {
	t.Helper()
	in, err := f.Services.Inbox(soon(t), initiative)
	ok(t, err)
	for _, it := range in.Items {
		kinds = append(kinds, it.Kind)
	}
	return kinds, in.Items
}

// inboxCase: questions and suggestions are told until somebody deals with them,
// those of an initiative with it alone.
func inboxCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	v := initiative(t, f)
	empty, err := s.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "Nothing to do"})
	ok(t, err)
	if _, items := kindsOf(t, f, empty.Slug); items == nil || len(items) > 0 {
		t.Errorf("of an initiative without tasks: %v", items)
	}
	view, open := asked(t, f)
	id := cw.NewID()
	suggester := f.Suggest(t, v.ID, cw.Proposal{
		ID: cw.ProposalID(cw.NewID()), Target: cw.TargetPage, TargetID: id, Action: cw.ActionCreate, Title: "Rounding", File: "pages/" + id + ".md",
		After: "---\nid: " + id + "\ntitle: Rounding\nparent: " + string(v.RootPageID) + "\n---\nTo whole cents.\n", Digest: id,
	})
	kinds, items := kindsOf(t, f, "")
	if diff := cmp.Diff([]cw.InboxKind{cw.InboxQuestion, cw.InboxProposal, cw.InboxProject}, kinds); diff != "" {
		t.Fatalf("all (-want +got): %s", diff)
	}
	question, proposal, project := items[0], items[1], items[2]
	if question.AgentID != view.ID || question.Agent != view.Alias || question.Text != open[0].Text || question.Count != len(open) || len(question.QuestionIDs) != len(open) ||
		question.QuestionIDs[0] != open[0].ID || question.Hint == "" || !question.Since.Equal(open[0].CreatedAt) {
		t.Errorf("the question: %+v", question)
	}
	if proposal.Agent != suggester || proposal.InitiativeID != v.ID || proposal.Initiative != v.Slug || len(proposal.ProposalIDs) != 1 || proposal.Hint == "" {
		t.Errorf("the proposal: %+v", proposal)
	}
	for _, ref := range []string{v.Slug, string(v.ID)} {
		_, items := kindsOf(t, f, ref)
		if diff := cmp.Diff([]cw.InboxItem{proposal, project}, items); diff != "" {
			t.Errorf("of %s (-want +got): %s", ref, diff)
		}
	}
	if project.InitiativeID != v.ID || project.Behind != 1 || project.Hint == "" { // its tasks have no repository
		t.Errorf("the set-up: %+v", project)
	}
	_, err = s.AcceptProposals(ctx, cw.ProposalChoice{Agent: suggester})
	ok(t, err)
	_, err = s.Answer(ctx, answers(string(open[0].ID), "green"))
	ok(t, err)
	_, items = kindsOf(t, f, "")
	if len(items) != 2 || items[0].Key != question.Key || items[0].Count != len(open)-1 || items[0].Text != open[1].Text {
		t.Errorf("left of it: %+v", items)
	}
	_, err = s.Inbox(ctx, unknown)
	wantCode(t, "Inbox of nothing", err, cw.CodeNotFound)
}
