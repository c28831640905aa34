package cw

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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

// The rights of a dashboard. Each includes the one before it.
const (
	ScopeRead    Scope = "read"    // see everything: agents, output, events
	ScopeOperate Scope = "operate" // also spawn, stop, register
	ScopePerson  Scope = "person"  // also land, trust, end tokens; sessions alone have it
)

// RunScopes are the rights that every run has.
func RunScopes() []Scope {
	return []Scope{ScopeReadSelf, ScopePeers, ScopeSignal, ScopeMessage, ScopeQuestion, ScopePlan}
}

// Token is the stored side of a token: its hash and its rights. The token
// itself is never stored.
type Token struct {
	ID         TokenID    `json:"id" gorm:"primaryKey" doc:"unguessable id; not the token itself"`
	Name       string     `json:"name" doc:"unique among those that live"`
	Hash       string     `json:"-"` // hex SHA-256
	Kind       ActorKind  `json:"kind" doc:"whose it is"`
	RunID      RunID      `json:"runId,omitempty" doc:"the run that it belongs to"`
	AgentID    AgentID    `json:"agentId,omitempty" doc:"the agent that it belongs to"`
	Scopes     []Scope    `json:"scopes" gorm:"serializer:json;column:scopes_json" doc:"what it may"`
	ToolsAllow []string   `json:"toolsAllow,omitempty" gorm:"serializer:json;column:tools_allow_json" doc:"of a run: the only tools that it may use; missing: all that its scopes reach"`
	ToolsDeny  []string   `json:"toolsDeny,omitempty" gorm:"serializer:json;column:tools_deny_json" doc:"of a run: tools that it may not use"`
	Session    bool       `json:"session,omitempty" doc:"a browser has it, by cw open"`
	Current    bool       `json:"current,omitempty" gorm:"-" doc:"in lists: it is the one that the caller came with"`
	UsedAt     *time.Time `json:"usedAt,omitempty" doc:"of a session: when it was used last, to an hour"`
	ExpiresAt  *time.Time `json:"expiresAt,omitempty" doc:"of a session: when it ends unless it is used before"`
	RevokedAt  *time.Time `json:"revokedAt,omitempty" doc:"when it was ended; missing while it lives"`
	CreatedAt  time.Time  `json:"createdAt" doc:"when it was made"`
}

// Changed is the payload of the events that tell of a dashboard's token.
func (t Token) Changed() TokenChanged {
	return TokenChanged{TokenID: t.ID, Name: t.Name, Scopes: t.Scopes, Session: t.Session}
}

// TokenList says how tokens can be sorted.
func TokenList() List {
	return List{Name: "tokens", Own: "-createdAt", Times: []string{"createdAt"}, Texts: []string{"name"}}
}

// PageKey implements Keyed.
func (t Token) PageKey(field string) (key, id string) {
	if field == "name" {
		return t.Name, string(t.ID)
	}
	return TimeKey(t.CreatedAt), string(t.ID)
}

// TokenNameMax is the greatest length of a token's name in bytes.
const TokenNameMax = 64

// What tokens are called when nobody said otherwise.
const (
	tokenName   = "dashboard"
	sessionName = "browser"
)

// DefaultName is what the token is called when nobody said otherwise.
func (t Token) DefaultName() string {
	if t.Session {
		return sessionName
	}
	return tokenName
}

// dashboardPrefix marks a dashboard's token so that it is recognised where it
// must not be: in logs and in files under version control.
const dashboardPrefix = "cwd_"

// NewDashboardToken makes a dashboard's token of 256 random bits.
func NewDashboardToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // see NewID
	return dashboardPrefix + strings.ToLower(idAlphabet.EncodeToString(b[:]))
}

// TokenRequest asks for a token for a dashboard.
type TokenRequest struct {
	Name   string  `json:"name,omitempty" doc:"default: dashboard, numbered when taken"`
	Scopes []Scope `json:"scopes,omitempty" doc:"read, operate; default read"`
}

// Complete gives the request with its defaults in place and its scopes in order,
// each once: operate brings read with it. A name that was left out stays empty,
// because only the store knows which are free: see FreeTokenName. CodeInvalid.
func (r TokenRequest) Complete() (TokenRequest, error) {
	if r.Name != "" {
		if err := validTokenName(r.Name); err != nil {
			return TokenRequest{}, err
		}
	}
	known := []Scope{ScopeRead, ScopeOperate}
	for _, s := range r.Scopes {
		if s == ScopePerson {
			return TokenRequest{}, Errorf(CodeInvalid, "no token can have the scope person").
				WithHint("sessions of a browser have it: cw open")
		}
		if !slices.Contains(known, s) {
			return TokenRequest{}, unknownScope(s, string(ScopeRead), string(ScopeOperate))
		}
	}
	if slices.Contains(r.Scopes, ScopeOperate) {
		r.Scopes = known
	} else {
		r.Scopes = []Scope{ScopeRead}
	}
	return r, nil
}

// validTokenName refuses names that cannot be typed, shown or told apart.
func validTokenName(name string) error {
	bad := func(why string) error {
		return Errorf(CodeInvalid, "the token's name %.80q %s", name, why).
			WithHint("take a short word like grafana or wall-screen")
	}
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case len(name) > TokenNameMax:
		return bad(fmt.Sprintf("is longer than %d bytes", TokenNameMax))
	case !utf8.ValidString(name), strings.ContainsFunc(name, unprintable):
		return bad("holds characters that cannot be seen")
	case strings.TrimSpace(name) != name:
		return bad("begins or ends with a space")
	case strings.HasPrefix(name, "-"):
		return bad("begins with a hyphen")
	case strings.Trim(name, "./") == "":
		return bad("is none that an address can hold")
	case IsID(name):
		return bad("looks like an id")
	}
	return nil
}

func unknownScope(s Scope, known ...string) error {
	err := Errorf(CodeInvalid, "there is no scope %.40q for dashboards", string(s))
	if name, ok := Nearest(strings.ToLower(string(s)), known); ok {
		return err.WithHint("did you mean %s?", name)
	}
	return err.WithHint("the scopes are read and operate")
}

// FreeTokenName gives a default name, numbered from 2 on when it is taken.
func FreeTokenName(base string, taken func(name string) (bool, error)) (string, error) {
	name := base
	for n := 2; ; n++ {
		is, err := taken(name)
		if err != nil || !is {
			return name, err
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
}

// TokenNameTaken refuses a name that a living token has.
func TokenNameTaken(name string) error {
	return Errorf(CodeRefused, "a living token is called %q already", name).
		WithHint("take another name, or end that one: cw token revoke %q", name)
}

// NoSuchToken is the error for what is no dashboard's token.
func NoSuchToken(ref string) error {
	return Errorf(CodeNotFound, "there is no token %.80q", ref).WithHint("see: cw token list")
}

// CreatedToken is a token at the only time when it can be seen.
type CreatedToken struct {
	Token

	Secret string `json:"token" doc:"what the dashboard sends; shown only now, cw keeps its hash"`
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
