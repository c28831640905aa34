package cw

import (
	"encoding/json"
	"time"
)

// RunKind says what a run is for.
type RunKind string

// The kinds of runs.
const (
	RunAgent RunKind = "agent"
	RunCheck RunKind = "check"
	RunSetup RunKind = "setup"
)

// RunReason says why a run was started.
type RunReason string

// The reasons of a run that exist so far.
const (
	RunSpawn RunReason = "spawn"
)

// Run is one process of an agent. Session 1 is the spawn, each resume adds one.
type Run struct {
	ID            RunID           `json:"id" gorm:"primaryKey"`
	AgentID       AgentID         `json:"agentId"`
	Kind          RunKind         `json:"kind"`
	SessionNumber int             `json:"sessionNumber"` // unique per agent
	Reason        RunReason       `json:"reason"`
	MessageID     MessageID       `json:"messageId,omitempty"` // the prompt that started it
	AccountID     string          `json:"accountId,omitempty"`
	Dir           string          `json:"dir"`           // the run directory
	Handle        json.RawMessage `json:"-"`             // names the process for ever; opaque here
	PID           int             `json:"pid,omitempty"` // of the CLI, while it lives
	OutputPath    string          `json:"outputPath"`    // raw output, the truth
	ExitCode      *int            `json:"exitCode"`      // nil while it runs, and when it ended by a signal or is unknown
	TermSignal    string          `json:"termSignal,omitempty"`
	Outcome       AgentStatus     `json:"outcome,omitempty"` // the status it ended in
	OutcomeReason Reason          `json:"outcomeReason,omitempty"`
	Result        string          `json:"result,omitempty"`
	Turns         int             `json:"turns,omitempty"`
	ContextTokens int             `json:"contextTokens,omitempty"`
	ContextLimit  int             `json:"contextLimit,omitempty"`
	CostUSD       float64         `json:"costUsd"`
	Usage         Usage           `json:"usage" gorm:"serializer:json"`
	UnknownLines  int             `json:"unknownLines"`            // lines the parser did not know
	StopRequested string          `json:"stopRequested,omitempty"` // "", "term" or "kill": a person asked for the end
	StartedAt     *time.Time      `json:"startedAt,omitempty"`
	EndedAt       *time.Time      `json:"endedAt,omitempty"`
	CreatedAt     time.Time       `json:"createdAt"`
}

// Usage counts tokens as the provider reports them.
type Usage struct {
	InputTokens      int `json:"inputTokens"`
	OutputTokens     int `json:"outputTokens"`
	CacheReadTokens  int `json:"cacheReadTokens"`
	CacheWriteTokens int `json:"cacheWriteTokens"`
	ReasoningTokens  int `json:"reasoningTokens,omitempty"`
}

// Add sums two counts.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,
	}
}
