package servicetest

import (
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// initiative makes one with three phases, the second after the first, and a
// task in each of these two.
func initiative(t *testing.T, f Fixture) cw.InitiativeView {
	t.Helper()
	ctx, s := soon(t), f.Services
	made, err := s.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "Spring sale <&> ü", Goal: "Prices can be\nlowered"})
	ok(t, err)
	var before []cw.PhaseID
	for _, name := range []string{"Rules", "Window", "Later"} {
		ph, err := s.CreatePhase(ctx, cw.CreatePhaseRequest{Initiative: made.Slug, Name: name, Body: "What is to come of it", DependsOn: before})
		ok(t, err)
		before = []cw.PhaseID{ph.ID}
		if name == "Later" {
			break
		}
		_, err = s.CreateTask(ctx, cw.CreateTaskRequest{PhaseID: ph.ID, Name: name + ": first", Body: "Do it.", Paths: []string{"a/**"}, Checks: []string{"it works"}})
		ok(t, err)
	}
	v, err := s.Initiative(ctx, string(made.ID))
	ok(t, err)
	return v
}

// initiativesCase: one is made with its first page, found in both ways, listed,
// changed, archived and taken out again; nothing changes in an archived one.
func initiativesCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	req := cw.CreateInitiativeRequest{Start: true, Name: "Spring sale"}
	first, err := s.CreateInitiative(ctx, req)
	ok(t, err)
	second, err := s.CreateInitiative(ctx, req)
	ok(t, err)
	if first.Slug == second.Slug || first.Status != cw.InitiativeActive || first.Goal != req.Name || first.Projects == nil || !cw.IsID(string(first.RootPageID)) {
		t.Errorf("made %+v and %+v", first, second)
	}
	for _, ref := range []string{string(first.ID), first.Slug} {
		v, err := s.Initiative(ctx, ref)
		ok(t, err)
		if v.ID != first.ID || v.Branch != first.Branch() || len(v.Pages) != 1 || v.Pages[0].ID != first.RootPageID || v.Phases == nil || v.Tasks == nil {
			t.Errorf("by %s: %+v", ref, v)
		}
	}
	slugs := func(archived bool) []string {
		all := walk(t, 1, "name", func(q cw.PageQuery) (cw.Page[cw.Initiative], error) {
			return s.Initiatives(ctx, cw.InitiativeFilter{PageQuery: q, Archived: archived})
		})
		out := []string{}
		for _, i := range all {
			out = append(out, i.Slug)
		}
		slices.Sort(out)
		return out
	}
	if diff := cmp.Diff([]string{first.Slug, second.Slug}, slugs(false)); diff != "" {
		t.Error(diff)
	}
	name, yes, no := "Summer sale", true, false
	edited, err := s.EditInitiative(ctx, first.Slug, cw.InitiativeEdit{Name: &name})
	ok(t, err)
	archived, err := s.EditInitiative(ctx, second.Slug, cw.InitiativeEdit{Archived: &yes})
	ok(t, err)
	if edited.Name != name || edited.Slug != first.Slug || archived.Status != cw.InitiativeArchived {
		t.Errorf("edited %+v, archived %+v", edited, archived)
	}
	if diff := cmp.Diff([][]string{{first.Slug}, {second.Slug}}, [][]string{slugs(false), slugs(true)}); diff != "" {
		t.Error(diff)
	}
	_, err = s.EditInitiative(ctx, second.Slug, cw.InitiativeEdit{Name: &name})
	wantCode(t, "EditInitiative in the archive", err, cw.CodeRefused)
	_, err = s.CreatePage(ctx, cw.CreatePageRequest{Initiative: second.Slug, Title: "x"})
	wantCode(t, "CreatePage in the archive", err, cw.CodeRefused)
	_, err = s.CreatePhase(ctx, cw.CreatePhaseRequest{Initiative: second.Slug, Name: "x"})
	wantCode(t, "CreatePhase in the archive", err, cw.CodeRefused)
	_, err = s.EditPage(ctx, second.RootPageID, cw.PageEdit{Title: &name})
	wantCode(t, "EditPage in the archive", err, cw.CodeRefused)
	_, err = s.EditInitiative(ctx, second.Slug, cw.InitiativeEdit{Archived: &no})
	ok(t, err)
	_, err = s.EditPage(ctx, second.RootPageID, cw.PageEdit{Title: &name})
	ok(t, err)
	initiativeEventsCase(t, f, first.ID)
}

