package cw

import (
	"context"
	"slices"
	"strings"
	"time"
)

// ProposalStatus is where a proposal stands.
type ProposalStatus string

// The statuses of a proposal.
const (
	ProposalOpen       ProposalStatus = "open"
	ProposalAccepted   ProposalStatus = "accepted"
	ProposalDismissed  ProposalStatus = "dismissed"
	ProposalSuperseded ProposalStatus = "superseded" // a later one for the same thing took its place
)

// ProposalStatuses lists all statuses.
func ProposalStatuses() []ProposalStatus {
	return []ProposalStatus{ProposalOpen, ProposalAccepted, ProposalDismissed, ProposalSuperseded}
}

// ProposalTarget is what a proposal is about.
type ProposalTarget string

// The targets, in the order in which they are accepted.
const (
	TargetPage     ProposalTarget = "page"
	TargetDecision ProposalTarget = "decision" // becomes an entry of a page
	TargetPhase    ProposalTarget = "phase"
	TargetTask     ProposalTarget = "task"
)

// ProposalTargets lists all targets, in the order in which they are accepted.
func ProposalTargets() []ProposalTarget {
	return []ProposalTarget{TargetPage, TargetDecision, TargetPhase, TargetTask}
}

// ProposalAction is what becomes of the target.
type ProposalAction string

// The actions.
const (
	ActionCreate ProposalAction = "create"
	ActionUpdate ProposalAction = "update"
	ActionDelete ProposalAction = "delete" // a page is removed, a phase archived, a task cancelled
)

// ProposalTake is which side a person takes where a proposal and its target, which
// changed meanwhile, do not go together.
type ProposalTake string

// The sides.
const (
	TakeSuggested ProposalTake = "suggested" // what the agent wrote
	TakeCurrent   ProposalTake = "current"   // what is there now
)

// ProposalTakes lists both sides.
func ProposalTakes() []ProposalTake { return []ProposalTake{TakeSuggested, TakeCurrent} }

// Proposal is a change that an architect suggests. Before and After are the
// target's file as agents read and write it: YAML head and Markdown.
type Proposal struct {
	ID           ProposalID     `json:"id" gorm:"primaryKey" doc:"unguessable id"`
	InitiativeID InitiativeID   `json:"initiativeId" doc:"the initiative"`
	AgentID      AgentID        `json:"agentId" doc:"the agent that suggests it"`
	RunID        RunID          `json:"runId" doc:"the run that wrote it"`
	Target       ProposalTarget `json:"target" doc:"page, decision, phase or task"`
	TargetID     string         `json:"targetId" doc:"id of what is changed, or of what is to be made"`
	Action       ProposalAction `json:"action" doc:"create, update or delete"`
	Title        string         `json:"title" doc:"name of the target, one line"`
	File         string         `json:"file" doc:"the agent's file, relative to .cw/output"`
	Before       string         `json:"before,omitempty" doc:"the target's file that the suggestion was made from; missing for something new"`
	After        string         `json:"after,omitempty" doc:"the target's file as it is suggested; missing for a removal"`
	// BaseRevision is the page's revision that Before shows; 0 for the others.
	BaseRevision int `json:"baseRevision,omitempty" doc:"of a page: the revision that before shows"`
	// Digest is the same for the same suggestion about the same state: target,
	// name, action, Before and After, the open one whose place it takes, and when
	// its target last changed.
	Digest string `json:"-"`
	// Reason is why something is to be deleted, in the agent's words.
	Reason    string         `json:"reason,omitempty" doc:"why something is to be deleted, in the agent's words"`
	Status    ProposalStatus `json:"status" doc:"where it stands"`
	DecidedBy string         `json:"decidedBy,omitempty" doc:"who accepted or dismissed it"`
	DecidedAt *time.Time     `json:"decidedAt,omitempty" doc:"when"`
	Note      string         `json:"note,omitempty" doc:"why it was dismissed; the next agent reads it"`
	CreatedAt time.Time      `json:"createdAt" doc:"when it was suggested"`
}

