package accounts

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"cw/internal/cw"
)

// TestAccount implements cw.AccountService. It asks the provider for something
// that costs nothing; where there is no such thing the credentials are looked at
// only, and the text says so. What it learns is stored.
func (m *Manager) TestAccount(ctx context.Context, ref string) (cw.AccountTest, error) {
	a, err := m.Store.AccountByRef(ctx, ref)
	if err != nil {
		return cw.AccountTest{}, err
	}
	out := cw.AccountTest{Account: a.Name}
	p, err := m.Providers.Provider(a.Provider)
	if err != nil {
		return out, err
	}
	out.LogIn = a.LoginCommand(strings.Join(p.Login, " "))
	own := m.ownLogin(a)
	if own.Missing != "" {
		out.Text = own.Missing
		return out, nil
	}
	_, unready := m.Ready(ctx, a)
	if _, err := m.noticeOwn(ctx, a); err != nil {
		return out, err
	}
	if a, err = m.Store.AccountByRef(ctx, string(a.ID)); err != nil { // that may have marked it
		return out, err
	}
	switch {
	case unready != nil:
		out.Text, out.Unknown = whyInvalid(unready), a.Invalid == ""
	case p.Name == "claude" || p.Name == "claude-code":
		return m.tryClaude(ctx, a, p, out)
	case a.Invalid != "":
		out.Text = a.Invalid
	case p.Forge:
		out.OK, out.Text = true, "its token is there; only a pull request shows whether "+p.Title+" takes it"
	case own.Unknown:
		out.OK, out.Text = true, "cw does not see whether "+p.Title+" is logged in; only a run shows it"
	default:
		out.OK, out.Text = true, "its credentials are there; only a run shows whether "+p.Title+" takes them"
	}
	return out, nil
}

// tryClaude asks for the list of models. A login that is refused is renewed and
// tried once more, as for a run.
func (m *Manager) tryClaude(ctx context.Context, a cw.Account, p Provider, out cw.AccountTest) (cw.AccountTest, error) {
	status, code, err := m.askModels(ctx, a, p)
	if err == nil && status == http.StatusUnauthorized && a.Kind == cw.AccountLogin {
		renewed, rerr := m.Refused(ctx, a.ID, code)
		if err = rerr; renewed && err == nil {
			status, code, err = m.askModels(ctx, a, p)
		}
	}
	switch {
	case err != nil:
		return m.notTried(ctx, a, out, err)
	case status == http.StatusOK:
		out.OK, out.Text = true, "the provider takes its credentials"
		return out, m.markInvalid(ctx, a, "")
	case status == http.StatusUnauthorized:
		out.Text = strings.TrimSuffix("the provider refuses its credentials: "+code, ": ")
		return out, m.markInvalid(ctx, a, out.Text)
	default:
		out.Unknown, out.Text = true, fmt.Sprintf("the provider answered %d %s, so nothing is known", status, code)
	}
	return out, nil
}

// notTried says why an account could not be tried. One without a login, or that
// was marked meanwhile, has credentials that cannot be used.
func (m *Manager) notTried(ctx context.Context, a cw.Account, out cw.AccountTest, why error) (cw.AccountTest, error) {
	now, err := m.Store.AccountByRef(ctx, string(a.ID))
	out.Text = whyInvalid(why)
	out.Unknown = now.Invalid == a.Invalid && cw.ErrorCode(why) != cw.CodeInvalid || m.ownLogin(a).Unknown
	return out, err
}

// askModels asks for the list of models with the credentials of an account.
func (m *Manager) askModels(ctx context.Context, a cw.Account, p Provider) (status int, code string, err error) {
	header := http.Header{"Anthropic-Version": {claudeVersion}}
	switch {
	case a.Kind == cw.AccountOwn && m.Env[p.Key] != "": // it wins over a login
		header.Set("X-Api-Key", m.Env[p.Key])
	case a.Kind == cw.AccountKey:
		s, err := m.secretOf(ctx, a)
		if err != nil {
			return 0, "", err
		}
		header.Set("X-Api-Key", s.APIKey)
	default:
		bearer, err := m.bearer(ctx, a, p)
		if err != nil {
			return 0, "", err
		}
		header.Set("Authorization", "Bearer "+bearer)
		header.Set("Anthropic-Beta", oauthBeta)
	}
	status, body, err := m.askClaude(ctx, a, "/v1/models?limit=1", header)
	if err != nil {
		return 0, "", fmt.Errorf("the provider cannot be reached, so nothing is known: %w", err)
	}
	return status, errorCode(body), nil
}
