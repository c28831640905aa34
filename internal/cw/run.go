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

// The reasons of a run.
const (
	RunSpawn         RunReason = "spawn"
	RunAnswers       RunReason = "answers"        // people answered its questions
	RunMissingSignal RunReason = "missing_signal" // the run before left no readable signal
	RunFiles         RunReason = "files"          // the run before left files for people that could not be taken
	RunCommit        RunReason = "commit"         // the run before left work uncommitted, or none at all
	RunFollowUp      RunReason = "follow_up"      // a person wrote to it or resumed it
	RunStalled       RunReason = "stalled"        // the run before was silent for too long
	RunReboot        RunReason = "reboot"         // the machine was restarted under the run before
	RunFailover      RunReason = "failover"       // the account of the run before is at its limit, or cannot be used
	RunWake          RunReason = "wake"           // another agent asked it something, and wanted it to be woken
	RunConflict      RunReason = "conflict"       // its work conflicts with what was merged before it
	RunCheckRed      RunReason = "check_red"      // a check failed with its work
	RunReview        RunReason = "review"         // a person did not accept its result
	RunBudget        RunReason = "budget"         // a budget is spent: it is to commit and end
)

// Run is one process of an agent. Session 1 is the spawn, each resume adds one.
type Run struct {
	ID            RunID           `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	AgentID       AgentID         `json:"agentId" doc:"its agent"`
	Kind          RunKind         `json:"kind" doc:"what it is for"`
	SessionNumber int             `json:"sessionNumber" doc:"from 1, unique for the agent"`
	Reason        RunReason       `json:"reason" doc:"why it was started"`
	MessageID     MessageID       `json:"messageId,omitempty" doc:"the prompt that started it"`
	Fresh         bool            `json:"freshSession,omitempty" doc:"the CLI began a session of its own, told what had happened before, instead of going on with the last one"`
	Provider      string          `json:"provider" doc:"whose CLI it ran"`
	AccountID     AccountID       `json:"accountId,omitempty" doc:"the account it used"`
	Model         string          `json:"model" doc:"the model that was asked for, or the CLI's own once it told it"`
	Dir           string          `json:"dir" doc:"the run directory"`
	Handle        json.RawMessage `json:"-"` // names the process for ever; opaque here
	PID           int             `json:"pid,omitempty" doc:"process id of the CLI, while it lives"`
	OutputPath    string          `json:"outputPath" doc:"file with the raw output"`
	ExitCode      *int            `json:"exitCode" doc:"null while it runs, after a signal and when it is unknown"`
	TermSignal    string          `json:"termSignal,omitempty" doc:"the signal that ended the CLI"`
	Outcome       AgentStatus     `json:"outcome,omitempty" doc:"the status in which it left the agent; missing while it runs"`
	OutcomeReason Reason          `json:"outcomeReason,omitempty" doc:"why"`
	Result        string          `json:"result,omitempty" doc:"the agent's final word"`
	Turns         int             `json:"turns,omitempty" doc:"turns of the model"`
	ContextTokens int             `json:"contextTokens,omitempty" doc:"tokens in the model's context, at its end or now"`
	ContextLimit  int             `json:"contextLimit,omitempty" doc:"tokens that fit"`
	CostUSD       float64         `json:"costUsd" doc:"cost in US dollars"`
	CostSource    CostSource      `json:"costSource" doc:"where the cost comes from: cli, table, or empty when it is not known"`
	Usage         Usage           `json:"usage" gorm:"serializer:json" doc:"tokens"`
	UnknownLines  int             `json:"unknownLines" doc:"lines of output that cw does not know"`
	StopRequested string          `json:"stopRequested,omitempty" doc:"term or kill when a person asked for the end, rule when a rule about silence did, budget when a budget was spent"`
	StartedAt     *time.Time      `json:"startedAt,omitempty" doc:"when the CLI was started"`
	EndedAt       *time.Time      `json:"endedAt,omitempty" doc:"when it was over"`
	CreatedAt     time.Time       `json:"createdAt" doc:"when it was planned"`
}

// Usage counts tokens as the provider reports them.
type Usage struct {
	InputTokens      int `json:"inputTokens" doc:"tokens read, without the cache"`
	OutputTokens     int `json:"outputTokens" doc:"tokens written"`
	CacheReadTokens  int `json:"cacheReadTokens" doc:"tokens read from the cache"`
	CacheWriteTokens int `json:"cacheWriteTokens" doc:"tokens written to the cache"`
	ReasoningTokens  int `json:"reasoningTokens,omitempty" doc:"tokens of reasoning, a part of those written"`
	// CacheWriteHourTokens cost more than those that stay for five minutes.
	CacheWriteHourTokens int `json:"cacheWriteHourTokens,omitempty" doc:"tokens written to the cache for an hour, a part of those written to it"`
}

// Add sums two counts.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,

		CacheWriteHourTokens: u.CacheWriteHourTokens + v.CacheWriteHourTokens,
	}
}

// Sub takes a count away from another.
func (u Usage) Sub(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens - v.InputTokens,
		OutputTokens:     u.OutputTokens - v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens - v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens - v.CacheWriteTokens,
		ReasoningTokens:  u.ReasoningTokens - v.ReasoningTokens,

		CacheWriteHourTokens: u.CacheWriteHourTokens - v.CacheWriteHourTokens,
	}
}

// Max gives the greater of each two counts.
func (u Usage) Max(v Usage) Usage {
	return Usage{
		InputTokens:      max(u.InputTokens, v.InputTokens),
		OutputTokens:     max(u.OutputTokens, v.OutputTokens),
		CacheReadTokens:  max(u.CacheReadTokens, v.CacheReadTokens),
		CacheWriteTokens: max(u.CacheWriteTokens, v.CacheWriteTokens),
		ReasoningTokens:  max(u.ReasoningTokens, v.ReasoningTokens),

		CacheWriteHourTokens: max(u.CacheWriteHourTokens, v.CacheWriteHourTokens),
	}
}

// Least is the smallest of the counts; it is negative when Sub took too much.
func (u Usage) Least() int {
	return min(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.ReasoningTokens, u.CacheWriteHourTokens)
}

// ModelUsage counts the tokens of one model. Model "" is the model of the run.
type ModelUsage struct {
	Model string
	Usage Usage
}
