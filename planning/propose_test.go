package planning

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/artifacts"
	"cw/internal/cw"
)

// output reads files as they lie in .cw/output: "tasks/new" → its text. A name
// of 12 characters is taken as it is, another one is filled up.
func output(t *testing.T, files map[string]string) artifacts.Output {
	t.Helper()
	var out artifacts.Output
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		folder, file, _ := strings.Cut(name, "/")
		d, problems := artifacts.ReadDraft(folder+"/"+id[string](file)+".md", []byte(files[name]))
		if len(problems) > 0 {
			t.Fatalf("%s: %+v", name, problems)
		}
		switch d.Target {
		case cw.TargetPage:
			out.Pages = append(out.Pages, d)
		case cw.TargetDecision:
			out.Decisions = append(out.Decisions, d)
		case cw.TargetPhase:
			out.Phases = append(out.Phases, d)
		case cw.TargetTask:
			out.Tasks = append(out.Tasks, d)
		}
	}
	return out
}

// file writes one file: head lines, and a body.
func file(body string, head ...string) string {
	return "---\n" + strings.Join(head, "\n") + "\n---\n\n" + body + "\n"
}

// ref fills up the names in a line of a head: "depends_on: [first]".
func ref(key string, names ...string) string {
	return key + ": [" + strings.Join(texts(ids[string](names)), ", ") + "]"
}

func of(key, name string) string { return key + ": " + id[string](name) }

// brief writes proposals for comparing: what becomes of what.
func brief(proposals []cw.Proposal) string {
	var out []string
	for _, p := range proposals {
		out = append(out, fmt.Sprintf("%s %s %s", p.Action, p.Target, strings.TrimRight(p.TargetID, "a")))
	}
	return strings.Join(out, ", ")
}

func agentOf(mode cw.Mode) cw.Agent {
	return cw.Agent{ID: "agentaaaaaaa", Alias: "calm-otter", Mode: mode, InitiativeID: id[cw.InitiativeID]("sale")}
}

