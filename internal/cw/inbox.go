package cw

import (
	"context"
	"time"
)

// InboxKind is why something waits for a person.
type InboxKind string

// The kinds, in the order in which they are shown.
const (
	InboxQuestion   InboxKind = "question"   // an agent asks
	InboxCheckpoint InboxKind = "checkpoint" // a task is to be decided, done or looked at
	InboxProposal   InboxKind = "proposal"   // an agent suggests changes
	InboxStalled    InboxKind = "stalled"    // an agent is silent for too long
	InboxLimit      InboxKind = "limit"      // an account is at its limit, or a budget is spent
	InboxCrashed    InboxKind = "crashed"    // an agent crashed, and nothing goes on by itself
	InboxMerge      InboxKind = "merge"      // work cannot be merged without a person
	InboxBlocked    InboxKind = "blocked"    // a task cannot go on for another reason
	InboxProject    InboxKind = "project"    // tasks wait for something to be set up or trusted
	InboxLanding    InboxKind = "landing"    // an initiative is done, and not in its repositories yet
)

// InboxKinds lists all kinds, in the order in which they are shown.
func InboxKinds() []InboxKind {
	return []InboxKind{
		InboxQuestion, InboxCheckpoint, InboxProposal, InboxStalled, InboxLimit, InboxCrashed, InboxMerge, InboxBlocked, InboxProject, InboxLanding,
	}
}

// InboxItem is one thing that waits for a person.
type InboxItem struct {
	Key          string        `json:"key" doc:"the same for as long as the same thing waits"`
	Kind         InboxKind     `json:"kind" doc:"question, checkpoint, proposal, stalled, limit, crashed, merge, blocked, project or landing"`
	Text         string        `json:"text" doc:"what it is, in one line"`
	Hint         string        `json:"hint" doc:"the command that deals with it, or shows more of it"`
	Count        int           `json:"count" doc:"how many it stands for: questions asked at once, proposals of one agent, agents at one limit, tasks without one set-up"`
	Since        time.Time     `json:"since" doc:"since when it waits"`
	Until        *time.Time    `json:"until,omitempty" doc:"when it goes on by itself; missing when it does not, or that is not known"`
	Behind       int           `json:"behind" doc:"tasks that wait for it, directly or through others"`
	AgentID      AgentID       `json:"agentId,omitempty" doc:"the agent; missing without one, and with several"`
	Agent        string        `json:"agent,omitempty" doc:"the agent's name"`
	Agents       []string      `json:"agents,omitempty" doc:"names of the agents that a limit holds"`
	TaskID       TaskID        `json:"taskId,omitempty" doc:"the task; missing without one"`
	Task         string        `json:"task,omitempty" doc:"the task's name"`
	InitiativeID InitiativeID  `json:"initiativeId,omitempty" doc:"the initiative; missing without one"`
	Initiative   string        `json:"initiative,omitempty" doc:"its slug"`
	QuestionIDs  []QuestionID  `json:"questionIds,omitempty" doc:"the open questions of the group, in order"`
	ProposalIDs  []ProposalID  `json:"proposalIds,omitempty" doc:"the open proposals of the agent, in order"`
	MergeID      MergeID       `json:"mergeId,omitempty" doc:"the work that is looked at or cannot be merged"`
	AccountID    AccountID     `json:"accountId,omitempty" doc:"the account that is at its limit"`
	Activity     ActivityState `json:"activity,omitempty" doc:"what the agent does now; missing for one that does not run"`
}

// Inbox is everything that waits for a person.
type Inbox struct {
	Items []InboxItem `json:"items" doc:"by kind, then those for which most tasks wait, then the oldest"`
}

// InboxService tells people what waits for them.
type InboxService interface {
	// Inbox gives everything that waits for a person; initiative, an id or a slug,
	// only what belongs to that one; "": all. CodeNotFound.
	Inbox(ctx context.Context, initiative string) (Inbox, error)
}
