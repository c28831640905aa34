package servicetest

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// asked makes an agent that asks, and gives it with its open questions in the
// order of asking.
func asked(t *testing.T, f Fixture) (cw.AgentView, []cw.QuestionView) {
	t.Helper()
	view, err := f.Services.Agent(soon(t), f.Ask(t))
	ok(t, err)
	open := questionsOf(t, f, view.Alias, cw.QuestionOpen)
	if view.Status != cw.StatusWaitingForInput || len(open) != len(Asked()) {
		t.Fatalf("the agent is %s with %d open questions", view.Status, len(open))
	}
	return view, open
}

// questionsOf lists the questions of an agent, page by page.
func questionsOf(t *testing.T, f Fixture, agent string, statuses ...cw.QuestionStatus) []cw.QuestionView {
	t.Helper()
	return walk(t, 2, "", func(q cw.PageQuery) (cw.Page[cw.QuestionView], error) {
		return f.Services.Questions(soon(t), cw.QuestionFilter{PageQuery: q, Statuses: statuses, Agent: agent})
	})
}

func answers(pairs ...string) cw.AnswersRequest {
	req := cw.AnswersRequest{Answers: map[cw.QuestionID]string{}}
	for i := 0; i < len(pairs); i += 2 {
		req.Answers[cw.QuestionID(pairs[i])] = pairs[i+1]
	}
	return req
}

// questionsCase: what was asked is listed in its order, by every filter, in
// pages of every size, alone, and with its agent.
func questionsCase(t *testing.T, f Fixture) {
	s := f.Services
	view, open := asked(t, f)
	other, _ := asked(t, f)
	var bare []cw.Question
	for i, want := range Asked() {
		q := open[i]
		bare = append(bare, q.Question)
		if q.Agent != view.Alias || q.AgentID != view.ID || q.RunID == "" || q.RequestID != open[0].RequestID || q.Seq != i+1 || q.Status != cw.QuestionOpen ||
			q.Text != want.Text || q.Header != want.Header || q.MultiSelect != want.MultiSelect || q.Answer != "" || q.AnsweredAt != nil || q.CreatedAt.IsZero() {
			t.Errorf("question %d is %+v", i+1, q)
		}
		if diff := cmp.Diff(want.Labels(), q.Labels()); diff != "" || q.Options == nil {
			t.Errorf("options of question %d: %s", i+1, diff)
		}
		one, err := s.Question(soon(t), string(q.ID))
		ok(t, err)
		if diff := cmp.Diff(q, one); diff != "" {
			t.Errorf("by its id: %s", diff)
		}
	}
	if diff := cmp.Diff(bare, view.PendingQuestions); diff != "" {
		t.Errorf("with its agent: %s", diff)
	}
	for _, limit := range []int{1, 2, 3, cw.PageMax} {
		for _, ref := range []string{view.Alias, string(view.ID)} {
			read := func(q cw.PageQuery) (cw.Page[cw.QuestionView], error) {
				return s.Questions(soon(t), cw.QuestionFilter{PageQuery: q, Agent: ref})
			}
			down := walk(t, limit, "-createdAt", read)
			slices.Reverse(down)
			for sort, got := range map[string][]cw.QuestionView{"": walk(t, limit, "", read), "-createdAt, turned round": down} {
				if diff := cmp.Diff(open, got); diff != "" {
					t.Errorf("by %q in pages of %d: %s", sort, limit, diff)
				}
			}
		}
	}
	if got := questionsOf(t, f, view.Alias, cw.QuestionAnswered, cw.QuestionWithdrawn); len(got) != 0 {
		t.Errorf("answered or withdrawn: %v", got)
	}
	ofOther := func(q cw.QuestionView) bool { return q.Agent == other.Alias }
	if n := count(questionsOf(t, f, "", cw.QuestionOpen), ofOther); n != len(Asked()) {
		t.Errorf("of the other agent %d are listed among all", n)
	}
}