func TestPropose(t *testing.T) {
	t.Parallel()
	newTask := file("Do it.", "title: Fourth", of("phase", "two"))
	tests := []struct {
		name  string
		mode  cw.Mode
		state cw.InitiativeState
		files map[string]string
		want  string
		notes []string // words of each note, in order
	}{
		{name: "nothing", mode: cw.ModeDetail, state: sale()},
		{name: "a new page", mode: cw.ModeRefine, state: sale(), files: map[string]string{"pages/new": file("Text.", "title: New")}, want: "create page new"},
		{name: "a page below a new one", mode: cw.ModeDiscuss, state: sale(), files: map[string]string{
			"pages/bub": file("Text.", "title: Sub", of("parent", "top")), "pages/top": file("Text.", "title: Top", of("parent", "shop")),
		}, want: "create page top, create page bub"},
		{name: "a page that changes", mode: cw.ModeRefine, state: sale(), files: map[string]string{"pages/shop": file("Better.", "title: shop")}, want: "update page shop"},
		{name: "a page as it is", mode: cw.ModeRefine, state: sale(), files: map[string]string{
			"pages/shop": file("text of shop", "title: shop", of("parent", "root"), "position: 0"),
			"pages/root": file("\n\n  text of root  \n\n", "title: root"),
		}},
		{name: "a page without its text keeps it", mode: cw.ModeRefine, state: sale(), files: map[string]string{"pages/shop": file("", "title: shop")}},
		{name: "a page goes", mode: cw.ModeRefine, state: sale(), files: map[string]string{"pages/cart": file("", "delete: true")}, want: "delete page cart"},
		{name: "the first page stays", mode: cw.ModeRefine, state: sale(), files: map[string]string{"pages/root": file("", "delete: true")},
			notes: []string{"first page stays"}},
		{name: "nothing goes", mode: cw.ModeRefine, state: sale(), files: map[string]string{"pages/none": file("", "delete: true")}, notes: []string{"no such page"}},
		{name: "no title", mode: cw.ModeRefine, state: sale(), files: map[string]string{"pages/none": file("Text.", "position: 1")}, notes: []string{"no name"}},
		{name: "below nothing", mode: cw.ModeRefine, state: sale(), files: map[string]string{"pages/new": file("Text.", "title: x", of("parent", "gone"))},
			notes: []string{"it lies below the page goneaaaaaaaa, which is not there"}},
		{name: "below what goes", mode: cw.ModeRefine, state: sale(), files: map[string]string{
			"pages/new": file("Text.", "title: x", of("parent", "cart")), "pages/cart": file("", "delete: true"),
		}, want: "delete page cart", notes: []string{"which pages/cartaaaaaaaa.md removes"}},
		{name: "below itself", mode: cw.ModeRefine, state: sale(), files: map[string]string{
			"pages/shop": file("", of("parent", "cart")), "pages/till": file("Other.", "title: till"),
		}, want: "update page till", notes: []string{`"shop" (shopaaaaaaaa) → "cart" (cartaaaaaaaa) → "shop"`}},

		{name: "a decision", mode: cw.ModeDiscuss, state: sale(), files: map[string]string{"decisions/d": file("Because.", "title: Use it")}, want: "create decision d"},
		{name: "a decision on a new page", mode: cw.ModeDiscuss, state: sale(), files: map[string]string{
			"decisions/d": file("Because.", "title: Use it", of("page", "new")), "pages/new": file("Text.", "title: New"),
		}, want: "create page new, create decision d"},
		{name: "a decision on no page", mode: cw.ModeDiscuss, state: sale(), files: map[string]string{"decisions/d": file("Because.", "title: Use it", of("page", "gone"))},
			notes: []string{"it belongs to the page gone"}},
		{name: "a decision goes", mode: cw.ModeDiscuss, state: sale(decided("d", "Use it", "Because.")), files: map[string]string{"decisions/d": file("", "delete: true")},
			want: "delete decision d"},
		{name: "a decision as it is", mode: cw.ModeDiscuss, state: sale(decided("d", "Use it", "#### Why\n\nBecause.")), files: map[string]string{"decisions/d": file("# Why\n\nBecause.", "title: Use it")}},
		{name: "a decision that changes", mode: cw.ModeDiscuss, state: sale(decided("d", "Use it", "Because.")), files: map[string]string{"decisions/d": file("Since.", "title: Use it")},
			want: "update decision d"},

		{name: "phases after each other", mode: cw.ModePlan, state: sale(), files: map[string]string{
			"phases/b": file("Aim.", "title: B", ref("depends_on", "c", "three")), "phases/c": file("Aim.", "title: C"), "phases/two": file("More.", "title: two"),
		}, want: "create phase c, create phase b, update phase two"},
		{name: "a circle of phases", mode: cw.ModePlan, state: sale(), files: map[string]string{
			"phases/b": file("Aim.", "title: B", ref("depends_on", "c")), "phases/c": file("Aim.", "title: C", ref("depends_on", "b")),
			"phases/d": file("Aim.", "title: D", ref("depends_on", "c")), "phases/e": file("Aim.", "title: E"),
		}, want: "create phase e", notes: []string{`phases/baaaaaaaaaaa.md was left out: it waits for itself: "B"`, "phases/caaaaaaaaaaa.md was left out: it waits for itself", "phases/daaaaaaaaaaa.md was left out: it depends on the phase caaaaaaaaaaa, which was left out too"}},
		{name: "a circle with what is there", mode: cw.ModePlan, state: sale(), files: map[string]string{"phases/one": file("", ref("depends_on", "three"))},
			notes: []string{`"one" (oneaaaaaaaaa) → "three" (threeaaaaaaa) → "two" (twoaaaaaaaaa) → "one"`}},
		{name: "after itself", mode: cw.ModePlan, state: sale(), files: map[string]string{"phases/b": file("Aim.", "title: B", ref("depends_on", "b"))}, notes: []string{"which is itself"}},
		{name: "an archived phase", mode: cw.ModePlan, state: sale(phaseStatus("three", cw.PhaseArchived)), files: map[string]string{
			"phases/three": file("More.", "title: three"), "phases/b": file("Aim.", "title: B", ref("depends_on", "three")),
		}, notes: []string{"is archived", "which is archived"}},
		{name: "an archived phase goes again", mode: cw.ModePlan, state: sale(phaseStatus("three", cw.PhaseArchived)), files: map[string]string{"phases/three": file("", "delete: true")}},

		{name: "a task", mode: cw.ModeDetail, state: sale(), files: map[string]string{"tasks/d": newTask}, want: "create task d"},
		{name: "a task of an unknown phase", mode: cw.ModeDetail, state: sale(), files: map[string]string{"tasks/d": file("Do.", "title: D", of("phase", "gone"))},
			notes: []string{"it belongs to the phase goneaaaaaaaa, which is not there"}},
		{name: "a task of no phase", mode: cw.ModeDetail, state: sale(), files: map[string]string{"tasks/d": file("Do.", "title: D")}, notes: []string{"names no phase"}},
		{name: "a task of an archived phase", mode: cw.ModeDetail, state: sale(phaseStatus("three", cw.PhaseArchived)), files: map[string]string{"tasks/d": file("Do.", "title: D", of("phase", "three"))},
			notes: []string{"which is archived"}},
		{name: "a task that needs what goes", mode: cw.ModeDetail, state: sale(), files: map[string]string{
			"tasks/d": file("Do.", "title: D", of("phase", "two"), ref("depends_on", "third")), "tasks/e": file("Do.", "title: E", of("phase", "two"), ref("depends_on", "d")),
			"tasks/third": file("Not needed.", "delete: true"),
		}, want: "delete task third", notes: []string{"it depends on the task thirdaaaaaaa, which tasks/thirdaaaaaaa.md removes", "which was left out too"}},
		{name: "a task that needs nothing that is there", mode: cw.ModeDetail, state: sale(), files: map[string]string{"tasks/d": file("Do.", "title: D", of("phase", "two"), ref("depends_on", "one"))},
			notes: []string{"which is not there"}},
		{name: "a task that needs a cancelled one", mode: cw.ModeDetail, state: sale(taskStatus("third", cw.TaskCancelled)), files: map[string]string{"tasks/d": file("Do.", "title: D", of("phase", "two"), ref("depends_on", "third"))},
			notes: []string{"which is cancelled"}},
		{name: "a task that waits for a later phase", mode: cw.ModeDetail, state: sale(), files: map[string]string{"tasks/d": file("Do.", "title: D", of("phase", "one"), ref("depends_on", "third"))},
			notes: []string{"it waits for itself"}},
		{name: "the same task by title and paths", mode: cw.ModeDetail, state: sale(), files: map[string]string{
			"tasks/d": file("Do it better.", "title: '  THIRD '", of("phase", "two")), "tasks/e": file("Do.", "title: E", of("phase", "two"), ref("depends_on", "d")),
		}, want: "update task third, create task e"},
		{name: "the same title with other paths", mode: cw.ModeDetail, state: sale(), files: map[string]string{"tasks/d": file("Do.", "title: third", of("phase", "two"), "paths: [src/**]")}, want: "create task d"},
		{name: "the same title in another phase", mode: cw.ModeDetail, state: sale(), files: map[string]string{"tasks/d": file("Do.", "title: third", of("phase", "three"))}, want: "create task d"},
		{name: "the same title as a cancelled one", mode: cw.ModeDetail, state: sale(taskStatus("third", cw.TaskCancelled)), files: map[string]string{"tasks/d": file("Do.", "title: third", of("phase", "two"))}, want: "create task d"},
		{name: "twins", mode: cw.ModeDetail, state: sale(), files: map[string]string{
			"tasks/d": newTask, "tasks/e": newTask, "tasks/f": file("Do.", "title: F", of("phase", "two"), ref("depends_on", "e")),
		}, want: "create task d, create task f", notes: []string{"tasks/eaaaaaaaaaaa.md was left out: tasks/daaaaaaaaaaa.md is about the same task"}},
		{name: "a known one and its twin", mode: cw.ModeDetail, state: sale(), files: map[string]string{
			"tasks/d": file("Else.", "title: third", of("phase", "two")), "tasks/third": file("Better.", "title: third"),
		}, want: "update task third", notes: []string{"tasks/thirdaaaaaaa.md is about the same task"}},
		{name: "a task that is worked on", mode: cw.ModeDetail, state: sale(taskStatus("third", cw.TaskRunning)), files: map[string]string{"tasks/third": file("Better.", "title: third")},
			notes: []string{`the task "third" is running`}},
		{name: "a task that is done goes", mode: cw.ModeDetail, state: sale(taskStatus("third", cw.TaskDone)), files: map[string]string{"tasks/third": file("", "delete: true")},
			notes: []string{"is done"}},

		{name: "execute suggests nothing", mode: cw.ModeExecute, state: sale(), files: map[string]string{"tasks/d": newTask}, notes: []string{"agents of mode execute suggest nothing"}},
		{name: "detail suggests tasks", mode: cw.ModeDetail, state: sale(), files: map[string]string{
			"pages/new": file("Text.", "title: New"), "phases/b": file("Aim.", "title: B"), "decisions/d": file("Because.", "title: Use it"), "tasks/d": newTask,
		}, want: "create task d", notes: []string{"pages/newaaaaaaaaa.md was left out: agents of mode detail suggest tasks", "decisions/", "phases/"}},
		{name: "discuss suggests pages and decisions", mode: cw.ModeDiscuss, state: sale(), files: map[string]string{"tasks/d": newTask}, notes: []string{"suggest pages and decisions"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, notes := propose(tt.state, agentOf(tt.mode), nil, nil, nil, output(t, tt.files))
			if brief(got) != tt.want {
				t.Errorf("proposals %q, want %q", brief(got), tt.want)
			}
			if len(notes) != len(tt.notes) {
				t.Fatalf("notes %q, want %d", notes, len(tt.notes))
			}
			for i, words := range tt.notes {
				if !strings.Contains(notes[i], words) {
					t.Errorf("note %q does not say %q", notes[i], words)
				}
			}
		})
	}
}

