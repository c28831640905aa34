package cw

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// IDLength is the length of every id: 12 characters of lower-case base32,
// 60 random bits, so that an id cannot be guessed.
const IDLength = 12

// The ids. Each noun has a type of its own so that they cannot be mixed up.
// Example of any of them: "k3v7q2mzt5ha".
type (
	// AgentID names an agent.
	AgentID string
	// RunID names one process of an agent.
	RunID string
	// ProjectID names a project.
	ProjectID string
	// MessageID names a message to or from an agent.
	MessageID string
	// QuestionID names a question of an agent to people.
	QuestionID string
	// RequestID names a group of questions asked at once.
	RequestID string
	// OpID names a step-wise operation with outside effects.
	OpID string
	// AccountID names a login or key of a provider.
	AccountID string
	// TokenID names a token; it is not the token.
	TokenID string
	// InitiativeID names an initiative.
	InitiativeID string
	// PageID names a page of an initiative.
	PageID string
	// PhaseID names a phase.
	PhaseID string
	// MergeID names the work of a task on its way to a branch.
	MergeID string
	// TaskID names a task.
	TaskID string
	// ProposalID names a proposal.
	ProposalID string
	// ConversationID names a question from agent to agent and its answer.
	ConversationID string
	// PlanID names an agent's list of steps.
	PlanID string
)

// idLetters are the characters of ids.
const idLetters = "abcdefghijklmnopqrstuvwxyz234567"

var idAlphabet = base32.NewEncoding(idLetters).WithPadding(base32.NoPadding)

// NewID makes an unguessable id. It needs no daemon.
func NewID() string {
	var b [8]byte
	// crypto/rand.Read never returns an error since Go 1.24; it ends the
	// program when the system has no randomness.
	_, _ = rand.Read(b[:])
	return idAlphabet.EncodeToString(b[:])[:IDLength]
}

// IsID tells whether s has the form of an id.
func IsID(s string) bool { return len(s) == IDLength && strings.Trim(s, idLetters) == "" }

// tokenPrefix marks a run's token so that it is recognised in logs.
const tokenPrefix = "cwa_"

// NewToken makes a token of 256 random bits.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // see NewID
	return tokenPrefix + strings.ToLower(idAlphabet.EncodeToString(b[:]))
}
