package cw

import (
	"encoding/json"
	"time"
)

// The intentions of the engine: each is stored in one transaction, together
// with the events that tell it.

// SpawnIntent says that an agent is about to be made.
type SpawnIntent struct {
	Agent     Agent // pending
	Worktrees []AgentWorktree
	Run       Run
	Op        Op
}

// Starting says that the shim is about to be started: pending → starting. It
// may be repeated by recovery, each time with another token.
type Starting struct {
	AgentID AgentID
	RunID   RunID
	OpID    OpID
	Step    string
	Message Message // the prompt
	Token   Token
	Event   Event
}

// Running says that the CLI runs: starting → running; the operation is done.
type Running struct {
	AgentID   AgentID
	RunID     RunID
	OpID      OpID
	Handle    json.RawMessage
	PID       int
	StartedAt time.Time
	Events    []Event
}

// Finish says how a run ended and where that leaves its agent.
type Finish struct {
	AgentID   AgentID
	RunID     RunID
	OpID      OpID          // "" when no operation is open
	From      []AgentStatus // the change happens only from one of these
	Status    AgentStatus
	Reason    Reason
	RetryAt   *time.Time
	Error     string
	Result    string
	NoChanges string
	Warnings  []string // added to those the agent has
	// Of the run.
	LastSnippet   string
	ExitCode      *int
	TermSignal    string
	CostUSD       float64
	Usage         Usage
	Turns         int
	ContextTokens int
	ContextLimit  int
	UnknownLines  int
	EndedAt       time.Time
	Worktrees     []AgentWorktree
	Questions     []Question
	Assistant     *Message // the run's final text
	Events        []Event
}

// RunState is a run with everything that is needed to go on with it.
type RunState struct {
	Agent     Agent
	Run       Run
	Worktrees []AgentWorktree
	Op        *Op
}

// ChunkQuery selects stored chunks of one agent.
type ChunkQuery struct {
	AgentID AgentID
	Session int   // 0: from the first
	Only    bool  // only that session
	Offset  int64 // within Session: chunks that end after it
	AfterID int64 // chunks with a greater id; wins over Session and Offset
	Limit   int   // rows
}
