package servicetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cw/internal/cw"
)

// SignalQuestions ends an agent's run with questions to people. What they ask, offer and
// allow is taken from the given ones.
func (m *Memory) SignalQuestions(ref string, questions ...cw.Question) {
	m.change(func() {
		a, err := m.find(ref)
		if err != nil {
			panic(err)
		}
		by, run, group := cw.Actor{Kind: cw.ActorCW}, a.Runs[len(a.Runs)-1].ID, cw.RequestID(cw.NewID())
		for i, q := range questions {
			q.ID, q.AgentID, q.RunID, q.RequestID = cw.QuestionID(cw.NewID()), a.ID, run, group
			q.Seq, q.Key, q.Source, q.Status, q.CreatedAt = i+1, fmt.Sprint(i+1), cw.AskedBySignal, cw.QuestionOpen, m.now()
			if q.Options == nil {
				q.Options = []cw.QuestionOption{}
			}
			m.asked = append(m.asked, cw.QuestionView{Question: q, Agent: a.Alias})
			m.tellAsked(m.asked[len(m.asked)-1], by)
		}
		a.Status, a.UpdatedAt = cw.StatusWaitingForInput, m.now()
		m.tell(cw.NewEvent(cw.EventAgentWaiting, by, cw.AgentWaiting{Name: a.Alias, RequestID: group, Questions: len(questions)}).About(a.ID, run))
	})
}

func (m *Memory) tellAsked(q cw.QuestionView, by cw.Actor) {
	m.tell(cw.NewEvent(cw.EventQuestionRequested, by, cw.QuestionRequested{
		QuestionID: q.ID, RequestID: q.RequestID, Name: q.Agent, Question: q.Text,
	}).About(q.AgentID, q.RunID))
}

// open gives the open questions of an agent; the lock is held.
func (m *Memory) open(a *cw.AgentView) []*cw.QuestionView {
	var open []*cw.QuestionView
	for i := range m.asked {
		if q := &m.asked[i]; q.AgentID == a.ID && q.Status == cw.QuestionOpen {
			open = append(open, q)
		}
	}
	return open
}

// AskPeople implements cw.QuestionService.
func (m *Memory) AskPeople(ctx context.Context, req cw.PeopleRequest) (group []cw.Question, err error) {
	by := cw.ActorOf(ctx)
	if by.Kind != cw.ActorAgent {
		return nil, cw.Errorf(cw.CodeForbidden, "only agents ask people").WithHint("tell an agent something: cw agent send NAME TEXT")
	}
	if err := req.Check(); err != nil {
		return nil, err
	}
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.find(string(by.AgentID)); err == nil {
			group, err = m.askPeople(a, req, by)
		}
	})
	return group, err
}

func (m *Memory) askPeople(a *cw.AgentView, req cw.PeopleRequest, by cw.Actor) ([]cw.Question, error) {
	calls := 0
	for _, q := range m.asked {
		if q.AgentID == a.ID && q.RequestKey == req.RequestKey && req.RequestKey != "" {
			return m.group(q.RequestID), nil
		}
		if q.AgentID == a.ID && q.Status == cw.QuestionOpen && q.Source == cw.AskedByTool {
			calls++
		}
	}
	run := a.Runs[len(a.Runs)-1].ID
	switch {
	case !a.Status.Alive():
		return nil, cw.Errorf(cw.CodeRefused, "the run of %s is over", a.Alias)
	case calls+len(req.Questions) > cw.ToolQuestionsOpen:
		return nil, cw.Errorf(cw.CodeRefused, "%d of your questions are open already", calls).WithHint("wait for answers first")
	}
	id := cw.RequestID(cw.NewID())
	for _, q := range req.Rows() {
		q.ID, q.AgentID, q.RunID, q.RequestID, q.CreatedAt = cw.QuestionID(cw.NewID()), a.ID, run, id, m.now()
		m.asked = append(m.asked, cw.QuestionView{Question: q, Agent: a.Alias})
		m.tellAsked(m.asked[len(m.asked)-1], by)
	}
	return m.group(id), nil
}

// group gives the questions that were asked at once; the lock is held.
func (m *Memory) group(id cw.RequestID) []cw.Question {
	var group []cw.Question
	for _, q := range m.asked {
		if q.RequestID == id {
			group = append(group, q.Question)
		}
	}
	return group
}

// AskerOf gives the agent that asked a group of questions. CodeNotFound.
func (m *Memory) AskerOf(_ context.Context, id cw.RequestID) (cw.AgentID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	group := m.group(id)
	if len(group) == 0 {
		return "", cw.Errorf(cw.CodeNotFound, "no questions %.100q were asked", id)
	}
	return group[0].AgentID, nil
}