// decided is a state in which the first page has a decision.
func decided(name, title, body string) func(*cw.InitiativeState) {
	return func(s *cw.InitiativeState) {
		s.Pages[0].Body = putDecision(s.Pages[0].Body, artifacts.Decision{ID: id[string](name), Title: title, Body: body})
	}
}

func TestProposalsOfATaskAreItsFile(t *testing.T) {
	t.Parallel()
	agent := agentOf(cw.ModeDetail)
	agent.PhaseID = id[cw.PhaseID]("two")
	out := output(t, map[string]string{
		"tasks/third": file("Do it better.", "priority: high"),
		"tasks/d":     file("Do it.", "title: Fourth", ref("depends_on", "third")),
	})
	got, notes := propose(sale(), agent, nil, nil, nil, out)
	if len(got) != 2 || len(notes) > 0 {
		t.Fatalf("%q, notes %q", brief(got), notes)
	}
	change, added := got[0], got[1]
	was := task("third", "two", 0)
	will := was
	will.Body, will.Priority = "Do it better.", cw.PriorityHigh
	if diff := cmp.Diff(artifacts.TaskFile(was), change.Before); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(artifacts.TaskFile(will), change.After); diff != "" {
		t.Error(diff)
	}
	fourth := task("d", "two", 0, "third")
	fourth.Name, fourth.Body = "Fourth", "Do it."
	if diff := cmp.Diff(artifacts.TaskFile(fourth), added.After); diff != "" || added.Before != "" || added.Title != "Fourth" || added.File != "tasks/daaaaaaaaaaa.md" {
		t.Errorf("%+v\n%s", added, diff)
	}
	if change.Digest == added.Digest || len(change.Digest) != 64 {
		t.Errorf("digests %s, %s", change.Digest, added.Digest)
	}
}

