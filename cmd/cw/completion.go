package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// completeMax is how long a completion may take: a person waits at the prompt.
const completeMax = time.Second

type completionOptions struct {
	app   *app
	shell string
	root  *cobra.Command
}

func newCompletionCmd(a *app, runF func(context.Context, *completionOptions) error) *cobra.Command {
	opts := &completionOptions{app: a}
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print the completion script of a shell",
		Example: `source <(cw completion bash)
cw completion zsh > "${fpath[1]}/_cw"
cw completion fish > ~/.config/fish/completions/cw.fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args:      oneArg(&opts.shell, "a shell: bash, zsh or fish"),
	}
	run := start(a, runF, completionRun, opts)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.root = cmd.Root()
		return run(cmd, args)
	}
	return cmd
}

func completionRun(_ context.Context, o *completionOptions) error {
	switch o.shell {
	case "bash":
		return o.root.GenBashCompletionV2(o.app.out, true)
	case "zsh":
		return o.root.GenZshCompletion(o.app.out)
	case "fish":
		return o.root.GenFishCompletion(o.app.out, true)
	}
	return usagef("there is no completion for %q", o.shell).WithHint("there is one for bash, zsh and fish")
}

// completeAgents offers the names of agents, of those newest ones that one page
// holds. It never starts a daemon, and offers nothing rather than an error.
func completeAgents(a *app, f cw.AgentFilter) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.HasSuffix(cmd.Use, "...") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeMax)
		defer cancel()
		svc, err := a.reach(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		f.Limit = cw.PageMax
		page, err := svc.Agents(ctx, f)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, v := range page.Items {
			names = append(names, cobra.CompletionWithDesc(v.Alias, string(v.Status)+", "+oneLine(v.Title)))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
