package accounts

import (
	"context"
	"errors"
	"time"

	"cw/internal/cw"
)

// Where figures of use come from.
const (
	fromEndpoint = "endpoint"
	fromSession  = "session file"
	fromStream   = "stream" // what runs told; stored by the engine
	fromNowhere  = "none"
)

// AccountUsage implements cw.AccountService. What is asked is stored. What
// cannot be asked now is the last known, with its age and why.
func (m *Manager) AccountUsage(ctx context.Context, ref string) (cw.AccountUsage, error) {
	a, err := m.Store.AccountByRef(ctx, ref)
	if err != nil {
		return cw.AccountUsage{}, err
	}
	asked, source, err := m.askUsage(ctx, a)
	out := cw.AccountUsage{Account: a, Source: fromNowhere}
	switch {
	case err != nil:
		out.Trouble = whyInvalid(err)
	case a.UsageAt == nil || !asked.at.Before(*a.UsageAt):
		if err := m.Store.SaveUsage(ctx, a.ID, asked.windows, asked.at); err != nil {
			return cw.AccountUsage{}, err
		}
		out.Source, out.Account.Usage, out.Account.UsageAt = source, asked.windows, &asked.at
	}
	if at := out.Account.UsageAt; at != nil {
		if out.Source == fromNowhere {
			out.Source = fromStream
		}
		out.AgeNanos = max(0, m.Now().Sub(*at).Nanoseconds())
	}
	return out, nil
}

// usage is what somebody told of the use of windows, and when.
type usage struct {
	windows []cw.UsageWindow // at least one
	at      time.Time        // UTC
}

// askUsage asks where the provider tells the use of an account.
func (m *Manager) askUsage(ctx context.Context, a cw.Account) (usage, string, error) {
	p, err := m.Providers.Provider(a.Provider)
	if err != nil {
		return usage{}, fromNowhere, err
	}
	switch a.Provider {
	case "codex":
		dir := m.Home.AccountDir(a.ID)
		if a.Kind == cw.AccountOwn {
			dir = p.dir(m.UserHome, m.Env)
		}
		told, err := codexUsage(dir, m.Now())
		return told, fromSession, err
	case "claude", "claude-code":
		bearer, err := m.bearer(ctx, a, p)
		if err != nil {
			return usage{}, fromNowhere, err
		}
		windows, err := m.claudeUsage(ctx, a, bearer)
		return usage{windows, m.Now().UTC()}, fromEndpoint, err
	}
	return usage{}, fromNowhere, errors.New(p.Title + " tells no use that cw could ask for")
}

// bearer gives the access token of an account, renewed when it must be. The
// user's own login is read and never renewed.
func (m *Manager) bearer(ctx context.Context, a cw.Account, p Provider) (string, error) {
	f, known := formOf(a.Provider)
	switch {
	case a.Kind == cw.AccountKey || !known:
		return "", errors.New("an API key has no usage windows")
	case a.Kind == cw.AccountLogin:
		c, _, err := m.settle(ctx, a, f, false)
		return c.access, err
	case a.Kind == cw.AccountToken:
		s, err := m.secretOf(ctx, a)
		return s.Token, err
	}
	if m.Env[p.Token] != "" {
		return m.Env[p.Token], nil
	}
	dir := p.dir(m.UserHome, m.Env)
	l, err := f.readLogin(ctx, dir)
	if err != nil {
		return "", cannotRead(dir, err)
	}
	if l.isExpired(m.Now()) {
		return "", errors.New("your own login is renewed by its CLI alone, and its token is over")
	}
	return l.access, nil
}
