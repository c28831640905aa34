package cw

import (
	"context"
	"time"
)

// DispatchState says whether tasks are started.
type DispatchState string

// The states of the dispatcher.
const (
	DispatchRunning  DispatchState = "running"  // what is ready is started
	DispatchPaused   DispatchState = "paused"   // nothing is started or merged; agents work on
	DispatchDraining DispatchState = "draining" // nothing is started; what is done is still merged
)

// DispatchStates lists all states.
func DispatchStates() []DispatchState {
	return []DispatchState{DispatchRunning, DispatchPaused, DispatchDraining}
}

// WaitCode says in one word why a task is not started.
type WaitCode string

// Why a task waits, in the order in which they are looked at: the first that
// holds is the reason.
const (
	WaitPhase      WaitCode = "phase"      // its phase is not approved, or waits for another one
	WaitCircle     WaitCode = "circle"     // what it depends on depends on it
	WaitDependency WaitCode = "dependency" // another task comes before it
	WaitPerson     WaitCode = "person"     // a checkpoint: somebody has to decide or act
	WaitBlocked    WaitCode = "blocked"    // it failed, and somebody has to look
	WaitProject    WaitCode = "project"    // its initiative has no project, or cw.yaml is not trusted
	WaitRetry      WaitCode = "retry"      // it failed, and is tried again at a time
	WaitPaused     WaitCode = "paused"     // the dispatcher is paused or drains
	WaitPaths      WaitCode = "paths"      // a task that runs, or waits longer, touches the same paths
	WaitBudget     WaitCode = "budget"     // a budget is spent
	WaitAccount    WaitCode = "account"    // every account of its provider is at its limit
	WaitLimit      WaitCode = "limit"      // as many agents run as may
	WaitResources  WaitCode = "resources"  // not enough free memory or disk
)

// WaitReason is why a task is not started: exactly one, and true.
type WaitReason struct {
	Code  WaitCode   `json:"code" doc:"phase, circle, dependency, person, blocked, project, retry, paused, paths, budget, account, limit or resources"`
	Text  string     `json:"text" doc:"the reason in words"`
	Hint  string     `json:"hint,omitempty" doc:"what somebody may do about it; missing when there is nothing"`
	Tasks []TaskID   `json:"tasks,omitempty" doc:"the tasks that it waits for"`
	Until *time.Time `json:"until,omitempty" doc:"when it is looked at again; missing when that is not known"`
}

// DispatchTask is a task as the dispatcher sees it.
type DispatchTask struct {
	ID           TaskID       `json:"id" doc:"the task"`
	Name         string       `json:"name" doc:"its name"`
	InitiativeID InitiativeID `json:"initiativeId" doc:"its initiative"`
	Initiative   string       `json:"initiative" doc:"its slug"`
	PhaseID      PhaseID      `json:"phaseId" doc:"its phase"`
	Status       TaskStatus   `json:"status" doc:"where it stands"`
	Priority     TaskPriority `json:"priority" doc:"high, medium or low"`
	AgentID      AgentID      `json:"agentId,omitempty" doc:"the agent that works on it, or did last"`
	Agent        string       `json:"agent,omitempty" doc:"the agent's name"`
	AgentStatus  AgentStatus  `json:"agentStatus,omitempty" doc:"where its agent stands"`
	Since        time.Time    `json:"since" doc:"since when it is where it is"`
	Wait         *WaitReason  `json:"wait,omitempty" doc:"why it is not started; missing for one that runs or is ready"`
	Behind       int          `json:"behind,omitempty" doc:"of one that is worked on, or waits for a person: tasks that wait for it, directly or through others; missing when there are none"`
	NoPaths      bool         `json:"noPaths,omitempty" doc:"it does not say which paths it touches, so nothing keeps others away from them"`
}

