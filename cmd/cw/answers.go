package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"cw/internal/cw"
)

// answer sends answers, all of them or none.
func (a *app) answer(ctx context.Context, svc cw.Services, answers map[cw.QuestionID]string) ([]cw.QuestionView, error) {
	answered, err := svc.Answer(ctx, cw.AnswersRequest{Answers: answers})
	if ctx.Err() == nil && wentAway(err) {
		first := slices.Min(slices.Collect(maps.Keys(answers)))
		return nil, cw.Errorf(cw.CodeUnreachable, "the daemon went away, and does not say whether it has %s", plural(len(answers), "the answer", "the answers")).
			WithHint("cw question show %s tells; what it has is never lost", first).Because(err)
	}
	return answered, err
}

// answerFor answers questions of an agent that is watched, and gives it as it is
// then. That somebody else answered meanwhile is said, and no error.
func (a *app) answerFor(ctx context.Context, svc cw.Services, agent cw.AgentView, answers map[cw.QuestionID]string) (cw.AgentView, error) {
	_, err := a.answer(ctx, svc, answers)
	switch cw.ErrorCode(err) {
	case "":
	case cw.CodeRefused:
		a.note("%s", err.Error())
	default:
		return agent, err
	}
	if now, err := svc.Agent(ctx, string(agent.ID)); err == nil {
		return now, nil
	}
	return agent, nil // the next look tells what is wrong
}

// printAnswered tells what was answered, and who goes on.
func (a *app) printAnswered(ctx context.Context, svc cw.Services, answered []cw.QuestionView) error {
	if a.json {
		return a.printJSON(append([]cw.QuestionView{}, answered...))
	}
	p := a.paint(a.outTTY)
	for _, q := range answered {
		a.printf("%s  %s  %s\n", q.ID, cut(oneLine(q.Text), titleMax), p.bold("→ "+oneLine(cw.AnswerText(q.Answer))))
	}
	a.noteGoingOn(ctx, svc, answered)
	return nil
}

// noteGoingOn tells what becomes of the agents now. The answers are in: nothing
// that fails here is a failure of the command.
func (a *app) noteGoingOn(ctx context.Context, svc cw.Services, answered []cw.QuestionView) {
	told := map[cw.AgentID]bool{}
	for _, q := range answered {
		if told[q.AgentID] {
			continue
		}
		told[q.AgentID] = true
		v, err := svc.Agent(ctx, string(q.AgentID))
		switch {
		case err != nil:
		case len(v.PendingQuestions) > 0:
			a.note("%s still waits for %s: cw agent answer %s", v.Alias, count(len(v.PendingQuestions), "answer"), v.Alias)
		case v.Status == cw.StatusCrashed || v.Status == cw.StatusStopped:
			a.note("%s is %s; it has %s when it goes on: cw agent resume %s", v.Alias, v.Status, plural(len(answered), "the answer", "the answers"), v.Alias)
		default:
			a.note("%s goes on; watch it with cw agent attach %s", v.Alias, v.Alias)
		}
	}
}

// pick makes an answer of one text: a label when it is one, else free text.
func pick(q cw.Question, text string) (string, error) {
	if slices.Contains(q.Labels(), text) {
		return q.Choose(text)
	}
	return q.CheckAnswer(text)
}

// askFor asks a person for all answers and sends them together.
func (a *app) askFor(ctx context.Context, questions []cw.QuestionView) (map[cw.QuestionID]string, error) {
	answers, err := a.newAsker().askAll(ctx, questions)
	switch {
	case err == nil:
		return answers, nil
	case ctx.Err() != nil:
		return nil, cw.Errorf(cw.CodeInterrupted, "you left; nothing was answered").WithHint("%s", waysToAnswer(questions))
	case errors.Is(err, io.EOF):
		return nil, cw.Errorf(cw.CodeWaiting, "nothing was answered").WithHint("%s", waysToAnswer(questions))
	}
	return nil, fmt.Errorf("read from the terminal: %w", err)
}

// errNoTerminal is the error of a command that would ask and cannot: the
// questions, and how they are answered without a terminal.
func errNoTerminal(questions []cw.QuestionView) *cw.Error {
	return usagef("there is no terminal to ask on; open: %s", questionNames(questions)).WithHint("%s", waysToAnswer(questions))
}

// questionNames are ids, each with what the question is about.
func questionNames(questions []cw.QuestionView) string {
	var names []string
	for _, q := range questions {
		about := q.Header
		if about == "" {
			about = cut(oneLine(q.Text), titleMax)
		}
		names = append(names, string(q.ID)+bracketed(oneLine(about)))
	}
	return strings.Join(names, ", ")
}

// waysToAnswer are the commands that answer these questions.
func waysToAnswer(questions []cw.QuestionView) string {
	name := questions[0].Agent
	if slices.ContainsFunc(questions, func(q cw.QuestionView) bool { return q.Agent != name }) {
		name = "NAME"
	}
	ways := fmt.Sprintf("cw agent answer %s on a terminal, or --answers FILE with a JSON object from id to answer", name)
	if len(questions) == 1 {
		return answerCommand(questions[0].Question) + "; or " + ways
	}
	return ways + "; or cw question answer ID ANSWER for one"
}

// answerCommand is the command that answers a question.
func answerCommand(q cw.Question) string {
	for _, label := range q.Labels() {
		if label == oneLine(label) { // else it could not be typed
			return fmt.Sprintf("cw question answer %s --option %s", q.ID, cw.ShellWord(label))
		}
	}
	return fmt.Sprintf("cw question answer %s 'YOUR ANSWER'", q.ID)
}

// viewsOf are the questions of an agent with its name.
func viewsOf(v cw.AgentView) []cw.QuestionView {
	views := make([]cw.QuestionView, len(v.PendingQuestions))
	for i, q := range v.PendingQuestions {
		views[i] = cw.QuestionView{Question: q, Agent: v.Alias}
	}
	return views
}

// readText reads a text that a flag or an argument gives, or stdin for -. It
// reads a little more than most bytes, so that a longer text is noticed.
func (a *app) readText(what, text string, most int) (string, error) {
	if text != stdinName {
		return text, nil
	}
	b, err := io.ReadAll(io.LimitReader(a.in, int64(most)+1))
	if err != nil {
		return "", usagef("%s cannot be read from stdin", what).WithHint("give it as an argument").Because(err)
	}
	return string(b), nil
}

// readFile reads a file that a flag names, or stdin for -, up to a limit.
func (a *app) readFile(flag, name string, most int64) ([]byte, error) {
	in := a.in
	hint := fmt.Sprintf("%s names a file that you can read, or - for stdin", flag)
	if name != stdinName {
		path, err := a.abs(name)
		if err != nil {
			return nil, err
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, usagef("%s %s cannot be read", flag, oneLine(name)).WithHint("%s", hint).Because(err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return nil, usagef("%s %s cannot be read", flag, oneLine(name)).WithHint("%s", hint).Because(err)
	case int64(len(b)) > most:
		return nil, usagef("%s %s is larger than %s", flag, oneLine(name), size(most)).WithHint("%s", hint)
	}
	return b, nil
}
