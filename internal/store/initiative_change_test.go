package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestChangeInitiative makes one of each, changes all of it, and reads it back.
func TestChangeInitiative(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.addProject("shop")
	i := b.initiative("sale")
	page := cw.Document{ID: "page", ParentID: i.RootPageID, Title: "Design", Body: "how", Position: 0, Revision: 1, UpdatedBy: "person"}
	phase := cw.Phase{ID: "phase", Name: "first", Body: "why", Status: cw.PhaseApproved}
	task := cw.Task{
		ID: "task", PhaseID: "phase", Name: "do", Body: "it", Type: cw.TaskAuto, Size: cw.SizeSmall, Priority: cw.PriorityLow,
		Paths: []string{"a/**"}, Checks: []string{"green"}, Status: cw.TaskPending,
	}
	told := len(b.toldEvents())
	b.plan(i.ID, cw.InitiativeChange{
		Pages: []cw.Document{page}, Phases: []cw.Phase{phase}, Tasks: []cw.Task{task},
		Events: []cw.Event{event(cw.EventPageCreated, "page"), event(cw.EventTaskCreated, "task").In(i.ID)},
	})
	same(t, "told", b.toldTypes(told), []cw.EventType{cw.EventPageCreated, cw.EventTaskCreated})
	for _, e := range b.toldEvents()[told:] {
		same(t, "initiative of "+string(e.Type), e.InitiativeID, i.ID)
	}
	made := b.stateOf(i.ID)
	at := made.Pages[1].CreatedAt

	i.Name, i.Goal, i.Status, i.Slug = "Sale 2", "more", cw.InitiativeArchived, "other"
	i.Projects = []cw.InitiativeProject{{ID: p.ID, Name: p.Name}}
	page.Title, page.Body, page.Position, page.Revision, page.UpdatedBy = "Plan", "what", 1, 2, "brave-otter"
	phase.Name, phase.Body, phase.Position, phase.Status = "one", "because", 2, cw.PhaseRunning
	task.Name, task.Body, task.Type, task.Size, task.Priority = "do more", "of it", cw.TaskCheckpointDecide, cw.SizeLarge, cw.PriorityHigh
	task.Paths, task.Checks, task.Position, task.Status, task.Summary = []string{}, []string{"red", "green"}, 3, cw.TaskDone, "done"
	task.Questions = []cw.TaskQuestion{{ID: "a", Header: "A", Text: "A?", Options: []cw.QuestionOption{{Label: "x", Description: "y"}}, MultiSelect: true, Answer: `["x"]`}}
	b.plan(i.ID, cw.InitiativeChange{Initiative: &i, Pages: []cw.Document{page}, Phases: []cw.Phase{phase}, Tasks: []cw.Task{task}})

	got := b.stateOf(i.ID)
	changed := got.Pages[1].UpdatedAt
	if !changed.After(at) {
		t.Errorf("changed at %s, made at %s", changed, at)
	}
	i.Slug, i.UpdatedAt = "sale", changed
	page.InitiativeID, page.CreatedAt, page.UpdatedAt = i.ID, at, changed
	phase.InitiativeID, phase.CreatedAt, phase.UpdatedAt, phase.DependsOn = i.ID, at, changed, []cw.PhaseID{}
	task.InitiativeID, task.CreatedAt, task.UpdatedAt, task.DependsOn = i.ID, at, changed, []cw.TaskID{}
	same(t, "state", got, cw.InitiativeState{
		Initiative: i, Pages: []cw.Document{made.Pages[0], page}, Phases: []cw.Phase{phase}, Tasks: []cw.Task{task},
		Proposals: []cw.Proposal{}, Working: []string{},
	})
}

// TestAnswersOfATask: answers are stored with the step that they belong to, and not
// when something else is asked by then.
func TestAnswersOfATask(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(1, 1)
	task := b.stateOf(i.ID).Tasks[0]
	asked := []cw.TaskQuestion{{ID: "a", Text: "A?", Options: []cw.QuestionOption{{Label: "x"}}}, {ID: "b", Text: "B?"}}
	task.Type, task.Status, task.Questions = cw.TaskCheckpointDecide, cw.TaskReady, asked
	b.plan(i.ID, cw.InitiativeChange{Tasks: []cw.Task{task}})
	answered := []cw.TaskQuestion{{ID: "a", Text: "A?", Options: []cw.QuestionOption{{Label: "x"}}, Answer: "x"}, {ID: "b", Text: "B?", Answer: "so"}}
	said := "what was said"
	move := func(questions []cw.TaskQuestion) bool {
		moved, err := b.MoveTask(t.Context(), cw.TaskMove{ID: task.ID, From: []cw.TaskStatus{cw.TaskReady}, To: cw.TaskDone, Summary: &said, Questions: questions})
		if err != nil {
			t.Fatal(err)
		}
		return moved
	}
	for name, other := range map[string][]cw.TaskQuestion{
		"another text": {answered[0], {ID: "b", Text: "Other?", Answer: "so"}}, "fewer": answered[:1], "another order": {answered[1], answered[0]},
	} {
		if move(other) {
			t.Errorf("%s: stored", name)
		}
	}
	same(t, "after what was refused", b.stateOf(i.ID).Tasks[0].Questions, asked)
	if !move(answered) {
		t.Fatal("not stored")
	}
	got, err := b.TaskByID(t.Context(), task.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "answers", got.Questions, answered)
	if got.Status != cw.TaskDone || got.Summary != said {
		t.Errorf("%+v", got)
	}
}

