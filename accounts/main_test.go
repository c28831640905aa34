package accounts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cw/internal/cw"
	"cw/internal/redact"
	"cw/internal/store"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(child())
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1")) // the database library never ends its cache
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// presets are the providers of these tests.
type presets struct{}

func (presets) Providers() []Provider {
	return []Provider{
		{Name: "github", Title: "GitHub", Token: "GITHUB_TOKEN", BaseURL: "GITHUB_URL", Forge: true},
		{
			Name: "claude", Title: "Claude Code", ConfigDir: []string{"CLAUDE_CONFIG_DIR"}, ConfigHome: ".claude", Key: "ANTHROPIC_API_KEY",
			Token: "CLAUDE_CODE_OAUTH_TOKEN", BaseURL: "ANTHROPIC_BASE_URL", Login: []string{"claude", "/login"},
		},
		{Name: "codex", Title: "Codex", ConfigDir: []string{"CODEX_HOME"}, ConfigHome: ".codex", Key: "CODEX_API_KEY", Login: []string{"codex", "login"}},
		{Name: "aider", Title: "aider"},
		{Name: "gemini", Title: "Gemini", ConfigDir: []string{"GEMINI_HOME"}, Key: "GEMINI_API_KEY"},
	}
}

func (p presets) Provider(name string) (Provider, error) {
	for _, one := range p.Providers() {
		if one.Name == name {
			return one, nil
		}
	}
	return Provider{}, cw.Errorf(cw.CodeNotFound, "there is no provider %q", name)
}

// rig is a manager over a real store and a real vault, with a scripted provider
// at the far end.
type rig struct {
	*Manager
	t      *testing.T
	db     *store.DB
	server *endpoint
	log    *bytes.Buffer
	mu     sync.Mutex
	events []cw.Event // guarded by mu
	now    time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, server: newEndpoint(t), log: &bytes.Buffer{}, now: time.Now().UTC().Truncate(time.Second)}
	home := cw.Home(t.TempDir())
	db, err := store.Open(t.Context(), store.Options{Dir: string(home), Version: "v0.1.0-test", OnCommit: func(events []cw.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, events...)
	}})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	log := slog.New(slog.NewTextHandler(r.log, nil))
	vault, err := OpenVault(t.Context(), home, vaultFile, log)
	must(t, err)
	r.db = db
	r.Manager = New(Options{
		Home: home, UserHome: t.TempDir(), Store: db, Vault: vault, Providers: presets{}, Redact: redact.NewSet(),
		Transport: &http.Transport{DisableKeepAlives: true},
		Now:       func() time.Time { return r.now }, Log: log, TokenURL: r.server.URL + "/v1/oauth/token",
	})
	return r
}

// seen gives the events of a type.
func (r *rig) seen(t cw.EventType) []cw.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []cw.Event
	for _, e := range r.events {
		if e.Type == t {
			out = append(out, e)
		}
	}
	return out
}

func (r *rig) add(req cw.AddAccountRequest) cw.Account {
	r.t.Helper()
	view, err := r.AddAccount(r.t.Context(), req)
	must(r.t, err)
	return view.Account
}

// refused adds what must be refused, and looks whether anything was left behind.
func (r *rig) refused(req cw.AddAccountRequest, code cw.Code, word string) {
	r.t.Helper()
	_, err := r.AddAccount(r.t.Context(), req)
	if cw.ErrorCode(err) != code || !strings.Contains(err.Error(), word) || cw.ErrorHint(err) == "" {
		r.t.Errorf("%q (%s), hint %q; want %s with %q", fmt.Sprint(err), cw.ErrorCode(err), cw.ErrorHint(err), code, word)
	}
	for _, s := range []string{req.Token.Reveal(), req.APIKey.Reveal()} {
		if len(s) >= 8 && err != nil && strings.Contains(err.Error()+cw.ErrorHint(err), s) {
			r.t.Errorf("the error tells the secret: %v", err)
		}
	}
	var left []string
	for _, dir := range []string{r.Home.Accounts(), r.Home.Secrets()} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			left = append(left, e.Name())
		}
	}
	all, _ := r.db.Accounts(r.t.Context(), "")
	sealedFiles, _ := filepath.Glob(filepath.Join(r.Home.Secrets(), "*.age"))
	dirs, _ := filepath.Glob(filepath.Join(r.Home.Accounts(), "*"))
	mine := 0
	for _, a := range all {
		if a.Kind != cw.AccountOwn {
			mine++
		}
	}
	if len(dirs) != mine || len(sealedFiles) > mine {
		r.t.Errorf("something was left behind: %v", left)
	}
}

