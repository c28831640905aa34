package cw

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of plans.
const (
	PlanStepsMax = 100     // steps of one plan
	PlanTitleMax = 500     // characters of a title
	PlanTextMax  = 4 << 10 // bytes of a description
)

// PlanSource says who keeps a plan.
type PlanSource string

// The sources of plans.
const (
	PlanTool   PlanSource = "tool"   // the agent, with the tools of cw
	PlanNative PlanSource = "native" // the CLI's own list, read from its output
)

// StepStatus is where a step of a plan stands.
type StepStatus string

// The statuses of a step: pending → in_progress → completed or skipped.
const (
	StepPending    StepStatus = "pending"
	StepInProgress StepStatus = "in_progress"
	StepCompleted  StepStatus = "completed"
	StepSkipped    StepStatus = "skipped"
)

// StepStatuses lists all statuses of a step.
func StepStatuses() []StepStatus {
	return []StepStatus{StepPending, StepInProgress, StepCompleted, StepSkipped}
}

// Plan is an agent's own list of steps. An agent has at most one that is open; a
// new list is its next revision. It outlives runs.
type Plan struct {
	ID        PlanID     `json:"id" gorm:"primaryKey" doc:"unguessable id; a revision keeps it"`
	AgentID   AgentID    `json:"agentId" doc:"whose it is"`
	RunID     RunID      `json:"runId,omitempty" doc:"the run that last changed it"`
	Title     string     `json:"title" doc:"what it is for"`
	Steps     []PlanStep `json:"steps" gorm:"serializer:json;column:steps_json" doc:"in order"`
	Revision  int        `json:"revision" doc:"from 1"`
	Source    PlanSource `json:"source" doc:"tool: the agent keeps it with cw's tools; native: it is the CLI's own list"`
	CreatedAt time.Time  `json:"createdAt" doc:"when it was made"`
	UpdatedAt time.Time  `json:"updatedAt" doc:"when it last changed"`
}

// PlanStep is one step.
type PlanStep struct {
	ID          string     `json:"id" doc:"step-0, step-1, …"`
	Title       string     `json:"title" doc:"what is done"`
	Description string     `json:"description,omitempty" doc:"more about it"`
	Status      StepStatus `json:"status" doc:"where it stands"`
}

// PlanRequest makes a plan, or revises the one that is open.
type PlanRequest struct {
	Title string            `json:"title" doc:"what the plan is for"`
	Steps []PlanStepRequest `json:"steps" doc:"1 to 100 steps, in order"`
}

// PlanStepRequest is one step of a plan that is made.
type PlanStepRequest struct {
	Title       string `json:"title" doc:"what is done"`
	Description string `json:"description,omitempty" doc:"more about it"`
}

// StepRequest moves one step.
type StepRequest struct {
	Status StepStatus `json:"status" doc:"in_progress, completed or skipped"`
}

// Check refuses what is no plan. CodeInvalid.
func (r PlanRequest) Check() error {
	if err := checkPlanTitle("the plan's title", r.Title); err != nil {
		return err
	}
	if len(r.Steps) == 0 || len(r.Steps) > PlanStepsMax {
		return Errorf(CodeInvalid, "the plan has %d steps", len(r.Steps)).WithHint("a plan has 1 to %d steps", PlanStepsMax)
	}
	for i, s := range r.Steps {
		if err := checkPlanTitle(fmt.Sprintf("the title of step %d", i), s.Title); err != nil {
			return err
		}
		if len(s.Description) > PlanTextMax || !utf8.ValidString(s.Description) || strings.ContainsRune(s.Description, 0) {
			return Errorf(CodeInvalid, "the description of step %d is not plain text of at most %d bytes", i, PlanTextMax)
		}
	}
	return nil
}

func checkPlanTitle(what, title string) error {
	if strings.TrimSpace(title) == "" || utf8.RuneCountInString(title) > PlanTitleMax || !utf8.ValidString(title) || strings.ContainsRune(title, 0) {
		return Errorf(CodeInvalid, "%s is not a text of 1 to %d characters", what, PlanTitleMax)
	}
	return nil
}

// NewSteps gives the steps of a request, none of them begun.
func (r PlanRequest) NewSteps() []PlanStep {
	steps := make([]PlanStep, len(r.Steps))
	for i, s := range r.Steps {
		steps[i] = PlanStep{ID: "step-" + strconv.Itoa(i), Title: s.Title, Description: s.Description, Status: StepPending}
	}
	return steps
}

// Open tells whether a step is still to be done.
func (p Plan) Open() bool {
	return slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return s.Status == StepPending || s.Status == StepInProgress })
}

// Done counts the steps that are completed or skipped.
func (p Plan) Done() int {
	n := 0
	for _, s := range p.Steps {
		if s.Status == StepCompleted || s.Status == StepSkipped {
			n++
		}
	}
	return n
}

// PlanService is what agents keep their plans with, and people see.
type PlanService interface {
	// SetPlan makes the plan of an agent, or revises the open one, which keeps its
	// id. Only the agent itself may. CodeInvalid.
	SetPlan(ctx context.Context, ref string, req PlanRequest) (Plan, error)
	// MoveStep moves a step of the open plan: pending → in_progress → completed or
	// skipped; the status it has already changes nothing. CodeNotFound without a
	// plan or such a step; CodeRefused, naming the moves there are.
	MoveStep(ctx context.Context, ref, step string, req StepRequest) (Plan, error)
	// Plan gives the newest plan of an agent. CodeNotFound without one.
	Plan(ctx context.Context, ref string) (Plan, error)
}