// AwaitAnswers implements cw.QuestionService.
func (m *Memory) AwaitAnswers(ctx context.Context, id cw.RequestID) ([]cw.Question, error) {
	defer m.reading()()
	by := cw.ActorOf(ctx)
	for {
		m.mu.Lock()
		group, changed := m.group(id), m.changed
		if by.Kind == cw.ActorAgent && cw.Closed(group) && len(group) > 0 && group[0].AgentID == by.AgentID {
			group = m.fetch(id)
		}
		m.mu.Unlock()
		switch {
		case len(group) == 0:
			return nil, cw.Errorf(cw.CodeNotFound, "no questions %.100q were asked", id)
		case by.Kind == cw.ActorAgent && group[0].AgentID != by.AgentID:
			return nil, cw.Errorf(cw.CodeForbidden, "these questions are another agent's").WithHint("wait for those that you asked")
		case cw.Closed(group):
			return group, nil
		}
		if err := wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// fetch marks a group as taken by its call; the lock is held.
func (m *Memory) fetch(id cw.RequestID) []cw.Question {
	at := m.now()
	for i := range m.asked {
		if q := &m.asked[i]; q.RequestID == id && q.FetchedAt == nil {
			q.FetchedAt = &at
		}
	}
	return m.group(id)
}

// Questions implements cw.QuestionService.
func (m *Memory) Questions(_ context.Context, f cw.QuestionFilter) (cw.Page[cw.QuestionView], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.QuestionView]{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var of cw.AgentID
	if f.Agent != "" {
		a, err := m.find(f.Agent)
		if err != nil {
			return cw.Page[cw.QuestionView]{}, err
		}
		of = a.ID
	}
	var out []cw.QuestionView
	for _, q := range m.asked {
		if (of == "" || q.AgentID == of) && (len(f.Statuses) == 0 || slices.Contains(f.Statuses, q.Status)) {
			out = append(out, q)
		}
	}
	return pageOf(start, out), nil
}

// Question implements cw.QuestionService.
func (m *Memory) Question(_ context.Context, id string) (cw.QuestionView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q, err := m.question(cw.QuestionID(id))
	if err != nil {
		return cw.QuestionView{}, err
	}
	return *q, nil
}

func (m *Memory) question(id cw.QuestionID) (*cw.QuestionView, error) {
	for i := range m.asked {
		if m.asked[i].ID == id {
			return &m.asked[i], nil
		}
	}
	return nil, cw.Errorf(cw.CodeNotFound, "there is no question %.100q", id).WithHint("`cw question list` shows the open ones")
}

// Answer implements cw.QuestionService.
func (m *Memory) Answer(ctx context.Context, req cw.AnswersRequest) (answered []cw.QuestionView, err error) {
	if len(req.Answers) == 0 {
		return nil, cw.Errorf(cw.CodeInvalid, "no answer is given").WithHint("say for each question what the answer is")
	}
	m.change(func() {
		var given map[cw.QuestionID]string
		if given, err = m.checkAnswers(req.Answers); err == nil {
			answered = m.answer(given, cw.ActorOf(ctx))
		}
	})
	return answered, err
}

// checkAnswers gives all answers as they are stored, or why one of them is
// none.
func (m *Memory) checkAnswers(answers map[cw.QuestionID]string) (map[cw.QuestionID]string, error) {
	given := map[cw.QuestionID]string{}
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		q, err := m.question(id)
		if err != nil {
			return nil, err
		}
		switch q.Status {
		case cw.QuestionAnswered:
			return nil, cw.Errorf(cw.CodeRefused, "question %s was answered already: %.200s", q.ID, q.Answer).
				WithHint("tell the agent more: cw agent send %s TEXT", q.Agent)
		case cw.QuestionWithdrawn:
			if q.Unanswered() {
				return nil, cw.Errorf(cw.CodeRefused, "question %s was withdrawn: %s", q.ID, q.Reason).
					WithHint("start it again: cw agent resume %s TEXT", q.Agent)
			}
			return nil, cw.Errorf(cw.CodeRefused, "question %s was withdrawn: agent %s was removed", q.ID, q.Agent).
				WithHint("bring it back: cw agent restore %s", q.Agent)
		}
		if given[id], err = q.CheckAnswer(answers[id]); err != nil {
			return nil, err
		}
	}
	return given, nil
}

// answer stores checked answers, and lets the agents that have all of theirs
// go on.
func (m *Memory) answer(given map[cw.QuestionID]string, by cw.Actor) []cw.QuestionView {
	var answered []cw.QuestionView
	agents := map[cw.AgentID]bool{}
	at := m.now()
	for i := range m.asked {
		q := &m.asked[i]
		text, ok := given[q.ID]
		if !ok {
			continue
		}
		q.Status, q.Answer, q.AnsweredBy, q.AnsweredAt = cw.QuestionAnswered, text, string(by.Kind), &at
		answered, agents[q.AgentID] = append(answered, *q), true
		a, _ := m.find(string(q.AgentID)) // rows are never taken away
		m.tell(cw.NewEvent(cw.EventQuestionAnswered, by, cw.QuestionAnsweredPayload{
			QuestionID: q.ID, RequestID: q.RequestID, Name: a.Alias, Answer: text, Open: len(m.open(a)),
		}).About(a.ID, q.RunID))
	}
	for i := range m.agents {
		// An agent that runs has a call that waits.
		if a := &m.agents[i]; agents[a.ID] && len(m.open(a)) == 0 && !a.Status.Alive() {
			if text := m.answersText(a); text != "" {
				m.addMessage(cw.Message{AgentID: a.ID, Origin: cw.OriginCW, Body: text})
			}
			m.goOn(a)
		}
	}
	return answered
}

// tellUntold queues the answers that no call took; the lock is held.
func (m *Memory) tellUntold(a *cw.AgentView) {
	at := m.now()
	for i := range m.asked {
		q := &m.asked[i]
		if q.AgentID == a.ID && q.Status == cw.QuestionAnswered && q.Source == cw.AskedByTool && q.FetchedAt == nil {
			q.FetchedAt = &at
			m.addMessage(cw.Message{AgentID: a.ID, Origin: cw.OriginCW, Body: q.Text + "\n" + q.Answer})
		}
	}
}

// answersText is the prompt with the answers that an agent waits for, "" where
// its last run did not end with questions.
func (m *Memory) answersText(a *cw.AgentView) string {
	var text strings.Builder
	for _, q := range m.asked {
		if q.AgentID == a.ID && q.RunID == a.Runs[len(a.Runs)-1].ID && q.Source == cw.AskedBySignal {
			fmt.Fprintf(&text, "%s\n%s\n", q.Text, q.Answer)
		}
	}
	return text.String()
}