// TestDependencies are stored whole, in the order in which they were said, with
// each change.
func TestDependencies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(4, 4)
	s := b.stateOf(i.ID)
	task, phase := s.Tasks[0], s.Phases[0]
	for _, on := range [][]string{{"3", "1", "2"}, {"2"}, {"2", "3", "2"}, {"1", "2", "3"}, {}, nil} {
		task.DependsOn, phase.DependsOn = nil, nil
		for _, n := range on {
			task.DependsOn = append(task.DependsOn, cw.TaskID("task-0-"+n))
			phase.DependsOn = append(phase.DependsOn, cw.PhaseID("phase-"+n))
		}
		b.plan(i.ID, cw.InitiativeChange{Tasks: []cw.Task{task}, Phases: []cw.Phase{phase}})
		if len(on) == 3 && on[0] == on[2] { // named twice
			task.DependsOn, phase.DependsOn = task.DependsOn[:2], phase.DependsOn[:2]
		}
		now := b.stateOf(i.ID)
		same(t, "of the task", now.Tasks[0].DependsOn, orEmpty(task.DependsOn))
		same(t, "of the phase", now.Phases[0].DependsOn, orEmpty(phase.DependsOn))
		same(t, "of another task", now.Tasks[1].DependsOn, s.Tasks[1].DependsOn)
	}
}

// TestDependenciesOnLater: rows of one change may depend on each other in any
// order.
func TestDependenciesOnLater(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.initiative("sale")
	b.plan(i.ID, cw.InitiativeChange{
		Phases: []cw.Phase{{ID: "a", Name: "a", Status: cw.PhaseDraft, DependsOn: []cw.PhaseID{"b"}}, {ID: "b", Name: "b", Status: cw.PhaseDraft}},
		Tasks: []cw.Task{
			{ID: "x", PhaseID: "b", Name: "x", Type: cw.TaskAuto, Status: cw.TaskDraft, DependsOn: []cw.TaskID{"y"}},
			{ID: "y", PhaseID: "a", Name: "y", Type: cw.TaskAuto, Status: cw.TaskDraft},
		},
	})
	s := b.stateOf(i.ID)
	same(t, "phase", s.Phases[0].DependsOn, []cw.PhaseID{"b"})
	same(t, "task", s.Tasks[1].DependsOn, []cw.TaskID{"y"})
}

// TestRefusedChange: what is refused, by decide or by the tables, leaves nothing
// behind.
func TestRefusedChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.fullInitiative(1, 1)
	two := b.initiative("other")
	before := b.dump()
	told := len(b.toldEvents())
	first := cw.Document{ID: "new", Title: "new", Revision: 1}
	for name, c := range map[string]cw.InitiativeChange{
		"page of another initiative":  {Pages: []cw.Document{{ID: one.RootPageID, Title: "mine now", Revision: 7}}},
		"phase of another initiative": {Phases: []cw.Phase{{ID: "phase-0", Name: "mine now", Status: cw.PhaseDraft}}},
		"task of another initiative": {Phases: []cw.Phase{{ID: "own", Name: "own", Status: cw.PhaseDraft}},
			Tasks: []cw.Task{{ID: "task-0-0", PhaseID: "own", Name: "mine now", Type: cw.TaskAuto, Status: cw.TaskDraft}}},
	} {
		c.Pages = append([]cw.Document{first}, c.Pages...)
		c.Events = []cw.Event{event(cw.EventPageChanged, name)}
		err := b.ChangeInitiative(t.Context(), two.ID, func(cw.InitiativeState) (cw.InitiativeChange, error) { return c, nil })
		refuses(t, err, cw.CodeRefused, "of another initiative has the id")
		same(t, "rows after a "+name, b.dump(), before)
	}
	own := fmt.Errorf("no: %w", cw.Errorf(cw.CodeInvalid, "not so"))
	err := b.ChangeInitiative(t.Context(), two.ID, func(s cw.InitiativeState) (cw.InitiativeChange, error) {
		same(t, "decides about", s.Initiative.ID, two.ID)
		return cw.InitiativeChange{Pages: []cw.Document{first}}, own
	})
	if !errors.Is(err, own) || err.Error() != own.Error() {
		t.Errorf("refused with %v", err)
	}
	for _, c := range []cw.InitiativeChange{
		{Tasks: []cw.Task{{ID: "lost", PhaseID: "nowhere", Name: "lost", Type: cw.TaskAuto, Status: cw.TaskDraft}}},
		{Phases: []cw.Phase{{ID: "lost", Name: "lost", Status: cw.PhaseDraft, DependsOn: []cw.PhaseID{"nowhere"}}}},
		{Proposals: []cw.Proposal{{ID: "nowhere", Status: cw.ProposalAccepted}}},
	} {
		c.Pages = []cw.Document{first}
		if b.ChangeInitiative(t.Context(), two.ID, func(cw.InitiativeState) (cw.InitiativeChange, error) { return c, nil }) == nil {
			t.Errorf("stored: %+v", c)
		}
	}
	err = b.ChangeInitiative(t.Context(), "nowhere", func(cw.InitiativeState) (cw.InitiativeChange, error) {
		t.Error("decided about nothing")
		return cw.InitiativeChange{}, nil
	})
	refuses(t, err, cw.CodeNotFound, "nowhere")
	same(t, "rows", b.dump(), before)
	same(t, "told", len(b.toldEvents()), told)
}

