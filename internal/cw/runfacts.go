package cw

import (
	"encoding/json"
	"time"
)

// RunFacts are kept in the directory of every run, so that its agent can be
// rebuilt when the database is lost. They hold no secret.
type RunFacts struct {
	Kind       RunKind         `json:"kind,omitempty"` // empty for an agent's
	AgentID    AgentID         `json:"agentId"`
	Agent      string          `json:"agent"`
	Session    int             `json:"session"`
	Reason     RunReason       `json:"reason,omitempty"`
	Binary     string          `json:"binary"` // the copy of cw that the run uses
	Definition string          `json:"definition,omitempty"`
	Mode       Mode            `json:"mode,omitempty"`
	Provider   string          `json:"provider,omitempty"`
	AccountID  AccountID       `json:"accountId,omitempty"`
	Model      string          `json:"model,omitempty"`
	Title      string          `json:"title,omitempty"`
	SessionID  string          `json:"sessionId,omitempty"` // the CLI's, as it was before the run
	Cwd        string          `json:"cwd,omitempty"`
	OutputPath string          `json:"outputPath,omitempty"`
	Options    json.RawMessage `json:"options,omitempty"`
	CreatedAt  time.Time       `json:"createdAt,omitzero"` // of the agent
	Places     []RunPlace      `json:"places,omitempty"`
}

// RunPlace is an agent's place in one project, with what finds the project
// again.
type RunPlace struct {
	ProjectID  ProjectID `json:"projectId"`
	Project    string    `json:"project"`
	Repository string    `json:"repository"`
	GitDir     string    `json:"gitDir"`
	RemoteURL  string    `json:"remoteUrl,omitempty"`
	Mirror     string    `json:"mirror"`
	Path       string    `json:"path"`
	Branch     string    `json:"branch"`
	BaseBranch string    `json:"baseBranch,omitempty"`
	BaseCommit string    `json:"baseCommit"`
}
