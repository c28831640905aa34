package cw

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// EventType names something that happened.
type EventType string

// The events that exist so far. Those marked live are not stored.
const (
	EventProjectAdded     EventType = "project:added"
	EventProjectChanged   EventType = "project:changed"
	EventProjectRemoved   EventType = "project:removed"
	EventProjectTrusted   EventType = "project:trusted"
	EventProjectUntrusted EventType = "project:untrusted"

	EventAgentSpawned  EventType = "agent:spawned"
	EventAgentStarting EventType = "agent:starting"
	EventAgentRunning  EventType = "agent:running"
	EventAgentOutput   EventType = "agent:output"   // live; the chunk is stored
	EventAgentActivity EventType = "agent:activity" // live
	EventAgentWaiting  EventType = "agent:waiting"
	EventAgentWarning  EventType = "agent:warning"
	EventAgentStopped  EventType = "agent:stopped"
	EventAgentCrashed  EventType = "agent:crashed"
	EventAgentResumed  EventType = "agent:resumed"
	EventAgentStalled  EventType = "agent:stalled"
	EventAgentRemoved  EventType = "agent:removed"
	EventAgentRestored EventType = "agent:restored"
	EventAgentPurged   EventType = "agent:purged"

	EventAgentParked          EventType = "agent:parked"
	EventAgentAccountSwitched EventType = "agent:account_switched"

	EventAccountAdded     EventType = "account:added"
	EventAccountChanged   EventType = "account:changed"
	EventAccountRemoved   EventType = "account:removed"
	EventAccountExhausted EventType = "account:exhausted"
	EventAccountInvalid   EventType = "account:invalid"
	EventAccountRefreshed EventType = "account:refreshed"

	EventBudgetWarning EventType = "budget:warning"
	EventBudgetSpent   EventType = "budget:spent"

	EventQuestionRequested EventType = "question:requested"
	EventQuestionAnswered  EventType = "question:answered"
	EventQuestionWithdrawn EventType = "question:withdrawn"

	EventQuestionReminded EventType = "question:reminded"

	EventConversationCreated   EventType = "conversation:created"
	EventConversationDelivered EventType = "conversation:delivered"
	EventConversationAnswered  EventType = "conversation:answered"
	EventConversationCancelled EventType = "conversation:cancelled"

	EventPlanCreated       EventType = "plan:created"
	EventPlanRevised       EventType = "plan:revised"
	EventPlanStepStarted   EventType = "plan:step_started"   // live
	EventPlanStepCompleted EventType = "plan:step_completed" // live

	EventMessageQueued EventType = "message:queued"

	EventInitiativeCreated EventType = "initiative:created"
	EventInitiativeChanged EventType = "initiative:changed"

	EventPageCreated EventType = "page:created"
	EventPageChanged EventType = "page:changed"
	EventPageRemoved EventType = "page:removed"

	EventPhaseCreated EventType = "phase:created"
	EventPhaseChanged EventType = "phase:changed"

	EventTaskCreated EventType = "task:created"
	EventTaskChanged EventType = "task:changed"
	// EventTaskCheckpoint says that a person has to decide, act or look.
	EventTaskCheckpoint EventType = "task:checkpoint"
	EventTaskBlocked    EventType = "task:blocked"
	// EventTaskOutside says that work changed files outside the paths of its task.
	EventTaskOutside EventType = "task:outside"

	EventMergeQueued      EventType = "merge:queued"
	EventMergeChecking    EventType = "merge:checking"
	EventMergeConflicted  EventType = "merge:conflicted"
	EventMergeRed         EventType = "merge:red"
	EventMergeMerged      EventType = "merge:merged"
	EventMergeDismissed   EventType = "merge:dismissed"
	EventInitiativeLanded EventType = "initiative:landed"

	EventDispatchChanged EventType = "dispatch:changed"

	EventProposalCreated    EventType = "proposal:created"
	EventProposalAccepted   EventType = "proposal:accepted"
	EventProposalDismissed  EventType = "proposal:dismissed"
	EventProposalSuperseded EventType = "proposal:superseded"

	EventDiskLow EventType = "disk:low"
	EventDiskOK  EventType = "disk:ok"

	EventTokenCreated EventType = "token:created"
	EventTokenRevoked EventType = "token:revoked"

	EventSecurityRefused EventType = "security:refused"
	EventMirrorRestored  EventType = "mirror:restored"
)

