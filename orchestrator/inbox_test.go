package orchestrator

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// TestInboxDue: when it is said that a question waits, and when it is withdrawn.
func TestInboxDue(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const never = time.Duration(-1)
	for _, tt := range []struct {
		name             string
		inbox            Inbox
		reminded, at     time.Duration // after it was asked; never: it was not
		remind, withdraw bool
		next             time.Duration
	}{
		{"nothing is asked for", Inbox{}, never, 1000 * time.Hour, false, false, never},
		{"before", Inbox{RemindAfter: time.Hour}, never, time.Hour - 1, false, false, time.Hour},
		{"due", Inbox{RemindAfter: time.Hour}, never, time.Hour, true, false, 2 * time.Hour},
		{"said", Inbox{RemindAfter: time.Hour}, time.Hour, time.Hour + 1, false, false, 2 * time.Hour},
		{"again", Inbox{RemindAfter: time.Hour}, time.Hour, 2 * time.Hour, true, false, 4 * time.Hour},
		{"a third time", Inbox{RemindAfter: time.Hour}, 2 * time.Hour, 3 * time.Hour, false, false, 4 * time.Hour},
		{"missed ones are said once", Inbox{RemindAfter: time.Hour}, time.Hour, 9 * time.Hour, true, false, 16 * time.Hour},
		{"not yet over", Inbox{ExpireAfter: time.Hour}, never, time.Hour - 1, false, false, time.Hour},
		{"over", Inbox{ExpireAfter: time.Hour}, never, time.Hour, false, true, never},
		{"over before it is said", Inbox{RemindAfter: 2 * time.Hour, ExpireAfter: time.Hour}, never, 3 * time.Hour, false, true, never},
		{"said, and over next", Inbox{RemindAfter: time.Hour, ExpireAfter: 90 * time.Minute}, never, time.Hour, true, false, 90 * time.Minute},
	} {
		q := cw.Question{CreatedAt: asked}
		if tt.reminded != never {
			at := asked.Add(tt.reminded)
			q.RemindedAt = &at
		}
		remind, withdraw, next := tt.inbox.due(q, asked.Add(tt.at))
		got := next.Sub(asked)
		if next.IsZero() {
			got = never
		}
		if remind != tt.remind || withdraw != tt.withdraw || got != tt.next {
			t.Errorf("%s: remind %v, withdraw %v, next after %s", tt.name, remind, withdraw, got)
		}
	}
	for d, want := range map[time.Duration]string{2 * time.Hour: "2h", 90 * time.Minute: "1h30m", time.Minute: "1m", 10 * time.Second: "10s", 48 * time.Hour: "48h"} {
		if got := shownSpan(d); got != want {
			t.Errorf("%s is shown as %s", d, got)
		}
	}
}

// inboxStore holds one question.
type inboxStore struct {
	Store
	mu  sync.Mutex
	q   cw.Question // guarded by mu
	log []string    // guarded by mu; what was done, and when
}

func (s *inboxStore) OpenQuestions(context.Context) ([]cw.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.q.Status != cw.QuestionOpen {
		return nil, nil
	}
	return []cw.Question{s.q}, nil
}

func (s *inboxStore) RemindQuestion(_ context.Context, _ cw.QuestionID, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.q.RemindedAt, s.log = &at, append(s.log, "reminded after "+at.Sub(s.q.CreatedAt).String())
	return nil
}

func (s *inboxStore) ExpireQuestion(_ context.Context, _ cw.QuestionID, reason string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.q.Status, s.log = cw.QuestionWithdrawn, append(s.log, reason)
	return true, nil
}

// TestWatchInbox: the loop says what is due at its time, and no daemon says it
// again.
func TestWatchInbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &inboxStore{q: cw.Question{ID: "q", Status: cw.QuestionOpen, CreatedAt: time.Now()}}
		for _, lives := range []time.Duration{20 * time.Minute, 60 * time.Minute, 100 * time.Minute} {
			ctx, cancel := context.WithTimeout(t.Context(), lives)
			o := New(Config{Store: db, Inbox: Inbox{RemindAfter: 15 * time.Minute, ExpireAfter: 150 * time.Minute}, Log: slog.New(slog.DiscardHandler)})
			o.jobs = make(chan job, 1)
			o.watchInbox(ctx)
			cancel()
		}
		want := []string{"reminded after 15m0s", "reminded after 30m0s", "reminded after 1h0m0s", "reminded after 2h0m0s", "nobody answered within 2h30m"}
		if !slices.Equal(db.log, want) {
			t.Errorf("done: %q", db.log)
		}
	})
}

