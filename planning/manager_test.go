package planning_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/artifacts"
	"cw/internal/cw"
	"cw/internal/store"
	"cw/planning"
)

var _ planning.Store = (*store.DB)(nil)

// desk is a manager over a real store.
type desk struct {
	*planning.Manager
	*testing.T
	db *store.DB
}

func newDesk(t *testing.T) desk {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Version: "v0.1.0-test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return desk{Manager: planning.New(db), T: t, db: db}
}

// person is the context of a person's request.
func (d desk) person() context.Context {
	return cw.WithActor(d.Context(), cw.Actor{Kind: cw.ActorPerson})
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v (hint: %s)", err, cw.ErrorHint(err))
		}
		return v
	}
}

func (d desk) initiative(name string) cw.Initiative {
	d.Helper()
	return must(d.CreateInitiative(d.person(), cw.CreateInitiativeRequest{Start: true, Name: name, Goal: "Sell more."}))(d)
}

func (d desk) phase(i cw.Initiative, name string, after ...cw.PhaseID) cw.Phase {
	d.Helper()
	return must(d.CreatePhase(d.person(), cw.CreatePhaseRequest{Initiative: i.Slug, Name: name, DependsOn: after}))(d)
}

func (d desk) task(ph cw.Phase, name string, after ...cw.TaskID) cw.Task {
	d.Helper()
	return must(d.CreateTask(d.person(), cw.CreateTaskRequest{PhaseID: ph.ID, Name: name, DependsOn: after}))(d)
}

// agent is a running one of an initiative, and its run.
func (d desk) agent(name string, mode cw.Mode, i cw.Initiative) (cw.Agent, cw.RunID) {
	d.Helper()
	run := cw.RunID(cw.NewID())
	a := cw.Agent{
		ID: cw.AgentID(cw.NewID()), Alias: name, Definition: string(mode), Mode: mode, Provider: "script", AccountID: "default-script",
		Title: "x", Status: cw.StatusPending, SessionNumber: 1, InitiativeID: i.ID,
	}
	op := cw.OpID(cw.NewID())
	err := d.db.IntendSpawn(d.Context(), cw.SpawnIntent{
		Agent: a,
		Run:   cw.Run{ID: run, AgentID: a.ID, Kind: cw.RunAgent, SessionNumber: 1, Reason: cw.RunSpawn, Dir: "/runs/" + name},
		Op:    cw.Op{ID: op, Kind: cw.OpSpawn, Status: cw.OpIntended, AgentID: a.ID, RunID: run},
	})
	must(0, err)(d)
	must(0, d.db.SaveStarting(d.Context(), cw.Starting{
		AgentID: a.ID, RunID: run, OpID: op, Step: "shim",
		Message: cw.Message{ID: cw.MessageID(cw.NewID()), Role: cw.RoleUser, Origin: "person", Body: "do it"},
		Token:   cw.Token{ID: cw.TokenID(cw.NewID()), Hash: cw.HashToken(cw.NewToken()), Kind: cw.ActorAgent, Scopes: cw.RunScopes()},
		Event:   cw.NewEvent(cw.EventAgentStarting, cw.Actor{Kind: cw.ActorCW}, nil),
	}))(d)
	must(0, d.db.SaveRunning(d.Context(), cw.Running{AgentID: a.ID, RunID: run, OpID: op, Handle: []byte(`{"v":1}`), PID: 4711}))(d)
	return a, run
}

// leaves gives what an agent left in .cw/output.
func (d desk) leaves(files map[string]string) artifacts.Output {
	d.Helper()
	dir := d.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, ".cw/output", name+".md")
		must(0, os.MkdirAll(filepath.Dir(path), 0o700))(d)
		must(0, os.WriteFile(path, []byte(text), 0o600))(d)
	}
	root := must(os.OpenRoot(dir))(d)
	defer root.Close()
	return must(artifacts.ReadOutput(root, ".cw/output"))(d)
}

