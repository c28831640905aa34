package cw

import (
	"context"
	"time"
)

const (
	// HoldTime is how long a worktree that somebody opened is not cleaned up.
	HoldTime = 10 * time.Minute
	// HoldRenew is how often who still has it open says so.
	HoldRenew = time.Minute
)

// OpenedWorktree is the place of an agent that a person works in, too.
type OpenedWorktree struct {
	AgentID AgentID     `json:"agentId" doc:"the agent"`
	Name    string      `json:"name" doc:"its name"`
	Status  AgentStatus `json:"status" doc:"where the agent stands; one that runs changes the same files"`
	Path    string      `json:"path" doc:"the agent's folder: its worktree, or with several projects or none the folder that holds all of it"`
	Branch  string      `json:"branch" doc:"the branch of the only project; empty with none or several"`
	// HeldUntil is when the worktree may be cleaned up again.
	HeldUntil time.Time `json:"heldUntil" doc:"until then it is not cleaned up; opening it again puts that off"`
	Notes     []string  `json:"notes" doc:"what is worth knowing about how it came back"`
}

// Working tells whether the agent changes the same files now, or is about to.
func (w OpenedWorktree) Working() bool { return w.Status.Alive() }

// OpenedOf says where an agent's place is, held until a time.
func OpenedOf(v AgentView, until time.Time, notes []string) OpenedWorktree {
	return OpenedWorktree{
		AgentID: v.ID, Name: v.Alias, Status: v.Status, Path: v.AgentCwd, Branch: v.Branch,
		HeldUntil: until, Notes: append([]string{}, notes...),
	}
}

// Opening says that an agent's worktrees are there, and how long they stay.
type Opening struct {
	AgentID   AgentID
	OpID      OpID
	Worktrees []AgentWorktree // all present
	Until     time.Time
	CleanUp   bool // they were gone, so they go again when nobody has them open
}

// WorktreeService is what faces may do with the places of agents.
type WorktreeService interface {
	// OpenWorktree brings the worktree of an agent back to its path when it was
	// cleaned up, and keeps it from being cleaned up for HoldTime. Opening it
	// again puts that off. ref is an alias or an id. CodeNotFound; CodeRefused for
	// a removed agent, for one whose worktree is being made, and when something
	// else stands in its place; CodeFailed when its branch and commits are gone.
	OpenWorktree(ctx context.Context, ref string) (OpenedWorktree, error)
}
