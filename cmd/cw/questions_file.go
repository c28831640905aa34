package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"cw/internal/cw"
)

// questionsMax bounds a file of questions.
const questionsMax = 1 << 20

// questionsHint tells what a file of questions looks like.
const questionsHint = `it is a JSON array, like [{"id": "colour", "question": "Which colour?", "options": ["blue", "red"]}]; ` +
	`a question may be its text alone, and have header and multiSelect; an option may be {"label": "blue", "description": "as the logo"}`

// questionsFlag defines --questions, the file with what a decision asks.
func questionsFlag(fl *pflag.FlagSet, into *optionalText) {
	fl.Var(into, "questions", "read what a decision asks, a JSON array, from this `FILE`; - for stdin")
}

// questions reads what --questions names; nil without the flag. CodeInvalid.
func (a *app) questions(file optionalText) (*[]cw.TaskQuestion, error) {
	if file.value == nil {
		return nil, nil
	}
	data, err := a.readFile("--questions", *file.value, questionsMax)
	if err != nil {
		return nil, err
	}
	questions, err := readQuestions(data)
	return &questions, err
}

// orNone gives the questions, nil for none.
func orNone(questions *[]cw.TaskQuestion) []cw.TaskQuestion {
	if questions == nil {
		return nil
	}
	return *questions
}

// readQuestions reads a file of questions. What it says beside what is known is
// refused: it would be lost in silence. CodeInvalid.
func readQuestions(data []byte) ([]cw.TaskQuestion, error) {
	if !utf8.Valid(data) { // the decoder would put other characters in its place
		return nil, usagef("the questions are not UTF-8 text").WithHint("%s", questionsHint)
	}
	var items []json.RawMessage
	if err := decodeAll(data, &items); err != nil || items == nil {
		return nil, usagef("the questions are no JSON array").WithHint("%s", questionsHint).Because(err)
	}
	if len(items) == 0 {
		return nil, usagef("there is no question in the JSON array").WithHint("%s", questionsHint)
	}
	out := make([]cw.TaskQuestion, len(items))
	for i, item := range items {
		if err := readQuestion(item, &out[i]); err != nil {
			return nil, usagef("question %d is none", i+1).WithHint("%s", questionsHint).Because(err)
		}
	}
	return out, nil
}

func readQuestion(data []byte, into *cw.TaskQuestion) error {
	if isString(data) {
		return json.Unmarshal(data, &into.Text)
	}
	var q struct {
		ID          string            `json:"id"`
		Header      string            `json:"header"`
		Question    string            `json:"question"`
		Options     []json.RawMessage `json:"options"`
		MultiSelect bool              `json:"multiSelect"`
	}
	if err := decodeAll(data, &q); err != nil {
		return err
	}
	*into = cw.TaskQuestion{ID: q.ID, Header: q.Header, Text: q.Question, MultiSelect: q.MultiSelect}
	for i, item := range q.Options {
		var o cw.QuestionOption
		err := decodeAll(item, &o)
		if isString(item) {
			err = json.Unmarshal(item, &o.Label)
		}
		if err != nil {
			return fmt.Errorf("option %d: %w", i+1, err)
		}
		into.Options = append(into.Options, o)
	}
	return nil
}

func isString(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) }

// decodeAll reads one JSON value of known fields, and nothing behind it.
func decodeAll(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}
