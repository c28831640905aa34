package servicetest

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// talker is a running agent, with the services as it calls them.
type talker struct {
	name string
	id   cw.AgentID
	s    cw.Services

	project string
}

func talkers(t *testing.T, f Fixture, n int) []talker {
	t.Helper()
	var out []talker
	for range n {
		name, s := f.Talk(t)
		view := until(t, f, name, "runs", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
		out = append(out, talker{name, view.ID, s, view.Projects[0].Project})
	}
	return out
}

// asks stores a question.
func (a talker) asks(t *testing.T, b talker, question string) cw.ConversationView {
	t.Helper()
	view, err := a.s.Ask(soon(t), cw.AskRequest{Question: question, AgentID: b.name})
	ok(t, err)
	return view
}

// hears gives the next n questions to an agent.
func (a talker) hears(t *testing.T, n int) []cw.PendingConversation {
	t.Helper()
	var out []cw.PendingConversation
	for p, err := range a.s.PendingConversations(soon(t), string(a.id)) {
		ok(t, err)
		if out = append(out, p); len(out) == n {
			break
		}
	}
	if len(out) != n {
		t.Fatalf("%s hears %d questions, want %d", a.name, len(out), n)
	}
	return out
}

func conversationsOf(t *testing.T, f Fixture, agent string, statuses ...cw.ConversationStatus) []cw.ConversationView {
	t.Helper()
	return walk(t, 2, "", func(q cw.PageQuery) (cw.Page[cw.ConversationView], error) {
		return f.Services.Conversations(soon(t), cw.ConversationFilter{PageQuery: q, Statuses: statuses, Agent: agent})
	})
}

// conversationEvents are the types of the events of a conversation, in order,
// each once.
func conversationEvents(t *testing.T, f Fixture, id cw.ConversationID) []cw.EventType {
	t.Helper()
	var out []cw.EventType
	for _, e := range collect(t, f.Services.Events(soon(t), cw.EventQuery{})) {
		if e.ConversationID != id {
			continue
		}
		var told cw.ConversationMoved
		ok(t, json.Unmarshal(e.Data, &told))
		if told.ConversationID != id || told.From == "" {
			t.Errorf("told: %s", e.Data)
		}
		if !slices.Contains(out, e.Type) {
			out = append(out, e.Type)
		}
	}
	return out
}

// conversationCase: a question is stored, heard, answered once and its answer
// fetched; the same request asks once.
func conversationCase(t *testing.T, f Fixture) {
	both := talkers(t, f, 2)
	a, b := both[0], both[1]
	question := "Which <parser>? & why\nü"
	req := cw.AskRequest{RequestKey: cw.NewID(), From: string(a.id), Question: question, AgentID: b.name}
	view, err := a.s.Ask(soon(t), req)
	ok(t, err)
	if view.From != a.name || view.FromAgentID != a.id || view.FromRunID == "" || view.To != b.name || view.ToAgentID != b.id ||
		view.TargetKind != cw.AskedAgent || view.TargetID != b.name || view.Question != question || view.Status != cw.ConversationPending || view.CreatedAt.IsZero() {
		t.Errorf("asked: %+v", view)
	}
	req.Question = "another one"
	again, err := a.s.Ask(soon(t), req)
	ok(t, err)
	if again.ID != view.ID || again.Question != question {
		t.Errorf("asked again: %+v", again)
	}
	want := cw.PendingConversation{ConversationID: view.ID, FromAgentID: a.id, Question: question}
	for _, ref := range []string{string(b.id), b.name} { // it comes again until it is answered
		next, stop := iter.Pull2(b.s.PendingConversations(soon(t), ref))
		p, err, _ := next()
		stop()
		ok(t, err)
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("heard as %s: %s", ref, diff)
		}
	}
	for range 2 {
		done, err := b.s.AnswerConversation(soon(t), string(view.ID), cw.ConversationAnswer{Answer: "the <new> one"})
		ok(t, err)
		if done.Status != cw.ConversationAnswered || done.Answer != "the <new> one" || done.AnsweredAt == nil || done.DeliveredAt == nil {
			t.Errorf("answered: %+v", done)
		}
	}
	_, err = b.s.AnswerConversation(soon(t), string(view.ID), cw.ConversationAnswer{Answer: "the old one"})
	wantCode(t, "another answer", err, cw.CodeRefused)
	for range 2 { // whoever comes back gets it again
		got, err := a.s.AwaitConversation(soon(t), string(view.ID))
		ok(t, err)
		if got.Status != cw.ConversationAnswered || got.Answer != "the <new> one" || got.FetchedAt == nil {
			t.Errorf("fetched: %+v", got)
		}
	}
	stored, err := f.Services.Conversation(soon(t), string(view.ID))
	ok(t, err)
	seen, err := f.Services.AwaitConversation(soon(t), string(view.ID))
	ok(t, err)
	if diff := cmp.Diff(stored, seen); diff != "" || stored.FetchedAt == nil {
		t.Errorf("as people see it: %+v %s", stored, diff)
	}
	types := []cw.EventType{cw.EventConversationCreated, cw.EventConversationDelivered, cw.EventConversationAnswered}
	if diff := cmp.Diff(types, conversationEvents(t, f, view.ID)); diff != "" {
		t.Errorf("events: %s", diff)
	}
}

