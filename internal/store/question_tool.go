package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// untold selects what became of questions of calls and was neither taken by one
// nor told to a run. It is written as the index questions_untold says it.
const untold = "source = 'tool' AND fetched_at IS NULL"

// AskPeople stores a group of questions of a call, with question:requested for
// each, and gives it. asked is false when the agent had asked with the same key
// before: then that group is given, as it is now.
//
// CodeNotFound; CodeRefused when the run is over, and when too many of the
// agent's calls would wait.
func (db *DB) AskPeople(ctx context.Context, a cw.Asking) (questions []cw.Question, asked bool, err error) {
	err = db.change(ctx, "ask people", func(t *tx) error {
		questions, asked = nil, false
		if a.RequestKey != "" {
			var first cw.Question
			found, err := one(t.DB, &first, "agent_id = ? AND request_key = ? AND request_key <> ''", a.AgentID, a.RequestKey)
			if err != nil {
				return err
			}
			if found {
				questions, err = groupOf(t.DB, first.RequestID)
				return err
			}
		}
		asked = true
		questions, err = t.askPeople(a)
		return err
	})
	return questions, asked && err == nil, err
}

func (t *tx) askPeople(a cw.Asking) ([]cw.Question, error) {
	agent, err := t.loadAgent(a.AgentID)
	if err != nil {
		return nil, err
	}
	if err := t.mayAsk(agent, a); err != nil {
		return nil, err
	}
	group := cw.RequestID(cw.NewID())
	out := make([]cw.Question, len(a.Questions))
	for i, q := range a.Questions {
		q.ID, q.AgentID, q.RunID, q.RequestID, q.RequestKey = cw.QuestionID(cw.NewID()), agent.ID, a.RunID, group, a.RequestKey
		q.CreatedAt = t.now.Add(time.Duration(i)) // their order by time is that of the group
		q.Options = orEmpty(q.Options)
		if err := t.Create(&q).Error; err != nil {
			return nil, fmt.Errorf("store question: %w", err)
		}
		out[i] = q
		err := t.emit(cw.NewEvent(cw.EventQuestionRequested, a.By, cw.QuestionRequested{
			QuestionID: q.ID, RequestID: q.RequestID, Name: agent.Alias, Question: q.Text,
		}).About(agent.ID, a.RunID))
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (t *tx) mayAsk(agent cw.Agent, a cw.Asking) error {
	if err := t.runLives(agent, a.RunID); err != nil {
		return err
	}
	var open int64
	if err := t.openQuestions(agent.ID).Where("source = 'tool'").Count(&open).Error; err != nil {
		return err
	}
	if open+int64(len(a.Questions)) > cw.ToolQuestionsOpen {
		return cw.Errorf(cw.CodeRefused, "%d of your questions are open already, at most %d may be", open, cw.ToolQuestionsOpen).
			WithHint("wait for answers before you ask more, or go on without")
	}
	return nil
}

// runLives refuses what a run may do only while it is not over.
func (t *tx) runLives(agent cw.Agent, id cw.RunID) error {
	var run cw.Run
	found, err := one(t.DB, &run, "id = ? AND agent_id = ?", id, agent.ID)
	switch {
	case err != nil:
		return err
	case !found:
		return cw.Errorf(cw.CodeNotFound, "the agent %s has no run %s", agent.Alias, id)
	case run.EndedAt != nil:
		return cw.Errorf(cw.CodeRefused, "the run %s of %s is over", id, agent.Alias)
	}
	return nil
}

// QuestionGroup gives the questions that were asked at once, in order.
// CodeNotFound.
func (db *DB) QuestionGroup(ctx context.Context, id cw.RequestID) ([]cw.Question, error) {
	var questions []cw.Question
	err := db.query(ctx, "read a group of questions", func(g *gorm.DB) (err error) {
		questions, err = groupOf(g, id)
		return err
	})
	return questions, err
}

func groupOf(g *gorm.DB, id cw.RequestID) ([]cw.Question, error) {
	var questions []cw.Question
	if err := g.Where("request_id = ?", id).Order("seq").Find(&questions).Error; err != nil {
		return nil, err
	}
	if len(questions) == 0 {
		return nil, cw.Errorf(cw.CodeNotFound, "no questions %.100q were asked", string(id))
	}
	for i := range questions {
		questions[i].Options = orEmpty(questions[i].Options)
	}
	return questions, nil
}

// FetchAnswers marks a closed group as taken by a run of the agent that asked,
// and gives it. What was taken before keeps its time. CodeNotFound; CodeRefused
// when the run is over: then its agent's next run is told the answers.
func (db *DB) FetchAnswers(ctx context.Context, id cw.RequestID, run cw.RunID) ([]cw.Question, error) {
	var questions []cw.Question
	err := db.change(ctx, "fetch answers", func(t *tx) (err error) {
		if questions, err = groupOf(t.DB, id); err != nil {
			return err
		}
		agent, err := t.loadAgent(questions[0].AgentID)
		if err != nil {
			return err
		}
		if err := t.runLives(agent, run); err != nil {
			return err
		}
		now := t.now
		for i, q := range questions {
			if q.Status == cw.QuestionOpen || q.FetchedAt != nil {
				continue
			}
			questions[i].FetchedAt = &now
			if err := t.Model(&questions[i]).Select("fetched_at").Updates(&questions[i]).Error; err != nil {
				return err
			}
		}
		return nil
	})
	return questions, err
}

// UntoldAnswers gives what became of an agent's questions of calls and no call
// took, oldest first: those with an answer, and those that were withdrawn
// for good.
func (db *DB) UntoldAnswers(ctx context.Context, agent cw.AgentID) ([]cw.Question, error) {
	questions := []cw.Question{}
	err := db.query(ctx, "read answers that nobody took", func(g *gorm.DB) error {
		return g.Where("agent_id = ? AND "+untold+" AND (status = ? OR status = ? AND reason NOT IN ('', ?))",
			agent, cw.QuestionAnswered, cw.QuestionWithdrawn, cw.WithdrawnRemoved).
			Order("created_at, id").Find(&questions).Error
	})
	for i := range questions {
		questions[i].Options = orEmpty(questions[i].Options)
	}
	return questions, err
}

// untoldOf counts the answers that no call took, for each of several agents.
func untoldOf(g *gorm.DB, agents []cw.AgentID) (map[cw.AgentID]int, error) {
	var rows []struct {
		AgentID cw.AgentID
		Count   int
	}
	err := g.Raw("SELECT agent_id, COUNT(*) AS count FROM questions WHERE "+untold+" AND status = 'answered'"+
		" AND agent_id IN (SELECT value FROM json_each(?)) GROUP BY agent_id", list(agents)).Scan(&rows).Error
	out := make(map[cw.AgentID]int, len(rows))
	for _, r := range rows {
		out[r.AgentID] = r.Count
	}
	return out, err
}

// tellAnswers marks answers that are told to a run. An error when a call was
// quicker: what the run is told must be written anew.
func (t *tx) tellAnswers(agent cw.AgentID, told []cw.QuestionID) error {
	if len(told) == 0 {
		return nil
	}
	now := t.now
	marked := t.Model(&cw.Question{}).
		Where("agent_id = ? AND "+untold+" AND status <> 'open' AND id IN (SELECT value FROM json_each(?))", agent, list(told)).
		Select("fetched_at").Updates(&cw.Question{FetchedAt: &now})
	if marked.Error != nil {
		return marked.Error
	}
	if int(marked.RowsAffected) != len(told) {
		return fmt.Errorf("%d of %d answers were taken by a call meanwhile", len(told)-int(marked.RowsAffected), len(told))
	}
	return nil
}
