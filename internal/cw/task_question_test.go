package cw_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// decision is a decision that asks two questions.
func decision() cw.Task {
	return cw.Task{
		ID: "k3v7q2mzt5ha", Name: "Choose", Type: cw.TaskCheckpointDecide, Size: cw.SizeMedium, Priority: cw.PriorityMedium, Status: cw.TaskReady,
		Questions: []cw.TaskQuestion{
			{ID: "colour", Text: "Which colour\ndo we take?", Options: []cw.QuestionOption{{Label: "blue"}, {Label: "red", Description: "as the logo"}}},
			{ID: "sizes", Text: "Which sizes?", Options: []cw.QuestionOption{{Label: "S"}, {Label: "M"}}, MultiSelect: true},
		},
	}
}

// TestCheckTaskQuestions: only a decision asks, and only what can be answered.
func TestCheckTaskQuestions(t *testing.T) {
	t.Parallel()
	labels := func(n int) (out []cw.QuestionOption) {
		for i := range n {
			out = append(out, cw.QuestionOption{Label: fmt.Sprint(i)})
		}
		return out
	}
	many := make([]cw.TaskQuestion, cw.TaskQuestionsMax+1)
	for i := range many {
		many[i].Text = "What?"
	}
	long := strings.Repeat("x", cw.QuestionTextMax)
	tests := []struct {
		name      string
		kind      cw.TaskType
		questions []cw.TaskQuestion
		want      string // part of the error; "" for none
	}{
		{"none", cw.TaskAuto, nil, ""},
		{"a text alone", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: " What? "}}, ""},
		{"as many as may be", cw.TaskCheckpointDecide, many[1:], ""},
		{"as many options as may be", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?", Options: labels(cw.TaskOptionsMax), MultiSelect: true}}, ""},
		{"of a task for agents", cw.TaskAuto, []cw.TaskQuestion{{Text: "What?"}}, "of type auto asks no questions"},
		{"of a result", cw.TaskCheckpointVerify, []cw.TaskQuestion{{Text: "What?"}}, "asks no questions"},
		{"of an action", cw.TaskCheckpointAction, []cw.TaskQuestion{{Text: "What?"}}, "asks no questions"},
		{"too many", cw.TaskCheckpointDecide, many, "asks 21 questions"},
		{"too many options", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?", Options: labels(cw.TaskOptionsMax + 1)}}, "options has 21 entries"},
		{"no text", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?"}, {ID: "a", Text: " \n"}}, "question 2: question is empty"},
		{"no UTF-8", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What\xff?"}}, "not plain"},
		{"a zero byte", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?", Header: "a\x00"}}, "header is no line"},
		{"a header of two lines", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?", Header: "a\nb"}}, "header is no line"},
		{"a long header", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?", Header: strings.Repeat("ü", cw.QuestionHeaderMax+1)}}, "more than 12"},
		{"a long text", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: long + "x"}}, "at most 16384"},
		{"long together", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: long}, {Text: long}, {Text: "?"}}, "at most 32768"},
		{"an id with =", cw.TaskCheckpointDecide, []cw.TaskQuestion{{ID: "a=b", Text: "What?"}}, `id is "a=b"`},
		{"an id like a flag", cw.TaskCheckpointDecide, []cw.TaskQuestion{{ID: "-v", Text: "What?"}}, "id is"},
		{"an id of two words", cw.TaskCheckpointDecide, []cw.TaskQuestion{{ID: "a b", Text: "What?"}}, "id is"},
		{"a long id", cw.TaskCheckpointDecide, []cw.TaskQuestion{{ID: strings.Repeat("a", cw.TaskQuestionIDMax+1), Text: "What?"}}, "id is"},
		{"an id twice", cw.TaskCheckpointDecide, []cw.TaskQuestion{{ID: "a", Text: "What?"}, {ID: "A", Text: "Why?"}}, "two questions"},
		{"an id that another one got", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?"}, {ID: "q1", Text: "Why?"}}, "two questions"},
		{"an empty label", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?", Options: []cw.QuestionOption{{Label: " "}}}}, "options[0].label is empty"},
		{"a label twice", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?", Options: []cw.QuestionOption{{Label: "a"}, {Label: "A "}}}}, "another option"},
		{"several of none", cw.TaskCheckpointDecide, []cw.TaskQuestion{{Text: "What?", MultiSelect: true}}, "no options to choose from"},
	}
	for _, tt := range tests {
		task := cw.Task{Name: "task", Type: tt.kind, Size: cw.SizeMedium, Priority: cw.PriorityMedium, Questions: cw.FilledQuestions(tt.questions)}
		err := cw.CheckTask(task)
		if (err == nil) != (tt.want == "") || err != nil && (cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestFilledQuestions: what nobody said is filled in, and what was given stays as
// it was.
func TestFilledQuestions(t *testing.T) {
	t.Parallel()
	given := []cw.TaskQuestion{{Text: " A? ", Options: []cw.QuestionOption{{Label: " x ", Description: " y "}}}, {ID: " b ", Text: "B?", Options: []cw.QuestionOption{}}}
	want := []cw.TaskQuestion{{ID: "q1", Text: "A?", Options: []cw.QuestionOption{{Label: "x", Description: "y"}}}, {ID: "b", Text: "B?"}}
	if diff := cmp.Diff(want, cw.FilledQuestions(given)); diff != "" {
		t.Error(diff)
	}
	if given[0].Text != " A? " || given[0].Options[0].Label != " x " {
		t.Errorf("what was given became %+v", given)
	}
	if got := cw.FilledQuestions([]cw.TaskQuestion{}); got != nil {
		t.Errorf("of nothing: %#v", got)
	}
}

// TestDecide: all questions are answered at once, by what each allows; else it is
// told what is missing, and what can be said.
func TestDecide(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		answers     map[string]string
		want        []string // answers as they are stored
		err, hinted string
	}{
		{"labels", map[string]string{"colour": "red", "sizes": "M"}, []string{"red", `["M"]`}, "", ""},
		{"several labels", map[string]string{"colour": "blue", "sizes": `["M","S"]`}, []string{"blue", `["M","S"]`}, "", ""},
		{"words", map[string]string{"colour": " green, but\npale ", "sizes": "all of them"}, []string{"green, but\npale", "all of them"}, "", ""},
		{"words that look like labels", map[string]string{"colour": `["blue"]`, "sizes": "[x"}, []string{`["blue"]`, "[x"}, "", ""},
		{"nothing", nil, nil, "not answered: colour (Which colour do we take?), sizes (Which sizes?)", "cw task done k3v7q2mzt5ha --answer colour=ANSWER --answer sizes=ANSWER"},
		{"one of two", map[string]string{"sizes": "S"}, nil, "not answered: colour (", "--answer colour="},
		{"blanks", map[string]string{"colour": " ", "sizes": "S"}, nil, "question colour: the answer is empty", "options: blue, red"},
		{"no label", map[string]string{"colour": "red", "sizes": `["L"]`}, nil, `no option "L"`, "options: S, M"},
		{"a label twice", map[string]string{"colour": "red", "sizes": `["S","S"]`}, nil, "named twice", "options: S, M"},
		{"no UTF-8", map[string]string{"colour": "\xff", "sizes": "S"}, nil, "plain UTF-8", "words of yours"},
		{"too long", map[string]string{"colour": strings.Repeat("x", cw.AnswerMax+1), "sizes": "S"}, nil, "at most 65536", "options"},
		{"not asked", map[string]string{"colour": "red", "sizes": "S", "size": "S"}, nil, `does not ask "size"`, "did you mean sizes? It asks colour, sizes"},
		{"in another case", map[string]string{"Colour": "red", "sizes": "S"}, nil, `does not ask "Colour"`, "did you mean colour?"},
		{"an empty id", map[string]string{"": "red", "colour": "red", "sizes": "S"}, nil, `does not ask ""`, "it asks colour, sizes"},
	}
	for _, tt := range tests {
		task := decision()
		got, err := task.Decide(tt.answers)
		if err != nil || tt.err != "" {
			if tt.err == "" || cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), tt.err) || !strings.Contains(cw.ErrorHint(err), tt.hinted) || got != nil {
				t.Errorf("%s: %v (%s)", tt.name, err, cw.ErrorHint(err))
			}
			continue
		}
		var answers []string
		for _, q := range got {
			answers = append(answers, q.Answer)
		}
		if diff := cmp.Diff(tt.want, answers); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if diff := cmp.Diff(decision(), task); diff != "" {
			t.Errorf("%s: the task itself changed: %s", tt.name, diff)
		}
	}
	silent := cw.Task{Name: "Choose", Type: cw.TaskCheckpointDecide}
	if got, err := silent.Decide(nil); err != nil || len(got) > 0 {
		t.Errorf("a decision that asks nothing: %v, %v", got, err)
	}
	if _, err := silent.Decide(map[string]string{"colour": "red"}); cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), "asks no questions") {
		t.Errorf("an answer to nothing: %v", err)
	}
}

// TestDecideAnew: answers that were given before count for nothing.
func TestDecideAnew(t *testing.T) {
	t.Parallel()
	task := decision()
	task.Questions[0].Answer, task.Questions[1].Answer = "red", `["S"]`
	if _, err := task.Decide(map[string]string{"sizes": "M"}); err == nil || !strings.Contains(err.Error(), "not answered: colour") {
		t.Errorf("an old answer stands for a new one: %v", err)
	}
}

// TestDecidedText: whoever reads it knows what was asked and what was said.
func TestDecidedText(t *testing.T) {
	t.Parallel()
	questions, err := decision().Decide(map[string]string{"colour": "red", "sizes": `["M","S"]`})
	if err != nil {
		t.Fatal(err)
	}
	want := "colour: Which colour do we take?\nred\n\nsizes: Which sizes?\nM, S\n\nOnly for now."
	if got := cw.DecidedText(questions, " Only for now.\n"); got != want {
		t.Errorf("%q", got)
	}
	if got := cw.DecidedText(nil, " blue "); got != "blue" {
		t.Errorf("%q", got)
	}
}

// TestVerdictAnswers: a verdict holds no more than can be asked for, and a
// rejection answers nothing.
func TestVerdictAnswers(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range cw.TaskQuestionsMax + 1 {
		many[fmt.Sprintf("q%d", i)] = "x"
	}
	for name, tt := range map[string]struct {
		verdict cw.TaskVerdict
		want    string
	}{
		"answers":        {cw.TaskVerdict{Accept: true, Answers: map[string]string{"a": "b"}}, ""},
		"with a comment": {cw.TaskVerdict{Accept: true, Comment: "so", Answers: map[string]string{"a": "b"}}, ""},
		"a rejection":    {cw.TaskVerdict{Comment: "no", Answers: map[string]string{"a": "b"}}, "answers nothing"},
		"too many":       {cw.TaskVerdict{Accept: true, Answers: many}, "21 answers"},
		"too long":       {cw.TaskVerdict{Accept: true, Answers: map[string]string{"a": strings.Repeat("x", cw.VerdictMax/2), "b": strings.Repeat("x", cw.VerdictMax/2)}}, "bytes together"},
	} {
		if err := tt.verdict.Check(); (err == nil) != (tt.want == "") || err != nil && (cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
