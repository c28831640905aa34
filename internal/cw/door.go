package cw

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"time"
)

// Limits of the door to the dashboard.
const (
	// OpenCodeLife is how long a code of cw open can be used.
	OpenCodeLife = time.Minute
	// SessionLife is how long a session lives without being used.
	SessionLife = 30 * 24 * time.Hour
	// SessionUseEvery is how often the use of a session is noted.
	SessionUseEvery = time.Hour
)

// openCodePrefix marks a code so that it is recognised where it must not be.
const openCodePrefix = "cwo_"

// NewOpenCode makes a code of 256 random bits.
func NewOpenCode() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // see NewID
	return openCodePrefix + strings.ToLower(idAlphabet.EncodeToString(b[:]))
}

// SessionScopes are the rights of a session: those of the person who opened it.
func SessionScopes() []Scope { return []Scope{ScopeRead, ScopeOperate, ScopePerson} }

// NewSession gives the stored side of a session that begins now.
func NewSession(id TokenID, secret string, now time.Time) Token {
	until := now.Add(SessionLife)
	return Token{
		ID: id, Hash: HashToken(secret), Kind: ActorDashboard, Scopes: SessionScopes(),
		Session: true, UsedAt: &now, ExpiresAt: &until,
	}
}

// Expired tells whether a session was not used for too long. Other tokens
// live until they are revoked.
func (t Token) Expired(now time.Time) bool { return t.ExpiresAt != nil && !now.Before(*t.ExpiresAt) }

// UseIsNews tells whether it is time to note that a session is used.
func (t Token) UseIsNews(now time.Time) bool {
	return t.Session && (t.UsedAt == nil || now.Sub(*t.UsedAt) >= SessionUseEvery)
}

// OpenRequest asks for a way into the dashboard.
type OpenRequest struct {
	Path string `json:"path,omitempty" doc:"the page to show, like /agents/brave-otter; default: the first"`
	File bool   `json:"file,omitempty" doc:"also leave a page on the daemon's machine that leads a browser there"`
}

// Check refuses a request whose path is none of the dashboard's. CodeInvalid.
func (r OpenRequest) Check() error {
	bad := func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"'<>\#?&`, c) }
	if r.Path == "" || strings.HasPrefix(r.Path, "/") && !strings.HasPrefix(r.Path, "//") && len(r.Path) <= openPathMax && !strings.ContainsFunc(r.Path, bad) {
		return nil
	}
	return Errorf(CodeInvalid, "%.80q is no page of the dashboard", r.Path).WithHint("a page is named like /agents/brave-otter")
}

// openPathMax is the greatest length of a page's path in bytes.
const openPathMax = 200

// Opened is a way into the dashboard, good for one browser.
type Opened struct {
	Address   string    `json:"address" doc:"host and port at which the daemon listens"`
	URL       string    `json:"url" doc:"where a browser goes; its fragment has the code, which opens one session"`
	ExpiresAt time.Time `json:"expiresAt" doc:"until when the code is good"`
	File      string    `json:"file,omitempty" doc:"path of a page that leads there; it goes with the code"`
}

// SessionRequest asks for a session with a code of cw open.
type SessionRequest struct {
	Code string `json:"code" doc:"from the fragment of the address that cw open gives; good once"`
}

// OpenURL is the address that leads a browser to a page of the dashboard. The
// code is its fragment, which browsers keep to themselves: it is in no request,
// no Referer and no log.
func OpenURL(address, path, code string) string {
	return "http://" + address + cmp.Or(path, "/") + "#code=" + code
}

// DoorService is how the browser of a person comes in.
type DoorService interface {
	// OpenDoor lets the daemon listen for dashboards when it does not yet, and
	// gives a code for one session. CodeInvalid for a path that is none,
	// CodeFailed when it cannot listen.
	OpenDoor(ctx context.Context, req OpenRequest) (Opened, error)
	// StartSession turns a code into a session, whose token may all that people
	// may over TCP. CodeUnauthorized for a code that is none, or no longer;
	// CodeTooMany after many of these.
	StartSession(ctx context.Context, req SessionRequest) (CreatedToken, error)
	// EndSession ends the session of the caller. CodeInvalid for who has none.
	EndSession(ctx context.Context) (Token, error)
}

// BadOpenCode refuses a code. It does not tell what is wrong with it: that
// would tell what others are like.
func BadOpenCode() *Error {
	return Errorf(CodeUnauthorized, "this code does not open the dashboard").
		WithHint("a code is good once, for a minute, and not after the daemon was restarted: run cw open again")
}

// NoSession refuses the end of a session to who has none.
func NoSession() *Error {
	return Errorf(CodeInvalid, "only a session can end itself").WithHint("cw token revoke ends a token by its name")
}
