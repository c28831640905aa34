package cw

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Scope is one right that a token carries. What is not granted is denied.
type Scope string

// The rights of a run.
const (
	ScopeReadSelf Scope = "self:read"   // itself and its task context
	ScopePeers    Scope = "peers:list"  // agents of its initiative
	ScopeSignal   Scope = "self:signal" // tell how it ended
	ScopeMessage  Scope = "message"     // ask, answer, listen
	ScopeQuestion Scope = "question"    // ask people
	ScopePlan     Scope = "plan"        // keep its plan
	ScopeSpawn    Scope = "spawn"       // only where the project allows it
)

// RunScopes are the rights that every run has.
func RunScopes() []Scope {
	return []Scope{ScopeReadSelf, ScopePeers, ScopeSignal, ScopeMessage, ScopeQuestion, ScopePlan}
}

// Token is the stored side of a token: its hash and its rights. The token
// itself is never stored.
type Token struct {
	ID         TokenID    `json:"id" gorm:"primaryKey"`
	Hash       string     `json:"-"` // hex SHA-256
	Kind       ActorKind  `json:"kind"`
	RunID      RunID      `json:"runId,omitempty"`
	AgentID    AgentID    `json:"agentId,omitempty"`
	Scopes     []Scope    `json:"scopes" gorm:"serializer:json;column:scopes_json"`
	ToolsAllow []string   `json:"toolsAllow,omitempty" gorm:"serializer:json;column:tools_allow_json"`
	ToolsDeny  []string   `json:"toolsDeny,omitempty" gorm:"serializer:json;column:tools_deny_json"`
	RevokedAt  *time.Time `json:"revokedAt,omitempty"` // a run's tokens die with it
	CreatedAt  time.Time  `json:"createdAt"`
}

// HashToken gives the form in which a token is stored and looked up.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