func TestProposalsOfAPageKnowItsRevision(t *testing.T) {
	t.Parallel()
	s := sale()
	s.Pages[1].Revision = 7
	got, _ := propose(s, agentOf(cw.ModeRefine), nil, nil, nil, output(t, map[string]string{
		"pages/shop": file("Better.", "title: shop"), "pages/cart": file("", "delete: true"),
	}))
	if len(got) != 2 || got[0].BaseRevision != 1 || got[0].After != "" || got[1].BaseRevision != 7 || strings.Contains(got[1].After, "position") {
		t.Errorf("%+v", got)
	}
}

// TestWhySomethingGoes: the reason is the text of the file, and no text that was
// there before.
func TestWhySomethingGoes(t *testing.T) {
	t.Parallel()
	cart := sale().Pages[slices.IndexFunc(sale().Pages, func(d cw.Document) bool { return d.ID == id[cw.PageID]("cart") })]
	for name, c := range map[string]struct{ text, want string }{
		"said in the text": {file("Nobody buys.", "delete: true"), "Nobody buys."},
		"said in the head": {file(cart.Body, "delete: true", "reason: Nobody buys."), "Nobody buys."},
		"the old text":     {file(cart.Body, "delete: true"), ""},
		"nothing":          {file("", "delete: true"), ""},
		"nothing goes":     {file("Nobody buys.", "title: Cart"), ""},
	} {
		got, notes := propose(sale(), agentOf(cw.ModeRefine), nil, nil, nil, output(t, map[string]string{"pages/cart": c.text}))
		if len(got) != 1 || got[0].Reason != c.want || cart.Body == "" {
			t.Errorf("%s: %+v, notes %q", name, got, notes)
		}
	}
	out := output(t, map[string]string{"pages/cart": file(strings.Repeat("ü", 5000), "delete: true")})
	got, _ := propose(sale(), agentOf(cw.ModeRefine), nil, nil, nil, out)
	if reason := got[0].Reason; len(reason) > 4<<10 || !strings.HasSuffix(reason, "ü…") {
		t.Errorf("a long reason has %d bytes: …%q", len(reason), reason[len(reason)-9:])
	}
}

