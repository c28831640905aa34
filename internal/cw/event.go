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
	Seq       int64           `json:"seq,omitempty" gorm:"primaryKey;autoIncrement"` // 0 for live events
	Type      EventType       `json:"type"`
	At        time.Time       `json:"at"`
	ActorKind ActorKind       `json:"actorKind"`
	ActorID   string          `json:"actorId,omitempty"`
	ProjectID ProjectID       `json:"projectId,omitempty"`
	AgentID   AgentID         `json:"agentId,omitempty"`
	RunID     RunID           `json:"runId,omitempty"`
	Data      json.RawMessage `json:"data" gorm:"column:data_json"`
	// The columns of later work.
	InitiativeID   string `json:"initiativeId,omitempty"`
	TaskID         string `json:"taskId,omitempty"`
	ConversationID string `json:"conversationId,omitempty"`
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
		Name string `json:"name"`
		Path string `json:"path"`
	}
	// AgentSpawned is the payload of agent:spawned.
	AgentSpawned struct {
		Name     string   `json:"name"`
		Mode     Mode     `json:"mode"`
		Provider string   `json:"provider"`
		Title    string   `json:"title"`
		Projects []string `json:"projects"`
		Branch   string   `json:"branch,omitempty"`
		PID      int      `json:"pid"`
	}
	// AgentStarting is the payload of agent:starting.
	AgentStarting struct {
		Name          string    `json:"name"`
		SessionNumber int       `json:"sessionNumber"`
		Reason        RunReason `json:"reason"`
	}
	// AgentRunning is the payload of agent:running.
	AgentRunning struct {
		Name          string `json:"name"`
		SessionNumber int    `json:"sessionNumber"`
		PID           int    `json:"pid"`
	}
	// AgentOutput is the payload of agent:output.
	AgentOutput struct {
		AgentID       AgentID `json:"agentId"`
		SessionNumber int     `json:"sessionNumber"`
		ChunkID       int64   `json:"chunkId"`
		Offset        int64   `json:"offset"`
		Length        int     `json:"length"`
	}
	// AgentActivity is the payload of agent:activity.
	AgentActivity struct {
		AgentID  AgentID  `json:"agentId"`
		Activity Activity `json:"activity"`
	}
	// AgentWaiting is the payload of agent:waiting.
	AgentWaiting struct {
		Name      string    `json:"name"`
		RequestID RequestID `json:"requestId"`
		Questions int       `json:"questions"`
	}
	// AgentWarning is the payload of agent:warning.
	AgentWarning struct {
		Name    string `json:"name"`
		Warning string `json:"warning"`
	}
	// AgentStopped is the payload of agent:stopped: the run ended well, or a
	// person or a rule ended it.
	AgentStopped struct {
		Name       string `json:"name"`
		Reason     Reason `json:"reason"`
		Commits    int    `json:"commits"`
		HeadCommit string `json:"headCommit,omitempty"`
		NoChanges  string `json:"noChanges,omitempty"`
		ExitCode   *int   `json:"exitCode"`
	}
	// AgentCrashed is the payload of agent:crashed.
	AgentCrashed struct {
		Name       string     `json:"name"`
		Reason     Reason     `json:"reason"`
		Error      string     `json:"error"`
		ExitCode   *int       `json:"exitCode"`
		TermSignal string     `json:"termSignal,omitempty"`
		RetryAt    *time.Time `json:"retryAt,omitempty"`
	}
	// QuestionRequested is the payload of question:requested.
	QuestionRequested struct {
		QuestionID QuestionID `json:"questionId"`
		RequestID  RequestID  `json:"requestId"`
		Name       string     `json:"name"`
		Question   string     `json:"question"`
	}
	// TokenChanged is the payload of token:created and token:revoked.
	TokenChanged struct {
		TokenID TokenID `json:"tokenId"`
		Name    string  `json:"name"`
		Scopes  []Scope `json:"scopes"`
	}
	// SecurityRefused is the payload of security:refused.
	SecurityRefused struct {
		What string `json:"what"`
		PID  int    `json:"pid,omitempty"`
	}
	// MirrorRestored is the payload of mirror:restored.
	MirrorRestored struct {
		Project string   `json:"project"`
		Changed []string `json:"changed"`
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
}

// EventService is what faces may do with events.
type EventService interface {
	// Events yields stored events in order and, with Follow, live ones for
	// ever, without a gap or a double. An error is yielded last; CodeGone when
	// After is older than what is kept.
	Events(ctx context.Context, q EventQuery) iter.Seq2[Event, error]
}