// conversationLiveCase: who waits is told at once, both ways.
func conversationLiveCase(t *testing.T, f Fixture) {
	both := talkers(t, f, 2)
	a, b := both[0], both[1]
	heard := make(chan []string, 1)
	ctx, cancel := context.WithCancel(soon(t))
	defer cancel()
	go func() {
		var questions []string
		for p, err := range b.s.PendingConversations(ctx, string(b.id)) {
			if err != nil {
				break // the test ends
			}
			questions = append(questions, p.Question)
			if _, err := b.s.AnswerConversation(ctx, string(p.ConversationID), cw.ConversationAnswer{Answer: p.Question + "!"}); err != nil {
				break
			}
			if len(questions) == 3 {
				break
			}
		}
		heard <- questions
	}()
	for _, question := range []string{"one", "two", "three"} {
		view := a.asks(t, b, question)
		got, err := a.s.AwaitConversation(soon(t), string(view.ID))
		ok(t, err)
		if got.Answer != question+"!" {
			t.Errorf("%s is answered %q", question, got.Answer)
		}
	}
	if diff := cmp.Diff([]string{"one", "two", "three"}, <-heard); diff != "" {
		t.Errorf("heard: %s", diff)
	}
}

// conversationListCase: every filter and page size, newest first.
func conversationListCase(t *testing.T, f Fixture) {
	three := talkers(t, f, 3)
	a, b, c := three[0], three[1], three[2]
	var asked []cw.ConversationView
	for _, question := range []string{"1", "2", "3", "4", "5"} {
		asked = append(asked, a.asks(t, b, question))
	}
	other := b.asks(t, c, "6")
	_, err := b.s.AnswerConversation(soon(t), string(asked[1].ID), cw.ConversationAnswer{Answer: "two"})
	ok(t, err)
	ids := func(views []cw.ConversationView) (out []cw.ConversationID) {
		for _, v := range views {
			out = append(out, v.ID)
		}
		return out
	}
	newest := ids(asked)
	slices.Reverse(newest)
	for _, limit := range []int{1, 2, 5, cw.PageMax} {
		for _, ref := range []string{a.name, string(a.id)} {
			read := func(q cw.PageQuery) (cw.Page[cw.ConversationView], error) {
				return f.Services.Conversations(soon(t), cw.ConversationFilter{PageQuery: q, Agent: ref})
			}
			up := ids(walk(t, limit, "createdAt", read))
			slices.Reverse(up)
			for sort, got := range map[string][]cw.ConversationID{"": ids(walk(t, limit, "", read)), "createdAt, turned round": up} {
				if diff := cmp.Diff(newest, got); diff != "" {
					t.Errorf("by %q in pages of %d: %s", sort, limit, diff)
				}
			}
		}
	}
	if diff := cmp.Diff([]cw.ConversationID{asked[1].ID}, ids(conversationsOf(t, f, b.name, cw.ConversationAnswered, cw.ConversationCancelled))); diff != "" {
		t.Errorf("answered or cancelled: %s", diff)
	}
	if diff := cmp.Diff([]cw.ConversationID{other.ID}, ids(conversationsOf(t, f, c.name))); diff != "" {
		t.Errorf("of the third: %s", diff)
	}
	if all := conversationsOf(t, f, "", cw.ConversationPending); len(all) < 5 {
		t.Errorf("%d are pending", len(all))
	}
}