func badQuestionPagesCase(t *testing.T, f Fixture) {
	view, _ := asked(t, f)
	first, err := f.Services.Questions(soon(t), cw.QuestionFilter{PageQuery: cw.PageQuery{Limit: 1}, Agent: view.Alias})
	ok(t, err)
	for name, filter := range map[string]cw.QuestionFilter{
		"limit below":        {PageQuery: cw.PageQuery{Limit: -1}},
		"limit above":        {PageQuery: cw.PageQuery{Limit: cw.PageMax + 1}},
		"order unknown":      {PageQuery: cw.PageQuery{Sort: "name"}},
		"status unknown":     {Statuses: []cw.QuestionStatus{cw.QuestionOpen, "opne"}},
		"cursor of nowhere":  {PageQuery: cw.PageQuery{Cursor: "nowhere"}, Agent: view.Alias},
		"cursor of a filter": {PageQuery: cw.PageQuery{Cursor: first.Next}},
		"cursor of an order": {PageQuery: cw.PageQuery{Cursor: first.Next, Sort: "-createdAt"}, Agent: view.Alias},
	} {
		_, err := f.Services.Questions(soon(t), filter)
		wantCode(t, name, err, cw.CodeInvalid)
		if cw.ErrorHint(err) == "" {
			t.Errorf("%s: no hint beside %v", name, err)
		}
	}
}

