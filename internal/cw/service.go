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
	PID           int       `json:"pid"`
	Version       string    `json:"version"`
	BuildID       string    `json:"buildId"`
	APIVersion    string    `json:"apiVersion"`
	Home          string    `json:"home"`
	Socket        string    `json:"socket"`
	StartedAt     time.Time `json:"startedAt"`
	AgentsAlive   int       `json:"agentsAlive"`
	Agents        int       `json:"agents"`
	Projects      int       `json:"projects"`
	DatabaseBytes int64     `json:"databaseBytes"`
	LogBytes      int64     `json:"logBytes"`
	FreeBytes     int64     `json:"freeBytes"`
}

// Whoami tells a caller who the daemon takes it for.
type Whoami struct {
	Kind    ActorKind `json:"kind"`
	AgentID AgentID   `json:"agentId,omitempty"`
	Name    string    `json:"name,omitempty"`
	RunID   RunID     `json:"runId,omitempty"`
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
	ProjectService
	LogService
	EventService
	TokenService
	DaemonService
}
