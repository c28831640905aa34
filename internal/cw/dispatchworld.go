package cw

import "time"

// DispatchWorld is everything that decisions about tasks look at, as of one
// moment. What is measured and not stored is added by the dispatcher.
type DispatchWorld struct {
	State       DispatchState
	Initiatives []Initiative // active ones, oldest first, with their projects
	Phases      []Phase      // of these, in order
	Tasks       []Task       // of these without their texts, in the order of their phases; not cancelled ones
	Merges      []Merge      // of these, that are not merged or dismissed; oldest first
	Agents      []TaskAgent  // that work on tasks that are not over, have a process, or are parked with a task that was cancelled
	OverBudget  []InitiativeID
	Dropped     []PhaseID // phases of these that have tasks, all of which were cancelled
}

// TaskAgent is an agent as the dispatcher sees it.
type TaskAgent struct {
	ID           AgentID
	Alias        string
	Status       AgentStatus
	Reason       Reason
	RetryAt      *time.Time
	Error        string
	Result       string
	NoChanges    string
	Provider     string
	AccountID    AccountID
	InitiativeID InitiativeID
	TaskID       TaskID
	ProjectIDs   []ProjectID
	Removed      bool
	Settling     bool // cw still clears up after its last run
	Commits      int  // in all its projects
	Dirty        int
	Waiting      int // questions to people that are open
	Queued       int // texts that wait for its next run
	UpdatedAt    time.Time
}

// Alive tells whether it has a process, or is about to.
func (a TaskAgent) Alive() bool { return !a.Removed && a.Status.Alive() }

// TaskMove is a step of a task. It is stored only when the task stands in one of
// From and, with OfAgent, still belongs to that agent.
type TaskMove struct {
	ID      TaskID
	From    []TaskStatus
	OfAgent AgentID // "": whoever it belongs to
	To      TaskStatus
	// What is null stays.
	Tries    *int
	Setbacks *int
	RetryAt  *time.Time // a zero time takes it away
	Blocked  *string
	Comment  *string
	Summary  *string
	Outside  *OutsideFiles // a total of 0 takes it away
	// Questions are those of the task with their answers: nothing is stored when the
	// task asks others by now. nil: they stay.
	Questions []TaskQuestion
	Events    []Event
}

// MergeMove is a step of a merge with the step of its task that belongs to it,
// and the text with which its agent goes on. All of it is stored, or nothing.
type MergeMove struct {
	Merge        Merge         // as it becomes; a new one is made
	From         []MergeStatus // none: it is new
	Task         *TaskMove
	Message      *Message // queued for the agent; nil for none
	Integrations []Integration
	Events       []Event
}

// Problem is why something cannot be done, and what to do about it.
type Problem struct {
	Text string
	Hint string
}