// TestChangesAtOnce: two who each add 50 tasks after the last one lose none, and
// no place is given twice.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(1, 0)
	var all sync.WaitGroup
	for who := range 2 {
		all.Go(func() {
			for n := range 50 {
				id := cw.TaskID(fmt.Sprintf("%d-%d", who, n))
				err := b.ChangeInitiative(t.Context(), i.ID, func(s cw.InitiativeState) (cw.InitiativeChange, error) {
					return cw.InitiativeChange{
						Tasks:  []cw.Task{{ID: id, PhaseID: "phase-0", Name: string(id), Position: len(s.Tasks), Type: cw.TaskAuto, Status: cw.TaskPending}},
						Events: []cw.Event{event(cw.EventTaskCreated, string(id))},
					}, nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	tasks := b.stateOf(i.ID).Tasks
	same(t, "tasks", len(tasks), 100)
	seen := map[cw.TaskID]bool{}
	for n, task := range tasks {
		same(t, "place of "+string(task.ID), task.Position, n)
		seen[task.ID] = true
	}
	same(t, "different tasks", len(seen), 100)
	stored, err := b.EventsAfter(t.Context(), 0, cw.EventFilter{Initiative: string(i.ID), Types: []cw.EventType{cw.EventTaskCreated}}, 0)
	b.must(err)
	same(t, "events", len(stored.Events), 100)
}

// TestDecideSeesOneMoment: what one change stored, the next decision sees, and
// a reader sees all of a change or nothing of it.
func TestDecideSeesOneMoment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.fullInitiative(1, 1)
	b.must(b.ChangeInitiative(t.Context(), i.ID, func(s cw.InitiativeState) (cw.InitiativeChange, error) {
		s.Tasks[0].Body = ""
		return cw.InitiativeChange{Tasks: s.Tasks}, nil
	}))
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			s, err := b.InitiativeState(t.Context(), i.ID)
			if err != nil || s.Phases[0].Body != s.Tasks[0].Body {
				t.Errorf("a reader saw half a change: %v, %v, %v", s.Phases, s.Tasks, err)
				return
			}
		}
	}()
	for n := range 30 {
		b.must(b.ChangeInitiative(t.Context(), i.ID, func(s cw.InitiativeState) (cw.InitiativeChange, error) {
			if n > 0 && s.Phases[0].Body != fmt.Sprint(n-1) {
				t.Errorf("change %d sees %q", n, s.Phases[0].Body)
			}
			phase, task := s.Phases[0], s.Tasks[0]
			phase.Body, task.Body = fmt.Sprint(n), fmt.Sprint(n)
			return cw.InitiativeChange{Phases: []cw.Phase{phase}, Tasks: []cw.Task{task}}, nil
		}))
	}
	close(stop)
	<-ended
}

// TestRevivedPage: a page that was removed comes back when it is stored without
// the mark.
func TestRevivedPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	i := b.initiative("sale")
	at := time.Now()
	page := cw.Document{ID: "page", ParentID: i.RootPageID, Title: "Design", Revision: 1, DeletedAt: &at}
	b.plan(i.ID, cw.InitiativeChange{Pages: []cw.Document{page}})
	page.DeletedAt = nil
	b.plan(i.ID, cw.InitiativeChange{Pages: []cw.Document{page}})
	got, err := b.DocumentByID(t.Context(), "page")
	b.must(err)
	same(t, "title", got.Title, "Design")
}
