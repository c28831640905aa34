package api_test

import (
	"net/http"
	"testing"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// TestVerdicts: a checkpoint that is reached is decided on once, and a task that
// is blocked gets its tries back.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	ctx, person := t.Context(), d.client("")
	own := plan(t, d, servicetest.PreparedAgent)
	decision := func() cw.TaskID {
		task, err := person.CreateTask(ctx, cw.CreateTaskRequest{PhaseID: cw.PhaseID(own["phase"]), Name: "Choose", Type: cw.TaskCheckpointDecide})
		noError(t, err)
		return task.ID
	}
	for _, tc := range []struct {
		verdict cw.TaskVerdict
		want    cw.TaskStatus
	}{
		{cw.TaskVerdict{Accept: true, Comment: "blue <&>"}, cw.TaskDone},
		{cw.TaskVerdict{Comment: "nobody has to choose"}, cw.TaskBlocked},
	} {
		id := decision()
		task, err := person.DecideTask(ctx, id, tc.verdict)
		if err != nil || task.ID != id || task.Status != tc.want {
			t.Errorf("%+v: %+v, %v", tc.verdict, task, err)
		}
		if _, err := person.DecideTask(ctx, id, tc.verdict); cw.ErrorCode(err) != cw.CodeRefused {
			t.Errorf("%+v once more: %v", tc.verdict, err)
		}
	}
	if _, err := person.DecideTask(ctx, decision(), cw.TaskVerdict{Accept: true}); cw.ErrorCode(err) != cw.CodeInvalid {
		t.Errorf("a decision without a word: %v", err)
	}
	asks, err := person.CreateTask(ctx, cw.CreateTaskRequest{
		PhaseID: cw.PhaseID(own["phase"]), Name: "Choose", Type: cw.TaskCheckpointDecide, Questions: []cw.TaskQuestion{{ID: "colour", Text: "Which <&> ü?"}, {Text: "Why?"}},
	})
	noError(t, err)
	answers := map[string]string{"colour": "blue <&> ü", "q2": "so\nor so"}
	for who, c := range map[string]*api.Client{"its agent": d.client(tokenSelf), "another one": d.client(tokenOther)} {
		if _, err := c.DecideTask(ctx, asks.ID, cw.TaskVerdict{Accept: true, Answers: answers}); cw.ErrorCode(err) != cw.CodeForbidden {
			t.Errorf("%s decides: %v", who, err)
		}
	}
	if _, err := person.DecideTask(ctx, asks.ID, cw.TaskVerdict{Accept: true, Answers: map[string]string{"q2": "so"}}); cw.ErrorCode(err) != cw.CodeInvalid {
		t.Errorf("half a decision: %v", err)
	}
	decided, err := person.DecideTask(ctx, asks.ID, cw.TaskVerdict{Accept: true, Answers: answers})
	if err != nil || decided.Status != cw.TaskDone || len(decided.Questions) != 2 || decided.Questions[0].Answer != answers["colour"] || decided.Questions[1].Answer != answers["q2"] {
		t.Errorf("%+v, %v", decided, err)
	}
	d.memory.PutTask(cw.TaskID(own["task"]), cw.TaskBlocked)
	task, err := person.RetryTask(ctx, cw.TaskID(own["task"]))
	if err != nil || task.Status != cw.TaskPending {
		t.Errorf("retried: %+v, %v", task, err)
	}
}

// TestDispatchParameters: what is no parameter or no state is refused by name.
func TestDispatchParameters(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	own := plan(t, d, servicetest.PreparedAgent)
	for target, status := range map[string]int{
		"/v1/dispatch": 200, "/v1/dispatch?initiative=" + own["initiative"]: 200, "/v1/dispatch?initiatve=x": 400, "/v1/dispatch?initiative=nobody": 404,
		"/v1/tasks/" + own["task"] + "/diff?stat=maybe": 400, "/v1/tasks/" + own["task"] + "/diff?projct=x": 400, "/v1/tasks/" + own["task"] + "/diff?stat=true": 409,
		"/v1/initiatives/" + own["initiative"] + "/merges": 200, "/v1/initiatives/nobody/integrations": 404,
	} {
		if got := send(t, d, http.MethodGet, target, "", nil); got.status != status {
			t.Errorf("%s: %s, want %d", target, got, status)
		}
	}
	for body, status := range map[string]int{`{"state":"pause"}`: 400, `{}`: 400, `{"stat":"paused"}`: 400, `{"state":"draining"}`: 200} {
		if got := send(t, d, http.MethodPost, "/v1/dispatch", body, nil); got.status != status {
			t.Errorf("%s: %s, want %d", body, got, status)
		}
	}
	if got := send(t, d, http.MethodPost, "/v1/initiatives/"+own["initiative"]+"/land", "", nil); got.status != http.StatusConflict {
		t.Errorf("a landing without a word: %s", got)
	}
}
