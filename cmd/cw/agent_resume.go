package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

type agentResumeOptions struct {
	app    *app
	ref    string
	words  []string
	fresh  bool
	follow bool
}

func newAgentResumeCmd(a *app, runF func(context.Context, *agentResumeOptions) error) *cobra.Command {
	opts := &agentResumeOptions{app: a}
	cmd := &cobra.Command{
		Use:   "resume NAME [TEXT...]",
		Short: "Let an agent at rest go on, with more instructions",
		Long: `Start another run of an agent that is idle, crashed or stopped: in the same
worktree, which is made again when it was cleaned up, and in the same session of
its CLI. Where the CLI cannot go on with that session it begins a new one, and is
told what happened before.

--fresh begins a new session in any case: for one that went astray, or is so full
that each step costs too much. The agent gets its instructions again and a
hand-over: what was said, the end of its log and its notes in progress.md.

TEXT is what it is to do now, - for stdin; without it the agent is told how its
last run ended, and to go on. The command returns once the CLI runs.

An agent that waits for answers goes on by cw agent answer, one that runs takes
more instructions by cw agent send.`,
		Example: `cw agent resume brave-otter
cw agent resume brave-otter "the tests of the lexer, too"
cw agent resume brave-otter --fresh "leave the lexer as it is"
cw agent resume brave-otter --follow - < review.md`,
		Annotations: exits(
			"0  the CLI runs; with --follow: as cw run",
			"4  it runs already, waits for answers, or is removed",
		),
		Args: nameAndText(&opts.ref, &opts.words),
		RunE: start(a, runF, agentResumeRun, opts),
	}
	hyphensBehind(cmd, "a text", `brave-otter -- "-v prints nothing"`)
	cmd.Flags().BoolVar(&opts.fresh, "fresh", false, "begin a new session, told what happened before")
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "watch the agent to its end, as cw run does")
	return cmd
}

// nameAndText puts the first argument and those behind it into the options.
func nameAndText(name *string, words *[]string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		*words = args[min(len(args), 1):]
		return oneArg(name, agentWhat)(cmd, args[:min(len(args), 1)])
	}
}

func agentResumeRun(ctx context.Context, o *agentResumeOptions) error {
	a := o.app
	text, err := a.textOf(o.words)
	if err != nil {
		return err
	}
	if len(o.words) > 0 && strings.TrimSpace(text) == "" {
		return usagef("the text is empty").WithHint("leave it out, and the agent is told to go on")
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	before, err := svc.Agent(ctx, o.ref)
	if err != nil {
		return err
	}
	began := a.now()
	agent, err := uncut(ctx, a, "the agent is just being started; a moment (Ctrl-C again to leave at once)",
		func(ctx context.Context) (cw.AgentView, error) {
			return svc.Resume(ctx, string(before.ID), cw.ResumeRequest{Text: text, Fresh: o.fresh, Env: daemon.ForAgent(home, a.env)})
		})
	switch {
	case wentAway(err):
		return cw.Errorf(cw.CodeUnreachable, "the daemon went away, and does not say whether %s goes on", before.Alias).
			WithHint("what it stored goes on by itself: cw agent show %s", before.Alias).Because(err)
	case err != nil:
		return err
	case o.follow:
		return a.watchNext(ctx, svc, before, began)
	case a.json:
		return a.printJSON(agent)
	}
	a.printf("%s goes on: run %d\n", agent.Alias, agent.SessionNumber)
	a.note("watch it with cw agent attach %s", agent.Alias)
	return nil
}

// textOf is a text that is given as words, - for stdin. CodeInvalid when an
// agent cannot be given it.
func (a *app) textOf(words []string) (string, error) {
	text := strings.Join(words, " ")
	text, err := a.readText("the text", text, cw.MessageMax)
	if err != nil {
		return "", err
	}
	return text, cw.CheckText("the text", text)
}