// Stored tells whether events of this type are kept and numbered.
func (t EventType) Stored() bool {
	return !t.OnlyNamed() && t != EventPlanStepStarted && t != EventPlanStepCompleted
}

// OnlyNamed tells whether events of this type are sent only to those who name
// it: with many agents there are hundreds of them in a second.
func (t EventType) OnlyNamed() bool { return t == EventAgentOutput || t == EventAgentActivity }

// Event is something that happened. Stored events are numbered without a gap
// visible to readers and never reused.
type Event struct {
	Seq            int64           `json:"seq,omitempty" gorm:"primaryKey;autoIncrement" doc:"number, without a gap; missing on live events, which are not kept"`
	Type           EventType       `json:"type" doc:"what happened"`
	At             time.Time       `json:"at" doc:"when"`
	ActorKind      ActorKind       `json:"actorKind" doc:"who did it"`
	ActorID        string          `json:"actorId,omitempty" doc:"id of the agent or token that did it"`
	ProjectID      ProjectID       `json:"projectId,omitempty" doc:"the project it is about"`
	AgentID        AgentID         `json:"agentId,omitempty" doc:"the agent it is about"`
	RunID          RunID           `json:"runId,omitempty" doc:"the run it is about"`
	Data           json.RawMessage `json:"data" gorm:"column:data_json" doc:"the payload; its form belongs to the type"`
	InitiativeID   InitiativeID    `json:"initiativeId,omitempty" doc:"the initiative it is about"`
	TaskID         TaskID          `json:"taskId,omitempty" doc:"the task it is about"`
	ConversationID ConversationID  `json:"conversationId,omitempty" doc:"the conversation it is about"`
}

// NewEvent makes an event with its payload. Payloads are plain structs of this
// package, so encoding cannot fail.
func NewEvent(t EventType, actor Actor, payload any) Event {
	data, err := json.Marshal(payload)
	if err != nil {
		data = []byte("{}")
	}
	return Event{Type: t, At: time.Now().UTC(), ActorKind: actor.Kind, ActorID: actor.ID, Data: data}
}

// In returns a copy that names the initiative it is about.
func (e Event) In(initiative InitiativeID) Event {
	e.InitiativeID = initiative
	return e
}

// Of returns a copy that names the conversation it is about.
func (e Event) Of(conversation ConversationID) Event {
	e.ConversationID = conversation
	return e
}

// About returns a copy that names the agent and run it is about.
func (e Event) About(agent AgentID, run RunID) Event {
	e.AgentID, e.RunID = agent, run
	return e
}

