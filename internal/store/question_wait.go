package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// OpenQuestions gives all questions that wait for an answer, oldest first.
func (db *DB) OpenQuestions(ctx context.Context) ([]cw.Question, error) {
	questions := []cw.Question{}
	err := db.query(ctx, "list open questions", func(g *gorm.DB) error {
		return g.Where("status = ?", cw.QuestionOpen).Order("created_at, id").Find(&questions).Error
	})
	return questions, err
}

// CountOpenQuestions tells how many questions wait for an answer.
func (db *DB) CountOpenQuestions(ctx context.Context) (int, error) {
	var n int64
	err := db.query(ctx, "count open questions", func(g *gorm.DB) error {
		return g.Model(&cw.Question{}).Where("status = ?", cw.QuestionOpen).Count(&n).Error
	})
	return int(n), err
}

// RunQuestions gives the questions that calls of a run asked.
func (db *DB) RunQuestions(ctx context.Context, agent cw.AgentID, run cw.RunID) ([]cw.Question, error) {
	questions := []cw.Question{}
	err := db.query(ctx, "read the questions of a run", func(g *gorm.DB) error {
		return g.Where("agent_id = ? AND run_id = ? AND source = 'tool'", agent, run).Find(&questions).Error
	})
	return questions, err
}

// RemindQuestion stores that it was said at that time that a question still
// waits, with question:reminded. Nothing of it when it is not open any more.
func (db *DB) RemindQuestion(ctx context.Context, id cw.QuestionID, at time.Time) error {
	return db.change(ctx, "remind of a question", func(t *tx) error {
		q, agent, open, err := t.openQuestion(id)
		if err != nil || !open {
			return err
		}
		if err := t.Model(&q).Select("reminded_at").Updates(&cw.Question{RemindedAt: &at}).Error; err != nil {
			return err
		}
		return t.emit(cw.NewEvent(cw.EventQuestionReminded, cw.Actor{Kind: cw.ActorCW}, cw.QuestionRemindedPayload{
			QuestionID: q.ID, RequestID: q.RequestID, Name: agent.Alias, Question: q.Text, AskedAt: q.CreatedAt,
		}).About(agent.ID, q.RunID))
	})
}

// ExpireQuestion withdraws a question that nobody answered, with
// question:withdrawn. false when it is not open any more.
func (db *DB) ExpireQuestion(ctx context.Context, id cw.QuestionID, reason string) (done bool, err error) {
	err = db.change(ctx, "withdraw a question", func(t *tx) error {
		q, agent, open, err := t.openQuestion(id)
		if done = open; err != nil || !open {
			return err
		}
		to := cw.Question{Status: cw.QuestionWithdrawn, Reason: reason}
		if err := t.Model(&q).Select("status", "reason").Updates(&to).Error; err != nil {
			return err
		}
		return t.emit(cw.NewEvent(cw.EventQuestionWithdrawn, cw.Actor{Kind: cw.ActorCW}, cw.QuestionWithdrawnPayload{
			QuestionID: q.ID, Name: agent.Alias, Reason: reason,
		}).About(agent.ID, q.RunID))
	})
	return done && err == nil, err
}

// openQuestion loads a question with its agent, and tells whether it is open.
func (t *tx) openQuestion(id cw.QuestionID) (cw.Question, cw.Agent, bool, error) {
	q, err := questionByID(t.DB, id)
	if err != nil || q.Status != cw.QuestionOpen {
		return q, cw.Agent{}, false, err
	}
	agent, err := t.loadAgent(q.AgentID)
	return q, agent, err == nil, err
}
