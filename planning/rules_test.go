package planning

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestEditInitiative(t *testing.T) {
	t.Parallel()
	working := func(s *cw.InitiativeState) { s.Working = []string{"calm-otter", "wild-yak"} }
	tests := []struct {
		name   string
		state  cw.InitiativeState
		edit   cw.InitiativeEdit
		status cw.InitiativeStatus
		events string
		code   cw.Code
		words  []string
	}{
		{"nothing", sale(), cw.InitiativeEdit{}, cw.InitiativeActive, "", "", nil},
		{"name and goal", sale(), cw.InitiativeEdit{Name: to(" Sales "), Goal: to("More.")}, cw.InitiativeActive, "initiative:changed", "", nil},
		{"no name", sale(), cw.InitiativeEdit{Name: to("")}, "", "", cw.CodeInvalid, []string{"no name"}},
		{"long goal", sale(), cw.InitiativeEdit{Goal: to(strings.Repeat("x", cw.BodyMax+1))}, "", "", cw.CodeInvalid, nil},
		{"archive", sale(), cw.InitiativeEdit{Archived: to(true)}, cw.InitiativeArchived, "initiative:changed", "", nil},
		{"archive while agents work", sale(working), cw.InitiativeEdit{Archived: to(true)}, "", "", cw.CodeRefused, []string{"calm-otter, wild-yak", "cw agent stop"}},
		{"archive again", sale(archived), cw.InitiativeEdit{Archived: to(true)}, cw.InitiativeArchived, "", "", nil},
		{"edit an archived one", sale(archived), cw.InitiativeEdit{Name: to("x")}, "", "", cw.CodeRefused, []string{"archived", "--undo"}},
		{"edit and archive an archived one", sale(archived), cw.InitiativeEdit{Name: to("x"), Archived: to(true)}, "", "", cw.CodeRefused, nil},
		{"take it out", sale(archived), cw.InitiativeEdit{Archived: to(false)}, cw.InitiativeActive, "initiative:changed", "", nil},
		{"take it out and edit", sale(archived), cw.InitiativeEdit{Archived: to(false), Name: to("Sales")}, cw.InitiativeActive, "initiative:changed", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, c, err := settled(tt.state, func(p *plan) error { return p.editInitiative(tt.edit, nil) })
			wantError(t, err, tt.code, tt.words...)
			if err != nil {
				return
			}
			if p.Initiative.Status != tt.status || eventTypes(c) != tt.events {
				t.Errorf("%s, events %q", p.Initiative.Status, eventTypes(c))
			}
			if tt.edit.Name != nil && p.Initiative.Name != "Sales" || p.Initiative.Slug != "sale" {
				t.Errorf("name %q, slug %q", p.Initiative.Name, p.Initiative.Slug)
			}
		})
	}
}

func TestViewLeavesOutWhatIsOver(t *testing.T) {
	t.Parallel()
	s := sale(taskStatus("second", cw.TaskCancelled), phaseStatus("three", cw.PhaseArchived), func(s *cw.InitiativeState) {
		s.Proposals = []cw.Proposal{{Status: cw.ProposalOpen}, {Status: cw.ProposalDismissed}, {Status: cw.ProposalOpen}}
	})
	v := viewOf(s)
	if len(v.Phases) != 2 || len(v.Tasks) != 2 || v.OpenProposals != 2 || len(v.Pages) != 5 || v.Branch != "cw/sale" {
		t.Errorf("%d phases, %d tasks, %d open, %d pages, %s", len(v.Phases), len(v.Tasks), v.OpenProposals, len(v.Pages), v.Branch)
	}
	for _, d := range v.Pages {
		if d.Body != "" {
			t.Errorf("the list has the text of %s", d.Title)
		}
	}
	if s.Pages[0].Body == "" || len(s.Tasks) != 3 {
		t.Error("the state itself was changed")
	}
	if empty := viewOf(cw.InitiativeState{}); empty.Phases == nil || empty.Tasks == nil || empty.Pages == nil || empty.Projects == nil {
		t.Errorf("null lists: %+v", empty)
	}
}

