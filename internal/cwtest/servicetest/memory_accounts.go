package servicetest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"cw/internal/cw"
)

// memoryAccount is an account with its secret, which no answer shows.
type memoryAccount struct {
	cw.Account

	secret string
}

// knownProviders refuses names that are no provider's.
func knownProviders(names []string) error {
	for _, name := range names {
		if !slices.Contains([]string{"claude", "codex", "script", "fake"}, name) {
			return cw.Errorf(cw.CodeNotFound, "there is no provider %q", name)
		}
	}
	return nil
}

// accountView gives an account as people see it; the lock is held.
func (m *Memory) accountView(a cw.Account) cw.AccountView {
	v := cw.AccountView{Account: a, Agents: []string{}}
	for i := range m.agents {
		if b := &m.agents[i]; b.AccountID == a.ID && b.DeletedAt == nil && !b.Status.AtRest() {
			v.Agents = append(v.Agents, b.Alias)
		}
	}
	return v
}

// findAccount gives its place; the lock is held.
func (m *Memory) findAccount(ref string) (int, error) {
	var found []int
	for i, a := range m.accounts {
		if string(a.ID) == ref {
			return i, nil
		}
		if a.Name == ref || a.Provider+"/"+a.Name == ref {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return 0, cw.Errorf(cw.CodeNotFound, "there is no account %q", ref).WithHint("see: cw account list")
	case 1:
		return found[0], nil
	}
	return 0, cw.Errorf(cw.CodeInvalid, "several providers have an account %q", ref)
}

// Accounts implements cw.AccountService.
func (m *Memory) Accounts(_ context.Context, provider string) ([]cw.AccountView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []cw.AccountView{}
	for _, a := range m.accounts {
		if provider == "" || a.Provider == provider {
			out = append(out, m.accountView(a.Account))
		}
	}
	slices.SortFunc(out, func(a, b cw.AccountView) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), b.Priority-a.Priority, strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

// Account implements cw.AccountService.
func (m *Memory) Account(_ context.Context, ref string) (cw.AccountView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, err := m.findAccount(ref)
	if err != nil {
		return cw.AccountView{}, err
	}
	return m.accountView(m.accounts[i].Account), nil
}

// AddAccount implements cw.AccountService: a secret is one when it begins as
// those of claude do.
func (m *Memory) AddAccount(ctx context.Context, req cw.AddAccountRequest) (view cw.AccountView, err error) {
	if err := req.Check(); err != nil {
		return view, err
	}
	m.change(func() { view, err = m.addAccount(cw.ActorOf(ctx), req) })
	return view, err
}

func (m *Memory) addAccount(by cw.Actor, req cw.AddAccountRequest) (cw.AccountView, error) {
	a := memoryAccount{secret: req.Token.Reveal() + req.APIKey.Reveal(), Account: cw.Account{
		ID: cw.AccountID(cw.NewID()), Provider: cmp.Or(req.Provider, "claude"), Name: cmp.Or(req.Name, req.Email, "account-2"),
		Email: req.Email, Kind: cw.AccountLogin, BaseURL: req.BaseURL, Priority: req.Priority, Enabled: true,
		SourceDir: req.ConfigDir, Usage: []cw.UsageWindow{}, CreatedAt: m.now(), UpdatedAt: m.now(),
	}}
	switch {
	case !req.Token.Empty():
		a.Kind = cw.AccountToken
	case !req.APIKey.Empty():
		a.Kind = cw.AccountKey
	}
	if err := knownProviders([]string{a.Provider}); err != nil {
		return cw.AccountView{}, err
	}
	if err := cw.CheckAccountName(a.Name); err != nil {
		return cw.AccountView{}, err
	}
	if a.secret != "" && (!strings.HasPrefix(a.secret, "sk-ant-") || strings.ContainsAny(a.secret, " \n")) {
		return cw.AccountView{}, cw.Errorf(cw.CodeInvalid, "this is no credential of %s", a.Provider)
	}
	if req.ConfigDir != "" {
		return cw.AccountView{}, cw.Errorf(cw.CodeInvalid, "there is no login in %q", req.ConfigDir)
	}
	if err := m.accountTaken(a); err != nil {
		return cw.AccountView{}, err
	}
	m.accounts = append(m.accounts, a)
	m.tellAccount(cw.EventAccountAdded, by, a.Account)
	return m.accountView(a.Account), nil
}

func (m *Memory) accountTaken(a memoryAccount) error {
	if a.Name == cw.DefaultAccountName {
		return cw.Errorf(cw.CodeRefused, "the name %s is kept", a.Name)
	}
	for _, b := range m.accounts {
		switch {
		case b.ID == a.ID || b.Provider != a.Provider:
		case b.Name == a.Name:
			return cw.Errorf(cw.CodeRefused, "%s has an account %s already", a.Provider, a.Name)
		case a.secret != "" && b.secret == a.secret:
			return cw.Errorf(cw.CodeRefused, "this login is the account %s already", b.Name)
		}
	}
	return nil
}

func (m *Memory) tellAccount(t cw.EventType, by cw.Actor, a cw.Account) {
	m.tell(cw.NewEvent(t, by, cw.AccountChanged{AccountID: a.ID, Provider: a.Provider, Name: a.Name}))
}

// SetAccount implements cw.AccountService.
func (m *Memory) SetAccount(ctx context.Context, ref string, s cw.AccountSettings) (view cw.AccountView, err error) {
	if err := s.Check(); err != nil {
		return view, err
	}
	m.change(func() {
		var i int
		if i, err = m.findAccount(ref); err != nil {
			return
		}
		a := m.accounts[i]
		if s.Enabled != nil {
			a.Enabled = *s.Enabled
		}
		if s.Priority != nil {
			a.Priority = *s.Priority
		}
		if s.Name != nil {
			a.Name = *s.Name
		}
		if s.BaseURL != nil {
			a.BaseURL = *s.BaseURL
		}
		if err = m.accountTaken(a); err != nil {
			return
		}
		a.UpdatedAt = m.now()
		m.accounts[i] = a
		m.tellAccount(cw.EventAccountChanged, cw.ActorOf(ctx), a.Account)
		view = m.accountView(a.Account)
	})
	return view, err
}

// RemoveAccount implements cw.AccountService.
func (m *Memory) RemoveAccount(ctx context.Context, ref string, drain bool) (view cw.AccountView, err error) {
	m.change(func() {
		var i int
		if i, err = m.findAccount(ref); err != nil {
			return
		}
		a := m.accounts[i].Account
		view = m.accountView(a)
		switch {
		case len(view.Agents) > 0 && drain:
			m.accounts[i].Draining, view.Draining = true, true
		case len(view.Agents) > 0:
			err = cw.Errorf(cw.CodeRefused, "the account %s is used by %s", a.Name, strings.Join(view.Agents, ", "))
			view = cw.AccountView{}
		default:
			at := m.now()
			view.RemovedAt, view.Enabled = &at, false
			m.accounts = slices.Delete(m.accounts, i, i+1)
			m.tellAccount(cw.EventAccountRemoved, cw.ActorOf(ctx), a)
		}
	})
	return view, err
}

// LoginAccount implements cw.AccountService.
func (m *Memory) LoginAccount(ctx context.Context, ref string) (cw.LoginCommand, error) {
	v, err := m.Account(ctx, ref)
	if err != nil {
		return cw.LoginCommand{}, err
	}
	return cw.LoginCommand{Account: v.Account, Command: []string{"claude", "/login"}, Env: map[string]string{"CLAUDE_CONFIG_DIR": "/accounts/" + string(v.ID)}}, nil
}

// FinishLogin implements cw.AccountService: nobody ever logs in.
func (m *Memory) FinishLogin(ctx context.Context, ref string) (cw.AccountView, error) {
	v, err := m.Account(ctx, ref)
	if err != nil {
		return cw.AccountView{}, err
	}
	return cw.AccountView{}, cw.Errorf(cw.CodeFailed, "there is no login in the directory of %s", v.Name).WithHint("cw account login %s", v.Name)
}

// DiscoverAccounts implements cw.AccountService: it finds what the environment
// names.
func (m *Memory) DiscoverAccounts(_ context.Context, env map[string]string) ([]cw.FoundLogin, error) {
	found := []cw.FoundLogin{}
	if _, ok := env["ANTHROPIC_API_KEY"]; ok {
		found = append(found, cw.FoundLogin{Provider: "claude", Variable: "ANTHROPIC_API_KEY"})
	}
	return found, nil
}

// AccountUsage implements cw.AccountService: nothing is ever known.
func (m *Memory) AccountUsage(ctx context.Context, ref string) (cw.AccountUsage, error) {
	v, err := m.Account(ctx, ref)
	return cw.AccountUsage{Account: v.Account, Source: "none"}, err
}

// TestAccount implements cw.AccountService.
func (m *Memory) TestAccount(ctx context.Context, ref string) (cw.AccountTest, error) {
	v, err := m.Account(ctx, ref)
	return cw.AccountTest{Account: v.Name, OK: err == nil, Text: "it was not asked"}, err
}
