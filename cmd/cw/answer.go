package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type answerOptions struct {
	app          *app
	answer       string
	conversation string
}

func newAnswerCmd(a *app, runF func(context.Context, *answerOptions) error) *cobra.Command {
	opts := &answerOptions{app: a}
	cmd := &cobra.Command{
		Use:   "answer ANSWER",
		Short: "For agents: answer a question of another agent",
		Long: `Answer a question that cw listen gave you. An ANSWER of - is read from stdin; after
-- it may begin with a hyphen. A question is answered once; the same answer again
changes nothing.

People answer what agents ask them with cw question answer.`,
		Example: "cw answer \"The new one, in parser/\" --conversation-id k7m2qxw4abcd\ncw answer - --conversation-id k7m2qxw4abcd < notes.md",
		Annotations: exits(
			"0  answered",
			"4  you were not asked; it is answered otherwise or cancelled; or you are no agent",
			"5  no daemon answers for 30 seconds",
		),
		Args: oneArg(&opts.answer, "an answer"),
	}
	run := start(a, runF, answerRun, opts)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if opts.conversation == "" {
			return usagef("answer needs --conversation-id").WithHint("it is in what cw listen printed; people answer with cw question answer")
		}
		return run(cmd, args)
	}
	hyphensBehind(cmd, "an answer", "--conversation-id k7m2qxw4abcd -- -v")
	cmd.Flags().StringVar(&opts.conversation, "conversation-id", "", "the `ID` of the conversation, from cw listen")
	return cmd
}

// answered is what cw answer prints.
type answered struct {
	ConversationID cw.ConversationID     `json:"conversationId"`
	Status         cw.ConversationStatus `json:"status"`
}

func answerRun(ctx context.Context, o *answerOptions) error {
	a := o.app
	text, err := a.readText("the answer", o.answer, cw.ConversationTextMax)
	if err != nil {
		return err
	}
	req := cw.ConversationAnswer{Answer: text}
	if err := req.Check(); err != nil {
		return err
	}
	if err := a.onlyAgents("answer", "people answer what agents ask them with cw question answer"); err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	patient, cancel := context.WithTimeoutCause(ctx, insideMax, errTimeUp)
	defer cancel()
	view, err := svc.AnswerConversation(patient, o.conversation, req)
	if timeUp(patient, err) {
		return cw.Errorf(cw.CodeUnreachable, "the daemon did not say within %s whether it has the answer", insideMax).
			WithHint("answer again with the same words; a question is answered once")
	}
	if err != nil {
		return err
	}
	return a.printJSONLine(answered{view.ID, view.Status})
}