// DispatchStatus is what the dispatcher does and why.
type DispatchStatus struct {
	State    DispatchState   `json:"state" doc:"running, paused or draining"`
	Pressure string          `json:"pressure,omitempty" doc:"why nothing at all is started, though it would be: memory or disk is short; missing when it is not"`
	Limits   DispatchLimits  `json:"limits" doc:"how many agents may run at once"`
	Running  []DispatchTask  `json:"running" doc:"tasks whose agents work, and those that are checked or merged"`
	Ready    []DispatchTask  `json:"ready" doc:"tasks that are started next, in this order"`
	Waiting  []DispatchTask  `json:"waiting" doc:"tasks that wait, each with its reason"`
	Merges   []Merge         `json:"merges" doc:"work that is not merged yet, in the order in which it is merged"`
	Landing  []InitiativeRef `json:"landing,omitempty" doc:"initiatives whose tasks are all done and whose branch has something that is not landed"`
}

// InitiativeRef names an initiative.
type InitiativeRef struct {
	ID   InitiativeID `json:"id" doc:"the initiative"`
	Slug string       `json:"slug" doc:"its slug"`
}

// DispatchLimits bounds how many agents work on tasks at once. 0: no limit of
// that kind.
type DispatchLimits struct {
	Machine    int `json:"machine" doc:"on this machine, all agents counted; never 0"`
	Provider   int `json:"provider" doc:"of one provider; 0: no limit"`
	Account    int `json:"account" doc:"of one account; 0: no limit"`
	Project    int `json:"project" doc:"in one project; 0: no limit"`
	Initiative int `json:"initiative" doc:"of one initiative; 0: no limit"`
}

// DispatchStep is one start in a simulated plan.
type DispatchStep struct {
	DispatchTask

	Start  time.Time `json:"start" doc:"when it would be started"`
	Finish time.Time `json:"finish" doc:"when it would be merged"`
}

// DispatchPlan is what would happen, if every task took as long as such tasks
// took so far, and nothing failed.
type DispatchPlan struct {
	Initiative InitiativeRef  `json:"initiative" doc:"the initiative"`
	Steps      []DispatchStep `json:"steps" doc:"starts, in their order"`
	Waiting    []DispatchTask `json:"waiting" doc:"tasks that would never be started, each with its reason"`
	Finish     *time.Time     `json:"finish" doc:"when the last one would be merged; null when some would never be started"`
	Estimate   string         `json:"estimate" doc:"from what the times are: measured in this initiative, or assumed"`
}

// DispatchRequest changes the state of the dispatcher.
type DispatchRequest struct {
	State DispatchState `json:"state" doc:"running, paused or draining"`
}

// TaskVerdict is what a person says of a checkpoint.
type TaskVerdict struct {
	Accept  bool   `json:"accept" doc:"true: it is done; false: it is not, and goes back"`
	Comment string `json:"comment,omitempty" doc:"for whoever works on it next, at most 64 KiB; needed to reject, and to decide where nothing is asked"`
	// Answers hold one for each question of a decision: by its id, in the form of
	// AnswersRequest.
	Answers map[string]string `json:"answers,omitempty" doc:"question id → answer, for all that a decision asks: free text, a label, or a JSON array of labels where several may be chosen"`
}

// DispatchService is what faces may do with the dispatcher.
type DispatchService interface {
	// Dispatch tells what runs, what is ready and why the rest waits. initiative
	// names one by id or slug; "": all. CodeNotFound.
	Dispatch(ctx context.Context, initiative string) (DispatchStatus, error)
	// DispatchPlan simulates the order in which an initiative's tasks would be
	// started and merged. CodeNotFound.
	DispatchPlan(ctx context.Context, initiative string) (DispatchPlan, error)
	// SetDispatch pauses, drains or goes on. CodeInvalid.
	SetDispatch(ctx context.Context, req DispatchRequest) (DispatchStatus, error)
	// RetryTask gives a task that is blocked, or waits to be tried again, its tries
	// back. CodeNotFound; CodeRefused for one that is neither.
	RetryTask(ctx context.Context, id TaskID) (Task, error)
	// DecideTask says that a checkpoint is done, or that its result is not what was
	// wanted. CodeNotFound; CodeInvalid for a rejection without a comment, for a
	// decision that does not say what was decided, and for answers that are none, are
	// missing or were not asked for; CodeRefused for a task that waits for no verdict.
	DecideTask(ctx context.Context, id TaskID, v TaskVerdict) (Task, error)
}
