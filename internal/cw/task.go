package cw

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Limits of a task.
const (
	TaskPathsMax  = 200 // globs of paths that it may touch
	TaskChecksMax = 50  // acceptance checks
	taskLineMax   = 1000
)

// TaskStatus is where a task stands.
type TaskStatus string

// The statuses of a task.
const (
	TaskDraft     TaskStatus = "draft"
	TaskPending   TaskStatus = "pending" // accepted
	TaskReady     TaskStatus = "ready"
	TaskRunning   TaskStatus = "running"
	TaskVerifying TaskStatus = "verifying"
	TaskMerging   TaskStatus = "merging"
	TaskBlocked   TaskStatus = "blocked"
	TaskDone      TaskStatus = "done" // merged, or closed with nothing to merge
	TaskCancelled TaskStatus = "cancelled"
)

// TaskStatuses lists all statuses in the order in which people read them.
func TaskStatuses() []TaskStatus {
	return []TaskStatus{
		TaskDraft, TaskPending, TaskReady, TaskRunning, TaskVerifying, TaskMerging, TaskBlocked, TaskDone, TaskCancelled,
	}
}

// TaskTransitions is the table of legal status changes.
func TaskTransitions() map[TaskStatus][]TaskStatus {
	return map[TaskStatus][]TaskStatus{
		TaskDraft:     {TaskPending, TaskCancelled},
		TaskPending:   {TaskReady, TaskRunning, TaskBlocked, TaskDone, TaskCancelled},
		TaskReady:     {TaskPending, TaskRunning, TaskBlocked, TaskDone, TaskCancelled},
		TaskRunning:   {TaskVerifying, TaskBlocked, TaskPending, TaskDone, TaskCancelled},
		TaskVerifying: {TaskMerging, TaskRunning, TaskBlocked, TaskPending, TaskDone, TaskCancelled},
		TaskMerging:   {TaskDone, TaskVerifying}, // the branch may have moved: it is too late to cancel
		TaskBlocked:   {TaskPending, TaskRunning, TaskVerifying, TaskDone, TaskCancelled},
		TaskDone:      {TaskPending},
		TaskCancelled: {TaskPending},
	}
}

// TaskType says who does a task.
type TaskType string

// The types of tasks.
const (
	TaskAuto             TaskType = "auto"                // an execute agent
	TaskCheckpointVerify TaskType = "checkpoint:verify"   // an agent, and a person looks at the result
	TaskCheckpointDecide TaskType = "checkpoint:decision" // a person decides
	TaskCheckpointAction TaskType = "checkpoint:action"   // a person does something that no agent can
)

// TaskTypes lists all types.
func TaskTypes() []TaskType {
	return []TaskType{TaskAuto, TaskCheckpointVerify, TaskCheckpointDecide, TaskCheckpointAction}
}

// TaskSize is how much work a task is thought to be.
type TaskSize string

// The sizes.
const (
	SizeSmall  TaskSize = "small"
	SizeMedium TaskSize = "medium"
	SizeLarge  TaskSize = "large"
)

// TaskSizes lists all sizes.
func TaskSizes() []TaskSize { return []TaskSize{SizeSmall, SizeMedium, SizeLarge} }

// TaskPriority puts tasks that are ready in order.
type TaskPriority string

// The priorities, greatest first.
const (
	PriorityHigh   TaskPriority = "high"
	PriorityMedium TaskPriority = "medium"
	PriorityLow    TaskPriority = "low"
)

// TaskPriorities lists all priorities, greatest first.
func TaskPriorities() []TaskPriority {
	return []TaskPriority{PriorityHigh, PriorityMedium, PriorityLow}
}

