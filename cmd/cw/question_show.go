package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type questionShowOptions struct {
	app *app
	id  string
}

func newQuestionShowCmd(a *app, runF func(context.Context, *questionShowOptions) error) *cobra.Command {
	opts := &questionShowOptions{app: a}
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a question, its options and its answer",
		Args:  oneArg(&opts.id, questionWhat),
		RunE:  start(a, runF, questionShowRun, opts),
	}
}

func questionShowRun(ctx context.Context, o *questionShowOptions) error {
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	q, err := svc.Question(ctx, o.id)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(q)
	}
	o.app.printQuestionView(q)
	return nil
}

func (a *app) printQuestionView(q cw.QuestionView) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s\n", p.bold(string(q.ID)), q.Status)
	rows := [][2]string{
		{"agent", oneLine(q.Agent)},
		{"asked", elapsed(a.now().Sub(q.CreatedAt)) + " ago"},
		{"its own name", oneLine(q.Key)},
	}
	if q.Status == cw.QuestionAnswered {
		rows = append(rows, [2]string{"answer", clean(cw.AnswerText(q.Answer))}, [2]string{"answered by", oneLine(q.AnsweredBy)})
		if q.AnsweredAt != nil {
			rows = append(rows, [2]string{"answered", elapsed(a.now().Sub(*q.AnsweredAt)) + " ago"})
		}
	}
	facts(a.out, "  ", rows)
	printQuestion(a.out, p, "question", q.Question)
	if q.Status == cw.QuestionOpen {
		a.printf("\nnext:\n  %s\n  cw agent answer %s\n", answerCommand(q.Question), q.Agent)
	}
}
