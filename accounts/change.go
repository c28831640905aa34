package accounts

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"cw/internal/cw"
)

// Accounts implements cw.AccountService.
func (m *Manager) Accounts(ctx context.Context, provider string) ([]cw.AccountView, error) {
	if provider != "" {
		p, err := m.Providers.Provider(provider)
		if err != nil {
			return nil, err
		}
		provider = p.Name
	}
	views, err := m.Store.AccountViews(ctx, provider)
	for i, v := range views {
		views[i] = m.shown(v)
	}
	return views, err
}

// Account implements cw.AccountService.
func (m *Manager) Account(ctx context.Context, ref string) (cw.AccountView, error) {
	a, err := m.Store.AccountByRef(ctx, ref)
	if err != nil {
		return cw.AccountView{}, err
	}
	views, err := m.Store.AccountViews(ctx, a.Provider)
	if err != nil {
		return cw.AccountView{}, err
	}
	at := slices.IndexFunc(views, func(v cw.AccountView) bool { return v.ID == a.ID })
	if at < 0 {
		return cw.AccountView{Account: a, Agents: []string{}}, nil // removed in this moment
	}
	return m.shown(views[at]), nil
}

// SetAccount implements cw.AccountService. Who enables an account says that it
// is to be tried again: the mark that its credentials were refused goes.
func (m *Manager) SetAccount(ctx context.Context, ref string, s cw.AccountSettings) (cw.AccountView, error) {
	a, err := m.Store.AccountByRef(ctx, ref)
	if err == nil && s.BaseURL != nil {
		err = m.checkNewURL(ctx, a, *s.BaseURL)
	}
	if err == nil && s != (cw.AccountSettings{}) {
		err = m.revise(ctx, a.ID, func(a *cw.Account) ([]cw.Event, error) {
			what := apply(a, s)
			return []cw.Event{changed(ctx, cw.EventAccountChanged, *a, what)}, cw.CheckAccountName(a.Name)
		})
	}
	if err != nil {
		return cw.AccountView{}, err
	}
	return m.Account(ctx, string(a.ID))
}

// apply changes an account and says what it changed, for people.
func apply(a *cw.Account, s cw.AccountSettings) string {
	var what []string
	if s.Enabled != nil {
		a.Enabled = *s.Enabled
		what = append(what, map[bool]string{true: "enabled", false: "disabled"}[a.Enabled])
		if a.Enabled {
			a.Invalid = ""
		}
	}
	if s.Priority != nil {
		a.Priority = *s.Priority
		what = append(what, "its priority was set")
	}
	if s.Name != nil {
		a.Name = *s.Name
		what = append(what, "it was renamed")
	}
	if s.BaseURL != nil {
		a.BaseURL = *s.BaseURL
		what = append(what, "its base URL was set")
	}
	return strings.Join(what, ", ")
}

// checkNewURL refuses an address that an account cannot have. An account's
// secret goes to its address, so nobody sets it who could not add an account.
// CodeInvalid, CodeForbidden.
func (m *Manager) checkNewURL(ctx context.Context, a cw.Account, address string) error {
	switch by := cw.ActorOf(ctx); {
	case by.Kind != cw.ActorPerson && by.Kind != cw.ActorCW:
		return cw.Errorf(cw.CodeForbidden, "the base URL of an account is set by a person on this machine").
			WithHint("its secret is sent there: add an account with it, cw account add --base-url URL")
	case a.Kind == cw.AccountOwn:
		return cw.Errorf(cw.CodeInvalid, "your own login has its base URL in the environment").WithHint("set it there, or add an account")
	}
	p, err := m.Providers.Provider(a.Provider)
	if err != nil {
		return err
	}
	return checkBaseURL(p, address)
}

// RemoveAccount implements cw.AccountService. The account's directory stays when
// runs left sessions in it; its credentials go.
func (m *Manager) RemoveAccount(ctx context.Context, ref string, drain bool) (cw.AccountView, error) {
	view, err := m.Account(ctx, ref)
	if err != nil {
		return view, err
	}
	if view.Kind == cw.AccountOwn {
		return view, cw.Errorf(cw.CodeRefused, "the account %s is your own login and cannot be removed", view.Name).
			WithHint("to keep agents from it: cw account disable %s/%s", view.Provider, view.Name)
	}
	m.changing.Lock()
	defer m.changing.Unlock()
	err = m.remove(ctx, view.Account)
	if err == nil {
		at := m.Now().UTC()
		view.RemovedAt, view.Enabled = &at, false
	}
	if !drain || cw.ErrorCode(err) != cw.CodeRefused {
		return view, err
	}
	view.Draining = true
	return view, m.revise(ctx, view.ID, func(a *cw.Account) ([]cw.Event, error) {
		a.Draining = true
		return []cw.Event{changed(ctx, cw.EventAccountChanged, *a, "it gets no new runs and goes with its last agent")}, nil
	})
}

// remove forgets an account: the row first, since that is what may be refused.
// What a crash leaves behind Tidy takes.
func (m *Manager) remove(ctx context.Context, a cw.Account) error {
	if err := m.Store.RemoveAccount(ctx, a.ID, changed(ctx, cw.EventAccountRemoved, a, "it was removed")); err != nil {
		return err
	}
	m.Fail.Hit("remove/row")
	return m.wipe(context.WithoutCancel(ctx), a.ID)
}

// wipe takes what is secret of an account that is none. Nobody renews its login
// meanwhile: what was renewed would be stored again. The caller holds changing.
func (m *Manager) wipe(ctx context.Context, id cw.AccountID) error {
	dir, err := m.makeDir(id) // the place of its lock
	if err != nil {
		return err
	}
	unlock, err := lock(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	m.mu.Lock()
	delete(m.unsaved, id)
	m.mu.Unlock()
	empty, err := dropCredentials(dir)
	// While the vault is locked the directory stays, so that Tidy tries it again.
	if err = errors.Join(err, m.Vault.Delete(ctx, id)); err == nil && empty {
		err = os.RemoveAll(dir)
	}
	m.wiped[id] = err == nil
	return err
}

// Tidy removes accounts that are draining and that no agent uses any more, and
// the credentials of accounts whose removal or adding was cut short. It looks
// whether somebody logged in again to one that could not be used.
func (m *Manager) Tidy(ctx context.Context) error {
	all, err := m.takeAway(ctx)
	for _, a := range all {
		m.notice(ctx, a)
	}
	return err
}

// takeAway takes away what is to go, and gives the accounts that there were.
func (m *Manager) takeAway(ctx context.Context) ([]cw.Account, error) {
	m.changing.Lock()
	defer m.changing.Unlock()
	all, err := m.Store.Accounts(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if !a.Draining {
			continue
		}
		if err := m.remove(ctx, a); err != nil && cw.ErrorCode(err) != cw.CodeRefused {
			return all, err
		}
	}
	return all, m.sweep(ctx, all)
}

// sweep takes the credentials of accounts that are none, each once: sessions may
// stay for long.
func (m *Manager) sweep(ctx context.Context, all []cw.Account) error {
	dirs, err := os.ReadDir(m.Home.Accounts())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var failed []error
	for _, d := range dirs {
		id := cw.AccountID(d.Name())
		known := slices.ContainsFunc(all, func(a cw.Account) bool { return a.ID == id })
		if known || !d.IsDir() || !cw.IsID(d.Name()) || m.wiped[id] && !holdsCredentials(m.Home.AccountDir(id)) {
			continue
		}
		failed = append(failed, m.wipe(ctx, id))
	}
	return errors.Join(failed...)
}