// The payloads, one type per event type.
type (
	// InitiativeChanged is the payload of initiative:created and
	// initiative:changed.
	InitiativeChanged struct {
		InitiativeID InitiativeID     `json:"initiativeId" doc:"the initiative"`
		Name         string           `json:"name" doc:"what people call it"`
		Slug         string           `json:"slug" doc:"its name in branches and commands"`
		Status       InitiativeStatus `json:"status" doc:"active or archived"`
	}
	// PageChanged is the payload of page:created, page:changed and page:removed.
	PageChanged struct {
		PageID   PageID `json:"pageId" doc:"the page"`
		ParentID PageID `json:"parentId" doc:"the page above; empty for the first page"`
		Title    string `json:"title" doc:"its heading"`
		Revision int    `json:"revision" doc:"of title and text"`
	}
	// PhaseChanged is the payload of phase:created and phase:changed.
	PhaseChanged struct {
		PhaseID PhaseID     `json:"phaseId" doc:"the phase"`
		Name    string      `json:"name" doc:"its name"`
		Status  PhaseStatus `json:"status" doc:"where it stands"`
	}
	// TaskChanged is the payload of task:created and task:changed.
	TaskChanged struct {
		TaskID  TaskID     `json:"taskId" doc:"the task"`
		PhaseID PhaseID    `json:"phaseId" doc:"its phase"`
		Name    string     `json:"name" doc:"its name"`
		Status  TaskStatus `json:"status" doc:"where it stands"`
	}
	// TaskCheckpoint is the payload of task:checkpoint.
	TaskCheckpoint struct {
		TaskID TaskID   `json:"taskId" doc:"the task"`
		Name   string   `json:"name" doc:"its name"`
		Type   TaskType `json:"type" doc:"what is asked of a person"`
	}
	// TaskBlockedBy is the payload of task:blocked.
	TaskBlockedBy struct {
		TaskID TaskID `json:"taskId" doc:"the task"`
		Name   string `json:"name" doc:"its name"`
		Reason string `json:"reason" doc:"why, with evidence"`
	}
	// TaskOutside is the payload of task:outside.
	TaskOutside struct {
		TaskID TaskID   `json:"taskId" doc:"the task"`
		Name   string   `json:"name" doc:"its name"`
		Total  int      `json:"total" doc:"how many files there are"`
		Files  []string `json:"files" doc:"the first of them, at most 20"`
	}
	// MergeChanged is the payload of merge:queued, merge:checking,
	// merge:conflicted, merge:red, merge:merged and merge:dismissed.
	MergeChanged struct {
		MergeID MergeID     `json:"mergeId" doc:"the merge"`
		TaskID  TaskID      `json:"taskId" doc:"its task"`
		Task    string      `json:"task" doc:"the task's name"`
		Name    string      `json:"name" doc:"the agent's name"`
		Status  MergeStatus `json:"status" doc:"where it stands"`
		Text    string      `json:"text,omitempty" doc:"in words: which files conflict, which check failed"`
	}
	// InitiativeLanded is the payload of initiative:landed.
	InitiativeLanded struct {
		InitiativeID InitiativeID `json:"initiativeId" doc:"the initiative"`
		Slug         string       `json:"slug" doc:"its slug"`
		Project      string       `json:"project" doc:"the project's name"`
		Into         string       `json:"into" doc:"the branch of the user's repository"`
		Commit       string       `json:"commit" doc:"its commit now"`
	}
	// DispatchChanged is the payload of dispatch:changed.
	DispatchChanged struct {
		State    DispatchState `json:"state" doc:"running, paused or draining"`
		Pressure string        `json:"pressure,omitempty" doc:"why nothing is started; missing when something may be"`
	}
	// ProposalChanged is the payload of proposal:created, proposal:accepted,
	// proposal:dismissed and proposal:superseded.
	ProposalChanged struct {
		ProposalID ProposalID     `json:"proposalId" doc:"the proposal"`
		Target     ProposalTarget `json:"target" doc:"page, decision, phase or task"`
		TargetID   string         `json:"targetId" doc:"id of what it changes"`
		Action     ProposalAction `json:"action" doc:"create, update or delete"`
		Title      string         `json:"title" doc:"name of the target"`
		Note       string         `json:"note,omitempty" doc:"why it was dismissed"`
	}
	// ProjectChanged is the payload of project:added and project:removed.
	ProjectChanged struct {
		Name string `json:"name" doc:"its name"`
		Path string `json:"path" doc:"its folder, absolute; empty for a remote repository"`
		// RemoteURL holds no credentials: URLs with any are refused.
		RemoteURL string `json:"remoteUrl,omitempty" doc:"URL of a remote repository"`
	}
	// AgentSpawned is the payload of agent:spawned.
	AgentSpawned struct {
		Name     string   `json:"name" doc:"the agent's name"`
		Mode     Mode     `json:"mode" doc:"what it is for"`
		Provider string   `json:"provider" doc:"the preset of its CLI"`
		Title    string   `json:"title" doc:"the first line of its goal"`
		Projects []string `json:"projects" doc:"names of the projects it works in"`
		Branch   string   `json:"branch,omitempty" doc:"its branch, when it works in one project"`
		PID      int      `json:"pid" doc:"of the CLI"`
	}
	// AgentStarting is the payload of agent:starting.
	AgentStarting struct {
		Name          string    `json:"name" doc:"the agent's name"`
		SessionNumber int       `json:"sessionNumber" doc:"which of the agent's runs, from 1"`
		Reason        RunReason `json:"reason" doc:"why this run is started"`
	}
	// AgentRunning is the payload of agent:running.
	AgentRunning struct {
		Name          string `json:"name" doc:"the agent's name"`
		SessionNumber int    `json:"sessionNumber" doc:"which of the agent's runs, from 1"`
		PID           int    `json:"pid" doc:"of the CLI"`
	}
	// AgentOutput is the payload of agent:output.
	AgentOutput struct {
		AgentID       AgentID `json:"agentId" doc:"the agent"`
		SessionNumber int     `json:"sessionNumber" doc:"which of the agent's runs, from 1"`
		ChunkID       int64   `json:"chunkId" doc:"of the stored chunk: Last-Event-ID of its output stream"`
		Offset        int64   `json:"offset" doc:"of the chunk's first byte in the run's output"`
		Length        int     `json:"length" doc:"of the chunk in bytes"`
	}
	// AgentActivity is the payload of agent:activity.
	AgentActivity struct {
		AgentID  AgentID  `json:"agentId" doc:"the agent"`
		Activity Activity `json:"activity" doc:"what it does now"`
	}
	// AgentWaiting is the payload of agent:waiting.
	AgentWaiting struct {
		Name      string    `json:"name" doc:"the agent's name"`
		RequestID RequestID `json:"requestId" doc:"what its questions have in common"`
		Questions int       `json:"questions" doc:"how many"`
	}
	// AgentWarning is the payload of agent:warning.
	AgentWarning struct {
		Name    string `json:"name" doc:"the agent's name"`
		Warning string `json:"warning" doc:"a sentence for people"`
	}
	// AgentStopped is the payload of agent:stopped: the run ended well, or a
	// person or a rule ended it.
	AgentStopped struct {
		Name       string `json:"name" doc:"the agent's name"`
		Reason     Reason `json:"reason" doc:"done, or what stopped it: user, budget or stalled"`
		Commits    int    `json:"commits" doc:"on its branch since its base"`
		HeadCommit string `json:"headCommit,omitempty" doc:"the branch's last commit"`
		NoChanges  string `json:"noChanges,omitempty" doc:"why it says that nothing was to be done"`
		ExitCode   *int   `json:"exitCode" doc:"of the CLI; null when it has none"`
	}
	// AgentCrashed is the payload of agent:crashed.
	AgentCrashed struct {
		Name       string     `json:"name" doc:"the agent's name"`
		Reason     Reason     `json:"reason" doc:"no_signal, agent_error, killed, lost, start_failed, usage_limit, auth or reboot"`
		Error      string     `json:"error" doc:"what happened, for people"`
		ExitCode   *int       `json:"exitCode" doc:"of the CLI; null when it has none"`
		TermSignal string     `json:"termSignal,omitempty" doc:"the signal that ended the CLI"`
		RetryAt    *time.Time `json:"retryAt,omitempty" doc:"when an account is no longer at its limit"`
	}
	// QuestionRequested is the payload of question:requested.
	QuestionRequested struct {
		QuestionID QuestionID `json:"questionId" doc:"the question"`
		RequestID  RequestID  `json:"requestId" doc:"what the questions asked at once have in common"`
		Name       string     `json:"name" doc:"the agent's name"`
		Question   string     `json:"question" doc:"its words"`
	}
	// ProjectPolicies is the payload of project:changed.
	ProjectPolicies struct {
		Name       string      `json:"name" doc:"its name"`
		Stall      StallPolicy `json:"stall" doc:"event or resume"`
		AutoResume bool        `json:"autoResume" doc:"agents go on by themselves after a restart of the machine"`
		Fallback   []string    `json:"fallback" doc:"providers that agents go on with when every account of their own is at its limit"`
		AgentSpawn int         `json:"agentSpawn" doc:"how deep agents may make agents; 0: not at all"`
	}
	// ProjectTrusted is the payload of project:trusted and project:untrusted.
	ProjectTrusted struct {
		Name   string `json:"name" doc:"the project's name"`
		Digest string `json:"digest" doc:"SHA-256 of the cw.yaml that is meant"`
	}
	// AgentResumed is the payload of agent:resumed: another run is intended.
	AgentResumed struct {
		Name          string    `json:"name" doc:"the agent's name"`
		SessionNumber int       `json:"sessionNumber" doc:"of the new run"`
		Reason        RunReason `json:"reason" doc:"why there is another run"`
		Fresh         bool      `json:"freshSession" doc:"the CLI begins a session of its own with a hand-over of what happened, because it cannot go on with the last one or a person asked for it"`
		Why           string    `json:"why,omitempty" doc:"more about the reason, for people"`
	}
	// AgentStalled is the payload of agent:stalled: no output for longer than
	// the provider's patience. The agent still runs.
	AgentStalled struct {
		Name        string      `json:"name" doc:"the agent's name"`
		Since       time.Time   `json:"since" doc:"its last output, or its start"`
		Seconds     int         `json:"seconds" doc:"how long it is silent"`
		Tool        string      `json:"tool,omitempty" doc:"the tool that it is known to use"`
		LastTool    string      `json:"lastTool,omitempty" doc:"the last tool it used"`
		CPUSeconds  float64     `json:"cpuSeconds" doc:"processor time of its process tree since the silence began; 0 when it cannot be told"`
		Processes   int         `json:"processes" doc:"in its process tree"`
		Connections int         `json:"connections" doc:"open connections to other machines, in its process tree"`
		Policy      StallPolicy `json:"policy" doc:"what is done about it: event or resume"`
	}
	// AgentParked is the payload of agent:parked: the agent goes on by itself.
	AgentParked struct {
		Name    string     `json:"name" doc:"the agent's name"`
		Reason  Reason     `json:"reason" doc:"usage_limit"`
		RetryAt *time.Time `json:"retryAt" doc:"when the first account is back; null when that is not known"`
		Text    string     `json:"text" doc:"why, for people"`
	}
	// AgentAccountSwitched is the payload of agent:account_switched.
	AgentAccountSwitched struct {
		Name         string    `json:"name" doc:"the agent's name"`
		From         AccountID `json:"from" doc:"the account it used"`
		FromName     string    `json:"fromName" doc:"its name"`
		To           AccountID `json:"to" doc:"the account it goes on with"`
		ToName       string    `json:"toName" doc:"its name"`
		FromProvider string    `json:"fromProvider" doc:"whose account it was"`
		ToProvider   string    `json:"toProvider" doc:"whose account it is now"`
		Reason       Reason    `json:"reason" doc:"usage_limit, auth, or user: a person took the account out of service"`
		Session      string    `json:"session" doc:"kept: the CLI goes on with the conversation; handover: a new one was told what had happened"`
	}
	// AccountChanged is the payload of account:added, account:changed,
	// account:removed and account:refreshed.
	AccountChanged struct {
		AccountID AccountID `json:"accountId" doc:"the account"`
		Provider  string    `json:"provider" doc:"whose it is"`
		Name      string    `json:"name" doc:"its name"`
		Text      string    `json:"text,omitempty" doc:"what changed, for people"`
	}
	// AccountExhausted is the payload of account:exhausted.
	AccountExhausted struct {
		AccountID AccountID `json:"accountId" doc:"the account"`
		Provider  string    `json:"provider" doc:"whose it is"`
		Name      string    `json:"name" doc:"its name"`
		Until     time.Time `json:"until" doc:"when it is used again"`
		Kind      string    `json:"kind,omitempty" doc:"five_hour, seven_day, quota and others"`
		Text      string    `json:"text,omitempty" doc:"the limit in the provider's words"`
	}
	// AccountInvalid is the payload of account:invalid.
	AccountInvalid struct {
		AccountID AccountID `json:"accountId" doc:"the account"`
		Provider  string    `json:"provider" doc:"whose it is"`
		Name      string    `json:"name" doc:"its name"`
		Why       string    `json:"why" doc:"why its credentials cannot be used, for people"`
	}
	// BudgetReached is the payload of budget:warning and budget:spent.
	BudgetReached struct {
		Scope    BudgetScope `json:"scope" doc:"agent, initiative or account"`
		ScopeID  string      `json:"scopeId" doc:"of what"`
		Name     string      `json:"name" doc:"of what, for people"`
		LimitUSD float64     `json:"limitUsd" doc:"the budget"`
		SpentUSD float64     `json:"spentUsd" doc:"spent so far"`
	}
	// AgentRemoved is the payload of agent:removed.
	AgentRemoved struct {
		Name  string    `json:"name" doc:"the agent's name"`
		Trash []string  `json:"trash" doc:"where its places lie in the trash"`
		Until time.Time `json:"until" doc:"until when they are kept"`
	}
	// AgentRestored is the payload of agent:restored.
	AgentRestored struct {
		Name string `json:"name" doc:"the agent's name"`
		From string `json:"from" doc:"trash, or snapshot when the directory was gone already"`
	}
	// AgentPurged is the payload of agent:purged: a directory left the trash for
	// good.
	AgentPurged struct {
		Name   string `json:"name" doc:"the agent's name"`
		Path   string `json:"path" doc:"what was deleted"`
		Bytes  int64  `json:"bytes" doc:"space it took"`
		Reason string `json:"reason" doc:"why, for people"`
	}
	// QuestionAnsweredPayload is the payload of question:answered.
	QuestionAnsweredPayload struct {
		QuestionID QuestionID `json:"questionId" doc:"the question"`
		RequestID  RequestID  `json:"requestId" doc:"what the questions asked at once have in common"`
		Name       string     `json:"name" doc:"the agent's name"`
		Answer     string     `json:"answer" doc:"what was answered"`
		Open       int        `json:"open" doc:"questions of the agent that are still open"`
	}
	// QuestionWithdrawnPayload is the payload of question:withdrawn.
	QuestionWithdrawnPayload struct {
		QuestionID QuestionID `json:"questionId" doc:"the question"`
		Name       string     `json:"name" doc:"the agent's name"`
		Reason     string     `json:"reason" doc:"why it needs no answer any more"`
	}
	// QuestionRemindedPayload is the payload of question:reminded.
	QuestionRemindedPayload struct {
		QuestionID QuestionID `json:"questionId" doc:"the question"`
		RequestID  RequestID  `json:"requestId" doc:"what the questions asked at once have in common"`
		Name       string     `json:"name" doc:"the agent's name"`
		Question   string     `json:"question" doc:"its words"`
		AskedAt    time.Time  `json:"askedAt" doc:"since when it waits"`
	}
	// ConversationCreated is the payload of conversation:created.
	ConversationCreated struct {
		ConversationID ConversationID `json:"conversationId" doc:"the conversation"`
		From           string         `json:"from" doc:"name of the agent that asks"`
		To             string         `json:"to,omitempty" doc:"name of the agent that is asked; missing while the question waits for one"`
		FromAgentID    AgentID        `json:"fromAgentId" doc:"the agent that asks"`
		ToAgentID      AgentID        `json:"toAgentId,omitempty" doc:"the agent that is asked"`
		Question       string         `json:"question" doc:"its first 1,000 characters"`
	}
	// ConversationMoved is the payload of conversation:delivered,
	// conversation:answered and conversation:cancelled.
	ConversationMoved struct {
		ConversationID ConversationID `json:"conversationId" doc:"the conversation"`
		From           string         `json:"from" doc:"name of the agent that asks"`
		To             string         `json:"to,omitempty" doc:"name of the agent that is asked"`
		FromAgentID    AgentID        `json:"fromAgentId" doc:"the agent that asks"`
		ToAgentID      AgentID        `json:"toAgentId,omitempty" doc:"the agent that is asked"`
		Answer         string         `json:"answer,omitempty" doc:"answered: its first 1,000 characters"`
		Reason         string         `json:"reason,omitempty" doc:"cancelled: why"`
	}
	// PlanChanged is the payload of plan:created and plan:revised.
	PlanChanged struct {
		PlanID   PlanID     `json:"planId" doc:"the plan"`
		Name     string     `json:"name" doc:"the agent's name"`
		Title    string     `json:"title" doc:"what it is for"`
		Steps    []PlanStep `json:"steps" doc:"in order, without their descriptions; none in a revision that another one followed within a minute"`
		Revision int        `json:"revision" doc:"from 1"`
		Source   PlanSource `json:"source" doc:"tool or native"`
	}
	// PlanStepMoved is the payload of plan:step_started and plan:step_completed,
	// which tells of skipped steps, too.
	PlanStepMoved struct {
		PlanID PlanID     `json:"planId" doc:"the plan"`
		Name   string     `json:"name" doc:"the agent's name"`
		StepID string     `json:"stepId" doc:"the step"`
		Title  string     `json:"title" doc:"what is done"`
		Status StepStatus `json:"status" doc:"where it stands now"`
		Done   int        `json:"done" doc:"steps that are completed or skipped"`
		Of     int        `json:"of" doc:"all steps"`
	}
	// MessageQueued is the payload of message:queued.
	MessageQueued struct {
		MessageID MessageID `json:"messageId" doc:"the message"`
		Name      string    `json:"name" doc:"the agent's name"`
	}
	// DiskState is the payload of disk:low and disk:ok.
	DiskState struct {
		FreeBytes  int64 `json:"freeBytes" doc:"free space"`
		FloorBytes int64 `json:"floorBytes" doc:"below which no run is started"`
	}
	// TokenChanged is the payload of token:created and token:revoked.
	TokenChanged struct {
		TokenID TokenID `json:"tokenId" doc:"the token; what is sent is not told"`
		Name    string  `json:"name" doc:"its name"`
		Scopes  []Scope `json:"scopes" doc:"what it may"`
		Session bool    `json:"session,omitempty" doc:"a browser has it, by cw open"`
	}
	// SecurityRefused is the payload of security:refused.
	SecurityRefused struct {
		What string `json:"what" doc:"what was refused, for people"`
		PID  int    `json:"pid,omitempty" doc:"of the caller, where the kernel tells it"`
	}
	// MirrorRestored is the payload of mirror:restored.
	MirrorRestored struct {
		Project string   `json:"project" doc:"the name of the project"`
		Changed []string `json:"changed" doc:"what had been changed: keys and files"`
	}
)

