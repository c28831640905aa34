package mcp

import (
	"context"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
)

type signalQuestionsArgs struct {
	Questions []cw.SignalQuestion `json:"questions"`
}

func signalQuestions() tool {
	option := &field{kind: object, short: "label", fields: []field{
		{name: "label", about: "the answer in a few words", kind: text, needed: true, most: 4 * cw.ToolLabelMax},
		{name: "description", about: "what it means", kind: text},
	}}
	question := &field{kind: object, short: "question", fields: []field{
		{name: "question", about: "the question, complete in itself", kind: text, needed: true, most: cw.QuestionTextMax},
		{name: "id", about: "a name of yours for it", kind: text, most: 128},
		{name: "header", about: "a word or two for a chip, at most 12 characters", kind: text},
		{name: "options", about: "answers to choose from", kind: list, most: 20, of: option},
		{name: "multiSelect", about: "several options may be chosen; default false", kind: flag},
	}}
	return with(tool{
		name: cw.ToolSignalAsk, title: "Signal that you wait for answers", again: true,
		about: "Write the signal that you cannot go on before people answer. Commit first. Then end your turn: you are resumed with the answers.",
		fields: []field{{name: "questions", about: "1 to 100 questions", kind: list, needed: true, least: 1,
			most: cw.SignalQuestionsMax, of: question}},
	}, func(_ context.Context, c call, args signalQuestionsArgs) (any, error) {
		for i, q := range args.Questions {
			if err := checkSignalQuestion(i, q); err != nil {
				return nil, err
			}
		}
		return c.signal(signalContents{Status: cw.SignalQuestions, Questions: args.Questions})
	})
}

// checkSignalQuestion refuses what a signal would be cut to.
func checkSignalQuestion(i int, q cw.SignalQuestion) error {
	if n := utf8.RuneCountInString(q.Header); n > cw.QuestionHeaderMax {
		return cw.Errorf(cw.CodeInvalid, "the argument questions[%d].header has %d characters, at most %d are taken", i, n, cw.QuestionHeaderMax).
			WithHint("give a word or two, or leave it out")
	}
	labels := map[string]bool{}
	for j, o := range q.Options {
		label := strings.ToLower(strings.TrimSpace(o.Label))
		if labels[label] {
			return cw.Errorf(cw.CodeInvalid, "the argument questions[%d].options[%d].label is there twice", i, j).WithHint("labels must differ")
		}
		labels[label] = true
	}
	return nil
}
