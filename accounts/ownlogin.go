package accounts

import (
	"context"
	"strings"
	"time"

	"cw/internal/cw"
)

// OwnLogin is what shows of the login that the user's own CLI has, in the
// daemon's environment.
type OwnLogin struct {
	// Missing says why the CLI is not logged in, and the command that logs in; ""
	// when it is, or when that cannot be known.
	Missing string
	// Unknown tells that it cannot be known.
	Unknown bool
	// ChangedAt is when the files of the login last changed; zero when there are
	// none.
	ChangedAt time.Time
}

// OwnLogins observes the logins of the user's own CLIs.
type OwnLogins interface {
	OwnLogin(provider string) OwnLogin
}

// ownLogin is what shows of the login of an account default; nothing for any
// other account.
func (m *Manager) ownLogin(a cw.Account) OwnLogin {
	if a.Kind != cw.AccountOwn || m.OwnLogins == nil {
		return OwnLogin{}
	}
	return m.OwnLogins.OwnLogin(a.Provider)
}

// shown completes a row with what is observed, and not stored.
func (m *Manager) shown(v cw.AccountView) cw.AccountView {
	v.NotLoggedIn = m.ownLogin(v.Account).Missing
	if p, err := m.Providers.Provider(v.Provider); err == nil {
		v.LogIn = v.LoginCommand(strings.Join(p.Login, " "))
	}
	return v
}

// loggedInSince decides whether somebody logged in to an account default after it
// was marked: its row is not changed by a login, and a login changes its files.
func loggedInSince(a cw.Account, l OwnLogin) bool {
	return a.Kind == cw.AccountOwn && a.Invalid != "" && l.Missing == "" && l.ChangedAt.After(a.UpdatedAt)
}

// noticeOwn takes the mark from an account default whose CLI has another login
// by now. It tells whether it did.
func (m *Manager) noticeOwn(ctx context.Context, a cw.Account) (bool, error) {
	if !loggedInSince(a, m.ownLogin(a)) {
		return false, nil
	}
	return true, m.markInvalid(ctx, a, "")
}