// initiativeEventsCase: what happened to an initiative is told, and found by it.
func initiativeEventsCase(t *testing.T, f Fixture, id cw.InitiativeID) {
	t.Helper()
	var types []cw.EventType
	for _, e := range collect(t, f.Services.Events(soon(t), cw.EventQuery{Initiative: string(id)})) {
		types = append(types, e.Type)
	}
	if diff := cmp.Diff([]cw.EventType{cw.EventInitiativeCreated, cw.EventPageCreated, cw.EventInitiativeChanged}, types); diff != "" {
		t.Errorf("events: %s", diff)
	}
}

// badInitiativesCase: what is wrong is refused by its kind.
func badInitiativesCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	for _, name := range []string{"", " ", "a\nb", strings.Repeat("x", cw.NameMax+1)} {
		_, err := s.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: name})
		wantCode(t, "CreateInitiative "+name, err, cw.CodeInvalid)
	}
	_, err := s.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "x", Goal: strings.Repeat("x", cw.BodyMax+1)})
	wantCode(t, "a long goal", err, cw.CodeInvalid)
	_, err = s.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "x", Projects: []string{unknown}})
	wantCode(t, "no project", err, cw.CodeNotFound)
	_, err = s.Initiatives(ctx, cw.InitiativeFilter{PageQuery: cw.PageQuery{Sort: "goal"}})
	wantCode(t, "no order", err, cw.CodeInvalid)
	for _, ref := range []string{unknown, cw.NewID(), "a/b", "..", "a b", "ü?#%2F"} {
		_, err := s.Initiative(ctx, ref)
		wantCode(t, "Initiative "+ref, err, cw.CodeNotFound)
		_, err = s.EditInitiative(ctx, ref, cw.InitiativeEdit{Name: &ref})
		wantCode(t, "EditInitiative "+ref, err, cw.CodeNotFound)
		_, err = s.Pages(ctx, ref)
		wantCode(t, "Pages "+ref, err, cw.CodeNotFound)
		_, err = s.CreatePage(ctx, cw.CreatePageRequest{Initiative: ref, Title: "x"})
		wantCode(t, "CreatePage "+ref, err, cw.CodeNotFound)
		_, err = s.PageByID(ctx, cw.PageID(ref))
		wantCode(t, "PageByID "+ref, err, cw.CodeNotFound)
		_, err = s.EditPage(ctx, cw.PageID(ref), cw.PageEdit{Title: &ref})
		wantCode(t, "EditPage "+ref, err, cw.CodeNotFound)
		_, err = s.RemovePage(ctx, cw.PageID(ref))
		wantCode(t, "RemovePage "+ref, err, cw.CodeNotFound)
		_, err = s.Phases(ctx, ref)
		wantCode(t, "Phases "+ref, err, cw.CodeNotFound)
		_, err = s.CreatePhase(ctx, cw.CreatePhaseRequest{Initiative: ref, Name: "x"})
		wantCode(t, "CreatePhase "+ref, err, cw.CodeNotFound)
		_, err = s.Phase(ctx, cw.PhaseID(ref))
		wantCode(t, "Phase "+ref, err, cw.CodeNotFound)
		_, err = s.EditPhase(ctx, cw.PhaseID(ref), cw.PhaseEdit{Name: &ref})
		wantCode(t, "EditPhase "+ref, err, cw.CodeNotFound)
		_, err = s.Tasks(ctx, cw.TaskFilter{Initiative: ref})
		wantCode(t, "Tasks "+ref, err, cw.CodeNotFound)
		_, err = s.Tasks(ctx, cw.TaskFilter{PhaseID: cw.PhaseID(ref)})
		wantCode(t, "Tasks of the phase "+ref, err, cw.CodeNotFound)
		_, err = s.CreateTask(ctx, cw.CreateTaskRequest{PhaseID: cw.PhaseID(ref), Name: "x"})
		wantCode(t, "CreateTask "+ref, err, cw.CodeNotFound)
		_, err = s.Task(ctx, cw.TaskID(ref))
		wantCode(t, "Task "+ref, err, cw.CodeNotFound)
		_, err = s.EditTask(ctx, cw.TaskID(ref), cw.TaskEdit{Name: &ref})
		wantCode(t, "EditTask "+ref, err, cw.CodeNotFound)
		_, err = s.Proposal(ctx, cw.ProposalID(ref))
		wantCode(t, "Proposal "+ref, err, cw.CodeNotFound)
		_, err = s.AcceptProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{cw.ProposalID(ref)}})
		wantCode(t, "AcceptProposals "+ref, err, cw.CodeNotFound)
		_, err = s.DismissProposals(ctx, cw.ProposalChoice{Initiative: ref})
		wantCode(t, "DismissProposals "+ref, err, cw.CodeNotFound)
		_, err = s.Proposals(ctx, cw.ProposalFilter{Agent: ref})
		wantCode(t, "Proposals "+ref, err, cw.CodeNotFound)
	}
	_, err = s.Tasks(ctx, cw.TaskFilter{})
	wantCode(t, "nobody's tasks", err, cw.CodeInvalid)
	for _, c := range []cw.ProposalChoice{{}, {Agent: "x", Initiative: "y"}} {
		_, err = s.AcceptProposals(ctx, c)
		wantCode(t, "AcceptProposals of nothing", err, cw.CodeInvalid)
		_, err = s.DismissProposals(ctx, c)
		wantCode(t, "DismissProposals of nothing", err, cw.CodeInvalid)
	}
}