// EventQuery selects events.
type EventQuery struct {
	After int64       `json:"after,omitempty"` // events with a greater number; 0: from the first kept
	Tail  bool        `json:"tail,omitempty"`  // ignore After, start with what comes next
	Types []EventType `json:"types,omitempty"` // empty: all that need not be named
	Also  []EventType `json:"also,omitempty"`  // these, too
	Agent string      `json:"agent,omitempty"` // alias or id
	// Initiative selects by Event.InitiativeID.
	Initiative string `json:"initiative,omitempty"` // id or slug
	Follow     bool   `json:"follow,omitempty"`
	// Marks asks for marks too: one where a Tail begins, and one whenever a
	// filter has passed over events for a while. Who comes back after a mark
	// misses nothing. api.Client uses those of the daemon and yields none.
	Marks bool `json:"-"`
}

// EventService is what faces may do with events.
type EventService interface {
	// Events yields stored events in order and, with Follow, live ones for
	// ever, without a gap or a double. An error is yielded last: CodeGone when
	// After is older than what is kept, CodeInvalid when it is greater than the
	// last number that was given, or when a type does not exist, CodeNotFound for
	// an agent or the slug of an initiative that is none. The id of an initiative
	// that is none selects nothing.
	Events(ctx context.Context, q EventQuery) iter.Seq2[Event, error]
	// EventLog gives one page of the stored events, newest first. CodeInvalid as
	// EventLogQuery.Check; CodeNotFound as Events.
	EventLog(ctx context.Context, q EventLogQuery) (EventLog, error)
}
