package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// answerShown is how much of an answer an error repeats, in characters.
const answerShown = 60

// addQuestions stores the questions with which a run ended. Each is a little
// later than the one before, so that their order by time is that of the group.
func (t *tx) addQuestions(f cw.Finish) error {
	for i, q := range f.Questions {
		q.AgentID, q.RunID = f.AgentID, f.RunID
		q.ID = cmp.Or(q.ID, cw.QuestionID(cw.NewID()))
		q.Seq = cmp.Or(q.Seq, i+1)
		q.Status = cmp.Or(q.Status, cw.QuestionOpen)
		if q.CreatedAt.IsZero() {
			q.CreatedAt = t.now
		}
		q.CreatedAt = q.CreatedAt.Add(time.Duration(i))
		if err := t.Create(&q).Error; err != nil {
			return fmt.Errorf("store question: %w", err)
		}
	}
	return nil
}

// QuestionPage gives one page of questions. CodeInvalid as
// cw.QuestionFilter.Start; CodeNotFound when the filter names an agent that is
// not there.
func (db *DB) QuestionPage(ctx context.Context, f cw.QuestionFilter) (cw.Page[cw.QuestionView], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.QuestionView]{}, err
	}
	var page cw.Page[cw.QuestionView]
	err = db.query(ctx, "list questions", func(g *gorm.DB) error {
		q, err := selectQuestions(g, f)
		if err != nil {
			return err
		}
		questions, err := pageOf[cw.Question](q, start, "created_at")
		if err != nil {
			return err
		}
		page.Next = questions.Next
		page.Items, err = questionViews(g, questions.Items)
		return err
	})
	return page, err
}

func selectQuestions(g *gorm.DB, f cw.QuestionFilter) (*gorm.DB, error) {
	q := g
	switch len(f.Statuses) {
	case 0:
	case 1: // as the index begins
		q = q.Where("status = ?", f.Statuses[0])
	default:
		q = q.Where("status IN (SELECT value FROM json_each(?))", list(f.Statuses))
	}
	if f.Agent == "" {
		return q, nil
	}
	agent, err := agentByRef(g, f.Agent)
	return q.Where("agent_id = ?", agent.ID), err
}

// questionViews adds the names of the agents that ask.
func questionViews(g *gorm.DB, questions []cw.Question) ([]cw.QuestionView, error) {
	ids := make([]cw.AgentID, len(questions))
	for i, q := range questions {
		ids[i] = q.AgentID
	}
	var agents []cw.Agent
	err := g.Select("id", "alias").Where("id IN (SELECT value FROM json_each(?))", list(ids)).Find(&agents).Error
	if err != nil {
		return nil, err
	}
	aliases := make(map[cw.AgentID]string, len(agents))
	for _, a := range agents {
		aliases[a.ID] = a.Alias
	}
	views := make([]cw.QuestionView, len(questions))
	for i, q := range questions {
		q.Options = orEmpty(q.Options)
		views[i] = cw.QuestionView{Question: q, Agent: aliases[q.AgentID]}
	}
	return views, nil
}

// QuestionByID gives one. CodeNotFound.
func (db *DB) QuestionByID(ctx context.Context, id string) (cw.QuestionView, error) {
	var view cw.QuestionView
	err := db.query(ctx, "read question", func(g *gorm.DB) error {
		q, err := questionByID(g, cw.QuestionID(id))
		if err != nil {
			return err
		}
		views, err := questionViews(g, []cw.Question{q})
		if err != nil {
			return err
		}
		view = views[0]
		return nil
	})
	return view, err
}

func questionByID(g *gorm.DB, id cw.QuestionID) (cw.Question, error) {
	var q cw.Question
	found, err := one(g, &q, "id = ?", id)
	if err == nil && !found {
		err = cw.Errorf(cw.CodeNotFound, "there is no question %.100q", string(id)).
			WithHint("open questions: cw question list")
	}
	return q, err
}

