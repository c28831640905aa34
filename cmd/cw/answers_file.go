package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"cw/internal/cw"
)

// answersMax bounds a file of answers.
const answersMax = 16 << 20

// answersHint tells what a file of answers looks like.
const answersHint = `it is one JSON object from question id to answer, like {"ID": "text"}, or {"ID": ["label", "label"]} where several may be chosen`

// namedAnswer is one entry of a file of answers, as it was written.
type namedAnswer struct {
	name   string
	value  string
	labels []string // instead of value
	isList bool
}

// readAnswers reads a file of answers: one JSON object, each key once, each
// value a string or an array of strings. CodeInvalid.
func readAnswers(data []byte) ([]namedAnswer, error) {
	if !utf8.Valid(data) { // the decoder would put other characters in its place
		return nil, errAnswers("the answers are not UTF-8 text", nil)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errAnswers("the answers are no JSON object", err)
	}
	var out []namedAnswer
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, errAnswers("the answers are no JSON object", err)
		}
		name, _ := key.(string) // a key is always one
		if slices.ContainsFunc(out, func(n namedAnswer) bool { return n.name == name }) {
			return nil, errAnswers(fmt.Sprintf("the answers name %.60q twice", name), nil)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, errAnswers("the answers are no JSON object", err)
		}
		given, ok := readAnswerValue(raw)
		if !ok {
			return nil, errAnswers(fmt.Sprintf("the answer to %.60q is neither a text nor a list of labels", name), nil)
		}
		given.name = name
		out = append(out, given)
	}
	if _, err := dec.Token(); err != nil {
		return nil, errAnswers("the answers are no JSON object", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errAnswers("something follows the JSON object of the answers", nil)
	}
	if len(out) == 0 {
		return nil, errAnswers("there is no answer in the JSON object", nil)
	}
	return out, nil
}

// readAnswerValue reads a string or an array of strings; null is neither.
func readAnswerValue(raw json.RawMessage) (given namedAnswer, ok bool) {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return namedAnswer{}, false
	}
	switch value := value.(type) {
	case string:
		return namedAnswer{value: value}, true
	case []any:
		given.isList = true
		for _, item := range value {
			label, ok := item.(string)
			if !ok {
				return namedAnswer{}, false
			}
			given.labels = append(given.labels, label)
		}
		return given, true
	}
	return namedAnswer{}, false
}

func errAnswers(what string, err error) *cw.Error {
	e := usagef("%s", what).WithHint("%s", answersHint)
	if err == nil {
		return e
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return e.Because(err)
}

// matchAnswers finds the question of each answer: by its id, or by the agent's
// own name for it where only one question has that. What names no open question
// is unknown. CodeInvalid for an answer that is none, and for two to one
// question.
func matchAnswers(given []namedAnswer, open []cw.QuestionView) (answers map[cw.QuestionID]string, unknown []string, err error) {
	answers = make(map[cw.QuestionID]string, len(given))
	for _, g := range given {
		q, ok := findQuestion(g.name, open)
		if !ok {
			unknown = append(unknown, g.name)
			continue
		}
		if _, twice := answers[q.ID]; twice {
			return nil, nil, errAnswers(fmt.Sprintf("question %s is answered twice: once by its id, once as %.60q", q.ID, q.Key), nil)
		}
		answer, err := g.answer(q.Question)
		if err != nil {
			return nil, nil, err
		}
		answers[q.ID] = answer
	}
	return answers, unknown, nil
}

// answer makes the answer to a question.
func (g namedAnswer) answer(q cw.Question) (string, error) {
	if g.isList {
		return q.Choose(g.labels...)
	}
	return pick(q, g.value)
}

// findQuestion finds the question that is meant by a name.
func findQuestion(name string, open []cw.QuestionView) (cw.QuestionView, bool) {
	var named []cw.QuestionView
	for _, q := range open {
		if string(q.ID) == name {
			return q, true
		}
		if q.Key == name {
			named = append(named, q)
		}
	}
	if len(named) != 1 {
		return cw.QuestionView{}, false
	}
	return named[0], true
}

// errUnknownQuestions lists what names no open question.
func errUnknownQuestions(unknown []string, open []cw.QuestionView) *cw.Error {
	for i, name := range unknown {
		unknown[i] = cut(oneLine(name), titleMax)
	}
	return cw.Errorf(cw.CodeNotFound, "nothing was answered: %s has no open question %s", open[0].Agent, strings.Join(unknown, ", ")).
		WithHint("open: %s", questionNames(open))
}
