package servicetest

import (
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// toolAsks is what a call of an agent asks.
func toolAsks(n int) cw.PeopleRequest {
	req := cw.PeopleRequest{RequestKey: cw.NewID(), ToolUseID: "toolu_1"}
	for range n {
		req.Questions = append(req.Questions, cw.ToolQuestion{
			Header: "Colour", Question: "Which <colour>? ü", Options: []cw.QuestionOption{{Label: "red"}, {Label: "blue", Description: "as the sea"}},
		})
	}
	return req
}

// askPeopleCase: a call asks once, goes on with the answers of people, and gets
// them again; its agent runs on all the while.
func askPeopleCase(t *testing.T, f Fixture) {
	a := talkers(t, f, 1)[0]
	req := toolAsks(2)
	req.Questions[1].MultiSelect = true
	group, err := a.s.AskPeople(soon(t), req)
	ok(t, err)
	for i, q := range group {
		if len(group) != 2 || q.ID == "" || q.AgentID != a.id || q.RunID == "" || q.RequestID == "" || q.RequestID != group[0].RequestID || q.Seq != i+1 ||
			q.Source != cw.AskedByTool || q.ToolUseID != "toolu_1" || q.Text != req.Questions[i].Question || q.Status != cw.QuestionOpen {
			t.Errorf("asked: %+v", q)
		}
	}
	again, err := a.s.AskPeople(soon(t), req)
	ok(t, err)
	if diff := cmp.Diff(group, again); diff != "" {
		t.Errorf("the same request: %s", diff)
	}
	open := questionsOf(t, f, a.name, cw.QuestionOpen)
	if len(open) != 2 || open[0].ID != group[0].ID || open[0].Agent != a.name {
		t.Errorf("as people see it: %+v", open)
	}
	type answer struct {
		group []cw.Question
		err   error
	}
	waits := make(chan answer, 1)
	go func() {
		got, err := a.s.AwaitAnswers(soon(t), group[0].RequestID)
		waits <- answer{got, err}
	}()
	for i, text := range []string{"red", `["blue"]`} {
		_, err := f.Services.Answer(soon(t), answers(string(group[i].ID), text))
		ok(t, err)
	}
	got := <-waits
	ok(t, got.err)
	if len(got.group) != 2 || got.group[0].Answer != "red" || got.group[1].Answer != `["blue"]` || got.group[0].FetchedAt == nil {
		t.Errorf("answered: %+v", got.group)
	}
	for name, s := range map[string]cw.Services{"the agent": a.s, "people": f.Services} {
		more, err := s.AwaitAnswers(soon(t), group[0].RequestID)
		ok(t, err)
		if diff := cmp.Diff(got.group, more); diff != "" {
			t.Errorf("once more, to %s: %s", name, diff)
		}
	}
	v, err := f.Services.Agent(soon(t), a.name)
	ok(t, err)
	if v.Status != cw.StatusRunning || v.SessionNumber != 1 || len(v.PendingQuestions) != 0 {
		t.Errorf("it is %s in session %d with %d open", v.Status, v.SessionNumber, len(v.PendingQuestions))
	}
}

// badAskPeopleCase: what cannot be asked, by whom, and who gets no answers.
func badAskPeopleCase(t *testing.T, f Fixture) {
	both := talkers(t, f, 2)
	a, b := both[0], both[1]
	with := func(change func(*cw.ToolQuestion)) cw.PeopleRequest {
		req := toolAsks(1)
		change(&req.Questions[0])
		return req
	}
	for name, req := range map[string]cw.PeopleRequest{
		"none":              toolAsks(0),
		"too many":          toolAsks(cw.ToolQuestionsMax + 1),
		"without a header":  with(func(q *cw.ToolQuestion) { q.Header = " " }),
		"a long header":     with(func(q *cw.ToolQuestion) { q.Header = strings.Repeat("ü", cw.QuestionHeaderMax+1) }),
		"without a text":    with(func(q *cw.ToolQuestion) { q.Question = "\n" }),
		"one option":        with(func(q *cw.ToolQuestion) { q.Options = q.Options[:1] }),
		"the same label":    with(func(q *cw.ToolQuestion) { q.Options[1].Label = "RED" }),
		"a long text":       with(func(q *cw.ToolQuestion) { q.Question = strings.Repeat("x", cw.QuestionTextMax+1) }),
		"a zero byte in it": with(func(q *cw.ToolQuestion) { q.Question = "a\x00b" }),
	} {
		_, err := a.s.AskPeople(soon(t), req)
		wantCode(t, name, err, cw.CodeInvalid)
	}
	if left := questionsOf(t, f, ""); len(left) != 0 {
		t.Errorf("afterwards %d are asked", len(left))
	}
	_, err := f.Services.AskPeople(soon(t), toolAsks(1))
	wantHint(t, "asked by a person", err, cw.CodeForbidden, "cw agent send")
	_, err = f.Services.AwaitAnswers(soon(t), cw.RequestID(cw.NewID()))
	wantCode(t, "awaited by a person, and never asked", err, cw.CodeNotFound)
	var last []cw.Question
	for range cw.ToolQuestionsOpen / cw.ToolQuestionsMax {
		last, err = a.s.AskPeople(soon(t), toolAsks(cw.ToolQuestionsMax))
		ok(t, err)
	}
	_, err = a.s.AskPeople(soon(t), toolAsks(1))
	wantCode(t, "past the limit", err, cw.CodeRefused)
	_, err = b.s.AwaitAnswers(soon(t), last[0].RequestID)
	wantCode(t, "awaited by another agent", err, cw.CodeForbidden)
	if cw.ErrorHint(err) == "" {
		t.Errorf("no hint beside %v", err)
	}
}