// TestClosedSince: whether a silent run waits for people.
func TestClosedSince(t *testing.T) {
	t.Parallel()
	early, late := time.Unix(100, 0), time.Unix(200, 0)
	open := cw.Question{Status: cw.QuestionOpen}
	answered := cw.Question{Status: cw.QuestionAnswered, AnsweredAt: &early, FetchedAt: &late}
	for _, tt := range []struct {
		asked []cw.Question
		open  bool
		since time.Time
	}{
		{nil, false, time.Time{}},
		{[]cw.Question{open}, true, time.Time{}},
		{[]cw.Question{answered}, false, late},
		{[]cw.Question{answered, open}, true, late},
	} {
		if is, since := closedSince(tt.asked); is != tt.open || !since.Equal(tt.since) {
			t.Errorf("%+v: %v, %s", tt.asked, is, since)
		}
	}
}

// TestAskPeople: who may ask and wait, that a silence is excused while a call
// waits, and that a call is told when nobody answers.
func TestAskPeople(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(c *Config) { c.Inbox = Inbox{ExpireAfter: time.Second} })
	v, other := e.mustSpawn(e.request(fakecli.Script{Hang: true})), e.mustSpawn(e.request(fakecli.Script{Hang: true, Seed: 1}))
	as := func(v cw.AgentView) context.Context {
		return cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorAgent, ID: string(v.ID), AgentID: v.ID, RunID: v.Runs[0].ID})
	}
	req := cw.PeopleRequest{RequestKey: "k", Questions: []cw.ToolQuestion{{
		Header: "Colour", Question: "Which?", Options: []cw.QuestionOption{{Label: "red"}, {Label: "blue"}},
	}}}
	person := cw.WithActor(t.Context(), cw.Actor{Kind: cw.ActorPerson})
	if _, err := e.AskPeople(person, req); cw.ErrorCode(err) != cw.CodeForbidden {
		t.Errorf("a person asks: %v", err)
	}
	asked, err := e.AskPeople(as(v), req)
	must(t, err)
	again, err := e.AskPeople(as(v), req)
	must(t, err)
	if len(asked) != 1 || again[0].ID != asked[0].ID {
		t.Errorf("asked %+v, then %+v", asked, again)
	}
	if _, err := e.AwaitAnswers(as(other), asked[0].RequestID); cw.ErrorCode(err) != cw.CodeForbidden {
		t.Errorf("another agent waits: %v", err)
	}
	if _, err := e.AwaitAnswers(as(v), "nnnnnnnnnnnn"); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("unknown: %v", err)
	}
	seen, err := e.AwaitAnswers(person, asked[0].RequestID)
	must(t, err)
	if seen[0].FetchedAt != nil {
		t.Error("a person has taken the answer of a call")
	}
	got, err := e.AwaitAnswers(as(v), asked[0].RequestID)
	must(t, err)
	if q := got[0]; q.Status != cw.QuestionWithdrawn || q.Reason != "nobody answered within 1s" || q.FetchedAt == nil {
		t.Errorf("told %+v", q)
	}
	_, err = e.Answer(person, cw.AnswersRequest{Answers: map[cw.QuestionID]string{asked[0].ID: "red"}})
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "nobody answered") {
		t.Errorf("an answer afterwards: %v", err)
	}
}

// TestCallIsNoSilence: a run is not silent while a call of it waits for people,
// and its silence begins with their answer.
func TestCallIsNoSilence(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "codex")
	f := tp.follower()
	defer f.close()
	by := cw.Actor{Kind: cw.ActorAgent, AgentID: tp.state.Agent.ID, RunID: tp.state.Run.ID}
	asked, _, err := tp.db.AskPeople(t.Context(), cw.Asking{
		AgentID: by.AgentID, RunID: by.RunID, By: by,
		Questions: []cw.Question{{Seq: 1, Source: cw.AskedByTool, Status: cw.QuestionOpen, Text: "Which?"}},
	})
	must(t, err)
	ended := func() { t.Error("the run is ended") }
	for _, after := range []time.Duration{15 * time.Minute, 10 * time.Hour} {
		f.watchPatience(t.Context(), f.silence.Since.Add(after), ended)
	}
	if told := tp.stalls(by.AgentID); len(told) != 0 {
		t.Errorf("it waits for people, and is told as silent: %+v", told)
	}
	at := f.silence.Since.Add(10 * time.Hour).UTC()
	_, err = tp.db.AnswerQuestions(t.Context(), cw.Answering{Answers: []cw.GivenAnswer{{QuestionID: asked[0].ID, Answer: "red"}}, At: at})
	must(t, err)
	f.watchPatience(t.Context(), at.Add(time.Minute), ended)
	if told := tp.stalls(by.AgentID); len(told) != 0 || !f.silence.Since.Equal(at) {
		t.Errorf("just answered, silent since %s: %+v", f.silence.Since, told)
	}
	f.watchPatience(t.Context(), at.Add(time.Hour), ended)
	f.watchPatience(t.Context(), at.Add(2*time.Hour), ended)
	if told := tp.stalls(by.AgentID); len(told) != 1 || !told[0].Since.Equal(at) {
		t.Errorf("silent after the answer: %+v", told)
	}
}
