package store

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/cw"
)

// say is one answer.
func say(q cw.QuestionID, answer string) cw.GivenAnswer {
	return cw.GivenAnswer{QuestionID: q, Answer: answer}
}

// answer answers all open questions of an agent.
func (b *bench) answer(alias string) {
	b.t.Helper()
	for range b.agent(alias).PendingQuestions {
		b.answerOne(alias, 0)
	}
}

// answerOne answers one of the open questions of an agent.
func (b *bench) answerOne(alias string, i int) {
	b.t.Helper()
	q := b.agent(alias).PendingQuestions[i]
	_, err := b.AnswerQuestions(b.t.Context(), cw.Answering{Answers: []cw.GivenAnswer{say(q.ID, "yes")}, By: person()})
	b.must(err)
}

// TestAnswers answers a group in two steps and reads everything back.
func TestAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusWaitingForInput, "Which?", "When?", "Why?")
	open := b.agent("brave-otter").PendingQuestions
	same(t, "order of the group", texts(open), []string{"Which?", "When?", "Why?"})
	told, at := len(b.toldEvents()), time.Now().UTC().Round(0)
	views, err := b.AnswerQuestions(t.Context(), cw.Answering{
		Answers: []cw.GivenAnswer{say(open[2].ID, "because"), say(open[0].ID, "this")},
		By:      cw.Actor{Kind: cw.ActorDashboard, ID: "dashdashdash"}, At: at,
	})
	b.must(err)
	for i, want := range []string{"because", "this"} {
		v := views[i]
		if v.Answer != want || v.Status != cw.QuestionAnswered || v.AnsweredBy != "dashboard:dashdashdash" || !v.AnsweredAt.Equal(at) ||
			v.Agent != "brave-otter" || v.Options == nil {
			t.Errorf("answered: %+v", v)
		}
		stored, err := b.QuestionByID(t.Context(), string(v.ID))
		b.must(err)
		same(t, "stored", stored, v)
	}
	events := b.toldEvents()[told:]
	for i, left := range []string{`"open":2`, `"open":1`} {
		e := events[i]
		if e.Type != cw.EventQuestionAnswered || e.AgentID != in.Agent.ID || e.RunID != in.Run.ID || e.ActorKind != cw.ActorDashboard ||
			!strings.Contains(string(e.Data), left) || !strings.Contains(string(e.Data), views[i].Answer) {
			t.Errorf("event: %+v %s", e, e.Data)
		}
	}
	same(t, "still open", texts(b.agent("brave-otter").PendingQuestions), []string{"When?"})
	_, err = b.QuestionByID(t.Context(), "nothing")
	refuses(t, err, cw.CodeNotFound, "cw question list")
}

func texts(questions []cw.Question) []string {
	var out []string
	for _, q := range questions {
		out = append(out, q.Text)
	}
	return out
}

// TestAnswersAllOrNone: one that cannot be stored keeps all others from being
// stored, and names what was answered before.
func TestAnswersAllOrNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.restingAgent("brave-otter", cw.StatusWaitingForInput, "Which?", "When?")
	b.restingAgent("calm-bear", cw.StatusWaitingForInput, "What?")
	gone := b.restingAgent("gone-goat", cw.StatusWaitingForInput, "Who?")
	lost := b.agent("gone-goat").PendingQuestions[0].ID
	b.removeAgent(gone.Agent.ID)
	open := b.agent("brave-otter").PendingQuestions
	bear := b.agent("calm-bear").PendingQuestions[0].ID
	_, err := b.AnswerQuestions(t.Context(), cw.Answering{
		Answers: []cw.GivenAnswer{say(bear, "the first answer "+strings.Repeat("long ", 100))}, By: person(), At: time.Unix(1_800_000_000, 0),
	})
	b.must(err)
	for _, c := range []struct {
		name, text string
		code       cw.Code
		second     []cw.GivenAnswer
	}{
		{"answered", `was answered already at 2027-01-15T08:00:00Z: "the first answer long`, cw.CodeRefused, []cw.GivenAnswer{say(bear, "late")}},
		{"withdrawn", "was withdrawn", cw.CodeRefused, []cw.GivenAnswer{say(lost, "late")}},
		{"of a removed agent", "cw agent restore gone-goat", cw.CodeRefused, []cw.GivenAnswer{say(lost, "late")}},
		{"unknown", `no question "nothing"`, cw.CodeNotFound, []cw.GivenAnswer{say("nothing", "late")}},
		{"the same twice", `was answered already`, cw.CodeRefused, []cw.GivenAnswer{say(open[0].ID, "other")}},
	} {
		before, told := b.dump(), len(b.toldEvents())
		views, err := b.AnswerQuestions(t.Context(), cw.Answering{
			Answers: append([]cw.GivenAnswer{say(open[0].ID, "this"), say(open[1].ID, "then")}, c.second...), By: person(),
		})
		refuses(t, err, c.code, c.text)
		if views != nil || len(err.Error()) > 250 {
			t.Errorf("%s: %d views, error %q", c.name, len(views), err)
		}
		same(t, "rows after "+c.name, b.dump(), before)
		if len(b.toldEvents()) != told {
			t.Errorf("%s was told", c.name)
		}
	}
	_, err = b.AnswerQuestions(t.Context(), cw.Answering{})
	refuses(t, err, cw.CodeInvalid, "no answer")
	b.exec("UPDATE questions SET status = 'open' WHERE id = ?", lost)
	_, err = b.AnswerQuestions(t.Context(), cw.Answering{Answers: []cw.GivenAnswer{say(lost, "x")}})
	refuses(t, err, cw.CodeRefused, "is removed")
}