// TestPhaseStatus walks the whole table: what a person may say of which phase.
func TestPhaseStatus(t *testing.T) {
	t.Parallel()
	all := []cw.PhaseStatus{cw.PhaseDraft, cw.PhaseApproved, cw.PhaseRunning, cw.PhaseDone, cw.PhaseArchived}
	for _, from := range all {
		for _, become := range append(all, "dnoe") {
			s := sale(phaseStatus("three", from))
			_, _, err := settled(s, func(p *plan) error {
				return p.editPhase(id[cw.PhaseID]("three"), cw.PhaseEdit{Status: &become})
			})
			allowed := false
			for _, next := range cw.PhaseTransitions()[from] {
				allowed = allowed || next == become
			}
			want := cw.CodeRefused
			switch {
			case become == from || allowed && become != cw.PhaseRunning:
				want = ""
			case become == cw.PhaseRunning || become == "dnoe":
				want = cw.CodeInvalid
			}
			if cw.ErrorCode(err) != want {
				t.Errorf("%s → %s: %v, want %q", from, become, err, want)
			}
		}
	}
}

// TestTaskStatus walks the whole table, too.
func TestTaskStatus(t *testing.T) {
	t.Parallel()
	for _, from := range cw.TaskStatuses() {
		for _, become := range append(cw.TaskStatuses(), "don") {
			_, c, err := settled(sale(taskStatus("third", from)), func(p *plan) error {
				return p.editTask(id[cw.TaskID]("third"), cw.TaskEdit{Status: &become})
			})
			allowed := false
			for _, next := range cw.TaskTransitions()[from] {
				allowed = allowed || next == become
			}
			said := become == cw.TaskPending || become == cw.TaskDone || become == cw.TaskCancelled
			want := cw.CodeRefused
			switch {
			case become == from || allowed && said:
				want = ""
			case !said:
				want = cw.CodeInvalid
			}
			if cw.ErrorCode(err) != want {
				t.Errorf("%s → %s: %v, want %q", from, become, err, want)
			}
			if err == nil && become != from && (len(c.Events) != 1 || c.Events[0].TaskID != id[cw.TaskID]("third")) {
				t.Errorf("%s → %s: events %+v", from, become, c.Events)
			}
		}
	}
}

func TestArchivePhase(t *testing.T) {
	t.Parallel()
	archive := func(p *plan) error {
		return p.editPhase(id[cw.PhaseID]("three"), cw.PhaseEdit{Status: to(cw.PhaseArchived)})
	}
	with := func(statuses ...cw.TaskStatus) cw.InitiativeState {
		return sale(func(s *cw.InitiativeState) {
			for i, status := range statuses {
				tk := task("x"+string(rune('a'+i))+"z", "three", i)
				tk.Status = status
				s.Tasks = append(s.Tasks, tk)
			}
		})
	}
	p, c, err := settled(with(cw.TaskDone, cw.TaskPending, cw.TaskBlocked), archive)
	wantError(t, err, "")
	var got []string
	for _, tk := range p.Tasks {
		got = append(got, string(tk.Status))
	}
	if want := "pending pending pending done cancelled cancelled"; strings.Join(got, " ") != want {
		t.Errorf("tasks are %v", got)
	}
	if got := eventTypes(c); got != "phase:changed task:changed task:changed" {
		t.Errorf("events %s", got)
	}
	for _, status := range []cw.TaskStatus{cw.TaskRunning, cw.TaskVerifying, cw.TaskMerging} {
		_, _, err := settled(with(status), archive)
		wantError(t, err, cw.CodeRefused, `"xaz"`, string(status))
	}
	back := func(p *plan) error {
		return p.editPhase(id[cw.PhaseID]("three"), cw.PhaseEdit{Status: to(cw.PhaseDraft)})
	}
	p2, _, err := settled(cw.InitiativeState{Initiative: p.Initiative, Pages: p.Pages, Phases: p.Phases, Tasks: p.Tasks}, back)
	wantError(t, err, "")
	if p2.Tasks[4].Status != cw.TaskCancelled {
		t.Error("tasks came back by themselves")
	}
}

