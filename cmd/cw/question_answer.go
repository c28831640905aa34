package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type questionAnswerOptions struct {
	app     *app
	words   []string // ids, and perhaps an answer
	options []string
	text    string
	hasText bool
}

func newQuestionAnswerCmd(a *app, runF func(context.Context, *questionAnswerOptions) error) *cobra.Command {
	opts := &questionAnswerOptions{app: a}
	cmd := &cobra.Command{
		Use:   "answer [ID...] [ANSWER]",
		Short: "Answer questions of agents",
		Long: `Answer a question: with one of its options by --option, in words by --text, or
with ANSWER, which is an option when it is exactly its label, and words otherwise.
An ANSWER or --text of - is read from stdin.

Without any of them you are asked on the terminal, one question after the other,
for those named or for all that are open. The answers are sent together at the
end: who leaves before has answered nothing.

When the last open question of an agent is answered, the agent goes on.`,
		Example: `cw question answer
cw question answer k7m2qxw4abcd --option "The new one"
cw question answer k7m2qxw4abcd --option A --option B
cw question answer k7m2qxw4abcd "Neither: write a third one"
cw question answer k7m2qxw4abcd --text - < answer.md`,
		Annotations: exits(
			"0  answered",
			"2  the answer is none, or there is no terminal to ask on",
			"4  the question is answered already (the error says how), or withdrawn",
			"7  you left with Ctrl-D; nothing was answered",
		),
		Args: anyArgs(&opts.words),
	}
	run := start(a, runF, questionAnswerRun, opts)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.hasText = cmd.Flags().Changed("text")
		return run(cmd, args)
	}
	hyphensBehind(cmd, "an answer", "k7m2qxw4abcd -- -v")
	fl := cmd.Flags()
	fl.StringArrayVar(&opts.options, "option", nil, "choose the option with this `LABEL`; may be repeated where several may be chosen")
	fl.StringVar(&opts.text, "text", "", "answer with this `TEXT`, - for stdin")
	return cmd
}

func questionAnswerRun(ctx context.Context, o *questionAnswerOptions) error {
	a := o.app
	if err := o.check(); err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	answers, err := o.answers(ctx, svc)
	if err != nil {
		return err
	}
	answered, err := a.answer(ctx, svc, answers)
	if err != nil {
		return err
	}
	return a.printAnswered(ctx, svc, answered)
}

// check refuses what is wrong whatever the questions are.
func (o *questionAnswerOptions) check() error {
	by := len(o.options) > 0 || o.hasText
	switch {
	case len(o.options) > 0 && o.hasText:
		return usagef("--option and --text exclude each other").WithHint("give one answer")
	case by && len(o.words) == 0:
		return usagef("question answer needs %s", questionWhat).WithHint("cw question list shows the open ones")
	case by && len(o.words) > 1:
		return usagef("one answer is for one question, and %d arguments were given", len(o.words)).
			WithHint("an answer is given as an argument, by --option or by --text: one of them")
	}
	for _, word := range o.words[:max(len(o.words)-1, 0)] {
		if !cw.IsID(word) {
			return usagef("%.60q is no id of a question", word).
				WithHint("cw question list shows the open ones; an answer of several words needs quotes")
		}
	}
	return nil
}

// answers finds the answers, wherever they come from.
func (o *questionAnswerOptions) answers(ctx context.Context, svc cw.Services) (map[cw.QuestionID]string, error) {
	ids := o.words
	text, given := o.text, o.hasText
	if len(ids) == 2 && !given {
		is, err := isQuestion(ctx, svc, ids[1])
		if err != nil {
			return nil, err
		}
		if !is {
			text, given, ids = ids[1], true, ids[:1]
		}
	}
	if given || len(o.options) > 0 {
		return o.one(ctx, svc, ids[0], text)
	}
	questions, err := openQuestions(ctx, svc, ids)
	switch {
	case err != nil:
		return nil, err
	case len(questions) == 0:
		return nil, cw.Errorf(cw.CodeRefused, "nobody waits for an answer").WithHint("cw question list --status all shows older questions")
	case !o.app.asks():
		return nil, errNoTerminal(questions)
	}
	return o.app.askFor(ctx, questions)
}

// one makes the answer to one question.
func (o *questionAnswerOptions) one(ctx context.Context, svc cw.Services, id, text string) (map[cw.QuestionID]string, error) {
	q, err := svc.Question(ctx, id)
	if err != nil {
		return nil, err
	}
	if q.Status != cw.QuestionOpen {
		return nil, errNotOpen(q)
	}
	if len(o.options) > 0 {
		answer, err := q.Choose(o.options...)
		return map[cw.QuestionID]string{q.ID: answer}, err
	}
	if text, err = o.app.readText("the answer", text, cw.AnswerMax); err != nil {
		return nil, err
	}
	choose := pick
	if o.hasText {
		choose = cw.Question.CheckAnswer
	}
	answer, err := choose(q.Question, text)
	return map[cw.QuestionID]string{q.ID: answer}, err
}

// isQuestion tells whether a word is the id of a question, and not an answer
// that looks like one.
func isQuestion(ctx context.Context, svc cw.Services, word string) (bool, error) {
	if !cw.IsID(word) {
		return false, nil
	}
	_, err := svc.Question(ctx, word)
	if cw.ErrorCode(err) == cw.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

// openQuestions are those with these ids, or all that are open.
func openQuestions(ctx context.Context, svc cw.Services, ids []string) ([]cw.QuestionView, error) {
	if len(ids) == 0 {
		return allQuestions(ctx, svc, cw.QuestionFilter{Statuses: []cw.QuestionStatus{cw.QuestionOpen}})
	}
	var questions []cw.QuestionView
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		q, err := svc.Question(ctx, id)
		if err != nil {
			return nil, err
		}
		if q.Status != cw.QuestionOpen {
			return nil, errNotOpen(q)
		}
		questions = append(questions, q)
	}
	return questions, nil
}

// errNotOpen says what became of a question.
func errNotOpen(q cw.QuestionView) *cw.Error {
	if q.Status == cw.QuestionWithdrawn {
		return cw.Errorf(cw.CodeRefused, "question %s needs no answer any more: %s was removed", q.ID, oneLine(q.Agent)).
			WithHint("cw agent restore %s brings the agent back", q.Agent)
	}
	return cw.Errorf(cw.CodeRefused, "question %s is answered already: %s", q.ID, cut(oneLine(cw.AnswerText(q.Answer)), summaryMax)).
		WithHint("cw agent send %s \"...\" tells the agent more", q.Agent)
}
