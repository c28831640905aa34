package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"cw/internal/cw"
)

// decisionFlags are the flags that answer what a decision asks.
type decisionFlags struct {
	answers []string
	file    optionalText
}

func (f *decisionFlags) define(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.answers, "answer", nil, "answer what a decision asks: `ID=ANSWER`, an option or words; once for each question, and more often where several may be chosen")
	fl.Var(&f.file, "answers", "the same from a `FILE` with a JSON object from id to answer, - for stdin")
}

func (f *decisionFlags) given() bool { return len(f.answers) > 0 || f.file.value != nil }

// read gives the answers, each question once. CodeInvalid.
func (f *decisionFlags) read(a *app) ([]namedAnswer, error) {
	var out []namedAnswer
	if f.file.value != nil {
		data, err := a.readFile("--answers", *f.file.value, answersMax)
		if err != nil {
			return nil, err
		}
		if out, err = readAnswers(data); err != nil {
			return nil, err
		}
	}
	inFile := len(out)
	for _, word := range f.answers {
		name, value, is := strings.Cut(word, "=")
		name = strings.TrimSpace(name)
		switch {
		case !is || name == "":
			return nil, usagef("--answer %.60q names no question", word).WithHint("it is ID=ANSWER; cw task show ID shows the questions with their ids")
		case !utf8.ValidString(word): // JSON would put other characters in its place
			return nil, usagef("the answer to %.60q is not UTF-8 text", name).WithHint("convert it, for example with iconv -t utf-8")
		}
		switch i := slices.IndexFunc(out, func(n namedAnswer) bool { return n.name == name }); {
		case i < 0:
			out = append(out, namedAnswer{name: name, value: value})
		case i < inFile:
			return nil, usagef("%.60q is answered twice: by --answer and by --answers", name).WithHint("give one answer")
		default:
			g := &out[i]
			if !g.isList {
				g.isList, g.labels = true, []string{g.value}
			}
			g.labels = append(g.labels, value)
		}
	}
	return out, nil
}

// answersTo makes the answers to what a decision asks. What was not given is
// asked for on a terminal; what is missing or not asked elsewhere is the daemon's
// to refuse.
func (a *app) answersTo(ctx context.Context, t cw.Task, given []namedAnswer) (map[string]string, error) {
	if len(given)+len(t.Questions) == 0 {
		return nil, nil
	}
	answers := make(map[string]string, len(given))
	for _, g := range given {
		answers[g.name] = g.value
		i := slices.IndexFunc(t.Questions, func(q cw.TaskQuestion) bool { return q.ID == g.name })
		if i < 0 || !g.isList {
			continue
		}
		var err error
		if answers[g.name], err = t.Questions[i].Choose(g.labels...); err != nil {
			return nil, err
		}
	}
	var open []cw.QuestionView
	for _, q := range t.Questions {
		if _, is := answers[q.ID]; !is {
			open = append(open, cw.QuestionView{Question: q.Question(), Agent: t.Name})
		}
	}
	if len(open) == 0 || len(answers)+len(open) > len(t.Questions) || !a.asks() {
		return answers, nil
	}
	asked, err := a.newAsker().askAll(ctx, open)
	for id, answer := range asked {
		answers[string(id)] = answer
	}
	hint := fmt.Sprintf("cw task done %s --answer %s=ANSWER", t.ID, open[0].ID)
	switch {
	case err == nil:
		return answers, nil
	case ctx.Err() != nil:
		return nil, cw.Errorf(cw.CodeInterrupted, "you left; nothing was decided").WithHint("%s", hint)
	case errors.Is(err, io.EOF):
		return nil, cw.Errorf(cw.CodeWaiting, "nothing was decided").WithHint("%s", hint)
	}
	return nil, fmt.Errorf("read from the terminal: %w", err)
}

// printTaskQuestions shows what a decision asks, with the answers, or how it is
// answered.
func (a *app) printTaskQuestions(t cw.Task) {
	p := a.paint(a.outTTY)
	for _, q := range t.Questions {
		printQuestion(a.out, p, oneLine(q.ID), q.Question())
		if q.Answer != "" {
			a.printf("  %s\n", p.bold("→ "+strings.ReplaceAll(clean(q.Question().AnswerText()), "\n", "\n    ")))
		}
	}
	if len(t.Questions) == 0 || !t.AwaitsVerdict() {
		return
	}
	a.printf("\nnext:\n  cw task done %s", t.ID)
	for _, q := range t.Questions {
		a.printf(" --answer %s", answerWord(q))
	}
	a.printf("\n")
}

// answerWord is what --answer takes for the first option of a question.
func answerWord(q cw.TaskQuestion) string {
	for _, o := range q.Options {
		if o.Label == oneLine(o.Label) { // else it could not be typed
			return cw.ShellWord(q.ID + "=" + o.Label)
		}
	}
	return q.ID + "='YOUR ANSWER'"
}
