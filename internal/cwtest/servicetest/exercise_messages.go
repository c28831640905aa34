package servicetest

import (
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// messagesOf lists the texts of an agent and checks their order and pages.
func messagesOf(t *testing.T, f Fixture, ref string) []cw.Message {
	t.Helper()
	read := func(q cw.PageQuery) (cw.Page[cw.Message], error) { return f.Services.Messages(soon(t), ref, q) }
	all := walk(t, cw.PageMax, "", read)
	for i := 1; i < len(all); i++ {
		if all[i].Seq <= all[i-1].Seq || all[i].CreatedAt.Before(all[i-1].CreatedAt) {
			t.Errorf("message %d (%s) comes after %d (%s)", all[i].Seq, all[i].CreatedAt, all[i-1].Seq, all[i-1].CreatedAt)
		}
	}
	for _, limit := range []int{1, 2} {
		down := walk(t, limit, "-createdAt", read)
		slices.Reverse(down)
		for sort, got := range map[string][]cw.Message{"createdAt": walk(t, limit, "createdAt", read), "-createdAt, turned round": down} {
			if diff := cmp.Diff(all, got); diff != "" {
				t.Errorf("by %s in pages of %d: %s", sort, limit, diff)
			}
		}
	}
	return all
}

// messageOf gives one text of an agent.
func messageOf(t *testing.T, f Fixture, ref string, id cw.MessageID) cw.Message {
	t.Helper()
	all := messagesOf(t, f, ref)
	i := slices.IndexFunc(all, func(m cw.Message) bool { return m.ID == id })
	if i < 0 {
		t.Fatalf("message %s of %s is not listed", id, ref)
	}
	return all[i]
}

// sent gives an agent the text.
func sent(t *testing.T, f Fixture, ref string) cw.Message {
	t.Helper()
	text := f.Text()
	m, err := f.Services.Send(soon(t), ref, cw.SendRequest{Text: text})
	ok(t, err)
	if m.ID == "" || m.Seq < 1 || m.Role != cw.RoleUser || m.Origin != cw.OriginPerson || m.Body != text || m.CreatedAt.IsZero() {
		t.Errorf("sent: %+v", m)
	}
	return m
}

// checkDelivered: a text is in the prompt of the agent's last run.
func checkDelivered(t *testing.T, f Fixture, v cw.AgentView, id cw.MessageID) {
	t.Helper()
	m := messageOf(t, f, v.Alias, id)
	if m.DeliveredAt == nil || m.RunID != v.Runs[len(v.Runs)-1].ID {
		t.Errorf("message %+v is not of run %s", m, v.Runs[len(v.Runs)-1].ID)
	}
}

// sendToBusyCase: a text to a running agent waits, is told as waiting, and is
// the next prompt at once when the run ends idle.
func sendToBusyCase(t *testing.T, f Fixture) {
	s := f.Services
	name, finish := f.Work(t)
	before, err := s.Agent(soon(t), name)
	ok(t, err)
	_, err = s.Send(soon(t), name, cw.SendRequest{Text: "not now", WhenBusy: cw.BusyRefuse})
	wantCode(t, "Send to a busy one, if it is not", err, cw.CodeRefused)
	m := sent(t, f, name)
	if m.QueuedAt == nil || m.DeliveredAt != nil || m.RunID != "" {
		t.Errorf("queued: %+v", m)
	}
	if diff := cmp.Diff(m, messageOf(t, f, name, m.ID)); diff != "" {
		t.Errorf("as it is stored: %s", diff)
	}
	v, err := s.Agent(soon(t), name)
	ok(t, err)
	if v.Status != cw.StatusRunning || v.QueuedMessages != 1 || v.SessionNumber != before.SessionNumber || len(eventsOf(t, f, v, cw.EventMessageQueued)) != 1 {
		t.Errorf("it is %s with %d queued, session %d", v.Status, v.QueuedMessages, v.SessionNumber)
	}
	finish()
	v = until(t, f, name, "goes on with the text", func(v cw.AgentView) bool {
		return v.SessionNumber == before.SessionNumber+1 && v.Status == cw.StatusRunning
	})
	if v.QueuedMessages != 0 || v.Runs[len(v.Runs)-1].Reason != cw.RunFollowUp {
		t.Errorf("%d queued, %+v", v.QueuedMessages, v.Runs[len(v.Runs)-1])
	}
	checkDelivered(t, f, v, m.ID)

	waits := sent(t, f, name) // and its run ends otherwise
	_, err = s.Stop(soon(t), name, cw.StopRequest{Now: true})
	ok(t, err)
	_, err = s.Send(soon(t), name, cw.SendRequest{Text: f.Text()})
	wantHint(t, "Send to a stopped one", err, cw.CodeRefused, "cw agent resume")
	v, err = s.Resume(soon(t), name, cw.ResumeRequest{Text: f.Text()})
	ok(t, err)
	if v.QueuedMessages != 0 {
		t.Errorf("resumed with %d queued", v.QueuedMessages)
	}
	checkDelivered(t, f, v, waits.ID)
	_, err = s.Stop(soon(t), name, cw.StopRequest{Now: true})
	ok(t, err)
}

// sendToIdleCase: it goes on with the text at once.
func sendToIdleCase(t *testing.T, f Fixture) {
	view := idle(t, f)
	m := sent(t, f, view.Alias)
	v := until(t, f, view.Alias, "goes on with the text", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	if v.SessionNumber != view.SessionNumber+1 || v.QueuedMessages != 0 || v.Runs[len(v.Runs)-1].Reason != cw.RunFollowUp {
		t.Errorf("session %d, %d queued, %+v", v.SessionNumber, v.QueuedMessages, v.Runs[len(v.Runs)-1])
	}
	checkDelivered(t, f, v, m.ID)
	_, err := f.Services.Stop(soon(t), view.Alias, cw.StopRequest{Now: true})
	ok(t, err)
}

// sendToWaitingCase: a text to an agent that waits for answers is in the same
// prompt as these.
func sendToWaitingCase(t *testing.T, f Fixture) {
	s := f.Services
	view, open := asked(t, f)
	_, err := s.Send(soon(t), view.Alias, cw.SendRequest{Text: "not now", WhenBusy: cw.BusyRefuse})
	wantCode(t, "Send to a waiting one, if it is not", err, cw.CodeRefused)
	m := sent(t, f, view.Alias)
	v, err := s.Agent(soon(t), view.Alias)
	ok(t, err)
	if v.Status != cw.StatusWaitingForInput || v.QueuedMessages != 1 || m.QueuedAt == nil {
		t.Errorf("it is %s with %d queued: %+v", v.Status, v.QueuedMessages, m)
	}
	_, err = s.Answer(soon(t), answers(string(open[0].ID), "red", string(open[1].ID), "small", string(open[2].ID), f.Text()))
	ok(t, err)
	v = until(t, f, view.Alias, "goes on", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	if v.SessionNumber != view.SessionNumber+1 || v.QueuedMessages != 0 {
		t.Errorf("session %d, %d queued", v.SessionNumber, v.QueuedMessages)
	}
	checkDelivered(t, f, v, m.ID)
	_, err = s.Stop(soon(t), view.Alias, cw.StopRequest{Now: true})
	ok(t, err)
}

// badTextsCase: what cannot be told is refused and not kept.
func badTextsCase(t *testing.T, f Fixture) {
	s := f.Services
	name, finish := f.Work(t)
	defer finish()
	before := len(messagesOf(t, f, name))
	for what, req := range map[string]cw.SendRequest{
		"nothing":     {},
		"only space":  {Text: " \n\t"},
		"too long":    {Text: strings.Repeat("x", cw.MessageMax+1)},
		"a zero byte": {Text: "a\x00b"},
		"odd wish":    {Text: "x", WhenBusy: "later"},
	} {
		_, err := s.Send(soon(t), name, req)
		wantHint(t, "Send "+what, err, cw.CodeInvalid, "")
	}
	for what, text := range map[string]string{"too long": strings.Repeat("x", cw.MessageMax+1), "a zero byte": "a\x00b"} {
		_, err := s.Resume(soon(t), name, cw.ResumeRequest{Text: text})
		wantHint(t, "Resume "+what, err, cw.CodeInvalid, "")
	}
	longest := strings.Repeat("\x01", cw.MessageMax) // JSON makes six bytes of each
	m, err := s.Send(soon(t), name, cw.SendRequest{Text: longest})
	ok(t, err)
	if m.Body != longest {
		t.Errorf("%d bytes of %d came back", len(m.Body), len(longest))
	}
	for what, q := range map[string]cw.PageQuery{"limit": {Limit: -1}, "order": {Sort: "seq"}, "cursor": {Cursor: "nowhere"}} {
		_, err := s.Messages(soon(t), name, q)
		wantHint(t, "Messages, "+what, err, cw.CodeInvalid, "")
	}
	if after := len(messagesOf(t, f, name)); after != before+1 {
		t.Errorf("%d messages, then %d", before, after)
	}
	_, err = s.Stop(soon(t), name, cw.StopRequest{Now: true})
	ok(t, err)
}
