package cw

import "time"

// OpStatus is where an operation stands.
type OpStatus string

// The statuses of an operation.
const (
	OpIntended OpStatus = "intended"
	OpActing   OpStatus = "acting"
	OpDone     OpStatus = "done"
	OpFailed   OpStatus = "failed"
)

// OpKind names an operation with outside effects.
type OpKind string

// The operations that exist so far.
const (
	OpSpawn   OpKind = "spawn"
	OpResume  OpKind = "resume"   // another run of an agent
	OpStop    OpKind = "stop"     // the end of a run that a person or a rule asked for
	OpCleanUp OpKind = "clean_up" // worktrees that are found clean go
	OpRemove  OpKind = "remove"   // an agent's places go to the trash
	OpRestore OpKind = "restore"  // and come back
	OpOpen    OpKind = "open"     // worktrees that were cleaned up come back for a person
)

// Op is an operation with effects outside the database, done in named steps
// that may be repeated. The intent is stored first; what is unfinished after a
// crash is taken up again on the normal path.
type Op struct {
	ID         OpID      `json:"id" gorm:"primaryKey"`
	Kind       OpKind    `json:"kind"`
	Status     OpStatus  `json:"status"`
	Step       string    `json:"step"` // the last step whose end is known
	AgentID    AgentID   `json:"agentId"`
	RunID      RunID     `json:"runId"`
	RequestKey *string   `json:"requestKey,omitempty"` // of the caller; unique
	Args       string    `json:"args,omitempty" gorm:"column:args_json"`
	Error      string    `json:"error,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
}
