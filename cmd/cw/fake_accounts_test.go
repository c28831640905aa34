package main

import (
	"context"
	"fmt"

	"cw/internal/cw"
)

// fakeAccounts is what a daemon in memory keeps of accounts, costs and budgets.
type fakeAccounts struct {
	accounts []cw.AccountView
	added    []cw.AddAccountRequest
	changes  []string
	logins   []cw.FoundLogin
	lookedIn []map[string]string // environments
	usage    map[string]cw.AccountUsage
	tried    map[string]cw.AccountTest
	costs    []cw.CostRow
	asksCost []cw.CostQuery
	budgets  []cw.Budget
}

func (f *fakeServices) Accounts(_ context.Context, provider string) ([]cw.AccountView, error) {
	var out []cw.AccountView
	for _, a := range f.accounts {
		if provider == "" || a.Provider == provider {
			out = append(out, a)
		}
	}
	return out, f.fails("Accounts")
}

func (f *fakeServices) Account(_ context.Context, ref string) (cw.AccountView, error) {
	for _, a := range f.accounts {
		if a.Name == ref || string(a.ID) == ref || a.Provider+"/"+a.Name == ref {
			return a, f.fails("Account")
		}
	}
	return cw.AccountView{}, cw.Errorf(cw.CodeNotFound, "there is no account %q", ref).WithHint("see: cw account list")
}

func (f *fakeServices) AddAccount(_ context.Context, req cw.AddAccountRequest) (cw.AccountView, error) {
	f.added = append(f.added, req)
	kind := cw.AccountLogin
	switch {
	case !req.Token.Empty():
		kind = cw.AccountToken
	case !req.APIKey.Empty():
		kind = cw.AccountKey
	}
	v := cw.AccountView{Account: cw.Account{
		ID: "cccccccccccc", Provider: req.Provider, Name: req.Name, Email: req.Email, Kind: kind, Priority: req.Priority,
		SourceDir: req.ConfigDir, ConfigDir: "/home/lead/.cw/accounts/cccccccccccc", BaseURL: req.BaseURL, Enabled: true, CreatedAt: epoch,
	}}
	if v.Name == "" {
		v.Name = req.Email
	}
	return v, f.fails("AddAccount")
}

func (f *fakeServices) SetAccount(ctx context.Context, ref string, s cw.AccountSettings) (cw.AccountView, error) {
	v, err := f.Account(ctx, ref)
	if err != nil {
		return v, err
	}
	if s.Enabled != nil {
		v.Enabled = *s.Enabled
	}
	if s.Priority != nil {
		v.Priority = *s.Priority
	}
	f.changes = append(f.changes, fmt.Sprintf("%s enabled=%t priority=%d", v.Name, v.Enabled, v.Priority))
	return v, f.fails("SetAccount")
}

func (f *fakeServices) RemoveAccount(ctx context.Context, ref string, drain bool) (cw.AccountView, error) {
	v, err := f.Account(ctx, ref)
	if err != nil {
		return v, err
	}
	if v.Draining = drain && len(v.Agents) > 0; !v.Draining {
		at := epoch
		v.RemovedAt = &at
	}
	return v, f.fails("RemoveAccount")
}

func (f *fakeServices) LoginAccount(ctx context.Context, ref string) (cw.LoginCommand, error) {
	v, err := f.Account(ctx, ref)
	return cw.LoginCommand{
		Account: v.Account, Command: []string{"claude", "/login"}, Env: map[string]string{"CLAUDE_CONFIG_DIR": v.ConfigDir, "ANTHROPIC_API_KEY": ""},
	}, err
}

func (f *fakeServices) FinishLogin(ctx context.Context, ref string) (cw.AccountView, error) {
	v, err := f.Account(ctx, ref)
	if err == nil {
		err = f.fails("FinishLogin")
	}
	return v, err
}

func (f *fakeServices) DiscoverAccounts(_ context.Context, env map[string]string) ([]cw.FoundLogin, error) {
	f.lookedIn = append(f.lookedIn, env)
	return f.logins, f.fails("DiscoverAccounts")
}

func (f *fakeServices) AccountUsage(ctx context.Context, ref string) (cw.AccountUsage, error) {
	v, err := f.Account(ctx, ref)
	if err != nil {
		return cw.AccountUsage{}, err
	}
	return f.usage[v.Name], f.fails("AccountUsage")
}

func (f *fakeServices) TestAccount(ctx context.Context, ref string) (cw.AccountTest, error) {
	v, err := f.Account(ctx, ref)
	if err != nil {
		return cw.AccountTest{}, err
	}
	return f.tried[v.Name], f.fails("TestAccount")
}

func (f *fakeServices) Costs(_ context.Context, q cw.CostQuery) ([]cw.CostRow, error) {
	f.asksCost = append(f.asksCost, q)
	return f.costs, f.fails("Costs")
}

func (f *fakeServices) Budgets(context.Context) ([]cw.Budget, error) {
	return f.budgets, f.fails("Budgets")
}

func (f *fakeServices) SetBudget(_ context.Context, scope cw.BudgetScope, ref string, limitUSD float64) (cw.Budget, error) {
	if err := cw.CheckBudget(scope, limitUSD); err != nil {
		return cw.Budget{}, err
	}
	return cw.Budget{Scope: scope, ScopeID: "aaaaaaaaaaaa", Name: ref, LimitUSD: limitUSD, SpentUSD: 0.42, SetAt: epoch}, f.fails("SetBudget")
}
