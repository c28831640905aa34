package planning

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"cw/internal/cw"
)

// CreateTask implements cw.TaskService.
func (m *Manager) CreateTask(ctx context.Context, req cw.CreateTaskRequest) (cw.Task, error) {
	ph, err := m.store.PhaseByID(ctx, req.PhaseID)
	if err != nil {
		return cw.Task{}, err
	}
	task := cw.Task{
		ID: cw.TaskID(cw.NewID()), PhaseID: ph.ID, Name: strings.TrimSpace(req.Name), Body: req.Body,
		Type: req.Type, Size: req.Size, Priority: req.Priority,
		Paths: req.Paths, Checks: req.Checks, DependsOn: req.DependsOn, Questions: req.Questions,
	}
	if err := withoutAnswers(req.Questions); err != nil {
		return cw.Task{}, err
	}
	_, err = m.change(ctx, ph.InitiativeID, func(p *plan) error {
		p.addTask(task)
		return nil
	})
	if err != nil {
		return cw.Task{}, err
	}
	return m.store.TaskByID(ctx, task.ID)
}

// Tasks implements cw.TaskService.
func (m *Manager) Tasks(ctx context.Context, f cw.TaskFilter) ([]cw.Task, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	initiative := f.Initiative
	if f.PhaseID != "" {
		ph, err := m.store.PhaseByID(ctx, f.PhaseID)
		if err != nil {
			return nil, err
		}
		initiative = cmp.Or(initiative, string(ph.InitiativeID))
	}
	s, err := m.state(ctx, initiative)
	if err != nil {
		return nil, err
	}
	return withoutTexts(slices.DeleteFunc(s.Tasks, func(t cw.Task) bool {
		return f.PhaseID != "" && t.PhaseID != f.PhaseID || len(f.Statuses) > 0 && !slices.Contains(f.Statuses, t.Status)
	}), withoutTaskText), nil
}

func withoutTaskText(t *cw.Task) { t.Body, t.Questions = "", nil }

// Task implements cw.TaskService.
func (m *Manager) Task(ctx context.Context, id cw.TaskID) (cw.Task, error) {
	return m.store.TaskByID(ctx, id)
}

// EditTask implements cw.TaskService.
func (m *Manager) EditTask(ctx context.Context, id cw.TaskID, e cw.TaskEdit) (cw.Task, error) {
	had, err := m.store.TaskByID(ctx, id)
	if err != nil {
		return cw.Task{}, err
	}
	if _, err := m.change(ctx, had.InitiativeID, func(p *plan) error { return p.editTask(id, e) }); err != nil {
		return cw.Task{}, err
	}
	return m.store.TaskByID(ctx, id)
}

// addTask adds a task that a person wants, as the last of its phase.
func (p *plan) addTask(t cw.Task) {
	t = filled(t)
	t.InitiativeID, t.Status, t.Position = p.Initiative.ID, cw.TaskPending, last
	p.Tasks = append(p.Tasks, t)
}

// filled gives a task everything that nobody said.
func filled(t cw.Task) cw.Task {
	t.Type = cmp.Or(t.Type, cw.TaskAuto)
	t.Size = cmp.Or(t.Size, cw.SizeMedium)
	t.Priority = cmp.Or(t.Priority, cw.PriorityMedium)
	t.Paths, t.Checks, t.DependsOn = once(t.Paths), once(t.Checks), once(t.DependsOn)
	t.Questions = cw.FilledQuestions(t.Questions)
	return t
}

// withoutAnswers refuses questions that come with their answers: these are given
// by whoever decides.
func withoutAnswers(questions []cw.TaskQuestion) error {
	if i := slices.IndexFunc(questions, isAnswered); i >= 0 {
		return cw.Errorf(cw.CodeInvalid, "question %d has an answer already", i+1).WithHint("ask without; answers are part of the verdict: cw task done ID --answer QUESTION=ANSWER")
	}
	return nil
}