// Task is one unit of work for one execute agent.
type Task struct {
	ID           TaskID       `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	InitiativeID InitiativeID `json:"initiativeId" doc:"the initiative"`
	PhaseID      PhaseID      `json:"phaseId" doc:"its phase"`
	Name         string       `json:"name" doc:"one line"`
	Body         string       `json:"body,omitempty" doc:"what is to be done, Markdown; it becomes the task of the agent's prompt; missing in lists"`
	Type         TaskType     `json:"type" doc:"auto, checkpoint:verify, checkpoint:decision or checkpoint:action"`
	Size         TaskSize     `json:"size" doc:"small, medium or large"`
	Priority     TaskPriority `json:"priority" doc:"high, medium or low"`
	Paths        []string     `json:"paths" gorm:"serializer:json;column:file_ownership" doc:"globs of the paths that it may touch; none: not said"`
	Checks       []string     `json:"checks" gorm:"serializer:json" doc:"how to see that it is done"`
	DependsOn    []TaskID     `json:"dependsOn" gorm:"-" doc:"tasks that come before it, never null"`
	// Questions are those of a decision; nil for none.
	Questions []TaskQuestion `json:"questions,omitempty" gorm:"serializer:json" doc:"what a decision asks, with the answers once they were given; missing for none, and in lists"`
	Position  int            `json:"position" doc:"place among the tasks of its phase, from 0"`
	Status    TaskStatus     `json:"status" doc:"where it stands"`
	Summary   string         `json:"summary,omitempty" doc:"what was done, in the words of who did it; missing before"`
	AgentID   AgentID        `json:"agentId,omitempty" doc:"the agent that works on it, or did last; missing before"`
	Starts    int            `json:"starts,omitempty" doc:"how often an agent was started for it"`
	Tries     int            `json:"tries,omitempty" doc:"how often it failed for a reason of its own since a person last had a say"`
	Setbacks  int            `json:"setbacks,omitempty" doc:"how often in a row it failed for a reason outside of it: limit, network, disk, restart"`
	RetryAt   *time.Time     `json:"retryAt,omitempty" doc:"when it is started again after it failed; missing otherwise"`
	Blocked   string         `json:"blocked,omitempty" doc:"why it is blocked, or what failed last, with evidence"`
	// Outside is what the work on it changed outside its paths; nil for nothing.
	Outside   *OutsideFiles `json:"outside,omitempty" gorm:"serializer:json" doc:"what the work on it changed outside its paths: a warning; missing for nothing"`
	Comment   string        `json:"comment,omitempty" doc:"what a person said of it last, for whoever works on it next"`
	CreatedAt time.Time     `json:"createdAt" doc:"when it was made"`
	UpdatedAt time.Time     `json:"updatedAt" doc:"when its row last changed"`
}

// CheckTask refuses a task with a type, a size, a priority or lists that are
// none. CodeInvalid.
func CheckTask(t Task) error {
	if err := CheckName("task", t.Name); err != nil {
		return err
	}
	if err := CheckBody("task", t.Body); err != nil {
		return err
	}
	return firstOf(
		oneOf("type of a task", t.Type, TaskTypes()),
		oneOf("size of a task", t.Size, TaskSizes()),
		oneOf("priority of a task", t.Priority, TaskPriorities()),
		checkLines("paths", t.Paths, TaskPathsMax),
		checkPaths(t.Paths),
		checkLines("checks", t.Checks, TaskChecksMax),
		checkQuestions(t),
	)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// oneOf refuses a value that is not in a list, and names the nearest one.
func oneOf[T ~string](what string, v T, known []T) error {
	if slices.Contains(known, v) {
		return nil
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	err := Errorf(CodeInvalid, "%.60q is no %s", string(v), what)
	if name, ok := Nearest(string(v), names); ok {
		return err.WithHint("did you mean %s? There are %s", name, strings.Join(names, ", "))
	}
	return err.WithHint("there are %s", strings.Join(names, ", "))
}

func checkLines(what string, lines []string, most int) error {
	if len(lines) > most {
		return Errorf(CodeInvalid, "the task has %d %s, at most %d are taken", len(lines), what, most).WithHint("split the task")
	}
	for _, l := range lines {
		if strings.TrimSpace(l) == "" || len(l) > taskLineMax || strings.ContainsAny(l, "\n\r\x00") {
			return Errorf(CodeInvalid, "the task's %s hold %.60q, which is no single line of at most %d bytes", what, l, taskLineMax).
				WithHint("give each one a line of its own")
		}
	}
	return nil
}

// checkPaths refuses globs that no path of a repository can match: two tasks
// with such would look as if they touched nothing in common.
func checkPaths(globs []string) error {
	for _, glob := range globs {
		if strings.HasPrefix(glob, "/") || slices.Contains(strings.Split(glob, "/"), "..") {
			return Errorf(CodeInvalid, "the path %.60q of the task leads out of the repository", glob).
				WithHint("give it from the root of the repository, like prices/**")
		}
	}
	return nil
}

// CreateTaskRequest makes a task, pending: a person asks for it.
type CreateTaskRequest struct {
	PhaseID   PhaseID      `json:"phaseId" doc:"its phase"`
	Name      string       `json:"name" doc:"one line"`
	Body      string       `json:"body,omitempty" doc:"what is to be done, Markdown"`
	Type      TaskType     `json:"type,omitempty" doc:"default auto"`
	Size      TaskSize     `json:"size,omitempty" doc:"default medium"`
	Priority  TaskPriority `json:"priority,omitempty" doc:"default medium"`
	Paths     []string     `json:"paths,omitempty" doc:"globs of the paths that it may touch"`
	Checks    []string     `json:"checks,omitempty" doc:"how to see that it is done"`
	DependsOn []TaskID     `json:"dependsOn,omitempty" doc:"tasks that come before it"`
	// Questions are asked when the task is reached; only a decision has some.
	Questions []TaskQuestion `json:"questions,omitempty" doc:"what a decision asks, without answers"`
}

// TaskEdit changes a task. What is null stays.
type TaskEdit struct {
	PhaseID   *PhaseID      `json:"phaseId,omitempty" doc:"its phase from now on, of the same initiative"`
	Name      *string       `json:"name,omitempty" doc:"one line"`
	Body      *string       `json:"body,omitempty" doc:"what is to be done"`
	Type      *TaskType     `json:"type,omitempty" doc:"who does it"`
	Size      *TaskSize     `json:"size,omitempty" doc:"how much work it is"`
	Priority  *TaskPriority `json:"priority,omitempty" doc:"high, medium or low"`
	Paths     *[]string     `json:"paths,omitempty" doc:"all globs of the paths that it may touch"`
	Checks    *[]string     `json:"checks,omitempty" doc:"all ways to see that it is done"`
	DependsOn *[]TaskID     `json:"dependsOn,omitempty" doc:"all tasks that come before it"`
	// Questions take the place of those that are there, as long as nobody answered.
	Questions *[]TaskQuestion `json:"questions,omitempty" doc:"all that the decision asks, without answers"`
	Position  *int            `json:"position,omitempty" doc:"place among the tasks of its phase, from 0"`
	Status    *TaskStatus     `json:"status,omitempty" doc:"pending, done or cancelled: what a person may say"`
}

// TaskFilter selects tasks, in the order of their phases and positions.
type TaskFilter struct {
	Initiative string       `json:"initiative,omitempty"` // id or slug
	PhaseID    PhaseID      `json:"phaseId,omitempty"`
	Statuses   []TaskStatus `json:"statuses,omitempty"` // none: all
}

// Check refuses a filter that names neither an initiative nor a phase, or a
// status that is none. CodeInvalid.
func (f TaskFilter) Check() error {
	if f.Initiative == "" && f.PhaseID == "" {
		return Errorf(CodeInvalid, "whose tasks?").WithHint("name an initiative or a phase")
	}
	for _, s := range f.Statuses {
		if err := oneOf("status of a task", s, TaskStatuses()); err != nil {
			return err
		}
	}
	return nil
}

// TaskService is what faces may do with tasks.
type TaskService interface {
	// CreateTask makes one as the last of its phase. CodeInvalid, for questions of
	// what is no decision and for answers to them, too; CodeNotFound; CodeRefused in
	// an archived initiative.
	CreateTask(ctx context.Context, req CreateTaskRequest) (Task, error)
	// Tasks lists the tasks of an initiative or a phase without their texts, at
	// most InitiativeTasks. CodeInvalid, CodeNotFound.
	Tasks(ctx context.Context, f TaskFilter) ([]Task, error)
	// Task gives one with its text. CodeNotFound.
	Task(ctx context.Context, id TaskID) (Task, error)
	// EditTask changes one. CodeNotFound; CodeInvalid for dependencies in a circle,
	// on itself, on a task of another initiative or on none, naming the way
	// around; CodeRefused in an archived initiative, for a change of status that the
	// table does not allow, and for other questions than those that were answered. A
	// decision that is opened again is asked anew.
	EditTask(ctx context.Context, id TaskID, e TaskEdit) (Task, error)
}