// TestTheSameOutputAgain suggests nothing, whatever became of it the first
// time, and with new ids for the same tasks neither.
func TestTheSameOutputAgain(t *testing.T) {
	t.Parallel()
	agent := agentOf(cw.ModeDetail)
	files := map[string]string{
		"tasks/d":     file("Do it.", "title: Fourth", of("phase", "two")),
		"tasks/e":     file("Do it.", "title: Fifth", of("phase", "two"), ref("depends_on", "d")),
		"tasks/third": file("Better.", "title: third"),
	}
	first, _ := propose(sale(), agent, nil, nil, nil, output(t, files))
	if brief(first) != "create task d, create task e, update task third" && brief(first) != "update task third, create task d, create task e" {
		t.Fatalf("first: %q", brief(first))
	}
	for i := range first {
		first[i].AgentID = agent.ID
	}
	for _, status := range cw.ProposalStatuses() {
		said := slices.Clone(first)
		s := sale()
		for i := range said {
			said[i].Status = status
			if status == cw.ProposalOpen || status == cw.ProposalDismissed {
				s.Proposals = append(s.Proposals, said[i])
			}
		}
		again, notes := propose(s, agent, nil, said, nil, output(t, files))
		if len(again)+len(notes) > 0 {
			t.Errorf("%s: %q, notes %q", status, brief(again), notes)
		}
	}
	open := sale(func(s *cw.InitiativeState) {
		for _, p := range first {
			p.Status = cw.ProposalOpen
			s.Proposals = append(s.Proposals, p)
		}
	})
	renamed := map[string]string{
		"tasks/x": files["tasks/d"], "tasks/y": file("Do it well.", "title: Fifth", of("phase", "two"), ref("depends_on", "x")),
	}
	again, notes := propose(open, agent, nil, first, nil, output(t, renamed))
	if brief(again) != "create task e" || len(notes) > 0 || !strings.Contains(again[0].After, "daaaaaaaaaaa") {
		t.Errorf("with new ids: %q, notes %q", brief(again), notes)
	}
}

