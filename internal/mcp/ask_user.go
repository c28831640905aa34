package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"cw/internal/cw"
)

type askUserArgs struct {
	Questions []cw.ToolQuestion `json:"questions"`
}

// userAnswers is what people said.
type userAnswers struct {
	Status    string       `json:"status"` // answered
	RequestID cw.RequestID `json:"requestId"`
	Answers   []userAnswer `json:"answers"`
}

type userAnswer struct {
	Header   string   `json:"header"`
	Question string   `json:"question"`
	Answer   string   `json:"answer,omitempty"`
	Chosen   []string `json:"chosen,omitempty"` // where several may be chosen and labels were
	// Withdrawn says why there is no answer.
	Withdrawn string `json:"withdrawn,omitempty"`
}

// useSignal is the answer where a call may not wait for people.
type useSignal struct {
	Status     string         `json:"status"` // use_signal
	Message    string         `json:"message"`
	SignalPath string         `json:"signalPath"`
	Signal     signalContents `json:"signal"`
}

func questionFields() []field {
	option := &field{kind: object, short: "label", fields: []field{
		{name: "label", about: "the answer in a few words", kind: text, needed: true, most: 4 * cw.ToolLabelMax},
		{name: "description", about: "what it means", kind: text},
	}}
	return []field{
		{name: "question", about: "the question, complete in itself", kind: text, needed: true, most: cw.QuestionTextMax},
		{name: "header", about: "a word or two for a chip, at most 12 characters", kind: text, needed: true},
		{name: "options", about: "2 to 4 answers to choose from, with labels that differ; people may always answer in their own words, so no \"other\"",
			kind: list, needed: true, least: cw.ToolOptionsMin, most: cw.ToolOptionsMax, of: option},
		{name: "multiSelect", about: "several options may be chosen; default false", kind: flag},
	}
}

func askUser() tool {
	return with(tool{
		name: cw.ToolAskUser, title: "Ask people",
		about: "Ask people, when you cannot go on without a decision of theirs. 1 to 4 questions with 2 to 4 options each. " +
			"The answer is what they said, or, where your CLI cannot wait for people, how to ask them by the signal.",
		fields: []field{{name: "questions", about: "1 to 4 questions", kind: list, needed: true, least: 1, most: cw.ToolQuestionsMax,
			of: &field{kind: object, fields: questionFields()}}},
		there: func(c Config) bool { return c.People != nil },
	}, askUserAct)
}

func askUserAct(ctx context.Context, c call, args askUserArgs) (any, error) {
	req := cw.PeopleRequest{RequestKey: cw.NewID(), ToolUseID: c.useID, Questions: args.Questions}
	if err := req.Check(); err != nil {
		return nil, err
	}
	if !c.box.AsksWait {
		return bySignal(args.Questions), nil
	}
	asked, err := quick(ctx, c, func(ctx context.Context) ([]cw.Question, error) { return c.People.AskPeople(ctx, req) })
	if err != nil {
		return nil, err
	}
	if len(asked) == 0 {
		return nil, fmt.Errorf("the daemon stored no question")
	}
	group, late, err := await(ctx, c, nil, func(ctx context.Context) ([]cw.Question, error) {
		return c.People.AwaitAnswers(ctx, asked[0].RequestID)
	})
	switch {
	case err != nil:
		return nil, err
	case late:
		return nil, cw.Errorf(cw.CodeTimeout, "nobody has answered yet; the question stays open").
			WithHint("do what does not depend on it, or write the questions signal and end: the answer is in your next prompt")
	}
	return answersOf(asked[0].RequestID, group), nil
}

func answersOf(id cw.RequestID, group []cw.Question) userAnswers {
	out := userAnswers{Status: "answered", RequestID: id}
	for _, q := range group {
		a := userAnswer{Header: q.Header, Question: q.Text, Answer: q.Answer}
		if q.Status == cw.QuestionWithdrawn {
			a.Withdrawn = q.Reason
			if a.Withdrawn == "" {
				a.Withdrawn = "it was withdrawn"
			}
		}
		var labels []string
		if q.MultiSelect && json.Unmarshal([]byte(q.Answer), &labels) == nil {
			a.Chosen = labels
		}
		out.Answers = append(out.Answers, a)
	}
	return out
}

// bySignal tells how the very same questions are asked by the signal.
func bySignal(questions []cw.ToolQuestion) useSignal {
	sig := signalContents{Status: cw.SignalQuestions}
	for i, q := range questions {
		sig.Questions = append(sig.Questions, cw.SignalQuestion{
			ID: fmt.Sprintf("q%d", i+1), Text: q.Question, Header: q.Header, Options: q.Options, MultiSelect: q.MultiSelect,
		})
	}
	return useSignal{
		Status: "use_signal", SignalPath: cw.SignalPath, Signal: sig,
		Message: "Your CLI cannot wait for people in a call, so nobody was asked yet. Commit what is done, then call signal_questions with these questions, " +
			"or write exactly this signal as JSON to " + cw.SignalPath + ", and end your turn. You are resumed with the answers.",
	}
}
