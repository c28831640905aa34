package cw

import (
	"context"
	"time"
)

// APIVersion is the version of the API spoken between the parts. Parts of the
// same major version work together.
const APIVersion = "1.0"

// DaemonStatus tells how the daemon is.
type DaemonStatus struct {
	PID           int       `json:"pid" doc:"process id"`
	Version       string    `json:"version" doc:"version of the program"`
	BuildID       string    `json:"buildId" doc:"tells two builds of a version apart"`
	APIVersion    string    `json:"apiVersion" doc:"version of this API; the same major version works together"`
	Home          string    `json:"home" doc:"the folder that holds everything"`
	Socket        string    `json:"socket" doc:"path of the unix socket"`
	HTTP          string    `json:"http,omitempty" doc:"address of the door for dashboards; missing when it is closed"`
	StartedAt     time.Time `json:"startedAt" doc:"when it began"`
	AgentsAlive   int       `json:"agentsAlive" doc:"agents whose process may exist"`
	Agents        int       `json:"agents" doc:"agents that are not removed"`
	Projects      int       `json:"projects" doc:"registered projects"`
	Questions     int       `json:"questions" doc:"questions to people that wait for an answer"`
	Conversations int       `json:"conversations" doc:"questions of agents to each other that wait for an answer"`
	Checkpoints   int       `json:"checkpoints" doc:"tasks that wait for the verdict of a person"`
	TasksRunning  int       `json:"tasksRunning" doc:"tasks whose agents work, and those that are checked or merged"`
	TasksReady    int       `json:"tasksReady" doc:"tasks that are started next"`
	TasksWaiting  int       `json:"tasksWaiting" doc:"tasks that wait for something, checkpoints too"`
	Merges        int       `json:"merges" doc:"work of tasks that is not merged yet"`
	DatabaseBytes int64     `json:"databaseBytes" doc:"size of the state on disk"`
	LogBytes      int64     `json:"logBytes" doc:"size of the stored output on disk"`
	FreeBytes     int64     `json:"freeBytes" doc:"free space on that disk"`
	FloorBytes    int64     `json:"floorBytes" doc:"free space below which no run is started"`
	DiskLow       bool      `json:"diskLow" doc:"there is less, so no run is started"`
	MemoryPercent int       `json:"memoryPercent" doc:"how much of the machine's memory is in use, in percent; 0 when the system does not tell"`
	Sizes         *Sizes    `json:"sizes,omitempty" doc:"what else takes space; missing until it was measured"`
	Hooks         []Hook    `json:"hooks,omitempty" doc:"the ways by which people are told of events; missing when none is configured"`
}

// Whoami tells a caller who the daemon takes it for.
type Whoami struct {
	Kind    ActorKind `json:"kind" doc:"who is calling"`
	AgentID AgentID   `json:"agentId,omitempty" doc:"the calling agent"`
	Name    string    `json:"name,omitempty" doc:"its name"`
	RunID   RunID     `json:"runId,omitempty" doc:"its run"`
}

// DaemonService is what faces may do with the daemon itself.
type DaemonService interface {
	// Status tells how the daemon is.
	Status(ctx context.Context) (DaemonStatus, error)
	// Shutdown asks the daemon to end; agents run on. It returns at once with
	// the status as it was.
	Shutdown(ctx context.Context) (DaemonStatus, error)
	// Whoami tells who is calling.
	Whoami(ctx context.Context) (Whoami, error)
}

// Services is everything that a face may call. The daemon and the API client
// both implement it.
type Services interface {
	AgentService
	WorktreeService
	QuestionService
	ConversationService
	PlanService
	MessageService
	AgentMessageService
	ProjectService
	TrustService
	HouseService
	NoticeService
	LogService
	EventService
	TokenService
	DoorService
	SettingService
	AccountService
	CostService
	ProviderService
	PlanningServices
	DispatchService
	MergeService
	ForgeService
	InboxService
	ToolService
	DaemonService
}

// PlanningServices is what faces may do from a goal to tasks.
type PlanningServices interface {
	InitiativeService
	DocumentService
	PageDocumentService
	PhaseService
	TaskService
	ProposalService
	PromptService
}