// pageDocumentCase: a page goes through the editor, keeps what was not edited, and
// is not stored over a change that was not seen.
func pageDocumentCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	v := initiative(t, f)
	page, err := s.CreatePage(ctx, cw.CreatePageRequest{Initiative: v.Slug, Title: "T", Body: "# Head\n\nsome *text* <&>\n"})
	ok(t, err)
	doc, err := s.PageDocument(ctx, page.ID)
	ok(t, err)
	if doc.Page != page.ID || doc.Revision != 1 {
		t.Errorf("the document: %+v", doc)
	}
	edited := strings.Replace(string(doc.Document), "Head", "Other", 1)
	after, err := s.EditPageDocument(ctx, page.ID, cw.EditorEdit{Revision: 1, Document: []byte(edited)})
	ok(t, err)
	stored, err := s.PageByID(ctx, page.ID)
	ok(t, err)
	if after.Revision != 2 || stored.Revision != 2 || stored.Body != "# Other\n\nsome *text* <&>\n" {
		t.Errorf("revision %d, %q", after.Revision, stored.Body)
	}
	_, err = s.EditPageDocument(ctx, page.ID, cw.EditorEdit{Revision: 1, Document: doc.Document})
	wantCode(t, "over a change that was not seen", err, cw.CodeRefused)
	for name, bad := range map[string]cw.EditorEdit{
		"no revision": {Document: doc.Document}, "no document": {Revision: 2, Document: []byte(`{"type":"paragraph"}`)},
		"a list": {Revision: 2, Document: []byte(`[]`)}, "unknown": {Revision: 2, Document: []byte(`{"type":"doc","content":[{"type":"video"}]}`)},
	} {
		_, err = s.EditPageDocument(ctx, page.ID, bad)
		wantCode(t, name, err, cw.CodeInvalid)
	}
	odd := "a <b>bold</b> word  \r\n\r\nTitle\r\n===\r\n* item"
	_, err = s.EditPage(ctx, page.ID, cw.PageEdit{Body: &odd})
	ok(t, err)
	doc, err = s.PageDocument(ctx, page.ID)
	ok(t, err)
	for _, tt := range []struct{ old, now, want string }{
		{"", "", odd},
		{`"Title"`, `"Head"`, "a <b>bold</b> word  \r\n\r\n# Head\r\n* item"},
	} {
		edited = strings.Replace(string(doc.Document), tt.old, tt.now, 1)
		doc, err = s.EditPageDocument(ctx, page.ID, cw.EditorEdit{Revision: doc.Revision, Document: []byte(edited)})
		ok(t, err)
		if stored, err = s.PageByID(ctx, page.ID); err != nil || stored.Body != tt.want {
			t.Errorf("%q for %q: %q, %v", tt.now, tt.old, stored.Body, err)
		}
	}
	_, err = s.PageDocument(ctx, cw.PageID(unknown))
	wantCode(t, "no page", err, cw.CodeNotFound)
}

