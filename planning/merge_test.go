package planning

import (
	"strings"
	"testing"

	"cw/artifacts"
	"cw/internal/cw"
)

// given is what an agent was given of a state.
func given(states ...cw.InitiativeState) []artifacts.Given {
	var out []artifacts.Given
	for _, s := range states {
		out = append(out, artifacts.Given{Pages: s.Pages, Phases: s.Phases, Tasks: s.Tasks})
	}
	return out
}

func withBody(body string) cw.InitiativeState {
	return sale(func(s *cw.InitiativeState) { s.Pages[0].Body, s.Pages[0].Revision = body, strings.Count(body, "\n")+1 })
}

// noteOf is a page with an answer that was noted on it.
func noteOf(body, id string) string {
	return putDecision(body, artifacts.Decision{ID: id, Title: "Where?", Body: "**Answer:** In SQLite"})
}

// suggestPage is what accepting a draft of the first page comes to.
func suggestPage(t *testing.T, now cw.InitiativeState, read []artifacts.Given, draft string, c cw.ProposalChoice) (string, error) {
	t.Helper()
	made, notes := propose(now, agentOf(cw.ModeDiscuss), read, nil, nil, output(t, map[string]string{"pages/root": draft}))
	if len(notes) > 0 || len(made) != 1 {
		t.Fatalf("proposals %q, notes %q", brief(made), notes)
	}
	made[0].ID, made[0].Status = "proposalaaaa", cw.ProposalOpen
	now.Proposals = made
	if c.Seen == "now" {
		c.Seen = seen(now, made[0])
	}
	p, _, err := settled(now, func(p *plan) error {
		_, err := p.accept([]*cw.Proposal{&p.Proposals[0]}, nil, c)
		return err
	})
	return strings.TrimSpace(p.Pages[0].Body), err
}

// TestAcceptKeepsWhatCameMeanwhile: a page that an agent made from an older text
// than the page's is merged with it, and never written over it.
func TestAcceptKeepsWhatCameMeanwhile(t *testing.T) {
	t.Parallel()
	const old = "# Goal\n\nSell.\n\n## Scope\n\nPrices."
	answer := id[string]("answer")
	noted := noteOf(old, answer)
	then, now := withBody(old), withBody(noted)
	for _, tt := range []struct {
		name  string
		now   cw.InitiativeState
		read  []artifacts.Given
		draft string
		want  string
	}{
		{"from memory", now, given(now, then), strings.Replace(old, "Prices.", "Prices and stock.", 1), strings.TrimSpace(noteOf(strings.Replace(old, "Prices.", "Prices and stock.", 1), answer))},
		{"with more at the end", now, given(now, then), old + "\n\n## Plan\n\nTwo steps.", strings.TrimSpace(noteOf(old+"\n\n## Plan\n\nTwo steps.", answer))},
		{"wholly new", now, given(then), "# Other\n\nText.", strings.TrimSpace(noteOf("# Other\n\nText.", answer))},
		{"read again", now, given(now, then), strings.Replace(noted, "Prices.", "Stock.", 1), strings.TrimSpace(strings.Replace(noted, "Prices.", "Stock.", 1))},
		{"read again, and a decision is put into words", now, given(now, then), strings.Replace(noted, "In SQLite", "In SQLite, as they are few", 1), strings.TrimSpace(strings.Replace(noted, "In SQLite", "In SQLite, as they are few", 1))},
		{"edited elsewhere", withBody(strings.Replace(old, "Sell.", "Sell more.", 1)), given(then), strings.Replace(old, "Prices.", "Stock.", 1), "# Goal\n\nSell more.\n\n## Scope\n\nStock."},
		{"answered during the run", now, given(then), strings.Replace(old, "Sell.", "Sell a lot.", 1), strings.TrimSpace(noteOf(strings.Replace(old, "Sell.", "Sell a lot.", 1), answer))},
	} {
		got, err := suggestPage(t, tt.now, tt.read, file(tt.draft, "title: root"), cw.ProposalChoice{})
		if err != nil || got != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, got, tt.want)
		}
	}
}

