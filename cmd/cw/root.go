package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// The groups in which `cw --help` shows the commands.
const (
	groupWork   = "work"
	groupDaemon = "daemon"
	groupInside = "inside"
	groupOther  = "other"
)

// newRootCmd makes the tree of all commands.
func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "cw",
		Short: "Run coding agents as a team",
		Long: `cw runs coding agents as a team. An agent is the CLI of a provider (claude, codex,
or any program of yours), started headless in a worktree of its own. cw watches
it, keeps every byte it writes, and hands over its work as a branch.`,
		Example:       "cw demo\ncw run \"make the tests of the parser pass\"\ncw agent list",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          onlyGroup,
	}
	root.SetVersionTemplate("cw {{.Version}}\n")
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if number := negativeNumber(err); number != "" {
			return flagError(err).WithHint("a negative number goes after --, for example: %s ... -- %s", cmd.CommandPath(), number)
		}
		return flagError(err).WithHint("%s --help lists the flags", cmd.CommandPath())
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON value on stdout (JSON lines for streams)")
	root.AddGroup(
		&cobra.Group{ID: groupWork, Title: "Work:"},
		&cobra.Group{ID: groupDaemon, Title: "The daemon:"},
		&cobra.Group{ID: groupInside, Title: "For agents, inside of their runs:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	addGroup(root, groupWork, newRunCmd(a, nil), newOpenCmd(a, nil), newTopCmd(a, nil), newInboxCmd(a, nil), newAgentCmd(a), newQuestionCmd(a), newConversationCmd(a), newInitiativeCmd(a), newPageCmd(a), newPhaseCmd(a), newTaskCmd(a), newProposalCmd(a), newPRCmd(a), newPromptCmd(a),
		newDispatchCmd(a), newMergeCmd(a, nil),
		newProjectCmd(a), newProviderCmd(a), newAccountCmd(a),
		newCostCmd(a, nil), newBudgetCmd(a), newEventsCmd(a, nil),
		newDemoCmd(a, nil))
	addGroup(root, groupDaemon, newServeCmd(a, nil), newStopCmd(a, nil), newRestartCmd(a, nil),
		newStatusCmd(a, nil), newLogsCmd(a, nil), newDoctorCmd(a, nil), newNotifyCmd(a), newTokenCmd(a),
		newGCCmd(a, nil), newBackupCmd(a, nil), newRecoverCmd(a, nil), newServiceCmd(a), newUninstallCmd(a, nil))
	addGroup(root, groupInside, newAskCmd(a, nil), newListenCmd(a, nil), newAnswerCmd(a, nil))
	addGroup(root, groupOther, newConfigCmd(a), newIDCmd(a, nil), newMCPCmd(a, nil), newHookCmd(a), newACPCmd(a, nil), newCompletionCmd(a, nil))
	root.SetHelpCommand(newHelpCmd())
	root.SetHelpCommandGroupID(groupOther)
	indentExamples(root)
	return root
}

// indentExamples sets the examples off in the help texts, as the rest is.
func indentExamples(cmd *cobra.Command) {
	if cmd.Example != "" {
		cmd.Example = "  " + strings.ReplaceAll(cmd.Example, "\n", "\n  ")
	}
	for _, c := range cmd.Commands() {
		indentExamples(c)
	}
}

func addGroup(root *cobra.Command, group string, cmds ...*cobra.Command) {
	for _, c := range cmds {
		c.GroupID = group
		root.AddCommand(c)
	}
}

// start makes cobra's RunE of a command: runF when a test gives one, else run.
// From here on the arguments are understood.
func start[O any](a *app, runF, run func(context.Context, *O) error, opts *O) func(*cobra.Command, []string) error {
	if runF == nil {
		runF = run
	}
	return func(cmd *cobra.Command, _ []string) error {
		a.understood = true
		return runF(cmd.Context(), opts)
	}
}

// newGroupCmd makes a command that only holds others.
func newGroupCmd(use, short string, cmds ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: onlyGroup,
	}
	group.AddCommand(cmds...)
	return group
}

// onlyGroup is what a command does that only holds others.
func onlyGroup(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	err := usagef("%s has no command %q", title(cmd), args[0])
	if near := suggest(cmd, args[0]); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("%s --help lists the commands", cmd.CommandPath())
}

// title is a command's name in a sentence: every error says `cw:` already.
func title(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return "cw"
	}
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, and got %q", title(cmd), args[0]).WithHint("%s --help", cmd.CommandPath())
	}
	return nil
}

// noEmptyFlags refuses flags that were given with nothing in them: they would be
// as if they were left out, and a script's variable was to be in there.
func noEmptyFlags(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return usagef("--%s is empty", name).WithHint("name one, or leave the flag out")
		}
	}
	return nil
}

// oneArg puts the only argument into the options. what says what it is.
func oneArg(into *string, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usagef("%s needs %s", title(cmd), what).WithHint("usage: %s", cmd.UseLine())
		case len(args) > 1:
			return usagef("%s takes one argument, and got %d", title(cmd), len(args)).WithHint("usage: %s", cmd.UseLine())
		case strings.TrimSpace(args[0]) == "":
			return usagef("%s needs %s, and got an empty one", title(cmd), what).WithHint("usage: %s", cmd.UseLine())
		}
		*into = args[0]
		return nil
	}
}

// optionalArg puts the only argument, which may be missing, into the options.
func optionalArg(into *string, what string) cobra.PositionalArgs {
	one := oneArg(into, what)
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return one(cmd, args)
	}
}

// anyArgs puts all arguments into the options.
func anyArgs(into *[]string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		*into = args
		return nil
	}
}

// exits documents exit codes that are special to a command, for the reference.
func exits(pairs ...string) map[string]string {
	return map[string]string{exitsKey: strings.Join(pairs, "\n")}
}

// exitsKey is where a command keeps its exit codes.
const exitsKey = "cw/exits"
