package main

import (
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// otherTools returns the command that a word means which other tools have as a
// top-level command, "" for none.
func otherTools(word string) string {
	return map[string]string{
		"ls": "cw agent list", "ps": "cw agent list", "list": "cw agent list",
		"attach": "cw agent attach", "show": "cw agent show", "diff": "cw agent diff", "resume": "cw agent resume",
		"kill": "cw agent stop", "rm": "cw agent remove", "remove": "cw agent remove", "spawn": "cw agent spawn", "new": "cw run",
		"login": "cw account login", "auth": "cw account", "tasks": "cw task list", "init": "cw project add",
		"version": "cw --version", "start": "cw serve", "queue": "cw merge list", "land": "cw merge", "dashboard": "cw open", "ui": "cw open",
	}[word]
}

// suggest returns the command that was probably meant by a word that is no
// command of cmd, "" when none is near: at most a third of its letters differ.
func suggest(cmd *cobra.Command, word string) string {
	if !cmd.HasParent() {
		if other := otherTools(strings.ToLower(word)); other != "" {
			return other
		}
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	name, ok := cw.Nearest(word, names)
	if !ok || 3*cw.EditDistance(word, name) > len(word) {
		return ""
	}
	return cmd.CommandPath() + " " + name
}

// newHelpCmd makes `cw help`, which unlike cobra's refuses words that are no
// command.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Show the help of a command",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range found.Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), begun) {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return onlyGroup(found, rest)
			}
			return found.Help()
		},
	}
}
