package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type listAccounts struct {
	Provider string `query:"provider" doc:"only accounts of this provider"`
}

type accountRef struct {
	Ref string `path:"ref" doc:"id, name, or PROVIDER/NAME (percent-encoded)"`
}

type addAccount struct {
	Body cw.AddAccountRequest
}

type setAccount struct {
	Ref  string `path:"ref" doc:"id, name, or PROVIDER/NAME (percent-encoded)"`
	Body cw.AccountSettings
}

type removeAccount struct {
	Ref   string `path:"ref" doc:"id, name, or PROVIDER/NAME (percent-encoded)"`
	Drain bool   `query:"drain" doc:"while agents use it: no new runs, and it goes with the last of them"`
}

type discoverAccounts struct {
	Body discoverBody
}

type discoverBody struct {
	Env map[string]string `json:"env,omitempty" doc:"the caller's environment; only variables that presets name are looked at"`
}

// sentAccount is an account's request as it travels: cw.Secret never gives its
// text to an encoder, so the two are put there by name.
type sentAccount struct {
	cw.AddAccountRequest

	Token  string `json:"token,omitempty"`
	APIKey string `json:"apiKey,omitempty"`
}

func registerAccounts(s *Server) {
	services := s.opts.Services
	// A list has one form everywhere, so these are a page, too.
	handle(s, "list-accounts", func(ctx context.Context, in *listAccounts) (cw.Page[cw.AccountView], error) {
		accounts, err := services.Accounts(ctx, in.Provider)
		return cw.Page[cw.AccountView]{Items: orEmpty(accounts)}, err
	})
	handle(s, "get-account", func(ctx context.Context, in *accountRef) (cw.AccountView, error) {
		return services.Account(ctx, in.Ref)
	})
	handle(s, "add-account", func(ctx context.Context, in *addAccount) (cw.AccountView, error) {
		return services.AddAccount(ctx, in.Body)
	})
	handle(s, "set-account", func(ctx context.Context, in *setAccount) (cw.AccountView, error) {
		if err := in.Body.Check(); err != nil {
			return cw.AccountView{}, err
		}
		return services.SetAccount(ctx, in.Ref, in.Body)
	})
	handle(s, "remove-account", func(ctx context.Context, in *removeAccount) (cw.AccountView, error) {
		return services.RemoveAccount(ctx, in.Ref, in.Drain)
	})
	handle(s, "login-account", func(ctx context.Context, in *accountRef) (cw.LoginCommand, error) {
		return services.LoginAccount(ctx, in.Ref)
	})
	handle(s, "finish-login", func(ctx context.Context, in *accountRef) (cw.AccountView, error) {
		return services.FinishLogin(ctx, in.Ref)
	})
	handle(s, "discover-accounts", func(ctx context.Context, in *discoverAccounts) (cw.Page[cw.FoundLogin], error) {
		found, err := services.DiscoverAccounts(ctx, in.Body.Env)
		return cw.Page[cw.FoundLogin]{Items: orEmpty(found)}, err
	})
	handle(s, "get-account-usage", func(ctx context.Context, in *accountRef) (cw.AccountUsage, error) {
		return services.AccountUsage(ctx, in.Ref)
	})
	handle(s, "test-account", func(ctx context.Context, in *accountRef) (cw.AccountTest, error) {
		return services.TestAccount(ctx, in.Ref)
	})
}

// accountPath is the path of an account's route.
func accountPath(ref, rest string) string { return "/v1/accounts/" + segment(ref) + rest }

// Accounts implements cw.AccountService.
func (c *Client) Accounts(ctx context.Context, provider string) ([]cw.AccountView, error) {
	q := query{}
	q.text("provider", provider)
	page, err := call[cw.Page[cw.AccountView]](ctx, c, request{method: http.MethodGet, path: "/v1/accounts", query: q})
	return page.Items, err
}

// Account implements cw.AccountService.
func (c *Client) Account(ctx context.Context, ref string) (cw.AccountView, error) {
	return call[cw.AccountView](ctx, c, request{method: http.MethodGet, path: accountPath(ref, "")})
}

// AddAccount implements cw.AccountService. The secret goes over the socket as it
// is: it is the one call that carries one.
func (c *Client) AddAccount(ctx context.Context, req cw.AddAccountRequest) (cw.AccountView, error) {
	sent := sentAccount{AddAccountRequest: req, Token: req.Token.Reveal(), APIKey: req.APIKey.Reveal()}
	return call[cw.AccountView](ctx, c, request{method: http.MethodPost, path: "/v1/accounts", body: sent})
}

// SetAccount implements cw.AccountService.
func (c *Client) SetAccount(ctx context.Context, ref string, s cw.AccountSettings) (cw.AccountView, error) {
	return call[cw.AccountView](ctx, c, request{method: http.MethodPost, path: accountPath(ref, "/settings"), body: s})
}

// RemoveAccount implements cw.AccountService.
func (c *Client) RemoveAccount(ctx context.Context, ref string, drain bool) (cw.AccountView, error) {
	q := query{}
	q.flag("drain", drain)
	return call[cw.AccountView](ctx, c, request{method: http.MethodDelete, path: accountPath(ref, ""), query: q})
}

// LoginAccount implements cw.AccountService.
func (c *Client) LoginAccount(ctx context.Context, ref string) (cw.LoginCommand, error) {
	return call[cw.LoginCommand](ctx, c, request{method: http.MethodPost, path: accountPath(ref, "/login")})
}

// FinishLogin implements cw.AccountService.
func (c *Client) FinishLogin(ctx context.Context, ref string) (cw.AccountView, error) {
	return call[cw.AccountView](ctx, c, request{method: http.MethodPost, path: accountPath(ref, "/login/finish")})
}

// DiscoverAccounts implements cw.AccountService.
func (c *Client) DiscoverAccounts(ctx context.Context, env map[string]string) ([]cw.FoundLogin, error) {
	page, err := call[cw.Page[cw.FoundLogin]](ctx, c, request{method: http.MethodPost, path: "/v1/accounts/discover", body: discoverBody{env}})
	return page.Items, err
}

// AccountUsage implements cw.AccountService.
func (c *Client) AccountUsage(ctx context.Context, ref string) (cw.AccountUsage, error) {
	return call[cw.AccountUsage](ctx, c, request{method: http.MethodPost, path: accountPath(ref, "/usage")})
}

// TestAccount implements cw.AccountService.
func (c *Client) TestAccount(ctx context.Context, ref string) (cw.AccountTest, error) {
	return call[cw.AccountTest](ctx, c, request{method: http.MethodPost, path: accountPath(ref, "/test")})
}
