package planning

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/artifacts"
	"cw/internal/cw"
)

// proposed is a state with open proposals, made of files as an agent of some
// mode would leave them.
func proposed(t *testing.T, s cw.InitiativeState, mode cw.Mode, files map[string]string) cw.InitiativeState {
	t.Helper()
	made, notes := propose(s, agentOf(mode), nil, nil, nil, output(t, files))
	if len(notes) > 0 {
		t.Fatalf("notes %q", notes)
	}
	for _, p := range made {
		p.ID, p.AgentID, p.Status = cw.ProposalID("p"+p.TargetID), agentOf(mode).ID, cw.ProposalOpen
		s.Proposals = append(slices.Clone(s.Proposals), p)
	}
	return s
}

// accepting accepts proposals by their targets; none named: all.
func accepting(targets ...string) func(*plan) error {
	return func(p *plan) error {
		var c choice
		for _, name := range targets {
			c.ids = append(c.ids, cw.ProposalID("p"+id[string](name)))
		}
		chosen, err := p.chosen(c)
		if err != nil {
			return err
		}
		_, err = p.accept(chosen, map[cw.AgentID]string{"agentaaaaaaa": "calm-otter"}, cw.ProposalChoice{})
		return err
	}
}

func TestAcceptPages(t *testing.T) {
	t.Parallel()
	s := proposed(t, sale(), cw.ModeRefine, map[string]string{
		"pages/shop": file("Better.", "title: Store"), "pages/cart": file("", "delete: true"),
		"pages/top": file("Text.", "title: Top", "position: 0"), "pages/bub": file("Text.", "title: Sub", of("parent", "top")),
		"pages/till": file("", of("parent", "stock")),
	})
	p, c, err := settled(s, accepting())
	wantError(t, err, "")
	if got := tree(p.Pages, ""); got != "root1(Top1(Sub1) Store2 stock1(till1))" {
		t.Errorf("became %s", got)
	}
	shop := p.page(id[cw.PageID]("shop"))
	if shop.Body != "Better." || shop.UpdatedBy != "calm-otter" || p.page(id[cw.PageID]("top")).UpdatedBy != "calm-otter" {
		t.Errorf("%+v", shop)
	}
	if got := strings.Count(eventTypes(c), "proposal:accepted"); got != 5 || len(c.Proposals) != 5 {
		t.Errorf("events %s", eventTypes(c))
	}
	for _, pr := range c.Proposals {
		if pr.Status != cw.ProposalAccepted || pr.DecidedBy != "person" || pr.DecidedAt == nil {
			t.Errorf("%+v", pr)
		}
	}
}

func TestAcceptWork(t *testing.T) {
	t.Parallel()
	s := proposed(t, sale(), cw.ModePlan, map[string]string{
		"phases/c": file("Aim.", "title: C", ref("depends_on", "three")), "phases/b": file("Aim.", "title: B", ref("depends_on", "c"), "position: 0"),
		"phases/two": file("More.", "title: Two"),
	})
	s = proposed(t, s, cw.ModeDetail, map[string]string{
		"tasks/d": file("Do.", "title: D", of("phase", "c"), ref("depends_on", "first")), "tasks/e": file("Do.", "title: E", of("phase", "c"), ref("depends_on", "d")),
		"tasks/third": file("Do well.", "size: large"), "tasks/second": file("", "delete: true"),
	})
	p, _, err := settled(s, accepting())
	wantError(t, err, "")
	c, b, two := p.phase(id[cw.PhaseID]("c")), p.phase(id[cw.PhaseID]("b")), p.phase(id[cw.PhaseID]("two"))
	if c.Status != cw.PhaseApproved || c.Position != 4 || b.Position != 0 || b.DependsOn[0] != c.ID || two.Body != "More." || two.Name != "Two" || two.Position != 2 {
		t.Errorf("%+v\n%+v\n%+v", c, b, two)
	}
	d, e, third, second := p.task(id[cw.TaskID]("d")), p.task(id[cw.TaskID]("e")), p.task(id[cw.TaskID]("third")), p.task(id[cw.TaskID]("second"))
	if d.Status != cw.TaskPending || d.Position != 0 || e.Position != 1 || e.DependsOn[0] != d.ID || d.InitiativeID != p.Initiative.ID {
		t.Errorf("%+v\n%+v", d, e)
	}
	if third.Size != cw.SizeLarge || third.Body != "Do well." || third.Status != cw.TaskPending || second.Status != cw.TaskCancelled {
		t.Errorf("%+v\n%+v", third, second)
	}
}

