package accounts

import (
	"cmp"
	"context"

	"cw/internal/cw"
)

// LoginAccount implements cw.AccountService.
func (m *Manager) LoginAccount(ctx context.Context, ref string) (cw.LoginCommand, error) {
	a, p, err := m.forLogin(ctx, ref)
	if err != nil {
		return cw.LoginCommand{}, err
	}
	if len(p.Login) == 0 {
		return cw.LoginCommand{}, cw.Errorf(cw.CodeRefused, "%s has no login that cw could run", p.Title).WithHint("%s", otherWay(p))
	}
	dir, err := m.prepareDir(a)
	if err != nil {
		return cw.LoginCommand{}, cw.Errorf(cw.CodeFailed, "account %s has no place for its settings", a.Name).Because(err)
	}
	if a.SourceDir != "" {
		dir = a.SourceDir
	}
	env := p.env(dir, a.BaseURL)
	for _, name := range p.credentialNames() {
		env[name] = "" // a CLI that finds one does not log in, or does not use the login
	}
	return cw.LoginCommand{Account: a, Command: p.Login, Env: env}, nil
}

// FinishLogin implements cw.AccountService.
func (m *Manager) FinishLogin(ctx context.Context, ref string) (cw.AccountView, error) {
	a, _, err := m.forLogin(ctx, ref)
	if err != nil {
		return cw.AccountView{}, err
	}
	var l login
	if f, known := formOf(a.Provider); known {
		if l, err = m.leftBehind(ctx, a, f); err != nil {
			return cw.AccountView{}, err
		}
	}
	// The row first: it refuses a login that is another account's.
	err = m.revise(ctx, a.ID, func(a *cw.Account) ([]cw.Event, error) {
		a.Invalid = ""
		if l.identity != "" {
			a.Identity, a.Email = l.identity, cmp.Or(l.email, a.Email)
		}
		return []cw.Event{changed(ctx, cw.EventAccountChanged, *a, "somebody logged in")}, nil
	})
	if err != nil {
		return cw.AccountView{}, err
	}
	if _, err := m.Ready(ctx, a); err != nil { // takes it over
		return cw.AccountView{}, err
	}
	return m.Account(ctx, string(a.ID))
}

// leftBehind reads the login that a CLI's login left. What cw itself wrote into
// the account's directory, which has no refresh token, is none.
func (m *Manager) leftBehind(ctx context.Context, a cw.Account, f form) (login, error) {
	dir := cmp.Or(a.SourceDir, m.Home.AccountDir(a.ID))
	l, err := f.readLogin(ctx, dir)
	switch {
	case err != nil:
		err = cannotRead(dir, err)
	case l.refresh == "" && a.SourceDir == "":
		err = cw.Errorf(cw.CodeInvalid, "nobody logged in")
	}
	if err != nil {
		return l, cw.Errorf(cw.CodeFailed, "the login left no credentials").Because(err).WithHint("try it again: cw account login %s", a.Name)
	}
	m.know(a.ID, f.secrets(l.credentials)...)
	return l, nil
}

// forLogin finds an account that may be logged in to.
func (m *Manager) forLogin(ctx context.Context, ref string) (cw.Account, Provider, error) {
	a, err := m.Store.AccountByRef(ctx, ref)
	if err != nil {
		return a, Provider{}, err
	}
	p, err := m.Providers.Provider(a.Provider)
	if err == nil && a.Kind != cw.AccountLogin {
		err = cw.Errorf(cw.CodeRefused, "account %s is no login, but kind %s", a.Name, a.Kind).
			WithHint("make one for the login: cw account add --provider %s --name NAME, then cw account login NAME", a.Provider)
	}
	return a, p, err
}