// TestAcceptConflict: where both changed the same passage a person chooses, and of
// what is there when they choose.
func TestAcceptConflict(t *testing.T) {
	t.Parallel()
	then := withBody("# Goal\n\nSell.\n\n## Scope\n\nPrices.")
	now := withBody("# Goal\n\nSell more.\n\n## Scope\n\nPrices, and by hand.")
	draft := file("# Aim\n\nSell.\n\n## Scope\n\nPrices, and by agents.", "title: root")
	_, err := suggestPage(t, now, given(then), draft, cw.ProposalChoice{})
	wantError(t, err, cw.CodeRefused, "changed since", "cw proposal diff proposalaaaa")
	ids := []cw.ProposalID{"proposalaaaa"}
	for take, want := range map[cw.ProposalTake]string{
		cw.TakeSuggested: "# Aim\n\nSell more.\n\n## Scope\n\nPrices, and by agents.",
		cw.TakeCurrent:   "# Aim\n\nSell more.\n\n## Scope\n\nPrices, and by hand.",
	} {
		got, err := suggestPage(t, now, given(then), draft, cw.ProposalChoice{IDs: ids, Take: take, Seen: "now"})
		if err != nil || got != want {
			t.Errorf("%s: %v\n%s", take, err, got)
		}
		got, err = suggestPage(t, now, given(then), draft, cw.ProposalChoice{IDs: ids, Take: take, Seen: "before"})
		wantError(t, err, cw.CodeRefused, "changed again since you looked")
		if got != strings.TrimSpace(now.Pages[0].Body) {
			t.Errorf("%s of an outdated view wrote %s", take, got)
		}
	}
}

// TestProposeFromWhatWasGiven: phases, tasks, decisions and removals, too, are made
// from what the agent was given.
func TestProposeFromWhatWasGiven(t *testing.T) {
	t.Parallel()
	then := sale(decided("old", "Old", "Was."))
	now := sale(decided("old", "Old", "Is, says a person."), func(s *cw.InitiativeState) {
		s.Phases[1].Body, s.Tasks[2].Body, s.Tasks[2].Status = "aim by hand", "do by hand", cw.TaskBlocked
		s.Pages[2].Body, s.Pages[2].Revision = "text by hand", 2
	})
	for mode, files := range map[cw.Mode]map[string]string{
		cw.ModePlan:    {"phases/two": file("aim of an agent", "title: two")},
		cw.ModeDetail:  {"tasks/third": file("do as an agent", "title: third")},
		cw.ModeDiscuss: {"decisions/old": file("Is, says an agent.", "title: Old")},
		cw.ModeRefine:  {"pages/cart": file("", "delete: true")},
	} {
		made, notes := propose(now, agentOf(mode), given(then), nil, nil, output(t, files))
		if len(made) != 1 || len(notes) > 0 {
			t.Fatalf("%s: %q, notes %q", mode, brief(made), notes)
		}
		if !stale(now, made[0]) || strings.Contains(made[0].Before, "hand") || strings.Contains(made[0].Before, "person") {
			t.Errorf("%s: a later edit is not seen:\n%s", mode, made[0].Before)
		}
		if made, _ := propose(then, agentOf(mode), given(then), nil, nil, output(t, files)); len(made) != 1 || stale(then, made[0]) {
			t.Errorf("%s: nothing changed, and it is taken for outdated", mode)
		}
	}
}

// TestMerge3: each line of both sides is in the outcome, or its removal is what one
// side wants and the other has not touched.
func TestMerge3(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ base, now, suggested, want string }{
		{"abc", "abc", "abc", "abc"},
		{"abc", "xabc", "abcy", "xabcy"},
		{"abc", "ac", "abc", "ac"},
		{"abc", "abc", "ac", "ac"},
		{"abc", "ac", "ac", "ac"},
		{"abcde", "aXcde", "abcdY", "aXcdY"},
		{"abc", "aXc", "aYc", "a<X=Y>c"},
		{"abc", "ac", "aYc", "a<=Y>c"},
		{"", "x", "y", "<x=y>"},
		{"", "x", "x", "x"},
		{"ab", "abx", "aby", "ab<x=y>"},
	} {
		lines := func(s string) []string { return wholeLines(strings.Join(strings.Split(s, ""), "\n")) }
		out, _ := merge3(lines(tt.base), lines(tt.now), lines(tt.suggested), "")
		got := strings.NewReplacer("<<<<<<< the page", "<", "=======", "=", ">>>>>>> the suggestion", ">", "\n", "").Replace(strings.Join(out, ""))
		if got != tt.want {
			t.Errorf("%q, %q and %q: %q, want %q", tt.base, tt.now, tt.suggested, got, tt.want)
		}
	}
}