func isAnswered(q cw.TaskQuestion) bool { return q.Answer != "" }

// askElse lets a decision ask other questions than it does, unless these are
// answered.
func askElse(t *cw.Task, questions []cw.TaskQuestion) error {
	questions = cw.FilledQuestions(questions)
	if !slices.ContainsFunc(t.Questions, isAnswered) {
		t.Questions = questions
		return withoutAnswers(questions)
	}
	if !reflect.DeepEqual(cw.Unanswered(t.Questions), cw.Unanswered(questions)) {
		return cw.Errorf(cw.CodeRefused, "the questions of the task %q are answered", t.Name).
			WithHint("open it again first: cw task done %s --undo", t.ID)
	}
	return nil
}

func (p *plan) editTask(id cw.TaskID, e cw.TaskEdit) error {
	t := p.task(id)
	if t == nil {
		return cw.Errorf(cw.CodeNotFound, "the initiative %s has no task %s", p.Initiative.Slug, id).
			WithHint("list its tasks: cw task list %s", p.Initiative.Slug)
	}
	set(&t.Name, e.Name)
	t.Name = strings.TrimSpace(t.Name)
	set(&t.Body, e.Body)
	set(&t.Type, e.Type)
	set(&t.Size, e.Size)
	set(&t.Priority, e.Priority)
	setList(&t.Paths, e.Paths)
	setList(&t.Checks, e.Checks)
	setList(&t.DependsOn, e.DependsOn)
	if e.Questions != nil {
		if err := askElse(t, *e.Questions); err != nil {
			return err
		}
	}
	if e.PhaseID != nil && *e.PhaseID != t.PhaseID {
		t.PhaseID, t.Position, p.moved[string(id)] = *e.PhaseID, last, true
	}
	if e.Status != nil && *e.Status != t.Status {
		if !slices.Contains(taskWords(), *e.Status) {
			return wrongWord("task", *e.Status, taskWords())
		}
		if err := mayClose(*t, *e.Status); err != nil {
			return err
		}
		t.Status = *e.Status
		t.Tries, t.Setbacks, t.RetryAt, t.Blocked = 0, 0, nil, "" // a person had a say
		if t.Status == cw.TaskPending && t.Questions != nil {
			t.Questions = cw.Unanswered(t.Questions) // they are asked anew
		}
	}
	if e.Position != nil {
		return move(p, p.Tasks, taskKind(), t, *e.Position)
	}
	return nil
}

// mayClose refuses to close a decision whose questions nobody answered: what comes
// after it would read nothing. Answers are given with a verdict.
func mayClose(t cw.Task, becomes cw.TaskStatus) error {
	if becomes != cw.TaskDone || !slices.ContainsFunc(t.Questions, func(q cw.TaskQuestion) bool { return !isAnswered(q) }) {
		return nil
	}
	return cw.Errorf(cw.CodeRefused, "the task %q asks, and is not answered", t.Name).
		WithHint("when it waits for you: cw task done %[1]s --answer QUESTION=ANSWER; cw task cancel %[1]s leaves it out", t.ID)
}

// setList replaces a list when another one is given.
func setList[T comparable](list *[]T, given *[]T) {
	if given != nil {
		*list = once(*given)
	}
}

// taskWords are the statuses that a person may give a task. Everything between
// is told by its agent's work.
func taskWords() []cw.TaskStatus {
	return []cw.TaskStatus{cw.TaskPending, cw.TaskDone, cw.TaskCancelled}
}

// inWork tells whether an agent may be at a task.
func inWork(s cw.TaskStatus) bool {
	return s == cw.TaskRunning || s == cw.TaskVerifying || s == cw.TaskMerging
}

// changeable tells whether what a task asks for may still change: nobody has
// begun, or it waits for somebody.
func changeable(s cw.TaskStatus) bool {
	return s == cw.TaskDraft || s == cw.TaskPending || s == cw.TaskReady || s == cw.TaskBlocked
}