// pageTreeCase: pages are a tree that can be changed and moved, but not below
// itself, and not over a change that was not seen.
func pageTreeCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	v := initiative(t, f)
	root := v.RootPageID
	page := func(parent cw.PageID, title string) cw.Document {
		d, err := s.CreatePage(ctx, cw.CreatePageRequest{Initiative: v.Slug, ParentID: parent, Title: title, Body: "# " + title + "\r\n<&>\t\n"})
		ok(t, err)
		return d
	}
	a, c := page("", "A"), page(root, "C")
	b := page(a.ID, "B")
	titles := func() string {
		pages, err := s.Pages(ctx, string(v.ID))
		ok(t, err)
		var out []string
		for _, d := range pages {
			if d.Body != "" {
				t.Errorf("a list tells the text of %s", d.Title)
			}
			out = append(out, d.Title)
		}
		return strings.Join(out[1:], "")
	}
	if got := titles(); got != "ABC" || a.ParentID != root || b.Revision != 1 {
		t.Errorf("the tree is %s, A below %s", got, a.ParentID)
	}
	whole, err := s.PageByID(ctx, b.ID)
	ok(t, err)
	if diff := cmp.Diff(b, whole); diff != "" || b.Body != "# B\r\n<&>\t\n" {
		t.Errorf("%s %q", diff, b.Body)
	}
	text := ""
	edited, err := s.EditPage(ctx, b.ID, cw.PageEdit{Body: &text, Revision: 1})
	ok(t, err)
	if edited.Revision != 2 || edited.Body != "" || edited.Title != "B" {
		t.Errorf("edited %+v", edited)
	}
	_, err = s.EditPage(ctx, b.ID, cw.PageEdit{Title: &text, Revision: 1})
	wantCode(t, "a page that changed since", err, cw.CodeRefused)
	_, err = s.EditPage(ctx, b.ID, cw.PageEdit{Title: &text})
	wantCode(t, "a page without a title", err, cw.CodeInvalid)
	_, err = s.EditPage(ctx, a.ID, cw.PageEdit{ParentID: &b.ID})
	wantCode(t, "a page below itself", err, cw.CodeRefused)
	if !strings.Contains(err.Error(), "→") {
		t.Errorf("the way around is not told: %v", err)
	}
	first := 0
	_, err = s.EditPage(ctx, c.ID, cw.PageEdit{ParentID: &a.ID, Position: &first})
	ok(t, err)
	if got := titles(); got != "ACB" {
		t.Errorf("moved to %s", got)
	}
	_, err = s.RemovePage(ctx, a.ID)
	wantCode(t, "a page with pages below it", err, cw.CodeRefused)
	_, err = s.RemovePage(ctx, root)
	wantCode(t, "the first page", err, cw.CodeRefused)
	gone, err := s.RemovePage(ctx, c.ID)
	ok(t, err)
	_, err = s.PageByID(ctx, c.ID)
	wantCode(t, "a removed page", err, cw.CodeNotFound)
	if got := titles(); got != "AB" || gone.DeletedAt == nil {
		t.Errorf("left %s, gone %+v", got, gone)
	}
}

// phasesAndTasksCase: they are in order, depend on each other but never in a
// circle, and change their status as the tables say.
func phasesAndTasksCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	v := initiative(t, f)
	if len(v.Phases) != 3 || len(v.Tasks) != 2 || v.Tasks[0].PhaseID != v.Phases[0].ID {
		t.Fatalf("%+v", v)
	}
	rules, window, later := v.Phases[0], v.Phases[1], v.Phases[2]
	listsWithoutTexts(t, f, v)
	if rules.Status != cw.PhaseApproved || rules.DependsOn == nil || !slices.Equal(window.DependsOn, []cw.PhaseID{rules.ID}) {
		t.Errorf("phases %+v", v.Phases)
	}
	_, err := s.EditPhase(ctx, rules.ID, cw.PhaseEdit{DependsOn: &[]cw.PhaseID{later.ID}})
	wantCode(t, "phases in a circle", err, cw.CodeInvalid)
	for _, id := range []cw.PhaseID{rules.ID, window.ID, later.ID} {
		if !strings.Contains(err.Error(), string(id)) {
			t.Errorf("the way around leaves %s out: %v", id, err)
		}
	}
	for what, on := range map[string]cw.PhaseID{"itself": rules.ID, "none": cw.PhaseID(cw.NewID()), "a task": cw.PhaseID(v.Tasks[0].ID), "nothing": ""} {
		_, err := s.EditPhase(ctx, rules.ID, cw.PhaseEdit{DependsOn: &[]cw.PhaseID{on}})
		wantCode(t, "a phase that depends on "+what, err, cw.CodeInvalid)
	}
	last := 2
	_, err = s.EditPhase(ctx, rules.ID, cw.PhaseEdit{Position: &last})
	ok(t, err)
	phases, err := s.Phases(ctx, v.Slug)
	ok(t, err)
	if phases[2].ID != rules.ID || phases[0].ID != window.ID || phases[2].Position != 2 {
		t.Errorf("moved: %+v", phases)
	}
	running, archived := cw.PhaseRunning, cw.PhaseArchived
	_, err = s.EditPhase(ctx, later.ID, cw.PhaseEdit{Status: &running})
	wantCode(t, "a status that is not a person's", err, cw.CodeInvalid)
	put, err := s.EditPhase(ctx, later.ID, cw.PhaseEdit{Status: &archived})
	ok(t, err)
	found, err := s.Phase(ctx, later.ID)
	ok(t, err)
	if put.Status != cw.PhaseArchived || found.Status != cw.PhaseArchived {
		t.Errorf("archived %s, found %s", put.Status, found.Status)
	}
	tasksCase(t, f, v)
}

