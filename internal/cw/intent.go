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
	BudgetUSD float64 // the agent's budget in US dollars; 0: none
	// Claim refuses the spawn (CodeRefused) unless the agent's task is free. Without
	// it an agent takes its task only when nobody has it.
	Claim bool
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
	// Proposals are what an architect suggests. One whose digest is known is left
	// out; an older open one about the same target is superseded. The store tells
	// both (proposal:created, proposal:superseded); Events does not.
	Proposals  []Proposal
	Retries    Retries // the agent's counters from now on
	CostSource CostSource
	Model      string // as the CLI told it; "": as it was asked for
	// Exhausted marks the run's account as at its limit; nil for not. An account
	// that is marked already keeps the later time. The store tells it
	// (account:exhausted) when the mark is new or later; Events does not.
	Exhausted *Exhaustion
	// CleanUp is the operation that removes clean worktrees; nil when none may
	// go.
	CleanUp *Op
	// Next is the run that follows at once; nil for none. With it the agent
	// becomes starting instead of Status, which is then what the run itself came
	// to.
	Next   *RunIntent
	Events []Event
}

// Retries counts the runs that cw itself added for a reason, since a person
// last had a say.
type Retries struct {
	Signal int // to write the signal
	Commit int // to commit what was left dirty
	Empty  int // to commit, or to say that nothing was needed
	Stall  int // after a stall
}

// RetriesOf gives an agent's counters.
func RetriesOf(a Agent) Retries {
	return Retries{Signal: a.SignalRetries, Commit: a.CommitRetries, Empty: a.EmptyRetries, Stall: a.StallRetries}
}

// RunIntent says that an agent is about to get another run: from one of From →
// starting, session number + 1. In one transaction the run, its operation (kind
// OpResume) and its messages are stored. Every text to the agent that was not
// delivered yet comes into this run, too, before the new ones: the run's prompt
// is rendered from all of them (Store.RunMessages).
type RunIntent struct {
	AgentID   AgentID
	From      []AgentStatus // not used in Finish.Next
	Run       Run           // SessionNumber is the agent's + 1
	Op        Op
	Messages  []Message // new texts; the run's id and their number are set by the store
	SessionID string    // the CLI's session from now on
	// Provider, AccountID and Model are the agent's from now on, and the run's.
	// "" leaves each as it was; with another provider an empty account is its
	// default, and an empty model the CLI's own.
	Provider  string
	AccountID AccountID
	Model     string
	Retries   Retries // not used in Finish.Next
	Options   string  // the agent's stored options from now on; "": as they were
	// Told are questions of calls whose answers are in Messages. They are marked
	// as fetched with the intent; when a call was quicker, nothing is stored.
	Told   []QuestionID
	Events []Event
}

// Asking stores questions of a run for a call that waits.
type Asking struct {
	AgentID    AgentID
	RunID      RunID
	RequestKey string     // "": none
	Questions  []Question // as PeopleRequest.Rows gives them
	By         Actor
}

// Answering stores answers of people: each must belong to an open question.
type Answering struct {
	Answers []GivenAnswer
	By      Actor
	At      time.Time
}

// GivenAnswer is one answer as it is stored.
type GivenAnswer struct {
	QuestionID QuestionID
	Answer     string
}

// Removal says that an agent's places are in the trash: its row is marked as
// removed, its open questions are withdrawn, its queued texts hidden.
type Removal struct {
	AgentID   AgentID
	OpID      OpID
	Worktrees []AgentWorktree // trashed
	At        time.Time
	Events    []Event
}

// Restoring says that a removed agent is back: what the removal withdrew is open
// again, and what it hid waits again.
type Restoring struct {
	AgentID   AgentID
	OpID      OpID
	Worktrees []AgentWorktree // present, or removed when it had none
	Events    []Event
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

// OutputSession is how far the stored output of one of an agent's runs goes.
type OutputSession struct {
	Number     int
	LastID     int64 // of its last chunk
	LastOffset int64 // of that chunk
	End        int64 // behind its last byte
}

// InitiativeState is an initiative with everything that decisions about it look
// at.
type InitiativeState struct {
	Initiative Initiative
	Pages      []Document // with their texts, not removed, in the order of the tree
	Phases     []Phase    // all, in order
	Tasks      []Task     // all, in the order of their phases
	Proposals  []Proposal // open and dismissed ones, oldest first
	Working    []string   // names of its agents that run, or go on by themselves or with an answer
}

// InitiativeChange is what becomes of an initiative: rows that are made or
// replaced, by id, with the dependencies of each phase and task, and the events
// that tell it.
type InitiativeChange struct {
	Initiative *Initiative // nil: it stays
	Pages      []Document
	Phases     []Phase
	Tasks      []Task
	Proposals  []Proposal
	Events     []Event
}
