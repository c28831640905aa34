package daemon

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"cw/accounts"
	"cw/internal/cw"
	"cw/internal/store"
	"cw/providers"
)

// VaultVariable forces where secrets are kept: file or keyring.
const VaultVariable = "CW_VAULT"

// tidyEvery is how often it is looked whether an account that is draining can
// go.
const tidyEvery = time.Minute

// newAccounts makes the keeper of accounts. Without a vault agents go on with
// the users' own logins, and every use of a secret says why there is none.
func newAccounts(ctx context.Context, c Config, db *store.DB, presets *providers.Registry, log *slog.Logger) *accounts.Manager {
	vault, err := accounts.OpenVault(ctx, c.Home, variable(c.Environ, VaultVariable), log)
	if err != nil {
		log.Error("there is no vault for secrets", "error", err)
		vault = noVault{err}
	}
	env := map[string]string{}
	for _, kv := range c.Environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	known := accountProviders{presets}
	return accounts.New(accounts.Options{
		Home: c.Home, UserHome: env["HOME"], Env: env, Store: accountStore{db, known}, Vault: vault, Providers: known,
		OwnLogins: ownLogins{known, c.Environ},
		Redact:    c.masks.Set, Log: log, Fail: failpointOf(c.Environ),
	})
}

// secretsPatience is how long agents wait for what the vault has: one that is
// locked must not keep everybody waiting.
const secretsPatience = 10 * time.Second

// awaitSecrets waits until the secrets of accounts are known.
func awaitSecrets(ctx context.Context, known <-chan struct{}) {
	patience := time.NewTimer(secretsPatience)
	defer patience.Stop()
	select {
	case <-known:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// keepAccounts learns the secrets that there are and closes known, then takes
// away accounts that are draining once no agent uses them, until ctx ends.
func keepAccounts(ctx context.Context, m *accounts.Manager, known chan<- struct{}, log *slog.Logger) error {
	if err := m.Load(ctx); err != nil && ctx.Err() == nil {
		log.Error("read the secrets of accounts", "error", err)
	}
	close(known)
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		if err := m.Tidy(ctx); err != nil && ctx.Err() == nil {
			log.Error("tidy accounts", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// noVault stands in for a vault that cannot be opened.
type noVault struct{ err error }

// Get implements accounts.Vault.
func (v noVault) Get(context.Context, cw.AccountID) (cw.Secret, error) { return cw.Secret{}, v.err }

// Set implements accounts.Vault.
func (v noVault) Set(context.Context, cw.AccountID, cw.Secret) error { return v.err }

// Delete implements accounts.Vault.
func (v noVault) Delete(context.Context, cw.AccountID) error { return v.err }

// accountProviders shows presets as package accounts wants to see them. A preset
// that is a variant of another has that one's accounts. A forge is found by its
// name, and is in no list of what agents may have.
type accountProviders struct{ presets *providers.Registry }

// Provider implements accounts.Providers.
func (a accountProviders) Provider(name string) (accounts.Provider, error) {
	p, err := a.presets.Get(name)
	if err != nil {
		if f, is := forgeProvider(name); is {
			return f, nil
		}
	}
	if err == nil && p.AccountsOf() != p.Name {
		p, err = a.presets.Get(p.AccountsOf())
	}
	if err != nil {
		return accounts.Provider{}, err
	}
	return providerOf(p), nil
}

// Providers implements accounts.Providers.
func (a accountProviders) Providers() []accounts.Provider {
	var all []accounts.Provider
	for _, name := range a.presets.Names() {
		if p, err := a.presets.Get(name); err == nil && p.AccountsOf() == p.Name {
			all = append(all, providerOf(p))
		}
	}
	return all
}

func providerOf(p providers.Preset) accounts.Provider {
	out := accounts.Provider{
		Name: p.Name, Title: p.Title, ConfigDir: p.Account.ConfigDir, ConfigHome: p.Account.ConfigHome,
		Key: p.Account.Key, Token: p.Account.Token, BaseURL: p.Account.BaseURL,
	}
	if len(p.Account.Login) > 0 && len(p.Command.Names) > 0 {
		out.Login = append([]string{p.Command.Names[0]}, slices.Concat(p.Account.Login...)...)
	}
	return out
}

// ownLogins observes the logins of the user's own CLIs, as a run finds them that
// nobody gave another environment.
type ownLogins struct {
	known   accountProviders
	environ []string
}

// OwnLogin implements accounts.OwnLogins.
func (o ownLogins) OwnLogin(provider string) accounts.OwnLogin {
	p, err := o.known.presets.Get(provider)
	if err != nil {
		return accounts.OwnLogin{Unknown: true}
	}
	l := loginOf(p, o.environ)
	return accounts.OwnLogin{Missing: l.Missing, Unknown: l.State == providers.LoginUnknown, ChangedAt: l.ChangedAt}
}

// loginOf observes the login of the user's own CLI in an environment.
func loginOf(p providers.Preset, environ []string) providers.Login {
	return p.Login(providers.RunEnv(providers.EnvInput{Preset: p, Daemon: environ, Home: variable(environ, "HOME")}))
}

// accountStore is the store with the accounts default of all providers: they are
// found before they are first used.
type accountStore struct {
	*store.DB
	known accountProviders
}

// AccountByRef implements accounts.Store and orchestrator.Store.
func (s accountStore) AccountByRef(ctx context.Context, ref string) (cw.Account, error) {
	if err := s.haveDefault(ctx, ref); err != nil {
		return cw.Account{}, err
	}
	return s.DB.AccountByRef(ctx, ref)
}

// SetBudget is that of the store, for an account default that nobody used yet,
// too.
func (s accountStore) SetBudget(ctx context.Context, scope cw.BudgetScope, ref string, limitUSD float64) (cw.Budget, error) {
	if scope == cw.BudgetAccount {
		if err := s.haveDefault(ctx, ref); err != nil {
			return cw.Budget{}, err
		}
	}
	return s.DB.SetBudget(ctx, scope, ref, limitUSD)
}

// haveDefault makes the account default that ref names, if it names one.
func (s accountStore) haveDefault(ctx context.Context, ref string) error {
	name, is := strings.CutPrefix(ref, string(cw.DefaultAccountID("")))
	if !is {
		name, is = strings.CutSuffix(ref, "/"+cw.DefaultAccountName)
	}
	p, err := s.known.Provider(name)
	if !is || err != nil {
		return nil // it names none
	}
	_, err = s.AccountByID(ctx, cw.DefaultAccountID(p.Name))
	return err
}
