package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// asks tells whether a person can be asked: there is a terminal to read from
// and to write to, and no program reads the answer.
func (a *app) asks() bool { return a.inTTY && a.errTTY && !a.json }

// asker asks a person on a terminal.
type asker struct {
	in    *lineReader
	out   io.Writer
	paint paint
	// forget drops what was typed before anybody asked.
	forget func()
}

func (a *app) newAsker() *asker {
	return &asker{in: newLineReader(a.in), out: a.err, paint: a.paint(a.errTTY), forget: a.forget}
}

// askAll asks one question after the other. Nothing is sent on the way: who
// leaves in the middle has answered nothing. io.EOF when the terminal is closed
// (Ctrl-D), else the end of ctx.
func (k *asker) askAll(ctx context.Context, questions []cw.QuestionView) (map[cw.QuestionID]string, error) {
	k.fresh()
	answers := make(map[cw.QuestionID]string, len(questions))
	for i, q := range questions {
		answer, err := k.ask(ctx, i+1, len(questions), q)
		if err != nil {
			fmt.Fprintln(k.out) // what follows begins a line
			return nil, err
		}
		answers[q.ID] = answer
	}
	return answers, nil
}

// fresh drops what was typed before anybody asked.
func (k *asker) fresh() {
	if k.forget != nil {
		k.forget()
		k.in.drop()
	}
}

// choose asks until one of the words is given, or how it begins. io.EOF and the
// end of ctx as askAll.
func (k *asker) choose(ctx context.Context, prompt string, words ...string) (string, error) {
	for {
		typed, err := k.words(ctx, prompt)
		if err != nil {
			return "", err
		}
		for _, word := range words {
			if typed != "" && strings.HasPrefix(word, strings.ToLower(typed)) {
				return word, nil
			}
		}
	}
}

// words asks for a line, which may be empty.
func (k *asker) words(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(k.out, k.paint.bold("  "+prompt))
	line, err := k.line(ctx)
	if err != nil {
		fmt.Fprintln(k.out) // what follows begins a line
	}
	return strings.TrimSpace(line), err
}

// ask asks until there is an answer.
func (k *asker) ask(ctx context.Context, i, n int, q cw.QuestionView) (string, error) {
	head := fmt.Sprintf("%s asks", oneLine(q.Agent))
	if n > 1 {
		head += fmt.Sprintf(" (%d of %d)", i, n)
	}
	printQuestion(k.out, k.paint, head, q.Question)
	if how := howToAnswer(q.Question); how != "" {
		fmt.Fprintf(k.out, "  %s\n", k.paint.dim(how))
	}
	for {
		fmt.Fprint(k.out, k.paint.bold("  answer: "))
		line, err := k.line(ctx)
		if err != nil {
			return "", err
		}
		answer, err := readAnswer(q.Question, line)
		if err == nil {
			if answer != strings.TrimSpace(line) {
				fmt.Fprintf(k.out, "  %s\n", k.paint.dim(oneLine(cw.AnswerText(answer))))
			}
			return answer, nil
		}
		what := strings.TrimPrefix(err.Error(), fmt.Sprintf("question %s: ", q.ID))
		fmt.Fprintf(k.out, "  %s\n", k.paint.yellow(oneLine(what)))
	}
}

// line reads one line. Where ctx ends first it is left to who reads next.
func (k *asker) line(ctx context.Context) (string, error) {
	select {
	case l := <-k.in.next():
		k.in.taken()
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readAnswer makes an answer of what a person typed: the mark of an option, or
// several with commas where several may be chosen; a label; else free text. A
// line that looks like a mark of nothing is more likely a slip than an answer:
// with = before it, it is one.
func readAnswer(q cw.Question, line string) (string, error) {
	text := strings.TrimSpace(line)
	if words, ok := strings.CutPrefix(text, "="); ok {
		return q.CheckAnswer(words)
	}
	if slices.Contains(q.Labels(), text) {
		return q.Choose(text)
	}
	marks := optionMarks(q)
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	var labels, wrong []string
	for _, word := range words {
		if i := slices.Index(marks, strings.ToLower(word)); i >= 0 {
			labels = append(labels, q.Options[i].Label)
		} else {
			wrong = append(wrong, word)
		}
	}
	switch _, err := strconv.Atoi(strings.Join(wrong, "")); {
	case len(marks) == 0, len(words) == 0:
	case len(wrong) == 0:
		return q.Choose(labels...)
	case err == nil && marks[0] == "1":
		return "", cw.Errorf(cw.CodeInvalid, "there is no option %s; =%s is taken as words", strings.Join(wrong, ", "), text)
	}
	return q.CheckAnswer(text)
}

// optionMarks are what people type for the options: numbers, or letters where
// a label is a number itself.
func optionMarks(q cw.Question) []string {
	numbers := !slices.ContainsFunc(q.Labels(), func(label string) bool {
		_, err := strconv.Atoi(strings.TrimSpace(label))
		return err == nil
	})
	marks := make([]string, len(q.Options))
	for i := range marks {
		if numbers || i >= 26 {
			marks[i] = strconv.Itoa(i + 1)
		} else {
			marks[i] = string(rune('a' + i))
		}
	}
	return marks
}

// printQuestion shows a question with its options, marked as they are typed.
func printQuestion(w io.Writer, p paint, head string, q cw.Question) {
	if q.Header != "" {
		head += ": " + oneLine(q.Header)
	}
	fmt.Fprintf(w, "\n%s\n  %s\n", p.yellow(head), strings.ReplaceAll(clean(q.Text), "\n", "\n  "))
	for i, mark := range optionMarks(q) {
		o := q.Options[i]
		fmt.Fprintf(w, "  %3s  %s", mark, oneLine(o.Label))
		if o.Description != "" {
			fmt.Fprintf(w, "  %s", p.dim(oneLine(o.Description)))
		}
		fmt.Fprintln(w)
	}
	if len(q.Options) > 1 && q.MultiSelect {
		fmt.Fprintf(w, "  %s\n", p.dim("several may be chosen"))
	}
}

// howToAnswer says what a person may type.
func howToAnswer(q cw.Question) string {
	switch marks := optionMarks(q); {
	case len(marks) > 1 && q.MultiSelect:
		return fmt.Sprintf("one, or several like %s,%s; or words of yours", marks[0], marks[1])
	case len(marks) > 0:
		return "one of them, or words of yours"
	}
	return ""
}