// TestConcurrentAnswers: of many who answer the same question one does, and all
// others are told its answer; answers to different questions are all stored.
func TestConcurrentAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var asks []string
	for i := range 16 {
		asks = append(asks, fmt.Sprintf("Question %d?", i))
	}
	b.restingAgent("brave-otter", cw.StatusWaitingForInput, asks...)
	open := b.agent("brave-otter").PendingQuestions
	var won [16]atomic.Int32
	var words [16]atomic.Value
	var refused sync.Map
	var wg sync.WaitGroup
	for i := range 16 * 4 {
		wg.Go(func() {
			q, word := i%16, fmt.Sprintf("word %d", i)
			_, err := b.AnswerQuestions(t.Context(), cw.Answering{Answers: []cw.GivenAnswer{say(open[q].ID, word)}, By: person()})
			if err == nil {
				won[q].Add(1)
				words[q].Store(word)
				return
			}
			refused.Store(i, err)
		})
	}
	wg.Wait()
	for q := range won {
		stored, err := b.QuestionByID(t.Context(), string(open[q].ID))
		b.must(err)
		if won[q].Load() != 1 || stored.Answer != words[q].Load() {
			t.Fatalf("question %d: %d answers, stored %q", q, won[q].Load(), stored.Answer)
		}
	}
	refused.Range(func(i, err any) bool {
		word, _ := words[i.(int)%16].Load().(string)
		refuses(t, err.(error), cw.CodeRefused, word)
		return true
	})
	ready, err := b.ReadyAgents(t.Context())
	b.must(err)
	if len(ready) != 1 {
		t.Errorf("ready: %v", ready)
	}
}

// TestQuestionPages walks the questions of several agents, in pages of each
// size, with and without filters: groups stay in order.
func TestQuestionPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.restingAgent("brave-otter", cw.StatusWaitingForInput, "1", "2", "3", "a", "b", "c", "d")
	bear := b.restingAgent("calm-bear", cw.StatusWaitingForInput, "4", "5")
	gone := b.restingAgent("gone-goat", cw.StatusWaitingForInput, "6")
	b.removeAgent(gone.Agent.ID)
	b.answerOne("calm-bear", 0)
	for _, c := range []struct {
		filter cw.QuestionFilter
		want   string
	}{
		{cw.QuestionFilter{}, "1 2 3 a b c d 4 5 6"},
		{cw.QuestionFilter{PageQuery: cw.PageQuery{Sort: "-createdAt"}}, "6 5 4 d c b a 3 2 1"},
		{cw.QuestionFilter{Statuses: []cw.QuestionStatus{cw.QuestionOpen}}, "1 2 3 a b c d 5"},
		{cw.QuestionFilter{Statuses: []cw.QuestionStatus{cw.QuestionAnswered, cw.QuestionWithdrawn}}, "4 6"},
		{cw.QuestionFilter{Agent: "calm-bear"}, "4 5"},
		{cw.QuestionFilter{Agent: string(bear.Agent.ID), Statuses: []cw.QuestionStatus{cw.QuestionOpen}}, "5"},
		{cw.QuestionFilter{Agent: "gone-goat"}, "6"},
	} {
		for limit := 1; limit < 11; limit++ {
			var got []string
			f := c.filter
			for f.Limit = limit; ; {
				page, err := b.QuestionPage(t.Context(), f)
				b.must(err)
				for _, v := range page.Items {
					got = append(got, v.Text)
					if a := b.agent(v.Agent); a.ID != v.AgentID || v.Options == nil {
						t.Errorf("%+v is of %s", v, a.ID)
					}
				}
				if f.Cursor = page.Next; f.Cursor == "" || len(got) > 10 {
					break
				}
			}
			same(t, fmt.Sprintf("%+v", c.filter), strings.Join(got, " "), c.want)
		}
	}
	page, err := b.QuestionPage(t.Context(), cw.QuestionFilter{PageQuery: cw.PageQuery{Limit: 1}})
	b.must(err)
	_, err = b.QuestionPage(t.Context(), cw.QuestionFilter{PageQuery: cw.PageQuery{Cursor: page.Next}, Agent: "calm-bear"})
	refuses(t, err, cw.CodeInvalid, "another filter")
	_, err = b.QuestionPage(t.Context(), cw.QuestionFilter{Agent: "brave-oter"})
	refuses(t, err, cw.CodeNotFound, "did you mean brave-otter?")
	_, err = b.QuestionPage(t.Context(), cw.QuestionFilter{Statuses: []cw.QuestionStatus{"closed"}})
	refuses(t, err, cw.CodeInvalid, "withdrawn")
}

