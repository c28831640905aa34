package cw

import (
	"strings"
	"testing"
)

// TestPeopleRequest: every bad argument is refused, and what is wrong with which
// question is said.
func TestPeopleRequest(t *testing.T) {
	t.Parallel()
	good := func() PeopleRequest {
		q := func(header string) ToolQuestion {
			return ToolQuestion{Header: header, Question: "Which one?", Options: []QuestionOption{{Label: "red"}, {Label: "blue"}}}
		}
		return PeopleRequest{RequestKey: "k", Questions: []ToolQuestion{q("Colour"), q("zwölf Zeiche"), q("c"), q("d")}}
	}
	if err := good().Check(); err != nil {
		t.Error(err)
	}
	options := func(labels ...string) (out []QuestionOption) {
		for _, l := range labels {
			out = append(out, QuestionOption{Label: l})
		}
		return out
	}
	for name, c := range map[string]struct {
		spoil func(*PeopleRequest)
		says  string
	}{
		"none":               {func(r *PeopleRequest) { r.Questions = nil }, "no question"},
		"five":               {func(r *PeopleRequest) { r.Questions = append(r.Questions, r.Questions[0]) }, "5 questions"},
		"long key":           {func(r *PeopleRequest) { r.RequestKey = strings.Repeat("k", RequestKeyMax+1) }, "requestKey"},
		"odd key":            {func(r *PeopleRequest) { r.RequestKey = "\xff" }, "requestKey"},
		"long call":          {func(r *PeopleRequest) { r.ToolUseID = strings.Repeat("k", RequestKeyMax+1) }, "toolUseId"},
		"no header":          {func(r *PeopleRequest) { r.Questions[1].Header = " " }, "question 2: header is empty"},
		"long header":        {func(r *PeopleRequest) { r.Questions[2].Header = "thirteen char" }, "question 3: header has 13"},
		"odd header":         {func(r *PeopleRequest) { r.Questions[0].Header = "a\x00" }, "question 1: header"},
		"no text":            {func(r *PeopleRequest) { r.Questions[3].Question = "\n" }, "question 4: question is empty"},
		"long text":          {func(r *PeopleRequest) { r.Questions[0].Question = strings.Repeat("x", QuestionTextMax+1) }, "question 1: question is"},
		"odd text":           {func(r *PeopleRequest) { r.Questions[0].Question = "\xff" }, "question 1: question"},
		"one option":         {func(r *PeopleRequest) { r.Questions[0].Options = options("a") }, "question 1: options has 1"},
		"no options":         {func(r *PeopleRequest) { r.Questions[0].Options = nil }, "question 1: options has 0"},
		"five options":       {func(r *PeopleRequest) { r.Questions[0].Options = options("a", "b", "c", "d", "e") }, "question 1: options has 5"},
		"same labels":        {func(r *PeopleRequest) { r.Questions[1].Options = options("a", "b", "a") }, "question 2: options[2].label"},
		"labels of one word": {func(r *PeopleRequest) { r.Questions[1].Options = options("Yes", "yes ") }, "question 2: options[1].label"},
		"empty label":        {func(r *PeopleRequest) { r.Questions[1].Options = options("a", "\t") }, "question 2: options[1].label is empty"},
		"long label":         {func(r *PeopleRequest) { r.Questions[1].Options = options("a", strings.Repeat("x", ToolLabelMax+1)) }, "options[1].label"},
		"odd label":          {func(r *PeopleRequest) { r.Questions[1].Options = options("a", "\xff") }, "options[1].label"},
		"odd description":    {func(r *PeopleRequest) { r.Questions[1].Options[0].Description = "\x00" }, "options[0].description"},
		"too much together": {func(r *PeopleRequest) {
			for i := range r.Questions {
				r.Questions[i].Question = strings.Repeat("x", QuestionTextMax)
			}
		}, "together"},
	} {
		req := good()
		c.spoil(&req)
		if err := req.Check(); ErrorCode(err) != CodeInvalid || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rows := PeopleRequest{RequestKey: "k", ToolUseID: "t", Questions: []ToolQuestion{{Header: " H ", Question: " Q\n", Options: options(" a ", "b")}}}.Rows()
	if q := rows[0]; q.Header != "H" || q.Text != "Q" || q.Options[0].Label != "a" || q.Source != AskedByTool || q.Status != QuestionOpen || q.ToolUseID != "t" {
		t.Errorf("stored as %+v", q)
	}
}