func TestTaskRules(t *testing.T) {
	t.Parallel()
	edit := func(e cw.TaskEdit) func(*plan) error {
		return func(p *plan) error { return p.editTask(id[cw.TaskID]("third"), e) }
	}
	tests := []struct {
		name  string
		state cw.InitiativeState
		rule  func(*plan) error
		code  cw.Code
		words []string
	}{
		{"a wrong type", sale(), edit(cw.TaskEdit{Type: to(cw.TaskType("atuo"))}), cw.CodeInvalid, []string{"did you mean auto"}},
		{"a wrong size", sale(), edit(cw.TaskEdit{Size: to(cw.TaskSize(""))}), cw.CodeInvalid, []string{"small, medium, large"}},
		{"a path of two lines", sale(), edit(cw.TaskEdit{Paths: to([]string{"a\nb"})}), cw.CodeInvalid, []string{"paths"}},
		{"too many checks", sale(), edit(cw.TaskEdit{Checks: to(texts(manyIDs(cw.TaskChecksMax + 1)))}), cw.CodeInvalid, []string{"51 checks"}},
		{"a check twice", sale(), edit(cw.TaskEdit{Checks: to(make([]string, 0)), Paths: to([]string{"a", "a"})}), "", nil},
		{"into nothing", sale(), edit(cw.TaskEdit{PhaseID: to(id[cw.PhaseID]("gone"))}), cw.CodeNotFound, []string{"goneaaaaaaaa"}},
		{"into an archived phase", sale(phaseStatus("three", cw.PhaseArchived)), edit(cw.TaskEdit{PhaseID: to(id[cw.PhaseID]("three"))}), cw.CodeRefused,
			[]string{`"three"`, "archived"}},
		{"a task that is none", sale(), func(p *plan) error { return p.editTask("nothing", cw.TaskEdit{}) }, cw.CodeNotFound, nil},
		{"a phase that is none", sale(), func(p *plan) error { return p.editPhase("nothing", cw.PhaseEdit{}) }, cw.CodeNotFound, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := settled(tt.state, tt.rule)
			wantError(t, err, tt.code, tt.words...)
		})
	}
}

// TestQuestionsOfADecision: a decision may ask something else until it is answered;
// opened again it is asked anew.
func TestQuestionsOfADecision(t *testing.T) {
	t.Parallel()
	asked := []cw.TaskQuestion{{ID: "colour", Text: "Which colour?"}, {ID: "why", Text: "Why?"}}
	state := func(status cw.TaskStatus, answers ...string) cw.InitiativeState {
		return sale(func(s *cw.InitiativeState) {
			third := &s.Tasks[2]
			third.Type, third.Status, third.Questions = cw.TaskCheckpointDecide, status, slices.Clone(asked)
			for i, a := range answers {
				third.Questions[i].Answer = a
			}
		})
	}
	plain := sale(func(s *cw.InitiativeState) { s.Tasks[2].Type = cw.TaskCheckpointDecide })
	edit := func(e cw.TaskEdit) func(*plan) error {
		return func(p *plan) error { return p.editTask(id[cw.TaskID]("third"), e) }
	}
	ask := func(questions ...cw.TaskQuestion) func(*plan) error { return edit(cw.TaskEdit{Questions: &questions}) }
	other, answered := cw.TaskQuestion{Text: " Which size? "}, cw.TaskQuestion{ID: "colour", Text: "Which colour?", Answer: "red"}
	tests := []struct {
		name  string
		state cw.InitiativeState
		rule  func(*plan) error
		code  cw.Code
		want  []cw.TaskQuestion
	}{
		{"asked from now on", plain, ask(other), "", []cw.TaskQuestion{{ID: "q1", Text: "Which size?"}}},
		{"asked by a task for agents", sale(), ask(other), cw.CodeInvalid, nil},
		{"asked by what becomes a decision", sale(), edit(cw.TaskEdit{Type: to(cw.TaskCheckpointDecide), Questions: &[]cw.TaskQuestion{other}}), "", []cw.TaskQuestion{{ID: "q1", Text: "Which size?"}}},
		{"something else", state(cw.TaskReady), ask(other), "", []cw.TaskQuestion{{ID: "q1", Text: "Which size?"}}},
		{"nothing any more", state(cw.TaskReady), ask(), "", nil},
		{"with an answer", state(cw.TaskReady), ask(answered), cw.CodeInvalid, nil},
		{"no decision any more", state(cw.TaskPending), edit(cw.TaskEdit{Type: to(cw.TaskAuto)}), cw.CodeInvalid, nil},
		{"no decision any more, without questions", state(cw.TaskPending), edit(cw.TaskEdit{Type: to(cw.TaskAuto), Questions: &[]cw.TaskQuestion{}}), "", nil},
		{"another name", state(cw.TaskDone, "red", "so"), edit(cw.TaskEdit{Name: to("x")}), "",
			[]cw.TaskQuestion{{ID: "colour", Text: "Which colour?", Answer: "red"}, {ID: "why", Text: "Why?", Answer: "so"}}},
		{"something else after the answer", state(cw.TaskDone, "red", "so"), ask(other), cw.CodeRefused, nil},
		{"nothing after the answer", state(cw.TaskDone, "red", "so"), ask(), cw.CodeRefused, nil},
		{"the same after the answer", state(cw.TaskDone, "red", "so"), ask(asked...), "",
			[]cw.TaskQuestion{{ID: "colour", Text: "Which colour?", Answer: "red"}, {ID: "why", Text: "Why?", Answer: "so"}}},
		{"done without answers", state(cw.TaskReady), edit(cw.TaskEdit{Status: to(cw.TaskDone)}), cw.CodeRefused, nil},
		{"done with one of two", state(cw.TaskReady, "red"), edit(cw.TaskEdit{Status: to(cw.TaskDone)}), cw.CodeRefused, nil},
		{"cancelled without answers", state(cw.TaskReady), edit(cw.TaskEdit{Status: to(cw.TaskCancelled)}), "", asked},
		{"opened again", state(cw.TaskDone, "red", "so"), edit(cw.TaskEdit{Status: to(cw.TaskPending)}), "", asked},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := slices.Clone(tt.state.Tasks[2].Questions)
			p, _, err := settled(tt.state, tt.rule)
			wantError(t, err, tt.code)
			if err == nil {
				if diff := cmp.Diff(tt.want, p.Tasks[2].Questions); diff != "" {
					t.Error(diff)
				}
			}
			if diff := cmp.Diff(before, tt.state.Tasks[2].Questions); diff != "" {
				t.Errorf("the state itself changed: %s", diff)
			}
		})
	}
}