// badConversationListCase needs no agent that talks.
func badConversationListCase(t *testing.T, f Fixture) {
	s := f.Services
	for name, c := range map[string]struct {
		filter cw.ConversationFilter
		code   cw.Code
	}{
		"limit":          {cw.ConversationFilter{PageQuery: cw.PageQuery{Limit: -1}}, cw.CodeInvalid},
		"order":          {cw.ConversationFilter{PageQuery: cw.PageQuery{Sort: "question"}}, cw.CodeInvalid},
		"cursor":         {cw.ConversationFilter{PageQuery: cw.PageQuery{Cursor: "nowhere"}}, cw.CodeInvalid},
		"status unknown": {cw.ConversationFilter{Statuses: []cw.ConversationStatus{"open"}}, cw.CodeInvalid},
		"agent unknown":  {cw.ConversationFilter{Agent: unknown}, cw.CodeNotFound},
	} {
		_, err := s.Conversations(soon(t), c.filter)
		wantCode(t, name, err, c.code)
		if cw.ErrorHint(err) == "" {
			t.Errorf("%s: no hint beside %v", name, err)
		}
	}
	for _, id := range []string{unknown, cw.NewID(), "a/b", "..", "ü?#%2F"} {
		_, err := s.Conversation(soon(t), id)
		wantCode(t, "Conversation "+id, err, cw.CodeNotFound)
		_, err = s.AwaitConversation(soon(t), id)
		wantCode(t, "AwaitConversation "+id, err, cw.CodeNotFound)
	}
	// What is for agents only says so to people, and what is for them.
	_, ask := s.Ask(soon(t), cw.AskRequest{Question: "x", AgentID: unknown})
	listen := failure(t, s.PendingConversations(soon(t), unknown))
	_, answer := s.AnswerConversation(soon(t), cw.NewID(), cw.ConversationAnswer{Answer: "x"})
	for _, c := range []struct {
		name  string
		err   error
		hints []string // of what people do instead
	}{
		{"Ask", ask, []string{"cw agent send", "cw conversation list"}},
		{"PendingConversations", listen, []string{"cw agent send", "cw conversation list"}},
		{"AnswerConversation", answer, nil},
	} {
		wantCode(t, c.name, c.err, cw.CodeForbidden)
		if cw.ErrorHint(c.err) == "" {
			t.Errorf("%s: no hint beside %v", c.name, c.err)
		}
		for _, hint := range c.hints {
			if !strings.Contains(cw.ErrorHint(c.err), hint) {
				t.Errorf("%s: the hint %q does not name %s", c.name, cw.ErrorHint(c.err), hint)
			}
		}
	}
}

// badConversationsCase: what cannot be asked and answered, and by whom.
func badConversationsCase(t *testing.T, f Fixture) {
	three := talkers(t, f, 3)
	a, b, c := three[0], three[1], three[2]
	view := a.asks(t, b, "x")
	long := strings.Repeat("x", cw.ConversationTextMax+1)
	for name, c := range map[string]struct {
		req  cw.AskRequest
		code cw.Code
	}{
		"empty":         {cw.AskRequest{Question: " \n", AgentID: b.name}, cw.CodeInvalid},
		"too long":      {cw.AskRequest{Question: long, AgentID: b.name}, cw.CodeInvalid},
		"a zero byte":   {cw.AskRequest{Question: "a\x00b", AgentID: b.name}, cw.CodeInvalid},
		"nobody named":  {cw.AskRequest{Question: "x"}, cw.CodeInvalid},
		"two named":     {cw.AskRequest{Question: "x", AgentID: b.name, TaskID: "t"}, cw.CodeInvalid},
		"unknown agent": {cw.AskRequest{Question: "x", AgentID: unknown}, cw.CodeNotFound},
		"unknown task":  {cw.AskRequest{Question: "x", TaskID: cw.TaskID(cw.NewID())}, cw.CodeNotFound},
		"unknown phase": {cw.AskRequest{Question: "x", PhaseID: cw.PhaseID(cw.NewID())}, cw.CodeNotFound},
		"itself":        {cw.AskRequest{Question: "x", AgentID: a.name}, cw.CodeRefused},
		"itself by id":  {cw.AskRequest{Question: "x", AgentID: string(a.id), Queue: true}, cw.CodeRefused},
		"as another":    {cw.AskRequest{Question: "x", AgentID: c.name, From: string(b.id)}, cw.CodeForbidden},
	} {
		_, err := a.s.Ask(soon(t), c.req)
		wantCode(t, name, err, c.code)
		if cw.ErrorHint(err) == "" {
			t.Errorf("%s: no hint beside %v", name, err)
		}
	}
	_, err := b.s.Ask(soon(t), cw.AskRequest{Question: "and you?", AgentID: a.name})
	wantCode(t, "a circle", err, cw.CodeRefused)
	if err == nil || !strings.Contains(err.Error(), a.name) || !strings.Contains(err.Error(), b.name) {
		t.Errorf("the circle is not named: %v", err)
	}
	for name, answer := range map[string]string{"empty": "", "too long": long, "a zero byte": "a\x00b"} {
		_, err := b.s.AnswerConversation(soon(t), string(view.ID), cw.ConversationAnswer{Answer: answer})
		wantCode(t, "answer "+name, err, cw.CodeInvalid)
	}
	for name, s := range map[string]cw.Services{"the asking one": a.s, "a third one": c.s} {
		_, err := s.AnswerConversation(soon(t), string(view.ID), cw.ConversationAnswer{Answer: "mine"})
		wantCode(t, "answered by "+name, err, cw.CodeForbidden)
	}
	for name, s := range map[string]cw.Services{"the asked one": b.s, "a third one": c.s} {
		_, err := s.AwaitConversation(soon(t), string(view.ID))
		wantCode(t, "awaited by "+name, err, cw.CodeForbidden)
	}
	wantCode(t, "listening for another", failure(t, c.s.PendingConversations(soon(t), string(b.id))), cw.CodeForbidden)
	wantCode(t, "listening for nobody", failure(t, c.s.PendingConversations(soon(t), unknown)), cw.CodeForbidden)
	if left := conversationsOf(t, f, "", cw.ConversationPending); len(left) != 1 || left[0].DeliveredAt != nil {
		t.Errorf("afterwards %d are pending: %+v", len(left), left)
	}
}

