package cw

import (
	"context"
	"time"
)

// MergeStatus is where the work of a task stands on its way to the branch of its
// initiative.
type MergeStatus string

// The statuses of a merge.
const (
	MergeQueued     MergeStatus = "queued"
	MergeChecking   MergeStatus = "checking"   // the checks run at the merged commit, or a person looks at it
	MergeConflicted MergeStatus = "conflicted" // it went back to its agent, or waits for a person
	MergeRed        MergeStatus = "red"        // a check failed: likewise
	MergeMerged     MergeStatus = "merged"
	MergeDismissed  MergeStatus = "dismissed" // its task was cancelled, or done another way
)

// MergeTransitions is the table of legal status changes.
func MergeTransitions() map[MergeStatus][]MergeStatus {
	return map[MergeStatus][]MergeStatus{
		MergeQueued:     {MergeChecking, MergeConflicted, MergeRed, MergeDismissed, MergeMerged},
		MergeChecking:   {MergeQueued, MergeRed, MergeConflicted, MergeMerged, MergeDismissed},
		MergeConflicted: {MergeQueued, MergeDismissed},
		MergeRed:        {MergeQueued, MergeDismissed},
		MergeMerged:     {},
		MergeDismissed:  {MergeQueued},
	}
}

// MergeStrategy says how work comes onto a branch.
type MergeStrategy string

// The strategies.
const (
	MergeCommit MergeStrategy = "merge"  // a commit with two parents
	MergeSquash MergeStrategy = "squash" // one commit with all changes
)

// MergeStrategies lists all strategies.
func MergeStrategies() []MergeStrategy { return []MergeStrategy{MergeCommit, MergeSquash} }