// loginFile is a file of credentials as claude writes it.
func loginFile(access, refresh string, end time.Time) string {
	fields := map[string]any{"accessToken": access, "scopes": []string{"user:inference", "user:profile"}, "subscriptionType": "max", "new": map[string]int{"x": 1}}
	if refresh != "" {
		fields["refreshToken"] = refresh
	}
	if !end.IsZero() {
		fields["expiresAt"] = end.UnixMilli()
	}
	data, _ := json.Marshal(map[string]any{"claudeAiOauth": fields, "other": "kept"})
	return string(data)
}

// endpoint is a scripted provider: refresh tokens are good for one use.
type endpoint struct {
	*httptest.Server
	mu      sync.Mutex
	refresh string              // guarded by mu; the one that is good now
	spent   int                 // guarded by mu; renewals
	asked   int                 // guarded by mu; requests to the token endpoint
	bad     int                 // guarded by mu; refresh tokens that were none
	fail    int                 // guarded by mu; status of the token endpoint, 0: it works
	usage   string              // guarded by mu; "": down
	access  map[string]bool     // guarded by mu; tokens that are good
	bodies  []map[string]string // guarded by mu
}

func newEndpoint(t *testing.T) *endpoint {
	e := &endpoint{refresh: "rt-first-0000000000", access: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/oauth/token", e.token)
	mux.HandleFunc("GET /api/oauth/usage", func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		switch {
		case e.usage == "":
			w.WriteHeader(503)
		case !e.good(r) || r.Header.Get("Anthropic-Beta") != oauthBeta:
			w.WriteHeader(401)
		default:
			io.WriteString(w, e.usage)
		}
	})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.good(r) {
			w.WriteHeader(401)
			io.WriteString(w, `{"error":{"type":"authentication_error","message":"`+r.Header.Get("Authorization")+`"}}`)
		}
	})
	e.Server = httptest.NewServer(mux)
	t.Cleanup(e.Close)
	return e
}

// good is called with mu held.
func (e *endpoint) good(r *http.Request) bool {
	return e.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] || e.access[r.Header.Get("X-Api-Key")]
}

func (e *endpoint) token(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked++
	var ask map[string]string
	_ = json.NewDecoder(r.Body).Decode(&ask)
	e.bodies = append(e.bodies, ask)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case e.fail != 0:
		w.WriteHeader(e.fail)
		io.WriteString(w, `{"error":"`+ask["refresh_token"]+`"}`) // it must not come into an error
	case ask["refresh_token"] != e.refresh || ask["grant_type"] != "refresh_token" || ask["client_id"] == "":
		e.bad++
		w.WriteHeader(400)
		io.WriteString(w, `{"error":"invalid_grant","error_description":"Refresh token not found: `+ask["refresh_token"]+`"}`)
	default:
		e.spent++
		e.refresh = fmt.Sprintf("rt-renewed-%010d", e.spent)
		access := fmt.Sprintf("sk-ant-oat01-renewed-%010d", e.spent)
		e.access[access] = true
		json.NewEncoder(w).Encode(map[string]any{"access_token": access, "refresh_token": e.refresh, "expires_in": 28800})
	}
}

// counts gives renewals, requests and bad tokens.
func (e *endpoint) counts() (spent, asked, bad int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.spent, e.asked, e.bad
}

func (e *endpoint) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
}

// quiet looks for secrets in everything that was told: events, rows, log.
func (r *rig) quiet(secrets ...string) {
	r.t.Helper()
	r.mu.Lock()
	told, _ := json.Marshal(r.events)
	r.mu.Unlock()
	views, _ := r.db.AccountViews(context.Background(), "")
	rows, _ := json.Marshal(views)
	for place, text := range map[string]string{"events": string(told), "rows": string(rows), "log": r.log.String()} {
		for _, s := range secrets {
			if strings.Contains(text, s) {
				r.t.Errorf("%s is in the %s", s, place)
			}
		}
	}
}
