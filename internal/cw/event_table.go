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
		{EventProjectAdded, true, ProjectChanged{}, "orchestrator", "a repository was registered"},
		{EventProjectRemoved, true, ProjectChanged{}, "orchestrator", "a project was forgotten"},

		{EventAgentSpawned, true, AgentSpawned{}, "orchestrator", "an agent was made and its first run starts"},
		{EventAgentStarting, true, AgentStarting{}, "orchestrator", "a run is being started"},
		{EventAgentRunning, true, AgentRunning{}, "orchestrator", "the CLI's process is there"},
		{EventAgentOutput, false, AgentOutput{}, "orchestrator", "a chunk of output was stored; sent only to those who name this type"},
		{EventAgentActivity, false, AgentActivity{}, "orchestrator", "what a running agent does now has changed"},
		{EventAgentWaiting, true, AgentWaiting{}, "orchestrator", "the run ended with questions to people"},
		{EventAgentWarning, true, AgentWarning{}, "orchestrator", "something about an agent is worth a look"},
		{EventAgentStopped, true, AgentStopped{}, "orchestrator", "a run ended well, or a person or a rule ended it"},
		{EventAgentCrashed, true, AgentCrashed{}, "orchestrator", "a run ended badly"},

		{EventQuestionRequested, true, QuestionRequested{}, "orchestrator", "an agent asks a question"},

		{EventTokenCreated, true, TokenChanged{}, "daemon", "a dashboard's token was made"},
		{EventTokenRevoked, true, TokenChanged{}, "daemon", "a dashboard's token was ended"},

		{EventSecurityRefused, true, SecurityRefused{}, "daemon", "a caller asked for what it may not"},
		{EventMirrorRestored, true, MirrorRestored{}, "worktree", "configuration of a mirror that something had changed was put back"},
	}
}