// Merge is the work of one task on its way to the branch of its initiative.
type Merge struct {
	ID           MergeID      `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	InitiativeID InitiativeID `json:"initiativeId" doc:"the initiative"`
	TaskID       TaskID       `json:"taskId" doc:"the task"`
	AgentID      AgentID      `json:"agentId" doc:"whose work it is"`
	Status       MergeStatus  `json:"status" doc:"queued, checking, conflicted, red, merged or dismissed"`
	Parts        []MergePart  `json:"parts" gorm:"serializer:json" doc:"one for each project with commits"`
	Verify       bool         `json:"verify" doc:"a person looks at the result before it is merged"`
	VerifiedBy   string       `json:"verifiedBy,omitempty" doc:"who did"`
	Conflicts    int          `json:"conflicts" doc:"how often it conflicted"`
	Reds         int          `json:"reds" doc:"how often a check failed"`
	Evidence     string       `json:"evidence,omitempty" doc:"what was found last: conflicting hunks, or the end of the failed check's output"`
	Wait         string       `json:"wait,omitempty" doc:"what it waits for beside those before it; missing when nothing stands in its way"`
	WaitCode     WaitCode     `json:"waitCode,omitempty" doc:"the same in one word, as for a task: person (somebody looks at the result), project (somebody has to act: cw.yaml is not trusted or cannot be used, the branch was moved) or retry (it is tried again by itself)"`
	QueuedAt     time.Time    `json:"queuedAt" doc:"when it was queued first; the oldest is merged first"`
	MergedAt     *time.Time   `json:"mergedAt,omitempty" doc:"when it was merged"`
	UpdatedAt    time.Time    `json:"updatedAt" doc:"when its row last changed"`
}

// MergePart is the work of a task in one project.
type MergePart struct {
	ProjectID ProjectID `json:"projectId" doc:"the project"`
	Project   string    `json:"project" doc:"its name"`
	Head      string    `json:"head" doc:"the agent's last commit"`
	Onto      string    `json:"onto,omitempty" doc:"the commit of the initiative's branch that it was merged with"`
	Commit    string    `json:"commit,omitempty" doc:"the merged commit: exactly what was checked"`
	Checked   bool      `json:"checked,omitempty" doc:"the checks are green at that commit, or there are none"`
	CheckRun  RunID     `json:"checkRun,omitempty" doc:"the run of the checks"`
	Applied   bool      `json:"applied,omitempty" doc:"the branch has it"`
}

// MergeConflict is a path that two sides changed in ways that do not go together.
type MergeConflict struct {
	Path string `json:"path" doc:"the path"`
	Kind string `json:"kind" doc:"as git names it: contents, modify/delete, rename/rename, binary and so on"`
	Text string `json:"text,omitempty" doc:"the conflicting hunks with their markers, and git's words where it is not contents that conflict; missing for a binary file"`
}

// Integration is the branch of an initiative in one project.
type Integration struct {
	InitiativeID InitiativeID `json:"initiativeId" gorm:"primaryKey" doc:"the initiative"`
	ProjectID    ProjectID    `json:"projectId" gorm:"primaryKey" doc:"the project"`
	Project      string       `json:"project" doc:"its name"`
	Branch       string       `json:"branch" doc:"cw/SLUG"`
	BaseBranch   string       `json:"baseBranch" doc:"the branch it began from; empty for a detached base"`
	BaseCommit   string       `json:"baseCommit" doc:"the commit it began from"`
	Head         string       `json:"head" doc:"its last commit"`
	Landed       string       `json:"landed,omitempty" doc:"the commit of it that was last landed; missing before"`
	LandedOn     string       `json:"landedOn,omitempty" doc:"the branch on which it was"`
	UpdatedAt    time.Time    `json:"updatedAt" doc:"when its row last changed"`
}

// LandRequest brings the branch of an initiative into the user's repository.
type LandRequest struct {
	Into    string `json:"into,omitempty" doc:"the branch of the user's repository; default: the one it began from"`
	Project string `json:"project,omitempty" doc:"only in this project; default: all of the initiative"`
	DryRun  bool   `json:"dryRun,omitempty" doc:"say what would be done and do nothing"`
	// Unfinished lands while tasks are not done.
	Unfinished bool `json:"unfinished,omitempty" doc:"land what is merged so far, though tasks are not done"`
}

// Landing is what became of one project's branch.
type Landing struct {
	ProjectID ProjectID `json:"projectId" doc:"the project"`
	Project   string    `json:"project" doc:"its name"`
	Branch    string    `json:"branch" doc:"the initiative's branch"`
	Head      string    `json:"head" doc:"its last commit"`
	Into      string    `json:"into" doc:"the branch of the user's repository"`
	How       string    `json:"how" doc:"up-to-date, fast-forward, checked-out (fast-forward in the checkout) or merge"`
	Before    string    `json:"before" doc:"the commit of that branch before"`
	After     string    `json:"after" doc:"its commit now, or as it would be"`
	Commits   int       `json:"commits" doc:"commits that came onto it"`
	Stat      Stat      `json:"stat" doc:"size of the difference"`
	Checkout  string    `json:"checkout,omitempty" doc:"the folder whose files changed with it; missing when the branch is not checked out"`
	Note      string    `json:"note,omitempty" doc:"what a person has to know of it, such as that nothing was pushed"`
}

// MergeService is what faces may do with work on its way to a branch.
type MergeService interface {
	// Merges lists all merges of an initiative, oldest first. CodeNotFound.
	Merges(ctx context.Context, initiative string) ([]Merge, error)
	// Integrations gives the branches of an initiative. CodeNotFound.
	Integrations(ctx context.Context, initiative string) ([]Integration, error)
	// Land brings the initiative's branch into the user's repositories, all or, when
	// one cannot be, none. CodeNotFound; CodeRefused while tasks are not done, for
	// a branch that is checked out with changes, and for one that conflicts, with
	// what to do.
	Land(ctx context.Context, initiative string, req LandRequest) ([]Landing, error)
	// TaskDiff tells what the work on a task changes: unless the request says
	// otherwise, against the commit that it was merged with, else the one it began
	// from. It outlives the worktree. CodeInvalid as DiffRequest.Check; CodeNotFound,
	// for a path that names nothing too; CodeRefused when nobody worked on it.
	TaskDiff(ctx context.Context, id TaskID, req DiffRequest) (Diff, error)
	// InitiativeDiff tells what the branch of an initiative changes since its base, or
	// since it parted from the branch that it began from. CodeInvalid as
	// DiffRequest.Check; CodeNotFound, for a path that names nothing too; CodeRefused
	// while nothing is merged, and against the head when it began from no branch.
	InitiativeDiff(ctx context.Context, initiative string, req DiffRequest) (Diff, error)
}