// cancelledConversationsCase: who cannot be heard is not asked, and who waits
// for an agent that is stopped is told.
func cancelledConversationsCase(t *testing.T, f Fixture) {
	both := talkers(t, f, 2)
	a, b := both[0], both[1]
	view := a.asks(t, b, "are you there?")
	waits := make(chan error, 1)
	var got cw.ConversationView
	go func() {
		var err error
		got, err = a.s.AwaitConversation(soon(t), string(view.ID))
		waits <- err
	}()
	_, err := f.Services.Stop(soon(t), b.name, cw.StopRequest{Now: true})
	ok(t, err)
	ok(t, <-waits)
	if got.Status != cw.ConversationCancelled || !strings.Contains(got.Reason, b.name) {
		t.Errorf("after the stop: %+v", got)
	}
	_, err = a.s.Ask(soon(t), cw.AskRequest{Question: "and now?", AgentID: b.name})
	wantCode(t, "a stopped agent", err, cw.CodeRefused)
	if cw.ErrorHint(err) == "" {
		t.Errorf("no hint beside %v", err)
	}
	if all := conversationsOf(t, f, b.name); len(all) != 1 || all[0].ID != view.ID || all[0].Status != cw.ConversationCancelled {
		t.Errorf("of the stopped agent: %+v", all)
	}
	if types := conversationEvents(t, f, view.ID); types[len(types)-1] != cw.EventConversationCancelled {
		t.Errorf("events: %v", types)
	}
}

// restingConversationsCase: an idle agent is asked with queue or wake only.
func restingConversationsCase(t *testing.T, f Fixture) {
	a := talkers(t, f, 1)[0]
	rests, finish := f.Work(t, a.project)
	finish()
	until(t, f, rests, "is idle", func(v cw.AgentView) bool { return v.Status == cw.StatusIdle && !v.Settling })
	_, err := a.s.Ask(soon(t), cw.AskRequest{Question: "x", AgentID: rests})
	wantCode(t, "an idle agent", err, cw.CodeRefused)
	if hint := cw.ErrorHint(err); !strings.Contains(hint, "queue") || !strings.Contains(hint, "wake") {
		t.Errorf("the hint is %q", hint)
	}
	if all := conversationsOf(t, f, rests); len(all) != 1 || all[0].Status != cw.ConversationCancelled || all[0].Reason == "" {
		t.Errorf("of a question that nobody heard is kept: %+v", all)
	}
	view, err := a.s.Ask(soon(t), cw.AskRequest{Question: "x", AgentID: rests, Queue: true})
	ok(t, err)
	if view.Status != cw.ConversationPending || !view.Queue || view.To != rests {
		t.Errorf("queued: %+v", view)
	}
	v, err := f.Services.Agent(soon(t), rests)
	ok(t, err)
	if v.Status != cw.StatusIdle {
		t.Errorf("a question that is only queued made it %s", v.Status)
	}
}

// manyConversationsCase: one agent has only so many questions open.
func manyConversationsCase(t *testing.T, f Fixture) {
	three := talkers(t, f, 3)
	for range cw.ConversationsOpen / 2 {
		three[0].asks(t, three[1], "x")
		three[0].asks(t, three[2], "x")
	}
	_, err := three[0].s.Ask(soon(t), cw.AskRequest{Question: "one more", AgentID: three[1].name})
	wantCode(t, "past the limit", err, cw.CodeRefused)
	if cw.ErrorHint(err) == "" {
		t.Errorf("no hint beside %v", err)
	}
	three[1].hears(t, cw.ConversationsOpen/2)
}
