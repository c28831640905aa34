package accounts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// defaultProvider is whose account it is when nobody says.
const defaultProvider = "claude"

// AddAccount implements cw.AccountService.
func (m *Manager) AddAccount(ctx context.Context, req cw.AddAccountRequest) (cw.AccountView, error) {
	if req.Provider == "" {
		req.Provider = defaultProvider
	}
	p, err := m.Providers.Provider(req.Provider)
	if err != nil {
		return cw.AccountView{}, err
	}
	m.changing.Lock()
	defer m.changing.Unlock()
	a, secret, err := m.newAccount(ctx, p, req)
	if err != nil {
		return cw.AccountView{}, err
	}
	if err := m.keepNew(ctx, a, secret); err != nil {
		return cw.AccountView{}, err
	}
	return m.Account(ctx, string(a.ID))
}

// newAccount decides everything about a new account; nothing is stored.
func (m *Manager) newAccount(ctx context.Context, p Provider, req cw.AddAccountRequest) (cw.Account, sealed, error) {
	now := m.Now().UTC()
	f, _ := formOf(p.Name)
	id := cw.AccountID(cw.NewID())
	a := cw.Account{
		ID: id, Provider: p.Name, Name: req.Name, Email: strings.TrimSpace(req.Email),
		ConfigDir: m.Home.AccountDir(id), ConfigJSON: configJSON(f), BaseURL: req.BaseURL, Priority: req.Priority,
		Enabled: true, Usage: []cw.UsageWindow{}, CreatedAt: now, UpdatedAt: now,
	}
	var s sealed
	err := req.Check()
	if err == nil {
		err = checkBaseURL(p, req.BaseURL)
	}
	switch {
	case err != nil:
	case !req.Token.Empty():
		s, err = m.fromToken(&a, p, req.Token.Reveal())
	case !req.APIKey.Empty():
		s, err = fromKey(&a, p, req.APIKey.Reveal())
	case req.ConfigDir != "":
		if err = hasDir(p); err == nil {
			err = m.fromDir(ctx, &a, req.ConfigDir)
		}
	default:
		a.Kind, a.Invalid = cw.AccountLogin, "nobody has logged in to it yet" // for a login to come
		if len(p.Login) == 0 {
			err = cw.Errorf(cw.CodeInvalid, "%s has no login that cw could run", p.Title).WithHint("%s", otherWay(p))
		}
	}
	if err == nil {
		a.Name, err = m.nameFor(ctx, a)
	}
	return a, s, err
}

// fromToken takes a token, or a whole file of credentials that was pasted in its
// place.
func (m *Manager) fromToken(a *cw.Account, p Provider, text string) (sealed, error) {
	text = strings.TrimSpace(text)
	f, known := formOf(p.Name)
	if c, err := f.read([]byte(text)); known && err == nil {
		if c.refresh != "" || !c.expires.IsZero() {
			a.Kind, a.Identity = cw.AccountLogin, f.whose(c, "").identity
			m.know(a.ID, f.secrets(c)...)
			return sealed{Login: f.whole(c)}, m.checkUsable(c)
		}
		text = c.access
	}
	if err := checkToken(p, text, a.BaseURL); err != nil {
		return sealed{}, err
	}
	m.know(a.ID, text)
	a.Kind, a.Identity = cw.AccountToken, digest(text)
	return sealed{Token: text}, nil
}

func fromKey(a *cw.Account, p Provider, text string) (sealed, error) {
	text = strings.TrimSpace(text)
	if err := checkKey(p, text, a.BaseURL); err != nil {
		return sealed{}, err
	}
	a.Kind, a.Identity = cw.AccountKey, digest(text)
	return sealed{APIKey: text}, nil
}

// hasDir refuses the directory of a login for a forge, which has no such.
func hasDir(p Provider) error {
	if !p.Forge {
		return nil
	}
	return cw.Errorf(cw.CodeInvalid, "%s has no directory with a login", p.Title).WithHint("%s", otherWay(p))
}

// fromDir adopts a login: the truth about it stays in its directory.
func (m *Manager) fromDir(ctx context.Context, a *cw.Account, dir string) error {
	if !filepath.IsAbs(dir) {
		return cw.Errorf(cw.CodeInvalid, "the directory %q is no absolute path", dir)
	}
	dir = filepath.Clean(dir)
	if in, err := filepath.Rel(realPath(m.Home.Accounts()), realPath(dir)); err == nil && filepath.IsLocal(in) {
		return cw.Errorf(cw.CodeInvalid, "%s belongs to an account already", dir).WithHint("see: cw account list")
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return cw.Errorf(cw.CodeInvalid, "%s is no directory", dir).Because(err).WithHint("name the configuration directory of a login: --config-dir ~/.claude")
	}
	a.Kind, a.SourceDir = cw.AccountLogin, dir
	f, known := formOf(a.Provider)
	if !known {
		a.Identity = digest(realPath(dir)) // what its login is cw cannot read
		return nil
	}
	l, err := f.readLogin(ctx, dir)
	if err != nil {
		return cannotRead(dir, err)
	}
	m.know(a.ID, f.secrets(l.credentials)...)
	if a.Identity = l.identity; a.Email == "" {
		a.Email = l.email
	}
	return m.checkUsable(l.credentials)
}

// realPath is a path without links, as far as there is something at it.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// checkUsable refuses a login that is over and cannot be renewed.
func (m *Manager) checkUsable(c credentials) error {
	if c.refresh == "" && c.isExpired(m.Now()) {
		return cw.Errorf(cw.CodeInvalid, "this login is over since %s, and has no token to renew it with", c.expires.Format("2006-01-02 15:04 MST")).
			WithHint("log in again with the provider's CLI")
	}
	return nil
}

// nameFor checks the name that was given, or finds one: the email address, else
// the first free number.
func (m *Manager) nameFor(ctx context.Context, a cw.Account) (string, error) {
	if a.Name != "" {
		return a.Name, cw.CheckAccountName(a.Name)
	}
	if a.Email != "" {
		return a.Email, cw.CheckAccountName(a.Email)
	}
	all, err := m.Store.Accounts(ctx, a.Provider)
	if err != nil {
		return "", err
	}
	for n := 2; ; n++ { // the account default is the first
		name := fmt.Sprintf("account-%d", n)
		if !slices.ContainsFunc(all, func(o cw.Account) bool { return o.Name == name }) {
			return name, nil
		}
	}
}

// keepNew stores a new account: the secret first, so that no row is without one.
// What was stored goes again when the row is refused.
func (m *Manager) keepNew(ctx context.Context, a cw.Account, s sealed) error {
	if _, err := m.prepareDir(a); err != nil {
		return cw.Errorf(cw.CodeFailed, "there is no place for the account's settings").Because(err)
	}
	var err error
	if s.Token != "" || s.APIKey != "" || s.Login != nil {
		err = m.Vault.Set(ctx, a.ID, s.secret())
	}
	if err == nil {
		m.know(a.ID, s.Token, s.APIKey)
		m.Fail.Hit("add/secret")
		err = m.Store.AddAccount(ctx, a, changed(ctx, cw.EventAccountAdded, a, "it was added"))
	}
	if err == nil {
		return nil
	}
	if undo := m.wipe(context.WithoutCancel(ctx), a.ID); undo != nil {
		m.Log.Warn("something of an account that was not added is left; it is tried again", "account", a.ID, "error", undo)
	}
	return err
}
