package cw

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GoalMax is the greatest length of a goal in bytes. It travels by standard
// input, so the limit of one argument (128 KiB on Linux) does not apply.
const GoalMax = 4 << 20

// Mode is what an agent is for.
type Mode string

// The modes. All but execute are architects: they work for an initiative and
// suggest.
const (
	ModeExecute Mode = "execute"
	ModeDiscuss Mode = "discuss"
	ModePlan    Mode = "plan"
	ModeDetail  Mode = "detail"
	ModeRefine  Mode = "refine"
)

// Modes lists all modes in the order in which an initiative goes through them.
func Modes() []Mode { return []Mode{ModeDiscuss, ModeRefine, ModePlan, ModeDetail, ModeExecute} }

// Architect tells whether agents of the mode work for an initiative and suggest.
func (m Mode) Architect() bool { return m != ModeExecute && slices.Contains(Modes(), m) }

// Agent is a worker: an alias, a mode, a provider and a place to work. Its
// processes are runs.
type Agent struct {
	ID             AgentID      `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	Alias          string       `json:"name" doc:"alias, an adjective and an animal; never used again"`
	Definition     string       `json:"definition" doc:"what kind of agent it is"`
	Mode           Mode         `json:"mode" doc:"what it is for"`
	Provider       string       `json:"provider" doc:"whose CLI it runs"`
	AccountID      AccountID    `json:"accountId" doc:"the account of the provider"`
	Model          string       `json:"model" doc:"the model that was asked for; empty: the CLI's own"`
	Title          string       `json:"title" doc:"first line of the goal"`
	Status         AgentStatus  `json:"status" doc:"where it stands"`
	Reason         Reason       `json:"reason" doc:"why it has its status; empty when nothing is to be said"`
	RetryAt        *time.Time   `json:"retryAt" doc:"when a usage limit ends; null without one"`
	Error          string       `json:"error" doc:"why it crashed, for people"`
	Result         string       `json:"result" doc:"its final word"`
	NoChanges      string       `json:"noChanges,omitempty" doc:"why nothing had to be changed, in its own words"`
	Warnings       []string     `json:"warnings" gorm:"serializer:json" doc:"what is worth a look"`
	ParentID       AgentID      `json:"parentId" doc:"the agent that made it; empty for those of people"`
	Depth          int          `json:"-"`
	Origin         string       `json:"-"`
	CreatedBy      string       `json:"-"`
	InitiativeID   InitiativeID `json:"initiativeId" doc:"the initiative that it works for; empty without one"`
	PhaseID        PhaseID      `json:"phaseId" doc:"the phase that it works on; empty without one"`
	TaskID         TaskID       `json:"taskId" doc:"the task that it does; empty without one"`
	AgentCwd       string       `json:"agentCwd" doc:"its working directory"`
	SessionID      string       `json:"sessionId" doc:"the CLI's own id of the session"`
	SessionNumber  int          `json:"sessionNumber" doc:"number of its last run, from 1"`
	CommitRetries  int          `json:"-"` // runs that were to commit what was left dirty
	SignalRetries  int          `json:"-"` // runs that were to write the signal
	EmptyRetries   int          `json:"-"` // runs that were to commit, or to say that nothing was needed
	StallRetries   int          `json:"-"` // runs that followed a stall
	LastSnippet    string       `json:"lastSnippet,omitempty" doc:"the last words of its output"`
	OptionsJSON    string       `json:"-"` // spawn options, for later resumes
	AttributesJSON string       `json:"-"`
	PinnedAt       *time.Time   `json:"-"`
	HeldUntil      *time.Time   `json:"heldUntil,omitempty" doc:"until when its worktree is not cleaned up, because a person has it open; missing while nobody has"`
	CleanUpDue     bool         `json:"-"` // once nobody has it open
	DeletedAt      *time.Time   `json:"removedAt,omitempty" doc:"when a person removed it; missing while it is there"`
	CreatedAt      time.Time    `json:"createdAt" doc:"when it was made"`
	UpdatedAt      time.Time    `json:"updatedAt" doc:"when its row last changed"`
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
	ProjectID  ProjectID     `json:"projectId" gorm:"primaryKey" doc:"the project"`
	Project    string        `json:"project" doc:"the project's name"`
	Path       string        `json:"cwd" doc:"the worktree"`
	Branch     string        `json:"branch" doc:"its branch: agent/<name>"`
	BaseBranch string        `json:"baseBranch" doc:"the branch it began from; empty for a detached base"`
	BaseCommit string        `json:"baseCommit" doc:"the commit it began from"`
	HeadCommit string        `json:"headCommit" doc:"its last commit"`
	State      WorktreeState `json:"worktreeState" doc:"where the worktree is"`
	// HandedOver is the ref that holds the branch in the user's repository, or in
	// cw's clone of a remote one; "" while there is none.
	HandedOver string `json:"handedOver,omitempty" doc:"the ref in the user's repository, or in cw's clone of a remote one, that holds the branch; missing while there is none"`
	// FetchFrom is where the branch is fetched from when the project is a remote
	// repository: cw's clone of it, in which HandedOver is. It is no column.
	FetchFrom string `json:"fetchFrom,omitempty" gorm:"-" doc:"of a remote repository: the git directory of cw's clone, which holds the branch: git fetch FETCHFROM BRANCH"`
	Commits   int    `json:"commits" doc:"commits since the base"`
	Dirty     int    `json:"dirtyFiles" doc:"files not committed, untracked ones too"`
	Stat      Stat   `json:"stat" gorm:"serializer:json" doc:"size of the committed difference"`
	// Of a worktree in the trash.
	Trash     string     `json:"trash,omitempty" doc:"where it lies in the trash"`
	TrashedAt *time.Time `json:"trashedAt,omitempty" doc:"since when; it is kept for 7 days"`
	// KeepRef is the snapshot that was made before it went: a commit with every
	// file that was work. KeepWhole tells that it was verified to hold
	// everything, so that the directory may go early when the disk is full.
	KeepRef    string `json:"keepRef,omitempty" doc:"ref in cw's mirror with a snapshot of everything that was not committed"`
	KeepCommit string `json:"keepCommit,omitempty" doc:"commit of that snapshot"`
	KeepWhole  bool   `json:"keepWhole,omitempty" doc:"the snapshot was verified to hold everything but known caches"`
	// Included are files that are no work as long as they are as they were: copied
	// by .worktreeinclude, or made by the project's set-up; path → SHA-256.
	Included map[string]string `json:"-" gorm:"serializer:json"`
	// SetUp tells that the project's set-up ran in the worktree as it is.
	SetUp bool `json:"-"`
	// Ports are those of the worktree. They are no column.
	Ports []int `json:"ports,omitempty" gorm:"-" doc:"ports that are free for this worktree, which its agent knows as CW_PORT_0 and so on; missing without any"`
}

// TrashedWorktree is a worktree in the trash, with its agent.
type TrashedWorktree struct {
	AgentWorktree
	Alias string
}

// Stat is the size of a difference.
type Stat struct {
	Files     int `json:"filesChanged" doc:"changed files"`
	Additions int `json:"additions" doc:"added lines"`
	Deletions int `json:"deletions" doc:"removed lines"`
}

// AgentView is an agent with everything that belongs to it, as people see it.
type AgentView struct {
	Agent
	Activity         *Activity       `json:"activity" doc:"what a running agent does now; null otherwise"`
	PID              int             `json:"pid" doc:"process id of the last run's CLI; 0 when it never ran"`
	OutputPath       string          `json:"outputPath" doc:"file with the last run's raw output"`
	ExitCode         *int            `json:"exitCode" doc:"of the last run; null while it runs and after a signal"`
	AccountName      string          `json:"accountName" doc:"the name of its account; empty when that is not known any more"`
	CostUSD          float64         `json:"costUsd" doc:"cost of all runs in US dollars; each run says where its cost comes from"`
	Usage            Usage           `json:"usage" doc:"tokens of all runs"`
	Projects         []AgentWorktree `json:"projects" doc:"its place in each project"`
	PendingQuestions []Question      `json:"pendingQuestions" doc:"questions that wait for an answer"`
	QueuedMessages   int             `json:"queuedMessages" doc:"texts that wait for its next run"`
	QueuedAnswers    int             `json:"queuedAnswers,omitempty" doc:"answers to its tool questions that no call has taken yet; of an agent at rest they wait for its next run; missing when there are none"`
	Plan             *PlanSummary    `json:"plan" doc:"how far its newest plan is; null without one"`
	Settling         bool            `json:"settling" doc:"cw still clears up after its last run, or removes or restores it"`
	Runs             []Run           `json:"runs" doc:"all runs, oldest first"`
	// The facts of the only project, repeated; empty with none or several. Every
	// key is always there, so that programs need not ask.
	Worktree      string        `json:"worktree" doc:"cwd of the only project; empty with none or several"`
	WorktreeState WorktreeState `json:"worktreeState" doc:"of the only project"`
	Branch        string        `json:"branch" doc:"of the only project"`
	BaseBranch    string        `json:"baseBranch" doc:"of the only project"`
	BaseCommit    string        `json:"baseCommit" doc:"of the only project"`
	HeadCommit    string        `json:"headCommit" doc:"of the only project"`
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
	RequestKey string `json:"requestKey,omitempty" doc:"makes the request repeatable: a second one with the same key gives the agent of the first"`
	Goal       string `json:"goal,omitempty" doc:"what is to be done, at most 4 MiB; beside a task, and for architects, what a person adds"`
	Mode       Mode   `json:"mode,omitempty" doc:"what the agent is for; default execute"`
	// Projects are ids, names or paths; none means a standalone agent.
	Projects  []string `json:"projects,omitempty" doc:"ids, names or absolute paths; none makes a standalone agent"`
	Base      string   `json:"base,omitempty" doc:"ref in the user's repository to begin from; default HEAD of the checkout"`
	Provider  string   `json:"provider,omitempty" doc:"whose CLI; default: configuration, else the first that is installed"`
	AccountID string   `json:"accountId,omitempty" doc:"account of the provider to begin with, by name or id; default: the one that is due"`
	Model     string   `json:"model,omitempty" doc:"model; default: the CLI's own"`
	Name      string   `json:"name,omitempty" doc:"alias; default a free one"`
	Script    string   `json:"script,omitempty" doc:"for the provider script: the executable"`
	// Sandbox is the CLI's own sandbox: SandboxOff (default) or
	// SandboxWorkspace. CodeInvalid when the provider has none.
	Sandbox Sandbox `json:"sandbox,omitempty" doc:"the CLI's own sandbox; default off"`
	Title   string  `json:"title,omitempty" doc:"default: first line of the goal"`
	// BudgetUSD is what the agent may cost; 0: no limit of its own.
	BudgetUSD float64 `json:"budgetUsd,omitempty" doc:"what it may cost in US dollars, as with set-budget; default: no limit"`
	// AutoResume is the policy for a restart of the machine: the agent is resumed
	// by itself. Default: what its projects say.
	AutoResume bool `json:"autoResume,omitempty" doc:"go on by itself after a restart of the machine; default: what its project says"`
	// InitiativeID is what an architect works for; PhaseID is the phase that a
	// detail agent cuts into tasks, TaskID what an execute agent does. Each names
	// those above it.
	InitiativeID InitiativeID `json:"initiativeId,omitempty" doc:"the initiative that it works for, by id or slug; default: that of the phase or task"`
	PhaseID      PhaseID      `json:"phaseId,omitempty" doc:"the phase that it works on; default: that of the task"`
	TaskID       TaskID       `json:"taskId,omitempty" doc:"the task that it does"`
	// Claim refuses the spawn unless the task is free; see SpawnIntent.
	Claim bool `json:"-"`
	// Env is the caller's environment. Of it are used: PATH, LANG, LC_*, proxies,
	// SSH_AUTH_SOCK, TERM, TMPDIR, and what the preset of the provider names.
	Env map[string]string `json:"env,omitempty" doc:"the caller's environment, of which PATH, LANG, LC_*, proxies, SSH_AUTH_SOCK, TERM, TMPDIR and what the provider's preset names are used"`
}

// Sandbox names what a CLI's own sandbox lets an agent write.
type Sandbox string

// The sandboxes.
const (
	SandboxOff       Sandbox = "off"       // the agent may do what its user may
	SandboxWorkspace Sandbox = "workspace" // only its worktree and what a commit there needs
)

// ResumeRequest asks for another run of an agent that is at rest.
type ResumeRequest struct {
	Text string `json:"text,omitempty" doc:"more instructions, at most 1 MiB; without any it is told how its last run ended and to go on"`
	// Fresh leaves the session that the agent has.
	Fresh bool `json:"freshSession,omitempty" doc:"the CLI begins a session of its own, with the agent's instructions and a hand-over of what happened, instead of going on with the last one"`
	// Env is the caller's environment, used as that of a SpawnRequest.
	Env map[string]string `json:"env,omitempty" doc:"the caller's environment, used as when an agent is made; default: what was kept from then"`
}

// AgentFilter selects agents. They can be sorted by createdAt (their own order
// is -createdAt), updatedAt, name and status.
type AgentFilter struct {
	PageQuery

	Statuses   []AgentStatus `json:"statuses,omitempty"`
	Project    string        `json:"project,omitempty"`
	Provider   string        `json:"provider,omitempty"`
	Initiative string        `json:"initiative,omitempty"` // id or slug
	Removed    bool          `json:"removed,omitempty"`    // removed ones instead of those that are there
	// SeenBy is the agent that is calling, which sees itself and its peers alone;
	// "": all are seen. It comes from who is calling, never from what was asked.
	SeenBy AgentID `json:"-"`
}

// AgentList says how agents can be sorted.
func AgentList() List {
	return List{Name: "agents", Own: "-createdAt", Times: []string{"createdAt", "updatedAt"}, Texts: []string{"name", "status"}}
}

// PageKey implements Keyed.
func (a Agent) PageKey(field string) (key, id string) {
	switch field {
	case "updatedAt":
		key = TimeKey(a.UpdatedAt)
	case "name":
		key = a.Alias
	case "status":
		key = string(a.Status)
	default:
		key = TimeKey(a.CreatedAt)
	}
	return key, string(a.ID)
}

// Start checks a filter. CodeInvalid for a status, a limit, an order or a
// cursor that is none.
func (f AgentFilter) Start() (PageStart, error) {
	var known []string
	for _, s := range AgentStatuses() {
		known = append(known, string(s))
	}
	var statuses []string
	for _, s := range f.Statuses {
		if !slices.Contains(known, string(s)) {
			return PageStart{}, errStatus(string(s), known)
		}
		statuses = append(statuses, string(s))
	}
	slices.Sort(statuses)
	return AgentList().Start(f.PageQuery,
		strings.Join(slices.Compact(statuses), ","), f.Project, f.Provider, f.Initiative, strconv.FormatBool(f.Removed), string(f.SeenBy))
}

func errStatus(status string, known []string) error {
	err := Errorf(CodeInvalid, "there is no status %.100q", status)
	choice := "the statuses are " + strings.Join(known, ", ")
	if name, ok := Nearest(status, known); ok {
		return err.WithHint("did you mean %s? %s", name, choice)
	}
	return err.WithHint("%s", choice)
}

// StopRequest asks for the end of a running agent.
type StopRequest struct {
	Now bool `json:"now,omitempty" doc:"kill at once, without the time to end by itself"`
}

// AllAgents lists all agents that a filter selects, from the first page on: its
// cursor does not count. With a limit it stops after so many, which may be more
// than a page holds.
func AllAgents(ctx context.Context, s AgentService, f AgentFilter) ([]AgentView, error) {
	sort := f.Sort
	return SomePages(ctx, f.Limit, func(ctx context.Context, q PageQuery) (Page[AgentView], error) {
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
	// CodeInvalid for a cursor or an order that is none; CodeNotFound for a project
	// or an initiative that is none.
	Agents(ctx context.Context, f AgentFilter) (Page[AgentView], error)
	// Agent gives one. CodeNotFound.
	Agent(ctx context.Context, ref string) (AgentView, error)
	// Stop ends the agent's process tree and returns when nothing of it is
	// left. Stopping an agent that does not run changes nothing.
	Stop(ctx context.Context, ref string, req StopRequest) (AgentView, error)
	// Resume starts another run of an agent that is idle, crashed or stopped: same
	// worktree, same session of the CLI where it can, session number + 1. It
	// returns when the CLI runs. CodeRefused, with what to do instead, for an agent
	// that runs, waits for answers or is removed.
	Resume(ctx context.Context, ref string, req ResumeRequest) (AgentView, error)
	// Remove puts an agent's places into the trash, after a snapshot of all that
	// is not committed. Branches, output and rows stay. CodeRefused while it runs.
	// Removing a removed agent changes nothing.
	Remove(ctx context.Context, ref string) (AgentView, error)
	// Restore brings worktree, branch and uncommitted state of a removed agent
	// back. CodeGone when neither trash nor snapshot hold it any more, CodeRefused
	// when something else stands in its place. Restoring an agent that was not
	// removed changes nothing.
	Restore(ctx context.Context, ref string) (AgentView, error)
	// Diff tells what the agent changed, also when its worktree is gone. CodeInvalid
	// as DiffRequest.Check; CodeNotFound, for a path that names nothing too;
	// CodeRefused for an agent without a project, and against the head for one
	// without an initiative.
	Diff(ctx context.Context, ref string, req DiffRequest) (Diff, error)
}