// TestAcceptQuestions: what an architect lets a decision ask is asked; what it does
// not name stays, and what it takes away is gone.
func TestAcceptQuestions(t *testing.T) {
	t.Parallel()
	asks := []cw.TaskQuestion{{ID: "colour", Text: "Which colour?", Options: []cw.QuestionOption{{Label: "blue"}, {Label: "red"}}}}
	of := func(head ...string) []cw.TaskQuestion {
		s := sale(func(s *cw.InitiativeState) {
			s.Tasks[2].Type, s.Tasks[2].Questions = cw.TaskCheckpointDecide, []cw.TaskQuestion{{ID: "old", Text: "Old?"}}
		})
		p, _, err := settled(proposed(t, s, cw.ModeDetail, map[string]string{"tasks/third": file("Choose.", head...)}), accepting())
		wantError(t, err, "")
		return p.task(id[cw.TaskID]("third")).Questions
	}
	for name, tt := range map[string]struct {
		head []string
		want []cw.TaskQuestion
	}{
		"asked":      {[]string{"questions: [{id: colour, question: \"Which colour?\", options: [blue, red]}]"}, asks},
		"not named":  {[]string{"size: large"}, []cw.TaskQuestion{{ID: "old", Text: "Old?"}}},
		"taken away": {[]string{"questions: []"}, nil},
	} {
		if diff := cmp.Diff(tt.want, of(tt.head...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	out := output(t, map[string]string{"tasks/third": file("Choose.", "questions:", "  - Which colour?")})
	agent := agentOf(cw.ModeDetail)
	if got, notes := propose(sale(), agent, nil, nil, nil, out); len(got) > 0 || len(notes) != 1 || !strings.Contains(notes[0], "asks no questions") {
		t.Errorf("questions of a task for agents: %q, notes %q", brief(got), notes)
	}
}

// TestAcceptOrder: by kind, and each after what it needs, however they are
// named.
func TestAcceptOrder(t *testing.T) {
	t.Parallel()
	s := proposed(t, sale(), cw.ModeDiscuss, map[string]string{
		"pages/bub": file("Text.", "title: Sub", of("parent", "top")), "pages/top": file("Text.", "title: Top"),
		"decisions/x": file("Because.", "title: Use it", of("page", "bub")),
	})
	s = proposed(t, s, cw.ModePlan, map[string]string{"phases/b": file("Aim.", "title: B")})
	s = proposed(t, s, cw.ModeDetail, map[string]string{"tasks/d": file("Do.", "title: D", of("phase", "b"))})
	slices.Reverse(s.Proposals)
	p := begin(s, person, noon)
	chosen, err := p.chosen(choice{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.accept(chosen, nil, cw.ProposalChoice{})
	if err != nil {
		t.Fatal(err)
	}
	var order []cw.Proposal
	for _, pr := range got {
		order = append(order, *pr)
	}
	if want := "create page top, create page bub, create decision x, create phase b, create task d"; brief(order) != want {
		t.Errorf("order %s", brief(order))
	}
	if _, there := findDecision(p.page(id[cw.PageID]("bub")).Body, id[string]("x")); !there {
		t.Error("the decision is not on the page that came with it")
	}
}

func TestAcceptDecisions(t *testing.T) {
	t.Parallel()
	s := proposed(t, sale(decided("old", "Old", "Was."), decided("bad", "Bad", "Was.")), cw.ModeDiscuss, map[string]string{
		"decisions/d": file("## Why\n\nBecause.", "title: Use it"), "decisions/old": file("Is.", "title: Old"), "decisions/bad": file("", "delete: true"),
		"pages/stock": file("Full.", "title: stock"), "decisions/e": file("So.", "title: E", of("page", "stock")),
	})
	p, _, err := settled(s, accepting())
	wantError(t, err, "")
	root, stock := p.Pages[0], p.page(id[cw.PageID]("stock"))
	want := "text of root\n\n## Decisions\n\n### Old\n\n<!-- decision oldaaaaaaaaa -->\n\nIs.\n\n### Use it\n\n<!-- decision daaaaaaaaaaa -->\n\n##### Why\n\nBecause.\n"
	if root.Body != want || root.Revision != 2 || root.UpdatedBy != "calm-otter" {
		t.Errorf("revision %d by %s:\n%s", root.Revision, root.UpdatedBy, root.Body)
	}
	if want := "Full.\n\n## Decisions\n\n### E\n\n<!-- decision eaaaaaaaaaaa -->\n\nSo.\n"; stock.Body != want || stock.Revision != 2 {
		t.Errorf("revision %d:\n%s", stock.Revision, stock.Body)
	}
}

func TestAcceptRefuses(t *testing.T) {
	t.Parallel()
	pages := proposed(t, sale(), cw.ModeRefine, map[string]string{
		"pages/shop": file("Better.", "title: shop"), "pages/cart": file("", "delete: true"),
		"pages/top": file("Text.", "title: Top"), "pages/bub": file("Text.", "title: Sub", of("parent", "top")),
	})
	work := proposed(t, sale(), cw.ModePlan, map[string]string{
		"phases/b": file("Aim.", "title: B"), "phases/c": file("Aim.", "title: C", ref("depends_on", "b")), "phases/two": file("", "delete: true"),
	})
	work = proposed(t, work, cw.ModePlan, map[string]string{"phases/three": file("More.", "title: three")})
	work = proposed(t, work, cw.ModeDetail, map[string]string{
		"tasks/d": file("Do.", "title: D", of("phase", "b")), "tasks/e": file("Do.", "title: E", of("phase", "two"), ref("depends_on", "d")),
		"tasks/third": file("Do well."), "tasks/first": file("", "delete: true"),
	})
	edit := func(s cw.InitiativeState, f func(*plan)) cw.InitiativeState {
		p, _, err := settled(s, func(p *plan) error { f(p); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return p.InitiativeState
	}
	talk := proposed(t, sale(), cw.ModeDiscuss, map[string]string{"decisions/e": file("So.", "title: E", of("page", "stock"))})
	talk = proposed(t, talk, cw.ModeRefine, map[string]string{"pages/stock": file("", "delete: true"), "pages/new": file("Text.", "title: New")})
	talk = proposed(t, talk, cw.ModeRefine, map[string]string{"pages/cart": file("", of("parent", "stock"))})
	circle := sale()
	circle.Proposals = proposed(t, sale(func(s *cw.InitiativeState) { s.Phases[2].DependsOn = []cw.PhaseID{} }), cw.ModePlan, map[string]string{
		"phases/one": file("", ref("depends_on", "three")),
	}).Proposals
	dismissed := func(s cw.InitiativeState, target string) cw.InitiativeState {
		s.Proposals = slices.Clone(s.Proposals)
		find(s.Proposals, func(p cw.Proposal) bool { return p.TargetID == id[string](target) }).Status = cw.ProposalDismissed
		return s
	}
	tests := []struct {
		name   string
		state  cw.InitiativeState
		accept []string
		words  []string
	}{
		{"a page that changed", edit(pages, func(p *plan) { p.page(id[cw.PageID]("shop")).Body = "Other." }), []string{"shop"},
			[]string{`the page "shop" (shopaaaaaaaa) changed`, "cw proposal diff pshopaaaaaaaa"}},
		{"a removal of a page that changed and back", func() cw.InitiativeState {
			s := edit(pages, func(p *plan) {})
			s.Pages[2].Revision = 3
			return s
		}(), []string{"cart"}, []string{"changed"}},
		{"a page that changed, to remove it", edit(pages, func(p *plan) { p.page(id[cw.PageID]("cart")).Title = "Cart" }), []string{"cart"}, []string{"changed"}},
		{"a page that is gone", func() cw.InitiativeState {
			s := edit(pages, func(p *plan) {})
			s.Pages = slices.DeleteFunc(s.Pages, func(d cw.Document) bool { return d.ID == id[cw.PageID]("cart") })
			return s
		}(), []string{"cart"}, []string{"not there any more", "dismiss"}},
		{"a page that is there already", edit(pages, func(p *plan) { p.addPage(cw.Document{ID: id[cw.PageID]("top"), Title: "x"}, last) }), []string{"top"},
			[]string{"there already"}},
		{"a page without the one above it", pages, []string{"bub"}, []string{`ptopaaaaaaaaa (page "Top")`, "--all sale"}},
		{"a page below a dismissed one", dismissed(pages, "top"), []string{"bub"}, []string{"which was dismissed"}},
		{"a page below one that was removed", edit(pages, func(p *plan) {
			p.Proposals = slices.DeleteFunc(p.Proposals, func(pr cw.Proposal) bool { return pr.TargetID == id[string]("top") })
			p.before.Proposals = p.Proposals
		}), []string{"bub"}, []string{"which is not there"}},
		{"a decision on a page that goes with it", talk, []string{"e", "stock"}, []string{"has no page", "stockaaaaaaa"}},
		{"a page below one that goes with it", talk, []string{"cart", "stock"}, []string{"has pages below it", `"cart"`}},
		{"one that is not open", dismissed(pages, "top"), []string{"top"}, []string{"not open any more"}},
		{"a phase without the one before it", work, []string{"c"}, []string{`pbaaaaaaaaaaa (phase "B")`}},
		{"a task without phase", work, []string{"d"}, []string{`pbaaaaaaaaaaa (phase "B")`}},
		{"tasks without phase and task", work, []string{"e"}, []string{`pdaaaaaaaaaaa (task "D")`}},
		{"a phase that others wait for", work, []string{"two"}, []string{`"three" (threeaaaaaaa) depends on it`}},
		{"a task that others wait for", work, []string{"first"}, []string{`"second" (secondaaaaaa) depends on it`}},
		{"a task in a phase that goes with it", work, []string{"b", "d", "e", "two", "three"}, []string{"archived"}},
		{"a phase that is done", edit(work, func(p *plan) { p.phase(id[cw.PhaseID]("three")).Status = cw.PhaseDone }), []string{"three"}, []string{"is done"}},
		{"a task that has begun", func() cw.InitiativeState {
			s := edit(work, func(p *plan) {})
			taskStatus("third", cw.TaskRunning)(&s)
			return s
		}(), []string{"third"}, []string{"is running"}},
		{"a circle with what changed since", circle, []string{"one"}, []string{"circle", `"one" (oneaaaaaaaaa) → "three" (threeaaaaaaa)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := settled(tt.state, accepting(tt.accept...))
			wantError(t, refused(err), cw.CodeRefused, tt.words...)
		})
	}
}

// TestAcceptWhenOthersCameOrWent: that a page has another number is no change.
func TestAcceptWhenOthersCameOrWent(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"title: stock", "title: stock\nposition: 1"} {
		s := proposed(t, sale(), cw.ModeRefine, map[string]string{"pages/stock": file("Full.", head)})
		p, _, err := settled(s, func(p *plan) error {
			p.addPage(cw.Document{ID: id[cw.PageID]("new"), Title: "new"}, 0)
			return nil
		})
		wantError(t, err, "")
		p, _, err = settled(p.InitiativeState, accepting("stock"))
		wantError(t, err, "")
		if got := tree(p.Pages, ""); got != "root1(new1 shop1(cart1 till1) stock2)" {
			t.Errorf("%q: became %s", head, got)
		}
	}
}

func TestBeside(t *testing.T) {
	t.Parallel()
	s := proposed(t, sale(), cw.ModeRefine, map[string]string{"pages/shop": file("Better.", "title: shop"), "pages/new": file("Text.", "title: New"), "pages/cart": file("", "delete: true")})
	byTarget := func(name string) cw.Proposal {
		return *find(s.Proposals, func(p cw.Proposal) bool { return p.TargetID == id[string](name) })
	}
	shown := func(p cw.Proposal) cw.ProposalView {
		v, err := beside(s, p)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := shown(byTarget("shop"))
	if v.Changed || v.Theirs != "" || v.Current != v.Before || !strings.Contains(v.Diff, "-text of shop\n+Better.\n") || !strings.HasPrefix(v.Diff, "--- current\n+++ suggested\n") {
		t.Errorf("%+v", v)
	}
	if v := shown(byTarget("new")); v.Changed || v.Current != "" || !strings.Contains(v.Diff, "+title: New\n") {
		t.Errorf("new: %+v", v)
	}
	if v := shown(byTarget("cart")); v.Changed || !strings.Contains(v.Diff, "-text of cart\n") || strings.Contains(v.Diff, "\n+text") {
		t.Errorf("gone: %+v", v)
	}
	s.Pages = slices.Clone(s.Pages)
	s.Pages[1].Body = "Mine."
	v = shown(byTarget("shop"))
	if !v.Changed || v.Conflicts != 1 || !strings.Contains(v.Merged, "<<<<<<< the page\nMine.\n=======\nBetter.\n>>>>>>> the suggestion\n") || !strings.Contains(v.Theirs, "-text of shop\n+Mine.\n") {
		t.Errorf("three-way: %+v", v)
	}
	s.Pages[1].Body = "text of shop\n\n## Decisions\n\n### Which?\n\n<!-- decision answeraaaaaa -->\n\n**Answer:** that\n"
	v = shown(byTarget("shop"))
	if !v.Changed || v.Conflicts != 0 || !strings.Contains(v.Merged, "Better.\n\n## Decisions\n") || !strings.Contains(v.Diff, "-text of shop\n+Better.\n") || strings.Contains(v.Diff, "Answer:** that\n-") {
		t.Errorf("merged: %+v", v)
	}
	done := byTarget("shop")
	done.Status = cw.ProposalAccepted
	if v := shown(done); v.Changed || v.Theirs != "" || !strings.Contains(v.Diff, "-text of shop\n+Better.\n") {
		t.Errorf("decided: %+v", v)
	}
}

func TestGatherInitiativeContext(t *testing.T) {
	t.Parallel()
	s := sale(func(s *cw.InitiativeState) {
		s.Proposals = append(s.Proposals, cw.Proposal{ID: "open", Status: cw.ProposalOpen})
		for range dismissedMax + 1 {
			s.Proposals = append(s.Proposals, cw.Proposal{ID: cw.ProposalID(cw.NewID()), Status: cw.ProposalDismissed})
		}
	})
	for _, mode := range []cw.Mode{cw.ModeExecute, cw.ModeDiscuss, cw.ModePlan, cw.ModeDetail, cw.ModeRefine} {
		agent := agentOf(mode)
		agent.TaskID = id[cw.TaskID]("third")
		in, err := gatherInitiativeContext(s, agent)
		wantError(t, err, "")
		if len(in.Pages) != 5 || in.Pages[0].Body == "" || len(in.Phases) != 3 || len(in.Tasks) != 3 || in.Initiative.Slug != "sale" || in.Agent.Alias != "calm-otter" {
			t.Errorf("%s: %+v", mode, in)
		}
		if in.Task == nil || in.Task.Name != "third" || in.Phase == nil || in.Phase.Name != "two" {
			t.Errorf("%s: task %v, phase %v", mode, in.Task, in.Phase)
		}
		if len(in.Dismissed) != dismissedMax || in.Dismissed[0].ID != s.Proposals[2].ID {
			t.Errorf("%s: %d dismissed ones", mode, len(in.Dismissed))
		}
	}
	agent := agentOf(cw.ModeDetail)
	in, err := gatherInitiativeContext(s, agent)
	if err != nil || in.Task != nil || in.Phase != nil {
		t.Errorf("without a task: %v, %v, %v", in.Task, in.Phase, err)
	}
	agent.PhaseID = "nothing"
	_, err = gatherInitiativeContext(s, agent)
	wantError(t, err, cw.CodeNotFound, "nothing", "cw phase list sale")
	agent.TaskID = "nothing"
	_, err = gatherInitiativeContext(s, agent)
	wantError(t, err, cw.CodeNotFound, "cw task list sale")
}

// TestDraftsOfEveryTarget: what is written can be read.
func TestDraftsOfEveryTarget(t *testing.T) {
	t.Parallel()
	texts := map[cw.ProposalTarget]string{
		cw.TargetPage:     artifacts.PageFile(page("new", "root", noPlace)),
		cw.TargetDecision: artifacts.DecisionFile(artifacts.Decision{ID: id[string]("new"), Title: "x", PageID: id[cw.PageID]("root"), Body: "y"}),
		cw.TargetPhase:    artifacts.PhaseFile(phase("new", noPlace, "one")),
		cw.TargetTask:     artifacts.TaskFile(task("new", "one", 0)),
	}
	for _, target := range cw.ProposalTargets() {
		d, err := draftOf(target, id[string]("new"), texts[target])
		if err != nil || d.Target != target || d.Has["position"] {
			t.Errorf("%s: %+v, %v", target, d, err)
		}
	}
}
