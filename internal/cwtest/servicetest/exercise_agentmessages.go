package servicetest

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

// agentMessagesCase: an idle agent goes on with the text of another one, which
// is asked once and gets the response when that run is over.
func agentMessagesCase(t *testing.T, f Fixture) {
	a := talkers(t, f, 1)[0]
	rests, finish := f.Work(t, a.project)
	finish()
	before := until(t, f, rests, "is idle", func(v cw.AgentView) bool { return v.Status == cw.StatusIdle && !v.Settling })
	req := cw.AgentMessageRequest{RequestKey: cw.NewID(), AgentID: before.Definition, Content: f.Text(), Session: rests, Mode: cw.MessageAsync}
	started, err := a.s.MessageAgent(soon(t), req)
	ok(t, err)
	if started.Status != cw.MessageStarted || started.Mode != cw.MessageAsync || started.AgentID != before.Definition || started.SessionID != before.ID ||
		started.SessionName != rests || started.Created || started.ResponseID == "" {
		t.Errorf("sent: %+v", started)
	}
	v := until(t, f, rests, "goes on with the text", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	if v.SessionNumber != before.SessionNumber+1 || v.QueuedMessages != 0 {
		t.Errorf("session %d, %d queued", v.SessionNumber, v.QueuedMessages)
	}
	checkDelivered(t, f, v, started.ResponseID)
	if m := messageOf(t, f, rests, started.ResponseID); m.Origin != cw.OriginAgent || m.SenderAgentID != a.id || m.Actor != a.name || m.Body != req.Content {
		t.Errorf("stored: %+v", m)
	}
	again, err := a.s.MessageAgent(soon(t), req)
	ok(t, err)
	if again.ResponseID != started.ResponseID {
		t.Errorf("the same request: %+v", again)
	}
	type response struct {
		done cw.AgentMessageResult
		err  error
	}
	waits := make(chan response, 1)
	go func() {
		done, err := a.s.AwaitMessage(soon(t), string(started.ResponseID))
		waits <- response{done, err}
	}()
	_, err = f.Services.Stop(soon(t), rests, cw.StopRequest{Now: true})
	ok(t, err)
	got := <-waits
	ok(t, got.err)
	for name, s := range map[string]cw.Services{"the agent": a.s, "people": f.Services} {
		done, err := s.AwaitMessage(soon(t), string(started.ResponseID))
		ok(t, err)
		if done.Status != cw.MessageComplete || done.ResponseID != started.ResponseID || done.SessionName != rests || got.done.Status != done.Status {
			t.Errorf("the response to %s: %+v", name, done)
		}
	}
	req.RequestKey = cw.NewID()
	_, err = a.s.MessageAgent(soon(t), req)
	wantCode(t, "to a stopped agent", err, cw.CodeRefused)
}

// badAgentMessagesCase: what cannot be sent, to whom, by whom, and who gets no
// response.
func badAgentMessagesCase(t *testing.T, f Fixture) {
	both := talkers(t, f, 2)
	a, b := both[0], both[1]
	view, err := f.Services.Agent(soon(t), b.name)
	ok(t, err)
	good := cw.AgentMessageRequest{AgentID: view.Definition, Content: "look", Session: b.name, Mode: cw.MessageAsync}
	for name, c := range map[string]struct {
		change func(*cw.AgentMessageRequest)
		code   cw.Code
	}{
		"itself":             {func(r *cw.AgentMessageRequest) { r.Session = a.name }, cw.CodeRefused},
		"itself by id":       {func(r *cw.AgentMessageRequest) { r.Session = string(a.id) }, cw.CodeRefused},
		"nobody":             {func(r *cw.AgentMessageRequest) { r.Session = unknown }, cw.CodeNotFound},
		"no such definition": {func(r *cw.AgentMessageRequest) { r.AgentID, r.Session = unknown, cw.SessionLatest }, cw.CodeNotFound},
		"another definition": {func(r *cw.AgentMessageRequest) { r.AgentID = unknown }, cw.CodeInvalid},
		"no definition":      {func(r *cw.AgentMessageRequest) { r.AgentID = "" }, cw.CodeInvalid},
		"nothing":            {func(r *cw.AgentMessageRequest) { r.Content = " \n" }, cw.CodeInvalid},
		"a zero byte":        {func(r *cw.AgentMessageRequest) { r.Content = "a\x00b" }, cw.CodeInvalid},
		"a long key":         {func(r *cw.AgentMessageRequest) { r.RequestKey = strings.Repeat("k", 129) }, cw.CodeInvalid},
		"a mode":             {func(r *cw.AgentMessageRequest) { r.Mode = "later" }, cw.CodeInvalid},
		"a new one":          {func(r *cw.AgentMessageRequest) { r.Session = cw.SessionCreate }, cw.CodeRefused},
	} {
		req := good
		c.change(&req)
		_, err := a.s.MessageAgent(soon(t), req)
		wantCode(t, name, err, c.code)
	}
	if sent := messagesOf(t, f, b.name); len(sent) > 1 || len(sent) == 1 && sent[0].Origin == cw.OriginAgent {
		t.Errorf("afterwards it has %+v", sent)
	}
	_, err = f.Services.MessageAgent(soon(t), good)
	wantHint(t, "sent by a person", err, cw.CodeForbidden, "cw agent send")
	_, err = f.Services.AwaitMessage(soon(t), cw.NewID())
	wantCode(t, "awaited by a person, and never sent", err, cw.CodeNotFound)
	started, err := a.s.MessageAgent(soon(t), good)
	ok(t, err)
	// The service knows of no such message, and the door lets nobody ask.
	_, err = b.s.AwaitMessage(soon(t), string(started.ResponseID))
	if code := cw.ErrorCode(err); code != cw.CodeNotFound && code != cw.CodeForbidden {
		t.Errorf("awaited by the other agent: %v", err)
	}
}
