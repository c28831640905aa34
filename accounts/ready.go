package accounts

import (
	"context"

	"cw/internal/cw"
)

// Ready gives what a run needs of an account: its configuration directory, and
// the variables with its credentials. A token that is over soon is renewed
// first, once for all that ask. CodeFailed when the credentials cannot be used;
// the account is marked as invalid when that will not change by itself.
func (m *Manager) Ready(ctx context.Context, a cw.Account) (cw.AccountAccess, error) {
	if a.Kind == cw.AccountOwn {
		return cw.AccountAccess{}, nil
	}
	p, err := m.Providers.Provider(a.Provider)
	if err != nil {
		return cw.AccountAccess{}, err
	}
	if a.Kind == cw.AccountLogin {
		return m.readyLogin(ctx, a, p)
	}
	dir, err := m.prepareDir(a)
	if err != nil {
		return cw.AccountAccess{}, cw.Errorf(cw.CodeFailed, "account %s has no place for its settings", a.Name).Because(err)
	}
	// Never both ways: a file of credentials beside the variable would decide by
	// the taste of the CLI.
	f, _ := formOf(a.Provider)
	if err := setAside(dir, f); err != nil {
		return cw.AccountAccess{}, cw.Errorf(cw.CodeFailed, "account %s cannot be made ready", a.Name).Because(err)
	}
	s, err := m.secretOf(ctx, a)
	if err != nil {
		return cw.AccountAccess{}, m.unreadable(ctx, a, err)
	}
	name, value := p.Token, s.Token
	if a.Kind == cw.AccountKey {
		name, value = p.Key, s.APIKey
	}
	if name == "" { // the preset is another than when it was added
		return cw.AccountAccess{}, cw.Errorf(cw.CodeFailed, "%s takes no %s, and account %s has one", p.Title, a.Kind, a.Name).WithHint("%s", otherWay(p))
	}
	env := p.env(dir, a.BaseURL)
	env[name] = value
	return cw.AccountAccess{ConfigDir: dir, Env: env}, nil
}

// readyLogin hands a login over by the CLI's own file.
func (m *Manager) readyLogin(ctx context.Context, a cw.Account, p Provider) (cw.AccountAccess, error) {
	f, known := formOf(a.Provider)
	if !known {
		dir, err := m.prepareDir(a)
		if err != nil {
			return cw.AccountAccess{}, cw.Errorf(cw.CodeFailed, "account %s has no place for its settings", a.Name).Because(err)
		}
		if a.SourceDir != "" {
			dir = a.SourceDir // its CLI renews by itself
		}
		return cw.AccountAccess{ConfigDir: dir, Env: p.env(dir, a.BaseURL)}, nil
	}
	if _, _, err := m.settle(ctx, a, f, false); err != nil {
		return cw.AccountAccess{}, m.unreadable(ctx, a, err)
	}
	dir := m.Home.AccountDir(a.ID)
	return cw.AccountAccess{ConfigDir: dir, Env: p.env(dir, a.BaseURL)}, nil
}

// unreadable says why credentials cannot be had, and marks an account that has
// none. A vault that is locked is not the account's fault.
func (m *Manager) unreadable(ctx context.Context, a cw.Account, err error) error {
	code := cw.ErrorCode(err)
	if code == cw.CodeNotFound || code == cw.CodeInvalid {
		if merr := m.markInvalid(ctx, a, whyInvalid(err)); merr != nil {
			return merr
		}
		return cw.Errorf(cw.CodeFailed, "account %s has no credentials", a.Name).Because(err).WithHint("%s", again(a))
	}
	return err
}

// again says how an account gets credentials anew.
func again(a cw.Account) string {
	if a.Kind == cw.AccountLogin {
		return "log in again: cw account login " + a.Name
	}
	return "add it anew: cw account remove " + a.Name + ", then cw account add"
}

// Refused says that a provider refused the credentials that a run was given. A
// login is renewed, once for all runs that are refused at the same time: renewed
// tells that trying again may help. What cannot be renewed is marked as invalid;
// the user's own login is not marked here: whoever ran its CLI does that.
// A caller that is refused again and again must end by itself.
func (m *Manager) Refused(ctx context.Context, id cw.AccountID, why string) (renewed bool, err error) {
	a, err := m.Store.AccountByRef(ctx, string(id))
	if err != nil || a.Kind == cw.AccountOwn {
		return false, err
	}
	if f, known := formOf(a.Provider); known && a.Kind == cw.AccountLogin {
		_, renewed, err = m.settle(ctx, a, f, true)
		return renewed, err
	}
	if m.Redact != nil {
		why = m.Redact.MaskString(why)
	}
	return false, m.markInvalid(ctx, a, "the provider refused its credentials: "+why)
}
