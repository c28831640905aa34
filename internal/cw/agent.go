package cw

import (
	"context"
	"time"
)

// GoalMax is the greatest length of a goal in bytes. It travels by standard
// input, so the limit of one argument (128 KiB on Linux) does not apply.
const GoalMax = 4 << 20

// Mode is what an agent is for.
type Mode string

// The modes. Only execute can be spawned so far.
const (
	ModeExecute Mode = "execute"
	ModeDiscuss Mode = "discuss"
	ModePlan    Mode = "plan"
	ModeDetail  Mode = "detail"
	ModeRefine  Mode = "refine"
)

// Agent is a worker: an alias, a mode, a provider and a place to work. Its
// processes are runs.
type Agent struct {
	ID             AgentID     `json:"id" gorm:"primaryKey"`
	Alias          string      `json:"name"` // adjective-animal, never reused
	Definition     string      `json:"definition"`
	Mode           Mode        `json:"mode"`
	Provider       string      `json:"provider"`
	AccountID      string      `json:"accountId"`
	Model          string      `json:"model"`
	Title          string      `json:"title"` // first line of the goal
	Status         AgentStatus `json:"status"`
	Reason         Reason      `json:"reason"`
	RetryAt        *time.Time  `json:"retryAt"` // when a usage limit ends
	Error          string      `json:"error"`   // why it crashed, for people
	Result         string      `json:"result"`  // its final word
	NoChanges      string      `json:"noChanges,omitempty"`
	Warnings       []string    `json:"warnings" gorm:"serializer:json"`
	ParentID       AgentID     `json:"parentId"`
	Depth          int         `json:"-"`
	Origin         string      `json:"-"`
	CreatedBy      string      `json:"-"`
	InitiativeID   string      `json:"initiativeId"`
	PhaseID        string      `json:"phaseId"`
	TaskID         string      `json:"taskId"`
	AgentCwd       string      `json:"agentCwd"`
	SessionID      string      `json:"sessionId"` // the CLI's own id
	SessionNumber  int         `json:"sessionNumber"`
	CommitRetries  int         `json:"-"`
	SignalRetries  int         `json:"-"`
	LastSnippet    string      `json:"lastSnippet,omitempty"`
	OptionsJSON    string      `json:"-"` // spawn options, for later resumes
	AttributesJSON string      `json:"-"`
	PinnedAt       *time.Time  `json:"-"`
	DeletedAt      *time.Time  `json:"-"`
	CreatedAt      time.Time   `json:"createdAt"`
	UpdatedAt      time.Time   `json:"updatedAt"`
}

// WorktreeState says where an agent's worktree is.
type WorktreeState string

// The states of a worktree.
const (
	WorktreePlanned WorktreeState = "planned" // intended, perhaps half made
	WorktreePresent WorktreeState = "present"
	WorktreeTrashed WorktreeState = "trashed"
	WorktreeRemoved WorktreeState = "removed"
)

// AgentWorktree is an agent's place in one project.
type AgentWorktree struct {
	AgentID    AgentID       `json:"-" gorm:"primaryKey"`
	ProjectID  ProjectID     `json:"projectId" gorm:"primaryKey"`
	Project    string        `json:"project"`    // the project's name
	Path       string        `json:"cwd"`        // the worktree
	Branch     string        `json:"branch"`     // agent/<alias>
	BaseBranch string        `json:"baseBranch"` // "" for a detached base
	BaseCommit string        `json:"baseCommit"`
	HeadCommit string        `json:"headCommit"`
	State      WorktreeState `json:"worktreeState"`
	// HandedOver is the ref in the user's repository that holds the branch, or
	// "" while there is none.
	HandedOver string `json:"handedOver,omitempty"`
	Commits    int    `json:"commits"`    // since the base
	Dirty      int    `json:"dirtyFiles"` // uncommitted files, untracked ones too
	Stat       Stat   `json:"stat" gorm:"serializer:json"`
	// Included are files copied by .worktreeinclude: path → SHA-256.
	Included map[string]string `json:"-" gorm:"serializer:json"`
}

// Stat is the size of a difference.
type Stat struct {
	Files     int `json:"filesChanged"`
	Additions int `json:"additions"`
	Deletions int `json:"deletions"`
}

// Activity is what a running agent does now.
type Activity struct {
	State     ActivityState `json:"state"`
	Tool      string        `json:"tool,omitempty"`
	Attempt   int           `json:"attempt,omitempty"`
	NextRetry *time.Time    `json:"nextRetry,omitempty"`
	Bucket    string        `json:"bucket,omitempty"` // of an error: tool, transient, limit, abort
	LastAt    *time.Time    `json:"lastAt,omitempty"` // last output
}

// AgentView is an agent with everything that belongs to it, as people see it.
type AgentView struct {
	Agent
	Activity         *Activity       `json:"activity"`
	PID              int             `json:"pid"`
	OutputPath       string          `json:"outputPath"`
	ExitCode         *int            `json:"exitCode"`
	CostUSD          float64         `json:"costUsd"` // over all runs
	Usage            Usage           `json:"usage"`
	Projects         []AgentWorktree `json:"projects"`
	PendingQuestions []Question      `json:"pendingQuestions"`
	Runs             []Run           `json:"runs"`
	// The facts of the only project, repeated; empty with none or several. Every
	// key is always there, so that programs need not ask.
	Worktree      string        `json:"worktree"`
	WorktreeState WorktreeState `json:"worktreeState"`
	Branch        string        `json:"branch"`
	BaseBranch    string        `json:"baseBranch"`
	BaseCommit    string        `json:"baseCommit"`
	HeadCommit    string        `json:"headCommit"`
}

