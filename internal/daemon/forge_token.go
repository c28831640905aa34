package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cw/accounts"
	"cw/internal/cw"
	"cw/internal/forge"
	"cw/worktree"
)

// forgeAccounts is what pull requests need of accounts.
type forgeAccounts interface {
	Accounts(ctx context.Context, provider string) ([]cw.AccountView, error)
	Account(ctx context.Context, ref string) (cw.AccountView, error)
	Ready(ctx context.Context, a cw.Account) (cw.AccountAccess, error)
}

// forgeProvider shows a forge as package accounts wants to see a provider: an
// account of it has a token and the address of a host of one's own, and no CLI
// runs with it. It is not among the providers that agents may have.
func forgeProvider(name string) (accounts.Provider, bool) {
	kind := cw.Forge(name)
	if !slices.Contains(cw.Forges(), kind) {
		return accounts.Provider{}, false
	}
	upper := strings.ToUpper(name)
	return accounts.Provider{Name: name, Title: kind.Title(), Token: upper + "_TOKEN", BaseURL: upper + "_URL", Forge: true}, true
}

// target is where a pull request is opened, and with whose token.
type target struct {
	options    forge.Options
	repository string // as the API there names it
}

// target decides on the forge, the address and the token. A token goes to the
// address that it was given for and nowhere else, whatever a remote says:
// one without an address is for the forge's public host.
func (f forges) target(ctx context.Context, req cw.PullRequestRequest, up worktree.Upstream) (target, error) {
	repo, err := forge.ParseRemote(up.Fetch)
	if err != nil {
		return target{}, err
	}
	if other, err := forge.ParseRemote(up.Push); err == nil && (other.Host != repo.Host || other.Path != repo.Path) {
		return target{}, cw.Errorf(cw.CodeRefused, "origin is fetched from %s and pushed to %s, and cw opens no pull requests from forks", repo.Path, other.Path).
			WithHint("push the branch there yourself, and open the pull request in the browser")
	}
	kind, err := repo.Which(req.Forge)
	if err != nil {
		return target{}, err
	}
	who, err := f.credentials(ctx, req, kind, repo)
	if err != nil {
		return target{}, err
	}
	who.Forge, who.Proxy, who.Transport = kind, proxyOf(networkOf(ctx, req.Env), f.environ), f.transport
	path, err := repo.At(kind, who.Address)
	return target{options: who, repository: path}, err
}

// credentials gives the token, whose it is, and the address that it is for: of
// the account that is named, else the caller's own, else of the first account
// whose address is that of the remote.
func (f forges) credentials(ctx context.Context, req cw.PullRequestRequest, kind cw.Forge, repo forge.Repository) (forge.Options, error) {
	if req.Account != "" && req.Account != cw.DefaultAccountName {
		return f.namedAccount(ctx, req.Account, kind)
	}
	address, err := repo.Address(kind)
	if err != nil {
		return forge.Options{}, err
	}
	token := req.Token(kind)
	if req.BaseURL != "" {
		if address, err = forge.CheckAddress(kind, req.BaseURL); err != nil {
			return forge.Options{}, err
		}
	}
	if !token.Empty() && (req.BaseURL != "" || address == forge.PublicAddress(kind)) {
		return forge.Options{Address: address, Token: token, Account: strings.Join(kind.TokenVariables(), " or ")}, nil
	}
	if req.Account == "" {
		found, ok, err := f.accountAt(ctx, kind, address)
		if ok || err != nil {
			return found, err
		}
	}
	no := cw.Errorf(cw.CodeRefused, "there is no token for %s", repo.Host)
	if address == forge.PublicAddress(kind) {
		return forge.Options{}, no.WithHint("add one: cw account add --provider %s --name work --token -; or set %s", kind, kind.TokenVariables()[0])
	}
	return forge.Options{}, no.WithHint("add one: cw account add --provider %s --name work --base-url https://%s --token -; or say that %s is for it: --base-url https://%s",
		kind, repo.Host, kind.TokenVariables()[0], repo.Host)
}

// namedAccount gives the token of an account that somebody named.
func (f forges) namedAccount(ctx context.Context, ref string, kind cw.Forge) (forge.Options, error) {
	a, err := f.accounts.Account(ctx, ref)
	if cw.ErrorCode(err) == cw.CodeInvalid { // several providers have one of that name
		a, err = f.accounts.Account(ctx, string(kind)+"/"+ref)
	}
	if err != nil {
		return forge.Options{}, err
	}
	if a.Provider != string(kind) {
		return forge.Options{}, cw.Errorf(cw.CodeInvalid, "the account %s is one of %s, and the repository is at %s", a.Name, a.Provider, kind.Title()).
			WithHint("see: cw account list --provider %s", kind)
	}
	if !a.Enabled || a.Invalid != "" {
		return forge.Options{}, cw.Errorf(cw.CodeRefused, "the account %s cannot be used: %s", a.Name, orText(a.Invalid, "it is switched off")).
			WithHint("see: cw account show %s/%s", kind, a.Name)
	}
	return f.ofAccount(ctx, a.Account, kind)
}

// accountAt gives the token of the first account for an address.
func (f forges) accountAt(ctx context.Context, kind cw.Forge, address string) (forge.Options, bool, error) {
	all, err := f.accounts.Accounts(ctx, "") // all, so that none is made
	if err != nil {
		return forge.Options{}, false, err
	}
	for _, a := range all {
		if a.Provider != string(kind) || a.Kind == cw.AccountOwn || !a.Enabled || a.Draining || a.Invalid != "" {
			continue
		}
		if at, err := forgeAddress(a.Account, kind); err == nil && at == address {
			out, err := f.ofAccount(ctx, a.Account, kind)
			return out, err == nil, err
		}
	}
	return forge.Options{}, false, nil
}

// forgeAddress is where the token of an account goes.
func forgeAddress(a cw.Account, kind cw.Forge) (string, error) {
	if a.BaseURL == "" {
		return forge.PublicAddress(kind), nil
	}
	return forge.CheckAddress(kind, a.BaseURL)
}

func (f forges) ofAccount(ctx context.Context, a cw.Account, kind cw.Forge) (forge.Options, error) {
	address, err := forgeAddress(a, kind)
	if err != nil {
		return forge.Options{}, fmt.Errorf("account %s: %w", a.Name, err)
	}
	access, err := f.accounts.Ready(ctx, a)
	if err != nil {
		return forge.Options{}, err
	}
	p, _ := forgeProvider(string(kind))
	return forge.Options{Address: address, Token: cw.NewSecret(access.Env[p.Token]), Account: "the account " + a.Name}, nil
}
