package cw

import (
	"context"
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

// The rights of a dashboard. ScopeOperate includes ScopeRead.
const (
	ScopeRead    Scope = "read"    // see everything: agents, output, events
	ScopeOperate Scope = "operate" // also spawn, stop, register
)

// RunScopes are the rights that every run has.
func RunScopes() []Scope {
	return []Scope{ScopeReadSelf, ScopePeers, ScopeSignal, ScopeMessage, ScopeQuestion, ScopePlan}
}

// Token is the stored side of a token: its hash and its rights. The token
// itself is never stored.
type Token struct {
	ID         TokenID    `json:"id" gorm:"primaryKey"`
	Name       string     `json:"name"` // of a dashboard's token, unique among those that live; "" for runs
	Hash       string     `json:"-"`    // hex SHA-256
	Kind       ActorKind  `json:"kind"`
	RunID      RunID      `json:"runId,omitempty"`
	AgentID    AgentID    `json:"agentId,omitempty"`
	Scopes     []Scope    `json:"scopes" gorm:"serializer:json;column:scopes_json"`
	ToolsAllow []string   `json:"toolsAllow,omitempty" gorm:"serializer:json;column:tools_allow_json"`
	ToolsDeny  []string   `json:"toolsDeny,omitempty" gorm:"serializer:json;column:tools_deny_json"`
	RevokedAt  *time.Time `json:"revokedAt,omitempty"` // a run's tokens die with it
	CreatedAt  time.Time  `json:"createdAt"`
}

// TokenNameMax is the greatest length of a token's name in bytes.
const TokenNameMax = 64

// TokenRequest asks for a token for a dashboard.
type TokenRequest struct {
	Name   string  `json:"name,omitempty"`   // default: "dashboard", numbered when taken
	Scopes []Scope `json:"scopes,omitempty"` // read, operate; default read
}

// CreatedToken is a token at the only time when it can be seen.
type CreatedToken struct {
	Token

	Secret string `json:"token"` // what the dashboard sends; only its hash is kept
}

// TokenService is what people may do with the tokens of dashboards. Tokens of
// runs are not seen here.
type TokenService interface {
	// CreateToken makes a token. CodeInvalid for a name or a scope that is none,
	// CodeRefused when a living token has the name.
	CreateToken(ctx context.Context, req TokenRequest) (CreatedToken, error)
	// Tokens lists tokens, the revoked too, newest first.
	Tokens(ctx context.Context, q PageQuery) (Page[Token], error)
	// RevokeToken ends a token, by id or name: the next request with it is
	// refused and open streams of it end. Ending it again changes nothing.
	// CodeNotFound.
	RevokeToken(ctx context.Context, ref string) (Token, error)
}

// HashToken gives the form in which a token is stored and looked up.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
