package cw

import "slices"

// AgentStatus is where an agent stands.
//
//	pending ─► starting ─► running ─┬─► idle               signal done, verified            ─► starting (resume, commit retry, follow-up)
//	   │           │                ├─► waiting_for_input  signal questions                 ─► starting (answers) │ stopped
//	   │           └─► crashed      ├─► parked             every account is at its limit    ─► starting (an account is back) │ stopped
//	   └─► crashed                  ├─► crashed            signal error, no signal, killed, lost ─► starting (resume)
//	                                └─► stopped            by a person                      ─► starting (resume)
//
// Also pending, starting ─► stopped and pending, starting ─► parked (a spawn with
// every account at its limit). No status is terminal.
type AgentStatus string

// The statuses of an agent.
const (
	StatusPending         AgentStatus = "pending"
	StatusStarting        AgentStatus = "starting"
	StatusRunning         AgentStatus = "running"
	StatusIdle            AgentStatus = "idle"
	StatusWaitingForInput AgentStatus = "waiting_for_input"
	StatusParked          AgentStatus = "parked"
	StatusCrashed         AgentStatus = "crashed"
	StatusStopped         AgentStatus = "stopped"
)

// AgentStatuses lists all statuses in the order in which people read them.
func AgentStatuses() []AgentStatus {
	return []AgentStatus{
		StatusPending, StatusStarting, StatusRunning, StatusIdle,
		StatusWaitingForInput, StatusParked, StatusCrashed, StatusStopped,
	}
}

// AgentTransitions is the table of legal status changes. Every write of a
// status is conditional on it.
func AgentTransitions() map[AgentStatus][]AgentStatus {
	return map[AgentStatus][]AgentStatus{
		StatusPending:         {StatusStarting, StatusParked, StatusCrashed, StatusStopped},
		StatusStarting:        {StatusRunning, StatusParked, StatusCrashed, StatusStopped},
		StatusRunning:         {StatusStarting, StatusIdle, StatusWaitingForInput, StatusParked, StatusCrashed, StatusStopped},
		StatusIdle:            {StatusStarting},
		StatusWaitingForInput: {StatusStarting, StatusStopped},
		StatusParked:          {StatusStarting, StatusStopped},
		StatusCrashed:         {StatusStarting},
		StatusStopped:         {StatusStarting},
	}
}

// CanBecome tells whether the table allows the change.
func (s AgentStatus) CanBecome(to AgentStatus) bool {
	return slices.Contains(AgentTransitions()[s], to)
}

// Alive tells whether a process of the agent may exist.
func (s AgentStatus) Alive() bool {
	return s == StatusPending || s == StatusStarting || s == StatusRunning
}

// AtRest tells whether the agent does nothing until somebody acts. A parked
// agent goes on by itself, so it is not at rest.
func (s AgentStatus) AtRest() bool { return !s.Alive() && s != StatusParked }

// Reason says why an agent has its status. Every crash has one.
type Reason string

// The reasons of a crash.
const (
	ReasonNoSignal    Reason = "no_signal"    // the run ended without a readable signal
	ReasonAgentError  Reason = "agent_error"  // the agent's own signal said error
	ReasonKilled      Reason = "killed"       // a signal ended the CLI, and not by cw
	ReasonLost        Reason = "lost"         // the supervisor of the run vanished: its end is unknown
	ReasonStartFailed Reason = "start_failed" // the CLI could not be started, or ended before it began
	ReasonUsageLimit  Reason = "usage_limit"  // the account is at its limit until retryAt
	ReasonAuth        Reason = "auth"         // the provider refused the credentials
	ReasonReboot      Reason = "reboot"       // the machine was restarted
)

// The reasons of a stop.
const (
	ReasonUser    Reason = "user"    // a person stopped it
	ReasonBudget  Reason = "budget"  // a budget is spent
	ReasonStalled Reason = "stalled" // a rule about silence
	ReasonDone    Reason = "done"    // event agent:stopped after a signal done
)

// ActivityState is what a running agent does at this moment, told from its
// stream. It is not stored.
type ActivityState string

// The activities.
const (
	ActivityBusy     ActivityState = "busy"
	ActivityRetrying ActivityState = "retrying"
	ActivityStalled  ActivityState = "stalled"
	ActivityError    ActivityState = "error"
)