func TestAddTaskFillsWhatNobodySaid(t *testing.T) {
	t.Parallel()
	p, c, err := settled(sale(), func(p *plan) error {
		p.addTask(cw.Task{ID: id[cw.TaskID]("new"), Name: "new", PhaseID: id[cw.PhaseID]("one")})
		return nil
	})
	wantError(t, err, "")
	want := task("new", "one", 2)
	want.Body, want.CreatedAt, want.UpdatedAt = "", noon, noon
	if diff := cmp.Diff(want, *p.task(want.ID)); diff != "" {
		t.Error(diff)
	}
	if len(c.Tasks) != 1 || eventTypes(c) != "task:created" {
		t.Errorf("%d rows, events %s", len(c.Tasks), eventTypes(c))
	}
}

func TestMoveTask(t *testing.T) {
	t.Parallel()
	p, c, err := settled(sale(taskStatus("third", cw.TaskCancelled)), func(p *plan) error {
		return p.editTask(id[cw.TaskID]("first"), cw.TaskEdit{PhaseID: to(id[cw.PhaseID]("one")), Position: to(1)})
	})
	wantError(t, err, "")
	if p.Tasks[0].Position != 1 || p.Tasks[1].Position != 0 {
		t.Errorf("first is at %d, second at %d", p.Tasks[0].Position, p.Tasks[1].Position)
	}
	if len(c.Tasks) != 2 || len(c.Events) != 1 || c.Events[0].TaskID != id[cw.TaskID]("first") {
		t.Errorf("%d rows, events %+v: only what was moved is told", len(c.Tasks), c.Events)
	}
}

// TestTheStateStays: rules work on a copy; the state they were given may be
// given to them again.
func TestTheStateStays(t *testing.T) {
	t.Parallel()
	s := sale()
	_, _, err := settled(s, func(p *plan) error {
		p.addTask(cw.Task{ID: "new", Name: "new", PhaseID: id[cw.PhaseID]("one")})
		if err := p.editTask(id[cw.TaskID]("second"), cw.TaskEdit{DependsOn: to([]cw.TaskID{}), Name: to("x")}); err != nil {
			return err
		}
		p.removePage(p.page(id[cw.PageID]("cart")), "person")
		return p.editPhase(id[cw.PhaseID]("three"), cw.PhaseEdit{Status: to(cw.PhaseArchived), Position: to(0)})
	})
	wantError(t, err, "")
	if diff := cmp.Diff(sale(), s); diff != "" {
		t.Error(diff)
	}
}
