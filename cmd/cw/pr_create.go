package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

type prCreateOptions struct {
	app        *app
	initiative string
	project    string
	base       string
	title      string
	bodyFile   optionalText
	draft      bool
	forge      string
	account    string
	baseURL    string
}

func newPRCreateCmd(a *app, runF func(context.Context, *prCreateOptions) error) *cobra.Command {
	opts := &prCreateOptions{app: a}
	cmd := &cobra.Command{
		Use:   "create INITIATIVE",
		Short: "Push the branch of an initiative and open a pull request for it",
		Long: `Push the branch of an initiative, cw/INITIATIVE, to the project's remote, and open
a pull request for it at GitHub or a merge request at GitLab. One that is open
already gets the new commits, the title and the text. Nothing is pushed by force,
and nothing but that branch is.

The remote is the project's URL, or origin of your repository; git reaches it with
your own credentials. The forge is asked with a token: of --account, else of
GH_TOKEN, GITHUB_TOKEN or GITLAB_TOKEN here, else of the first account of github or
gitlab for that host. cw account add --provider github --name work --token - adds
one. A token of the environment is used once and not stored; it is for github.com
or gitlab.com, unless --base-url says which host it is for.

The text is made of the goal and of what agents said of tasks that are done, in
which names of people, issues and commands mean nothing to the forge. --title and
--body-file are sent as they are.`,
		Example: "cw pr create spring-sale\ncw pr create spring-sale --draft --base develop --title \"Prices go down\"\n" +
			"cw pr create spring-sale --forge gitlab --account work --body-file notes.md",
		Annotations:       exits("3  no such initiative, or the token cannot see the repository", "4  nothing is merged yet, or the remote or the forge does not take it"),
		ValidArgsFunction: completeInitiatives(a, false),
		RunE:              start(a, runF, prCreateRun, opts),
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := noEmptyFlags(cmd, "project", "base", "title", "forge", "account", "base-url"); err != nil {
			return err
		}
		return oneArg(&opts.initiative, initiativeWhat)(cmd, args)
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.project, "project", "", "in this `PROJECT`, when the initiative has several: its name or id")
	fl.StringVar(&opts.base, "base", "", "the `BRANCH` at the remote to merge into (default: the one that the initiative began from)")
	fl.StringVar(&opts.title, "title", "", "the `TITLE`, one line (default: the initiative's name)")
	fl.Var(&opts.bodyFile, "body-file", "read the text, Markdown, from this `FILE`; - for stdin")
	fl.BoolVar(&opts.draft, "draft", false, "open it as a draft")
	fl.StringVar(&opts.forge, "forge", "", "what the host is, where its name does not tell: `github|gitlab`")
	fl.StringVar(&opts.account, "account", "", "the `ACCOUNT` whose token is used: its name or id")
	fl.StringVar(&opts.baseURL, "base-url", "", "the `URL` of a host of your own that the token of the environment is for")
	return cmd
}

func prCreateRun(ctx context.Context, o *prCreateOptions) error {
	a := o.app
	req, err := o.request()
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	pr, err := svc.CreatePullRequest(ctx, o.initiative, req)
	if err != nil {
		return hintNear(ctx, svc, err, nounInitiative, o.initiative)
	}
	if a.json {
		return a.printJSON(pr)
	}
	a.printPullRequest(pr)
	return nil
}

// request reads the text and takes the tokens of the environment along.
func (o *prCreateOptions) request() (cw.PullRequestRequest, error) {
	a := o.app
	req := cw.PullRequestRequest{
		Project: o.project, Base: o.base, Title: o.title, Draft: o.draft, Forge: cw.Forge(o.forge), Account: o.account, BaseURL: o.baseURL,
		Env: daemon.ForRemote(a.env), GitHubToken: a.token(cw.ForgeGitHub), GitLabToken: a.token(cw.ForgeGitLab),
	}
	if file := o.bodyFile.value; file != nil {
		if *file == "" {
			return req, usagef("--body-file is empty").WithHint("name a file, or - for stdin")
		}
		data, err := a.readFile("--body-file", *file, cw.PullRequestBodyMax)
		if err != nil {
			return req, err
		}
		req.Body = string(data)
		if err := checkText("the text", req.Body); err != nil {
			return req, err
		}
	}
	return req, req.Check()
}

// token is the caller's token for a forge.
func (a *app) token(f cw.Forge) cw.Secret {
	for _, name := range f.TokenVariables() {
		if value := a.env[name]; value != "" {
			return cw.NewSecret(value)
		}
	}
	return cw.Secret{}
}
