package cw

// EventInfo describes one type of event, for documents and for the API's
// description.
type EventInfo struct {
	Type    EventType
	Stored  bool // numbered, kept and replayed; else seen only while it happens
	Payload any  // zero value of the payload's type
	Emitter string
	Text    string // when it happens, one sentence without its final stop
}

// EventTable lists all types of events, in the order of the documents. A type
// without a row does not exist.
func EventTable() []EventInfo {
	return []EventInfo{
		row(EventProjectAdded, ProjectChanged{}, "orchestrator", "a repository was registered"),
		row(EventProjectChanged, ProjectPolicies{}, "orchestrator", "a policy of a project was changed"),
		row(EventProjectRemoved, ProjectChanged{}, "orchestrator", "a project was forgotten"),
		row(EventProjectTrusted, ProjectTrusted{}, "orchestrator", "a person trusts a content of a project's cw.yaml: its commands may be run"),
		row(EventProjectUntrusted, ProjectTrusted{}, "orchestrator", "a person trusts a content of a project's cw.yaml no longer"),

		row(EventAgentSpawned, AgentSpawned{}, "orchestrator", "an agent was made and its first run starts"),
		row(EventAgentStarting, AgentStarting{}, "orchestrator", "a run is being started"),
		row(EventAgentRunning, AgentRunning{}, "orchestrator", "the CLI's process is there"),
		row(EventAgentOutput, AgentOutput{}, "orchestrator", "a chunk of output was stored; sent only to those who name this type"),
		row(EventAgentActivity, AgentActivity{}, "orchestrator", "what a running agent does now has changed, up to four times a second; sent only to those who name this type"),
		row(EventAgentWaiting, AgentWaiting{}, "orchestrator", "the run ended with questions to people"),
		row(EventAgentWarning, AgentWarning{}, "orchestrator", "something about an agent is worth a look"),
		row(EventAgentStopped, AgentStopped{}, "orchestrator", "a run ended well, or a person or a rule ended it"),
		row(EventAgentCrashed, AgentCrashed{}, "orchestrator", "a run ended badly"),

		row(EventAgentResumed, AgentResumed{}, "orchestrator", "another run of an agent is intended"),
		row(EventAgentStalled, AgentStalled{}, "orchestrator", "a running agent is silent for longer than its provider's patience"),
		row(EventAgentRemoved, AgentRemoved{}, "orchestrator", "an agent was removed; its places are in the trash"),
		row(EventAgentRestored, AgentRestored{}, "orchestrator", "a removed agent is back"),
		row(EventAgentPurged, AgentPurged{}, "orchestrator", "a removed agent's directory left the trash for good"),

		row(EventAgentParked, AgentParked{}, "orchestrator", "every account that an agent could use is at its limit; it goes on by itself"),
		row(EventAgentAccountSwitched, AgentAccountSwitched{}, "orchestrator", "an agent goes on with another account"),

		row(EventAccountAdded, AccountChanged{}, "accounts", "an account was added"),
		row(EventAccountChanged, AccountChanged{}, "accounts", "an account was changed"),
		row(EventAccountRemoved, AccountChanged{}, "accounts", "an account was removed"),
		row(EventAccountExhausted, AccountExhausted{}, "orchestrator", "an account is at its usage limit"),
		row(EventAccountInvalid, AccountInvalid{}, "accounts", "the credentials of an account cannot be used"),
		row(EventAccountRefreshed, AccountChanged{}, "accounts", "the token of an account was renewed"),

		row(EventBudgetWarning, BudgetReached{}, "orchestrator", "80 % of a budget are spent"),
		row(EventBudgetSpent, BudgetReached{}, "orchestrator", "a budget is spent; its agents are asked to commit and stop"),

		row(EventQuestionRequested, QuestionRequested{}, "orchestrator", "an agent asks a question"),
		row(EventQuestionAnswered, QuestionAnsweredPayload{}, "orchestrator", "a person answered a question"),
		row(EventQuestionWithdrawn, QuestionWithdrawnPayload{}, "orchestrator", "a question needs no answer any more"),
		row(EventQuestionReminded, QuestionRemindedPayload{}, "orchestrator", "a question has waited for an answer for a while"),

		row(EventConversationCreated, ConversationCreated{}, "orchestrator", "an agent asks another one"),
		row(EventConversationDelivered, ConversationMoved{}, "orchestrator", "the asked agent was given the question"),
		row(EventConversationAnswered, ConversationMoved{}, "orchestrator", "the asked agent answered"),
		row(EventConversationCancelled, ConversationMoved{}, "orchestrator", "a question to an agent will get no answer"),

		row(EventPlanCreated, PlanChanged{}, "orchestrator", "an agent made a plan"),
		row(EventPlanRevised, PlanChanged{}, "orchestrator", "an agent changed its plan"),
		row(EventPlanStepStarted, PlanStepMoved{}, "orchestrator", "an agent began a step of its plan"),
		row(EventPlanStepCompleted, PlanStepMoved{}, "orchestrator", "an agent completed or skipped a step of its plan"),

		row(EventMessageQueued, MessageQueued{}, "orchestrator", "a text waits for an agent's next run"),

		row(EventInitiativeCreated, InitiativeChanged{}, "planning", "an initiative was made"),
		row(EventInitiativeChanged, InitiativeChanged{}, "planning", "an initiative was changed, archived or taken out of the archive"),

		row(EventPageCreated, PageChanged{}, "planning", "a page was made"),
		row(EventPageChanged, PageChanged{}, "planning", "a page was changed or moved"),
		row(EventPageRemoved, PageChanged{}, "planning", "a page was removed"),

		row(EventPhaseCreated, PhaseChanged{}, "planning", "a phase was made"),
		row(EventPhaseChanged, PhaseChanged{}, "planning", "a phase was changed"),

		row(EventTaskCreated, TaskChanged{}, "planning", "a task was made"),
		row(EventTaskChanged, TaskChanged{}, "planning, dispatch", "a task was changed, or moved on"),
		row(EventTaskCheckpoint, TaskCheckpoint{}, "dispatch", "a task waits for a person to decide, to act, or to look at its result"),
		row(EventTaskBlocked, TaskBlockedBy{}, "dispatch", "a task failed, and a person has to look"),
		row(EventTaskOutside, TaskOutside{}, "dispatch", "the work on a task changed files outside the task's paths"),

		row(EventMergeQueued, MergeChanged{}, "dispatch", "the work on a task is to be merged"),
		row(EventMergeChecking, MergeChanged{}, "dispatch", "work is checked at the commit that would be merged"),
		row(EventMergeConflicted, MergeChanged{}, "dispatch", "work conflicts with what was merged before it"),
		row(EventMergeRed, MergeChanged{}, "dispatch", "a check failed at the merged commit"),
		row(EventMergeMerged, MergeChanged{}, "dispatch", "work is on the branch of its initiative"),
		row(EventMergeDismissed, MergeChanged{}, "dispatch", "work will not be merged"),
		row(EventInitiativeLanded, InitiativeLanded{}, "dispatch", "the branch of an initiative was brought onto a branch of the user's"),

		row(EventDispatchChanged, DispatchChanged{}, "dispatch", "tasks are started, or not started, from now on"),

		row(EventProposalCreated, ProposalChanged{}, "orchestrator", "an architect suggests a change"),
		row(EventProposalAccepted, ProposalChanged{}, "planning", "a person accepted a proposal; what it changes is changed"),
		row(EventProposalDismissed, ProposalChanged{}, "planning", "a person dismissed a proposal"),
		row(EventProposalSuperseded, ProposalChanged{}, "orchestrator", "a later proposal for the same thing took a proposal's place"),

		row(EventDiskLow, DiskState{}, "daemon", "the disk has less free space than the floor, so no run is started"),
		row(EventDiskOK, DiskState{}, "daemon", "the disk has enough free space again"),

		row(EventTokenCreated, TokenChanged{}, "daemon", "a dashboard's token was made"),
		row(EventTokenRevoked, TokenChanged{}, "daemon", "a dashboard's token was ended"),

		row(EventSecurityRefused, SecurityRefused{}, "daemon", "a caller asked for what it may not"),
		row(EventMirrorRestored, MirrorRestored{}, "worktree", "configuration of a mirror, or a branch of an initiative in it, that something had changed was put back"),
	}
}

// row takes what is stored from where it is decided, so that documents cannot
// say otherwise.
func row(t EventType, payload any, emitter, text string) EventInfo {
	return EventInfo{Type: t, Stored: t.Stored(), Payload: payload, Emitter: emitter, Text: text}
}