// AnswerQuestions stores answers, all or none, with question:answered for each,
// and gives the questions as they are then. A question is answered once: the
// first answer counts, whoever gives the second is told it.
//
// CodeInvalid for no answer at all; CodeNotFound; CodeRefused, with what was
// answered, for a question that is not open or whose agent is removed.
func (db *DB) AnswerQuestions(ctx context.Context, a cw.Answering) ([]cw.QuestionView, error) {
	if len(a.Answers) == 0 {
		return nil, cw.Errorf(cw.CodeInvalid, "there is no answer").WithHint("open questions: cw question list")
	}
	var views []cw.QuestionView
	err := db.change(ctx, "answer questions", func(t *tx) error {
		if a.At.IsZero() {
			a.At = t.now
		}
		views = make([]cw.QuestionView, len(a.Answers))
		for i, given := range a.Answers {
			if db.guards.Off("answer-open") {
				t.Exec("UPDATE questions SET status = 'open' WHERE id = ?", given.QuestionID)
			}
			view, err := t.answer(given, a.By, a.At)
			if err != nil {
				return err
			}
			views[i] = view
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return views, nil
}

func (t *tx) answer(given cw.GivenAnswer, by cw.Actor, at time.Time) (cw.QuestionView, error) {
	q, err := questionByID(t.DB, given.QuestionID)
	if err != nil {
		return cw.QuestionView{}, err
	}
	agent, err := t.loadAgent(q.AgentID)
	if err != nil {
		return cw.QuestionView{}, err
	}
	switch {
	case q.Status != cw.QuestionOpen:
		return cw.QuestionView{}, notOpen(q, agent)
	case agent.DeletedAt != nil:
		return cw.QuestionView{}, refusedRemoved(agent)
	}
	q.Status, q.Answer, q.AnsweredBy, q.AnsweredAt = cw.QuestionAnswered, given.Answer, actorName(by), &at
	changed := t.Model(&q).Where("status = ?", cw.QuestionOpen).
		Select("status", "answer_json", "answered_by", "answered_at").Updates(&q)
	if err := orMissing(changed, "open question", string(q.ID)); err != nil {
		return cw.QuestionView{}, err
	}
	var open int64
	if err := t.openQuestions(agent.ID).Count(&open).Error; err != nil {
		return cw.QuestionView{}, err
	}
	q.Options = orEmpty(q.Options)
	return cw.QuestionView{Question: q, Agent: agent.Alias}, t.emit(
		cw.NewEvent(cw.EventQuestionAnswered, by, cw.QuestionAnsweredPayload{
			QuestionID: q.ID, RequestID: q.RequestID, Name: agent.Alias, Answer: q.Answer, Open: int(open),
		}).About(agent.ID, q.RunID))
}

// actorName tells who answered: the kind of the actor, and its id where it has
// one.
func actorName(a cw.Actor) string {
	if a.ID == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.ID
}

// notOpen says what became of a question.
func notOpen(q cw.Question, agent cw.Agent) error {
	if q.Unanswered() {
		err := cw.Errorf(cw.CodeRefused, "question %s was withdrawn: %s", q.ID, q.Reason)
		if agent.Status == cw.StatusStopped {
			return err.WithHint("start its agent again with what you want to say: cw agent resume %s \"…\"", agent.Alias)
		}
		return err.WithHint("its agent is told so; to say more: cw agent send %s", agent.Alias)
	}
	if q.Status != cw.QuestionAnswered {
		return cw.Errorf(cw.CodeRefused, "question %s was %s", q.ID, q.Status).
			WithHint("its agent was removed; bring both back with: cw agent restore %s", agent.Alias)
	}
	when := ""
	if q.AnsweredAt != nil {
		when = " at " + q.AnsweredAt.UTC().Format(time.RFC3339)
	}
	return cw.Errorf(cw.CodeRefused, "question %s was answered already%s: %.*q", q.ID, when, answerShown, q.Answer).
		WithHint("the first answer counts; to say more: cw agent send %s", agent.Alias)
}

// openQuestions selects the questions of an agent that wait for an answer.
func (t *tx) openQuestions(agent cw.AgentID) *gorm.DB {
	return t.Model(&cw.Question{}).Where("agent_id = ? AND status = ?", agent, cw.QuestionOpen)
}

// withdrawQuestions takes back the open questions of an agent that is removed or
// stopped, with question:withdrawn for each.
func (t *tx) withdrawQuestions(agent cw.Agent, reason string, by cw.Actor) error {
	open := t.Where("status = ?", cw.QuestionOpen)
	return t.turnQuestions(agent, open, cw.Question{Status: cw.QuestionWithdrawn, Reason: reason}, func(q cw.Question) cw.Event {
		return cw.NewEvent(cw.EventQuestionWithdrawn, by, cw.QuestionWithdrawnPayload{
			QuestionID: q.ID, Name: agent.Alias, Reason: reason,
		})
	})
}

// reopenQuestions asks again what was withdrawn with the agent, with
// question:requested for each: the agent is back and still waits for it.
func (t *tx) reopenQuestions(agent cw.Agent, by cw.Actor) error {
	withdrawn := t.Where("status = ? AND reason IN ('', ?)", cw.QuestionWithdrawn, cw.WithdrawnRemoved)
	return t.turnQuestions(agent, withdrawn, cw.Question{Status: cw.QuestionOpen}, func(q cw.Question) cw.Event {
		return cw.NewEvent(cw.EventQuestionRequested, by, cw.QuestionRequested{
			QuestionID: q.ID, RequestID: q.RequestID, Name: agent.Alias, Question: q.Text,
		})
	})
}

// turnQuestions gives some of an agent's questions another status, with its
// reason.
func (t *tx) turnQuestions(agent cw.Agent, some *gorm.DB, to cw.Question, told func(cw.Question) cw.Event) error {
	var questions []cw.Question
	err := some.Where("agent_id = ?", agent.ID).Order("created_at, id").Find(&questions).Error
	if err != nil {
		return err
	}
	for _, q := range questions {
		if err := t.Model(&q).Select("status", "reason").Updates(&to).Error; err != nil {
			return err
		}
		if err := t.emit(told(q).About(agent.ID, q.RunID)); err != nil {
			return err
		}
	}
	return nil
}

// LastQuestions gives the questions of the agent's newest group that asked for a
// rest, in order, answered ones too; none when it never asked. Those that a tool
// waits for are no rest.
func (db *DB) LastQuestions(ctx context.Context, agent cw.AgentID) ([]cw.Question, error) {
	questions := []cw.Question{}
	err := db.query(ctx, "read the last questions", func(g *gorm.DB) error {
		var last cw.Question
		found, err := one(g.Order("created_at DESC, id DESC"), &last, "agent_id = ? AND source <> 'tool'", agent)
		if err != nil || !found {
			return err
		}
		return g.Where("request_id = ?", last.RequestID).Order("seq").Find(&questions).Error
	})
	for i := range questions {
		questions[i].Options = orEmpty(questions[i].Options)
	}
	return questions, err
}
