package planning

import (
	"context"

	"cw/internal/cw"
)

// Store is what planning needs kept. Each method is one transaction.
type Store interface {
	// ProjectByRef finds a project by id, name, path or URL. CodeNotFound.
	ProjectByRef(ctx context.Context, ref string) (cw.Project, error)
	// AgentByRef finds an agent by alias or id, a removed one too. CodeNotFound.
	AgentByRef(ctx context.Context, ref string) (cw.Agent, error)

	// AddInitiative stores a new initiative with its first page. Its slug is
	// numbered when it is taken ("sale", "sale-2"); the events get the slug that it
	// became. It gives the initiative as it was stored.
	AddInitiative(ctx context.Context, i cw.Initiative, root cw.Document) (cw.Initiative, error)
	// InitiativePage lists initiatives.
	InitiativePage(ctx context.Context, f cw.InitiativeFilter) (cw.Page[cw.Initiative], error)
	// InitiativeByRef finds one by id or slug. CodeNotFound.
	InitiativeByRef(ctx context.Context, ref string) (cw.Initiative, error)
	// InitiativeState gives one with everything that belongs to it, as of one
	// moment. CodeNotFound.
	InitiativeState(ctx context.Context, id cw.InitiativeID) (cw.InitiativeState, error)
	// ChangeInitiative reads the state, lets decide decide and stores what it
	// says, all in one transaction. What decide refuses is given back as it is,
	// and nothing is stored. decide may be called again; it must be pure.
	ChangeInitiative(ctx context.Context, id cw.InitiativeID, decide func(cw.InitiativeState) (cw.InitiativeChange, error)) error

	// DocumentByID, PhaseByID, TaskByID and ProposalByID find one; removed pages
	// are not found. CodeNotFound.
	DocumentByID(ctx context.Context, id cw.PageID) (cw.Document, error)
	PhaseByID(ctx context.Context, id cw.PhaseID) (cw.Phase, error)
	TaskByID(ctx context.Context, id cw.TaskID) (cw.Task, error)
	ProposalByID(ctx context.Context, id cw.ProposalID) (cw.Proposal, error)
	// ProposalPage lists proposals. CodeNotFound for an initiative or an agent
	// that is none.
	ProposalPage(ctx context.Context, f cw.ProposalFilter) (cw.Page[cw.Proposal], error)
}
