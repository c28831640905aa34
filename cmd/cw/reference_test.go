package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cw/internal/cw"
)

const (
	referencePath = "../../docs/cli.md"
	// wordsMax is how long a short description may be.
	wordsMax = 70
)

// TestReference: docs/cli.md is what the commands say about themselves.
func TestReference(t *testing.T) {
	t.Parallel()
	got := reference(newRootCmd(newBench(t).app))
	if *update {
		if err := os.WriteFile(referencePath, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/cli.md is old; go generate ./cmd/cw writes it anew (-want +got):\n%s", diff)
	}
}

// TestCommandsAreDescribed: every command and flag says what it is for, in the
// same manner.
func TestCommandsAreDescribed(t *testing.T) {
	t.Parallel()
	for _, c := range commands(newRootCmd(newBench(t).app)) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || len(c.Short) > wordsMax {
			t.Errorf("%s: short description %q", c.CommandPath(), c.Short)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: --%s has no description", c.CommandPath(), f.Name)
			}
		})
	}
}

// commands are all commands that people see, in the order of the reference.
func commands(root *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, commands(c)...)
		}
	}
	return out
}

func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# The command line\n\nMade from the commands themselves by `go generate ./cmd/cw`.\n\n")
	b.WriteString(root.Long + "\n\n")
	b.WriteString("Every command takes `--json`, which prints one JSON value on stdout (JSON lines for\n" +
		"streams) and errors as JSON on stderr, and `-h`. Messages for people go to stderr.\n" +
		"`CW_HOME` is the folder that holds everything of cw, by default `~/.cw`.\n" +
		"`NO_COLOR` turns colours off.\n\n")
	b.WriteString("## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, row := range exitCodes() {
		fmt.Fprintf(&b, "| %d | %s |\n", row.code, row.text)
	}
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n", strings.TrimSuffix(group.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID != group.ID || !c.IsAvailableCommand() || c.Name() == "help" {
				continue
			}
			for _, each := range commands(c) {
				if each.HasAvailableSubCommands() && each.Annotations[exitsKey] == "" { // it only holds others
					continue
				}
				describe(&b, each)
			}
		}
	}
	return b.String()
}

func describe(b *strings.Builder, c *cobra.Command) {
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	c.InitDefaultHelpFlag()
	fmt.Fprintf(b, "\n### %s\n\n```\n%s\n```\n\n%s\n", c.CommandPath(), c.UseLine(), text)
	var flags []string
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		_, usage := pflag.UnquoteUsage(f)
		flags = append(flags, fmt.Sprintf("| %s | %s%s |", flagName(f), strings.ReplaceAll(usage, "|", "\\|"), byDefault(f)))
	})
	if len(flags) > 0 {
		fmt.Fprintf(b, "\n| flag | |\n|---|---|\n%s\n", strings.Join(flags, "\n"))
	}
	if text := c.Annotations[exitsKey]; text != "" {
		b.WriteString("\nExit codes:\n\n")
		for line := range strings.Lines(text) {
			code, meaning, _ := strings.Cut(strings.TrimSpace(line), "  ")
			fmt.Fprintf(b, "- %s: %s\n", code, meaning)
		}
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.TrimSpace(strings.ReplaceAll(c.Example, "\n  ", "\n")))
	}
}

func flagName(f *pflag.Flag) string {
	name := "`--" + f.Name
	kind, _ := pflag.UnquoteUsage(f)
	if kind != "" {
		name += " " + kind
	}
	name += "`"
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	return name
}

// byDefault tells the default of a flag, unless it is nothing.
func byDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return ""
	}
	return " (default: " + f.DefValue + ")"
}

type exitCode struct {
	code int
	text string
}

// exitCodes are all exit codes that the program has; the test below compares
// them with the table that decides.
func exitCodes() []exitCode {
	return []exitCode{
		{0, "it worked"},
		{1, "it was tried and failed"},
		{2, "the command line is wrong"},
		{3, "what was named does not exist"},
		{4, "refused: not allowed, or not in this state"},
		{5, "the daemon cannot be reached"},
		{6, "the time is over; what was begun goes on"},
		{7, "an answer of a person is needed first"},
		{130, "interrupted; what was begun goes on"},
	}
}

func TestExitCodesAreAllDescribed(t *testing.T) {
	t.Parallel()
	described := map[int]bool{}
	for _, row := range exitCodes() {
		described[row.code] = true
	}
	for code, outcome := range cw.Outcomes() {
		if !described[outcome.ExitCode] {
			t.Errorf("exit code %d (%s) is not described", outcome.ExitCode, code)
		}
	}
}
