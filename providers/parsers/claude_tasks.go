package parsers

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// claudeTasks is the list that claude keeps with TaskCreate and TaskUpdate: one
// task at a time, by the numbers that the results of TaskCreate give, from 1 for
// each session (read in the program, not seen in a run). Task n is step n-1.
type claudeTasks struct {
	steps   []cw.PlanStep     // by number
	waiting map[string]string // call of TaskCreate -> title of the task
}

// taskNumber finds the number in "Task #3 created successfully: …".
var taskNumber = regexp.MustCompile(`^Task #([1-9][0-9]{0,2}) created`)

// create remembers a task whose number is still to be told.
func (t *claudeTasks) create(call string, input json.RawMessage) {
	var task struct {
		Subject looseText `json:"subject"`
	}
	if unlessWrongType(json.Unmarshal(input, &task)) == nil {
		remember(t.waiting, call, planTitle(string(task.Subject)))
	}
}

// created gives the list with the task that a call has made, nil when it made
// none.
func (t *claudeTasks) created(call, result string) []cw.PlanStep {
	title, waits := t.waiting[call]
	delete(t.waiting, call)
	number := taskNumber.FindStringSubmatch(result)
	if !waits || number == nil || title == "" {
		return nil
	}
	n, _ := strconv.Atoi(number[1]) // three digits
	if n > cw.PlanStepsMax {
		return nil
	}
	if step := t.step(number[1]); step != nil { // told again
		step.Title = title
		return slices.Clone(t.steps)
	}
	step := cw.PlanStep{ID: stepID(n - 1), Title: title, Status: cw.StepPending}
	at, _ := slices.BinarySearchFunc(t.steps, n, func(s cw.PlanStep, n int) int { return stepNumber(s) + 1 - n })
	t.steps = slices.Insert(t.steps, at, step)
	return slices.Clone(t.steps)
}

// update gives the list after a call of TaskUpdate, nil when it is about a task
// that is not known. A task that is deleted was skipped.
func (t *claudeTasks) update(input json.RawMessage) []cw.PlanStep {
	var change struct {
		TaskID  looseText `json:"taskId"`
		Subject looseText `json:"subject"`
		Status  looseText `json:"status"`
	}
	if unlessWrongType(json.Unmarshal(input, &change)) != nil {
		return nil
	}
	step := t.step(strings.TrimPrefix(string(change.TaskID), "#"))
	if step == nil {
		return nil
	}
	if title := planTitle(string(change.Subject)); title != "" {
		step.Title = title
	}
	if change.Status != "" {
		step.Status = nativeStatus(string(change.Status))
	}
	return slices.Clone(t.steps)
}

func (t *claudeTasks) step(number string) *cw.PlanStep {
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(t.steps, func(s cw.PlanStep) bool { return s.ID == stepID(n-1) })
	if i < 0 {
		return nil
	}
	return &t.steps[i]
}

// recallPlan begins with the list that the session had when it was left.
func (p *claudeParser) recallPlan(steps []cw.PlanStep) {
	p.tasks.steps = slices.Clone(steps)
	slices.SortFunc(p.tasks.steps, func(a, b cw.PlanStep) int { return stepNumber(a) - stepNumber(b) })
}

// nativeSteps gives the list after a call of one of claude's plan tools, nil
// when the call does not tell it.
func (p *claudeParser) nativeSteps(b claudeBlock) []cw.PlanStep {
	switch b.Name {
	case "TaskCreate": // its result tells
		p.tasks.create(b.ID, b.Input)
		return nil
	case "TaskUpdate":
		return p.tasks.update(b.Input)
	}
	return todoSteps(b.Input)
}

// createdTask tells the list after a call that made a task.
func (p *claudeParser) createdTask(ev cw.StreamEvent) []cw.StreamEvent {
	if ev.IsError {
		delete(p.tasks.waiting, ev.ToolUseID)
		return nil
	}
	steps := p.tasks.created(ev.ToolUseID, ev.Text)
	if steps == nil {
		return nil
	}
	return one(cw.StreamEvent{
		Kind: cw.StreamPlan, ParentToolUseID: ev.ParentToolUseID, ToolUseID: ev.ToolUseID, Tool: "TaskCreate", Steps: steps,
	})
}

func stepID(i int) string { return "step-" + strconv.Itoa(i) }

func stepNumber(s cw.PlanStep) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(s.ID, "step-")) // ids are cw's own
	return n
}
