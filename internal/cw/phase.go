package cw

import (
	"context"
	"time"
)

// PhaseStatus is where a phase stands.
type PhaseStatus string

// The statuses of a phase.
const (
	PhaseDraft    PhaseStatus = "draft"
	PhaseApproved PhaseStatus = "approved" // a person accepted it: its tasks may be worked on
	PhaseRunning  PhaseStatus = "running"
	PhaseDone     PhaseStatus = "done"
	PhaseArchived PhaseStatus = "archived"
)

// PhaseTransitions is the table of legal status changes.
func PhaseTransitions() map[PhaseStatus][]PhaseStatus {
	return map[PhaseStatus][]PhaseStatus{
		PhaseDraft:    {PhaseApproved, PhaseArchived},
		PhaseApproved: {PhaseDraft, PhaseRunning, PhaseDone, PhaseArchived},
		PhaseRunning:  {PhaseApproved, PhaseDone, PhaseArchived},
		PhaseDone:     {PhaseApproved, PhaseArchived},
		PhaseArchived: {PhaseDraft},
	}
}

// Phase is a step of an initiative. It holds tasks and depends on other phases.
type Phase struct {
	ID           PhaseID      `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	InitiativeID InitiativeID `json:"initiativeId" doc:"the initiative"`
	Name         string       `json:"name" doc:"one line"`
	Body         string       `json:"body,omitempty" doc:"what it is to reach, Markdown; missing in lists"`
	Position     int          `json:"position" doc:"place among the phases of the initiative, from 0"`
	Status       PhaseStatus  `json:"status" doc:"where it stands"`
	DependsOn    []PhaseID    `json:"dependsOn" gorm:"-" doc:"phases that come before it, never null"`
	CreatedAt    time.Time    `json:"createdAt" doc:"when it was made"`
	UpdatedAt    time.Time    `json:"updatedAt" doc:"when its row last changed"`
}

// CreatePhaseRequest makes a phase, approved: a person asks for it.
type CreatePhaseRequest struct {
	Initiative string    `json:"initiative" doc:"id or slug"`
	Name       string    `json:"name" doc:"one line"`
	Body       string    `json:"body,omitempty" doc:"what it is to reach, Markdown"`
	DependsOn  []PhaseID `json:"dependsOn,omitempty" doc:"phases that come before it"`
}

// PhaseEdit changes a phase. What is null stays.
type PhaseEdit struct {
	Name      *string      `json:"name,omitempty" doc:"one line"`
	Body      *string      `json:"body,omitempty" doc:"what it is to reach"`
	Position  *int         `json:"position,omitempty" doc:"place among the phases, from 0"`
	DependsOn *[]PhaseID   `json:"dependsOn,omitempty" doc:"all phases that come before it"`
	Status    *PhaseStatus `json:"status,omitempty" doc:"draft, approved, done or archived"`
}

// PhaseService is what faces may do with phases.
type PhaseService interface {
	// CreatePhase makes one as the last. CodeInvalid; CodeNotFound; CodeRefused in
	// an archived initiative.
	CreatePhase(ctx context.Context, req CreatePhaseRequest) (Phase, error)
	// Phases lists an initiative's phases in order without their texts, archived
	// ones too. CodeNotFound.
	Phases(ctx context.Context, initiative string) ([]Phase, error)
	// Phase gives one with its text. CodeNotFound.
	Phase(ctx context.Context, id PhaseID) (Phase, error)
	// EditPhase changes one. CodeNotFound; CodeInvalid for dependencies in a
	// circle, on itself, on a phase of another initiative or on none, naming the
	// way around; CodeRefused in an archived initiative and for a change of status
	// that the table does not allow.
	EditPhase(ctx context.Context, id PhaseID, e PhaseEdit) (Phase, error)
}
