package accounts

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"

	"cw/internal/cw"
)

// refreshAhead is how long before its end a token is renewed: a run that starts
// with it should not meet the end at once.
const refreshAhead = 5 * time.Minute

const (
	// lastRefresh is the field beside codex's login in which it notes when that was
	// renewed (seen in 0.169.0).
	lastRefresh = "last_refresh"
	// idToken is the field of codex's login with a token that says who it is.
	idToken = "id_token"
	// mcpLogins is the field beside claude's login with those to MCP servers, which
	// are the user's: they hold refresh tokens, too.
	mcpLogins = "mcpOAuth"
)

// form says how a provider's CLI writes down a login, and who renews it.
type form struct {
	file    string // in the configuration directory
	object  string // the field of the file that holds the login
	access  string // the field of the access token in it
	refresh string // of the refresh token
	expires string // of its end in ms of the epoch; "": the token itself tells, as a JWT
	// tokenURL and clientID are of the endpoint that renews tokens.
	tokenURL, clientID string
	config             string // the CLI's own file of settings that tells whose login it is; "": none
}

// formOf gives the form of a provider's logins; false when cw knows none: then
// a directory is used as it is, and its CLI renews by itself.
func formOf(provider string) (form, bool) {
	switch provider {
	case "claude", "claude-code":
		// The file was seen with 2.1.197; endpoint and client id stand in that program.
		return form{
			file: ".credentials.json", object: "claudeAiOauth", access: "accessToken", refresh: "refreshToken", expires: "expiresAt",
			tokenURL: "https://platform.claude.com/v1/oauth/token", clientID: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
			config: ".claude.json",
		}, true
	case "codex":
		// The file was seen with 0.169.0; endpoint and client id stand in that program.
		return form{
			file: "auth.json", object: "tokens", access: "access_token", refresh: "refresh_token",
			tokenURL: "https://auth.openai.com/oauth/token", clientID: "app_EMoamEEZ73f0CkXaXp7hrann",
		}, true
	}
	return form{}, false
}

// credentials are a login, as a CLI keeps it. Fields that cw does not know stay
// in fields and outer, and are written back.
type credentials struct {
	access, refresh string
	expires         time.Time // zero: it is not known, and it is not over
	fields          map[string]json.RawMessage
	outer           map[string]json.RawMessage
}

var (
	errNoJSON  = errors.New("it is no JSON object")
	errNoLogin = errors.New("it holds no login")
)

// read takes the login from a file of credentials. Only the access token must be
// there. No text of the file comes into an error.
func (f form) read(data []byte) (credentials, error) {
	var c credentials
	if json.Unmarshal(data, &c.outer) != nil || c.outer == nil {
		return c, errNoJSON
	}
	if json.Unmarshal(c.outer[f.object], &c.fields) != nil || c.fields == nil {
		return c, errNoLogin
	}
	_ = json.Unmarshal(c.fields[f.refresh], &c.refresh) // missing, null or of another kind: none
	if json.Unmarshal(c.fields[f.access], &c.access) != nil || strings.TrimSpace(c.access) == "" {
		return c, errNoLogin
	}
	c.expires = f.end(c)
	return c, nil
}

// end reads when the access token ends.
func (f form) end(c credentials) time.Time {
	if f.expires == "" {
		seconds, _ := claims(c.access)["exp"].(float64)
		return moment(seconds * 1000)
	}
	var ms float64
	if json.Unmarshal(c.fields[f.expires], &ms) != nil {
		return time.Time{}
	}
	return moment(ms)
}

// moment is a time of ms since the epoch; what is none is zero.
func moment(ms float64) time.Time {
	if !(ms > 0) || ms > math.MaxInt64/1e6 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// claims reads what a JWT says, without asking whether it is genuine; nil for
// what is none.
func claims(token string) map[string]any {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var out map[string]any
	_ = json.Unmarshal(text, &out)
	return out
}

// isExpired tells whether the token is over at that time. One whose end is not
// known is not.
func (c credentials) isExpired(at time.Time) bool {
	return !c.expires.IsZero() && !at.Before(c.expires)
}

// secrets lists what must not be told of a login.
func (f form) secrets(c credentials) []string {
	var id, key string
	_ = json.Unmarshal(c.fields[idToken], &id)
	_ = json.Unmarshal(c.outer["OPENAI_API_KEY"], &key) // codex keeps one beside its login
	return []string{c.access, c.refresh, id, key}
}

// whole gives the file of credentials with everything in it.
func (f form) whole(c credentials) []byte { return f.write(c, true) }

// handed gives the file of credentials that a CLI gets: without any refresh
// token, so that no CLI can spend one.
func (f form) handed(c credentials) []byte { return f.write(c, false) }

func (f form) write(c credentials, whole bool) []byte {
	fields, outer := maps.Clone(c.fields), maps.Clone(c.outer)
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	if outer == nil {
		outer = map[string]json.RawMessage{}
	}
	put := func(name string, v any) { fields[name], _ = json.Marshal(v) } // strings and numbers
	put(f.access, c.access)
	if f.expires != "" && !c.expires.IsZero() {
		put(f.expires, c.expires.UnixMilli())
	}
	switch {
	case whole && c.refresh != "":
		put(f.refresh, c.refresh)
	case f.expires == "":
		put(f.refresh, "") // codex reads no file in which it is missing
	default:
		delete(fields, f.refresh)
	}
	if !whole {
		delete(outer, mcpLogins)
	}
	outer[f.object], _ = json.Marshal(fields)
	data, _ := json.Marshal(outer)
	return append(data, '\n')
}

// renewed gives the credentials after an answer. An answer without a refresh
// token leaves the old one, as in claude 2.1.197.
func (f form) renewed(c credentials, a answer, now time.Time) credentials {
	c.fields, c.outer = maps.Clone(c.fields), maps.Clone(c.outer)
	c.access = a.AccessToken
	if a.RefreshToken != "" {
		c.refresh = a.RefreshToken
	}
	delete(c.fields, f.expires)
	if a.IDToken != "" {
		c.fields[idToken], _ = json.Marshal(a.IDToken)
	}
	switch {
	case f.expires == "":
		c.outer[lastRefresh], _ = json.Marshal(now.UTC())
		c.expires = f.end(c)
	case a.ExpiresIn > 0:
		c.expires = moment(float64(now.UnixMilli()) + a.ExpiresIn*1000)
	default:
		c.expires = time.Time{}
	}
	return c
}

// sealed is what the vault holds of an account: one of these.
type sealed struct {
	APIKey string          `json:"apiKey,omitempty"`
	Login  json.RawMessage `json:"login,omitempty"` // a whole file of credentials
	Token  string          `json:"token,omitempty"`
}

func (s sealed) secret() cw.Secret {
	data, _ := json.Marshal(s)
	return cw.NewSecret(string(data))
}

func unseal(secret cw.Secret) (sealed, error) {
	var s sealed
	if json.Unmarshal([]byte(secret.Reveal()), &s) != nil {
		return s, fmt.Errorf("the vault's entry: %w", errNoJSON)
	}
	return s, nil
}