// proposes ends an agent's run with its output and gives what is open then.
func (d desk) proposes(a cw.Agent, run cw.RunID, files map[string]string) []cw.Proposal {
	d.Helper()
	proposals, notes, err := d.Propose(d.Context(), a, run, nil, d.leaves(files))
	must(0, err)(d)
	if len(notes) > 0 {
		d.Fatalf("notes: %q", notes)
	}
	must(d.db.FinishRun(d.Context(), cw.Finish{
		AgentID: a.ID, RunID: run, From: []cw.AgentStatus{cw.StatusRunning}, Status: cw.StatusIdle, Proposals: proposals,
	}))(d)
	return must(d.Proposals(d.Context(), cw.ProposalFilter{Agent: a.Alias, Statuses: []cw.ProposalStatus{cw.ProposalOpen}}))(d).Items
}

func wants(t testing.TB, err error, code cw.Code, words ...string) {
	t.Helper()
	text := fmt.Sprint(err, " | ", cw.ErrorHint(err))
	if cw.ErrorCode(err) != code {
		t.Fatalf("%s: code %q, want %q", text, cw.ErrorCode(err), code)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not say %q", text, w)
		}
	}
}

// TestWhatACallGivesIsWhatIsThere: every answer is the row as it is read later.
func TestWhatACallGivesIsWhatIsThere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := d.person()
	i := d.initiative("Summer Sale")
	if i.Slug != "summer-sale" || i.CreatedBy != "person" {
		t.Errorf("%+v", i)
	}
	if again := d.initiative("Summer sale!"); again.Slug != "summer-sale-2" {
		t.Errorf("the second one is called %s", again.Slug)
	}
	same := func(given, read any) {
		t.Helper()
		if diff := cmp.Diff(read, given); diff != "" {
			t.Errorf("the answer differs from what is there (-there +answer):\n%s", diff)
		}
	}
	i = must(d.EditInitiative(ctx, i.Slug, cw.InitiativeEdit{Name: new("Winter sale")}))(t)
	view := must(d.Initiative(ctx, i.Slug))(t)
	same(i, view.Initiative)
	root := must(d.PageByID(ctx, i.RootPageID))(t)
	if root.Title != "Summer Sale" || root.Body != "Sell more." || root.Revision != 1 {
		t.Errorf("%+v", root)
	}
	page := must(d.CreatePage(ctx, cw.CreatePageRequest{Initiative: string(i.ID), Title: " Shop ", Body: "Text."}))(t)
	same(page, must(d.PageByID(ctx, page.ID))(t))
	page = must(d.EditPage(ctx, page.ID, cw.PageEdit{Body: new("Better."), Revision: 1}))(t)
	same(page, must(d.PageByID(ctx, page.ID))(t))
	one := d.phase(i, "One")
	same(one, must(d.Phase(ctx, one.ID))(t))
	two := d.phase(i, "Two", one.ID)
	two = must(d.EditPhase(ctx, two.ID, cw.PhaseEdit{Body: new("Aim."), Position: new(0)}))(t)
	same(two, must(d.Phase(ctx, two.ID))(t))
	first := d.task(one, "First")
	same(first, must(d.Task(ctx, first.ID))(t))
	second := d.task(two, "Second", first.ID)
	second = must(d.EditTask(ctx, second.ID, cw.TaskEdit{Paths: &[]string{"src/**"}, Checks: &[]string{"go test ./..."}, Status: new(cw.TaskDone)}))(t)
	same(second, must(d.Task(ctx, second.ID))(t))
	first.Body, second.Body = "", "" // lists are without texts
	same([]cw.Task{second}, must(d.Tasks(ctx, cw.TaskFilter{PhaseID: two.ID}))(t))
	same([]cw.Task{first}, must(d.Tasks(ctx, cw.TaskFilter{Initiative: i.Slug, Statuses: []cw.TaskStatus{cw.TaskPending}}))(t))
	if phases := must(d.Phases(ctx, i.Slug))(t); len(phases) != 2 || phases[0].ID != two.ID || phases[0].Body != "" {
		t.Errorf("%+v", phases)
	}
	must(d.RemovePage(ctx, page.ID))(t)
	_, err := d.PageByID(ctx, page.ID)
	wants(t, err, cw.CodeNotFound)
	if pages := must(d.Pages(ctx, i.Slug))(t); len(pages) != 1 || pages[0].Body != "" {
		t.Errorf("%+v", pages)
	}
}

func TestInitiativeRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := d.person()
	_, err := d.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: " "})
	wants(t, err, cw.CodeInvalid, "no name")
	_, err = d.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "Sale", Projects: []string{"nowhere"}})
	wants(t, err, cw.CodeNotFound, "nowhere")
	_, err = d.CreateInitiative(ctx, cw.CreateInitiativeRequest{Start: true, Name: "Sale", Projects: make([]string, cw.InitiativeProjects+1)})
	wants(t, err, cw.CodeInvalid, "51", "50")
	if all := must(d.Initiatives(ctx, cw.InitiativeFilter{}))(t); len(all.Items) != 0 {
		t.Errorf("refused ones are there: %+v", all.Items)
	}
	_, err = d.Tasks(ctx, cw.TaskFilter{})
	wants(t, err, cw.CodeInvalid, "whose tasks")
	_, err = d.CreateTask(ctx, cw.CreateTaskRequest{PhaseID: "aaaabbbbcccc", Name: "x"})
	wants(t, err, cw.CodeNotFound)
	other := d.phase(d.initiative("Other"), "One")
	_, err = d.CreatePhase(ctx, cw.CreatePhaseRequest{Initiative: d.initiative("Sale").Slug, Name: "Two", DependsOn: []cw.PhaseID{other.ID}})
	wants(t, err, cw.CodeInvalid, "no such phase")
	a, _ := d.agent("calm-otter", cw.ModePlan, d.initiative("Busy"))
	_, err = d.EditInitiative(ctx, "busy", cw.InitiativeEdit{Archived: new(true)})
	wants(t, err, cw.CodeRefused, a.Alias)
}

// TestArchivedRefusesEverything that changes it.
func TestArchivedRefusesEverything(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := d.person()
	i := d.initiative("Sale")
	page := must(d.CreatePage(ctx, cw.CreatePageRequest{Initiative: i.Slug, Title: "Shop"}))(t)
	ph := d.phase(i, "One")
	task := d.task(ph, "First")
	a, run := d.agent("calm-otter", cw.ModeDiscuss, i)
	open := d.proposes(a, run, map[string]string{"pages/aaaabbbbcccc": "---\ntitle: New\n---\n\nText.\n"})
	must(d.EditInitiative(ctx, i.Slug, cw.InitiativeEdit{Archived: new(true)}))(t)
	for name, change := range map[string]func() error{
		"edit": func() error { _, err := d.EditInitiative(ctx, i.Slug, cw.InitiativeEdit{Goal: new("x")}); return err },
		"create page": func() error {
			_, err := d.CreatePage(ctx, cw.CreatePageRequest{Initiative: i.Slug, Title: "x"})
			return err
		},
		"edit page":   func() error { _, err := d.EditPage(ctx, page.ID, cw.PageEdit{Title: new("x")}); return err },
		"remove page": func() error { _, err := d.RemovePage(ctx, page.ID); return err },
		"create phase": func() error {
			_, err := d.CreatePhase(ctx, cw.CreatePhaseRequest{Initiative: i.Slug, Name: "x"})
			return err
		},
		"edit phase":  func() error { _, err := d.EditPhase(ctx, ph.ID, cw.PhaseEdit{Name: new("x")}); return err },
		"create task": func() error { _, err := d.CreateTask(ctx, cw.CreateTaskRequest{PhaseID: ph.ID, Name: "x"}); return err },
		"edit task":   func() error { _, err := d.EditTask(ctx, task.ID, cw.TaskEdit{Name: new("x")}); return err },
		"accept": func() error {
			_, err := d.AcceptProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{open[0].ID}})
			return err
		},
		"dismiss": func() error { _, err := d.DismissProposals(ctx, cw.ProposalChoice{Agent: a.Alias}); return err },
		"answers": func() error {
			return d.RecordAnswers(ctx, a, []cw.Question{{ID: "q", Text: "Which?", Answer: "x", Status: cw.QuestionAnswered}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, change(), cw.CodeRefused, "is archived", "cw initiative archive sale --undo")
		})
	}
	proposals, notes, err := d.Propose(ctx, a, run, nil, d.leaves(map[string]string{"pages/aaaabbbbdddd": "---\ntitle: x\n---\n\nText.\n"}))
	if len(proposals) > 0 || len(notes) != 1 || err != nil {
		t.Errorf("%+v, %q, %v", proposals, notes, err)
	}
	must(d.EditInitiative(ctx, i.Slug, cw.InitiativeEdit{Archived: new(false)}))(t)
	must(d.AcceptProposals(ctx, cw.ProposalChoice{Initiative: i.Slug}))(t)
}

