package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type askOptions struct {
	app      *app
	question string
	from     string
	agent    string
	task     string
	phase    string
	queue    bool
	wake     bool
	timeout  time.Duration
}

func newAskCmd(a *app, runF func(context.Context, *askOptions) error) *cobra.Command {
	opts := &askOptions{app: a}
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "For agents: ask another agent and wait for its answer",
		Long: `Ask another agent and print its answer, and nothing else, on stdout. A QUESTION
of - is read from stdin; after -- it may begin with a hyphen. Asked is an agent,
the agent that does a task, or an agent of a phase: of several the one with the
fewest open questions, then the one that was asked longest ago. Who it is is said
on stderr.

An agent that does not run is asked with --queue, in its next run, or with --wake,
which resumes it. Who asks is what cw knows of the caller, never what it says.

The wait survives a restart of the daemon. When --timeout is over the question
stays open: its answer is in your next prompt.`,
		Example: "cw ask \"Which parser do you use?\" --agent-id calm-fox\ncw ask \"Is the schema final?\" --task-id k7m2qxw4abcd --queue --timeout 10m",
		Annotations: exits(
			"0  answered; the answer is on stdout",
			"3  there is no such agent, task or phase",
			"4  refused: nobody is there to ask, you would wait for each other, a limit; or cancelled, with the reason",
			"5  no daemon was there before --timeout was over, or for 30 seconds outside of a run",
			"6  --timeout is over; the question stays open, and its answer is in your next prompt",
		),
		Args: oneArg(&opts.question, "a question"),
	}
	run := start(a, runF, askRun, opts)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := noEmptyFlags(cmd, "from", "agent-id", "task-id", "phase-id"); err != nil {
			return err
		}
		return run(cmd, args)
	}
	hyphensBehind(cmd, "a question", `--agent-id calm-fox -- "-v prints nothing?"`)
	fl := cmd.Flags()
	fl.StringVar(&opts.agent, "agent-id", "", "ask this agent: its id or `NAME`")
	fl.StringVar(&opts.task, "task-id", "", "ask the agent that does the task with this `ID`")
	fl.StringVar(&opts.phase, "phase-id", "", "ask an agent of the phase with this `ID`")
	fl.StringVar(&opts.from, "from", "", "your own `ID`; any other is refused (default: your own)")
	fl.BoolVar(&opts.queue, "queue", false, "wait for an agent that is at rest, or for one that is still to come")
	fl.BoolVar(&opts.wake, "wake", false, "resume an agent that is at rest")
	fl.DurationVar(&opts.timeout, "timeout", 0, "stop waiting after this `TIME`, like 10m (default: never)")
	return cmd
}

func askRun(ctx context.Context, o *askOptions) error {
	a := o.app
	req, err := o.request()
	if err != nil {
		return err
	}
	if err := a.onlyAgents("ask", askInstead); err != nil {
		return err
	}
	ctx, cancel := upTo(ctx, o.timeout)
	defer cancel()
	svc, err := a.stay(ctx)
	if err != nil {
		return err
	}
	asked, err := svc.Ask(ctx, req)
	if timeUp(ctx, err) {
		return cw.Errorf(cw.CodeUnreachable, "the daemon did not say within %s whether it has the question", o.timeout).
			WithHint("ask again; you may be answered twice")
	}
	if err != nil {
		return err
	}
	a.noteAsked(asked)
	answered, err := svc.AwaitConversation(ctx, string(asked.ID))
	switch {
	case timeUp(ctx, err):
		return cw.Errorf(cw.CodeTimeout, "%s did not answer within %s; the question stays open", whoever(asked.To), o.timeout).
			WithHint("go on without the answer: when it comes after your run, it is in your next prompt (conversation %s)", asked.ID)
	case err != nil:
		return err
	}
	return a.printAnswer(answered)
}

// request makes the request. CodeInvalid for what can never be asked.
func (o *askOptions) request() (cw.AskRequest, error) {
	named := 0
	for _, target := range []string{o.agent, o.task, o.phase} {
		if target != "" {
			named++
		}
	}
	if named != 1 {
		return cw.AskRequest{}, usagef("ask takes exactly one of --agent-id, --task-id and --phase-id, and got %d", named).
			WithHint("cw agent list shows the agents, with their tasks and phases")
	}
	if o.timeout < 0 {
		return cw.AskRequest{}, usagef("--timeout %s is negative", o.timeout)
	}
	text, err := o.app.readText("the question", o.question, cw.ConversationTextMax)
	if err != nil {
		return cw.AskRequest{}, err
	}
	req := cw.AskRequest{
		RequestKey: cw.NewID(), From: o.from, Question: text, AgentID: o.agent, TaskID: cw.TaskID(o.task), PhaseID: cw.PhaseID(o.phase),
		Queue: o.queue, Wake: o.wake,
	}
	return req, req.Check()
}

// askInstead is what people do rather than ask and listen as agents do.
const askInstead = "you are no agent: cw agent send NAME TEXT tells one something, cw conversation list shows what they ask each other"

// onlyAgents refuses people, before a daemon is started for them. What the daemon
// makes of the caller is its own business.
func (a *app) onlyAgents(what, instead string) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	if a.inside(home) {
		return nil
	}
	return cw.Errorf(cw.CodeForbidden, "cw %s is for agents, inside of their runs", what).WithHint("%s", instead)
}

// upTo bounds a wait; 0: not at all.
func upTo(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, timeout, errTimeUp)
}

// timeUp tells whether a call failed because the time of upTo is over.
func timeUp(ctx context.Context, err error) bool {
	return err != nil && errors.Is(context.Cause(ctx), errTimeUp)
}

// noteAsked says who was chosen, where the caller did not, and what an answer
// has to wait for.
func (a *app) noteAsked(c cw.ConversationView) {
	if c.TargetKind != cw.AskedAgent && c.To != "" {
		a.note("asked %s (%s)", oneLine(c.To), c.ToAgentID)
	}
	switch {
	case c.Status != cw.ConversationPending:
	case c.Reason != "":
		a.note("%s; the question waits", oneLine(c.Reason))
	case c.To == "":
		a.note("nobody works on %s %s yet; the question waits", c.TargetKind, oneLine(c.TargetID))
	}
}

func whoever(to string) string {
	if to == "" {
		return "nobody"
	}
	return oneLine(to)
}

// printAnswer prints the words of an answer as they are: an agent reads them. A
// terminal gets them made safe.
func (a *app) printAnswer(c cw.ConversationView) error {
	switch {
	case c.Status == cw.ConversationCancelled:
		return cw.Errorf(cw.CodeRefused, "nobody will answer: %s", c.Reason).
			WithHint("go on without the answer, or ask another agent: cw agent list (conversation %s)", c.ID)
	case a.json:
		return a.printJSON(c)
	}
	text := c.Answer
	if a.outTTY {
		text = clean(text)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	a.printf("%s", text)
	return nil
}