// ProposalView is a proposal beside what it changes, as that is now.
type ProposalView struct {
	Proposal
	Agent   string `json:"agent" doc:"name of the agent that suggests it"`
	Current string `json:"current,omitempty" doc:"the target's file as it is now; missing when there is none"`
	Changed bool   `json:"changed" doc:"the target changed since: current differs from before"`
	Diff    string `json:"diff" doc:"unified difference from current to what accepting would make of it: after, or merged"`
	// Theirs is what happened to the target since; only when Changed.
	Theirs string `json:"theirs,omitempty" doc:"unified difference from before to current; only when it changed"`
	// Merged is what both changes come to, with conflicts marked as git marks them.
	Merged    string `json:"merged,omitempty" doc:"of a page that changed: its file with both changes; a passage that both changed has both texts between marks"`
	Conflicts int    `json:"conflicts,omitempty" doc:"how many passages both changed: with none it can be accepted as it is, else with take and seen"`
	// Seen names Current, for a choice about it.
	Seen string `json:"seen,omitempty" doc:"names what the target is now; an accept that takes one side says it, and is refused when the target changed again"`
}

// ProposalFilter selects proposals, oldest first unless it says otherwise.
type ProposalFilter struct {
	PageQuery

	Initiative string           `json:"initiative,omitempty"` // id or slug
	Agent      string           `json:"agent,omitempty"`      // alias or id
	Statuses   []ProposalStatus `json:"statuses,omitempty"`   // none: all
}

// ProposalList says how proposals can be sorted.
func ProposalList() List {
	return List{Name: "proposals", Own: "createdAt", Times: []string{"createdAt"}}
}

// PageKey implements Keyed.
func (p Proposal) PageKey(string) (key, id string) { return TimeKey(p.CreatedAt), string(p.ID) }

// Start checks a filter. CodeInvalid for a status, a limit, an order or a
// cursor that is none.
func (f ProposalFilter) Start() (PageStart, error) {
	var statuses []string
	for _, s := range f.Statuses {
		if err := oneOf("status of a proposal", s, ProposalStatuses()); err != nil {
			return PageStart{}, err
		}
		statuses = append(statuses, string(s))
	}
	slices.Sort(statuses)
	return ProposalList().Start(f.PageQuery, f.Initiative, f.Agent, strings.Join(slices.Compact(statuses), ","))
}

// ProposalChoice names open proposals: by id, all of an agent, or all of an
// initiative. Exactly one of them.
type ProposalChoice struct {
	IDs        []ProposalID `json:"ids,omitempty" doc:"these"`
	Agent      string       `json:"agent,omitempty" doc:"all open ones of an agent, by name or id"`
	Initiative string       `json:"initiative,omitempty" doc:"all open ones of an initiative, by id or slug"`
	Note       string       `json:"note,omitempty" doc:"why they are dismissed; the next agent reads it"`
	// Take and Seen settle the conflicts of one proposal.
	Take ProposalTake `json:"take,omitempty" doc:"to accept one whose target changed: suggested or current, for the passages that both changed"`
	Seen string       `json:"seen,omitempty" doc:"with take: what the target was when that was chosen, from the proposal's own seen"`
}

// Check refuses a choice of nothing, or in two ways. CodeInvalid.
func (c ProposalChoice) Check() error {
	ways := 0
	for _, given := range []bool{len(c.IDs) > 0, c.Agent != "", c.Initiative != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return Errorf(CodeInvalid, "which proposals?").WithHint("name their ids, an agent, or an initiative, and only one of these")
	}
	if c.Take == "" && c.Seen == "" {
		return nil
	}
	if err := oneOf("side to take", c.Take, ProposalTakes()); err != nil {
		return err
	}
	if len(c.IDs) != 1 || c.Seen == "" {
		return Errorf(CodeInvalid, "a side is taken for one proposal, and of what was looked at").
			WithHint("name one id, and its seen from: cw proposal diff ID")
	}
	return nil
}

// ProposalService is what faces may do with proposals.
type ProposalService interface {
	// Proposals lists them. CodeInvalid, CodeNotFound.
	Proposals(ctx context.Context, f ProposalFilter) (Page[Proposal], error)
	// Proposal gives one beside what it changes. CodeNotFound.
	Proposal(ctx context.Context, id ProposalID) (ProposalView, error)
	// AcceptProposals makes the suggested changes, in the order in which they
	// depend on each other, all or none. CodeNotFound; CodeRefused for one that is
	// not open, whose target changed since (look at it and edit by hand, or let an
	// agent suggest again), that depends on something that is not there and not
	// among them, or whose dependencies run in a circle, naming the way around.
	AcceptProposals(ctx context.Context, c ProposalChoice) ([]Proposal, error)
	// DismissProposals lets them be. CodeNotFound; CodeRefused for one that is not
	// open.
	DismissProposals(ctx context.Context, c ProposalChoice) ([]Proposal, error)
}