// TestFromOutputToRows: what agents leave becomes proposals, and those become
// pages, phases and tasks; the same output again suggests nothing.
func TestFromOutputToRows(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := d.person()
	i := d.initiative("Sale")
	talker, run := d.agent("calm-otter", cw.ModeDiscuss, i)
	said := map[string]string{
		"pages/" + string(i.RootPageID): "---\ntitle: Sale\n---\n\nSell much more.\n",
		"decisions/aaaabbbbcccc":        "---\ntitle: No cookies\n---\n\nSee web/login.go.\n",
		"SUMMARY":                       "Done.",
	}
	open := d.proposes(talker, run, said)
	if len(open) != 2 {
		t.Fatalf("%+v", open)
	}
	v := must(d.Proposal(ctx, open[0].ID))(t)
	if v.Agent != "calm-otter" || v.Changed || !strings.Contains(v.Diff, "-Sell more.\n+Sell much more.\n") {
		t.Errorf("%+v", v)
	}
	accepted := must(d.AcceptProposals(ctx, cw.ProposalChoice{Agent: "calm-otter"}))(t)
	if len(accepted) != 2 || accepted[0].Target != cw.TargetPage || accepted[1].Status != cw.ProposalAccepted {
		t.Errorf("%+v", accepted)
	}
	root := must(d.PageByID(ctx, i.RootPageID))(t)
	if !strings.HasPrefix(root.Body, "Sell much more.\n\n## Decisions\n\n### No cookies\n") || root.Revision != 2 || root.UpdatedBy != "calm-otter" {
		t.Errorf("%+v", root)
	}
	planner, run := d.agent("wild-yak", cw.ModePlan, i)
	d.proposes(planner, run, map[string]string{
		"phases/bbbbaaaaaaaa": "---\ntitle: Login\n---\n\nPeople log in.\n",
		"phases/aaaabbbbbbbb": "---\ntitle: Shop\ndepends_on: bbbbaaaaaaaa\n---\n\nPeople buy.\n",
	})
	must(d.AcceptProposals(ctx, cw.ProposalChoice{Initiative: i.Slug}))(t)
	detailer, run := d.agent("sly-fox", cw.ModeDetail, i)
	tasks := map[string]string{
		"tasks/ccccaaaaaaaa": "---\ntitle: Form\nphase: bbbbaaaaaaaa\npaths: [web/**]\n---\n\nMake the form.\n",
		"tasks/ddddaaaaaaaa": "---\ntitle: Store\nphase: bbbbaaaaaaaa\ndepends_on: [ccccaaaaaaaa]\n---\n\nStore it.\n",
	}
	open = d.proposes(detailer, run, tasks)
	_, err := d.AcceptProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{open[1].ID}})
	wants(t, err, cw.CodeRefused, string(open[0].ID))
	must(d.AcceptProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{open[1].ID, open[0].ID, open[1].ID}}))(t)
	v2 := must(d.Initiative(ctx, i.Slug))(t)
	if len(v2.Phases) != 2 || v2.Phases[0].Name != "Login" || v2.Phases[0].Status != cw.PhaseApproved || len(v2.Tasks) != 2 || v2.Tasks[0].Name != "Form" ||
		v2.Tasks[0].Status != cw.TaskPending || v2.OpenProposals != 0 {
		t.Errorf("%+v", v2)
	}
	other, _ := d.agent("old-owl", cw.ModeDetail, i)
	for _, again := range []struct {
		agent cw.Agent
		files map[string]string
	}{{talker, said}, {detailer, tasks}, {other, tasks}} {
		if proposals, notes, err := d.Propose(ctx, again.agent, "run", nil, d.leaves(again.files)); len(proposals)+len(notes) > 0 || err != nil {
			t.Errorf("again: %+v, %q, %v", proposals, notes, err)
		}
	}
	in := must(d.Assignment(ctx, detailer))(t)
	if len(in.Tasks) != 2 || in.Initiative.ID != i.ID {
		t.Errorf("%+v", in)
	}
	if in := must(d.Assignment(ctx, cw.Agent{Alias: "alone"}))(t); in.Agent.Alias != "alone" || in.Initiative.ID != "" {
		t.Errorf("%+v", in)
	}
}

