package api_test

import (
	"net/http"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/servicetest"
)

// An agent lists itself and its peers, with what these show, messages them, and
// waits for their words; others it neither sees nor reaches.
func TestPeers(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	ctx, self := t.Context(), d.client(tokenSelf)
	peer, err := d.memory.Spawn(ctx, cw.SpawnRequest{Goal: "help", Name: "quick-fox", Projects: []string{servicetest.PreparedProject}})
	noError(t, err)
	page, err := self.Agents(ctx, cw.AgentFilter{PageQuery: cw.PageQuery{Sort: "name"}})
	noError(t, err)
	var names []string
	for _, v := range page.Items {
		names = append(names, v.Alias)
		if v.AgentCwd != "" || len(v.Runs) > 0 || v.Alias == peer.Alias && v.Title != "help" {
			t.Errorf("%+v", v)
		}
	}
	if len(names) != 2 || names[0] != servicetest.PreparedAgent || names[1] != peer.Alias {
		t.Errorf("it sees %v", names)
	}
	if page, err := self.Agents(ctx, cw.AgentFilter{Project: "no such"}); err != nil || len(page.Items) != 0 {
		t.Errorf("a project that is none: %v", err)
	}
	req := cw.AgentMessageRequest{AgentID: "execute", Content: "do", Session: peer.Alias}
	sent, err := self.MessageAgent(ctx, req)
	noError(t, err)
	d.memory.Finish(peer.Alias, cw.StatusIdle)
	d.memory.Finish(peer.Alias, cw.StatusIdle)
	done, err := self.AwaitMessage(ctx, string(sent.ResponseID))
	if err != nil || done.Status != cw.MessageComplete || done.SessionID != peer.ID {
		t.Errorf("%+v, %v", done, err)
	}
	_, err = d.client(tokenOther).AwaitMessage(ctx, string(sent.ResponseID))
	wantCode(t, err, cw.CodeForbidden)
	req.Session = servicetest.PreparedStandalone
	_, err = self.MessageAgent(ctx, req)
	wantCode(t, err, cw.CodeNotFound)
	_, err = d.client("").MessageAgent(ctx, req)
	wantCode(t, err, cw.CodeForbidden)
	_, err = self.Spawn(ctx, cw.SpawnRequest{Goal: "x"})
	wantCode(t, err, cw.CodeForbidden)
}

func wantCode(t *testing.T, err error, code cw.Code) {
	t.Helper()
	if cw.ErrorCode(err) != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// Of others' questions and messages an agent does not even learn whether they
// are there; its own it may wait for.
func TestAnswersOfOthers(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	name, _ := d.fixture.Talk(t)
	third, _ := d.fixture.Talk(t)
	group, err := d.client(tokenOf+name).AskPeople(t.Context(), cw.PeopleRequest{Questions: []cw.ToolQuestion{
		{Header: "Colour", Question: "Which?", Options: []cw.QuestionOption{{Label: "red"}, {Label: "blue"}}},
	}})
	noError(t, err)
	sent, err := d.client(tokenOf+name).MessageAgent(t.Context(), cw.AgentMessageRequest{AgentID: "execute", Content: "x", Session: third})
	noError(t, err)
	for path, id := range map[string]string{
		"/v1/questions/requests/ID/answers": string(group[0].RequestID), "/v1/agent-messages/ID/response": string(sent.ResponseID),
	} {
		read := func(id string) reply {
			return send(t, d, "GET", strings.Replace(path, "ID", id, 1), "", map[string]string{"Authorization": "Bearer " + tokenOf + third})
		}
		theirs, nothing := read(id), read(cw.NewID())
		if theirs.status != http.StatusForbidden || theirs.body != nothing.body {
			t.Errorf("%s of others: %s, of nobody: %s", path, theirs, nothing)
		}
	}
	if n := len(d.refusals()); n != 4 {
		t.Errorf("%d refusals were told", n)
	}
	_, err = d.memory.Answer(t.Context(), cw.AnswersRequest{Answers: map[cw.QuestionID]string{group[0].ID: "red"}})
	noError(t, err)
	got, err := d.client(tokenOf+name).AwaitAnswers(t.Context(), group[0].RequestID)
	if err != nil || got[0].Answer != "red" {
		t.Errorf("its own: %+v, %v", got, err)
	}
}
