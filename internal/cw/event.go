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
	EventProjectAdded   EventType = "project:added"
	EventProjectRemoved EventType = "project:removed"

	EventAgentSpawned  EventType = "agent:spawned"
	EventAgentStarting EventType = "agent:starting"
	EventAgentRunning  EventType = "agent:running"
	EventAgentOutput   EventType = "agent:output"   // live; the chunk is stored
	EventAgentActivity EventType = "agent:activity" // live
	EventAgentWaiting  EventType = "agent:waiting"
	EventAgentWarning  EventType = "agent:warning"
	EventAgentStopped  EventType = "agent:stopped"
	EventAgentCrashed  EventType = "agent:crashed"

	EventQuestionRequested EventType = "question:requested"

	EventTokenCreated EventType = "token:created"
	EventTokenRevoked EventType = "token:revoked"

	EventSecurityRefused EventType = "security:refused"
	EventMirrorRestored  EventType = "mirror:restored"
)

// Stored tells whether events of this type are kept and numbered.
func (t EventType) Stored() bool { return t != EventAgentOutput && t != EventAgentActivity }

// Event is something that happened. Stored events are numbered without a gap
// visible to readers and never reused.
type Event struct {
	Seq       int64           `json:"seq,omitempty" gorm:"primaryKey;autoIncrement" doc:"number, without a gap; missing on live events, which are not kept"`
	Type      EventType       `json:"type" doc:"what happened"`
	At        time.Time       `json:"at" doc:"when"`
	ActorKind ActorKind       `json:"actorKind" doc:"who did it"`
	ActorID   string          `json:"actorId,omitempty" doc:"id of the agent or token that did it"`
	ProjectID ProjectID       `json:"projectId,omitempty" doc:"the project it is about"`
	AgentID   AgentID         `json:"agentId,omitempty" doc:"the agent it is about"`
	RunID     RunID           `json:"runId,omitempty" doc:"the run it is about"`
	Data      json.RawMessage `json:"data" gorm:"column:data_json" doc:"the payload; its form belongs to the type"`
	// The columns of later work.
	InitiativeID   string `json:"initiativeId,omitempty" doc:"kept for later: missing"`
	TaskID         string `json:"taskId,omitempty" doc:"kept for later: missing"`
	ConversationID string `json:"conversationId,omitempty" doc:"kept for later: missing"`
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

// About returns a copy that names the agent and run it is about.
func (e Event) About(agent AgentID, run RunID) Event {
	e.AgentID, e.RunID = agent, run
	return e
}

// The payloads, one type per event type.
type (
	// ProjectChanged is the payload of project:added and project:removed.
	ProjectChanged struct {
		Name string `json:"name" doc:"its name"`
		Path string `json:"path" doc:"its folder, absolute"`
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
	// TokenChanged is the payload of token:created and token:revoked.
	TokenChanged struct {
		TokenID TokenID `json:"tokenId" doc:"the token; what is sent is not told"`
		Name    string  `json:"name" doc:"its name"`
		Scopes  []Scope `json:"scopes" doc:"what it may"`
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
	Types []EventType `json:"types,omitempty"` // empty: all but agent:output
	Agent string      `json:"agent,omitempty"` // alias or id
	// Initiative selects by Event.InitiativeID.
	Initiative string `json:"initiative,omitempty"`
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
	// last number that was given, or when a type does not exist.
	Events(ctx context.Context, q EventQuery) iter.Seq2[Event, error]
}