// answersCase: the agent goes on once, when the last question is answered; each
// answer is kept as it was given, and given once.
func answersCase(t *testing.T, f Fixture) {
	s := f.Services
	view, open := asked(t, f)
	colour, sizes, next := string(open[0].ID), string(open[1].ID), string(open[2].ID)

	got, err := s.Answer(soon(t), answers(colour, " neither: green "))
	ok(t, err)
	if len(got) != 1 || string(got[0].ID) != colour || got[0].Status != cw.QuestionAnswered || got[0].Answer != "neither: green" ||
		got[0].AnsweredAt == nil || got[0].AnsweredBy == "" || got[0].Agent != view.Alias {
		t.Errorf("answered: %+v", got)
	}
	again, err := s.Question(soon(t), colour)
	ok(t, err)
	if diff := cmp.Diff(got[0], again); diff != "" {
		t.Errorf("as it is stored: %s", diff)
	}
	v, err := s.Agent(soon(t), view.Alias)
	ok(t, err)
	if v.Status != cw.StatusWaitingForInput || v.SessionNumber != view.SessionNumber || len(v.PendingQuestions) != 2 {
		t.Errorf("with two open it is %s, session %d, %d pending", v.Status, v.SessionNumber, len(v.PendingQuestions))
	}

	_, err = s.Answer(soon(t), answers(next, f.Text(), colour, "blue"))
	wantCode(t, "Answer what is answered", err, cw.CodeRefused)
	if err == nil || !strings.Contains(err.Error(), "neither: green") || !strings.Contains(err.Error(), colour) {
		t.Errorf("it does not name the question and its answer: %v", err)
	}
	if left := questionsOf(t, f, view.Alias, cw.QuestionOpen); len(left) != 2 {
		t.Fatalf("a refused request stored answers: %d are open", len(left))
	}

	text := f.Text()
	got, err = s.Answer(soon(t), answers(next, text, sizes, ` ["large","small"]`))
	ok(t, err)
	given := map[string]string{}
	for _, q := range got {
		given[string(q.ID)] = q.Answer
	}
	if diff := cmp.Diff(map[string]string{next: strings.TrimSpace(text), sizes: `["large","small"]`}, given); diff != "" {
		t.Errorf("answered: %s", diff)
	}
	v = until(t, f, view.Alias, "goes on", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	if v.SessionNumber != view.SessionNumber+1 || len(v.PendingQuestions) != 0 || v.Runs[len(v.Runs)-1].Reason != cw.RunAnswers {
		t.Errorf("session %d, %d pending, %+v", v.SessionNumber, len(v.PendingQuestions), v.Runs[len(v.Runs)-1])
	}
	checkAnsweredEvents(t, f, view, map[string]int{colour: 2, sizes: -1, next: -1})
	_, err = s.Stop(soon(t), view.Alias, cw.StopRequest{Now: true})
	ok(t, err)
}

// checkAnsweredEvents: one event for each answer. open says how many questions
// each left open; -1: one of those answered at once.
func checkAnsweredEvents(t *testing.T, f Fixture, view cw.AgentView, open map[string]int) {
	t.Helper()
	seen := map[string]bool{}
	last := -1
	for _, e := range eventsOf(t, f, view, cw.EventQuestionAnswered) {
		var told cw.QuestionAnsweredPayload
		ok(t, json.Unmarshal(e.Data, &told))
		want, known := open[string(told.QuestionID)]
		if !known || seen[string(told.QuestionID)] || want >= 0 && want != told.Open || told.Name != view.Alias || told.Answer == "" {
			t.Errorf("told: %s", e.Data)
		}
		seen[string(told.QuestionID)], last = true, told.Open
	}
	if len(seen) != len(open) || last != 0 {
		t.Errorf("%d of %d answers were told, the last left %d open", len(seen), len(open), last)
	}
}

// badAnswersCase: what is no answer is refused, and nothing of its request is
// stored.
func badAnswersCase(t *testing.T, f Fixture) {
	view, open := asked(t, f)
	colour, sizes, next := string(open[0].ID), string(open[1].ID), string(open[2].ID)
	for name, c := range map[string]struct {
		req  cw.AnswersRequest
		code cw.Code
	}{
		"none":              {answers(), cw.CodeInvalid},
		"unknown":           {answers(colour, "red", unknown, "yes"), cw.CodeNotFound},
		"empty":             {answers(colour, "red", next, ""), cw.CodeInvalid},
		"only space":        {answers(colour, "red", next, " \n\t"), cw.CodeInvalid},
		"too long":          {answers(colour, "red", next, strings.Repeat("x", cw.AnswerMax+1)), cw.CodeInvalid},
		"a zero byte":       {answers(colour, "red", next, "a\x00b"), cw.CodeInvalid},
		"wrong label":       {answers(colour, "red", sizes, `["small","lagre"]`), cw.CodeInvalid},
		"a label twice":     {answers(colour, "red", sizes, `["small","small"]`), cw.CodeInvalid},
		"no label":          {answers(colour, "red", sizes, `[]`), cw.CodeInvalid},
		"the agent's name":  {answers(view.Alias, "red"), cw.CodeNotFound},
		"the agent's key":   {answers(open[0].Key, "red"), cw.CodeNotFound},
		"another's id like": {answers(strings.ToUpper(colour)+"x", "red"), cw.CodeNotFound},
	} {
		_, err := f.Services.Answer(soon(t), c.req)
		wantCode(t, name, err, c.code)
		if err != nil && cw.ErrorHint(err) == "" {
			t.Errorf("%s: no hint beside %v", name, err)
		}
	}
	if diff := cmp.Diff(open, questionsOf(t, f, view.Alias)); diff != "" {
		t.Errorf("afterwards: %s", diff)
	}
	v, err := f.Services.Agent(soon(t), view.Alias)
	ok(t, err)
	if v.Status != cw.StatusWaitingForInput || v.SessionNumber != view.SessionNumber {
		t.Errorf("afterwards it is %s, session %d", v.Status, v.SessionNumber)
	}
}

// answersRaceCase: of many who answer the same questions at once one is the
// first, and the agent goes on once.
func answersRaceCase(t *testing.T, f Fixture) {
	view, open := asked(t, f)
	var first, refused atomic.Int64
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			req := answers(string(open[0].ID), []string{"red", "blue"}[i%2], string(open[1].ID), "small", string(open[2].ID), f.Text())
			_, err := f.Services.Answer(soon(t), req)
			switch cw.ErrorCode(err) {
			case "":
				first.Add(1)
			case cw.CodeRefused:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if first.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d were first, %d refused", first.Load(), refused.Load())
	}
	until(t, f, view.Alias, "goes on", func(v cw.AgentView) bool { return v.Status == cw.StatusRunning })
	v, err := f.Services.Stop(soon(t), view.Alias, cw.StopRequest{Now: true})
	ok(t, err)
	if v.SessionNumber != view.SessionNumber+1 || len(eventsOf(t, f, view, cw.EventAgentResumed)) != 1 {
		t.Errorf("session %d, resumed %d times", v.SessionNumber, len(eventsOf(t, f, view, cw.EventAgentResumed)))
	}
	checkAnsweredEvents(t, f, view, map[string]int{string(open[0].ID): -1, string(open[1].ID): -1, string(open[2].ID): -1})
}