func TestDismissed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := d.person()
	i := d.initiative("Sale")
	a, run := d.agent("calm-otter", cw.ModePlan, i)
	files := map[string]string{"phases/aaaabbbbbbbb": "---\ntitle: Shop\n---\n\nPeople buy.\n"}
	open := d.proposes(a, run, files)
	_, err := d.DismissProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{open[0].ID}, Note: strings.Repeat("x", 10_001)})
	wants(t, err, cw.CodeInvalid, "10001")
	gone := must(d.DismissProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{open[0].ID}, Note: " Not now. "}))(t)
	if len(gone) != 1 || gone[0].Status != cw.ProposalDismissed || gone[0].Note != "Not now." || gone[0].DecidedBy != "person" {
		t.Errorf("%+v", gone)
	}
	for _, decide := range []func(context.Context, cw.ProposalChoice) ([]cw.Proposal, error){d.AcceptProposals, d.DismissProposals} {
		_, err = decide(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{open[0].ID}})
		wants(t, err, cw.CodeRefused, "dismissed already")
		_, err = decide(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{"aaaabbbbcccc"}})
		wants(t, err, cw.CodeNotFound)
		_, err = decide(ctx, cw.ProposalChoice{})
		wants(t, err, cw.CodeInvalid)
		if none := must(decide(ctx, cw.ProposalChoice{Initiative: i.Slug}))(t); none == nil || len(none) > 0 {
			t.Errorf("of nothing: %+v", none)
		}
	}
	if in := must(d.Assignment(ctx, a))(t); len(in.Dismissed) != 1 || in.Dismissed[0].Note != "Not now." {
		t.Errorf("the next agent is told %+v", in.Dismissed)
	}
	if again, _, err := d.Propose(ctx, a, run, nil, d.leaves(files)); len(again) > 0 || err != nil {
		t.Errorf("again: %+v, %v", again, err)
	}
	owl, run := d.agent("old-owl", cw.ModePlan, i)
	d.proposes(owl, run, map[string]string{"phases/ccccbbbbbbbb": "---\ntitle: Till\n---\n\nPay.\n"})
	fox, run := d.agent("sly-fox", cw.ModePlan, i)
	theirs := d.proposes(fox, run, map[string]string{"phases/ddddbbbbbbbb": "---\ntitle: Stock\n---\n\nCount.\n"})
	other, run := d.agent("tall-elk", cw.ModePlan, d.initiative("Other"))
	elses := d.proposes(other, run, map[string]string{"phases/eeeebbbbbbbb": "---\ntitle: Else\n---\n\nElse.\n"})
	_, err = d.AcceptProposals(ctx, cw.ProposalChoice{IDs: []cw.ProposalID{theirs[0].ID, elses[0].ID}})
	wants(t, err, cw.CodeInvalid, "two initiatives")
	if got := must(d.AcceptProposals(ctx, cw.ProposalChoice{Agent: "old-owl"}))(t); len(got) != 1 || got[0].Title != "Till" {
		t.Errorf("all of one agent: %+v", got)
	}
	alone, _ := d.agent("wild-yak", cw.ModeExecute, cw.Initiative{})
	_, err = d.AcceptProposals(ctx, cw.ProposalChoice{Agent: alone.Alias})
	wants(t, err, cw.CodeInvalid, "works for no initiative")
}

