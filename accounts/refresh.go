package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cw/internal/cw"
)

const (
	// refusalsTogether is for how long after a renewal refusals count as those of
	// runs that had the token before.
	refusalsTogether = time.Minute
	// draftRoom is the least space that is taken for credentials before they are
	// asked for: an answer is hardly longer than what it replaces.
	draftRoom = 16 << 10
)

// unsaved is a renewed login that could not be stored yet.
type unsaved struct {
	credentials
	spent string // the refresh token that it was renewed with
}

// load reads an account's login from where its truth is: the directory it was
// adopted from, else the vault.
func (m *Manager) load(ctx context.Context, a cw.Account, f form) (c credentials, err error) {
	m.mu.Lock()
	kept, is := m.unsaved[a.ID]
	m.mu.Unlock()
	if is {
		return kept.credentials, nil
	}
	if a.SourceDir != "" {
		var l login
		if l, err = f.readLogin(ctx, a.SourceDir); err != nil {
			return c, cannotRead(a.SourceDir, err)
		}
		c = l.credentials
	} else if c, err = m.loadVault(ctx, a, f); err != nil {
		return c, err
	}
	m.know(a.ID, f.secrets(c)...)
	return c, nil
}

func (m *Manager) loadVault(ctx context.Context, a cw.Account, f form) (credentials, error) {
	secret, err := m.Vault.Get(ctx, a.ID)
	if err != nil {
		return credentials{}, err
	}
	s, err := unseal(secret)
	if err != nil {
		return credentials{}, err
	}
	return f.read(s.Login)
}

// settle gives the login of an account as a run may use it, with the CLI's file
// written. refused says that the provider refused the token that the file holds.
// renewed says that the token is another than that one was.
func (m *Manager) settle(ctx context.Context, a cw.Account, f form, refused bool) (c credentials, renewed bool, err error) {
	dir, err := m.prepareDir(a)
	if err != nil {
		return c, false, fmt.Errorf("prepare the account's directory: %w", err)
	}
	_, wrote := writtenBack(ctx, dir, f)
	if !wrote && !refused {
		c, err = m.load(ctx, a, f)
		if err == nil && !c.isExpired(m.Now().Add(refreshAhead)) && isHanded(dir, f, c) && !m.isUnsaved(a.ID) {
			return c, false, nil
		}
	}
	m.Fail.Hit("refresh/wanted")
	unlock, err := lock(ctx, dir)
	if err != nil {
		return c, false, err
	}
	defer unlock()
	m.Fail.Hit("refresh/locked")
	if back, wrote := writtenBack(ctx, dir, f); wrote { // again: somebody else may have taken it over
		if err := m.takeOver(ctx, a, f, back); err != nil {
			return c, false, err
		}
	}
	if c, err = m.load(ctx, a, f); err != nil {
		return c, false, err
	}
	m.Fail.Hit("refresh/read")
	if c, renewed, err = m.renew(ctx, a, f, c, refused && !wrote); err != nil {
		return c, false, err
	}
	m.Fail.Hit("refresh/stored")
	if !isHanded(dir, f, c) { // another than the one that may have been refused
		if err := m.markInvalid(ctx, a, ""); err != nil {
			return c, false, err
		}
	}
	if err := hand(dir, f, c); err != nil {
		return c, false, fmt.Errorf("hand over the account's credentials: %w", err)
	}
	m.Fail.Hit("refresh/handed")
	return c, renewed || wrote, nil
}

// notice looks whether somebody logged in again to an account that could not be
// used: with its CLI, in the directory it was adopted from or in the account's
// own. No run would find out, since none is given the account.
func (m *Manager) notice(ctx context.Context, a cw.Account) {
	if _, err := m.noticeOwn(ctx, a); err != nil && ctx.Err() == nil {
		m.Log.Warn("mark an account", "account", a.Name, "provider", a.Provider, "error", err)
	}
	f, known := formOf(a.Provider)
	if !known || a.Kind != cw.AccountLogin || a.Invalid == "" || a.Draining {
		return
	}
	dir := m.Home.AccountDir(a.ID)
	_, another := writtenBack(ctx, dir, f)
	if !another && a.SourceDir != "" {
		l, err := f.readLogin(ctx, a.SourceDir)
		another = err == nil && !isHanded(dir, f, l.credentials) && readState(dir, l.credentials).Dead == ""
	}
	if !another {
		return
	}
	if _, _, err := m.settle(ctx, a, f, false); err != nil {
		m.Log.Debug("there is another login of an account, and it cannot be used either", "account", a.Name, "provider", a.Provider, "error", err)
	}
}

// takeOver stores what a CLI wrote into the account's directory, unless it is
// the login of another account: CodeRefused. The caller holds the lock.
func (m *Manager) takeOver(ctx context.Context, a cw.Account, f form, l login) error {
	m.know(a.ID, f.secrets(l.credentials)...)
	err := m.revise(ctx, a.ID, func(a *cw.Account) ([]cw.Event, error) {
		if a.Identity = l.identity; l.email != "" {
			a.Email = l.email
		}
		return nil, nil
	})
	if err != nil {
		return err
	}
	p, err := m.place(ctx, a, f)
	if err != nil {
		return err
	}
	defer p.drop()
	m.mu.Lock()
	delete(m.unsaved, a.ID)
	m.mu.Unlock()
	m.Log.Info("a CLI renewed the login of an account; it is taken over", "account", a.Name, "provider", a.Provider)
	return p.put(l.credentials, l.outer)
}

