package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentAnswerOptions struct {
	app    *app
	ref    string
	file   string
	follow bool
}

func newAgentAnswerCmd(a *app, runF func(context.Context, *agentAnswerOptions) error) *cobra.Command {
	opts := &agentAnswerOptions{app: a}
	cmd := &cobra.Command{
		Use:   "answer NAME",
		Short: "Answer what an agent asks, so that it goes on",
		Long: `Answer the open questions of an agent. On a terminal they are asked one after the
other: type the mark of an option, or several with commas where several may be
chosen, or words of yours. The answers are sent together at the end: who leaves
before has answered nothing.

With --answers they come from a file: one JSON object from question id, or the
agent's own name for the question, to the answer: a text, a label, or a list of
labels. Nothing is answered unless all of it is valid.

When the last open question is answered the agent goes on, in the same worktree
and the same session. Once it was acknowledged, an answer is never lost.`,
		Example: `cw agent answer brave-otter
echo '{"k7m2qxw4abcd": "The new one"}' | cw agent answer brave-otter --answers -`,
		Annotations: exits(
			"0  answered; with --follow: as cw run",
			"2  the answers are none, or there is no terminal to ask on",
			"4  the agent asks nothing, or the question is answered already",
			"7  you left with Ctrl-D; nothing was answered",
		),
		Args: oneArg(&opts.ref, agentWhat),
		RunE: start(a, runF, agentAnswerRun, opts),
	}
	cmd.Flags().StringVar(&opts.file, "answers", "", "read the answers from this JSON `FILE`, - for stdin")
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "watch the agent to its end, as cw run does")
	return cmd
}

func agentAnswerRun(ctx context.Context, o *agentAnswerOptions) error {
	a := o.app
	var given []namedAnswer
	if o.file != "" {
		data, err := a.readFile("--answers", o.file, answersMax)
		if err != nil {
			return err
		}
		if given, err = readAnswers(data); err != nil {
			return err
		}
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	agent, err := svc.Agent(ctx, o.ref)
	if err != nil {
		return err
	}
	answers, err := o.answers(ctx, svc, agent, given)
	if err != nil {
		return err
	}
	began := a.now()
	answered, err := a.answer(ctx, svc, answers)
	if err != nil {
		return err
	}
	if o.follow {
		return a.watchNext(ctx, svc, agent, began)
	}
	return a.printAnswered(ctx, svc, answered)
}

// answers are those of the file, or what a person says.
func (o *agentAnswerOptions) answers(ctx context.Context, svc cw.Services, agent cw.AgentView, given []namedAnswer) (map[cw.QuestionID]string, error) {
	open := viewsOf(agent)
	switch {
	case given == nil && len(open) == 0:
		return nil, errAsksNothing(agent)
	case given == nil && !o.app.asks():
		return nil, errNoTerminal(open)
	case given == nil:
		return o.app.askFor(ctx, open)
	}
	answers, unknown, err := matchAnswers(given, open)
	if err != nil || len(unknown) == 0 {
		return answers, err
	}
	for _, name := range unknown { // one that was answered says more than "unknown"
		if !cw.IsID(name) {
			continue
		}
		if q, err := svc.Question(ctx, name); err == nil && q.AgentID == agent.ID && q.Status != cw.QuestionOpen {
			return nil, errNotOpen(q)
		}
	}
	if len(open) == 0 {
		return nil, errAsksNothing(agent)
	}
	return nil, errUnknownQuestions(unknown, open)
}

func errAsksNothing(v cw.AgentView) *cw.Error {
	return cw.Errorf(cw.CodeRefused, "%s asks nothing; it is %s%s", v.Alias, v.Status, bracketed(string(v.Reason))).
		WithHint("cw agent send %s \"...\" tells it something", v.Alias)
}