// listsWithoutTexts: a list tells no text of what is in it, and the thing itself
// does.
func listsWithoutTexts(t *testing.T, f Fixture, v cw.InitiativeView) {
	t.Helper()
	ctx, s := soon(t), f.Services
	phases, err := s.Phases(ctx, v.Slug)
	ok(t, err)
	tasks, err := s.Tasks(ctx, cw.TaskFilter{Initiative: v.Slug})
	ok(t, err)
	inPhase, err := s.Tasks(ctx, cw.TaskFilter{PhaseID: v.Phases[0].ID})
	ok(t, err)
	for _, ph := range slices.Concat(v.Phases, phases) {
		whole, err := s.Phase(ctx, ph.ID)
		ok(t, err)
		if ph.Body != "" || whole.Body != "What is to come of it" {
			t.Errorf("the phase %s: listed with %q, itself %q", ph.Name, ph.Body, whole.Body)
		}
	}
	for _, task := range slices.Concat(v.Tasks, tasks, inPhase) {
		whole, err := s.Task(ctx, task.ID)
		ok(t, err)
		if task.Body != "" || whole.Body != "Do it." {
			t.Errorf("the task %s: listed with %q, itself %q", task.Name, task.Body, whole.Body)
		}
	}
}

func tasksCase(t *testing.T, f Fixture, v cw.InitiativeView) {
	t.Helper()
	ctx, s := soon(t), f.Services
	one, two := v.Tasks[0], v.Tasks[1]
	if one.Type != cw.TaskAuto || one.Size != cw.SizeMedium || one.Priority != cw.PriorityMedium || one.Status != cw.TaskPending || one.DependsOn == nil {
		t.Errorf("made %+v", one)
	}
	edited, err := s.EditTask(ctx, two.ID, cw.TaskEdit{DependsOn: &[]cw.TaskID{one.ID}, Paths: &[]string{}})
	ok(t, err)
	if !slices.Equal(edited.DependsOn, []cw.TaskID{one.ID}) || len(edited.Paths) != 0 || edited.Paths == nil || len(edited.Checks) != 1 {
		t.Errorf("edited %+v", edited)
	}
	_, err = s.EditTask(ctx, one.ID, cw.TaskEdit{DependsOn: &[]cw.TaskID{two.ID}})
	wantCode(t, "tasks in a circle", err, cw.CodeInvalid)
	odd := cw.TaskType("manual")
	_, err = s.EditTask(ctx, one.ID, cw.TaskEdit{Type: &odd})
	wantCode(t, "no type", err, cw.CodeInvalid)
	done, cancelled := cw.TaskDone, cw.TaskCancelled
	_, err = s.EditTask(ctx, one.ID, cw.TaskEdit{Status: &done})
	ok(t, err)
	_, err = s.EditTask(ctx, one.ID, cw.TaskEdit{Status: &cancelled})
	wantCode(t, "a done task cannot be cancelled", err, cw.CodeRefused)
	listed, err := s.Initiatives(ctx, cw.InitiativeFilter{PageQuery: cw.PageQuery{Limit: cw.PageMax}})
	ok(t, err)
	if at := slices.IndexFunc(listed.Items, func(i cw.Initiative) bool { return i.ID == v.ID }); at < 0 {
		t.Error("the initiative is not listed")
	} else if diff := cmp.Diff(&cw.Progress{Tasks: 2, Done: 1}, listed.Items[at].Progress); diff != "" {
		t.Error("progress: " + diff)
	}
	for what, c := range map[string]struct {
		filter cw.TaskFilter
		want   []cw.TaskID
	}{
		"all":       {cw.TaskFilter{Initiative: v.Slug}, []cw.TaskID{one.ID, two.ID}},
		"done":      {cw.TaskFilter{Initiative: string(v.ID), Statuses: []cw.TaskStatus{cw.TaskDone, cw.TaskRunning}}, []cw.TaskID{one.ID}},
		"phase":     {cw.TaskFilter{PhaseID: two.PhaseID}, []cw.TaskID{two.ID}},
		"both":      {cw.TaskFilter{Initiative: v.Slug, PhaseID: one.PhaseID}, []cw.TaskID{one.ID}},
		"cancelled": {cw.TaskFilter{PhaseID: two.PhaseID, Statuses: []cw.TaskStatus{cw.TaskCancelled}}, []cw.TaskID{}},
	} {
		tasks, err := s.Tasks(ctx, c.filter)
		ok(t, err)
		got := []cw.TaskID{}
		for _, task := range tasks {
			got = append(got, task.ID)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// decisionsCase: a decision keeps what it asks, and only a decision asks; what
// nobody could answer, and answers that nobody gave, are refused.
func decisionsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	v := initiative(t, f)
	asked := []cw.TaskQuestion{
		{ID: "colour", Header: "Colour", Text: "Which <&> ü?", Options: []cw.QuestionOption{{Label: "blue", Description: "as the logo"}, {Label: "red"}}, MultiSelect: true},
		{Text: "Why?\nSay it."},
	}
	req := cw.CreateTaskRequest{PhaseID: v.Phases[0].ID, Name: "Choose", Type: cw.TaskCheckpointDecide, DependsOn: []cw.TaskID{v.Tasks[0].ID}, Questions: asked}
	made, err := s.CreateTask(ctx, req)
	ok(t, err)
	want := cw.FilledQuestions(asked)
	got, err := s.Task(ctx, made.ID)
	ok(t, err)
	if diff := cmp.Diff([][]cw.TaskQuestion{want, want}, [][]cw.TaskQuestion{made.Questions, got.Questions}); diff != "" {
		t.Errorf("made, and read (-want +got):\n%s", diff)
	}
	listed, err := s.Tasks(ctx, cw.TaskFilter{PhaseID: v.Phases[0].ID})
	ok(t, err)
	for _, task := range listed {
		if task.Questions != nil {
			t.Errorf("%s is listed with what it asks", task.Name)
		}
	}
	answered := []cw.TaskQuestion{{Text: "Why?", Answer: "so"}}
	for what, questions := range map[string][]cw.TaskQuestion{
		"no text": {{ID: "a"}}, "no id": {{ID: "a b", Text: "Why?"}}, "an id twice": {{ID: "a", Text: "Why?"}, {ID: "a", Text: "How?"}},
		"no label": {{Text: "Why?", Options: []cw.QuestionOption{{}}}}, "an answer": answered, "too many": make([]cw.TaskQuestion, cw.TaskQuestionsMax+1),
	} {
		bad := req
		bad.Questions = questions
		_, err := s.CreateTask(ctx, bad)
		wantCode(t, "CreateTask with "+what, err, cw.CodeInvalid)
		_, err = s.EditTask(ctx, made.ID, cw.TaskEdit{Questions: &questions})
		wantCode(t, "EditTask with "+what, err, cw.CodeInvalid)
	}
	auto := req
	auto.Type = cw.TaskAuto
	_, err = s.CreateTask(ctx, auto)
	wantCode(t, "CreateTask with questions of a task for agents", err, cw.CodeInvalid)
	_, err = s.EditTask(ctx, made.ID, cw.TaskEdit{Type: &auto.Type})
	wantCode(t, "EditTask to a task for agents", err, cw.CodeInvalid)
	for what, verdict := range map[string]cw.TaskVerdict{
		"a rejection": {Comment: "no", Answers: map[string]string{"colour": "blue"}}, "answers that are too long": {Accept: true, Answers: map[string]string{"q2": strings.Repeat("x", cw.VerdictMax)}},
	} {
		_, err := s.DecideTask(ctx, made.ID, verdict)
		wantCode(t, "DecideTask with "+what, err, cw.CodeInvalid)
	}
	_, err = s.DecideTask(ctx, made.ID, cw.TaskVerdict{Accept: true, Answers: map[string]string{"colour": "blue", "q2": "so"}})
	wantCode(t, "DecideTask of what is not reached", err, cw.CodeRefused)
	edited, err := s.EditTask(ctx, made.ID, cw.TaskEdit{Questions: &[]cw.TaskQuestion{}})
	ok(t, err)
	if edited.Questions != nil {
		t.Errorf("it asks %+v", edited.Questions)
	}
}

// proposalsCase: what an agent suggests is listed, shown beside what it changes,
// and accepted or dismissed once.
func proposalsCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	v := initiative(t, f)
	suggest := func(title string) cw.Proposal {
		id := cw.NewID()
		return cw.Proposal{
			ID: cw.ProposalID(cw.NewID()), Target: cw.TargetPage, TargetID: id, Action: cw.ActionCreate, Title: title, File: "pages/" + id + ".md",
			After: "---\nid: " + id + "\ntitle: " + title + "\nparent: " + string(v.RootPageID) + "\n---\nTo whole cents.\n", Digest: id,
		}
	}
	good, bad := suggest("Rounding"), suggest("Colours")
	agent := f.Suggest(t, v.ID, good, bad)
	for _, ref := range []string{v.Slug, string(v.ID)} {
		page, err := s.Agents(ctx, cw.AgentFilter{Initiative: ref})
		ok(t, err)
		if len(page.Items) != 1 || page.Items[0].Alias != agent || page.Items[0].InitiativeID != v.ID {
			t.Errorf("the agents of %s: %v", ref, agentNames(page.Items))
		}
	}
	seen, err := s.Initiative(ctx, v.Slug)
	ok(t, err)
	open := walk(t, 1, "createdAt", func(q cw.PageQuery) (cw.Page[cw.Proposal], error) {
		return s.Proposals(ctx, cw.ProposalFilter{PageQuery: q, Initiative: v.Slug, Agent: agent, Statuses: []cw.ProposalStatus{cw.ProposalOpen}})
	})
	if seen.OpenProposals != 2 || len(open) != 2 {
		t.Fatalf("%d are open, listed %+v", seen.OpenProposals, open)
	}
	// Ids are given by whoever takes the proposals in.
	good.ID, bad.ID = open[0].ID, open[1].ID
	if open[0].TargetID != good.TargetID {
		good.ID, bad.ID = bad.ID, good.ID
	}
	view, err := s.Proposal(ctx, good.ID)
	ok(t, err)
	if view.Agent != agent || view.Changed || !strings.Contains(view.Diff, "+To whole cents.") || view.TargetID != good.TargetID || view.Title != good.Title {
		t.Errorf("shown %+v", view)
	}
	accepted, err := s.AcceptProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{good.ID}})
	ok(t, err)
	page, err := s.PageByID(ctx, cw.PageID(good.TargetID))
	ok(t, err)
	if len(accepted) != 1 || accepted[0].Status != cw.ProposalAccepted || accepted[0].DecidedAt == nil || page.Title != "Rounding" || page.ParentID != v.RootPageID {
		t.Errorf("accepted %+v, page %+v", accepted, page)
	}
	_, err = s.AcceptProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{good.ID}})
	wantCode(t, "accepted twice", err, cw.CodeRefused)
	dismissed, err := s.DismissProposals(ctx, cw.ProposalChoice{Agent: agent, Note: "no colours"})
	ok(t, err)
	if len(dismissed) != 1 || dismissed[0].ID != bad.ID || dismissed[0].Note != "no colours" || dismissed[0].Status != cw.ProposalDismissed {
		t.Errorf("dismissed %+v", dismissed)
	}
	_, err = s.PageByID(ctx, cw.PageID(bad.TargetID))
	wantCode(t, "a dismissed page", err, cw.CodeNotFound)
	_, err = s.Proposals(ctx, cw.ProposalFilter{Statuses: []cw.ProposalStatus{"odd"}})
	wantCode(t, "no status", err, cw.CodeInvalid)
}
