package orchestrator

import (
	"context"
	"maps"
	"slices"
	"time"

	"cw/internal/cw"
)

// Questions implements cw.QuestionService.
func (o *Orchestrator) Questions(ctx context.Context, f cw.QuestionFilter) (cw.Page[cw.QuestionView], error) {
	return o.Store.QuestionPage(ctx, f)
}

// Question implements cw.QuestionService.
func (o *Orchestrator) Question(ctx context.Context, id string) (cw.QuestionView, error) {
	return o.Store.QuestionByID(ctx, id)
}

// Answer implements cw.QuestionService. The answers are durable when it returns;
// that the agent goes on with them follows from the rows.
func (o *Orchestrator) Answer(ctx context.Context, req cw.AnswersRequest) ([]cw.QuestionView, error) {
	given, err := o.checkAnswers(ctx, req)
	if err != nil {
		return nil, err
	}
	answering := cw.Answering{Answers: given, By: cw.ActorOf(ctx), At: time.Now().UTC()}
	type answer struct {
		views []cw.QuestionView
		err   error
	}
	// The caller may go away: then the answers are stored, and the agent goes on.
	result := make(chan answer, 1)
	err = o.hand(ctx, func(life context.Context) {
		views, err := o.Store.AnswerQuestions(life, answering)
		if err == nil {
			o.Fail.Hit("answer/stored")
		}
		result <- answer{views, err}
		for _, agent := range agentsOf(views) {
			o.bell.Ring(agent) // a call may wait
			o.noteAnswers(life, agent, views)
			o.goOn(life, agent)
		}
	})
	if err != nil {
		return nil, err
	}
	select {
	case a := <-result:
		return a.views, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// noteAnswers notes the answers that an agent got as decisions, at once: others
// of its questions may stay open for long. What fails here is done, or said, when
// the agent goes on.
func (o *Orchestrator) noteAnswers(ctx context.Context, agent cw.AgentID, views []cw.QuestionView) {
	a, err := o.Store.AgentByRef(ctx, string(agent))
	if err == nil {
		var questions []cw.Question
		for _, v := range views {
			if v.AgentID == agent {
				questions = append(questions, v.Question)
			}
		}
		_, err = o.record(ctx, a, questions)
	}
	if err != nil && ctx.Err() == nil {
		o.Log.Warn("answers are not noted as decisions yet", "agent", agent, "error", err)
	}
}

// checkAnswers looks at every answer before any is stored.
func (o *Orchestrator) checkAnswers(ctx context.Context, req cw.AnswersRequest) ([]cw.GivenAnswer, error) {
	if len(req.Answers) == 0 {
		return nil, cw.Errorf(cw.CodeInvalid, "there is no answer").WithHint("cw question list shows what is asked")
	}
	var given []cw.GivenAnswer
	for _, id := range slices.Sorted(maps.Keys(req.Answers)) {
		q, err := o.Store.QuestionByID(ctx, string(id))
		if err != nil {
			return nil, err
		}
		text, err := q.CheckAnswer(req.Answers[id])
		if err != nil {
			return nil, err
		}
		if err := o.budgetLeft(ctx, q.AgentID); err != nil {
			return nil, err
		}
		given = append(given, cw.GivenAnswer{QuestionID: q.ID, Answer: text})
	}
	return given, nil
}

// agentsOf are the agents that asked, each once.
func agentsOf(questions []cw.QuestionView) []cw.AgentID {
	var out []cw.AgentID
	for _, q := range questions {
		if !slices.Contains(out, q.AgentID) {
			out = append(out, q.AgentID)
		}
	}
	return out
}