// renew renews a token that is over soon, or that was refused. The caller holds
// the lock, and c was read under it. While the endpoint cannot be had, a token
// that is not over yet is given as it is.
func (m *Manager) renew(ctx context.Context, a cw.Account, f form, c credentials, refused bool) (credentials, bool, error) {
	now, dir := m.Now(), m.Home.AccountDir(a.ID)
	if m.isUnsaved(a.ID) {
		m.saveLate(ctx, a, f)
		var err error
		if c, err = m.load(ctx, a, f); err != nil {
			return c, false, err
		}
	}
	st := readState(dir, c)
	over := c.isExpired(now.Add(refreshAhead))
	if refused && now.Sub(st.RenewedAt).Abs() < refusalsTogether || refused && !isHanded(dir, f, c) {
		return c, true, nil // renewed since the run got its token
	}
	if !over && !refused {
		return c, false, nil
	}
	fresh, err := m.exchange(ctx, a, f, c, st)
	if err == nil {
		return fresh, true, m.tellRenewed(ctx, a)
	}
	dead := (*deadError)(nil)
	if !errors.As(err, &dead) && !c.isExpired(now) && !refused {
		m.Log.Warn("a token cannot be renewed now; it is used until it ends", "account", a.Name, "until", c.expires, "error", err)
		return c, false, nil
	}
	if dead == nil {
		return c, false, cw.Errorf(cw.CodeFailed, "the token of account %s cannot be renewed now", a.Name).Because(err).
			WithHint("it is tried again with the next run; see: cw account test %s", a.Name)
	}
	if c.refresh == "" && !c.isExpired(now) && !refused {
		return c, false, nil // its last minutes
	}
	gone := cw.Errorf(cw.CodeFailed, "the login of account %s cannot be used: %s", a.Name, dead.why).WithHint("log in again: cw account login %s", a.Name)
	return c, false, errors.Join(gone, m.markInvalid(ctx, a, dead.why))
}

// tellRenewed stores the event, and that the credentials can be used.
func (m *Manager) tellRenewed(ctx context.Context, a cw.Account) error {
	return m.revise(ctx, a.ID, func(a *cw.Account) ([]cw.Event, error) {
		a.Invalid = ""
		return []cw.Event{changedByCW(cw.EventAccountRefreshed, *a, "its token was renewed")}, nil
	})
}

// exchange spends the refresh token for new credentials and stores these before
// anybody uses them. Where they will be stored is made ready first: from the
// endpoint's answer on, one synced write is all that is between the old login
// and the new one.
func (m *Manager) exchange(ctx context.Context, a cw.Account, f form, c credentials, st refreshState) (credentials, error) {
	now, dir := m.Now(), m.Home.AccountDir(a.ID)
	switch {
	case c.refresh == "":
		return c, &deadError{"its token is over, and there is none to renew it with"}
	case st.waits(now) && st.Dead != "":
		return c, &deadError{st.Dead}
	case st.waits(now):
		return c, fmt.Errorf("the token endpoint failed and is left alone until %s", st.NotBefore.UTC().Format(time.RFC3339))
	}
	p, err := m.place(ctx, a, f)
	if err != nil {
		return c, err
	}
	defer p.drop()
	if p.moved(c.refresh) { // its own CLI renewed it while we waited for the lock
		return m.load(ctx, a, f)
	}
	m.Fail.Hit("refresh/prepared")
	got, err := m.ask(ctx, f, c)
	dead := (*deadError)(nil)
	switch {
	case errors.As(err, &dead) && p.moved(c.refresh): // its own CLI was quicker at the endpoint
		return m.load(ctx, a, f)
	case err != nil:
		st = st.failed(now)
		if st.Dead = ""; dead != nil {
			st.Dead = dead.why
		}
		writeState(dir, st)
		return c, err
	}
	m.Fail.Hit("refresh/answered")
	fresh := f.renewed(c, got, now)
	m.know(a.ID, f.secrets(fresh)...)
	m.save(a, unsaved{fresh, c.refresh}, p)
	writeState(dir, refreshState{Of: digest(fresh.refresh), RenewedAt: now})
	return fresh, nil
}

// save stores a renewed login. What cannot be stored is kept, used, and stored
// with the next run: the old refresh token is spent.
func (m *Manager) save(a cw.Account, c unsaved, p *place) {
	beside := map[string]json.RawMessage{}
	if at, ok := c.outer[lastRefresh]; ok {
		beside[lastRefresh] = at
	}
	err := p.put(c.credentials, beside)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		delete(m.unsaved, a.ID)
		return
	}
	m.unsaved[a.ID] = c
	m.tellUnsaved(a, err)
}

// saveLate stores a login that could not be stored before. In a directory in
// which there is another one by now, that one counts.
func (m *Manager) saveLate(ctx context.Context, a cw.Account, f form) {
	p, err := m.place(ctx, a, f)
	if err != nil {
		m.tellUnsaved(a, err)
		return
	}
	defer p.drop()
	m.mu.Lock()
	c := m.unsaved[a.ID]
	if p.moved(c.spent) {
		delete(m.unsaved, a.ID)
		c = unsaved{}
	}
	m.mu.Unlock()
	if c.access != "" {
		m.save(a, c, p)
	}
}

func (m *Manager) tellUnsaved(a cw.Account, err error) {
	m.Log.Error("the renewed login of an account is not stored yet; it is tried again", "account", a.Name, "provider", a.Provider, "error", err)
}

func (m *Manager) isUnsaved(id cw.AccountID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, is := m.unsaved[id]
	return is
}
