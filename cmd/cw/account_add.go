package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type accountAddOptions struct {
	app       *app
	token     string
	hasToken  bool
	apiKey    bool
	configDir string
	provider  string
	name      string
	email     string
	baseURL   string
	priority  int
}

func newAccountAddCmd(a *app, runF func(context.Context, *accountAddOptions) error) *cobra.Command {
	opts := &accountAddOptions{app: a}
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Add an account",
		Long: `Add an account of a provider: with a long-lived token (claude setup-token prints
one), with an API key, or with the directory of a login that is there already.
With none of them an empty account is made, for cw account login.

A secret is read from stdin, on a terminal after a prompt that does not show it.
It is kept in the system's keyring or a sealed file, and given to nothing but the
provider's CLI.

An account of github or gitlab has a token for pull requests: see cw pr create.

An account has a directory of its own for the CLI's settings, which cw account
show tells. Nothing of yours is copied into it.`,
		Example: `claude setup-token          # prints a token
cw account add --email you@example.com --token -
cw account add --provider codex --name work --api-key < key
cw account add --name work --config-dir ~/.claude-work
cw account add --provider github --name work --token - < token
cw account add --email you@example.com && cw account login you@example.com`,
		RunE: start(a, runF, accountAddRun, opts),
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		opts.hasToken = cmd.Flags().Changed("token")
		return noArgs(cmd, args)
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.token, "token", "", "a long-lived `TOKEN`; - reads it from stdin, which is the safe way")
	fl.BoolVar(&opts.apiKey, "api-key", false, "an API key, read from stdin")
	fl.StringVar(&opts.configDir, "config-dir", "", "adopt the login in this `DIR`, which goes on working for you")
	fl.StringVar(&opts.provider, "provider", "claude", "whose account: the `NAME` of a provider")
	fl.StringVar(&opts.name, "name", "", "what it is called: a `NAME` (default: the email address)")
	fl.StringVar(&opts.email, "email", "", "whose login it is: an email `ADDRESS`")
	fl.StringVar(&opts.baseURL, "base-url", "", "the `URL` of the provider's API, for gateways")
	fl.IntVar(&opts.priority, "priority", 0, "accounts with a greater `N` are used first")
	return cmd
}

func accountAddRun(ctx context.Context, o *accountAddOptions) error {
	a := o.app
	req, err := o.request()
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	v, err := svc.AddAccount(ctx, req)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(v)
	}
	a.printAccount(v)
	if slices.Contains(cw.Forges(), cw.Forge(v.Provider)) {
		a.note("cw pr create uses it for repositories at %s", cmp.Or(v.BaseURL, cw.Forge(v.Provider).Title()))
		return nil
	}
	a.note("its CLI has settings of its own, in the directory shown; nothing of yours is copied there")
	if req.Token.Empty() && req.APIKey.Empty() && req.ConfigDir == "" {
		a.note("it has no login yet: cw account login %s", cw.ShellWord(accountTitle(v.Account)))
		return nil
	}
	a.note("try it: cw account test %s", cw.ShellWord(accountTitle(v.Account)))
	return nil
}

// request reads the secret, when there is one.
func (o *accountAddOptions) request() (cw.AddAccountRequest, error) {
	a := o.app
	req := cw.AddAccountRequest{Provider: o.provider, Name: o.name, Email: o.email, BaseURL: o.baseURL, Priority: o.priority}
	ways := 0
	for _, given := range []bool{o.hasToken, o.apiKey, o.configDir != ""} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return req, usagef("--token, --api-key and --config-dir exclude each other").WithHint("an account has one login; add the others as accounts of their own")
	}
	if o.name != "" {
		if err := cw.CheckAccountName(o.name); err != nil {
			return req, err
		}
	}
	var err error
	switch {
	case o.hasToken && o.token == "":
		return req, usagef("the token is empty").WithHint("give it on stdin: cw account add --token - < FILE")
	case o.hasToken && o.token != stdinName:
		req.Token = cw.NewSecret(o.token)
		a.note("warning: other users see a token on the command line in ps, and the shell keeps it in its history; --token - reads it from stdin")
	case o.hasToken:
		req.Token, err = a.readSecret("token")
	case o.apiKey:
		req.APIKey, err = a.readSecret("API key")
	case o.configDir != "":
		req.ConfigDir, err = a.abs(o.configDir)
	}
	return req, err
}
