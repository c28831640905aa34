package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type providerShowOptions struct {
	app  *app
	name string
}

func newProviderShowCmd(a *app, runF func(context.Context, *providerShowOptions) error) *cobra.Command {
	opts := &providerShowOptions{app: a}
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show everything about a provider, with what is known to go wrong",
		Long: `Show everything that cw knows about a provider: where its preset comes from and
what a file of yours changes in it, the program, the command lines of a first run
and of one that goes on, and what is known to go wrong. Words in braces stand for
values; credentials are not shown.`,
		Args: oneArg(&opts.name, providerWhat),
		RunE: start(a, runF, providerShowRun, opts),
	}
}

func providerShowRun(ctx context.Context, o *providerShowOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	v, err := svc.Provider(ctx, o.name, a.env["PATH"])
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(v)
	}
	a.printProvider(v)
	return nil
}

func (a *app) printProvider(v cw.ProviderView) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s\n", p.bold(oneLine(v.Name)), oneLine(v.Title))
	facts(a.out, "  ", [][2]string{
		{"trouble", clean(v.Trouble)},
		{"not logged in", clean(v.NotLoggedIn)},
		{"aliases", oneLine(strings.Join(v.Aliases, ", "))},
		{"from", originFact(v)},
		{"program", programFact(v)},
		{"version", versionFact(v)},
		{"first run", commandLine(v.SpawnArgv)},
		{"goes on", commandLine(v.ResumeArgv)},
		{"sets", oneLine(strings.Join(v.EnvNames, ", "))},
		{"accounts", accountsFact(v)},
		{"resume", resumeFact(v)},
		{"session id", sessionIDFact(v)},
		{"prompt", v.Prompt},
		{"output", formatFact(v)},
		{"signal", signalFact(v.Signal)},
		{"driver", v.Driver},
		{"mcp", v.MCP},
		{"sandbox", yes(v.Sandbox)},
		{"patience", patienceFact(v)},
		{"stop", stopFact(v)},
		{"runs", runsFact(v)},
	})
	if len(v.Traps) > 0 {
		a.printf("  what to know\n")
	}
	for _, trap := range v.Traps {
		a.printf("    - %s\n", oneLine(trap))
	}
}

// originFact says where a preset comes from, and what a file of the user's does
// to a built-in one.
func originFact(v cw.ProviderView) string {
	switch {
	case v.Origin == cw.OriginEmbedded:
		return "built in"
	case v.Overrides == "":
		return oneLine(v.Origin)
	case v.Overrides == v.Name:
		return fmt.Sprintf("%s, in the place of the built-in one\nchanged: %s", oneLine(v.Origin), listed(v.Changes))
	}
	return fmt.Sprintf("%s, which extends %s\nchanged: %s", oneLine(v.Origin), v.Overrides, listed(v.Changes))
}

func listed(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return oneLine(strings.Join(list, ", "))
}

func programFact(v cw.ProviderView) string {
	switch {
	case v.Command != "":
		return oneLine(v.Command)
	case v.Installed:
		return "a file for each agent: --script"
	case v.Install != "":
		return "not installed; install it with: " + oneLine(v.Install)
	}
	return ""
}

func versionFact(v cw.ProviderView) string {
	if v.Minimum == "" {
		return v.Version
	}
	return strings.TrimPrefix(fmt.Sprintf("%s (%s or newer is needed)", oneLine(v.Version), v.Minimum), " ")
}

func accountsFact(v cw.ProviderView) string {
	if len(v.AccountEnv) == 0 {
		return ""
	}
	return fmt.Sprintf("those of %s, by %s", v.Accounts, oneLine(strings.Join(v.AccountEnv, ", ")))
}

func sessionIDFact(v cw.ProviderView) string {
	switch v.SessionID {
	case "uuid":
		return "chosen by cw"
	case "none":
		return "none that is told"
	}
	if v.SessionID == "" {
		return ""
	}
	return "told by the output: " + strings.ReplaceAll(v.SessionID, "-", " ")
}

func formatFact(v cw.ProviderView) string {
	if v.Parser == "" || v.Structured {
		return v.Parser
	}
	return v.Parser + ", text alone"
}

func signalFact(signal string) string {
	switch signal {
	case "agent":
		return "agent: it writes the signal itself"
	case "derived":
		return "derived: cw judges by its exit, commits and known errors"
	}
	return signal
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

func patienceFact(v cw.ProviderView) string {
	if v.Silence == 0 {
		return ""
	}
	text := fmt.Sprintf("silent for %s, %s while a tool runs", span(v.Silence), span(v.ToolSilence))
	if v.Retrying > 0 {
		text += fmt.Sprintf("; nothing but retries for %s", span(v.Retrying))
	}
	return text
}

func stopFact(v cw.ProviderView) string {
	if v.StopSignal == "" {
		return ""
	}
	return fmt.Sprintf("%s, and KILL after %s", v.StopSignal, span(v.StopGrace))
}

func runsFact(v cw.ProviderView) string {
	switch {
	case v.Runs == 0 && v.Resume == "": // nothing is known of it
		return ""
	case v.Runs == 0:
		return "none yet"
	case v.UnknownLines == 0:
		return count(v.Runs, "run")
	}
	return fmt.Sprintf("%s, with %s that cw does not know: a newer version of the program may write another format",
		count(v.Runs, "run"), count(v.UnknownLines, "line"))
}
