package dispatch

import (
	"context"
	"time"

	"cw/internal/cw"
)

// Store is what the dispatcher needs kept. Each method is one transaction.
type Store interface {
	DispatchWorld(ctx context.Context) (cw.DispatchWorld, error)
	DispatchState(ctx context.Context) (cw.DispatchState, error)
	SetDispatchState(ctx context.Context, s cw.DispatchState, ev cw.Event) error
	// MoveTask, MovePhase and MoveMerge store a step; false when the row stands
	// somewhere else by now, and then nothing is stored.
	MoveTask(ctx context.Context, m cw.TaskMove) (bool, error)
	MovePhase(ctx context.Context, id cw.PhaseID, from []cw.PhaseStatus, to cw.PhaseStatus) (bool, error)
	MoveMerge(ctx context.Context, m cw.MergeMove) (bool, error)
	// BeginIntegration stores a branch that was made, unless it is known;
	// LandIntegration where it was landed, and nothing else of it.
	BeginIntegration(ctx context.Context, in cw.Integration) error
	LandIntegration(ctx context.Context, in cw.Integration, events ...cw.Event) error
	// Integrations gives the branches of all active initiatives, and IntegrationsOf
	// those of one.
	Integrations(ctx context.Context) ([]cw.Integration, error)
	IntegrationsOf(ctx context.Context, id cw.InitiativeID) ([]cw.Integration, error)
	MergesOf(ctx context.Context, id cw.InitiativeID) ([]cw.Merge, error)
	MergeOfTask(ctx context.Context, id cw.TaskID) (cw.Merge, bool, error)
	TaskTimes(ctx context.Context, id cw.InitiativeID) (map[cw.TaskSize][]time.Duration, error)
	// Unlanded gives the initiatives whose tasks are all over and whose branch has
	// something that is not landed.
	Unlanded(ctx context.Context) ([]cw.InitiativeRef, error)
	InitiativeByRef(ctx context.Context, ref string) (cw.Initiative, error)
	InitiativeState(ctx context.Context, id cw.InitiativeID) (cw.InitiativeState, error)
	TaskByID(ctx context.Context, id cw.TaskID) (cw.Task, error)
	ProjectByRef(ctx context.Context, ref string) (cw.Project, error)
	AgentView(ctx context.Context, ref string) (cw.AgentView, error)
}

// Agents is what the dispatcher asks of those who run them.
type Agents interface {
	// SpawnTask makes the agent of a task and gives it the task, or does neither.
	SpawnTask(ctx context.Context, req cw.SpawnRequest) (cw.AgentView, error)
	Stop(ctx context.Context, ref string, req cw.StopRequest) (cw.AgentView, error)
	// GoOn lets an agent look whether a text waits for it.
	GoOn(ctx context.Context, id cw.AgentID) error
	Diff(ctx context.Context, ref string, req cw.DiffRequest) (cw.Diff, error)
	// RunCommands runs the commands of a project: see cw.CommandRun.
	RunCommands(ctx context.Context, r cw.CommandRun) (cw.CommandResult, error)
	// EndChecks ends the checks that go on and that wanted does not name. It is asked
	// after it was looked which go on.
	EndChecks(ctx context.Context, wanted func(context.Context) (map[cw.RunID]bool, error)) error
}

// Repos is what the dispatcher asks of git. All but Land and Publish work in
// cw's own copies.
type Repos interface {
	// Begin finds the commit that a new branch of an initiative begins from: HEAD
	// of the user's checkout, or the default branch of a remote.
	Begin(ctx context.Context, p cw.Project) (branch, commit string, err error)
	// Ensure makes sure that the branch is where it is known to be, and gives its
	// head: it is made, made again, or put back where somebody moved it. ours tells
	// of a commit whether cw itself moved it there.
	Ensure(ctx context.Context, p cw.Project, in cw.Integration, ours func(ctx context.Context, commit string) (bool, error)) (head, note string, err error)
	// Merge tries a merge without touching anything. The same request gives the
	// same commit.
	Merge(ctx context.Context, r MergeRequest) (MergeResult, error)
	// Move moves the branch from one commit to another, or fails.
	Move(ctx context.Context, p cw.Project, in cw.Integration, from, to string) error
	// Publish shows the branch in the user's repository, below refs/remotes/cw.
	Publish(ctx context.Context, p cw.Project, in cw.Integration) error
	// Scratch makes a checkout of exactly one commit, with the files that a worktree
	// of an agent gets from the user's checkout, and Unscratch takes it away.
	Scratch(ctx context.Context, p cw.Project, commit, path string, include []string) error
	Unscratch(ctx context.Context, p cw.Project, path string) error
	// ScratchName returns the name of the checkout that a folder belongs to: the
	// folder's own name, or the name it had before Unscratch was interrupted.
	ScratchName(folder string) string
	// Changed tells what commands changed in a scratch checkout.
	Changed(ctx context.Context, p cw.Project, path, commit string) ([]string, error)
	// File reads the project file at a commit of cw's copy.
	File(ctx context.Context, p cw.Project, commit string) (cw.ProjectFileView, error)
	// Contains tells whether a commit has another among its ancestors.
	Contains(ctx context.Context, p cw.Project, commit, ancestor string) (bool, error)
	// Reserved names files of cw's own that commits touch.
	Reserved(ctx context.Context, p cw.Project, base, head string) ([]string, error)
	// Diff compares a commit with where it parted from another.
	Diff(ctx context.Context, p cw.Project, base, head string, req cw.DiffRequest) (cw.Diff, error)
	// Target is the commit of the branch from which that of an initiative began, as it
	// is now at the user's. CodeNotFound when it is gone.
	Target(ctx context.Context, p cw.Project, in cw.Integration) (string, error)
	Land(ctx context.Context, r LandRequest) (cw.Landing, error)
}

// MergeRequest asks for a merge.
type MergeRequest struct {
	Project    cw.Project
	Onto, Head string
	Strategy   cw.MergeStrategy
	Message    string
	At         time.Time
}

// MergeResult is what came of it.
type MergeResult struct {
	Commit    string
	UpToDate  bool // the branch holds it already
	Conflicts []cw.MergeConflict
}

// LandRequest asks for the branch of an initiative on a branch of the user's.
type LandRequest struct {
	Project     cw.Project
	Integration cw.Integration
	Into        string // "": the branch it began from
	Message     string
	At          time.Time
	DryRun      bool
}

// Machine measures what is not stored.
type Machine interface {
	Room(ctx context.Context) Room
	// Providers tells about providers by name; "" is the one that is taken when
	// nobody names any.
	Providers(ctx context.Context, names []string) map[string]Provider
}
