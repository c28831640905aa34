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
		row(EventProjectRemoved, ProjectChanged{}, "orchestrator", "a project was forgotten"),

		row(EventAgentSpawned, AgentSpawned{}, "orchestrator", "an agent was made and its first run starts"),
		row(EventAgentStarting, AgentStarting{}, "orchestrator", "a run is being started"),
		row(EventAgentRunning, AgentRunning{}, "orchestrator", "the CLI's process is there"),
		row(EventAgentOutput, AgentOutput{}, "orchestrator", "a chunk of output was stored; sent only to those who name this type"),
		row(EventAgentActivity, AgentActivity{}, "orchestrator", "what a running agent does now has changed"),
		row(EventAgentWaiting, AgentWaiting{}, "orchestrator", "the run ended with questions to people"),
		row(EventAgentWarning, AgentWarning{}, "orchestrator", "something about an agent is worth a look"),
		row(EventAgentStopped, AgentStopped{}, "orchestrator", "a run ended well, or a person or a rule ended it"),
		row(EventAgentCrashed, AgentCrashed{}, "orchestrator", "a run ended badly"),

		row(EventQuestionRequested, QuestionRequested{}, "orchestrator", "an agent asks a question"),

		row(EventTokenCreated, TokenChanged{}, "daemon", "a dashboard's token was made"),
		row(EventTokenRevoked, TokenChanged{}, "daemon", "a dashboard's token was ended"),

		row(EventSecurityRefused, SecurityRefused{}, "daemon", "a caller asked for what it may not"),
		row(EventMirrorRestored, MirrorRestored{}, "worktree", "configuration of a mirror that something had changed was put back"),
	}
}

// row takes what is stored from where it is decided, so that documents cannot
// say otherwise.
func row(t EventType, payload any, emitter, text string) EventInfo {
	return EventInfo{Type: t, Stored: t.Stored(), Payload: payload, Emitter: emitter, Text: text}
}
