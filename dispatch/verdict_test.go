package dispatch

import (
	"context"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

// oneTask is a store that holds one task and nothing else.
type oneTask struct {
	Store

	task cw.Task
}

func (s *oneTask) TaskByID(context.Context, cw.TaskID) (cw.Task, error) { return s.task, nil }

func (s *oneTask) MergeOfTask(context.Context, cw.TaskID) (cw.Merge, bool, error) {
	return cw.Merge{}, false, nil
}

func (s *oneTask) MoveTask(_ context.Context, m cw.TaskMove) (bool, error) {
	if !slices.Contains(m.From, s.task.Status) {
		return false, nil
	}
	s.task.Status = m.To
	if m.RetryAt != nil && m.RetryAt.IsZero() {
		s.task.RetryAt = nil
	}
	if m.Tries != nil {
		s.task.Tries = *m.Tries
	}
	if m.Questions != nil {
		s.task.Questions = m.Questions
	}
	if m.Summary != nil {
		s.task.Summary = *m.Summary
	}
	return true, nil
}

// TestDecideTask: which verdicts are taken of which checkpoints, and what becomes
// of them.
func TestDecideTask(t *testing.T) {
	t.Parallel()
	yes, no := cw.TaskVerdict{Accept: true, Comment: "the blue one"}, cw.TaskVerdict{Comment: "not so"}
	tests := []struct {
		typ     cw.TaskType
		status  cw.TaskStatus
		verdict cw.TaskVerdict
		code    cw.Code
		want    cw.TaskStatus
	}{
		{cw.TaskCheckpointDecide, cw.TaskReady, yes, "", cw.TaskDone},
		{cw.TaskCheckpointDecide, cw.TaskReady, cw.TaskVerdict{Accept: true, Comment: " "}, cw.CodeInvalid, cw.TaskReady},
		{cw.TaskCheckpointDecide, cw.TaskReady, no, "", cw.TaskBlocked},
		{cw.TaskCheckpointDecide, cw.TaskReady, cw.TaskVerdict{}, cw.CodeInvalid, cw.TaskReady},
		{cw.TaskCheckpointDecide, cw.TaskPending, yes, cw.CodeRefused, cw.TaskPending},
		{cw.TaskCheckpointDecide, cw.TaskDone, yes, cw.CodeRefused, cw.TaskDone},
		{cw.TaskCheckpointAction, cw.TaskReady, cw.TaskVerdict{Accept: true}, "", cw.TaskDone},
		{cw.TaskCheckpointAction, cw.TaskReady, no, "", cw.TaskBlocked},
		{cw.TaskCheckpointVerify, cw.TaskReady, yes, cw.CodeRefused, cw.TaskReady},
		{cw.TaskCheckpointVerify, cw.TaskRunning, yes, cw.CodeRefused, cw.TaskRunning},
		{cw.TaskCheckpointVerify, cw.TaskVerifying, yes, cw.CodeRefused, cw.TaskVerifying}, // its merge is gone
		{cw.TaskAuto, cw.TaskVerifying, yes, cw.CodeRefused, cw.TaskVerifying},
		{cw.TaskAuto, cw.TaskReady, no, cw.CodeRefused, cw.TaskReady},
		{cw.TaskCheckpointAction, cw.TaskReady, cw.TaskVerdict{Accept: true, Comment: strings.Repeat("x", commentMax+1)}, cw.CodeInvalid, cw.TaskReady},
	}
	for _, tt := range tests {
		s := &oneTask{task: cw.Task{ID: "t", Name: "colour", Type: tt.typ, Status: tt.status}}
		_, err := New(Config{Store: s}).DecideTask(t.Context(), "t", tt.verdict)
		if s.task.Status != tt.want || cw.ErrorCode(err) != tt.code {
			t.Errorf("%s, %s, accept %v: %s, %v", tt.typ, tt.status, tt.verdict.Accept, s.task.Status, err)
		}
	}
}

// TestDecideTaskByAnswers: a decision that asks is done with all its answers, which
// are kept, and are what those read who come after it.
func TestDecideTaskByAnswers(t *testing.T) {
	t.Parallel()
	asked := []cw.TaskQuestion{{ID: "colour", Text: "Which colour?", Options: []cw.QuestionOption{{Label: "blue"}, {Label: "red"}}}, {ID: "why", Text: "Why?"}}
	all := map[string]string{"colour": "blue", "why": "as the logo"}
	tests := []struct {
		name    string
		typ     cw.TaskType
		asked   []cw.TaskQuestion
		verdict cw.TaskVerdict
		code    cw.Code
		status  cw.TaskStatus
		summary string
	}{
		{"all", cw.TaskCheckpointDecide, asked, cw.TaskVerdict{Accept: true, Answers: all}, "", cw.TaskDone, "colour: Which colour?\nblue\n\nwhy: Why?\nas the logo"},
		{"with a comment", cw.TaskCheckpointDecide, asked, cw.TaskVerdict{Accept: true, Answers: all, Comment: "for now"}, "", cw.TaskDone,
			"colour: Which colour?\nblue\n\nwhy: Why?\nas the logo\n\nfor now"},
		{"a comment alone", cw.TaskCheckpointDecide, asked, cw.TaskVerdict{Accept: true, Comment: "blue"}, cw.CodeInvalid, cw.TaskReady, ""},
		{"nothing", cw.TaskCheckpointDecide, asked, cw.TaskVerdict{Accept: true}, cw.CodeInvalid, cw.TaskReady, ""},
		{"one of two", cw.TaskCheckpointDecide, asked, cw.TaskVerdict{Accept: true, Answers: map[string]string{"why": "so"}}, cw.CodeInvalid, cw.TaskReady, ""},
		{"not asked", cw.TaskCheckpointDecide, nil, cw.TaskVerdict{Accept: true, Answers: all}, cw.CodeInvalid, cw.TaskReady, ""},
		{"of an action", cw.TaskCheckpointAction, nil, cw.TaskVerdict{Accept: true, Answers: all}, cw.CodeInvalid, cw.TaskReady, ""},
		{"a rejection", cw.TaskCheckpointDecide, asked, cw.TaskVerdict{Comment: "later"}, "", cw.TaskBlocked, ""},
	}
	for _, tt := range tests {
		s := &oneTask{task: cw.Task{ID: "t", Name: "colour", Type: tt.typ, Status: cw.TaskReady, Questions: slices.Clone(tt.asked)}}
		_, err := New(Config{Store: s}).DecideTask(t.Context(), "t", tt.verdict)
		if s.task.Status != tt.status || cw.ErrorCode(err) != tt.code || s.task.Summary != tt.summary {
			t.Errorf("%s: %s, %v, %q", tt.name, s.task.Status, err, s.task.Summary)
		}
		for _, q := range s.task.Questions {
			if want := all[q.ID]; (q.Answer == want) != (tt.status == cw.TaskDone) {
				t.Errorf("%s: %s is answered %q", tt.name, q.ID, q.Answer)
			}
		}
	}
}

// TestRetryTask: a task that is blocked, or waits to be tried again, gets its
// tries back; another one is left alone.
func TestRetryTask(t *testing.T) {
	t.Parallel()
	for _, status := range cw.TaskStatuses() {
		for _, waits := range []bool{false, true} {
			s := &oneTask{task: cw.Task{ID: "t", Status: status, Tries: 2}}
			if waits {
				s.task.RetryAt = in(1)
			}
			d := New(Config{Store: s})
			_, err := d.RetryTask(t.Context(), "t")
			if may := status == cw.TaskBlocked || status == cw.TaskPending && waits; may {
				if err != nil || s.task.Status != cw.TaskPending || s.task.Tries != 0 || s.task.RetryAt != nil || len(d.bell) != 1 {
					t.Errorf("%s, waits %v: %+v, %v", status, waits, s.task, err)
				}
			} else if cw.ErrorCode(err) != cw.CodeRefused || s.task.Status != status || s.task.Tries != 2 {
				t.Errorf("%s, waits %v: %+v, %v", status, waits, s.task, err)
			}
		}
	}
}

// TestStartingCounts: an agent that is being made counts wherever it will, and
// once.
func TestStartingCounts(t *testing.T) {
	t.Parallel()
	w := crowd(2)
	w.Limits = cw.DispatchLimits{Machine: 9, Project: 1}
	first := Decide(w).Starts
	if len(first) != 1 {
		t.Fatalf("%+v are started", first)
	}
	starting := map[cw.TaskID]cw.TaskAgent{first[0].Task: agentToBe(w, w.Tasks[0], first[0])}
	w.addStarting(starting)
	if again := Decide(w).Starts; len(again) > 0 {
		t.Errorf("%+v are started beside one that is being made", again)
	}
	w.addStarting(starting)
	if len(w.Agents) != 1 {
		t.Errorf("it counts %d times", len(w.Agents))
	}
}
