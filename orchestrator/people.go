package orchestrator

import (
	"context"

	"cw/internal/cw"
)

// AskPeople implements cw.QuestionService.
func (o *Orchestrator) AskPeople(ctx context.Context, req cw.PeopleRequest) ([]cw.Question, error) {
	by := cw.ActorOf(ctx)
	if by.Kind != cw.ActorAgent {
		return nil, cw.Errorf(cw.CodeForbidden, "only agents ask people").WithHint("tell an agent something: cw agent send NAME TEXT")
	}
	if err := req.Check(); err != nil {
		return nil, err
	}
	questions, asked, err := o.Store.AskPeople(ctx, cw.Asking{
		AgentID: by.AgentID, RunID: by.RunID, RequestKey: req.RequestKey, Questions: req.Rows(), By: by,
	})
	if err != nil {
		return nil, err
	}
	if asked {
		o.Fail.Hit("question/asked")
		o.bell.Ring(by.AgentID)
		o.lookAtInbox()
	}
	return questions, nil
}

// AwaitAnswers implements cw.QuestionService. The rows are the truth, the bell
// tells when to look at them.
func (o *Orchestrator) AwaitAnswers(ctx context.Context, id cw.RequestID) ([]cw.Question, error) {
	by := cw.ActorOf(ctx)
	group, err := o.Store.QuestionGroup(ctx, id)
	if err != nil {
		return nil, err
	}
	agent := group[0].AgentID
	if by.Kind == cw.ActorAgent && by.AgentID != agent {
		return nil, cw.Errorf(cw.CodeForbidden, "these questions are another agent's").WithHint("wait for those that you asked")
	}
	for {
		rung := o.bell.Next(agent)
		if group, err = o.Store.QuestionGroup(ctx, id); err != nil {
			return nil, err
		}
		if cw.Closed(group) {
			break
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if by.Kind != cw.ActorAgent {
		return group, nil
	}
	group, err = o.Store.FetchAnswers(ctx, id, by.RunID)
	if err == nil {
		o.Fail.Hit("question/fetched")
	}
	return group, err
}
