package accounts

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"cw/internal/cw"
	"cw/internal/redact"
)

const (
	// requestPatience bounds one request to a provider.
	requestPatience = 20 * time.Second
	// livesKept is how many generations of an account's secrets stay masked:
	// agents that were started with an older one may still print it.
	livesKept = 4
)

// Options is what a Manager is made of.
type Options struct {
	Home      cw.Home
	UserHome  string            // the user's home, where own logins lie
	Env       map[string]string // the daemon's environment, for the account default
	Store     Store
	Vault     Vault
	Providers Providers
	OwnLogins OwnLogins         // nil: nothing is known of the CLIs' own logins
	Redact    *redact.Set       // learns the live secrets; nil: nobody does
	Transport http.RoundTripper // nil: http.DefaultTransport
	Now       func() time.Time  // nil: time.Now
	Log       *slog.Logger
	// TokenURL is the address of the endpoint that renews tokens; "": the
	// provider's own. For gateways and tests. An account's BaseURL is not asked:
	// a refresh token goes to nobody but who gave it.
	TokenURL string
	Fail     cw.Failpoint
}

// Manager keeps the accounts: it adds and removes them, and gives runs the
// credentials they need. It implements cw.AccountService and is safe for
// concurrent use, by several processes with one home too.
type Manager struct {
	Options
	client *http.Client
	// changing is held while accounts come and go, so that Tidy takes nothing
	// for left behind that is about to be added.
	changing sync.Mutex
	wiped    map[cw.AccountID]bool // guarded by changing; nothing of these is left but sessions
	// rows is held from reading the row of an account until it is stored.
	rows sync.Mutex

	mu      sync.Mutex
	live    map[cw.AccountID][][]string // guarded by mu; generations, the newest first
	unsaved map[cw.AccountID]unsaved    // guarded by mu
}

var _ cw.AccountService = (*Manager)(nil)

// New makes a manager. Load tells it the secrets that live already.
func New(o Options) *Manager {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Manager{
		Options: o,
		client: &http.Client{
			Transport: o.Transport, Timeout: requestPatience,
			// Credentials go where they were meant to go and nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		wiped: map[cw.AccountID]bool{}, live: map[cw.AccountID][][]string{}, unsaved: map[cw.AccountID]unsaved{},
	}
}

// Load reads the secrets of all accounts, so that they are masked before the
// first run asks for them. An account whose secrets cannot be read is left out,
// and logged.
func (m *Manager) Load(ctx context.Context) error {
	all, err := m.Store.Accounts(ctx, "")
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Kind == cw.AccountOwn {
			continue
		}
		if _, err := m.secretOf(ctx, a); err != nil {
			m.Log.Warn("the credentials of an account cannot be read", "account", a.Name, "provider", a.Provider, "error", err)
		}
	}
	return nil
}

// secretOf reads what an account has: a token, a key or a login.
func (m *Manager) secretOf(ctx context.Context, a cw.Account) (sealed, error) {
	if f, ok := formOf(a.Provider); ok && a.Kind == cw.AccountLogin {
		_, err := m.load(ctx, a, f)
		return sealed{}, err
	}
	if a.Kind == cw.AccountLogin {
		return sealed{}, nil // its CLI keeps it, in a form of its own
	}
	secret, err := m.Vault.Get(ctx, a.ID)
	if err != nil {
		return sealed{}, err
	}
	s, err := unseal(secret)
	m.know(a.ID, s.Token, s.APIKey)
	return s, err
}

// Secrets gives the secrets that live now, for whoever masks them.
func (m *Manager) Secrets() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, generations := range m.live {
		out = append(out, slices.Concat(generations...)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// know notes the secrets of an account, beside those it had.
func (m *Manager) know(id cw.AccountID, secrets ...string) {
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return s == "" })
	m.mu.Lock()
	defer m.mu.Unlock()
	had := m.live[id]
	if len(secrets) == 0 || len(had) > 0 && slices.Equal(had[0], secrets) {
		return
	}
	had = slices.Insert(had, 0, secrets)
	m.live[id] = had[:min(len(had), livesKept)]
	if m.Redact != nil {
		m.Redact.Put("account/"+string(id), slices.Concat(m.live[id]...)...)
	}
}

// changed makes an event about an account, by whoever asked for it.
func changed(ctx context.Context, t cw.EventType, a cw.Account, text string) cw.Event {
	return cw.NewEvent(t, cw.ActorOf(ctx), cw.AccountChanged{AccountID: a.ID, Provider: a.Provider, Name: a.Name, Text: text})
}

// changedByCW makes an event about what cw found out by itself.
func changedByCW(t cw.EventType, a cw.Account, text string) cw.Event {
	return changed(context.Background(), t, a, text)
}

// revise changes the row of an account as it is now, so that nothing is lost
// that was stored since the caller read it.
func (m *Manager) revise(ctx context.Context, id cw.AccountID, change func(*cw.Account) ([]cw.Event, error)) error {
	m.rows.Lock()
	defer m.rows.Unlock()
	a, err := m.Store.AccountByRef(ctx, string(id))
	if err != nil {
		return err
	}
	events, err := change(&a)
	if err != nil {
		return err
	}
	return m.Store.SetAccount(ctx, a, events...)
}

// markInvalid stores why an account's credentials cannot be used; "" that they
// can.
func (m *Manager) markInvalid(ctx context.Context, a cw.Account, why string) error {
	ev := cw.NewEvent(cw.EventAccountInvalid, cw.Actor{Kind: cw.ActorCW}, cw.AccountInvalid{AccountID: a.ID, Provider: a.Provider, Name: a.Name, Why: why})
	if why == "" {
		ev = changedByCW(cw.EventAccountChanged, a, "its credentials can be used again")
	}
	m.rows.Lock()
	defer m.rows.Unlock()
	return m.Store.SetInvalid(ctx, a.ID, why, ev)
}

// checkBaseURL refuses what is no address of an API, and any address for a CLI
// that would not be told of it. CodeInvalid.
func checkBaseURL(p Provider, address string) error {
	if address == "" {
		return nil
	}
	if p.BaseURL == "" {
		return cw.Errorf(cw.CodeInvalid, "%s is told no address of an API by cw", p.Title).
			WithHint("it stands in its own settings, in the directory of the account, which cw account show tells; for codex that is openai_base_url in config.toml")
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return cw.Errorf(cw.CodeInvalid, "the base URL is no address of an API").WithHint("write it like https://gateway.example.com, without a password")
	}
	return nil
}

// makeDir makes an account's directory.
func (m *Manager) makeDir(id cw.AccountID) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	dir := m.Home.AccountDir(id)
	return dir, os.MkdirAll(dir, dirMode)
}
