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

// The statuses of a step: pending → in_progress → completed or skipped. An agent
// may say of a pending step, too, that it is completed or skipped: many tell of a
// step only when it is over, and to refuse that would only cost them a call.
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

// PlanSummary is how far a plan is, as it is shown beside its agent.
type PlanSummary struct {
	ID      PlanID     `json:"id" doc:"the plan"`
	Title   string     `json:"title" doc:"what it is for"`
	Source  PlanSource `json:"source" doc:"tool or native"`
	Done    int        `json:"done" doc:"steps that are completed or skipped"`
	Of      int        `json:"of" doc:"all steps"`
	Current string     `json:"current" doc:"the title of the step at work, else of the next one; empty when all are over"`
}

// PlanChange is a list of steps that becomes an agent's plan.
type PlanChange struct {
	AgentID AgentID
	RunID   RunID
	Title   string
	Steps   []PlanStep // with ids; their statuses count for native lists only
	Source  PlanSource
	By      Actor
	// ReadAt is when a native list was written, where it is read a second time: what
	// the stored plan is newer than, it has seen. Zero: it is read for the first time.
	ReadAt time.Time
}

// StepMove is a step that its agent moves.
type StepMove struct {
	AgentID AgentID
	RunID   RunID
	Step    string
	Status  StepStatus
}

// PlanTurn is what a list of steps means for the plan that is there.
type PlanTurn string

// The turns of a plan.
const (
	PlanSame    PlanTurn = ""        // it changes nothing
	PlanCreated PlanTurn = "created" // a new plan
	PlanRevised PlanTurn = "revised" // the next revision of the same plan
	PlanMoved   PlanTurn = "moved"   // only steps of it moved
)

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

// Current gives the step at work, else the next one. false when all are over.
func (p Plan) Current() (PlanStep, bool) {
	for _, status := range []StepStatus{StepInProgress, StepPending} {
		if i := slices.IndexFunc(p.Steps, func(s PlanStep) bool { return s.Status == status }); i >= 0 {
			return p.Steps[i], true
		}
	}
	return PlanStep{}, false
}

// Summary tells how far the plan is.
func (p Plan) Summary() PlanSummary {
	current, _ := p.Current()
	return PlanSummary{ID: p.ID, Title: p.Title, Source: p.Source, Done: p.Done(), Of: len(p.Steps), Current: current.Title}
}

// Changed is the payload of the events that tell of the plan: without the
// descriptions, which may be long.
func (p Plan) Changed(agent string) PlanChanged {
	steps := slices.Clone(p.Steps)
	for i := range steps {
		steps[i].Description = ""
	}
	return PlanChanged{PlanID: p.ID, Name: agent, Title: p.Title, Steps: steps, Revision: p.Revision, Source: p.Source}
}

// StepMoved gives the type and the payload of the event that tells of a step that
// moved; false for a step that a CLI took back, which is no event.
func (p Plan) StepMoved(agent string, s PlanStep) (EventType, PlanStepMoved, bool) {
	moved := PlanStepMoved{PlanID: p.ID, Name: agent, StepID: s.ID, Title: s.Title, Status: s.Status, Done: p.Done(), Of: len(p.Steps)}
	switch s.Status {
	case StepInProgress:
		return EventPlanStepStarted, moved, true
	case StepCompleted, StepSkipped:
		return EventPlanStepCompleted, moved, true
	}
	return "", moved, false
}

// ErrNoPlan says that an agent has no plan.
func ErrNoPlan(agent string) error {
	return Errorf(CodeNotFound, "agent %s has no plan", agent).WithHint("an agent makes one with the tool %s", ToolPlanCreate)
}

// MayPlan refuses everybody but the agent itself. CodeForbidden.
func MayPlan(actor Actor, agent Agent) error {
	if actor.Kind == ActorAgent && actor.AgentID == agent.ID {
		return nil
	}
	return Errorf(CodeForbidden, "the plan of agent %s is its own to change", agent.Alias).
		WithHint("tell it what to do otherwise: cw agent send %s", agent.Alias)
}