// Commits counts what the agent committed in all its projects.
func (v AgentView) Commits() int {
	n := 0
	for _, p := range v.Projects {
		n += p.Commits
	}
	return n
}

// Dirty counts uncommitted files in all its projects.
func (v AgentView) Dirty() int {
	n := 0
	for _, p := range v.Projects {
		n += p.Dirty
	}
	return n
}

// Stat sums the differences of all its projects.
func (v AgentView) Stat() Stat {
	var s Stat
	for _, p := range v.Projects {
		s.Files += p.Stat.Files
		s.Additions += p.Stat.Additions
		s.Deletions += p.Stat.Deletions
	}
	return s
}

// SpawnRequest asks for a new agent.
type SpawnRequest struct {
	// RequestKey makes the request repeatable: a second one with the same key
	// gives the agent of the first. Made by the client.
	RequestKey string `json:"requestKey,omitempty"`
	Goal       string `json:"goal"`
	Mode       Mode   `json:"mode,omitempty"` // default execute
	// Projects are ids, names or paths; none means a standalone agent.
	Projects  []string `json:"projects,omitempty"`
	Base      string   `json:"base,omitempty"` // ref in the user's repository; default HEAD of the checkout
	Provider  string   `json:"provider,omitempty"`
	AccountID string   `json:"accountId,omitempty"`
	Model     string   `json:"model,omitempty"`
	Name      string   `json:"name,omitempty"`   // alias; default a free one
	Script    string   `json:"script,omitempty"` // provider script: the executable
	// Sandbox is the CLI's own sandbox: SandboxOff (default) or
	// SandboxWorkspace. CodeInvalid when the provider has none.
	Sandbox Sandbox `json:"sandbox,omitempty"`
	Title   string  `json:"title,omitempty"`
	// InitiativeID, PhaseID and TaskID belong to later work and are refused.
	InitiativeID string `json:"initiativeId,omitempty"`
	PhaseID      string `json:"phaseId,omitempty"`
	TaskID       string `json:"taskId,omitempty"`
	// Env is the caller's environment. Only a few names of it are used: PATH,
	// LANG, LC_*, proxies, SSH_AUTH_SOCK, TERM, TMPDIR.
	Env map[string]string `json:"env,omitempty"`
}

// Sandbox names what a CLI's own sandbox lets an agent write.
type Sandbox string

// The sandboxes.
const (
	SandboxOff       Sandbox = "off"       // the agent may do what its user may
	SandboxWorkspace Sandbox = "workspace" // only its worktree and what a commit there needs
)

// AgentFilter selects agents. They can be sorted by createdAt (their own order
// is -createdAt), updatedAt, name and status.
type AgentFilter struct {
	PageQuery

	Statuses   []AgentStatus `json:"statuses,omitempty"`
	Project    string        `json:"project,omitempty"`
	Provider   string        `json:"provider,omitempty"`
	Initiative string        `json:"initiative,omitempty"`
}

// StopRequest asks for the end of a running agent.
type StopRequest struct {
	Now bool `json:"now,omitempty"` // SIGKILL at once, no grace
}

// DiffRequest asks for what an agent changed.
type DiffRequest struct {
	Project string `json:"project,omitempty"` // needed when there are several
	Stat    bool   `json:"stat,omitempty"`    // only the summary
}

// Diff is what an agent changed since its base: commits, and work not committed.
type Diff struct {
	Project     string   `json:"project"`
	Branch      string   `json:"branch"`
	BaseCommit  string   `json:"baseCommit"`
	HeadCommit  string   `json:"headCommit"`
	Stat        Stat     `json:"stat"`
	Commits     []Commit `json:"commits"`
	Patch       string   `json:"patch,omitempty"`     // of the commits
	Uncommitted []string `json:"uncommitted"`         // paths, untracked ones too
	WorkPatch   string   `json:"workPatch,omitempty"` // of tracked files not committed
}

// Commit is one commit of an agent.
type Commit struct {
	ID      string    `json:"id"`
	Subject string    `json:"subject"`
	Author  string    `json:"author"`
	At      time.Time `json:"at"`
}

// AllAgents lists all agents that a filter selects; its page does not count.
func AllAgents(ctx context.Context, s AgentService, f AgentFilter) ([]AgentView, error) {
	sort := f.Sort
	return AllPages(ctx, func(ctx context.Context, q PageQuery) (Page[AgentView], error) {
		f.PageQuery, f.Sort = q, sort
		return s.Agents(ctx, f)
	})
}

// AgentService is what faces may do with agents. ref is an alias or an id.
type AgentService interface {
	// Spawn makes an agent and starts its first run. On an error nothing is
	// left behind. It returns when the CLI runs or is known not to start.
	Spawn(ctx context.Context, req SpawnRequest) (AgentView, error)
	// Agents lists agents, newest first unless the filter says otherwise.
	// CodeInvalid for a cursor or an order that is none.
	Agents(ctx context.Context, f AgentFilter) (Page[AgentView], error)
	// Agent gives one. CodeNotFound.
	Agent(ctx context.Context, ref string) (AgentView, error)
	// Stop ends the agent's process tree and returns when nothing of it is
	// left. Stopping an agent that does not run changes nothing.
	Stop(ctx context.Context, ref string, req StopRequest) (AgentView, error)
	// Diff tells what the agent changed. CodeNotFound, CodeRefused for an agent
	// without a project.
	Diff(ctx context.Context, ref string, req DiffRequest) (Diff, error)
}