// TestWhatWasSaidBefore: of an agent's words about one thing only the last ones
// count, whether the thing was there then or not; nobody repeats an open proposal.
func TestWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	agent := agentOf(cw.ModeDetail)
	says := func(s cw.InitiativeState, text string, said ...cw.Proposal) []cw.Proposal {
		t.Helper()
		got, notes := propose(s, agent, nil, said, nil, output(t, map[string]string{"tasks/d": file(text, "title: Fourth", of("phase", "two"))}))
		if len(notes) > 0 {
			t.Errorf("notes %q", notes)
		}
		for i := range got {
			got[i].Status, got[i].CreatedAt = cw.ProposalOpen, noon.Add(time.Duration(len(said))*time.Second)
			got[i].ID = cw.ProposalID(fmt.Sprint(len(said)))
		}
		return got
	}
	first := says(sale(), "One.")
	second := says(sale(func(s *cw.InitiativeState) { s.Proposals = first }), "Two.", first...)
	first[0].Status = cw.ProposalSuperseded
	open := sale(func(s *cw.InitiativeState) { s.Proposals = second })
	again := says(open, "One.", first[0], second[0])
	if len(again) != 1 || again[0].Digest == first[0].Digest {
		t.Errorf("the first words again: %q", brief(again))
	}
	if got := says(open, "Two."); len(got) > 0 {
		t.Errorf("somebody else repeats %q", brief(got))
	}
	accepted := sale(func(s *cw.InitiativeState) {
		fourth := task("d", "two", 1)
		fourth.Name, fourth.Body, fourth.UpdatedAt = "Fourth", "A person's words.", noon
		s.Tasks = append(s.Tasks, fourth)
	})
	if got := says(accepted, "Two.", second...); len(got) > 0 {
		t.Errorf("what a person changed since is suggested again: %q", brief(got))
	}
	later := says(accepted, "Three.", second...)
	find(accepted.Tasks, func(t cw.Task) bool { return t.Name == "Fourth" }).UpdatedAt = noon.Add(time.Hour)
	if once := says(accepted, "Three.", second...); len(later) != 1 || len(once) != 1 || later[0].Digest == once[0].Digest {
		t.Errorf("about a task that changed: %q, %q", brief(later), brief(once))
	}
}

func TestDependenciesOnOpenProposals(t *testing.T) {
	t.Parallel()
	agent := agentOf(cw.ModeDetail)
	first, _ := propose(sale(), agent, nil, nil, nil, output(t, map[string]string{"tasks/d": file("Do it.", "title: Fourth", of("phase", "two"))}))
	files := map[string]string{"tasks/e": file("Do it.", "title: Fifth", of("phase", "two"), ref("depends_on", "d"))}
	for status, want := range map[cw.ProposalStatus]string{cw.ProposalOpen: "create task e", cw.ProposalDismissed: ""} {
		first[0].Status = status
		got, _ := propose(sale(func(s *cw.InitiativeState) { s.Proposals = first }), agent, nil, nil, nil, output(t, files))
		if brief(got) != want {
			t.Errorf("%s: %q", status, brief(got))
		}
	}
}

func TestForeignIDs(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{id[string]("d"): true}
	got, notes := propose(sale(), agentOf(cw.ModePlan), nil, nil, taken, output(t, map[string]string{
		"phases/d": file("Aim.", "title: D"), "phases/e": file("Aim.", "title: E"),
	}))
	if brief(got) != "create phase e" || len(notes) != 1 || !strings.Contains(notes[0], "another initiative") {
		t.Errorf("%q, notes %q", brief(got), notes)
	}
}

// TestProblemsAreTold, the first of many.
func TestProblemsAreTold(t *testing.T) {
	t.Parallel()
	out := artifacts.Output{Problems: []artifacts.Problem{{File: "tasks/x.md", Line: 3, Text: "no list"}, {File: "SUMMARY.md", Text: "too large"}}}
	for range 100 {
		out.Problems = append(out.Problems, artifacts.Problem{File: "tasks/y.md", Text: "bad"})
	}
	_, notes := propose(sale(), agentOf(cw.ModeDetail), nil, nil, nil, out)
	if len(notes) != notesMax+1 || notes[0] != "tasks/x.md, line 3: no list" || notes[1] != "SUMMARY.md: too large" || notes[notesMax] != "and 52 more files were left out" {
		t.Errorf("%d notes: %q", len(notes), notes)
	}
}

func TestManyTasksAtOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 500 {
		name := "t" + strings.Map(func(r rune) rune { return r - '0' + 'b' }, fmt.Sprintf("%03d", i))
		files["tasks/"+name] = file("Do.", "title: "+name, of("phase", "two"), ref("depends_on", "third"))
	}
	got, notes := propose(sale(), agentOf(cw.ModeDetail), nil, nil, nil, output(t, files))
	if len(got) != 500 || len(notes) > 0 {
		t.Errorf("%d proposals, notes %q", len(got), notes)
	}
}