// TestIDsOfAnotherInitiative cannot be taken by an agent's files.
func TestIDsOfAnotherInitiative(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	theirs := d.phase(d.initiative("Theirs"), "One")
	a, run := d.agent("calm-otter", cw.ModePlan, d.initiative("Ours"))
	proposals, notes, err := d.Propose(t.Context(), a, run, nil, d.leaves(map[string]string{"phases/" + string(theirs.ID): "---\ntitle: Ours\n---\n\nAim.\n"}))
	if len(proposals) > 0 || len(notes) != 1 || !strings.Contains(notes[0], "another initiative") || err != nil {
		t.Errorf("%+v, %q, %v", proposals, notes, err)
	}
}

func TestRecordAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := d.person()
	i := d.initiative("Sale")
	a, _ := d.agent("calm-otter", cw.ModeDiscuss, i)
	questions := []cw.Question{
		{ID: "qqqqaaaaaaaa", Text: "Which shop?", Answer: "Both", Status: cw.QuestionAnswered, AnsweredBy: "person"},
		{ID: "qqqqbbbbbbbb", Text: "When?", Status: cw.QuestionOpen},
	}
	for range 2 {
		must(0, d.RecordAnswers(ctx, a, questions))(t)
	}
	root := must(d.PageByID(ctx, i.RootPageID))(t)
	want := "Sell more.\n\n## Decisions\n\n### Which shop?\n\n<!-- decision qqqqaaaaaaaa -->\n\n**Answer:** Both\n"
	if root.Body != want || root.Revision != 2 || root.UpdatedBy != "person" {
		t.Errorf("revision %d by %s:\n%s", root.Revision, root.UpdatedBy, root.Body)
	}
	must(d.EditPage(ctx, root.ID, cw.PageEdit{Body: new(strings.Replace(root.Body, "Both", "Only one", 1))}))(t)
	questions[1].Status, questions[1].Answer = cw.QuestionAnswered, "Soon"
	must(0, d.RecordAnswers(ctx, a, questions))(t)
	root = must(d.PageByID(ctx, i.RootPageID))(t)
	if !strings.Contains(root.Body, "Only one") || !strings.HasSuffix(root.Body, "### When?\n\n<!-- decision qqqqbbbbbbbb -->\n\n**Answer:** Soon\n") || root.Revision != 4 {
		t.Errorf("revision %d:\n%s", root.Revision, root.Body)
	}
	a.Mode = cw.ModePlan
	questions[0].ID = "qqqqcccccccc"
	must(0, d.RecordAnswers(ctx, a, questions))(t)
	if after := must(d.PageByID(ctx, i.RootPageID))(t); after.Revision != 4 {
		t.Error("answers of a plan agent are decisions")
	}
}

// TestAtOnce: two changes never miss each other. Of two edges that would make a
// circle one is taken, and of two decisions about one proposal too.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := d.person()
	i := d.initiative("Sale")
	ph := d.phase(i, "One")
	for range 5 {
		a, b := d.task(ph, "A"), d.task(ph, "B")
		errs := together(
			func() error { _, err := d.EditTask(ctx, a.ID, cw.TaskEdit{DependsOn: &[]cw.TaskID{b.ID}}); return err },
			func() error { _, err := d.EditTask(ctx, b.ID, cw.TaskEdit{DependsOn: &[]cw.TaskID{a.ID}}); return err },
		)
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("two edges: %v", errs)
		}
	}
	agent, run := d.agent("calm-otter", cw.ModePlan, i)
	open := d.proposes(agent, run, map[string]string{"phases/aaaabbbbbbbb": "---\ntitle: Shop\n---\n\nPeople buy.\n"})
	choice := cw.ProposalChoice{IDs: []cw.ProposalID{open[0].ID}}
	errs := together(
		func() error { _, err := d.AcceptProposals(ctx, choice); return err },
		func() error { _, err := d.AcceptProposals(ctx, choice); return err },
		func() error { _, err := d.DismissProposals(ctx, choice); return err },
	)
	taken := 0
	for _, err := range errs {
		if err == nil {
			taken++
		} else {
			wants(t, err, cw.CodeRefused)
		}
	}
	if taken != 1 {
		t.Errorf("%d decisions about one proposal", taken)
	}
}

func together(acts ...func() error) []error {
	errs := make([]error, len(acts))
	var all sync.WaitGroup
	for i, act := range acts {
		all.Go(func() { errs[i] = act() })
	}
	all.Wait()
	return errs
}