// Move gives the plan with one step moved, and whether that changed anything: the
// status that it has already does not. CodeInvalid for a status that is none;
// CodeNotFound without such a step; CodeRefused, naming the moves there are, and
// for a plan that the CLI keeps.
func (p Plan) Move(step string, to StepStatus) (Plan, bool, error) {
	if !slices.Contains(StepStatuses(), to) {
		return p, false, Errorf(CodeInvalid, "there is no status %.40q of a step", string(to)).WithHint("the statuses are in_progress, completed and skipped")
	}
	i := slices.IndexFunc(p.Steps, func(s PlanStep) bool { return s.ID == step })
	if i < 0 {
		return p, false, Errorf(CodeNotFound, "the plan has no step %.40q", step).WithHint("its steps are step-0 to step-%d", len(p.Steps)-1)
	}
	from := p.Steps[i].Status
	switch {
	case p.Source == PlanNative:
		return p, false, Errorf(CodeRefused, "this plan is the CLI's own list").
			WithHint("move its steps with the CLI's own tool, or make a plan with %s", ToolPlanCreate)
	case from == to:
		return p, false, nil
	case from != StepPending && from != StepInProgress:
		return p, false, Errorf(CodeRefused, "%s is %s already, and that is final", step, from).
			WithHint("make the plan anew when there is more to do: steps with the same title keep their status")
	case to == StepPending:
		return p, false, Errorf(CodeRefused, "%s is %s and cannot be %s again", step, from, to).
			WithHint("it can be completed or skipped")
	}
	p.Steps = slices.Clone(p.Steps)
	p.Steps[i].Status = to
	return p, true, nil
}

// Change gives what a list makes of an agent's newest plan, which is zero when
// there is none:
//   - no plan, or one that is over: a new plan; but a native list with the titles
//     of a native plan is that plan, also when it is over;
//   - an open plan: its next revision, which keeps the id. Of a list that the agent
//     makes with the tool, steps whose title is unchanged keep their status;
//   - a native list with the titles of an open native plan only moves its steps;
//   - a native list beside an open plan of the tool: nothing.
//
// The id and the times of a new plan are left to whoever stores it.
func (p Plan) Change(c PlanChange) (Plan, PlanTurn) {
	native := c.Source == PlanNative
	known := native && !c.ReadAt.IsZero() && !p.UpdatedAt.Before(c.ReadAt)
	next := p
	next.RunID, next.Title, next.Source, next.Steps = c.RunID, c.Title, c.Source, slices.Clone(c.Steps)
	switch {
	case len(c.Steps) == 0, known, native && p.Open() && p.Source == PlanTool:
		return p, PlanSame
	case native && p.Source == PlanNative && sameTitles(p.Steps, c.Steps):
		next.Title = p.Title
		if len(p.MovesTo(next)) == 0 {
			return p, PlanSame
		}
		return next, PlanMoved
	case !p.Open():
		return Plan{AgentID: c.AgentID, RunID: c.RunID, Title: c.Title, Steps: next.Steps, Source: c.Source, Revision: 1}, PlanCreated
	}
	if !native {
		next.Steps = keepStatuses(p.Steps, next.Steps)
		if p.Source == PlanTool && p.Title == next.Title && slices.Equal(p.Steps, next.Steps) {
			return p, PlanSame
		}
	}
	next.Revision++
	return next, PlanRevised
}

// MovesTo gives the steps of next, a plan with the same steps, that stand
// elsewhere now.
func (p Plan) MovesTo(next Plan) []PlanStep {
	var moved []PlanStep
	for i, s := range next.Steps {
		if i < len(p.Steps) && p.Steps[i].Status != s.Status {
			moved = append(moved, s)
		}
	}
	return moved
}

func sameTitles(a, b []PlanStep) bool {
	return slices.EqualFunc(a, b, func(a, b PlanStep) bool { return a.Title == b.Title })
}

// keepStatuses gives steps the statuses that those of the same title had before.
// Of several with one title the first takes that of the first.
func keepStatuses(before, steps []PlanStep) []PlanStep {
	left := map[string][]StepStatus{}
	for _, s := range before {
		left[s.Title] = append(left[s.Title], s.Status)
	}
	for i, s := range steps {
		if had := left[s.Title]; len(had) > 0 {
			steps[i].Status, left[s.Title] = had[0], had[1:]
		}
	}
	return steps
}

// PlanService is what agents keep their plans with, and people see.
type PlanService interface {
	// SetPlan makes the plan of an agent, or revises the open one, which keeps its
	// id; the same plan once more changes nothing. Steps of the open plan whose
	// title is unchanged keep their status. CodeInvalid; CodeForbidden for everybody
	// but the agent itself.
	SetPlan(ctx context.Context, ref string, req PlanRequest) (Plan, error)
	// MoveStep moves a step of the newest plan: pending → in_progress → completed or
	// skipped, and from pending to these at once; the status it has already changes
	// nothing. CodeNotFound without a plan or such a step; CodeRefused, naming the
	// moves there are, and for a plan that the CLI keeps; CodeForbidden for everybody
	// but the agent itself.
	MoveStep(ctx context.Context, ref, step string, req StepRequest) (Plan, error)
	// Plan gives the newest plan of an agent. CodeNotFound without one.
	Plan(ctx context.Context, ref string) (Plan, error)
}