// TestLastQuestions: the newest group that asked for a rest, whole and in order.
func TestLastQuestions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusWaitingForInput, "old 1", "old 2")
	b.restingAgent("calm-bear", cw.StatusWaitingForInput, "another's")
	last := func() []string {
		q, err := b.LastQuestions(t.Context(), in.Agent.ID)
		b.must(err)
		return texts(q)
	}
	same(t, "first group", last(), []string{"old 1", "old 2"})
	b.answer("brave-otter")
	next := nextRun(in.Agent.ID, 2, "answers")
	b.must(b.IntendRun(t.Context(), next))
	b.must(b.SaveRunning(t.Context(), cw.Running{AgentID: in.Agent.ID, RunID: next.Run.ID, OpID: next.Op.ID}))
	f := finishNext(next, cw.StatusRunning, cw.StatusWaitingForInput)
	f.Questions = questions("new 1", "new 2", "new 3")
	_, err := b.FinishRun(t.Context(), f)
	b.must(err)
	b.answerOne("brave-otter", 1)
	b.must(b.state.write.Create(&cw.Question{
		ID: cw.QuestionID(cw.NewID()), AgentID: in.Agent.ID, RequestID: "tool", Seq: 1, Source: "tool", Text: "a tool's", Status: cw.QuestionOpen,
		CreatedAt: time.Now().Add(time.Hour),
	}).Error)
	same(t, "newest group", last(), []string{"new 1", "new 2", "new 3"})
	none, err := b.LastQuestions(t.Context(), "nobody")
	b.must(err)
	if none == nil || len(none) != 0 {
		t.Errorf("without questions: %v", none)
	}
}

// TestMessagePages: the texts of one agent in their order, whatever clock wrote
// them.
func TestMessagePages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in, other := b.restingAgent("brave-otter", cw.StatusIdle), b.restingAgent("calm-bear", cw.StatusIdle)
	b.queue(other.Agent.ID, "another's")
	want := []string{"do it"}
	for i := range 9 {
		m := cw.Message{AgentID: in.Agent.ID, Body: fmt.Sprint(i), CreatedAt: time.Unix(1_900_000_000-int64(i/3), 0)} // a clock that goes back
		stored, err := b.QueueMessage(t.Context(), m, event(cw.EventMessageQueued, m.Body))
		b.must(err)
		if stored.Seq != i+2 || stored.Role != cw.RoleUser || stored.QueuedAt == nil || stored.DeliveredAt != nil || !cw.IsID(string(stored.ID)) {
			t.Errorf("stored: %+v", stored)
		}
		want = append(want, m.Body)
	}
	for limit := 1; limit < 12; limit++ {
		for _, sort := range []string{"createdAt", "-createdAt"} {
			var got []string
			for q := (cw.PageQuery{Limit: limit, Sort: sort}); ; {
				page, err := b.MessagePage(t.Context(), in.Agent.ID, q)
				b.must(err)
				got = append(got, bodies(page.Items)...)
				if q.Cursor = page.Next; q.Cursor == "" || len(got) > 12 {
					break
				}
			}
			if sort[0] == '-' {
				slices.Reverse(got)
			}
			same(t, sort, got, want)
		}
	}
	page, err := b.MessagePage(t.Context(), in.Agent.ID, cw.PageQuery{Limit: 1})
	b.must(err)
	_, err = b.MessagePage(t.Context(), other.Agent.ID, cw.PageQuery{Cursor: page.Next})
	refuses(t, err, cw.CodeInvalid, "another filter")
	_, err = b.QueueMessage(t.Context(), cw.Message{AgentID: "nobody"}, event(cw.EventMessageQueued, ""))
	refuses(t, err, cw.CodeNotFound, "nobody")
	b.removeAgent(in.Agent.ID)
	_, err = b.QueueMessage(t.Context(), cw.Message{AgentID: in.Agent.ID}, event(cw.EventMessageQueued, ""))
	refuses(t, err, cw.CodeRefused, "cw agent restore brave-otter")
}
